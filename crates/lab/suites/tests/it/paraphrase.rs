//! Tasks in other words: those of this repository's suites, and what is refused.

use planforge_pipeline::{Suite, SuiteTask, load_suite};
use planforge_suites::TemplateRenderer;
use planforge_suites::generate::GenerationError;
use planforge_suites::paraphrase::{Paraphrase, Paraphraser};
use std::collections::BTreeSet;
use std::path::Path;

/// Suites with wordings, as in the Language Variation set.
const SUITES: [&str; 7] = ["barman", "blocks", "floortile", "grippers", "storage", "termes", "tyres"];

fn own(name: &str) -> Suite {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites").join(name);
    load_suite(&folder).suite.unwrap()
}

fn paraphraser(suite: &Suite) -> Result<Paraphraser, GenerationError> {
    Paraphraser::new(suite, TemplateRenderer::in_this_process())
}

fn paraphrases(suite: &Suite, task: &SuiteTask, seed: u64, count: u32) -> Vec<Paraphrase> {
    let told = paraphraser(suite).unwrap().task(task, seed, count);
    told.unwrap_or_else(|e| panic!("{} {}: {}", suite.name, task.stem, messages(&e)))
}

fn messages(none: &GenerationError) -> String {
    none.diagnostics.iter().map(|d| format!("{}: {}\n{:?}", d.code, d.message, none.sources)).collect()
}

/// Every text passes the checks of the engine; here it is also another text than the suite's own.
#[test]
fn every_task_of_the_seven_suites_is_told_in_five_ways_of_its_own() {
    for name in SUITES {
        let suite = own(name);
        assert!(paraphraser(&suite).unwrap().wording_count() >= 5, "{name}");
        for task in &suite.tasks {
            for seed in 1..=3 {
                let mut texts: BTreeSet<String> =
                    paraphrases(&suite, task, seed, 5).into_iter().map(|p| p.text).collect();
                texts.insert(task.text.clone());
                assert_eq!(texts.len(), 6, "{name} {}", task.stem);
            }
        }
    }
}

/// The facts do not depend on the form, so what clingo proves of one text holds for all.
#[test]
fn five_seeds_give_five_texts_of_level_2_with_the_same_facts() {
    for name in SUITES.into_iter().chain(["childsnack", "hiking", "miconic"]) {
        let suite = own(name);
        let paraphraser = paraphraser(&suite).unwrap();
        for task in &suite.tasks {
            let texts = (1..=5).map(|seed| {
                paraphraser.level(task, 2, seed).unwrap_or_else(|e| panic!("{name}: {}", messages(&e)))
            });
            let (texts, facts): (BTreeSet<String>, BTreeSet<String>) =
                texts.map(|text| (text.text(), text.facts_without(None))).unzip();
            assert_eq!((texts.len(), facts.len()), (5, 1), "{name} {}", task.stem);
            assert!(texts.iter().all(|text| !text.contains('~')), "{name} {}", task.stem);
        }
    }
}

#[test]
fn the_first_seed_takes_the_first_form_of_each_line() {
    let level = "%% level 2\nFirst.\n~ Second.\n~ Third.\n= irrelevant\n";
    let grippers = Suite { wordings: Some(level.to_owned()), ..own("grippers") };
    let text = |seed| paraphraser(&grippers).unwrap().level(&grippers.tasks[0], 2, seed).unwrap().text();
    assert_eq!(text(1), "First.\n");
    let all: BTreeSet<String> = (1..=20).map(text).collect();
    assert_eq!(all, ["First.\n", "Second.\n", "Third.\n"].map(str::to_owned).into());
    let alone = Suite { wordings: Some(level.replace("First.\n", "")), ..own("grippers") };
    let wrong = paraphraser(&alone).unwrap().level(&alone.tasks[0], 2, 1).unwrap_err();
    assert!(messages(&wrong).contains("no text stands before `~ Second.`"), "{}", messages(&wrong));
}

#[test]
fn a_form_has_the_objects_and_numbers_of_the_first() {
    let mistake = |first: &str, form: &str| {
        let level = format!("%% level 2\nA line.\n= irrelevant\n{first}\n~ {form}\n= irrelevant\n");
        let suite = Suite { wordings: Some(level), ..own("grippers") };
        let wrong = paraphraser(&suite).unwrap().level(&suite.tasks[0], 2, 1).err()?;
        let label = &wrong.diagnostics[0].labels[0];
        assert_eq!(wrong.sources.get(label.source).unwrap().line_column(label.span.start).line, 4);
        Some(wrong.diagnostics[0].message.clone())
    };
    let first = "Three balls lie in room1, and neither of the two grippers holds ball1.";
    assert_eq!(mistake(first, "There are 3 balls in room 1. ball1 is in no gripper."), None);
    assert_eq!(mistake("room1 and room2 are here.", "The 2 rooms are room1 and room2."), None);
    for (form, why) in [
        ("", "is empty"),
        ("Three balls lie in room1.", "lacks `ball1`"),
        ("Three balls with ball1 and ball2 lie in room1.", "has `ball2`"),
        ("Balls lie in room1, such as ball1.", "lacks the number 3"),
        ("Three balls, such as ball1, lie in room1. There are five rooms.", "has the number 5"),
    ] {
        let found = mistake(first, form).unwrap();
        assert!(found.contains(why), "{form}: {found}");
    }
}

