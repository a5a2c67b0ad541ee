//! Dialogues over readings that are written here: a ferryman, a boat, two goats.

use super::behaviour::{BehaviourTest, Found, Model};
use super::dialogue::{Dialogue, Reading, Settings};
use super::folder::Folder;
use super::phrases::{ENGLISH, Phrases};
use super::questions::{OpenPoint, PointStatus, choice_of, is_yes, without_yes_or_no};
use super::talk::talk;
use super::{SolveRequest, view};
use crate::context::Context;
use crate::inputs::Source;
use crate::question::{Question, Statement};
use planforge_plugin_common::reading::{GapKind, Point, PointChange};
use std::sync::{Arc, Mutex};

/// One goat fits into the boat.
const DOMAIN: &str = "(define (domain ferry) (:requirements :strips :typing :negative-preconditions)
    (:types goat bank)
    (:predicates (on ?g - goat ?b - bank) (aboard ?g - goat) (empty) (boat ?b - bank))
    (:action load :parameters (?g - goat ?b - bank)
      :precondition (and (on ?g ?b) (boat ?b) (empty))
      :effect (and (aboard ?g) (not (on ?g ?b)) (not (empty))))
    (:action unload :parameters (?g - goat ?b - bank)
      :precondition (and (aboard ?g) (boat ?b))
      :effect (and (on ?g ?b) (empty) (not (aboard ?g))))
    (:action row :parameters (?a - bank ?b - bank)
      :precondition (boat ?a)
      :effect (and (boat ?b) (not (boat ?a)))))";

const PROBLEM: &str = "(define (problem goats) (:domain ferry)
    (:objects lotte mia - goat west east - bank)
    (:init (on lotte west) (on mia west) (boat west) (empty))
    (:goal (and (on lotte east) (on mia east))))";

/// The change that lets both goats aboard.
fn two_aboard() -> PointChange {
    let action = "(:action load :parameters (?g - goat ?b - bank) :precondition (and (on ?g ?b) (boat ?b))
        :effect (and (aboard ?g) (not (on ?g ?b))))";
    PointChange { actions: vec![action.to_owned()], ..PointChange::default() }
}

/// The boat has to be back at the end.
fn boat_back() -> PointChange {
    let goal = "(and (on lotte east) (on mia east) (boat west))";
    PointChange { goal: Some(goal.to_owned()), ..PointChange::default() }
}

/// Nobody rows back to where the boat is: no plan needs it.
fn no_loop() -> PointChange {
    let action = "(:action row :parameters (?a - bank ?b - bank)
        :precondition (and (boat ?a) (not (boat ?b))) :effect (and (boat ?b) (not (boat ?a))))";
    PointChange { actions: vec![action.to_owned()], ..PointChange::default() }
}

fn point(kind: GapKind, question: &str, change: PointChange) -> Point {
    Point {
        kind,
        question: question.to_owned(),
        here: "no: not in this reading".to_owned(),
        otherwise: "yes: it does".to_owned(),
        decided_by: None,
        steps: Vec::new(),
        change,
    }
}

fn capacity() -> Point {
    point(GapKind::Capacity, "Do both goats fit into the boat?", two_aboard())
}

fn reading(points: &[Point]) -> Reading {
    Reading { model: Model::read(DOMAIN, PROBLEM).unwrap(), points: Some(points.to_vec()) }
}

fn settings(answers: &[OpenPoint]) -> Settings<'_> {
    Settings { questions: 3, ask: true, answers, phrases: &ENGLISH }
}

/// A context whose user gives these answers in turn, and the questions that were asked.
fn user(answers: &'static [&'static str]) -> (Context, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let answer = move |question: &Question| {
        let mut seen = seen.lock().unwrap();
        seen.push(question.text.clone());
        answers.get(seen.len() - 1).map(|answer| (*answer).to_owned())
    };
    (Context { questions: Some(Arc::new(answer)), ..Context::default() }, asked)
}

fn length(dialogue: &Dialogue) -> usize {
    let Found::Plan { steps, .. } = &dialogue.found else { panic!("{:?}", dialogue.found) };
    steps.len()
}

fn only(dialogue: &Dialogue) -> &OpenPoint {
    let [point] = dialogue.points.as_slice() else { panic!("{:#?}", dialogue.points) };
    point
}

#[test]
fn an_answer_decides_which_plan_is_made_and_is_kept_as_a_test() {
    let readings = [reading(&[capacity()]), reading(&[capacity()]), reading(&[])];
    for (answer, steps, holds) in [("1", 5, true), ("no", 7, false)] {
        let (context, asked) = user(if answer == "1" { &["1"] } else { &["no"] });
        let dialogue = talk(&context, &readings, &settings(&[]));
        assert_eq!(*asked.lock().unwrap(), ["Do both goats fit into the boat?"]);
        let point = only(&dialogue);
        assert_eq!((point.status, point.holds), (PointStatus::Answered, holds), "{point:#?}");
        assert_eq!(point.test.holds(&dialogue.model, &context), Some(holds));
        assert_eq!(length(&dialogue), steps);
        assert_eq!(dialogue.agreeing, [0, 1, 2]);
        assert!(
            point.choices[0].starts_with("yes: it does [possible: load (lotte, west), then load"),
            "{point:#?}"
        );
        assert!(point.choices[1].contains("[not possible after load"), "{point:#?}");
    }
}

