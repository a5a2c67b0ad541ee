//! Hostile input to the reasoner from a model or a knowledge file: each text through `planforge pddl infer`
//! with the real child process. Each ends within its limits in a diagnostic or a limit, and the host never
//! grows.

use crate::infer::{P01, saying};
use crate::support::{Ran, Run, example_text, planforge, verdict};
use serde_json::Value;
use std::process::Command;
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

const DOMAIN: &str = "(define (domain shelves)
  (:requirements :strips :typing)
  (:types box shelf - object)
  (:predicates (in ?b - box ?s - shelf) (above ?a ?b - box) (free ?s - shelf))
  (:action put :parameters (?b - box ?s - shelf) :precondition (free ?s) :effect (and (in ?b ?s) (not (free ?s)))))
";

/// A description with nothing wrong.
const TAME: &str =
    "cardinality(shelf, 3).\ninit(in(box1, shelf1)).\ninit(free(shelf2)).\ngoal(in(box1, shelf2)).\n";

/// Most that the host may grow over what it takes for [`TAME`], in kilobytes.
const GROWTH: u64 = 100 << 10;

/// One inference and what it took.
struct Inferred {
    ran: Ran,
    /// Most resident memory of the host process, without its child, in kilobytes.
    peak_kb: u64,
}

/// The most memory that a process ever held; `None` once it has ended.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// `planforge pddl infer --json` on these texts.
fn infer(domain: &str, knowledge: Option<&str>, ir: &str, options: &[&str]) -> Inferred {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let mut command: Command = planforge();
    command.args(["pddl", "infer"]).arg("--json").arg("--domain").arg(file("domain.pddl", domain));
    if let Some(knowledge) = knowledge {
        command.arg("--knowledge").arg(file("knowledge.lp", knowledge));
    }
    command.args(options).arg(file("ir.lp", ir)).current_dir(folder.path());
    let child = command.spawn().unwrap();
    let process = child.id();
    // What is seen last before the end is the peak, but for the moment between.
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        while let Some(now) = peak(process) {
            most = most.max(now);
            std::thread::sleep(Duration::from_millis(1));
        }
        most
    });
    let ran = Ran::wait(child);
    Inferred { ran, peak_kb: watch.join().unwrap() }
}

/// Memory of the host for a correct text, in kilobytes.
fn base_kb() -> u64 {
    static BASE: OnceLock<u64> = OnceLock::new();
    *BASE.get_or_init(|| {
        let tame = infer(DOMAIN, None, TAME, &[]);
        tame.ran.json(0);
        tame.peak_kb
    })
}

/// Asserts that the host did not grow. The limits hold if the process ends.
fn bounded(inferred: &Inferred) {
    let growth = inferred.peak_kb.saturating_sub(base_kb());
    assert!(growth < GROWTH, "the host grew by {growth} kB");
}

/// A text that is refused: exit code 10, each of these codes among the findings, and every finding of that code has a place.
fn refused(ir: &str, codes: &[&str]) {
    let inferred = infer(DOMAIN, None, ir, &[]);
    let report = inferred.ran.json(10);
    for code in codes {
        let found: Vec<&Value> =
            report["diagnostics"].as_array().unwrap().iter().filter(|d| d["code"] == *code).collect();
        assert!(!found.is_empty(), "no {code}: {report:#}");
        assert!(
            found.iter().all(|d| d["line"].as_u64() > Some(0) && d["column"].as_u64() > Some(0)),
            "{report:#}"
        );
    }
    bounded(&inferred);
}

/// A task that reaches a limit: undecided, with this exit code.
fn limited(knowledge: &str, ir: &str, options: &[&str], exit: i32) {
    let inferred = infer(DOMAIN, Some(knowledge), ir, options);
    let report = inferred.ran.json(exit);
    assert_eq!(report["decision"], "undecided", "{report:#}");
    assert!(report["problem"].is_null(), "{report:#}");
    bounded(&inferred);
}

#[test]
fn a_correct_text_is_inferred() {
    let report = infer(DOMAIN, None, TAME, &[]).ran.json(0);
    assert!(report["problem"].as_str().unwrap().contains("shelf3"), "{report:#}");
}

