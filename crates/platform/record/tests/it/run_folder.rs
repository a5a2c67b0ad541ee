//! Run folders and cassettes on a real disk: what a crash leaves, what is refused, what comes back.

use planforge_contract::{CompletionResult, FinishReason, Replies, Reply, TokenLogprob, Usage};
use planforge_record::{
    Cassette, CassetteHeader, CompletionRecord, ConfigText, EffectRecord, Journal, Lookup, MemoryJournal,
    Nearest, Redactor, RunFolder, RunManifest, canonical_json, comparable_events, effect_key,
    export_cassette, nearest, run_that_owns, sha256_hex,
};
use planforge_record::{CompletionEvent, Event};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SECRET: &str = "sk-scripted/0123456789+x";

fn manifest(id: &str) -> RunManifest {
    RunManifest {
        schema: RunManifest::SCHEMA,
        id: id.into(),
        config: ConfigText::new("x.toml", "schema = 1\n"),
        ..RunManifest::default()
    }
}

fn record(number: u32, content: &str) -> CompletionRecord {
    let request =
        json!({"model": "m", "messages": [{"role": "user", "content": format!("question {number}")}]});
    let path = format!("t/s/{number}/0/0");
    CompletionRecord {
        key: format!("{}:{path}", sha256_hex(canonical_json(&request).as_bytes())),
        path,
        role: "writer".into(),
        llm: "main".into(),
        request,
        result: Some(CompletionResult::Replies(Replies {
            replies: vec![Reply {
                logprobs: Some(vec![TokenLogprob { token: "x".into(), logprob: -0.123_456_789_012_345_67 }]),
                ..Reply::new(content, FinishReason::Stop)
            }],
            usage: Usage { prompt_tokens: Some(1), completion_tokens: None, ..Usage::default() },
            model: "m".into(),
            raw: "{}".into(),
        })),
        failure: None,
        usage: Usage { prompt_tokens: Some(1), completion_tokens: None, ..Usage::default() },
        attempts: 1,
        elapsed_ms: 5,
    }
}

fn effect(number: u32, timed: bool) -> EffectRecord {
    let path = format!("t/plan/{number}");
    EffectRecord {
        key: effect_key("planner.plan", &json!({"n": number}), &path),
        path,
        call: "planner.plan".into(),
        result: json!({"outcome": "limit-reached"}),
        timed,
        elapsed_ms: 9,
    }
}

fn none() -> Arc<Redactor> {
    Arc::default()
}

fn event_files(run: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(run.join("events")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn what_was_written_is_found_again_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunFolder::create(dir.path(), manifest("r1"), none()).unwrap();
    let first = record(1, "one");
    run.record_completion(&first).unwrap();
    run.record_effect(&effect(1, true)).unwrap();
    assert_eq!(run.completion(&first.key).unwrap().as_ref(), Some(&first));
    let path = run.path().to_owned();
    drop(run);
    let again = RunFolder::resume(&path, none()).unwrap();
    again.record_completion(&record(2, "two")).unwrap();
    drop(again);
    let read = RunFolder::open(&path, none()).unwrap();
    assert_eq!(read.manifest(), &manifest("r1"));
    assert_eq!(read.completion(&first.key).unwrap(), Some(first), "log-probabilities to the last bit");
    assert_eq!(read.effect(&effect(1, true).key).unwrap(), Some(effect(1, true)));
    assert_eq!(read.completion_keys().len(), 2);
    assert_eq!(read.completion("0:none").unwrap(), None);
    assert!(read.warnings().is_empty());
    assert_eq!(event_files(&path).len(), 2, "one file a process");
    assert_eq!(read.append(&Event::TaskStarted { task: "t".into() }).unwrap_err().code, "record.read-only");
    assert_eq!(read.put(b"x").unwrap_err().code, "record.read-only");
}

#[test]
fn only_the_record_of_a_run_folder_is_owned_by_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let run = root.join("r1");
    drop(RunFolder::create(&root, manifest("r1"), none()).unwrap());
    for own in ["run.json", "report.json", "events/other.jsonl", "blobs/x", "blobs/../run.json"] {
        assert_eq!(run_that_owns(&run.join(own)).as_ref(), Some(&run), "{own}");
    }
    for free in ["r1/report.html", "r1/pictures/events", "events", "run.json", "r2/events/x"] {
        assert_eq!(run_that_owns(&root.join(free)), None, "{free}");
    }
    assert_eq!(run_that_owns(Path::new("run.json")), None);
}