#[test]
fn nobody_is_asked_about_what_makes_no_difference_to_the_plan() {
    let harmless = point(GapKind::Precondition, "May the boat row to where it is?", no_loop());
    let readings = [reading(std::slice::from_ref(&harmless)), reading(&[harmless])];
    let (context, asked) = user(&[]);
    let dialogue = talk(&context, &readings, &settings(&[]));
    assert!(asked.lock().unwrap().is_empty());
    assert_eq!(only(&dialogue).status, PointStatus::EitherWay);
}

#[test]
fn without_a_person_a_point_waits_or_is_assumed_and_an_answer_of_a_file_decides_it() {
    let readings = [reading(&[capacity()]), reading(&[capacity()])];
    let waiting = talk(&Context::default(), &readings, &settings(&[]));
    let waits = only(&waiting);
    assert_eq!((waits.status, &waiting.found), (PointStatus::Open, &Found::Open));
    let assumed = talk(&Context::default(), &readings, &Settings { ask: false, ..settings(&[]) });
    assert_eq!((only(&assumed).status, length(&assumed)), (PointStatus::Assumed, 7));
    let answers = [OpenPoint { answer: "1".to_owned(), ..waits.clone() }];
    let answered = talk(&Context::default(), &readings, &settings(&answers));
    assert_eq!((only(&answered).status, length(&answered)), (PointStatus::Answered, 5));
}

#[test]
fn the_changes_of_two_answers_come_together() {
    let end = point(GapKind::EndState, "Must the boat be back?", boat_back());
    let points = [capacity(), end];
    let readings = [reading(&points), reading(&points)];
    let (context, asked) = user(&["1", "1"]);
    let dialogue = talk(&context, &readings, &settings(&[]));
    assert_eq!(asked.lock().unwrap().len(), 2);
    // Two goats at once, and the way back.
    assert_eq!(length(&dialogue), 6, "{:#?}", dialogue.points);
    assert!(
        dialogue.points.iter().all(|point| point.test.holds(&dialogue.model, &context) == Some(point.holds))
    );
}

#[test]
fn a_quoted_sentence_corrects_the_reading_without_a_question() {
    let quoted = Point { decided_by: Some("There is room for both goats.".to_owned()), ..capacity() };
    let (context, asked) = user(&[]);
    let dialogue = talk(&context, &[reading(&[quoted]), reading(&[]), reading(&[])], &settings(&[]));
    assert!(asked.lock().unwrap().is_empty());
    assert_eq!((only(&dialogue).status, length(&dialogue)), (PointStatus::DecidedByText, 5));
}

#[test]
fn own_words_end_the_dialogue_as_a_statement() {
    let (context, _) = user(&["only if they are small"]);
    let dialogue = talk(&context, &[reading(&[capacity()]), reading(&[capacity()])], &settings(&[]));
    assert_eq!(dialogue.statements, ["Do both goats fit into the boat? only if they are small"]);
}

#[test]
fn readings_that_differ_are_a_question_of_their_own() {
    let other = DOMAIN.replace("(boat ?b) (empty))\n      :effect", "(boat ?b))\n      :effect");
    let third = Reading { model: Model::read(&other, PROBLEM).unwrap(), points: Some(Vec::new()) };
    let (context, asked) = user(&["yes"]);
    let dialogue = talk(&context, &[reading(&[]), reading(&[]), third], &settings(&[]));
    assert_eq!(
        *asked.lock().unwrap(),
        ["Is this possible from the start: load (lotte, west), then load (mia, west)?"]
    );
    assert_eq!((dialogue.agreeing.as_slice(), length(&dialogue)), ([2].as_slice(), 5));
}

