//! Text to a problem by way of answer set programs: whole runs with scripted replies, their records, and texts that nobody means well.

use super::support::{Ran, Run, example, planforge, ran, verdict};
use planforge_testkit::plugins::library;
use planforge_testkit::{Scripted, ScriptedServer};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// What p01 of blocks says.
const P01: &str = "Here is the program:

```asp
object(block1, block). object(block2, block). object(block3, block). object(block4, block).
init(arm_free).
init(on_table(block4)).
init(on_table(block2)).
init(on_table(block3)).
init(stands_on(block1, block4)).
goal(stands_on(block4, block2)).
goal(stands_on(block3, block4)).
```
";

fn saying(replies: &'static [&'static str]) -> ScriptedServer {
    ScriptedServer::in_order(replies.iter().map(|reply| Scripted::replies(&[reply])).collect()).unwrap()
}

fn replayed(run: &Path) -> Ran {
    Ran::wait(planforge().arg("replay").arg(run).arg("--json").spawn().unwrap())
}

#[test]
fn a_text_is_translated_inferred_compiled_solved_and_replayed() {
    let server = saying(&[P01]);
    let mut run = Run::new("tic-ic.toml", &server.base_url()).task("blocks", "p01").arg("--json");
    let first = run.go();
    let report = first.json(0);
    assert_eq!(verdict(&report, 0), "accepted", "{report}");
    let stages = report["tasks"][0]["stages"].as_array().unwrap();
    let equivalent = stages.iter().find(|stage| stage["label"] == "equivalent").unwrap();
    assert_eq!(equivalent["outcomes"]["accepted"], 1, "{equivalent}");
    assert_eq!(replayed(&run.folder()).expect(0).stdout, first.stdout);
    let explained = ran([run.folder().to_str().unwrap(), "(uncovered block1)"].iter().fold(
        vec!["explain-fact".to_owned()],
        |mut args, arg| {
            args.push((*arg).to_owned());
            args
        },
    ));
    assert!(
        explained.expect(0).stdout.contains("with not init(stands_on(_, block1))"),
        "{}",
        explained.stdout
    );
}

#[test]
fn three_questions_make_one_problem() {
    let rules = P01.rsplit_once("block).\n").unwrap().1;
    let rules = format!("```\n{rules}");
    let answers = ["{'block': 4}", "{'block': ['block1', 'block2', 'block3', 'block4']}", &rules];
    let answers = answers.iter().map(|reply| Scripted::replies(&[reply])).collect();
    let server = ScriptedServer::in_order(answers).unwrap();
    let mut run = Run::new("tic-g3.toml", &server.base_url()).task("blocks", "p01").arg("--json");
    let first = run.go();
    assert_eq!(verdict(&first.json(0), 0), "accepted");
    assert_eq!(server.count(), 3);
    assert_eq!(replayed(&run.folder()).expect(0).stdout, first.stdout);
}

#[test]
fn a_refused_reply_is_asked_about_once_more_where_the_stage_says_so() {
    static REPLIES: [&str; 2] = ["init(lies_on(block1, block4)).", P01];
    let server = saying(&REPLIES);
    let start = || Run::new("tic-ic.toml", &server.base_url()).task("blocks", "p01").arg("--json");
    let mut asked_again = start().set("stage.problem.options.repair_rounds", "1");
    assert_eq!(verdict(&asked_again.go().json(0), 0), "accepted");
    let question = server.requests()[1].question();
    assert!(question.contains("there is no predicate `lies_on`"), "{question}");
    let server = saying(&REPLIES);
    let mut once = Run::new("tic-ic.toml", &server.base_url()).task("blocks", "p01").arg("--json");
    let report = once.go().json(34);
    assert_eq!(verdict(&report, 0), "failed", "{report}");
    assert_eq!(report["tasks"][0]["verdict"]["failure"]["code"], "translate-asp.refused", "{report}");
}

#[test]
fn the_child_of_a_loaded_translator_loads_the_same_library() {
    let folder = tempfile::tempdir().unwrap();
    let library = library("planforge_translator_asp").unwrap();
    fs::copy(&library, folder.path().join(library.file_name().unwrap())).unwrap();
    let infer = |more: &[&Path]| {
        let mut command = planforge();
        command.arg("infer").arg("--suite").arg(example("blocks", "")).args(more);
        Ran::wait(command.arg(example("blocks", "p_example.lp")).spawn().unwrap())
    };
    let loaded = infer(&[Path::new("--plugin-dir"), folder.path()]);
    assert_eq!(loaded.expect(0).stdout, infer(&[]).expect(0).stdout);
}

/// An add-on for blocks whose rules never end.
fn endless() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("knowledge.lp"), "count(0).\ncount(N + 1) :- count(N).\n").unwrap();
    folder
}

#[test]
fn a_limit_of_an_inference_is_no_verdict_and_comes_from_the_record_in_replay() {
    let server = saying(&[P01]);
    let folder = endless();
    let mut run = Run::new("tic-ic.toml", &server.base_url())
        .task("blocks", "p01")
        .set("stage.problem.options.limits.time_s", "0.3")
        .arg("--add-on")
        .arg(folder.path())
        .arg("--json");
    let first = run.go();
    let report = first.json(20);
    assert_eq!(verdict(&report, 0), "undecided", "{report}");
    let failure = &report["tasks"][0]["stages"][0]["failed"][0]["failure"];
    assert_eq!((&failure["class"], &failure["code"]), (&"limit".into(), &"translate-asp.time".into()));
    assert_eq!(replayed(&run.folder()).expect(20).stdout, first.stdout);
    // A faster machine would say the same: the limit is an effect of the run.
    let events: String = fs::read_dir(run.folder().join("events"))
        .unwrap()
        .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    let effects = events.lines().filter(|line| line.contains("translator-asp.worker"));
    assert_eq!(effects.filter(|line| line.contains("\"timed\":true")).count(), 1, "{events}");
}