#[test]
fn a_cut_at_any_byte_loses_the_torn_line_and_nothing_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunFolder::create(dir.path(), manifest("r"), none()).unwrap();
    let records: Vec<_> = (0..3).map(|n| record(n, "reply")).collect();
    for r in &records {
        run.record_completion(r).unwrap();
    }
    let path = run.path().to_owned();
    drop(run);
    let file = event_files(&path).remove(0);
    let whole = fs::read(&file).unwrap();
    for cut in 0..=whole.len() {
        fs::write(&file, &whole[..cut]).unwrap();
        let kept = whole[..cut].iter().filter(|b| **b == b'\n').count();
        let torn = cut > 0 && whole[cut - 1] != b'\n';
        let read = RunFolder::open(&path, none()).unwrap();
        assert_eq!(read.completion_keys().len(), kept, "cut at {cut}");
        assert_eq!(read.warnings().len(), usize::from(torn), "cut at {cut}");
        assert!(read.warnings().iter().all(|w| w.code == "record.torn-line"));
        for (n, r) in records.iter().enumerate() {
            assert_eq!(read.completion(&r.key).unwrap().is_some(), n < kept);
        }
    }
    // Going on after a torn line: the new process writes to a file of its own and the run is whole again.
    fs::write(&file, &whole[..whole.len() - 5]).unwrap();
    let resumed = RunFolder::resume(&path, none()).unwrap();
    assert_eq!(resumed.completion(&records[2].key).unwrap(), None);
    resumed.record_completion(&records[2]).unwrap();
    drop(resumed);
    let read = RunFolder::open(&path, none()).unwrap();
    assert_eq!((read.completion_keys().len(), read.warnings().len()), (3, 1));
}

#[test]
fn damage_that_no_crash_explains_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunFolder::create(dir.path(), manifest("r"), none()).unwrap();
    run.record_completion(&record(1, "one")).unwrap();
    run.record_completion(&record(2, "two")).unwrap();
    let path = run.path().to_owned();
    drop(run);
    let file = event_files(&path).remove(0);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"event\"", "\"evil\"", 1)).unwrap();
    let error = RunFolder::open(&path, none()).unwrap_err();
    assert_eq!((error.code, error.line), ("record.corrupt", Some(1)));
    fs::write(&file, text).unwrap();
    let blob = fs::read_dir(path.join("blobs")).unwrap().next().unwrap().unwrap().path();
    fs::write(&blob, "changed").unwrap();
    let read = RunFolder::open(&path, none()).unwrap();
    let results: Vec<_> =
        (1..=2).map(|n| read.completion(&record(n, ["one", "two"][n as usize - 1]).key)).collect();
    assert!(results.iter().any(|r| r.as_ref().is_err_and(|e| e.code == "record.blob-corrupt")));
}

/// A crash of the machine may lose blob files that were not synced; the spool has every blob that an effect
/// needs.
#[test]
fn a_blob_whose_file_was_lost_is_found_in_the_spool() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunFolder::create(dir.path(), manifest("r"), none()).unwrap();
    let records: Vec<_> = (0..3).map(|n| record(n, &format!("reply {n}\nof two lines"))).collect();
    for record in &records {
        run.record_completion(record).unwrap();
    }
    let path = run.path().to_owned();
    drop(run);
    for (number, blob) in fs::read_dir(path.join("blobs")).unwrap().enumerate() {
        let blob = blob.unwrap().path();
        match number % 3 {
            0 => fs::remove_file(&blob).unwrap(),
            1 => fs::write(&blob, "").unwrap(),
            _ => fs::write(&blob, vec![0; fs::metadata(&blob).unwrap().len() as usize]).unwrap(),
        }
    }
    let read = RunFolder::open(&path, none()).unwrap();
    for record in &records {
        assert_eq!(read.completion(&record.key).unwrap().as_ref(), Some(record));
    }
    // A process that goes on writes only what no spool has to its last byte, and gives every blob its file again.
    let first = path.join("spool/0001");
    let torn = fs::read(&first).unwrap();
    fs::write(&first, &torn[..torn.len() * 2 / 3 - 9]).unwrap();
    let resumed = RunFolder::resume(&path, none()).unwrap();
    for record in &records {
        resumed.record_completion(record).unwrap();
    }
    drop(resumed);
    let second = fs::metadata(path.join("spool/0002")).unwrap().len() as usize;
    assert!(second > torn.len() / 3 && second < torn.len() * 2 / 3, "{second} of {}", torn.len());
    let whole = |blob: &fs::DirEntry| blob.metadata().unwrap().len() > 0;
    assert_eq!(fs::read_dir(path.join("blobs")).unwrap().filter(|b| whole(b.as_ref().unwrap())).count(), 6);
    fs::remove_dir_all(path.join("blobs")).unwrap();
    let read = RunFolder::open(&path, none()).unwrap();
    assert!(records.iter().all(|record| read.completion(&record.key).unwrap().is_some()));
    fs::remove_dir_all(path.join("spool")).unwrap();
    let error = RunFolder::open(&path, none()).unwrap().completion(&records[0].key).unwrap_err();
    assert_eq!(error.code, "record.blob-missing");
}