#[test]
fn what_nobody_knows_is_assumed_and_what_one_critic_names_is_asked_about() {
    let (context, asked) = user(&["5"]);
    let dialogue = talk(&context, &[reading(&[capacity()]), reading(&[capacity()])], &settings(&[]));
    assert_eq!((asked.lock().unwrap().len(), only(&dialogue).status), (1, PointStatus::Assumed));
    let (context, asked) = user(&["5"]);
    talk(&context, &[reading(&[capacity()]), reading(&[]), reading(&[])], &settings(&[]));
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn a_point_is_shown_by_the_steps_of_its_critic_if_they_show_a_difference() {
    let first_row = ["(row west east)", "(row east west)", "(load mia west)", "(load lotte west)"];
    let shortest = ["(load lotte west)", "(load mia west)"];
    let no_difference = ["(load mia west)", "(row west east)"];
    let unknown = ["(swim mia west)"];
    let cases: [(&[&str], &[&str]); 4] = [
        (&first_row, &first_row),
        (&no_difference, &shortest),
        (&unknown, &shortest),
        (&["load"], &shortest),
    ];
    for (named, shown) in cases {
        let named = Point { steps: named.iter().map(|step| (*step).to_owned()).collect(), ..capacity() };
        let (context, _) = user(&["1"]);
        let readings = [reading(std::slice::from_ref(&named)), reading(&[named])];
        let dialogue = talk(&context, &readings, &settings(&[]));
        assert_eq!(only(&dialogue).test.steps, shown);
        assert_eq!(length(&dialogue), 5);
    }
}

/// The capacity point with an answer, as a sheet keeps it.
fn answered(answer: &str, status: PointStatus) -> OpenPoint {
    let readings = [reading(&[capacity()]), reading(&[capacity()])];
    let waiting = talk(&Context::default(), &readings, &settings(&[]));
    OpenPoint { answer: answer.to_owned(), status, ..only(&waiting).clone() }
}

/// Another point about the same behaviour, which no critic names any more.
fn same_in_other_words(answer: &str, status: PointStatus) -> OpenPoint {
    let question = "May two goats be aboard?".to_owned();
    OpenPoint { id: "00000000".to_owned(), question, ..answered(answer, status) }
}

#[test]
fn of_answers_that_contradict_each_other_the_later_one_counts_unless_a_person_says_which() {
    let readings = [reading(&[capacity()]), reading(&[capacity()])];
    let (old, new) = (PointStatus::Answered, PointStatus::Open);
    for (first, second, steps) in [(old, new, 7), (new, old, 5)] {
        let answers = [answered("1", first), same_in_other_words("2", second)];
        let dialogue = talk(&Context::default(), &readings, &settings(&answers));
        assert_eq!(length(&dialogue), steps);
        let remark = "two answers contradict each other, and the later one counts: ";
        assert!(dialogue.remarks.iter().any(|r| r.starts_with(remark)), "{:?}", dialogue.remarks);
        let (status, answer) =
            if steps == 7 { (PointStatus::Assumed, "2") } else { (PointStatus::Answered, "1") };
        assert_eq!((only(&dialogue).status, only(&dialogue).answer.as_str()), (status, answer));
        let again = talk(&Context::default(), &readings, &settings(&dialogue.points));
        assert_eq!(length(&again), steps);
    }
    let answers = [answered("1", old), same_in_other_words("2", new)];
    for (says, steps) in [("1", 5), ("2", 7)] {
        let (context, asked) = user(if says == "1" { &["1"] } else { &["2"] });
        let dialogue = talk(&context, &readings, &settings(&answers));
        assert_eq!(asked.lock().unwrap().len(), 1);
        assert_eq!((length(&dialogue), only(&dialogue).status), (steps, PointStatus::Answered));
        assert!(dialogue.remarks.is_empty(), "{:?}", dialogue.remarks);
    }
}

#[test]
fn words_that_are_typed_about_a_contradiction_are_a_statement_of_the_author() {
    let readings = [reading(&[capacity()]), reading(&[capacity()])];
    let answers = [answered("1", PointStatus::Answered), same_in_other_words("2", PointStatus::Open)];
    let (context, asked) = user(&["only if they are small"]);
    let dialogue = talk(&context, &readings, &settings(&answers));
    assert_eq!(asked.lock().unwrap().len(), 1);
    assert_eq!(dialogue.statements, ["Do both goats fit into the boat? only if they are small"]);
    let unsolvable = PROBLEM.replace(" (empty))", ")");
    let empty = PointChange { add: vec!["(empty)".to_owned()], ..PointChange::default() };
    let empty = point(GapKind::Initial, "Is the boat empty at first?", empty);
    let readings = [Reading { model: Model::read(DOMAIN, &unsolvable).unwrap(), points: Some(vec![empty]) }];
    let (context, _) = user(&["no", "a sack lies in it, which can be thrown out"]);
    let dialogue = talk(&context, &readings, &settings(&[]));
    let said =
        ["Is the boat empty at first? no: not in this reading", "a sack lies in it, which can be thrown out"];
    assert_eq!(dialogue.statements, said);
}

#[test]
fn yes_and_no_are_read_in_the_language_of_the_choices() {
    let german = Point {
        question: "Passen beide Ziegen ins Boot?".to_owned(),
        here: "nein: eine nach der anderen".to_owned(),
        otherwise: "ja: beide zugleich".to_owned(),
        ..capacity()
    };
    let phrases = Phrases::of("Die Ziegen und der Fährmann.");
    let talk = |answers: &'static [&'static str]| {
        let (context, _) = user(answers);
        talk(&context, &[reading(std::slice::from_ref(&german))], &Settings { phrases, ..settings(&[]) })
    };
    let yes: [&[&str]; 6] = [&["Ja"], &["j"], &["yes"], &["1"], &["ja: beide"], &["y."]];
    let no: [&[&str]; 5] = [&["nein."], &["no"], &["N"], &["2"], &["NEIN: eine nach"]];
    for (answers, steps) in yes.map(|answers| (answers, 5)).into_iter().chain(no.map(|answers| (answers, 7)))
    {
        let dialogue = talk(answers);
        assert_eq!(
            (length(&dialogue), only(&dialogue).status),
            (steps, PointStatus::Answered),
            "{answers:?}"
        );
    }
    for answers in [&["3"], &["es ist"], &["unknown"], &["nichts"], &["ich weiß es"]] {
        let dialogue = talk(answers);
        assert_eq!(
            (dialogue.statements.len(), only(&dialogue).status),
            (0, PointStatus::Assumed),
            "{answers:?}"
        );
    }
    assert_eq!(talk(&["nein, nur kleine"]).statements, ["Passen beide Ziegen ins Boot? nein, nur kleine"]);
}

