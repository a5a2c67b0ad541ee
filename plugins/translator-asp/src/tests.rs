//! The translator against a scripted host, with the reasoner in this process in place of the child.

mod flow;

use super::work::{Question, Solved};
use super::*;
use planforge_asp::stages::{self, SolveJob};
use planforge_plugin_common::translating::ROLE;
use planforge_plugin_sdk::testing::TestHost;

const GRIPPERS: &str = include_str!("../../../examples/suites/grippers/domain.pddl");
const GRIPPERS_TEXT: &str = include_str!("../../../examples/suites/grippers/p01.nl");
const GRIPPERS_PROBLEM: &str = include_str!("../../../examples/suites/grippers/p01.pddl");
const GRIPPERS_KNOWLEDGE: &str = include_str!("../../../examples/suites/grippers/knowledge.lp");
const GRIPPERS_EXAMPLE: &str = include_str!("../../../examples/suites/grippers/p_example.nl");
const GRIPPERS_EXAMPLE_IR: &str = include_str!("../../../examples/suites/grippers/p_example.lp");

/// The representation of p01 of grippers.
const GRIPPERS_IR: &str = "cardinality(room, 3).
object(room1, room).
object(room2, room).
object(room3, room).
init(robot_in(robot1, room3)).
init(empty(robot1, left1)).
init(empty(robot1, right1)).
init(ball_in(ball1, room3)).
init(ball_in(ball2, room1)).
goal(ball_in(ball1, room2)).
";

fn plugin(options: AspTranslatorOptions) -> AspTranslator {
    AspTranslator::create(options, &Secrets::default()).unwrap()
}

/// A host as the real one is to this plugin, with the child's work done here.
fn host(replies: &[&str]) -> TestHost {
    let host = TestHost::for_capabilities(
        PluginKind::Translator,
        Capabilities { worker: true, ..Capabilities::default() },
    )
    .worker(work::work);
    replies.iter().fold(host, |host, reply| host.reply(ROLE, reply))
}

/// p01 of grippers with everything that a pipeline may give.
fn grippers(n: u32) -> TranslateRequest {
    let materials = [
        ("asp.knowledge", GRIPPERS_KNOWLEDGE),
        ("example.text", GRIPPERS_EXAMPLE),
        ("example.ir", GRIPPERS_EXAMPLE_IR),
        (
            "types",
            r#"{"room": "a room", "robot": "a robot", "gripper": "a gripper of a robot", "ball": "a ball"}"#,
        ),
        (
            "predicates",
            r#"{"robot-in": {"yes": "{1} is in {2}."}, "ball-in": {"yes": "{1} lies in {2}."},
                "empty": {"yes": "Gripper {2} of {1} is empty.", "no": "It is not."}, "holds": {"yes": "{1} holds {3} with {2}."}}"#,
        ),
    ];
    TranslateRequest {
        task: TaskView {
            suite: "grippers".into(),
            task: "p01".into(),
            domain_text: String::new(),
            task_text: GRIPPERS_TEXT.into(),
            given: Given { domain: Some(GRIPPERS.into()), problem: None },
            action_interface: None,
            materials: materials.into_iter().collect(),
        },
        n,
        ..TranslateRequest::default()
    }
}

fn of_mode(mode: Mode) -> AspTranslatorOptions {
    AspTranslatorOptions { mode, ..Default::default() }
}

/// The conversation as a person reads it.
fn transcript(messages: &[Message]) -> String {
    messages.iter().map(|m| format!("=== {:?}\n{}\n", m.role, m.content)).collect()
}

/// The question of that number.
fn question(host: &TestHost, number: usize) -> String {
    transcript(&host.requests()[number].1.messages)
}

fn samples(response: TranslateResponse) -> Vec<Result<CandidatePatch, Failure>> {
    response.samples.into_iter().map(Outcome::into_result).collect()
}

