//! Recorded replies of the simulated model over the suites with numbers, times and wishes. Each has a wrong number, time or weight, and the
//! verdicts about them are right: two problems that count as the same judge plans in the same way.

use super::support::{ran, root};
use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, parse_problem, print_domain, print_problem};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const SUITES: [&str; 4] = ["bakery", "market", "outing", "post"];

/// The tasks of a suite in the report of a replayed pipeline.
fn replayed(pipeline: &str, suite: &str, folder: &Path) -> Vec<Value> {
    let recording = root().join("examples/recordings/oracle-extended");
    let file = recording.join(format!("{pipeline}.toml"));
    let cassette = recording.join(format!("{suite}.{pipeline}.1.jsonl.gz"));
    let suite = root().join("examples/extended").join(suite);
    let [file, cassette, suite, runs] =
        [&file, &cassette, &suite, &folder.join("runs")].map(|path| path.display().to_string());
    let words =
        ["run", &file, "--suite", &suite, "--seed", "1", "--replay", &cassette, "--runs", &runs, "--json"];
    let ran = ran(words);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let tasks = report["tasks"].as_array().unwrap().clone();
    assert_eq!(tasks.len(), 5, "{report}");
    tasks
}

/// A task with a written part, in files.
struct Task<'f> {
    folder: &'f Path,
    domain: PathBuf,
    problem: PathBuf,
}

impl Task<'_> {
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.join(name);
        fs::write(&file, text).unwrap();
        file
    }

    /// Decision and cost of a plan.
    fn judged(&self, problem: &Path, plan: &str) -> (Value, Value) {
        let plan = self.file("judged.plan", plan);
        let [domain, problem, plan] = [&self.domain, problem, &plan].map(|path| path.display().to_string());
        let ran = ran(["pddl", "validate", &domain, &problem, &plan, "--json"]);
        let mut report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        (report["decision"].take(), report["cost"].take())
    }

    /// The first plan that is found; `None` without one.
    fn planned(&self, problem: &Path) -> Option<String> {
        let [domain, problem] = [&self.domain, problem].map(|path| path.display().to_string());
        let ran = ran(["pddl", "plan", &domain, &problem, "--first", "--max-nodes", "20000"]);
        (ran.exit == 0).then_some(ran.stdout)
    }

    /// The environment accepts the candidate's plan if and only if it is valid for the reference. Returns whether it did; `None` without a plan.
    fn environment_is_right(&self, candidate: &Value) -> Option<bool> {
        let plan = &candidate["plan"]["plans"][0];
        let steps = plan["steps"].as_array()?;
        let line = |(index, step): (usize, &Value)| match &plan["times"][index] {
            Value::Null => format!("{}\n", step.as_str().unwrap()),
            times => {
                let [start, duration] = ["start", "duration"].map(|key| times[key].as_f64());
                let duration = duration.map(|duration| format!(" [{duration}]")).unwrap_or_default();
                format!("{}: {}{duration}\n", start.unwrap(), step.as_str().unwrap())
            }
        };
        let plan: String = steps.iter().enumerate().map(line).collect();
        let accepted = candidate["assessments"]["environment"]["decision"] == "accepted";
        assert_eq!(self.judged(&self.problem, &plan).0 == "accepted", accepted, "{candidate}");
        Some(accepted)
    }
}

fn reference<'f>(folder: &'f Path, suite: &str, task: &Value) -> Task<'f> {
    let suite = root().join("examples/extended").join(suite);
    let name = task["stem"].as_str().unwrap();
    Task { folder, domain: suite.join("domain.pddl"), problem: suite.join(format!("{name}.pddl")) }
}

#[test]
fn recorded_problems_with_a_wrong_number_time_or_weight_are_judged_right() {
    let folder = tempfile::tempdir().unwrap();
    let (mut wrong, mut different, mut shown, mut harmless, mut judged) = (0, 0, 0, 0, 0);
    for suite in SUITES {
        for task in replayed("problems", suite, folder.path()) {
            let own = reference(folder.path(), suite, &task);
            let candidate = &task["candidate"];
            let normal = |text: &str| print_problem(&parse_problem(text, SourceId(0)).value);
            let text = normal(candidate["problem"].as_str().unwrap());
            let is_wrong = text != normal(&fs::read_to_string(&own.problem).unwrap());
            let written = own.file("written.pddl", &text);
            let plans = [own.planned(&own.problem), own.planned(&written)];
            let is_shown = plans
                .iter()
                .flatten()
                .any(|plan| own.judged(&own.problem, plan) != own.judged(&written, plan));
            judged += u32::from(own.environment_is_right(candidate).is_some());
            wrong += u32::from(is_wrong);
            shown += u32::from(is_shown);
            match candidate["assessments"]["equivalent"]["decision"].as_str().unwrap() {
                "accepted" => {
                    assert!(!is_shown, "{task}");
                    harmless += u32::from(is_wrong);
                }
                "rejected" => {
                    assert!(is_wrong, "{task}");
                    different += 1;
                }
                other => panic!("{other}: {task}"),
            }
        }
    }
    assert!(wrong == 20 && different + harmless == wrong && shown >= 5, "{wrong} {different} {shown}");
    assert!(judged >= 10, "{judged}");
}

#[test]
fn plans_of_recorded_domains_with_a_wrong_number_or_time_are_judged_right() {
    let folder = tempfile::tempdir().unwrap();
    let (mut wrong, mut accepted, mut refused, mut without_plan) = (0, 0, 0, 0);
    for suite in SUITES {
        for task in replayed("domains", suite, folder.path()) {
            let own = reference(folder.path(), suite, &task);
            let candidate = &task["candidate"];
            let normal = |text: &str| print_domain(&parse_domain(text, SourceId(0)).value);
            let text = normal(candidate["domain"].as_str().unwrap());
            let is_wrong = text != normal(&fs::read_to_string(&own.domain).unwrap());
            // The domain of outings has neither numbers nor times.
            assert_eq!(is_wrong, suite != "outing", "{task}");
            let verdict = own.environment_is_right(candidate);
            assert!(is_wrong || verdict == Some(true), "{task}");
            wrong += u32::from(is_wrong);
            accepted += u32::from(verdict == Some(true));
            refused += u32::from(verdict == Some(false));
            without_plan += u32::from(verdict.is_none());
        }
    }
    assert_eq!(wrong, 15);
    assert!(accepted > 0 && refused > 0, "{accepted} {refused} {without_plan}");
}