#[test]
fn a_run_is_written_by_one_process_and_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunFolder::create(dir.path(), manifest("r"), none()).unwrap();
    assert_eq!(RunFolder::create(dir.path(), manifest("r"), none()).unwrap_err().code, "record.exists");
    assert_eq!(RunFolder::resume(run.path(), none()).unwrap_err().code, "record.locked");
    let writing = event_files(run.path()).remove(0);
    fs::write(&writing, "{\"event\":").unwrap();
    let read = RunFolder::open(run.path(), none()).expect("reading is always possible");
    assert!(read.warnings().is_empty(), "a line that is being written is not torn");
    fs::write(&writing, "").unwrap();
    let path = run.path().to_owned();
    drop(run);
    RunFolder::resume(&path, none()).expect("the lock goes with its holder");
    assert_eq!(RunFolder::open(dir.path(), none()).unwrap_err().code, "record.not-a-run");
    for id in ["", "../x", ".hidden", "a/b"] {
        assert_eq!(RunFolder::create(dir.path(), manifest(id), none()).unwrap_err().code, "record.id");
    }
    fs::write(path.join("run.json"), r#"{"schema": 99}"#).unwrap();
    assert_eq!(RunFolder::open(&path, none()).unwrap_err().code, "record.version");
}

/// Every file below a folder.
fn all_bytes(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all_bytes(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found
}

fn assert_clean(bytes: &[u8], place: &Path) {
    for form in [
        SECRET,
        "sk-scripted%2F0123456789%2Bx",
        "c2stc2NyaXB0ZWQvMDEyMzQ1Njc4OSt4",
        "sk-scripted\\/0123456789+x",
    ] {
        let found = bytes.windows(form.len()).any(|w| w == form.as_bytes());
        assert!(!found, "{form} in {}", place.display());
    }
}

#[test]
fn no_byte_of_a_run_folder_or_cassette_holds_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let redactor = Arc::new(Redactor::new([&SecretString::from(SECRET)]));
    let mut config = manifest("r");
    config.overrides = vec![format!("llm.main.headers.x={SECRET}")];
    config.config = ConfigText::new("x.toml", format!("key = \"{SECRET}\""));
    let run = RunFolder::create(dir.path(), config, Arc::clone(&redactor)).unwrap();
    let mut leak = record(1, &format!("you sent {SECRET} and c2stc2NyaXB0ZWQvMDEyMzQ1Njc4OSt4"));
    leak.request = json!({"messages": [{"content": "sk-scripted%2F0123456789%2Bx"}], SECRET: 1});
    run.record_completion(&leak).unwrap();
    let line = format!("{{\"k\":\"sk-scripted\\/0123456789+x {SECRET}\"}}");
    run.append(&Event::Log { plugin: "p".into(), level: "warn".into(), message: line.clone() }).unwrap();
    run.put(line.as_bytes()).unwrap();
    let cassette = dir.path().join("c.jsonl");
    let header = CassetteHeader { planforge_cassette: 1, note: SECRET.into(), ..CassetteHeader::default() };
    let memory = MemoryJournal::default();
    memory.record_completion(&leak).unwrap();
    export_cassette(&memory, &header, &cassette, &redactor).unwrap();
    let files = all_bytes(dir.path());
    assert!(files.len() >= 6, "manifest, events, three blobs, cassette");
    for (path, bytes) in &files {
        assert_clean(bytes, path);
        assert!(
            path.starts_with(dir.path().join("r/events")) || bytes.windows(10).any(|w| w == b"[redacted]"),
            "{path:?}"
        );
    }
    assert_eq!(run.events().len(), 2, "and the events can still be read");
    drop(run);
    RunFolder::open(&dir.path().join("r"), none()).unwrap();
    Cassette::open(&cassette, none()).unwrap();
}