/// The only sample.
fn sample(
    options: AspTranslatorOptions,
    host: &TestHost,
    request: &TranslateRequest,
) -> Result<CandidatePatch, Failure> {
    let mut samples = samples(plugin(options).translate(host, request).unwrap());
    assert_eq!(samples.len(), 1);
    samples.remove(0)
}

fn ask(program: &str) -> Result<Solved, Failure> {
    let job =
        SolveJob { plain: program.into(), recorded: program.into(), max_answers: 4, ..SolveJob::default() };
    let question = Question { job, direct: false, time_ms: 10_000, memory_mb: 1024, answer_bytes: 1000 };
    let answer = work::work(&serde_json::to_string(&question).unwrap())?;
    Ok(serde_json::from_str(&answer).unwrap())
}

#[test]
fn answer_sets_come_back_as_text() {
    let solved = ask("init(clean(shot1)). init(says(\"a\\\"b\")). cost(-3).").unwrap();
    let reply = solved.reply.unwrap();
    assert_eq!(reply.outcome, stages::Outcome::Solved);
    assert_eq!(reply.answers, [["cost(-3)", "init(clean(shot1))", "init(says(\"a\\\"b\"))"]]);
    assert_eq!(solved.remarks, []);
}

#[test]
fn what_the_reasoner_says_of_a_program_is_told_with_the_line() {
    let wrong = ask("a(1).\nb(X) :- not a(X).\n").unwrap();
    assert!(wrong.reply.is_none());
    assert_eq!(wrong.remarks[0].line, "b(X) :- not a(X).");
    assert!(wrong.remarks[0].text.contains("unsafe"), "{:?}", wrong.remarks);
    let left_out = ask("a(shot1).\nb(X+1) :- a(X).\n").unwrap();
    assert!(left_out.reply.is_some());
    assert_eq!(left_out.remarks[0].line, "b(X+1) :- a(X).");
    let unknown = ask("a(@os(1)).").unwrap();
    assert!(unknown.reply.is_none() && unknown.remarks[0].text.contains("@os"), "{unknown:?}");
    let trusted = ask("a(@id(1, 2)).").unwrap();
    assert!(trusted.remarks[0].text.contains("takes a type and an index"), "{trusted:?}");
    assert_eq!(ask("a(@id(shot, 2)).").unwrap().reply.unwrap().answers, [["a(shot2)"]]);
    assert!(ask("#include \"/etc/hostname\".").unwrap().remarks[0].text.contains("#include"));
}

#[test]
fn an_answer_that_is_too_long_is_a_limit_and_a_document_of_another_kind_a_fault() {
    let long = ask("a(1..1000).").unwrap_err();
    assert_eq!((long.class, long.code.as_str()), (FailureClass::Limit, "translate-asp.size"));
    let other = work::work("{}").unwrap_err();
    assert_eq!((other.class, other.code.as_str()), (FailureClass::Plugin, "translate-asp.job"));
}

#[test]
fn the_question_with_an_in_context_example() {
    let host = host(&[GRIPPERS_IR]);
    sample(of_mode(Mode::Ic), &host, &grippers(1)).unwrap();
    insta::assert_snapshot!(question(&host, 0));
}

#[test]
fn the_three_generic_questions() {
    let names = "{'room': ['room1', 'room2', 'room3'], 'robot': ['robot1'], 'gripper': ['left1', 'right1'], 'ball': ['ball1', 'ball2']}";
    let host = host(&["{'room': 3}", names, GRIPPERS_IR]);
    sample(of_mode(Mode::G3), &host, &grippers(1)).unwrap();
    assert_eq!(host.left_over(), 0);
    insta::assert_snapshot!("generic_cardinalities", question(&host, 0));
    insta::assert_snapshot!("generic_objects", question(&host, 1));
    insta::assert_snapshot!("generic_rules", question(&host, 2));
}