#[test]
fn rules_that_never_end_are_refused() {
    refused(&format!("{TAME}p(X+1) :- p(X).\n"), &["ir.unknown-predicate"]);
    refused(&format!("{TAME}cardinality(box, X+1) :- cardinality(box, X).\n"), &["ir.growth"]);
}

#[test]
fn a_billion_ground_atoms_are_refused() {
    let pairs = "init(above(X, Y)) :- X = 1..40000, Y = 1..25000.\n";
    refused(&format!("{TAME}{pairs}"), &["ir.interval"]);
    refused("object(X, box) :- X = 1..1000000000.\n", &["ir.interval"]);
    let objects =
        "cardinality(box, 9000).\ninit(above(X, Y)) :- object(X, box), object(Y, box), object(Z, box).\n";
    refused(objects, &["ir.too-many-atoms"]);
    refused("cardinality(box, 1000000000).\n", &["ir.too-many-atoms"]);
}

#[test]
fn scripts_and_files_are_refused() {
    refused(&format!("{TAME}#script (python) import os #end.\n"), &["ir.directive"]);
    refused(&format!("{TAME}#include \"/etc/hostname\".\n"), &["ir.directive"]);
}

#[test]
fn functions_outside_the_program_are_refused() {
    refused(&format!("{TAME}init(in(@os(\"id\"), shelf1)).\n"), &["ir.external-function"]);
    // The library's own is not the text's to call.
    refused(&format!("{TAME}init(in(@id(box, 7), shelf1)).\n"), &["ir.external-function"]);
}

#[test]
fn ten_megabytes_are_not_read() {
    let line = "init(in(box1, shelf1)).\n";
    let inferred = infer(DOMAIN, None, &line.repeat((10 << 20) / line.len()), &[]);
    let report = inferred.ran.json(22);
    assert_eq!(report["decision"], "undecided", "{report:#}");
    assert!(report["message"].as_str().unwrap().contains("at most 512 kB are read"), "{report:#}");
    bounded(&inferred);
    // The largest that is read, of statements and of nothing else.
    for text in
        [line.repeat((1 << 19) / line.len()), "(".repeat(1 << 19), "a ".repeat(1 << 18), "\"".repeat(1 << 19)]
    {
        let inferred = infer(DOMAIN, None, &text, &[]);
        assert_eq!(inferred.ran.exit, 10, "{}", inferred.ran.stderr);
        bounded(&inferred);
    }
}

#[test]
fn names_in_other_letters_are_refused() {
    for name in ["bücher", "箱", "б1", "box\u{200b}1", "\u{202e}1xob"] {
        let inferred = infer(DOMAIN, None, &format!("{TAME}init(in({name}, shelf1)).\n"), &[]);
        let report = inferred.ran.json(10);
        assert!(
            report["diagnostics"].as_array().unwrap().iter().any(|d| d["line"] == 5),
            "{name}: {report:#}"
        );
        bounded(&inferred);
    }
}

#[test]
fn names_that_the_reasoner_cannot_distinguish_are_reported() {
    // Two objects of the text.
    let inferred =
        infer(DOMAIN, None, &format!("{TAME}init(in(old-box, shelf1)).\ninit(in(old_box, shelf3)).\n"), &[]);
    let report = inferred.ran.json(0);
    let found = report["diagnostics"].as_array().unwrap();
    assert!(found.iter().any(|d| d["code"] == "ir.name-collision"), "{report:#}");
    bounded(&inferred);
    // Two predicates of the domain: nothing can be said with it.
    let domain =
        DOMAIN.replace("(free ?s - shelf))", "(free ?s - shelf) (is-full ?s - shelf) (is_full ?s - shelf))");
    let inferred = infer(&domain, None, TAME, &[]);
    let report = inferred.ran.json(31);
    assert_eq!(report["decision"], "failed", "{report:#}");
    assert!(report["message"].as_str().unwrap().contains("is-full"), "{report:#}");
    bounded(&inferred);
}

#[test]
fn counts_that_do_not_fit_are_conflicts() {
    let more =
        "cardinality(box, 2).\ninit(in(box1, s)).\ninit(in(box2, s)).\ninit(in(box3, s)).\ngoal(free(s)).\n";
    refused(more, &["asp.more-than-counted"]);
    let pairs =
        "cardinality(box, 3).\ncardinality(shelf, 2).\ninit(map(box, in, shelf)).\ngoal(free(shelf1)).\n";
    refused(pairs, &["asp.map-sizes"]);
}