#[test]
fn a_typed_answer_is_a_number_yes_or_no_the_beginning_of_one_choice_or_a_statement() {
    let asked = |sides: [&'static str; 2]| {
        let choices: Vec<&str> = sides.into_iter().chain(ENGLISH.other_choices).collect();
        move |typed: &str| choice_of(typed, &choices)
    };
    let plain = asked(["yes: both goats", "no: one goat"]);
    for (typed, number) in [
        ("yes", 1),
        ("Y", 1),
        ("si", 1),
        ("sí", 1),
        ("no.", 2),
        ("n", 2),
        ("non", 2),
        ("none", 4),
        ("it does not matter", 3),
        ("4", 4),
        ("i do", 5),
    ] {
        assert_eq!(plain(typed), Some(number), "{typed}");
    }
    // Both of the last choices begin with it; the others are statements.
    for typed in ["", "i", "6", "0", "no more than two", "only small ones"] {
        assert_eq!(plain(typed), None, "{typed}");
    }
    let counted = asked(["3 goats: all of them", "2 goats: not Rex"]);
    for (typed, number) in [("2", 2), ("3", 3), ("3 goats", 1), ("2 g", 2), ("none", 4)] {
        assert_eq!(counted(typed), Some(number), "{typed}");
    }
    // No choice is a yes or no, and the beginning of `none of these` is not meant.
    assert_eq!((counted("no"), counted("yes")), (None, None));
    // A critic's clause may be the word alone.
    let bare =
        asked(["yes [possible: row (west, east)]", "no [not possible at the start: row (west, east)]"]);
    assert_eq!((bare("yes"), bare("n"), bare("nein")), (Some(1), Some(2), Some(2)));
    let quantities = asked(["none: all walk", "some: Mia"]);
    assert_eq!((quantities("some"), quantities("none: all"), quantities("none")), (Some(2), Some(1), None));
}

#[test]
fn a_clause_is_divided_behind_its_yes_or_no() {
    for (clause, rest) in [
        ("no, only two: Lotte and Mia", Some("only two: Lotte and Mia")),
        ("yes: both", Some("both")),
        ("oui : les deux", Some("les deux")),
        ("no", None),
        ("only two: Lotte and Mia", None),
    ] {
        assert_eq!(without_yes_or_no(clause), rest, "{clause}");
    }
    assert!(is_yes("ja [possible: row (west, east)]") && !is_yes("no [possible: row (west, east)]"));
}

/// Both lines lengthen the plan. The second is looked for again in the model without the first.
#[test]
fn two_assumed_lines_are_both_left_out_if_the_answers_say_so() {
    let domain = DOMAIN.replace("(boat ?b) (empty))\n", "(boat ?b)\n (empty) ; assumed\n)\n");
    let problem = PROBLEM.replace("(on mia east))))", "(on mia east)\n (boat west) ; assumed\n)))");
    let readings = [Reading { model: Model::read(&domain, &problem).unwrap(), points: Some(Vec::new()) }];
    let nobody = Context::default();
    let assumed = talk(&nobody, &readings, &Settings { ask: false, ..settings(&[]) });
    assert_eq!((assumed.points.len(), length(&assumed)), (2, 8), "{:#?}", assumed.points);
    let no = |point: &OpenPoint| OpenPoint { answer: "no".to_owned(), ..point.clone() };
    let answers: Vec<OpenPoint> = assumed.points.iter().map(no).collect();
    let dialogue = talk(&nobody, &readings, &settings(&answers));
    assert_eq!(length(&dialogue), 5, "{:#?}", dialogue.points);
    assert!(dialogue.points.iter().all(|point| point.status == PointStatus::Answered));
    assert_eq!((dialogue.points.len(), dialogue.remarks.len()), (2, 0), "{:?}", dialogue.remarks);
}

