//! Limits are a verdict of their own: never "unsolvable", never an error.

use super::support::{Ran, planforge, ran, sliding_puzzle};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

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
    command.arg("plan").arg(&puzzle.domain).arg(&puzzle.problem).arg("--optimal").args(args);
    command
}

#[test]
fn a_time_limit_is_kept_and_said() {
    let puzzle = puzzle();
    let timed = |limit: &str| {
        let started = Instant::now();
        let ran = Ran::wait(optimal(&puzzle, &["--time-limit", limit]).spawn().unwrap());
        (ran, started.elapsed())
    };
    // What a start costs tells how busy the machine is.
    let (none, start) = timed("0.0001");
    none.expect(21);
    let (ran, took) = timed("0.5");
    let most = Duration::from_secs(10) + 20 * start;
    // Part of the time is kept back for the answer.
    assert!(Duration::from_millis(300) <= took && took < most, "{took:?}; a start took {start:?}");
    // On a busy machine the host may give the call up before the planner has looked at the clock, and says so.
    let said = ["time", "did not answer"];
    assert!(said.iter().any(|word| ran.expect(21).stderr.contains(word)), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    let report = Ran::wait(optimal(&puzzle, &["--time-limit", "0.2", "--json"]).spawn().unwrap()).json(21);
    assert_eq!((&report["outcome"], &report["plans"]), (&"limit-reached".into(), &serde_json::json!([])));
    assert_ne!(report["explanation"], serde_json::json!([]));
}

#[test]
fn a_memory_limit_is_kept_and_said() {
    let puzzle = puzzle();
    let mut command = planforge();
    command
        .arg("plan")
        .arg(&puzzle.domain)
        .arg(&puzzle.problem)
        .args(["--memory-limit=2", "--time-limit=60"]);
    let ran = Ran::wait(command.spawn().unwrap());
    ran.expect(22).says(&["memory"]);
    assert_eq!(ran.stdout, "");
}

#[test]
fn limits_must_be_numbers_that_make_sense() {
    for value in ["0", "nan", "inf", "soon"] {
        let limit = format!("--time-limit={value}");
        ran(["plan", "d", "p", &limit]).expect(30).says(&["is not a number of seconds above 0"]);
    }
}

#[test]
fn ctrl_c_ends_a_search() {
    let puzzle = puzzle();
    let child = optimal(&puzzle, &[]).spawn().unwrap();
    // Long enough to have set its handler and to search; the search alone would take days.
    std::thread::sleep(Duration::from_millis(1500));
    super::interrupted::signal(&child, "INT");
    let ran = Ran::wait(child);
    assert_eq!((ran.exit, ran.stdout.as_str()), (29, ""), "{}", ran.stderr);
}
