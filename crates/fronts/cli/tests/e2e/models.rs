//! Swapping a provider, falling back to another and mixing two, with the files of `examples/swap-provider`.

use super::support::{Run, events, files, ran, right_reply, root, verdict};
use planforge_testkit::{Scripted, ScriptedServer};
use similar::{ChangeTag, TextDiff};
use std::path::PathBuf;

const KEY: &str = "sk-scripted-0123456789-swap";

fn shown(name: &str) -> PathBuf {
    root().join("examples/swap-provider").join(name)
}

/// A run of one of the files with two servers.
fn run(file: &str, tables: [&str; 2], servers: [&ScriptedServer; 2]) -> Run {
    let runs = tempfile::tempdir().unwrap();
    let mut command = super::support::planforge();
    command.arg("run").arg(shown(file)).arg("--runs").arg(runs.path().join("runs"));
    let mut run = Run::of(command, runs).env("OPENAI_API_KEY", KEY);
    for (table, server) in tables.into_iter().zip(servers) {
        run = run.set(&format!("llm.{table}.base_url"), &server.base_url());
        run = run.set(&format!("llm.{table}.max_attempts"), "1");
    }
    run
}

/// No file of the run holds the key.
fn keyless(run: &Run) {
    let files = files(run.runs.path());
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(KEY.len()).any(|w| w == KEY.as_bytes()), "the key is in {}", file.display());
    }
}

fn refusing(status: u16) -> ScriptedServer {
    ScriptedServer::matching(move |request| {
        Scripted::error(status, "scripted", request.header("authorization").unwrap_or("no key"))
    })
    .unwrap()
}

#[test]
fn a_provider_is_swapped_in_three_lines_of_one_table() {
    let text = |name: &str| std::fs::read_to_string(shown(name)).unwrap();
    let (hosted, local) = (text("hosted.toml"), text("local.toml"));
    let diff = TextDiff::from_lines(&hosted, &local);
    let lines = |tag: ChangeTag| -> Vec<String> {
        diff.iter_all_changes().filter(|c| c.tag() == tag).map(|c| c.value().trim().to_owned()).collect()
    };
    let (out, into) = (lines(ChangeTag::Delete), lines(ChangeTag::Insert));
    assert_eq!((out.len(), into.len()), (3, 3), "{out:?} {into:?}");
    // The folder's text shows exactly that.
    let readme = text("README.md");
    for (sign, line) in out.iter().map(|l| ('<', l)).chain(into.iter().map(|l| ('>', l))) {
        assert!(readme.contains(&format!("    {sign} {line}\n")), "{sign} {line}");
        assert!(line.starts_with("base_url") || line.starts_with("model") || line.contains("_"), "{line}");
    }
    // Both ask whom they say, and the key goes to the one alone that wants it.
    for (name, key) in [("hosted.toml", Some(format!("Bearer {KEY}"))), ("local.toml", None)] {
        let server = ScriptedServer::matching(right_reply).unwrap();
        let mut run = run(name, ["main", "main"], [&server, &server]).task("parcels", "p01").arg("--json");
        assert_eq!(verdict(&run.go().json(0), 0), "accepted");
        let [request] = &server.requests()[..] else { panic!() };
        assert_eq!(request.header("authorization").map(str::to_owned), key);
        assert!(text(name).contains(&format!("model = {}", request.json()["model"])));
        keyless(&run);
    }
}

#[test]
fn every_example_of_swapping_is_without_mistakes_and_needs_no_key_to_be_checked() {
    let mut files = 0;
    for entry in std::fs::read_dir(root().join("examples/swap-provider")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let ran = ran(["check".as_ref(), path.as_os_str()]);
            ran.expect(0);
            let lines: Vec<&str> = ran
                .stderr
                .lines()
                .filter(|line| line.starts_with("error") || line.starts_with("warning"))
                .collect();
            assert!(lines.is_empty(), "{}", ran.stderr);
            files += 1;
        }
    }
    assert_eq!(files, 4);
}

