//! The shipped pipelines that write a domain action by action, with the simulated model, from end to end.

use super::support::{Ran, example, planforge, simulated};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A simulated model without mistakes.
const SOUND: &str = "errors = 0\npredicate_argument = 0.0\ndamage = 0.0\nrepair_named = 1.0\n\
    actions = { errors = 0.0, no_action = 0.0, broken_text = 0.0, typed_argument = 0.0, wrong_type = 0.0, wrong_arity = 0.0, \
    wrong_name = 0.0, negated_precondition = 0.0, synonym = 0.0 }";

fn run(folder: &Path, name: &str, task: &str, options: &str, more: &[&str], exit: i32) -> Value {
    let file = simulated(folder, name, &[example("grippers", "")], options);
    let mut command = planforge();
    command.arg("run").arg(file).args(["--seed", "1", "--json", "--runs"]).arg(folder.join("runs"));
    command.arg("--task").arg(example("grippers", task)).args(more);
    let report = Ran::wait(command.spawn().unwrap()).json(exit);
    report["tasks"][0].clone()
}

fn decisions(task: &Value, stages: &[&str]) -> Vec<String> {
    let of = |stage: &&str| {
        task["candidate"]["assessments"][*stage]["decision"].as_str().unwrap_or("none").to_owned()
    };
    stages.iter().map(of).collect()
}

#[test]
fn a_whole_domain_is_judged_alone_together_and_by_its_plan() {
    let folder = tempfile::tempdir().unwrap();
    let task = run(folder.path(), "actions-whole", "p01", SOUND, &[], 0);
    let stages = ["classes", "ew", "same", "pddl", "valid", "environment"];
    assert_eq!(decisions(&task, &stages), ["accepted"; 6], "{task}");
    // What is wrong is told as wrong, and the pipeline goes on to its end.
    let wrong = SOUND.replace("wrong_arity = 0.0", "wrong_arity = 1.0");
    let task = run(folder.path(), "actions-whole", "p01", &wrong, &[], 0);
    assert_eq!(decisions(&task, &["classes", "pddl"]), ["rejected"; 2], "{task}");
    assert_eq!(task["candidate"]["assessments"]["classes"]["metrics"]["semantic"], 3.0);
}

#[test]
fn prompts_contain_earlier_actions_in_the_order_of_the_suite() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("whole.jsonl");
    run(folder.path(), "actions-whole", "p02", SOUND, &["--record", &cassette.display().to_string()], 0);
    let questions = questions(&cassette);
    assert_eq!(questions.len(), 3);
    for (place, question) in questions.iter().enumerate() {
        let (_, own) = question.rsplit_once("Predicates:").unwrap();
        assert_eq!(own.matches("(:action").count(), place, "{own}");
        assert!(!question.contains("(:init"), "the given problem is for the judges");
    }
}

/// The user turns of a recording, in order.
fn questions(cassette: &Path) -> Vec<String> {
    let text = fs::read_to_string(cassette).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let asked = records.filter_map(|record| {
        let messages = find(&record, "messages")?.as_array()?.clone();
        messages.last()?["content"].as_str().map(str::to_owned)
    });
    asked.collect()
}

/// The first value of that key, anywhere.
fn find<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(key).or_else(|| map.values().find_map(|inner| find(inner, key))),
        Value::Array(list) => list.iter().find_map(|inner| find(inner, key)),
        _ => None,
    }
}