#[test]
fn a_cassette_holds_the_same_as_the_run_it_came_from() {
    let dir = tempfile::tempdir().unwrap();
    let export = |order: &[u32], name: &str| {
        let run = RunFolder::create(dir.path(), manifest(name), none()).unwrap();
        for n in order {
            run.record_completion(&record(*n, &format!("reply {n}"))).unwrap();
            run.record_effect(&effect(*n, n % 2 == 0)).unwrap();
        }
        let path = dir.path().join(format!("{name}.jsonl"));
        let header =
            CassetteHeader { planforge_cassette: 1, models: vec!["m".into()], ..CassetteHeader::default() };
        export_cassette(&run, &header, &path, &Redactor::default()).unwrap();
        (run.path().to_owned(), path)
    };
    let (run, file) = export(&[1, 2, 3], "forth");
    let (_, back) = export(&[3, 2, 1], "back");
    assert_eq!(fs::read(&file).unwrap(), fs::read(&back).unwrap(), "the order of recording leaves no trace");
    let (from_run, from_file) =
        (Cassette::open(&run, none()).unwrap(), Cassette::open(&file, none()).unwrap());
    assert_eq!(from_run.completion_keys(), from_file.completion_keys());
    for key in from_run.completion_keys() {
        assert_eq!(from_run.completion(&key).unwrap(), from_file.completion(&key).unwrap());
    }
    assert_eq!(
        (from_run.effect_keys().len(), from_file.effect_keys().len()),
        (3, 1),
        "only what time decided"
    );
    assert_eq!(from_file.header.unwrap().models, ["m"]);

    let packed = dir.path().join("forth.jsonl.gz");
    let mut encoder =
        flate2::write::GzEncoder::new(fs::File::create(&packed).unwrap(), flate2::Compression::best());
    encoder.write_all(&fs::read(&file).unwrap()).unwrap();
    encoder.finish().unwrap();
    let from_packed = Cassette::open(&packed, none()).unwrap();
    assert_eq!(from_packed.completion_keys(), from_run.completion_keys());
    let whole = fs::read(&packed).unwrap();
    fs::write(&packed, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(Cassette::open(&packed, none()).unwrap_err().code, "record.io", "half of it is no cassette");
}

#[test]
fn what_is_no_cassette_is_refused_with_its_place() {
    let cases = [
        ("", "record.not-a-cassette", 1),
        ("not json\n", "record.not-a-cassette", 1),
        ("{\"planforge_cassette\":2}\n", "record.version", 1),
        ("{\"planforge_cassette\":1}\n", "record.corrupt", 1),
        (
            "{\"planforge_cassette\":1,\"models\":[],\"endpoint\":\"\",\"date\":\"\",\"planforge\":\"\"}\n\n{\"record\":\"x\"}\n",
            "record.corrupt",
            3,
        ),
    ];
    for (text, code, line) in cases {
        let error = Cassette::parse(text, none()).unwrap_err();
        assert_eq!((error.code, error.line), (code, Some(line)), "{text}");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("binary");
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert_eq!(Cassette::open(&path, none()).unwrap_err().code, "record.not-a-cassette");
    assert_eq!(Cassette::open(&dir.path().join("absent"), none()).unwrap_err().code, "record.io");
}

#[test]
fn a_miss_is_explained_by_the_nearest_request() {
    let journal = MemoryJournal::default();
    let asked = |r: &CompletionRecord| (r.key.clone(), r.request.clone());
    let near = |key: &str, request: &Value| nearest(&[&journal as &dyn Lookup], key, request).unwrap();
    let (key, request) = asked(&record(1, ""));
    assert_eq!(near(&key, &request), Nearest::Empty);
    journal.record_completion(&record(1, "")).unwrap();
    journal.record_completion(&record(2, "")).unwrap();
    let hash = key.split(':').next().unwrap();
    let moved = near(&format!("{hash}:t/other/0/0/0"), &request);
    assert_eq!(moved, Nearest::OtherPath { path: "t/s/1/0/0".into() });
    let changed = json!({"model": "m", "messages": [{"role": "user", "content": "question one"}]});
    let Nearest::OtherRequest { path, diff } = near("00:t/s/1/0/0", &changed) else { panic!() };
    assert_eq!(path, "t/s/1/0/0");
    assert!(diff.contains("-question 1\n+question one\n"), "{diff}");
    let Nearest::OtherRequest { path, .. } = near("00:t/s/2/7/0", &changed) else { panic!() };
    assert_eq!(path, "t/s/2/0/0");
}

#[test]
fn comparable_events_forget_time_and_order_alone() {
    let event = |elapsed_ms, attempts| {
        Event::Completion(CompletionEvent {
            key: "k".into(),
            path: "p".into(),
            role: "r".into(),
            llm: "l".into(),
            request: "b".into(),
            result: None,
            failure: None,
            usage: Usage::default(),
            attempts,
            elapsed_ms,
        })
    };
    let task = Event::TaskStarted { task: "t".into() };
    let text = comparable_events(&[event(1, 1), task.clone()]);
    assert_eq!(text, comparable_events(&[task.clone(), event(2, 1)]));
    assert_ne!(text, comparable_events(&[task, event(1, 2)]));
}
