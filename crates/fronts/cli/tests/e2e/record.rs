//! The run folder is the evidence: replay gives the same bytes from it alone, or reports why it cannot.

use super::support::{Ran, Run, example_text, fenced, files, planforge, ran, right_reply, saying, verdict};
use planforge_testkit::{Scripted, ScriptedServer};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

fn replay(folder: &Path, args: &[&str]) -> Ran {
    Ran::wait(planforge().arg("replay").arg(folder).args(args).spawn().unwrap())
}

#[test]
fn a_replay_gives_the_same_bytes_without_server_or_key() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").task("parcels", "p02");
    let mut run = run
        .set("llm.main.api_key_env", "PLANFORGE_TEST_KEY")
        .env("PLANFORGE_TEST_KEY", "scripted-key-of-a-test")
        .arg("--json");
    let recorded = run.go();
    recorded.expect(0);
    drop(server);
    let before: Vec<_> = files(&run.folder()).into_iter().map(|f| (fs::read(&f).unwrap(), f)).collect();
    assert_eq!(replay(&run.folder(), &["--json"]).expect(0).stdout, recorded.stdout);
    assert_eq!(replay(&run.folder(), &["--json", "--jobs=1"]).expect(0).stdout, recorded.stdout);
    let text = replay(&run.folder(), &[]);
    assert!(text.expect(0).stdout.starts_with("2 of 2 tasks solved.\n"), "{}", text.stdout);
    let after: Vec<_> = files(&run.folder()).into_iter().map(|f| (fs::read(&f).unwrap(), f)).collect();
    assert_eq!(before, after, "a replay changes nothing");
}

/// Once in the blobs of completion, candidate and patch together, and twice in the report.
#[test]
fn a_long_reply_takes_three_times_its_length_on_disk() {
    let reply = "First I think \"aloud\".\n".repeat(60_000) + &fenced(&example_text("parcels", "p01.pddl"));
    let server = saying(&reply);
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let recorded = run.go();
    recorded.expect(0);
    let size: u64 = files(&run.folder()).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    // As JSON, where each line has three more characters.
    let length = serde_json::to_string(&reply).unwrap().len() as u64;
    assert!(size < length * 31 / 10, "{size} bytes for a reply of {length}");
    assert_eq!(replay(&run.folder(), &["--json"]).expect(0).stdout, recorded.stdout);
    let resumed = planforge().args(["run", "--json", "--resume"]).arg(run.folder()).spawn().unwrap();
    assert_eq!(Ran::wait(resumed).expect(0).stdout, recorded.stdout);
    assert_eq!(server.count(), 1);
}

#[test]
fn a_result_never_replaces_a_file_of_a_run() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    run.go().expect(0);
    let contents =
        || -> Vec<_> { files(&run.folder()).into_iter().map(|f| (fs::read(&f).unwrap(), f)).collect() };
    let before = contents();
    let report =
        planforge().arg("report").arg(run.folder()).arg("--out").arg(run.folder().join("run.json")).spawn();
    Ran::wait(report.unwrap()).expect(30).says(&["belongs to the record of the run"]);
    assert_eq!(contents(), before);
    let requests = server.count();
    let target = run.folder().join("events/replies.jsonl");
    run.arg("--record").arg(target).go().expect(30).says(&["belongs to the record of the run"]);
    assert_eq!(server.count(), requests, "refused before any request");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    let suite = super::support::example("parcels", "");
    let commands: [&[&str]; 3] =
        [&["explain", "cli.usage"], &["pddl", "validate", "domain.pddl", "--json"], &["check", "--schema"]];
    for command in commands {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let ended = planforge().current_dir(&suite).args(command).stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(36), "{stderr}");
        assert!(stderr.contains("cannot be written to standard output"), "{stderr}");
    }
}

#[test]
fn a_moved_run_folder_replays_and_needs_no_suite() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let recorded = run.go();
    let moved = run.runs.path().join("elsewhere");
    fs::rename(run.folder(), &moved).unwrap();
    let replayed = planforge().current_dir(run.runs.path()).args(["replay", "elsewhere", "--json"]).spawn();
    assert_eq!(Ran::wait(replayed.unwrap()).expect(0).stdout, recorded.stdout);
}

#[test]
fn an_edited_report_is_refused_and_replay_writes_it_anew() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    run.go().expect(0);
    let path = run.folder().join("report.json");
    let written = fs::read_to_string(&path).unwrap();
    let edited = written.replace("accepted", "rejected");
    assert_ne!(edited, written);
    fs::write(&path, edited).unwrap();
    let folder = run.folder().display().to_string();
    let compare = || ran(["compare", folder.as_str(), folder.as_str()]);
    let out = run.runs.path().join("report.html");
    let report = || Ran::wait(planforge().arg("report").arg(&folder).arg("--out").arg(&out).spawn().unwrap());
    for refused in [compare(), report()] {
        refused.expect(31).says(&[
            "record.report-changed",
            "report.json",
            &format!("planforge replay {folder}"),
        ]);
        assert_eq!(refused.stderr.matches("error: ").count(), 1, "{}", refused.stderr);
    }
    replay(&run.folder(), &[]).expect(0).says(&["was written anew from the journal"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), written);
    compare().expect(0);
    report().expect(0);
}

