//! `planforge suite learn-knowledge`: rules learned from pairs, judged on tasks that they were not learned from.

use super::support::{Ran, example, planforge, root};
use serde_json::Value;
use std::path::Path;

fn learn(suite: &Path, args: &[&str]) -> Ran {
    Ran::wait(planforge().args(["suite", "learn-knowledge"]).arg(suite).args(args).spawn().unwrap())
}

/// Decisions of the tasks in a column.
fn decisions<'a>(report: &'a Value, column: &str) -> Vec<&'a str> {
    let tasks = report["tasks"].as_array().unwrap();
    tasks.iter().map(|task| task[column]["decision"].as_str().unwrap_or("-")).collect()
}

#[test]
fn a_rule_from_two_tasks_makes_the_others_equivalent() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("knowledge.lp").display().to_string();
    let report = learn(&example("blocks", ""), &["--json", "--out", &out]).json(0);
    assert_eq!(
        report["rules"][0]["rule"],
        "init(uncovered(X)) :- object(X, block), not init(stands_on(_, X))."
    );
    assert_eq!(decisions(&report, "without_rules"), ["different"; 5], "{report}");
    assert_eq!(decisions(&report, "learned"), ["equivalent"; 5], "{report}");
    assert_eq!(report["tasks"][2]["role"], "held-back");
    assert!(report["representations"].as_str().unwrap().ends_with("init(uncovered)"), "{report}");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), report["knowledge"].as_str().unwrap());
}

#[test]
fn declarations_and_rules_come_from_files_with_representations() {
    let folder = root().join("examples/knowledge");
    let replies = folder.display().to_string();
    let ran = learn(&folder, &["--from", "task", "--replies", &replies]);
    ran.expect(0).says(&[]);
    for line in [
        "ir_predicate(shelf_grid(row, column, shelf), \"\").",
        "init(next_to(X, Y)) :- adjacent(shelf, X, Y).",
        "init(has_space(X)) :- object(X, shelf), not init(book_on(_, X)).",
        "task  learned from  different      equivalent",
    ] {
        assert!(ran.stdout.contains(line), "{line}:\n{}", ran.stdout);
    }
}

#[test]
fn recorded_replies_with_mistakes_are_named() {
    let replies =
        root().join("examples/recordings/tic-local-model/blocks.tic-ic.1.jsonl").display().to_string();
    let ran = learn(&example("blocks", ""), &["--replies", &replies]);
    assert!(
        ran.expect(10).stdout.contains("facts of its representation are not in the reference"),
        "{}",
        ran.stdout
    );
    let replies = replies.replace("blocks.tic-ic", "grippers.tic-ic");
    let report = learn(&example("grippers", ""), &["--json", "--replies", &replies]).json(0);
    assert_eq!(
        decisions(&report, "without_rules"),
        ["equivalent", "equivalent", "equivalent", "equivalent", "-"]
    );
    assert_eq!(report["rules"].as_array().unwrap().len(), 0, "{report}");
}

#[test]
fn missing_tasks_and_missing_representations_are_errors() {
    learn(&example("blocks", ""), &["--from", "p01,p99"]).expect(30).says(&["has no task `p99`"]);
    learn(&example("movie", ""), &[]).expect(31).says(&["cli.no-representation"]);
}
