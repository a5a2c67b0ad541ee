//! The whole seam: the host's `llm` over this provider over HTTP, with a run folder on disk.

use planforge_contract::api::Provider;
use planforge_contract::{CompletionRequest, Failure, Message};
use planforge_llm::{CallSite, Llm, LlmOptions, Mode, ModelSettings, ModelTable, derive_seed};
use planforge_provider_services::openai::{OpenAi, OpenAiOptions};
use planforge_record::{
    Cassette, CassetteHeader, CompletionEvent, Event, Journal, Lookup, MemoryJournal, Redactor, RunFolder,
    RunManifest, comparable_events, export_cassette,
};
use planforge_testkit::{Scripted, ScriptedRequest, ScriptedServer, SilentHost};
use secrecy::SecretString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const KEY: &str = "sk-scripted/0123456789+\"quoted\"";

fn provider(server: &ScriptedServer, key: Option<&str>) -> Arc<dyn Provider> {
    let options = OpenAiOptions {
        base_url: server.base_url(),
        timeout_s: 300.0,
        api_key_env: key.map(|_| "SCRIPTED_KEY".to_owned()),
        ..Default::default()
    };
    Arc::new(OpenAi::new(options, key).unwrap())
}

fn options(journal: Arc<dyn Journal>, provider: Option<Arc<dyn Provider>>) -> LlmOptions {
    let config = ModelSettings {
        backoff_ms: 1,
        max_backoff_ms: 2,
        max_concurrency: 16,
        ..ModelSettings::new("p", "m")
    };
    let mut options = LlmOptions::new(journal);
    options.tables.insert("main".into(), ModelTable::new(config, provider));
    options.run_seed = 7;
    options
}

fn run_folder(runs: &Path, id: &str, redactor: Arc<Redactor>) -> Arc<RunFolder> {
    let manifest = RunManifest { schema: RunManifest::SCHEMA, id: id.into(), ..RunManifest::default() };
    Arc::new(RunFolder::create(runs, manifest, redactor).unwrap())
}

fn ask(llm: &Llm, task: usize, n: u32) -> Result<Vec<String>, Failure> {
    let mut request = CompletionRequest {
        messages: vec![Message::user(format!("question {task}"))],
        ..CompletionRequest::default()
    };
    request.sampling.n = Some(n);
    let site = CallSite { path: format!("p{task:02}/s/0"), call: 0, role: "writer".into() };
    let replies = llm.complete("main", request, &site, &SilentHost::default())?;
    Ok(replies.replies.into_iter().map(|r| r.content).collect())
}

/// One reply with question and seed, whatever `n` is.
fn one_reply(request: &ScriptedRequest) -> Scripted {
    Scripted::replies(&[&format!("{} seed {}", request.question(), request.json()["seed"])])
}

/// Asks `tasks` questions of 3 samples each on `threads` threads.
fn session(llm: &Llm, tasks: usize, threads: usize) -> Vec<Vec<String>> {
    let mut answers = vec![Vec::new(); tasks];
    std::thread::scope(|scope| {
        for (thread, chunk) in answers.chunks_mut(tasks.div_ceil(threads)).enumerate() {
            scope.spawn(move || {
                for (i, slot) in chunk.iter_mut().enumerate() {
                    *slot = ask(llm, thread * tasks.div_ceil(threads) + i, 3).unwrap();
                }
            });
        }
    });
    answers
}

