//! `--add-on`: files that replace a suite's own, recorded in every run.

use super::support::{Ran, Run, example, pipeline, planforge, ran, right_reply};
use planforge_testkit::ScriptedServer;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// An add-on for parcels.
fn add_on(rule: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("parcels")).unwrap();
    fs::write(folder.path().join("parcels/knowledge.lp"), format!("{rule}.\n")).unwrap();
    folder
}

fn manifest(run: &Path) -> Value {
    serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap()
}

#[test]
fn a_run_records_its_add_on_and_replays_without_it() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let folder = add_on("init(closed(X)) :- object(X, door)");
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").task("parcels", "p02");
    let mut run = run.arg("--add-on").arg(folder.path()).arg("--json");
    let first = run.go();
    first.expect(0);
    let manifest = manifest(&run.folder());
    for task in manifest["tasks"].as_array().unwrap() {
        assert_eq!(task["add_on"]["folder"], folder.path().join("parcels").display().to_string());
        assert_eq!(task["add_on"]["files"]["knowledge.lp"].as_str().unwrap().len(), 64);
    }
    let materials = &manifest["settings"]["tasks"][1]["view"]["materials"];
    assert_eq!(materials["asp.knowledge"], "init(closed(X)) :- object(X, door).\n");
    drop((server, folder));
    let replayed = Ran::wait(planforge().arg("replay").arg(run.folder()).arg("--json").spawn().unwrap());
    assert_eq!(replayed.expect(0).stdout, first.stdout);
}

#[test]
fn an_add_on_that_fits_no_suite_is_refused_before_any_request() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let folder = add_on("a");
    let mut run =
        Run::new("llm-p.toml", &server.base_url()).task("garden", "p01").arg("--add-on").arg(folder.path());
    run.go().expect(31).says(&["suite.add-on", "nothing for garden", "/garden"]);
    assert!(server.count() == 0 && run.folders().is_empty());
    ran(["explain", "suite.add-on"]).expect(0);
}

#[test]
fn an_evaluation_stores_its_add_on_and_reports_changes() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let base_url = format!("llm.main.base_url={}", server.base_url());
    let (folder, out) = (add_on("a"), tempfile::tempdir().unwrap());
    let evaluate = |more: &[&Path]| {
        let mut command = planforge();
        command.arg("evaluate").arg("--out").arg(out.path().join("out")).args(more);
        Ran::wait(command.spawn().unwrap())
    };
    let (suite, file) = (example("parcels", ""), pipeline("llm-p.toml"));
    let words = ["--suite", "--pipeline", "--seeds", "7", "--tasks", "1", "--set", "--add-on"].map(Path::new);
    let [s, p, seeds, seven, tasks, one, set, add] = words;
    evaluate(&[s, &suite, p, &file, seeds, seven, tasks, one, set, Path::new(&base_url), add, folder.path()])
        .expect(0);
    evaluate(&[Path::new("--resume")]).expect(0);
    assert_eq!(server.count(), 1, "the same add-on, so the cell is finished");
    fs::write(folder.path().join("parcels/knowledge.lp"), "b.\n").unwrap();
    evaluate(&[Path::new("--resume")]).expect(30).says(&["made with other inputs: the add-on ["]);
    drop(folder);
    evaluate(&[Path::new("--resume")]).expect(31).says(&["suite.add-on", "cannot be opened"]);
}

#[test]
fn suite_check_reads_a_suite_with_its_add_on() {
    let folder = add_on("a");
    fs::write(folder.path().join("parcels/sentences.toml"), "[types]\nparcel = \"a parcel\"\nbox = \"?\"\n")
        .unwrap();
    let check = |more: &[&Path]| {
        let mut command = planforge();
        Ran::wait(command.args(["suite", "check"]).arg(example("parcels", "")).args(more).spawn().unwrap())
    };
    check(&[]).expect(0);
    let add = Path::new("--add-on");
    let with = check(&[add, folder.path()]);
    with.expect(0).says(&["no type `box`", "parcels/sentences.toml:3", "does not say what a `town` is"]);
    check(&[add, folder.path(), Path::new("--strict")]).expect(10);
    fs::write(folder.path().join("parcels/knowledge.lp"), "a.\nir_type(town, \"a town\").\nb :- \n").unwrap();
    let wrong = check(&[add, folder.path()]);
    wrong.expect(10).says(&["parcels/knowledge.lp:2", "`town` already", "parcels/knowledge.lp:3"]);
    fs::write(folder.path().join("parcels/knowledge.lp"), "a.\n").unwrap();
    fs::write(folder.path().join("parcels/p_example.lp"), "object(elm, town).\nobject(x, ship).\n").unwrap();
    check(&[add, folder.path()]).expect(10).says(&["parcels/p_example.lp:2", "ship"]);
    fs::remove_file(folder.path().join("parcels/p_example.lp")).unwrap();
    check(&[add, &folder.path().join("none")]).expect(10).says(&["suite.add-on"]);
}