#[test]
fn the_generic_question_in_one() {
    let host = host(&[GRIPPERS_IR]);
    sample(of_mode(Mode::G1), &host, &grippers(1)).unwrap();
    insta::assert_snapshot!(question(&host, 0));
}

#[test]
fn a_question_states_how_numbered_objects_are_called() {
    let mut request = grippers(1);
    let knowledge = request.task.materials.knowledge.get_or_insert_default();
    knowledge.push_str("\nir_prefix(room, r). ir_first_index(room, 0).\n");
    let names =
        "{'room': [], 'robot': ['robot1'], 'gripper': ['left1', 'right1'], 'ball': ['ball1', 'ball2']}";
    let host = host(&["{'room': 3}", names, GRIPPERS_IR]);
    let _ = sample(of_mode(Mode::G3), &host, &request);
    let asked = question(&host, 2);
    assert!(asked.contains("Objects of type room are called r0, r1 and so on."), "{asked}");
    assert!(!asked.contains("Objects of type ball are called"), "{asked}");
}

#[test]
fn what_is_missing_for_a_question_is_a_failure_of_the_call() {
    let broken = |mode: Mode, change: &dyn Fn(&mut TaskView)| {
        let mut request = grippers(1);
        change(&mut request.task);
        let failure = plugin(of_mode(mode)).translate(&host(&[]), &request).unwrap_err();
        assert_eq!(failure.class, FailureClass::Request, "{failure}");
        failure.code
    };
    assert_eq!(broken(Mode::Ic, &|t| t.materials.example.ir = None), "translate-asp.no-example");
    assert_eq!(broken(Mode::Ic, &|t| t.task_text.clear()), "translate-asp.no-text");
    assert_eq!(broken(Mode::G3, &|t| t.task_text.clear()), "translate-asp.no-text");
    assert_eq!(broken(Mode::G1, &|t| t.given.domain = None), "translate-asp.no-domain");
    assert_eq!(broken(Mode::Infer, &|_| ()), "translate-asp.no-ir");
}

#[test]
fn a_domain_without_descriptions_is_asked_by_names_and_types_and_that_is_told() {
    let mut request = grippers(1);
    request.task.materials.types.clear();
    request.task.materials.sentences.clear();
    request.task.materials.insert("predicates", "{".into());
    let host = host(&[GRIPPERS_IR]);
    let patch = sample(of_mode(Mode::G1), &host, &request).unwrap();
    let asked = question(&host, 0);
    let robot_in = r#"{"predicate": "robot_in", "arity": 2, "argument types": ["robot", "room"]}"#;
    assert!(asked.contains("\n{\"type\": \"room\"}\n") && asked.contains(robot_in), "{asked}");
    let told: Vec<&str> = patch.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(told[0].contains("the material `predicates` cannot be read"), "{told:?}");
    assert!(told[1].contains("no description of room, robot, gripper, ball, robot_in"), "{told:?}");
}

#[test]
fn numeric_functions_are_named_and_the_cost_of_plans_is_not() {
    let mut request = grippers(1);
    let functions = "(:functions (total-cost) (fuel ?r - robot)) (:action go";
    request.task.given.domain =
        Some(GRIPPERS.replacen("(:action go", functions, 1).replace(":typing", ":typing :fluents"));
    let host = host(&[GRIPPERS_IR]);
    drop(sample(of_mode(Mode::G1), &host, &request));
    let asked = question(&host, 0);
    assert!(asked.contains("The functions:\n\nfuel(robot)\n"), "{asked}");
    assert!(!asked.contains("total"), "{asked}");
}