#[test]
fn if_the_first_model_refuses_the_second_replies_and_the_run_reports_it() {
    let (main, backup) = (refusing(401), ScriptedServer::matching(right_reply).unwrap());
    let mut run = run("fallback.toml", ["main", "backup"], [&main, &backup])
        .task("parcels", "p01")
        .task("parcels", "p02")
        .arg("--json");
    let ended = run.go();
    let report = ended.json(0);
    ended.says(&["2 calls moved from main to backup [llm.authentication]; main answered 0"]);
    assert_eq!((verdict(&report, 0), verdict(&report, 1)), ("accepted", "accepted"));
    let task = &report["tasks"][0];
    assert_eq!((&task["usage"]["main"]["failed"], &task["usage"]["backup"]["calls"]), (&1.into(), &1.into()));
    assert_eq!(task["moved"][0]["code"], "llm.authentication");
    let folder = run.folder();
    let told: Vec<String> = events(&folder, "log").iter().map(|e| e["message"].to_string()).collect();
    assert_eq!(told.iter().filter(|t| t.contains("`main` is followed by `backup`")).count(), 2, "{told:?}");
    let answered: Vec<_> =
        events(&folder, "completion").into_iter().filter(|e| !e["result"].is_null()).collect();
    assert!(answered.iter().all(|e| e["llm"] == "backup") && answered.len() == 2);
    keyless(&run);
    assert!(!format!("{}{}", ended.stdout, ended.stderr).contains(KEY));

    let asked = (main.count(), backup.count());
    let replayed = ran(["replay".as_ref(), folder.as_os_str(), "--json".as_ref()]);
    assert_eq!(replayed.json(0), report);
    assert_eq!((main.count(), backup.count()), asked, "a replay asks nobody");
}

#[test]
fn caps_of_two_models_are_one_summary_and_the_last_one_s_is_undecided() {
    let servers = [(); 2].map(|()| ScriptedServer::matching(right_reply).unwrap());
    let mut run = run("fallback.toml", ["main", "backup"], [&servers[0], &servers[1]])
        .set("llm.main.max_calls", "1")
        .set("llm.backup.max_calls", "1")
        .arg("--jobs")
        .arg("1")
        .arg("--json");
    for stem in ["p01", "p02", "p03"] {
        run = run.task("parcels", stem);
    }
    let ended = run.go();
    let report = ended.json(25);
    let verdicts: Vec<&str> = (0..3).map(|task| verdict(&report, task)).collect();
    assert_eq!(verdicts, ["accepted", "accepted", "undecided"], "a cap is never a rejection");
    assert_eq!([servers[0].count(), servers[1].count()], [1, 1]);
    ended.says(&["2 calls moved from main to backup [llm.budget]; main answered 1"]);
    let why = report["tasks"][2]["verdict"]["message"].as_str().unwrap();
    assert!(
        why.contains("`max_calls` of `backup`") && why.contains("before it: `main` [llm.budget]"),
        "{why}"
    );
}

#[test]
fn two_models_share_the_samples_by_weight_and_jobs_change_nothing() {
    let mut reports = Vec::new();
    for jobs in ["1", "8"] {
        let servers = [(); 2].map(|()| ScriptedServer::in_random_order(3, right_reply).unwrap());
        let mut run = run("mix.toml", ["large", "small"], [&servers[0], &servers[1]])
            .task("parcels", "p01")
            .task("parcels", "p02")
            .arg("--jobs")
            .arg(jobs)
            .arg("--json");
        let report = run.go().json(0);
        let counts = servers.each_ref().map(ScriptedServer::count);
        assert!(counts[0] > counts[1] && counts[1] > 0, "{counts:?}");
        let replies = |name: &str| report["tasks"][0]["usage"][name]["replies"].as_u64().unwrap_or(0);
        assert_eq!(replies("large") + replies("small"), 8);
        keyless(&run);
        reports.push(report);
    }
    assert_eq!(reports[0], reports[1]);
}
