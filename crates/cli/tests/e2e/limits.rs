//! Limits are a verdict of their own: never "unsolvable", never an error.

use super::support::{Ran, planforge, ran, signal, sliding_puzzle, wait_until_interruptible};
use std::path::PathBuf;
use std::process::Command;

struct Puzzle {
    _folder: tempfile::TempDir,
    domain: PathBuf,
    problem: PathBuf,
}

fn puzzle() -> Puzzle {
    let folder = tempfile::tempdir().unwrap();
    let (domain, problem) = sliding_puzzle(5);
    let paths = [("domain.pddl", domain), ("problem.pddl", problem)].map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    });
    let [domain, problem] = paths;
    Puzzle { _folder: folder, domain, problem }
}

fn optimal(puzzle: &Puzzle, args: &[&str]) -> Command {
    let mut command = planforge();
    command.args(["pddl", "plan"]).arg(&puzzle.domain).arg(&puzzle.problem).arg("--optimal").args(args);
    command
}

#[test]
fn a_time_limit_ends_the_search_and_is_reported() {
    let puzzle = puzzle();
    // The search would take days. On a busy machine the host may end the call before the planner has looked at the clock.
    for limit in ["0.0001", "0.5"] {
        let ran = Ran::wait(optimal(&puzzle, &["--time-limit", limit]).spawn().unwrap());
        let reasons = ["time", "did not answer"];
        assert!(reasons.iter().any(|word| ran.expect(21).stderr.contains(word)), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn a_time_limit_of_any_length_gives_one_json_object() {
    let puzzle = puzzle();
    for limit in ["0.000001", "0.001", "0.05", "0.2"] {
        let report =
            Ran::wait(optimal(&puzzle, &["--time-limit", limit, "--json"]).spawn().unwrap()).json(21);
        assert_eq!((&report["outcome"], &report["plans"]), (&"limit-reached".into(), &serde_json::json!([])));
        assert_ne!(report["explanation"], serde_json::json!([]), "{limit}");
    }
}

#[test]
fn a_memory_limit_ends_the_search_and_is_reported() {
    let puzzle = puzzle();
    let mut command = planforge();
    command
        .args(["pddl", "plan"])
        .arg(&puzzle.domain)
        .arg(&puzzle.problem)
        .args(["--memory-limit=2", "--time-limit=60"]);
    let ran = Ran::wait(command.spawn().unwrap());
    ran.expect(22).says(&["memory"]);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_time_limit_that_is_not_a_positive_number_is_refused() {
    for value in ["0", "nan", "inf", "soon"] {
        let limit = format!("--time-limit={value}");
        ran(["pddl", "plan", "d", "p", &limit]).expect(30).says(&["is not a number of seconds above 0"]);
    }
}

#[test]
fn ctrl_c_ends_a_search() {
    let puzzle = puzzle();
    let mut child = optimal(&puzzle, &[]).spawn().unwrap();
    // The search alone would take days.
    wait_until_interruptible(&mut child);
    signal(&child, "INT");
    let ran = Ran::wait(child);
    assert_eq!((ran.exit, ran.stdout.as_str()), (29, ""), "{}", ran.stderr);
}

#[test]
fn an_interrupted_search_prints_its_json_object() {
    let puzzle = puzzle();
    let mut child = optimal(&puzzle, &["--json"]).spawn().unwrap();
    wait_until_interruptible(&mut child);
    signal(&child, "INT");
    let report = Ran::wait(child).json(29);
    assert!(report.is_object(), "{report}");
}
