//! A pipeline with a budget and a simulated model: the report of the budget, its verdicts, and its replay.

use super::support::{Ran, example, ran, root, verdict};
use serde_json::Value;
use std::path::Path;

/// Runs the study's pipeline on one task. `set` has the simulated model's quality.
fn run(folder: &Path, set: &[&str], more: &[&str]) -> Ran {
    let pipeline = root().join("examples/studies/scaling/budget-critic.toml").display().to_string();
    let runs = folder.join("runs").display().to_string();
    let task = example("garden", "p01").display().to_string();
    let suites = format!("{:?}", [example("garden", "").display().to_string()]);
    let mut args: Vec<String> =
        ["run", &pipeline, "--task", &task, "--runs", &runs].map(str::to_owned).to_vec();
    let models = ["writer", "critic"].map(|model| format!("llm.{model}.suites={suites}"));
    for set in models.iter().map(String::as_str).chain(set.iter().copied()) {
        args.extend(["--set".to_owned(), set.to_owned()]);
    }
    args.extend(more.iter().map(|arg| (*arg).to_owned()));
    ran(args)
}

fn budget(report: &Value) -> &Value {
    let stages = report["tasks"][0]["stages"].as_array().unwrap();
    stages.iter().map(|stage| &stage["budget"]).find(|budget| !budget.is_null()).unwrap()
}

#[test]
fn a_search_with_an_approved_candidate_reports_its_cost() {
    let folder = tempfile::tempdir().unwrap();
    let right = ["llm.writer.errors=0", "llm.critic.critic.false_findings=0.0"];
    let report = run(folder.path(), &right, &["--json"]).json(0);
    assert_eq!(verdict(&report, 0), "accepted");
    let budget = budget(&report);
    assert_eq!((&budget["end"], &budget["samples"]), (&"accepted".into(), &1.into()));
    assert_eq!(budget["spent"]["calls"], 2, "a sample and its critique");
    assert_eq!(report["tasks"][0]["candidate"]["assessments"]["final"]["metrics"]["score"], 1.0);
    let text = run(folder.path(), &right, &[]);
    let told =
        "Budget of search:\n  a candidate was accepted before the budget was spent\n  spent: 2 calls, ";
    assert!(text.expect(0).stdout.contains(told), "{}", text.stdout);
    assert!(
        text.stdout.contains(" of 16000 tokens\n  1 samples, 0 refinements (thompson)"),
        "{}",
        text.stdout
    );
}

/// The best so far is returned, and its judges decide: here the critic, who finds every mistake of a writer that repairs none.
#[test]
fn a_spent_budget_is_reported_and_is_not_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let hopeless = [
        "llm.writer.errors=9",
        "llm.writer.error_count=fixed",
        "llm.writer.repair_named=0.0",
        "llm.writer.repair_unnamed=0.0",
        "llm.critic.critic.finds=1.0",
        "stage.search.budget.calls=7",
    ];
    let ran_once = run(folder.path(), &hopeless, &[]);
    let told =
        "Budget of search:\n  the budget is spent: another pull might go beyond it\n  spent: 6 of 7 calls, ";
    assert!(ran_once.expect(0).stdout.contains(told), "{}", ran_once.stdout);
    let report = run(folder.path(), &hopeless, &["--json"]).json(0);
    assert_eq!(verdict(&report, 0), "rejected");
    let spent = budget(&report);
    assert_eq!((&spent["end"], &spent["spent"]["calls"]), (&"spent".into(), &6.into()));
    assert_eq!(spent["best"], report["tasks"][0]["path"]);
    // Replayed without any model, it is the same to the last byte.
    for entry in std::fs::read_dir(folder.path().join("runs")).unwrap() {
        let path = entry.unwrap().path().display().to_string();
        let replayed = ran(["replay", &path, "--json"]).json(0);
        assert_eq!(replayed["tasks"], report["tasks"]);
    }
}