#[test]
fn predicates_grow_from_nothing_to_a_domain_that_plans() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("grown.jsonl");
    let record = ["--record", &cassette.display().to_string()];
    let task = run(folder.path(), "actions-grown", "p01", SOUND, &record, 0);
    let stages = ["pddl", "ew", "same", "valid", "environment"];
    assert_eq!(decisions(&task, &stages), ["accepted"; 5], "{task}");
    let questions = questions(&cassette);
    // Three actions, twice, then the predicates and the problem.
    assert_eq!(questions.len(), 8, "{questions:#?}");
    let own = |question: &str| question.rsplit_once("\nPredicates:\n").unwrap().1.to_owned();
    assert!(own(&questions[0]).starts_with("(none yet)\n"), "{}", questions[0]);
    assert!(own(&questions[1]).starts_with("(robot-in ?r - robot ?place - room)"), "the model's own by now");
    assert!(own(&questions[3]).contains("(holds ?r - robot"), "the second pass sees all of them");
    assert!(questions[6].contains("old -> kept") && questions[7].contains("(robot-in"));
}

/// Half of the predicates are made up twice; the last question finds all of them.
#[test]
fn duplicate_predicates_are_unified() {
    let folder = tempfile::tempdir().unwrap();
    let twice = SOUND.replace("synonym = 0.0", "synonym = 0.5");
    let task = run(folder.path(), "actions-grown", "p01", &twice, &[], 0);
    let domain = task["candidate"]["domain"].as_str().unwrap();
    assert!(!domain.contains("-again"), "{domain}");
    assert_eq!(decisions(&task, &["pddl", "same", "environment"]), ["accepted"; 3]);
    let blind = twice.replace("repair_named = 1.0", "repair_named = 0.0");
    let task = run(folder.path(), "actions-grown", "p01", &blind, &[], 0);
    assert!(task["candidate"]["domain"].as_str().unwrap().contains("-again"));
    assert_eq!(decisions(&task, &["same"]), ["rejected"], "{task}");
}

/// Two in three actions are wrong at first, in one of the ways that result classes tell apart, and everything named is repaired.
#[test]
fn rounds_by_result_class_repair_the_named_actions() {
    let folder = tempfile::tempdir().unwrap();
    let odds = [("typed_argument", 0.2), ("wrong_type", 0.2), ("wrong_arity", 0.2)];
    let options = odds.iter().fold(SOUND.to_owned(), |text, (name, p)| {
        text.replace(&format!("{name} = 0.0"), &format!("{name} = {p}"))
    });
    let first = run(folder.path(), "actions", "p01", &options, &["--set", "stage.actions.n=1"], 0);
    assert_eq!(decisions(&first, &["classes"]), ["rejected"], "{first}");
    let corrected = run(folder.path(), "actions-corrective", "p01", &options, &[], 0);
    assert_eq!(decisions(&corrected, &["classes", "same"]), ["accepted"; 2], "{corrected}");
}

#[test]
fn description_classes_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let file = simulated(folder.path(), "actions", &[example("grippers", "")], SOUND);
    let (base, flipped, both) =
        (folder.path().join("base"), folder.path().join("flipped"), folder.path().join("both"));
    let evaluate = |out: &Path, more: &[&str]| {
        let mut command = planforge();
        command.arg("evaluate").arg("--out").arg(out).args(more);
        Ran::wait(command.spawn().unwrap())
    };
    let (suite, pipeline) = (example("grippers", "").display().to_string(), file.display().to_string());
    let matrix = [
        "--suite",
        &suite,
        "--pipeline",
        &pipeline,
        "--tasks",
        "1",
        "--seeds",
        "1",
        "--set",
        "stage.actions.n=1",
    ];
    evaluate(&base, &matrix).expect(0);
    evaluate(&flipped, &[&matrix[..], &["--set", "given.actions=flipped"]].concat()).expect(0);
    let (also, figures) = (flipped.display().to_string(), both.display().to_string());
    let table = evaluate(
        &base,
        &["--resume", "--layout", "classes", "--also", &also, "--figures", &figures, "--json"],
    );
    table.says(&["accuracy.*: made without --also"]);
    let columns = table.json(0)["columns"].as_array().unwrap().clone();
    let classes: Vec<&str> = columns.iter().map(|c| c["description"].as_str().unwrap()).collect();
    assert_eq!(classes, ["base", "flipped"]);
    assert!(both.join("fig4_descriptions.svg").exists());
}
