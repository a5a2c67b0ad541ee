//! Limits are a verdict of their own: never "unsolvable", never an error.

use super::support::{
    Ran, Run, example, fenced, planforge, ran, saying, signal, sliding_puzzle, verdict,
    wait_until_interruptible,
};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Puzzle {
    _folder: tempfile::TempDir,
    domain: PathBuf,
    problem: PathBuf,
}

impl Puzzle {
    fn write(domain: &str, problem: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = [("domain.pddl", domain), ("problem.pddl", problem)].map(|(name, text)| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        });
        let [domain, problem] = paths;
        Puzzle { _folder: folder, domain, problem }
    }
}

fn puzzle() -> Puzzle {
    let (domain, problem) = sliding_puzzle(5);
    Puzzle::write(&domain, &problem)
}

fn optimal(puzzle: &Puzzle, args: &[&str]) -> Command {
    let mut command = planforge();
    command.args(["pddl", "plan"]).arg(&puzzle.domain).arg(&puzzle.problem).arg("--optimal").args(args);
    command
}

#[test]
fn a_time_limit_ends_the_search_and_is_reported() {
    let puzzle = puzzle();
    // The search would take days.
    for limit in ["0.0001", "0.5"] {
        let ran = Ran::wait(optimal(&puzzle, &["--time-limit", limit]).spawn().unwrap());
        ran.expect(21).says(&["the time limit"]);
        assert!(!ran.stderr.contains("plugin.deadline"), "{}", ran.stderr);
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

/// Eight balls, two hands and a row of six rooms: improvement goes on for minutes.
fn balls() -> Puzzle {
    let domain = "(define (domain balls)
      (:predicates (door ?a ?b) (here ?r) (at ?b ?r) (held ?b ?h) (free ?h))
      (:action move :parameters (?a ?b) :precondition (and (here ?a) (door ?a ?b)) :effect (and (here ?b) (not (here ?a))))
      (:action pick :parameters (?b ?r ?h) :precondition (and (at ?b ?r) (here ?r) (free ?h))
        :effect (and (held ?b ?h) (not (at ?b ?r)) (not (free ?h))))
      (:action drop :parameters (?b ?r ?h) :precondition (and (held ?b ?h) (here ?r))
        :effect (and (at ?b ?r) (not (held ?b ?h)) (free ?h))))";
    let doors: String = (1..6).map(|r| format!("(door r{0} r{r}) (door r{r} r{0})", r - 1)).collect();
    let at = |room: &str| (0..8).map(|b| format!("(at b{b} {room})")).collect::<String>();
    let problem = format!(
        "(define (problem one) (:domain balls) (:objects left right r0 r1 r2 r3 r4 r5 b0 b1 b2 b3 b4 b5 b6 b7)
          (:init (here r0) (free left) (free right) {doors} {}) (:goal (and {})))",
        at("r0"),
        at("r5")
    );
    Puzzle::write(domain, &problem)
}

#[test]
fn ctrl_c_after_the_first_plan_prints_the_best_so_far() {
    let balls = balls();
    let mut command = planforge();
    command.args(["pddl", "plan"]).arg(&balls.domain).arg(&balls.problem).args(["--time-limit", "3600"]);
    let mut child = command.spawn().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        stderr.read_exact(&mut byte).unwrap();
        line.push(byte[0]);
    }
    let line = String::from_utf8(line).unwrap();
    assert!(line.contains(" steps after ") && line.contains(", by "), "{line}");
    child.stderr = Some(stderr);
    signal(&child, "INT");
    let ran = Ran::wait(child);
    ran.expect(0).says(&["no plan is shorter than"]);
    assert!(ran.stdout.contains("(move "), "{}", ran.stdout);
}