#[test]
fn steps_are_shown_in_the_language_of_the_text() {
    let foreign = Point { question: "Darf Mia ans Ufer east?".to_owned(), ..capacity() };
    let (context, asked) = user(&["nein"]);
    let german = Settings { phrases: Phrases::of("Die Ziegen und der Fährmann."), ..settings(&[]) };
    let dialogue = talk(&context, &[reading(&[foreign])], &german);
    let question = "Ist das von Anfang an möglich: load (lotte, west), dann load (mia, west)?";
    assert_eq!(*asked.lock().unwrap(), [question]);
    let no = "nein: nicht möglich nach load (lotte, west): load (mia, west)";
    assert!(only(&dialogue).choices[1].starts_with(no), "{:?}", only(&dialogue).choices);
    assert_eq!(only(&dialogue).status, PointStatus::Answered);
}

/// The critic asks by a goat that no sentence mentions.
#[test]
fn the_steps_of_a_question_name_objects_of_the_text_where_such_steps_show_the_difference() {
    let problem = problem_with_rex().replace("(on mia west) ", "");
    let change = PointChange {
        remove: vec!["(on rex west)".to_owned()],
        add: vec!["(on mia west)".to_owned()],
        ..PointChange::default()
    };
    for steps in ["(load rex west)", "(load mia west)"] {
        let steps = vec![steps.to_owned()];
        let point = Point { steps, ..point(GapKind::Reference, "Is Mia there?", change.clone()) };
        let reading = Reading { model: Model::read(DOMAIN, &problem).unwrap(), points: Some(vec![point]) };
        let (context, _) = user(&["1"]);
        let dialogue = talk(&context, &[reading], &settings(&[]));
        assert_eq!(only(&dialogue).test.steps, ["(load mia west)"]);
        assert_eq!(only(&dialogue).question, "Is Mia there?");
    }
}

/// A goat that no sentence mentions is on the west bank.
fn problem_with_rex() -> String {
    let objects = "(:objects\n rex - goat ; assumed\n lotte mia - goat ; [1]\n west east - bank ; [1]\n)";
    PROBLEM
        .replace("(:objects lotte mia - goat west east - bank)", objects)
        .replace("(on mia west)", "(on mia west) (on rex west)")
}

/// The same names of objects, other names of actions: nothing follows from equal names.
#[test]
fn steps_of_readings_with_other_names_are_compared_under_their_renaming_alone() {
    let names = [("load", "load-goat"), ("unload", "unload-goat"), ("row", "row-over")];
    let domain = names.iter().fold(DOMAIN.to_owned(), |domain, (old, new)| {
        domain.replace(&format!("(:action {old} "), &format!("(:action {new} "))
    });
    let of = |domain: &str, problem: &str| Reading {
        model: Model::read(domain, problem).unwrap(),
        points: Some(Vec::new()),
    };
    let problem = problem_with_rex();
    let other = of(&domain, &problem.replace("(on rex west) ", ""));
    let readings = [of(DOMAIN, &problem), of(DOMAIN, &problem), other];
    let dialogue = talk(&Context::default(), &readings, &settings(&[]));
    assert_eq!(only(&dialogue).test.steps, ["(load rex west)"], "{:?}", dialogue.remarks);
    assert_eq!(only(&dialogue).status, PointStatus::EitherWay);
}

/// Nobody has to load what swims.
const SWIM: &str = "(:action swim :parameters (?g - goat ?a - bank ?b - bank) :precondition (on ?g ?a)
    :effect (and (on ?g ?b) (not (on ?g ?a))))";

/// No answer about an action refutes the readings that lack it.
fn with_action(domain: &str, action: &str) -> String {
    format!("{}\n{action})", domain.trim_end().strip_suffix(')').unwrap())
}

#[test]
fn the_steps_of_a_critic_stay_with_his_words_where_his_reading_is_not_followed() {
    let steps = ["(load mia west)", "(load rex west)"];
    let named = Point { steps: steps.map(str::to_owned).to_vec(), ..capacity() };
    let of = |domain: &str, points: Vec<Point>| Reading {
        model: Model::read(domain, &problem_with_rex()).unwrap(),
        points: Some(points),
    };
    let readings =
        [of(DOMAIN, vec![named]), of(DOMAIN, Vec::new()), of(&with_action(DOMAIN, SWIM), Vec::new())];
    let (context, asked) = user(&["yes", "no"]);
    let dialogue = talk(&context, &readings, &settings(&[]));
    let asked = asked.lock().unwrap().clone();
    assert!(asked[0].starts_with("Is this possible from the start: swim"), "{asked:?}");
    assert_eq!(asked[1..], ["Do both goats fit into the boat?"]);
    assert_eq!(dialogue.points[1].test.steps, steps);
}

