//! Text to a problem by way of answer set programs: whole runs with scripted replies, and their records.

use super::support::{Ran, Run, example, planforge, ran, verdict};
use planforge_testkit::plugins::library;
use planforge_testkit::{Scripted, ScriptedServer};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// The representation of blocks p01.
pub(super) const P01: &str = "Here is the program:

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

pub(super) fn saying(replies: &'static [&'static str]) -> ScriptedServer {
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
        vec!["runs".to_owned(), "explain".to_owned()],
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
fn the_shipped_pipeline_asks_again_for_a_refused_reply() {
    static REPLIES: [&str; 2] = ["init(lies_on(block1, block4)).", P01];
    let server = saying(&REPLIES);
    let start = |server: &ScriptedServer| {
        Run::new("tic-ic.toml", &server.base_url()).task("blocks", "p01").arg("--json")
    };
    assert_eq!(verdict(&start(&server).go().json(0), 0), "accepted");
    let question = server.requests()[1].question();
    assert!(question.contains("there is no predicate `lies_on`"), "{question}");
    let server = saying(&REPLIES);
    let mut once = start(&server).set("stage.problem.options.repair_rounds", "0");
    let report = once.go().json(11);
    assert_eq!(verdict(&report, 0), "unusable", "{report}");
    assert_eq!(report["tasks"][0]["verdict"]["failure"]["code"], "translate-asp.refused", "{report}");
}

#[test]
fn the_shipped_pipeline_asks_about_a_conflict() {
    static TWO_PLACES: LazyLock<String> = LazyLock::new(|| {
        P01.replace("init(on_table(block4)).", "init(on_table(block4)). init(on_table(block1)).")
    });
    static REPLIES: LazyLock<[&str; 2]> = LazyLock::new(|| [TWO_PLACES.as_str(), P01]);
    let server = saying(REPLIES.as_slice());
    let mut run = Run::new("tic-ic.toml", &server.base_url()).task("blocks", "p01").arg("--json");
    assert_eq!(verdict(&run.go().json(0), 0), "accepted");
    assert_eq!(server.count(), 2);
    let question = server.requests()[1].question();
    for line in ["init(on_table(block1)).", "init(stands_on(block1, block4))."] {
        assert!(question.contains(line), "{question}");
    }
}

#[test]
fn the_child_of_a_loaded_translator_loads_the_same_library() {
    let folder = tempfile::tempdir().unwrap();
    let library = library("planforge_translator_asp").unwrap();
    fs::copy(&library, folder.path().join(library.file_name().unwrap())).unwrap();
    let infer = |more: &[&Path]| {
        let mut command = planforge();
        command.args(["pddl", "infer"]).arg("--suite").arg(example("blocks", "")).args(more);
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
fn a_limit_of_an_inference_is_undecided_and_replayed_from_the_record() {
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