#[test]
fn every_attempt_of_the_host_is_exactly_one_http_request() {
    let faults = [
        ("429", Scripted::error(429, "", "slow").header("Retry-After", "0"), true),
        ("408", Scripted::raw(408, ""), true),
        ("500", Scripted::raw(500, "oops"), true),
        ("503", Scripted::raw(503, ""), true),
        ("dropped", Scripted::drop_connection(), true),
        ("half", Scripted::replies(&["whole"]).half_body(), true),
        ("400", Scripted::error(400, "", "no"), false),
        ("401", Scripted::error(401, "", "no"), false),
        ("403", Scripted::error(403, "", "no"), false),
        ("404", Scripted::error(404, "", "no"), false),
    ];
    for (name, fault, again) in faults {
        let script = vec![fault.clone(), fault, Scripted::replies(&["fine"])];
        let server = ScriptedServer::in_order(script).unwrap();
        let journal = Arc::new(MemoryJournal::default());
        let llm = Llm::new(options(Arc::clone(&journal) as _, Some(provider(&server, None)))).unwrap();
        let end = ask(&llm, 0, 1);
        assert_eq!(end.is_ok(), again, "{name}: {end:?}");
        assert_eq!(server.count(), if again { 3 } else { 1 }, "{name}");
        let usage = &llm.usage()["main"];
        assert_eq!(usage.requests_sent as usize, server.count(), "{name}");
        let recorded = journal.events().into_iter().find_map(|e| match e {
            Event::Completion(CompletionEvent { attempts, .. }) => Some(attempts as usize),
            _ => None,
        });
        assert_eq!(recorded, Some(server.count()), "{name}");
    }
}

#[test]
fn one_thread_and_sixteen_leave_the_same_journal() {
    let dir = tempfile::tempdir().unwrap();
    let record = |threads: usize, seed: u64| {
        let server = ScriptedServer::in_random_order(seed, one_reply).unwrap();
        let run = run_folder(dir.path(), &format!("r{threads}"), Arc::default());
        let llm = Llm::new(options(Arc::clone(&run) as _, Some(provider(&server, None)))).unwrap();
        let answers = session(&llm, 16, threads);
        assert_eq!(server.count(), 48, "each server gives one reply a request");
        let cassette = dir.path().join(format!("{threads}.jsonl"));
        export_cassette(run.as_ref(), &CassetteHeader::default(), &cassette, &Redactor::default()).unwrap();
        let mut blobs: Vec<_> =
            fs::read_dir(run.path().join("blobs")).unwrap().map(|e| e.unwrap().file_name()).collect();
        blobs.sort();
        let without_time = fs::read_to_string(cassette).unwrap().lines().map(timeless).collect::<Vec<_>>();
        (answers, comparable_events(&run.events()), blobs, without_time)
    };
    let (one, sixteen) = (record(1, 1), record(16, 99));
    assert_eq!(one.0[3][2], format!("question 3 seed {}", derive_seed(7, "p03/s/0/0/2")));
    assert_eq!(one, sixteen);
}

fn timeless(line: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
    value.as_object_mut().unwrap().remove("elapsed_ms");
    value.to_string()
}

#[test]
fn replay_gives_the_same_without_network_key_or_provider() {
    let dir = tempfile::tempdir().unwrap();
    let server = ScriptedServer::matching(one_reply).unwrap();
    let run = run_folder(dir.path(), "live", Arc::default());
    let live =
        session(&Llm::new(options(Arc::clone(&run) as _, Some(provider(&server, None)))).unwrap(), 4, 4);
    drop(server);
    let file = dir.path().join("cassette.jsonl");
    let header =
        CassetteHeader { planforge_cassette: 1, models: vec!["m".into()], ..CassetteHeader::default() };
    export_cassette(run.as_ref(), &header, &file, &Redactor::default()).unwrap();
    for source in [run.path(), &file] {
        let journal = Arc::new(MemoryJournal::default());
        let mut options = options(Arc::clone(&journal) as _, None);
        options.mode = Mode::Replay;
        options.cassettes = vec![Arc::new(Cassette::open(source, Arc::default()).unwrap())];
        assert_eq!(session(&Llm::new(options).unwrap(), 4, 2), live);
        assert_eq!(comparable_events(&journal.events()), comparable_events(&run.events()));
    }
}