#[test]
fn where_a_critic_doubts_a_rule_for_a_part_of_the_cases_that_of_the_others_is_asked_about() {
    let domain = "(define (domain vault) (:requirements :strips :typing :negative-preconditions)
        (:types lever) (:predicates (lit) (red ?l - lever) (blue ?l - lever) (down ?l - lever))
        (:action pull-red :parameters (?l - lever) :precondition (and (red ?l) (lit)) :effect (and (down ?l) (not (lit))))
        (:action pull-blue :parameters (?l - lever) :precondition (blue ?l) :effect (and (down ?l) (not (lit))))
        (:action turn :parameters () :precondition (not (lit)) :effect (lit)))";
    let problem =
        "(define (problem p) (:domain vault) (:objects one two - lever) (:init (red one) (blue two))
        (:goal (and (down one) (down two))))";
    let dark = "(:action pull-blue :parameters (?l - lever) :precondition (and (blue ?l) (not (lit)))
        :effect (and (down ?l) (not (lit))))";
    let change = PointChange { actions: vec![dark.to_owned()], ..PointChange::default() };
    let doubt = |kind| {
        let points = vec![point(kind, "Can a blue lever be pulled while the lamp is lit?", change.clone())];
        [Reading { model: Model::read(domain, problem).unwrap(), points: Some(points) }]
    };
    let (context, asked) = user(&["no"]);
    let dialogue = talk(&context, &doubt(GapKind::PartialRule), &settings(&[]));
    assert_eq!(*asked.lock().unwrap(), ["Is this possible from the start: pull blue (two)?"]);
    assert_eq!(length(&dialogue), 4);
    let (context, asked) = user(&[]);
    assert_eq!(length(&talk(&context, &doubt(GapKind::Precondition), &settings(&[]))), 3);
    assert!(asked.lock().unwrap().is_empty());

    // The critic has not named that rule: what a critic names comes first.
    let [mut reading] = doubt(GapKind::PartialRule);
    let blue = PointChange { add: vec!["(blue one)".to_owned()], ..PointChange::default() };
    let blue = point(GapKind::Initial, "Is lever one blue as well?", blue);
    reading.points.iter_mut().for_each(|points| points.push(blue.clone()));
    let (context, asked) = user(&["no", "no"]);
    talk(&context, &[reading], &settings(&[]));
    let expected = ["Is lever one blue as well?", "Is this possible from the start: pull blue (two)?"];
    assert_eq!(*asked.lock().unwrap(), expected);

    // Nor is it asked about once another reading is followed, from which its reading differs in more than that.
    let kick = "(:action kick :parameters (?l - lever) :precondition (red ?l) :effect (down ?l))";
    let other = Model::read(&with_action(domain, kick), problem).unwrap();
    let [first] = doubt(GapKind::PartialRule);
    let second = Reading { model: Model::read(domain, problem).unwrap(), points: Some(Vec::new()) };
    let (context, asked) = user(&["yes", "no", "no"]);
    talk(&context, &[first, second, Reading { model: other, points: Some(Vec::new()) }], &settings(&[]));
    assert_eq!(*asked.lock().unwrap(), ["Is this possible from the start: kick (one)?"]);
}

/// One action for both ways against an action for each.
#[test]
fn a_difference_of_granularity_alone_is_not_asked_about() {
    let row = |name: &str, place: &str| {
        format!(
            "(:action {name} :parameters (?a - bank ?b - bank) :precondition (and (boat ?a) {place})
            :effect (and (boat ?b) (not (boat ?a))))"
        )
    };
    let ask = |more: &str| {
        let at = DOMAIN.find("(:action row").unwrap();
        let domain = format!("{}{}{more})", &DOMAIN[..at], row("row-out", "(home ?a)"))
            .replace("(empty) (boat ?b - bank))", "(empty) (boat ?b - bank) (home ?b - bank))");
        let problem = PROBLEM.replace("(boat west)", "(boat west) (home west)");
        let other = Reading { model: Model::read(&domain, &problem).unwrap(), points: Some(Vec::new()) };
        let (context, asked) = user(&["1"]);
        let dialogue = talk(&context, &[reading(&[]), reading(&[]), other], &settings(&[]));
        (asked.lock().unwrap().len(), dialogue.following)
    };
    assert_eq!(ask(&row("row-home", "(not (home ?a))")), (0, 1));
    assert_eq!(ask(""), (1, 0), "nobody rows back");
}

#[test]
fn an_answer_that_every_reading_follows_is_no_remark_and_one_that_none_allows_is() {
    let readings = [reading(&[]), reading(&[])];
    let follows = [same_in_other_words("2", PointStatus::Answered)];
    let dialogue = talk(&Context::default(), &readings, &settings(&follows));
    assert!(dialogue.remarks.is_empty() && dialogue.statements.is_empty());
    let excluded = [same_in_other_words("1", PointStatus::Answered)];
    let dialogue = talk(&Context::default(), &readings, &settings(&excluded));
    let remark = "no reading allows this answer: May two goats be aboard? yes: it does.";
    assert_eq!((dialogue.remarks.as_slice(), length(&dialogue)), ([remark.to_owned()].as_slice(), 7));
    // It is kept as a test, and the next use says the same.
    assert!(dialogue.points.is_empty() && dialogue.statements.is_empty());
    assert_eq!(dialogue.kept, excluded);
    assert_eq!(talk(&Context::default(), &readings, &settings(&dialogue.kept)).remarks, [remark]);
}

