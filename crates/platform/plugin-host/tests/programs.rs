//! Plugins that are programs: each fault is one failure with its code, other calls are unharmed, and nothing is left running.
#![allow(clippy::unwrap_used, clippy::panic)] // A test may break where it stands; helpers of tests too.

use planforge_contract::api::{Host, LogLevel, Verifier};
use planforge_contract::{
    Candidate, CreateRequest, Decision, Failure, FailureClass, Outcome, PlanLimits, PlanRequest, PluginKind,
    VerifyRequest, VerifyResponse,
};
use planforge_plugin_host::{
    CallLimits, Clock, Instance, LentPlugin, PluginSource, Registry, RegistrySettings, StartLent,
};
use planforge_plugin_sdk::testing::TestHost;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/misbehave")
}

fn registry() -> Registry {
    registry_with(CallLimits { reply_bytes: 4 << 20, cancel_grace_ms: 60_000, ..CallLimits::default() })
}

fn registry_with(limits: CallLimits) -> Registry {
    Registry::new(&[], &[folder()], RegistrySettings { limits, ..RegistrySettings::default() })
}

fn create(registry: &Registry, fault: &str) -> Result<Arc<dyn Verifier>, Failure> {
    let options = json!({"fault": fault}).as_object().cloned().unwrap();
    let instance =
        registry.create("misbehave-program", CreateRequest { options, ..CreateRequest::default() })?;
    match instance {
        Instance::Verifier(verifier) => Ok(verifier),
        other => panic!("{other:?}"),
    }
}

fn request(problem: &str) -> VerifyRequest {
    let candidate = Candidate { problem: Some(problem.to_owned()), ..Candidate::default() };
    VerifyRequest { candidates: vec![candidate], ..VerifyRequest::default() }
}

fn verify(verifier: &dyn Verifier, problem: &str) -> Result<VerifyResponse, Failure> {
    verifier.verify(&TestHost::new().remaining_ms(60_000), &request(problem))
}

fn summary(response: &VerifyResponse) -> &str {
    match &response.results[..] {
        [Outcome::Ok(assessment)] if assessment.decision == Decision::Accepted => &assessment.summary,
        other => panic!("{other:?}"),
    }
}

/// Processes whose command line holds that text.
fn running(text: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|p| std::fs::read(p.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).replace('\0', " ").contains(text)).count()
}

#[test]
fn a_program_answers_many_calls_at_a_time_with_one_process() {
    let registry = registry();
    let verifiers = [create(&registry, "none").unwrap(), create(&registry, "none").unwrap()];
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let verifier = &verifiers[thread % 2];
            scope.spawn(move || {
                for _ in 0..25 {
                    assert_eq!(summary(&verify(verifier.as_ref(), "good").unwrap()), "fine");
                }
            });
        }
    });
    let PluginSource::Program { path, sha256 } = registry.source("misbehave-program").unwrap() else {
        panic!()
    };
    assert_eq!((path, sha256.len()), (&folder(), 64));
    assert_eq!(registry.info("misbehave-program").unwrap().about, "Misbehaves");
}

#[test]
fn a_program_asks_the_host_within_a_call() {
    let verifier = create(&registry(), "none").unwrap();
    let host = TestHost::new().remaining_ms(60_000).reply("critic", "yes");
    let response = verifier.verify(&host, &request("ask")).unwrap();
    let says = summary(&response);
    assert!(says.starts_with("yes / the host has no method `host/fly`"), "{says}");
    assert_eq!(host.requests()[0].1.messages[0].content, "yes?");
    assert_eq!(host.progress_reports(), [(1, 2, "asking".to_owned())]);
}

#[test]
fn each_end_of_a_program_has_its_code_and_the_next_call_works() {
    for (fault, class, code, says) in [
        ("exit", FailureClass::Plugin, "plugin.program", "exit code 3; it said: last words"),
        ("abort", FailureClass::Plugin, "plugin.program", "SIGABRT"),
        ("segfault", FailureClass::Plugin, "plugin.program", "SIGSEGV"),
        ("garbage", FailureClass::Plugin, "plugin.document", "Traceback: not a message"),
        ("flood", FailureClass::Plugin, "plugin.reply-size", "a line of more than 4 MB"),
        ("memory", FailureClass::Plugin, "plugin.exception", "MemoryError"),
        ("error", FailureClass::Plugin, "plugin.exception", "no such object: hall"),
        ("failure", FailureClass::Limit, "mine.limit", "too large"),
        ("document", FailureClass::Plugin, "plugin.document", "missing field `results`"),
    ] {
        let registry = registry();
        let verifier = create(&registry, fault).unwrap();
        let failure = verify(verifier.as_ref(), "bad").unwrap_err();
        assert_eq!((failure.class, failure.code.as_str()), (class, code), "{fault}: {failure}");
        assert!(failure.message.contains(says), "{fault}: {failure}");
        assert_eq!(summary(&verify(verifier.as_ref(), "good").unwrap()), "fine", "{fault}");
    }
}