#[test]
fn a_report_without_a_recorded_hash_is_read_with_a_warning() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    run.go().expect(0);
    for file in files(&run.folder().join("events")) {
        let text = fs::read_to_string(&file).unwrap();
        let older: Vec<&str> = text.lines().filter(|line| !line.contains("\"report-saved\"")).collect();
        fs::write(&file, older.join("\n") + "\n").unwrap();
    }
    let folder = run.folder().display().to_string();
    let compared = ran(["compare", folder.as_str(), folder.as_str()]);
    compared
        .expect(0)
        .says(&["warning: a report.json was written by a version of planforge that recorded no hash"]);
    assert_eq!(compared.stderr.matches("recorded no hash").count(), 1, "{}", compared.stderr);
    ran(["run", "--resume", folder.as_str()]).expect(0);
    let compared = ran(["compare", folder.as_str(), folder.as_str()]);
    assert!(!compared.expect(0).stderr.contains("recorded no hash"), "{}", compared.stderr);
}

#[test]
fn a_run_with_a_reply_of_50_000_goal_sections_resumes_and_replays() {
    let problem = super::support::example_text("parcels", "p01.pddl");
    let end = problem.rfind(')').unwrap();
    let goals = "(:goal (x))".repeat(50_000);
    let reply = super::support::fenced(&format!("{}{goals})", &problem[..end]));
    assert!(reply.len() > 550_000);
    let server = super::support::saying(&reply);
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let recorded = run.go();
    let requests = server.count();
    let folder = run.folder().display().to_string();
    let replayed = replay(&run.folder(), &["--json"]);
    assert_eq!((replayed.exit, &replayed.stdout), (recorded.exit, &recorded.stdout), "{}", replayed.stderr);
    let resumed = ran(["run", "--resume", folder.as_str(), "--json"]);
    assert_eq!((resumed.exit, &resumed.stdout), (recorded.exit, &recorded.stdout), "{}", resumed.stderr);
    assert_eq!(server.count(), requests, "the resumed run sent a request");
}

#[test]
fn failures_are_replayed_as_failures() {
    let server =
        ScriptedServer::matching(|_| Scripted::error(500, "overloaded", "scripted: not now")).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let recorded = run.go();
    recorded.expect(34);
    let replayed = replay(&run.folder(), &["--json"]);
    assert_eq!((replayed.exit, &replayed.stdout), (34, &recorded.stdout), "{}", replayed.stderr);
}

#[test]
fn a_damaged_record_is_reported_with_its_damage() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    run.go().expect(0);
    let blobs = || files(&run.folder().join("blobs"));
    let holds_reply =
        |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).contains("scripted-model");
    let blob = blobs().into_iter().find(|path| holds_reply(path)).expect("the raw reply is kept");
    let whole = fs::read(&blob).unwrap();
    let name = blob.file_name().unwrap().to_str().unwrap().to_owned();
    // Edited.
    fs::write(&blob, String::from_utf8_lossy(&whole).replace("elm", "oak")).unwrap();
    let edited = replay(&run.folder(), &["--json"]);
    assert!((31..=36).contains(&edited.exit), "{} {}", edited.exit, edited.stdout);
    assert!(format!("{}{}", edited.stderr, edited.stdout).contains(&name[..12]), "{}", edited.stderr);
    // Gone, as a crash of the machine may leave it: the run's spool has it still.
    fs::remove_file(&blob).unwrap();
    replay(&run.folder(), &["--json"]).expect(0);
    // Gone there as well.
    fs::remove_dir_all(run.folder().join("spool")).unwrap();
    let gone = replay(&run.folder(), &["--json"]);
    assert!((31..=36).contains(&gone.exit), "{} {}", gone.exit, gone.stdout);
    assert!(format!("{}{}", gone.stderr, gone.stdout).contains(&name[..12]), "{}", gone.stderr);
    fs::write(&blob, &whole).unwrap();
    replay(&run.folder(), &["--json"]).expect(0);
    // No manifest: no run.
    fs::remove_file(run.folder().join("run.json")).unwrap();
    for args in [["replay", ""], ["run", "--resume"]] {
        let mut command = planforge();
        command.args(args.iter().filter(|a| !a.is_empty())).arg(run.folder());
        Ran::wait(command.spawn().unwrap()).expect(31).says(&["record.not-a-run", "run.json"]);
    }
}