#[test]
fn a_contradiction_is_decided_after_an_answer_that_no_reading_allows() {
    let nowhere = OpenPoint {
        id: "11111111".to_owned(),
        question: "Can a goat be unloaded at first?".to_owned(),
        test: BehaviourTest { steps: vec!["(unload lotte west)".to_owned()], states: Statement::Possible },
        ..answered("1", PointStatus::Answered)
    };
    let readings = [reading(&[capacity()]), reading(&[capacity()])];
    let answers =
        [nowhere, answered("1", PointStatus::Answered), same_in_other_words("2", PointStatus::Open)];
    let dialogue = talk(&Context::default(), &readings, &settings(&answers));
    let begins = |text: &str| dialogue.remarks.iter().any(|remark| remark.starts_with(text));
    assert!(
        begins("two answers contradict each other") && begins("no reading allows"),
        "{:?}",
        dialogue.remarks
    );
    assert_eq!(length(&dialogue), 7);
}

#[test]
fn an_overruled_answer_is_not_a_statement_of_the_author() {
    let full = PROBLEM.replace(" (empty))", ")");
    let readings = [Reading { model: Model::read(DOMAIN, &full).unwrap(), points: Some(vec![capacity()]) }];
    let answers = [answered("1", PointStatus::Answered), same_in_other_words("2", PointStatus::Open)];
    // Nobody knows which answer holds; without the first there is no plan.
    let (context, asked) = user(&["unknown", "a sack lies in it"]);
    let dialogue = talk(&context, &readings, &settings(&answers));
    assert_eq!(*asked.lock().unwrap(), [ENGLISH.contradiction, ENGLISH.no_plan]);
    let said = ["May two goats be aboard? no: not in this reading", "a sack lies in it"];
    assert_eq!(dialogue.statements, said);
}

#[test]
fn a_number_that_no_choice_has_leaves_a_contradiction_to_the_later_answer() {
    let readings = [reading(&[capacity()]), reading(&[capacity()])];
    let answers = [answered("1", PointStatus::Answered), same_in_other_words("2", PointStatus::Open)];
    let (context, _) = user(&["7"]);
    let dialogue = talk(&context, &readings, &settings(&answers));
    assert_eq!((dialogue.statements.len(), length(&dialogue)), (0, 7));
}

#[test]
fn a_sheet_whose_points_have_not_two_choices_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let context = Context { folder: place.path().to_owned(), ..Context::default() };
    let text = Source::text("task", "Two goats cross a river.");
    let folder = Folder::of(&context, &SolveRequest { text: Some(text), ..SolveRequest::default() }).unwrap();
    let mut point = answered("4", PointStatus::Open);
    folder.write_points(std::slice::from_ref(&point)).unwrap();
    assert_eq!(folder.answers(&context, None).unwrap(), [point.clone()]);
    point.choices.extend(["perhaps", "often"].map(str::to_owned));
    folder.write_points(&[point]).unwrap();
    assert!(folder.answers(&context, None).is_err());
}

#[test]
fn an_answer_to_what_was_assumed_or_decided_by_the_text_counts() {
    let assumed = [reading(&[capacity()]), reading(&[]), reading(&[])];
    let dialogue = talk(&Context::default(), &assumed, &settings(&[answered("1", PointStatus::Assumed)]));
    assert_eq!((only(&dialogue).status, length(&dialogue)), (PointStatus::Answered, 5));
    let quoted = Point { decided_by: Some("There is room for both goats.".to_owned()), ..capacity() };
    let readings = [reading(&[quoted]), reading(&[])];
    let dialogue = talk(&Context::default(), &readings, &settings(&[answered("2", PointStatus::Open)]));
    assert_eq!((only(&dialogue).status, length(&dialogue)), (PointStatus::Answered, 7));
    assert!(dialogue.remarks[0].contains("There is room for both goats."), "{:?}", dialogue.remarks);
}