#[test]
fn other_calls_are_unharmed_when_one_ends_the_program() {
    let verifier = create(&registry(), "exit").unwrap();
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..6)
            .map(|n| if n == 3 { "bad" } else { "slow" })
            .map(|problem| (problem, scope.spawn(|| verify(verifier.as_ref(), problem))))
            .collect();
        for (problem, call) in calls {
            let result = call.join().unwrap();
            assert_eq!(result.is_ok(), problem == "slow", "{problem}: {result:?}");
        }
    });
}

#[test]
fn a_call_that_is_repeated_asks_no_model_again() {
    let verifier = create(&registry(), "exit").unwrap();
    let host = TestHost::new().remaining_ms(60_000).reply("critic", "once");
    // The call asks, then waits for the bad one beside it to end the program.
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let candidates = ["ask", "slow"].map(|p| request(p).candidates.remove(0)).to_vec();
            verifier.verify(&host, &VerifyRequest { candidates, ..VerifyRequest::default() })
        });
        while host.requests().is_empty() && !asking.is_finished() {
            std::thread::yield_now();
        }
        drop(verify(verifier.as_ref(), "bad"));
        assert!(asking.join().unwrap().is_ok());
    });
    assert_eq!(host.requests().len(), 1);
}

#[test]
fn a_hanging_call_ends_at_its_deadline_and_no_other_call_does() {
    let registry = registry_with(CallLimits { deadline_grace_ms: 0, ..CallLimits::default() });
    let verifier = create(&registry, "hang").unwrap();
    let failure = verifier.verify(&TestHost::new().remaining_ms(300), &request("bad")).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "plugin.deadline"));
    assert_eq!(summary(&verify(verifier.as_ref(), "good").unwrap()), "fine");
}

#[test]
fn an_instance_is_made_although_a_hanging_call_ends_the_program_meanwhile() {
    let registry = registry_with(CallLimits { deadline_grace_ms: 0, ..CallLimits::default() });
    let hanging = create(&registry, "hang").unwrap();
    drop(hanging.verify(&TestHost::new().remaining_ms(300), &request("bad")).unwrap_err());
    let verifier = create(&registry, "slow create").unwrap();
    assert_eq!(summary(&verify(verifier.as_ref(), "good").unwrap()), "fine");
}

/// A host without a deadline. Each time that it is asked for an interruption, the clock moves on by 100 s.
struct PassingTime(Arc<AtomicU64>);

impl Host for PassingTime {
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, _done: u64, _total: u64, _what: &str) {}
    fn cancelled(&self) -> bool {
        self.0.fetch_add(100, Ordering::SeqCst);
        false
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}

fn passing_time() -> (PassingTime, Clock) {
    let (start, seconds) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let host = PassingTime(Arc::clone(&seconds));
    (host, Clock::new(move || start + Duration::from_secs(seconds.load(Ordering::SeqCst))))
}

#[test]
fn a_program_without_progress_is_ended_and_started_again() {
    let (host, clock) = passing_time();
    let registry = Registry::new(&[], &[folder()], RegistrySettings { clock, ..RegistrySettings::default() });
    let verifier = create(&registry, "hang").unwrap();
    let failure = verifier.verify(&host, &request("bad")).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "plugin.deadline"));
    assert!(failure.message.contains("for 600 s"), "{failure}");
    assert!(failure.help.unwrap().contains("`limits.call_deadline_s`"));
    assert_eq!(summary(&verify(verifier.as_ref(), "good").unwrap()), "fine");
}

/// Describes itself, makes instances, and never answers another request.
const SILENT_PLANNER: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    about = {"version": "1", "about": "Silent", "options_schema": {"type": "object"}}
    results = {"plugin/describe": about, "plugin/create": None}
    if message["method"] in results:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
        print(json.dumps(answer), flush=True)
"#;

#[test]
fn a_planner_has_the_time_that_its_stage_grants() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "id = 'silent'\nkind = 'planner'\ncommand = ['python3', 'silent.py']\ncontract = 2";
    std::fs::write(folder.path().join("plugin.toml"), manifest).unwrap();
    std::fs::write(folder.path().join("silent.py"), SILENT_PLANNER).unwrap();
    for (time_ms, says) in [(None, "for 600 s"), (Some(1_000), "for 600 s"), (Some(1_800_000), "for 1860 s")]
    {
        let (host, clock) = passing_time();
        let settings = RegistrySettings { clock, ..RegistrySettings::default() };
        let registry = Registry::new(&[], &[folder.path().to_owned()], settings);
        let Instance::Planner(planner) = registry.create("silent", CreateRequest::default()).unwrap() else {
            panic!("a planner");
        };
        let limits = PlanLimits { time_ms, ..PlanLimits::default() };
        let failure = planner.plan(&host, &PlanRequest { limits, ..PlanRequest::default() }).unwrap_err();
        assert_eq!(failure.code, "plugin.deadline");
        assert!(failure.message.contains(says), "{failure}");
    }
}