#[test]
fn endless_knowledge_reaches_the_time_limit() {
    let knowledge =
        "shelved(0).\nshelved(X+1) :- shelved(X), X < 2000000000.\ninit(free(s)) :- shelved(-1).\n";
    limited(knowledge, TAME, &["--time-limit", "1", "--memory-limit", "2048"], 21);
}

#[test]
fn knowledge_that_fills_memory_reaches_the_memory_limit() {
    let knowledge = "many(1..100000).\npair(X, Y) :- many(X), many(Y).\ninit(free(s)) :- pair(0, 0).\n";
    limited(knowledge, TAME, &["--time-limit", "60", "--memory-limit", "200"], 22);
}

#[test]
fn knowledge_with_too_many_atoms_reaches_the_answer_limit() {
    // Just fewer bytes than come back, of short and of long atoms, and more: the host has room for what it is given.
    for (place, count, exit) in
        [("p", 20_000, 0), (&*"p".repeat(1000), 1_500, 0), (&*"p".repeat(1000), 3_000, 22)]
    {
        let knowledge = format!(
            "ir_predicate(place(name, number), \"there is a place N\").\ninit(place({place}, 1..{count})).\nir_type(name, \"a name\").\n"
        );
        let inferred =
            infer(DOMAIN, Some(&knowledge), TAME, &["--memory-limit", "2048", "--time-limit", "60"]);
        assert_eq!(inferred.ran.exit, exit, "{count}: {}{}", inferred.ran.stdout, inferred.ran.stderr);
        bounded(&inferred);
    }
}

#[test]
fn endlessly_nested_knowledge_reaches_a_limit() {
    let knowledge =
        "deep(0, s).\ndeep(N+1, f(X)) :- deep(N, X), N < 200000.\ninit(free(s)) :- deep(-1, s).\n";
    let inferred = infer(DOMAIN, Some(knowledge), TAME, &["--time-limit", "3"]);
    let report = inferred.ran.json(inferred.ran.exit);
    assert!([21, 22].contains(&inferred.ran.exit), "{report:#}");
    bounded(&inferred);
}

#[test]
fn knowledge_cannot_reach_files_or_scripts() {
    for (statement, exit) in [
        ("#include \"/etc/hostname\".", 31),
        ("#script (python) import os #end.", 31),
        ("init(free(@os(\"id\"))).", 10),
    ] {
        let inferred = infer(DOMAIN, Some(&format!("{statement}\n")), TAME, &[]);
        let report = inferred.ran.json(exit);
        assert_eq!(report["problem"], Value::Null, "{report:#}");
        bounded(&inferred);
    }
}

#[test]
fn after_a_limit_the_next_answer_comes_from_a_new_child() {
    static REPLIES: LazyLock<[String; 2]> = LazyLock::new(|| {
        let endless = P01
            .replace("init(arm_free).", "init(arm_free). object(endless, block). init(on_table(endless)).");
        [endless, P01.to_owned()]
    });
    static WORDS: LazyLock<[&str; 2]> = LazyLock::new(|| REPLIES.each_ref().map(String::as_str));
    let add_on = tempfile::tempdir().unwrap();
    let grows = "count(0) :- object(endless, block).\ncount(N + 1) :- count(N).\n";
    let knowledge = example_text("blocks", "knowledge.lp") + grows;
    std::fs::write(add_on.path().join("knowledge.lp"), knowledge).unwrap();
    // On a busy machine the good sample needs longer than that too.
    let attempt = |time_s| {
        let server = saying(WORDS.as_slice());
        let mut run = Run::new("tic-ic.toml", &server.base_url())
            .task("blocks", "p01")
            .set("stage.problem.n", "2")
            .set("stage.problem.options.limits.time_s", time_s)
            .arg("--add-on")
            .arg(add_on.path())
            .arg("--json");
        let ran = run.go();
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let failed = report["tasks"][0]["stages"][0]["failed"].as_array().unwrap();
        assert_eq!(failed[0]["failure"]["code"], "translate-asp.time", "{report:#}");
        (failed.len() == 1).then(|| ran.json(0))
    };
    let report = ["0.5", "5", "50"].into_iter().find_map(attempt).unwrap();
    assert_eq!(verdict(&report, 0), "accepted", "{report:#}");
}