#[test]
fn a_limit_after_the_first_plan_prints_the_best_so_far() {
    let balls = balls();
    let plan = |more: &[&str]| {
        let mut command = planforge();
        command.args(["pddl", "plan"]).arg(&balls.domain).arg(&balls.problem).args(more).arg("--json");
        Ran::wait(command.spawn().unwrap()).json(0)["plans"][0].clone()
    };
    let first = plan(&["--first"]);
    let cost = |plan: &serde_json::Value| plan["cost"].as_f64().unwrap();
    for more in [&["--max-nodes", "400000"][..], &["--time-limit", "2", "--memory-limit", "3"]] {
        let best = plan(more);
        assert!(cost(&best) < cost(&first), "{best} {first}");
        assert!(best["bound"].as_f64().unwrap() < cost(&best), "{best}");
    }
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

const TEN: [&str; 10] = ["?a", "?c", "?d", "?e", "?f", "?g", "?h", "?i", "?j", "?k"];

/// Twenty blocks that differ: among nineteen, only enumeration over all their orders shows that there are none.
fn twenty_different_blocks() -> String {
    let names: Vec<String> = (0..20).map(|n| format!("?v{n}")).collect();
    let pairs = names
        .iter()
        .enumerate()
        .flat_map(|(at, b)| names[..at].iter().map(move |a| format!("(not (= {a} {b}))")));
    format!("(exists ({} - block) (and {}))", names.join(" "), pairs.collect::<Vec<_>>().join(" "))
}

/// The blocks suite with another goal over so many blocks, and with another precondition of `lift`. Returns the problem.
fn blocks(folder: &Path, blocks: usize, goal: &str, precondition: &str) -> String {
    let suite = example("blocks", "");
    for file in std::fs::read_dir(suite).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    let domain = std::fs::read_to_string(folder.join("domain.pddl")).unwrap();
    let domain = domain.replace(":strips", ":adl");
    let domain = domain
        .replace("(and (arm-free) (on-table ?b)", &format!("(and {precondition} (arm-free) (on-table ?b)"));
    std::fs::write(folder.join("domain.pddl"), domain).unwrap();
    let names: Vec<String> = (0..blocks).map(|n| format!("b{n}")).collect();
    let init: Vec<String> = names.iter().map(|b| format!("(on-table {b}) (uncovered {b})")).collect();
    let problem = format!(
        "(define (problem blocks-01) (:domain blocks) (:objects {} - block)\n(:init (arm-free) {})\n(:goal {goal}))",
        names.join(" "),
        init.join(" ")
    );
    std::fs::write(folder.join("p01.pddl"), &problem).unwrap();
    problem
}

#[test]
fn a_goal_with_ten_billion_bindings_is_decided_in_a_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let goal = format!(
        "(and (held b1) (forall ({} - block) (or (uncovered ?a) (not (uncovered ?a)))))",
        TEN.join(" ")
    );
    let problem = blocks(folder.path(), 12, &goal, "");
    let server = saying(&fenced(&problem));
    let run = Run::new("llm-p.toml", &server.base_url()).arg("--task").arg(folder.path().join("p01"));
    let report = run.arg("--json").go().json(0);
    assert_eq!(verdict(&report, 0), "accepted", "{report:#}");
}

#[test]
fn a_goal_that_only_enumeration_decides_is_undecided_in_a_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let problem = blocks(folder.path(), 19, &twenty_different_blocks(), "");
    let server = saying(&fenced(&problem));
    let mut run = Run::new("llm-p.toml", &server.base_url())
        .arg("--task")
        .arg(folder.path().join("p01"))
        .set("stage.plan.limits.time_s", "1")
        // The time ends first, however fast the machine is.
        .set("stage.plan.limits.memory_mb", "16384")
        .set("stage.equivalent.options.limits.time_s", "1")
        .set("stage.valid.options.limits.time_s", "1")
        .set("stage.environment.options.limits.time_s", "1")
        .set("environment.options.limits.time_s", "1")
        .arg("--json");
    let report = run.go().json(21);
    assert_eq!(verdict(&report, 0), "undecided", "{report:#}");
    let valid = &report["tasks"][0]["candidate"]["assessments"]["valid"];
    assert_eq!((&valid["decision"], &valid["reason"]), (&"undecided".into(), &"limit".into()), "{valid}");
    assert!(valid["message"].as_str().unwrap().contains("the time limit"), "{valid}");
}

#[test]
fn every_command_is_undecided_where_only_enumeration_decides() {
    let folder = tempfile::tempdir().unwrap();
    blocks(folder.path(), 19, &twenty_different_blocks(), &twenty_different_blocks());
    std::fs::write(folder.path().join("empty.plan"), "").unwrap();
    std::fs::write(folder.path().join("lift.plan"), "(lift b0)\n").unwrap();
    for command in [
        "validate domain.pddl p01.pddl empty.plan",
        "validate domain.pddl p01.pddl lift.plan",
        "plan domain.pddl p01.pddl",
        "plan domain.pddl p01.pddl --optimal",
        "graph domain.pddl p01.pddl lift.plan",
        "ew domain.pddl p01.pddl domain.pddl p01.pddl",
        "equivalent domain domain.pddl domain.pddl --problems p01.pddl",
    ] {
        let mut child = planforge();
        child.arg("pddl").args(command.split(' ')).args(["--time-limit", "0.5", "--json"]);
        let ran = Ran::wait(child.current_dir(folder.path()).spawn().unwrap());
        assert_eq!(ran.exit, 21, "{command}\n{}\n{}", ran.stdout, ran.stderr);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap();
        assert!((ran.stdout.clone() + &ran.stderr).contains("time limit"), "{command}\n{}", ran.stdout);
    }
}