#[test]
fn times_and_wishes_that_the_representation_lacks_are_named() {
    let mut request = grippers(1);
    let beyond = |request: &TranslateRequest| {
        let patch = sample(of_mode(Mode::G1), &host(&[GRIPPERS_IR]), request).unwrap();
        let found =
            patch.diagnostics.into_iter().find(|d| d.code == "translate-asp.beyond-facts-and-numbers");
        found.map(|d| d.message)
    };
    assert_eq!(beyond(&request), None);
    request.task.task_text.push_str(" One wish, 3 points: ball1 stays where it is.");
    assert!(beyond(&request).unwrap().contains("cannot state wishes and their weights"));
    request.task.given.domain = Some(GRIPPERS.replace(":typing", ":typing :timed-initial-literals"));
    assert!(beyond(&request).unwrap().contains("facts that change at a time, nor wishes"));
}

const NURSERY: &str = "(define (domain nursery)
  (:requirements :strips :typing :negative-preconditions)
  (:types shelf pot plant gardener watering-can house patch)
  (:predicates
    (grows-in ?a - plant ?b - pot)
    (on-upper ?a - pot ?b - shelf)
    (on-lower ?a - pot ?b - shelf)
    (dry ?a - pot)
    (inside ?a - gardener ?b - house)
    (meant-for ?a - watering-can ?b - gardener)
    (beside ?a - gardener ?b - watering-can)
    (holds ?a - gardener ?b - watering-can)
    (watered ?a - plant)
    (planted-on ?a - plant ?b - patch)
    (gate-locked))
  (:action open :parameters () :precondition (gate-locked) :effect (not (gate-locked)))
  (:action work
    :parameters (?g - gardener ?c - watering-can ?p - plant ?where - patch)
    :precondition (meant-for ?c ?g)
    :effect (and (holds ?g ?c) (watered ?p) (planted-on ?p ?where))))";

const KNOWLEDGE: &str = "ir_predicate(patch_grid(row, column, patch), \"patch C is in row A and column B\").
object(X, patch) :- init(patch_grid(_, _, X)).\n";

fn nursery() -> TranslateRequest {
    let mut request = grippers(1);
    request.task.given.domain = Some(NURSERY.into());
    request.task.materials = Materials { knowledge: Some(KNOWLEDGE.into()), ..Materials::default() };
    request
}

#[test]
fn the_sample_answers_of_three_questions_make_the_problem_of_the_sample_text() {
    let counts = r#"{"shelf": 2, "pot": 4, "plant": 3, "gardener": 2, "watering_can": 2, "patch": {"width": 3, "height": 2}}"#;
    assert!(include_str!("../templates/cardinalities.txt").contains(counts));
    let names = include_str!("../templates/sample-objects.txt");
    let rules = include_str!("../templates/sample-rules.txt");
    let host = host(&[counts, names, rules]);
    let patch = sample(of_mode(Mode::G3), &host, &nursery()).unwrap();
    let problem = patch.problem.unwrap();
    let worse: Vec<_> = patch.diagnostics.iter().filter(|d| d.severity != ReportedSeverity::Advice).collect();
    assert!(worse.is_empty() && patch.fixes.is_empty(), "{worse:?} {:?}", patch.fixes);
    insta::assert_snapshot!(problem);
}

#[test]
fn the_sample_answer_of_one_question_is_what_three_answers_make() {
    let g1 = include_str!("../templates/g1.txt");
    let head: String = g1
        .lines()
        .filter(|l| l.starts_with("cardinality(") || l.starts_with("object("))
        .map(|l| format!("{l}\n"))
        .collect();
    let whole = format!("{head}{}", include_str!("../templates/sample-rules.txt"));
    let counts = r#"{"shelf": 2, "pot": 4, "plant": 3, "gardener": 2, "watering_can": 2, "patch": {"width": 3, "height": 2}}"#;
    let names = include_str!("../templates/sample-objects.txt");
    let one = sample(of_mode(Mode::G1), &host(&[&whole]), &nursery()).unwrap();
    let three = host(&[counts, names, include_str!("../templates/sample-rules.txt")]);
    let three = sample(of_mode(Mode::G3), &three, &nursery()).unwrap();
    assert_eq!(one.problem, three.problem);
}