#[test]
fn a_torn_last_line_is_dropped_with_a_warning() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let recorded = run.go();
    let events = files(&run.folder().join("events"));
    let mut text = fs::read(&events[0]).unwrap();
    text.extend_from_slice(b"{\"event\":\"comple");
    fs::write(&events[0], text).unwrap();
    let replayed = replay(&run.folder(), &["--json"]);
    assert_eq!(replayed.expect(0).stdout, recorded.stdout);
    replayed.says(&["warning: "]);
}

#[test]
fn an_unrecorded_request_is_reported_with_the_nearest_one() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let recorded = run.go();
    recorded.expect(0);
    let folder = run.folder();
    // The same questions again out of the folder: nobody is asked.
    let again = Run::new("llm-p.toml", "http://127.0.0.1:9/v1").task("parcels", "p01").arg("--json");
    assert_eq!(again.arg("--replay").arg(&folder).go().expect(0).stdout, recorded.stdout);
    let changed = Run::new("llm-p.toml", "http://127.0.0.1:9/v1").task("parcels", "p01").arg("--json");
    let report = changed.set("llm.main.temperature", "0.7").arg("--replay").arg(&folder).go().json(35);
    let failure = &report["tasks"][0]["verdict"]["failure"];
    let message = failure.to_string();
    assert!(message.contains("parcels.p01/problem"), "{message}");
    assert!(message.contains("temperature") && message.contains("0.7"), "{message}");
    // Another task: the nearest is told as well.
    let other = Run::new("llm-p.toml", "http://127.0.0.1:9/v1").task("parcels", "p02").arg("--json");
    let report = other.arg("--replay").arg(&folder).go().json(35);
    assert_eq!(verdict(&report, 0), "failed");
    assert_eq!(server.count(), 1);
}

#[test]
fn a_cassette_replies_like_the_recorded_server() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let cassettes = tempfile::tempdir().unwrap();
    let file = cassettes.path().join("parcels.jsonl");
    let record = |run: Run| run.task("parcels", "p01").arg("--json").arg("--record").arg(&file).go();
    let recorded = record(Run::new("llm-p.toml", &server.base_url()));
    recorded.expect(0);
    let header = fs::read_to_string(&file).unwrap().lines().next().unwrap().to_owned();
    assert!(header.contains("qwen2.5-coder") && !header.contains("127.0.0.1"), "{header}");
    // Recording again pays nothing, and replaying asks nobody.
    assert_eq!(record(Run::new("llm-p.toml", &server.base_url())).expect(0).stdout, recorded.stdout);
    assert_eq!(server.count(), 1);
    drop(server);
    let replayed = Run::new("llm-p.toml", "http://127.0.0.1:9/v1").task("parcels", "p01").arg("--json");
    assert_eq!(replayed.arg("--replay").arg(&file).go().expect(0).stdout, recorded.stdout);
    for (name, text) in
        [("absent.jsonl", None), ("empty.jsonl", Some("")), ("prose.jsonl", Some("not a cassette\n"))]
    {
        let bad = cassettes.path().join(name);
        if let Some(text) = text {
            fs::write(&bad, text).unwrap();
        }
        let run =
            Run::new("llm-p.toml", "http://127.0.0.1:9/v1").task("parcels", "p01").arg("--replay").arg(&bad);
        let mut run = run;
        let ran = run.go();
        assert!(
            (31..=36).contains(&ran.exit) && ran.stderr.contains(name),
            "{name}: {} {}",
            ran.exit,
            ran.stderr
        );
        assert_eq!(run.folders().len(), 0, "{name} left a run folder");
    }
}

#[test]
fn an_explained_plan_is_replayed() {
    const WORDS: &str = "The van fetches both parcels, one after the other.";
    let server = ScriptedServer::matching(|request| match request.number {
        0 => right_reply(request),
        _ => Scripted::replies(&[WORDS]),
    })
    .unwrap();
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let mut run = run.arg("--explain-plan").arg("main");
    let recorded = run.go();
    assert!(recorded.json(0)["told"]["parcels.p01"].to_string().contains(WORDS), "{}", recorded.stdout);
    let question = server.requests()[1].question();
    assert!(question.contains("(unload parcel2 elm)"), "{question}");
    assert_eq!(server.count(), 2);
    drop(server);
    assert_eq!(replay(&run.folder(), &["--json"]).expect(0).stdout, recorded.stdout);
    let text = replay(&run.folder(), &[]);
    assert!(text.expect(0).stdout.contains(WORDS), "{}", text.stdout);
}

#[test]
fn resuming_a_complete_run_sends_no_request() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let recorded = run.go();
    let resume = [OsStr::new("run"), "--resume".as_ref(), run.folder().as_os_str(), "--json".as_ref()]
        .map(OsStr::to_owned);
    assert_eq!(ran(resume).expect(0).stdout, recorded.stdout);
    assert_eq!(server.count(), 1);
}