/// What an inference from a text that nobody means well comes to.
struct Hostile {
    report: Value,
    codes: Vec<String>,
    /// Most kilobytes that the host had resident.
    peak_kb: u64,
}

/// Infers from a text over grippers under a limit of two seconds.
fn hostile(text: &str, knowledge: &str, exit: i32) -> Hostile {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let mut command = planforge();
    command.arg("infer").arg("--domain").arg(example("grippers", "domain.pddl")).arg(path("task.lp", text));
    if !knowledge.is_empty() {
        command.arg("--knowledge").arg(path("knowledge.lp", knowledge));
    }
    let started = Instant::now();
    let child = command.args(["--time-limit", "2", "--json"]).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        // The file is gone, or empty, once the process has ended.
        while let Some(peak) = fs::read_to_string(&status).ok().and_then(|text| peak_kb(&text)) {
            most = most.max(peak);
            std::thread::sleep(Duration::from_millis(2));
        }
        most
    });
    let report = Ran::wait(child).json(exit);
    let peak_kb = watch.join().unwrap();
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let codes = report["diagnostics"].as_array().unwrap().iter();
    let codes = codes.map(|d| d["code"].as_str().unwrap().to_owned()).collect();
    Hostile { report, codes, peak_kb }
}

fn peak_kb(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

/// The host's own size, by an inference that is nothing special.
fn base_kb() -> u64 {
    hostile("init(robot_in(robot1, room1)).\ngoal(ball_in(ball1, room1)).\n", "", 0).peak_kb
}

/// Found to have that mistake, with the host hardly larger than it is at any inference.
fn found(text: &str, code: &str, exit: i32) -> Hostile {
    let found = hostile(text, "", exit);
    assert!(found.codes.iter().any(|c| c == code), "{code}: {}", found.report);
    let base = base_kb();
    assert!(found.peak_kb < base + 100_000, "{} kB, and {base} kB at any inference", found.peak_kb);
    found
}

#[test]
fn a_rule_without_an_end_is_refused() {
    found("p(0).\np(X+1) :- p(X).\n", "ir.unknown-predicate", 10);
    found("cardinality(room, 1).\ncardinality(room, X+1) :- cardinality(room, X).\n", "ir.growth", 10);
}

#[test]
fn a_thousand_million_atoms_are_refused() {
    found("object(X, room) :- X = 1..1000000000.\n", "ir.interval", 10);
    found("cardinality(room, 1000000000).\n", "ir.too-many-atoms", 10);
    let many: String = (0..1000).map(|i| format!("object(ball{i}, ball).\n")).collect();
    let join = "init(ball_in(A, B)) :- object(A, ball), object(B, ball), object(C, ball).\n";
    found(&format!("{many}{join}"), "ir.too-many-atoms", 10);
}

#[test]
fn nothing_outside_of_the_program_is_reached() {
    let script = "#script (python)\nimport os\nos.system('touch hacked')\n#end.\n";
    found(script, "ir.directive", 10);
    found("#include \"/etc/hostname\".\n", "ir.directive", 10);
    found("init(robot_in(@os(\"id\"), room1)).\n", "ir.external-function", 10);
}

#[test]
fn a_program_of_ten_megabytes_is_not_read() {
    let large = "init(ball_in(ball1, room1)).\n".repeat((10 << 20) / 29);
    let found = hostile(&large, "", 22);
    assert_eq!(found.report["decision"], "undecided");
    assert!(
        found.report["message"].as_str().unwrap().contains("at most 1024 kB are read"),
        "{}",
        found.report
    );
    assert!(found.peak_kb < base_kb() + 100_000, "{} kB", found.peak_kb);
}

#[test]
fn names_that_pddl_cannot_tell_apart_or_write_are_told() {
    found("init(robot_in(robotn\u{e9}, room1)).\n", "asp.foreign-name", 10);
    let clash =
        "init(robot_in(robot-1, room1)).\ninit(empty(robot_1, left1)).\ngoal(ball_in(ball1, room1)).\n";
    found(clash, "ir.name", 0);
}

#[test]
fn counts_that_cannot_be_are_conflicts() {
    found("cardinality(room, 1).\nobject(room1, room).\nobject(room2, room).\n", "asp.more-than-counted", 10);
    let pairs = "cardinality(robot, 2).\ncardinality(gripper, 3).\ninit(map(robot, empty, gripper)).\n";
    found(pairs, "asp.map-sizes", 10);
}

#[test]
fn what_a_knowledge_file_lets_grow_ends_at_the_limits_of_the_child() {
    for rules in ["n(1..1000000000).\n", "n(0).\nn(X + 1) :- n(X).\n", "n(z).\nn(s(X)) :- n(X).\n"] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let ir = path("task.lp", "init(robot_in(robot1, room1)).\ngoal(ball_in(ball1, room1)).\n");
        let mut command = planforge();
        command.arg("infer").arg("--suite").arg(example("grippers", "")).arg("--knowledge");
        command.arg(path("knowledge.lp", rules)).arg(ir).args(["--time-limit", "1", "--json"]);
        let ran = Ran::wait(command.spawn().unwrap());
        assert!([21, 22].contains(&ran.exit), "{rules}: {}\n{}", ran.exit, ran.stderr);
        assert_eq!(ran.json(ran.exit)["decision"], "undecided");
    }
}