#[test]
fn a_text_depends_on_seed_task_and_number_alone() {
    for name in SUITES {
        let suite = own(name);
        let task = &suite.tasks[2];
        let first = paraphrases(&suite, task, 7, 5);
        assert_eq!(paraphrases(&suite, task, 7, 5), first);
        assert_eq!(paraphrases(&suite, task, 7, 3), first[..3], "one more wording changes no other");
        assert_eq!(first[1].stem, format!("{}-w2", task.stem));
        assert_ne!(paraphrases(&suite, task, 8, 5), first, "{name}");
    }
    // Beyond what is written down, the same templates tell the task again in another order.
    let grippers = own("grippers");
    let written = paraphraser(&grippers).unwrap().wording_count() as u32;
    let twice = paraphrases(&grippers, &grippers.tasks[4], 7, 2 * written);
    assert_eq!(twice[..written as usize], paraphrases(&grippers, &grippers.tasks[4], 7, written));
}

/// A problem with one fact removed gives another text or is refused.
#[test]
fn every_fact_of_a_problem_changes_each_telling_of_it() {
    let mut tried = 0;
    for name in SUITES {
        let suite = own(name);
        let paraphraser = paraphraser(&suite).unwrap();
        let task = &suite.tasks[0];
        let problem = task.reference_problem.as_deref().unwrap();
        let before = paraphrases(&suite, task, 3, 5);
        for (at, line) in problem.match_indices("    (") {
            let end = problem[at..].find('\n').unwrap_or(problem.len() - at);
            let text = problem[at..at + end].trim();
            // Whole facts on lines of their own; the last line also closes what is around it.
            let fact: String = {
                let mut depth = 0;
                let stop = text.char_indices().find(|(_, c)| {
                    depth += i32::from(*c == '(') - i32::from(*c == ')');
                    depth == 0
                });
                text[..stop.map_or(text.len(), |(i, _)| i + 1)].to_owned()
            };
            assert!(line.ends_with('('));
            let shorter =
                problem.replacen(&problem[at..at + end], &problem[at..at + end].replacen(&fact, "", 1), 1);
            let without = SuiteTask { reference_problem: Some(shorter), ..task.clone() };
            match paraphraser.task(&without, 3, 5) {
                Err(refused) => assert!(refused.diagnostics[0].is_error()),
                Ok(after) => {
                    for (a, b) in before.iter().zip(&after) {
                        assert_ne!(a.text, b.text, "{name}: {} says nothing of {fact}", a.stem);
                    }
                }
            }
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
}

/// A small suite with given wordings.
fn toys(wordings: &str) -> Suite {
    Suite {
        name: "toys".to_owned(),
        reference_domain: Some(
            "(define (domain toys) (:requirements :typing) (:types box toy) (:predicates (in ?t - toy ?b - box) (open ?b - box) (dry)))"
                .to_owned(),
        ),
        wordings: Some(wordings.to_owned()),
        tasks: vec![SuiteTask {
            stem: "p01".to_owned(),
            reference_problem: Some(
                "(define (problem p01) (:domain toys) (:objects b1 b2 - box t1 t2 - toy)
                  (:init (in t1 b1) (in t2 b1) (open b1) (dry)) (:goal (and (in t1 b2) (not (open b1)))))"
                    .to_owned(),
            ),
            ..SuiteTask::default()
        }],
        ..Suite::default()
    }
}

const GOOD: &str = "# set boxes = objects(\"box\")
{{ require(init(\"dry\"), \"it is wet\") }}
%% wording
{{ boxes | listed }} are boxes. {{ init(\"in\") | say(\"{0} is in {1}\") | listed }}. {{ init(\"open\") | column(0) | listed }} is open.
In the end {{ goal(\"in\") | say(\"{0} in {1}\") | listed }} and {{ goal_not(\"open\") | column(0) | listed }} is shut.
%% wording
All toys are in b1{{ covered(\"init\", \"in\") }}: {{ objects(\"toy\") | listed }}. {{ init(\"open\") | column(0) | listed }} is open.
{{ goal(\"in\") | say(\"{0} has to go to {1}\") | listed }}, {{ goal_not(\"open\") | column(0) | listed }} has to be shut.
";

fn error_of(wordings: &str, count: u32) -> String {
    let suite = toys(wordings);
    match paraphraser(&suite).and_then(|p| p.task(&suite.tasks[0], 1, count)) {
        Err(none) => {
            let one = &none.diagnostics[0];
            let place = one
                .labels
                .first()
                .and_then(|l| none.sources.get(l.source).map(|s| s.line_column(l.span.start).line));
            format!("{} at {:?}: {}", one.code, place, one.message)
        }
        Ok(told) => panic!("{told:?}"),
    }
}

#[test]
fn a_wording_reads_the_problem() {
    let suite = toys(GOOD);
    let told = paraphrases(&suite, &suite.tasks[0], 1, 2);
    assert_eq!(
        told[0].text,
        "b1 and b2 are boxes. t1 is in b1 and t2 is in b1. b1 is open.\nIn the end t1 in b2 and b1 is shut.\n"
    );
    assert_eq!(
        told[1].text,
        "All toys are in b1: t1 and t2. b1 is open.\nt1 has to go to b2, b1 has to be shut.\n"
    );
}

#[test]
fn what_a_wording_leaves_out_is_an_error() {
    let without = |part: &str| {
        assert!(GOOD.contains(part), "{part}");
        error_of(&GOOD.replace(part, ""), 2)
    };
    assert!(error_of(GOOD, 3).starts_with("paraphrase.alike"), "without chance there are only two texts");
    let silent =
        without("{{ boxes | listed }} are boxes. {{ init(\"in\") | say(\"{0} is in {1}\") | listed }}.");
    assert!(
        silent.starts_with("generate.silent-object") && silent.contains("p01-w1") && silent.contains("t2"),
        "{silent}"
    );
    let fact = without("{{ init(\"in\") | say(\"{0} is in {1}\") | listed }}.").replace("t2", "");
    assert!(fact.starts_with("generate.silent-object"), "{fact}");
    let rule = without("{{ covered(\"init\", \"in\") }}");
    assert!(
        rule.starts_with("paraphrase.untold") && rule.contains("(in t1 b1) of the initial state"),
        "{rule}"
    );
    let goal = without("{{ goal(\"in\") | say(\"{0} has to go to {1}\") | listed }}, ");
    assert!(goal.contains("p01-w2"), "{goal}");
    let not =
        error_of(&GOOD.replace("{{ goal_not(\"open\") | column(0) | listed }} is shut", "b1 is shut"), 1);
    assert!(not.starts_with("paraphrase.untold") && not.contains("not (open b1) of the goal"), "{not}");
}

#[test]
fn mistakes_are_told_with_their_line() {
    let with = |from: &str, to: &str| error_of(&GOOD.replace(from, to), 2);
    assert!(
        with("objects(\"toy\")", "objects(\"toi\")").starts_with("paraphrase.template at Some(7): p01-w2: ")
    );
    assert!(with("\"open\") | column(0)", "\"oben\") | column(0)").contains("no predicate `oben`"));
    assert!(with("column(0)", "column(3)").contains("no place 3"));
    assert!(with("covered(\"init\"", "covered(\"begin\"").contains("`begin` is none of"));
    assert!(with("%% wording", "%% text").starts_with("paraphrase.template"));
    assert!(
        with("init(\"dry\")", "goal(\"dry\")")
            .starts_with("paraphrase.unsupported at Some(2): p01-w1: it is wet")
    );
    assert!(with("boxes | listed", "redraw(\"no\")").contains("draws once"));
    let mut suite = toys(GOOD);
    let tasks =
        |suite: &Suite| messages(&paraphraser(suite).unwrap().task(&suite.tasks[0], 1, 1).unwrap_err());
    let problem = suite.tasks[0].reference_problem.clone().unwrap();
    suite.tasks[0].reference_problem = Some(problem.replace("(and (in t1 b2)", "(or (in t1 b2)"));
    assert!(tasks(&suite).starts_with("paraphrase.unsupported: p01: its goal is not a conjunction"));
    suite.tasks[0].reference_problem = Some(problem.replace("(dry)", "(= (weight) 3)"));
    assert!(tasks(&suite).contains("numbers"));
    suite.tasks[0].reference_problem = None;
    assert!(tasks(&suite).contains("no reference problem"));
    suite.wordings = None;
    assert!(messages(&paraphraser(&suite).unwrap_err()).starts_with("paraphrase.no-wordings"));
}
