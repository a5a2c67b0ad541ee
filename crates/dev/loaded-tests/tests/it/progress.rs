//! Calls without a deadline: 600 s without progress end them, in this process and in a child process.

use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{
    Candidate, CompletionRequest, CreateRequest, Failure, FailureClass, FinishReason, Replies, Reply, Usage,
    VerifyRequest, VerifyResponse,
};
use planforge_plugin_host::{CallLimits, Clock, Instance, RegistrySettings, WorkerSettings};
use planforge_testkit::plugins::loaded;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A host that moves the clock: by so many seconds with each report of progress, answer, and check for an interruption.
#[derive(Default)]
struct MovingClock {
    seconds: Arc<AtomicU64>,
    progress_s: u64,
    answer_s: u64,
    check_s: u64,
    remaining_ms: Option<u64>,
}

impl MovingClock {
    fn moves(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Host for MovingClock {
    fn complete(&self, _role: &str, _request: CompletionRequest) -> Result<Replies, Failure> {
        self.moves(self.answer_s);
        let replies = vec![Reply::new("yes", FinishReason::Stop)];
        Ok(Replies { replies, usage: Usage::default(), model: String::new(), raw: String::new() })
    }
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, _done: u64, _total: u64, _what: &str) {
        self.moves(self.progress_s);
    }
    fn cancelled(&self) -> bool {
        self.moves(self.check_s);
        false
    }
    fn remaining_ms(&self) -> Option<u64> {
        self.remaining_ms
    }
}

fn verify(fault: &str, host: &MovingClock, isolate_libraries: bool) -> Result<VerifyResponse, Failure> {
    let (start, seconds) = (Instant::now(), Arc::clone(&host.seconds));
    let settings = RegistrySettings {
        limits: CallLimits { deadline_grace_ms: 0, ..CallLimits::default() },
        clock: Clock::new(move || start + Duration::from_secs(seconds.load(Ordering::SeqCst))),
        worker: Some(WorkerSettings::new(env!("CARGO_BIN_EXE_planforge-test-worker").into())),
        isolate_libraries,
        ..RegistrySettings::default()
    };
    let registry = loaded("planforge_misbehave_methods", settings).unwrap();
    let options = json!({"fault": fault}).as_object().cloned().unwrap();
    let request = CreateRequest { options, ..CreateRequest::default() };
    let Instance::Verifier(verifier) = registry.create("misbehave-methods", request).unwrap() else {
        panic!("a verifier");
    };
    verifier
        .verify(host, &VerifyRequest { candidates: vec![Candidate::default()], ..VerifyRequest::default() })
}

#[test]
fn a_call_without_progress_is_given_up_and_the_key_is_named() {
    for isolated in [false, true] {
        let failure = verify("hang", &MovingClock { check_s: 100, ..MovingClock::default() }, isolated);
        let failure = failure.unwrap_err();
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "plugin.deadline"));
        assert!(failure.message.contains("nor reported progress for 600 s"), "{failure}");
        assert!(failure.help.unwrap().contains("`limits.call_deadline_s`"));
    }
}

#[test]
fn a_call_that_reports_progress_goes_on() {
    for isolated in [false, true] {
        let host = MovingClock { progress_s: 599, ..MovingClock::default() };
        assert!(verify("progress", &host, isolated).is_ok());
        assert_eq!(host.seconds.load(Ordering::SeqCst), 5_990);
    }
}

#[test]
fn the_time_until_the_host_answers_does_not_count() {
    for isolated in [false, true] {
        let host = MovingClock { answer_s: 5_000, ..MovingClock::default() };
        assert!(verify("complete", &host, isolated).is_ok());
        assert_eq!(host.seconds.load(Ordering::SeqCst), 5_000);
    }
}

#[test]
fn a_deadline_takes_the_place_of_the_limit_without_progress() {
    let host = MovingClock { check_s: 100_000, remaining_ms: Some(200), ..MovingClock::default() };
    let failure = verify("hang", &host, false).unwrap_err();
    assert!(failure.message.contains("within 200 ms"), "{failure}");
    assert!(failure.help.unwrap().contains("`limits.call_deadline_s`"));
}