#[test]
fn without_a_plan_the_one_answer_that_would_make_one_is_named_and_a_person_may_change_it() {
    let full = PROBLEM.replace(" (empty))", ")");
    let empty = PointChange { add: vec!["(empty)".to_owned()], ..PointChange::default() };
    let empty = point(GapKind::Initial, "Is the boat empty at first?", empty);
    let reading =
        || Reading { model: Model::read(DOMAIN, &full).unwrap(), points: Some(vec![empty.clone()]) };
    let readings = [reading(), reading()];
    let assumed = talk(&Context::default(), &readings, &Settings { ask: false, ..settings(&[]) });
    assert!(matches!(assumed.found, Found::Unsolvable(_)));
    let [other] = assumed.solvable_if.as_slice() else { panic!("{:#?}", assumed.points) };
    assert_eq!((other.question.as_str(), other.follows), ("Is the boat empty at first?", 1));
    // The boat is not empty; then there is no plan; it is empty after all.
    let (context, asked) = user(&["no", "1"]);
    let dialogue = talk(&context, &readings, &settings(&[]));
    let asked = asked.lock().unwrap().clone();
    assert!(asked.len() == 2 && asked[1].contains("there is no plan"), "{asked:?}");
    assert_eq!((only(&dialogue).status, length(&dialogue)), (PointStatus::Answered, 7));
    let (context, _) = user(&["no", "2"]);
    assert!(matches!(talk(&context, &readings, &settings(&[])).found, Found::Unsolvable(_)));
}

#[test]
fn a_step_that_the_other_side_of_an_answer_refuses_is_possible_because_of_it() {
    let readings = [reading(&[capacity()]), reading(&[capacity()])];
    let dialogue = talk(&Context::default(), &readings, &settings(&[answered("1", PointStatus::Open)]));
    let because = "Do both goats fit into the boat? yes: it does.".to_owned();
    assert_eq!(dialogue.allowed_by, [(1, because)]);
    let dialogue = talk(&Context::default(), &readings, &settings(&[answered("2", PointStatus::Open)]));
    assert!(dialogue.allowed_by.is_empty());
}

#[test]
fn words_about_another_object_than_the_steps_are_replaced_by_the_steps() {
    let other = Point { question: "Does Mia fit aboard with another goat?".to_owned(), ..capacity() };
    let about =
        |point: &Point| talk(&Context::default(), &[reading(std::slice::from_ref(point))], &settings(&[]));
    let steps = about(&capacity()).points[0].test.steps.clone();
    assert_eq!(steps, ["(load lotte west)", "(load mia west)"]);
    assert_eq!(about(&other).points[0].question, other.question);
    let foreign = Point { question: "May the boat row to the east bank with both?".to_owned(), ..capacity() };
    let shown = &about(&foreign).points[0];
    assert_eq!(shown.question, "Is this possible from the start: load (lotte, west), then load (mia, west)?");
    assert!(shown.choices[0].starts_with("yes: possible: load (lotte, west)"), "{shown:#?}");
}

#[test]
fn a_plan_with_time_keeps_its_times() {
    let domain = "(define (domain d) (:requirements :durative-actions) (:predicates (p))
      (:durative-action wait :parameters () :duration (= ?duration 3) :effect (at end (p))))";
    let problem = "(define (problem x) (:domain d) (:init) (:goal (p)))";
    let model = Model::read(domain, problem).unwrap();
    let (steps, cost) = model.plan(&Context::default()).steps().unwrap();
    assert_eq!((steps, cost), (["0.000: (wait) [3.000]".to_owned()].as_slice(), 3.0));
}

#[test]
fn readings_with_time_that_differ_in_comments_only_agree() {
    let domain = "(define (domain d) (:requirements :durative-actions) (:predicates (p))
      (:durative-action wait :parameters () :duration (= ?duration 3) :effect (at end (p))))";
    let problem = "(define (problem x) (:domain d) (:init) (:goal (p)))";
    let read =
        |domain: &str| Reading { model: Model::read(domain, problem).unwrap(), points: Some(Vec::new()) };
    let commented = domain.replace("(at end (p))", "(at end (p) ; [1]\n)");
    let (context, _) = user(&[]);
    let dialogue = talk(&context, &[read(domain), read(&commented)], &settings(&[]));
    assert_eq!((dialogue.agreeing.as_slice(), dialogue.not_looked_at), ([0, 1].as_slice(), 0));
    let longer = domain.replace("3", "4");
    let dialogue = talk(&context, &[read(domain), read(&longer)], &settings(&[]));
    assert_eq!((dialogue.agreeing.as_slice(), dialogue.not_looked_at), ([0].as_slice(), 1));
}

/// Readings of the version before are no readings of the new text.
#[test]
fn a_new_version_has_no_readings_before_it_is_read() {
    let place = tempfile::tempdir().unwrap();
    let context = Context { folder: place.path().to_owned(), ..Context::default() };
    let text = Source::text("task", "Two goats cross a river.");
    let request = SolveRequest { text: Some(text), ..SolveRequest::default() };
    let mut folder = Folder::of(&context, &request).unwrap();
    for file in ["domain.pddl", "problem.pddl"] {
        folder.write(&format!("readings/1/{file}"), DOMAIN).unwrap();
    }
    folder.add_version(&["The boat holds both.".to_owned()]).unwrap();
    assert_eq!(folder.readings().len(), 1);
    assert!(view(&context, &folder.shown).unwrap().readings.is_empty());
}