/// An action that changes a fact for every eight of 30 objects, and one with ten parameters, all applicable.
fn wide(folder: &Path) {
    let variables = &TEN[..8];
    let condition = |variables: &[&str]| variables.iter().map(|v| format!("(p {v})")).collect::<String>();
    let all = variables.join(" ");
    let domain = format!(
        "(define (domain wide) (:requirements :adl) (:predicates (p ?x) (q ?x) (t {all}))
          (:action go :parameters () :effect (forall ({all}) (when (and {}) (t {all}))))
          (:action mark :parameters ({}) :precondition (and {}) :effect (q ?a)))",
        condition(variables),
        TEN.join(" "),
        condition(&TEN)
    );
    let objects: Vec<String> = (0..30).map(|n| format!("o{n}")).collect();
    let init: String = objects.iter().map(|o| format!("(p {o})")).collect();
    let problem = format!(
        "(define (problem one) (:domain wide) (:objects {}) (:init {init}) (:goal (q o3)))",
        objects.join(" ")
    );
    std::fs::write(folder.join("domain.pddl"), domain).unwrap();
    std::fs::write(folder.join("p01.pddl"), problem).unwrap();
    std::fs::write(folder.join("go.plan"), "(go)\n").unwrap();
}

#[test]
fn every_command_ends_at_its_memory_limit_and_names_the_option() {
    let folder = tempfile::tempdir().unwrap();
    wide(folder.path());
    for command in [
        "validate domain.pddl p01.pddl go.plan",
        "tell domain.pddl p01.pddl go.plan",
        "picture domain.pddl p01.pddl go.plan --out pictures",
        "graph domain.pddl p01.pddl go.plan --out graph.svg",
        "ew domain.pddl p01.pddl domain.pddl p01.pddl --exact",
        "ew domain.pddl p01.pddl domain.pddl p01.pddl --sampled",
    ] {
        let mut child = planforge();
        child.arg("pddl").args(command.split(' ')).args(["--memory-limit", "20MB", "--time-limit", "300"]);
        let ran = Ran::wait(child.current_dir(folder.path()).spawn().unwrap());
        ran.expect(22).says(&["memory", "--memory-limit raises the limit"]);
    }
}

#[test]
fn the_effect_that_reaches_a_limit_is_named_with_its_size() {
    let folder = tempfile::tempdir().unwrap();
    wide(folder.path());
    let mut command = planforge();
    command.args(["pddl", "validate", "domain.pddl", "p01.pddl", "go.plan"]);
    let ran = Ran::wait(command.current_dir(folder.path()).spawn().unwrap());
    ran.expect(22).says(&[
        "the memory limit ended the validation in step 1 (go)",
        "656100000000 combinations of objects",
        "domain.pddl:2:",
    ]);
}

#[test]
fn a_memory_limit_that_is_not_a_size_is_refused() {
    for value in ["0", "much", "5TB", "-1"] {
        let limit = format!("--memory-limit={value}");
        ran(["pddl", "plan", "d", "p", &limit]).expect(30).says(&["is not a number of megabytes above 0"]);
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_a_failure_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let (domain, _) = sliding_puzzle(9);
    let problem = sliding_puzzle(9).1;
    std::fs::write(folder.path().join("d.pddl"), domain).unwrap();
    std::fs::write(folder.path().join("p.pddl"), problem).unwrap();
    let mut command = Command::new("sh");
    let script =
        "ulimit -f 8; exec \"$0\" pddl graph d.pddl p.pddl --depth 6 --max-states 2000 --out graph.json";
    command.args(["-c", script, env!("CARGO_BIN_EXE_planforge")]).current_dir(folder.path());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    Ran::wait(command.spawn().unwrap()).expect(36).says(&["cannot be written"]);
}