#[test]
fn a_cancelled_call_is_told_to_the_program() {
    let verifier = create(&registry(), "cancel").unwrap();
    let host = TestHost::new();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| verifier.verify(&host, &request("good")));
        while host.logs().is_empty() && !call.is_finished() {
            std::thread::yield_now();
        }
        host.cancel();
        assert_eq!(call.join().unwrap().unwrap_err().message, "cancelled");
    });
}

#[test]
fn a_program_ends_with_everything_that_it_started() {
    let registry = registry();
    let verifier = create(&registry, "child").unwrap();
    assert!(verify(verifier.as_ref(), "bad").is_err());
    drop((verifier, registry));
    assert_eq!(running("sleep 3599"), 0);
}

#[test]
fn creating_may_be_refused_and_options_are_checked() {
    let failure = create(&registry(), "refuse").map(drop).unwrap_err();
    assert!(failure.message.contains("could not be made: I do not want to"), "{failure}");
    let options = json!({"falt": "none"}).as_object().cloned().unwrap();
    let request = CreateRequest { options, ..CreateRequest::default() };
    let failure = registry().create("misbehave-program", request).map(drop).unwrap_err();
    assert_eq!(failure.code, "plugin.options");
}

#[test]
fn a_manifest_that_is_wrong_is_listed_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = |name: &str, manifest: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("plugin.toml"), manifest).unwrap();
    };
    plugin("a", "id = 'a'\nkind = 'judge'\ncommand = ['x']\ncontract = 2");
    plugin("b", "id = 'b'\nkind = 'verifier'\ncommand = ['x']\ncontract = 1");
    plugin("c", "id = 'c'\nkind = 'verifier'\ncommand = ['no-such-program']\ncontract = 2");
    plugin("d", "id = 'c'\nkind = 'verifier'\ncommand = ['x']\ncontract = 2");
    let registry = Registry::new(&[], &[folder.path().to_owned()], RegistrySettings::default());
    let failures: Vec<_> =
        registry.list().into_iter().map(|e| (e.id, e.info.map(drop).unwrap_err().code)).collect();
    let expected =
        [("b", "plugin.epoch"), ("c", "plugin.duplicate"), ("c", "plugin.duplicate"), ("a", "plugin.file")];
    assert_eq!(failures, expected.map(|(id, code)| (id.to_owned(), code.to_owned())));
    std::fs::remove_dir_all(folder.path().join("d")).unwrap();
    let registry = Registry::new(&[], &[folder.path().to_owned()], RegistrySettings::default());
    let failure = registry.info("c").unwrap_err();
    assert_eq!(failure.code, "plugin.program", "{failure}");
    assert!(failure.message.contains("`no-such-program` was not found"), "{failure}");
}

/// Serves a verifier in this process. It closes its output at the problem `end`.
fn serve(input: impl Read, mut output: impl Write) {
    for line in BufReader::new(input).lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let result = match message["method"].as_str().unwrap() {
            "plugin/describe" => json!({"version": "1.0.0", "about": "Lent", "options_schema": {}}),
            "verify" if message["params"]["request"]["candidates"][0]["problem"] == "end" => return,
            "verify" => json!({"results": [{"ok": {"decision": "accepted", "summary": "fine"}}]}),
            _ => Value::Null,
        };
        writeln!(output, "{}", json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).unwrap();
    }
}

#[test]
fn a_lent_plugin_takes_the_place_of_a_program_and_is_started_again_after_its_end() {
    let starts = Arc::new(AtomicU64::new(0));
    let (count, (ended, end)) = (Arc::clone(&starts), std::sync::mpsc::channel());
    let start: StartLent = Arc::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
        let ((input, to_plugin), (from_plugin, output)) =
            (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        let ended = ended.clone();
        std::thread::spawn(move || {
            serve(input, output);
            ended.send(()).unwrap();
        });
        Ok((Box::new(to_plugin), Box::new(from_plugin)))
    });
    let id = "misbehave-program".to_owned();
    let lent = LentPlugin {
        id: id.clone(),
        kind: PluginKind::Verifier,
        origin: "here".into(),
        sha256: "0".repeat(64),
        start,
    };
    let settings = RegistrySettings { lent: vec![lent], ..RegistrySettings::default() };
    let registry = Registry::new(&[], &[folder()], settings);
    assert!(matches!(registry.source(&id), Ok(PluginSource::Lent { .. })));
    let Instance::Verifier(verifier) = registry.create(&id, CreateRequest::default()).unwrap() else {
        panic!()
    };
    assert_eq!(summary(&verify(verifier.as_ref(), "good").unwrap()), "fine");
    // The only call is the cause, and is not repeated.
    assert_eq!(verify(verifier.as_ref(), "end").unwrap_err().code, "plugin.program");
    assert_eq!(summary(&verify(verifier.as_ref(), "good").unwrap()), "fine");
    assert_eq!(starts.load(Ordering::SeqCst), 2);
    drop((verifier, registry));
    assert_eq!(end.iter().take(2).count(), 2, "its input is closed when it is not needed any more");
}