#[test]
fn a_process_killed_at_any_moment_pays_only_for_what_was_in_flight() {
    let dir = tempfile::tempdir().unwrap();
    let server = ScriptedServer::matching(one_reply).unwrap();
    let provider = provider(&server, None);
    let run = run_folder(dir.path(), "r", Arc::default());
    let answers = session(&Llm::new(options(Arc::clone(&run) as _, Some(provider.clone()))).unwrap(), 2, 1);
    let root = run.path().to_owned();
    drop(run);
    let file = root.join("events/0001.jsonl");
    let whole = fs::read(&file).unwrap();
    // A kill leaves a prefix of the file. Every line boundary, and offsets all over the lines between.
    let ends: Vec<usize> =
        whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    assert_eq!(ends.len(), 6);
    for cut in (0..=whole.len()).filter(|c| c % 61 == 0 || ends.contains(c) || ends.contains(&(c + 1))) {
        fs::write(&file, &whole[..cut]).unwrap();
        let kept = ends.iter().filter(|end| **end <= cut).count();
        let before = server.count();
        let resumed = Arc::new(RunFolder::resume(&root, Arc::default()).unwrap());
        let llm = Llm::new(options(Arc::clone(&resumed) as _, Some(provider.clone()))).unwrap();
        assert_eq!(session(&llm, 2, 1), answers, "cut at {cut}");
        assert_eq!(server.count() - before, 6 - kept, "cut at {cut}");
        assert_eq!(llm.usage()["main"].answered_by_record as usize, kept);
        assert_eq!(resumed.completion_keys().len(), 6);
        drop((llm, resumed));
        fs::remove_file(root.join("events/0002.jsonl")).unwrap();
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn the_key_is_in_no_byte_that_a_run_leaves() {
    let dir = tempfile::tempdir().unwrap();
    // An unfriendly endpoint tells the key back in every way: as it is, escaped, URL-encoded, in base64, in errors.
    let echo = |request: &ScriptedRequest| {
        let header = request.header("authorization").unwrap().to_owned();
        let key = header.strip_prefix("Bearer ").unwrap();
        assert_eq!(key, KEY);
        let told = format!(
            "{key} c2stc2NyaXB0ZWQvMDEyMzQ1Njc4OSsicXVvdGVkIg== sk-scripted%2F0123456789%2B%22quoted%22"
        );
        match request.number {
            0 => Scripted::error(500, "", &told),
            1 => Scripted::raw(429, told),
            2 => Scripted::replies(&[&told, &serde_json::to_string(&told).unwrap()]),
            3 => Scripted::error(401, "", &told),
            _ => Scripted::raw(200, told),
        }
    };
    let server = ScriptedServer::matching(echo).unwrap();
    let redactor = Arc::new(Redactor::new([&SecretString::from(KEY)]));
    let run = run_folder(dir.path(), "r", Arc::clone(&redactor));
    let mut options = options(Arc::clone(&run) as _, Some(provider(&server, Some(KEY))));
    options.redactor = Arc::clone(&redactor);
    let llm = Llm::new(options).unwrap();
    let mut shown = ask(&llm, 0, 2).unwrap().join("\n");
    for task in 1..3 {
        shown.push_str(&format!("{:?}", ask(&llm, task, 1).unwrap_err()));
    }
    assert_eq!(server.count(), 5);
    let cassette = dir.path().join("c.jsonl");
    export_cassette(run.as_ref(), &CassetteHeader::default(), &cassette, &redactor).unwrap();
    let mut texts: Vec<String> =
        files_below(dir.path()).iter().map(|f| String::from_utf8(fs::read(f).unwrap()).unwrap()).collect();
    texts.push(shown);
    assert!(texts.len() > 6 && texts.iter().filter(|t| t.contains("[redacted]")).count() >= 4);
    for text in &texts {
        for part in ["0123456789", "MDEyMzQ1Njc4", "quoted"] {
            assert!(!text.contains(part), "{part} in {text}");
        }
    }
}
