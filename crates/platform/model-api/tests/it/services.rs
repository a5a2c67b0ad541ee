//! Submission, status and download against a scripted service of each interface.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use planforge_contract::Failure;
use planforge_llm::{ArrivedResult, Clock, DeferredReplies, PendingRequest};
use planforge_model_api::batch::{BatchFolder, WrittenFile};
use planforge_model_api::batch_services::{
    BatchClient, BatchLine, ConnectionSettings, STATE_FILE, Service, ServiceConnection,
};
use planforge_record::Redactor;
use planforge_testkit::{BatchOutcome, BatchServer, Scripted, ScriptedClock};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "sk-scripted-0123456789";

struct TestClock(ScriptedClock);

impl Clock for TestClock {
    fn now(&self) -> Duration {
        self.0.now()
    }
    fn sleep(&self, duration: Duration, _: &dyn Fn() -> bool) -> bool {
        self.0.sleep(duration);
        true
    }
}

/// A folder with one request file for a service.
struct Desk {
    folder: tempfile::TempDir,
    server: BatchServer,
    service: Service,
    key: &'static str,
    clock: TestClock,
    questions: Vec<PendingRequest>,
}

fn question(number: usize, service: Service) -> PendingRequest {
    let ticket = if service == Service::Openai { "chat.completions" } else { "messages" };
    PendingRequest {
        key: format!("key{number}:t/s/{number}"),
        path: format!("t/s/{number}"),
        role: "writer".into(),
        llm: "main".into(),
        model: "m".into(),
        body: json!({"model": "m", "messages": [{"role": "user", "content": format!("question {number}")}]}),
        ticket: ticket.into(),
        failed: None,
    }
}

fn text_of(body: &Value) -> &str {
    body["messages"][0]["content"].as_str().unwrap()
}

fn echo(body: &Value) -> BatchOutcome {
    BatchOutcome::Reply(format!("reply to {}", text_of(body)))
}

impl Desk {
    fn new(service: Service, outcome: impl Fn(&Value) -> BatchOutcome + Send + Sync + 'static) -> Self {
        let server = BatchServer::new(outcome).unwrap();
        server.require_key(KEY);
        let questions = (1..=3).map(|number| question(number, service)).collect();
        let clock = TestClock(ScriptedClock::default());
        let desk = Self { folder: tempfile::tempdir().unwrap(), server, service, key: KEY, clock, questions };
        desk.write(&desk.questions);
        desk
    }

    fn batch(&self) -> BatchFolder {
        BatchFolder::of(self.folder.path())
    }

    fn redactor() -> Redactor {
        Redactor::new([&SecretString::from(KEY)])
    }

    /// Writes pending requests, as a resumed run does; returns their number.
    fn write(&self, pending: &[PendingRequest]) -> usize {
        let replies = self.batch().read_replies(&[], &Self::redactor()).unwrap();
        let wave = self.batch().write(pending, &replies, &Self::redactor()).unwrap();
        wave.new + wave.again
    }

    fn with<T>(&self, call: impl FnOnce(&BatchClient<'_>) -> T) -> T {
        let redactor = Self::redactor();
        let folder = self.batch();
        let files = folder.written(&folder.read_replies(&[], &redactor).unwrap()).unwrap();
        let base_url = self.server.base_url();
        let connect = |_: &WrittenFile| {
            let key = Some(("A_KEY", self.key));
            ServiceConnection::new(&ConnectionSettings { service: self.service, base_url: &base_url, key })
                .map(Arc::new)
        };
        call(&BatchClient {
            folder: &folder,
            files: &files,
            connect: &connect,
            clock: &self.clock,
            now: &|| "2026-11-23T03:00:00Z".to_owned(),
            cancelled: &|| false,
            redactor: &redactor,
            note: &|_| {},
        })
    }

    fn submit(&self) -> Result<Vec<BatchLine>, Failure> {
        self.with(|client| client.submit())
    }

    fn fetch(&self) -> BatchLine {
        self.with(|client| client.fetch(false)).unwrap().remove(0)
    }

    fn creates(&self) -> usize {
        let path = if self.service == Service::Openai { "/v1/batches" } else { "/v1/messages/batches" };
        self.server.count("POST", path)
    }

    fn create_path(&self) -> &'static str {
        if self.service == Service::Openai { "/v1/batches" } else { "/v1/messages/batches" }
    }

    /// The result that arrived for a question.
    fn arrived(&self, number: usize) -> Option<ArrivedResult> {
        let replies = self.batch().read_replies(&[], &Self::redactor()).unwrap();
        let question = &self.questions[number - 1];
        replies.find(&question.key, &question.body).unwrap()
    }

    fn reply(&self, number: usize) -> String {
        match self.arrived(number) {
            Some(ArrivedResult::Body(body)) => body,
            other => panic!("{other:?}"),
        }
    }

    /// The text of every file in the folder.
    fn files(&self) -> String {
        let mut text = String::new();
        for folder in [self.batch().path().to_owned(), self.batch().answers()] {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                text += &fs::read_to_string(entry.unwrap().path()).unwrap_or_default();
            }
        }
        text
    }
}

const SERVICES: [Service; 2] = [Service::Openai, Service::Anthropic];

#[test]
fn a_file_is_submitted_once_and_its_replies_are_downloaded() {
    for service in SERVICES {
        let desk = Desk::new(service, echo);
        desk.server.end_after(1);
        let lines = desk.submit().unwrap();
        assert!(lines[0].submitted && lines[0].batch.as_deref() == Some("batch_1"), "{lines:?}");
        let lines = desk.submit().unwrap();
        assert!(!lines[0].submitted && desk.creates() == 1, "{lines:?}");
        let line = desk.with(|client| client.status()).unwrap().remove(0);
        assert!(line.is_awaited() && line.progress.unwrap().status == "in_progress");
        let line = desk.fetch();
        let results = line.results.unwrap();
        assert_eq!((results.replies, results.missing, line.fetched), (3, 0, true));
        assert!(desk.reply(2).contains("reply to question 2"), "{}", desk.reply(2));
        assert!(desk.fetch().results.is_none(), "the results are downloaded once");
        assert!(!desk.files().contains(KEY));
        let headers =
            ["authorization", "x-api-key"].map(|name| desk.server.requests()[0].header(name).is_some());
        assert_eq!(headers, [service == Service::Openai, service == Service::Anthropic]);
    }
}

#[test]
fn a_wait_looks_until_the_batch_has_ended() {
    let desk = Desk::new(Service::Openai, echo);
    desk.submit().unwrap();
    desk.server.end_after(7);
    let lines = desk.with(|client| client.fetch(true)).unwrap();
    assert!(lines[0].fetched);
    assert_eq!(
        desk.clock.0.waits().iter().map(Duration::as_secs).collect::<Vec<_>>(),
        [2, 4, 8, 16, 32, 60, 60]
    );
}

#[test]
fn a_crash_between_upload_and_create_neither_uploads_nor_creates_twice() {
    let desk = Desk::new(Service::Openai, echo);
    desk.server.fail_next("POST", "/v1/batches", Scripted::error(403, "x", "no"), false);
    desk.submit().unwrap_err();
    // As a crash leaves it: the file was uploaded, and the batch was not created.
    let state = desk.batch().path().join(STATE_FILE);
    assert_eq!(serde_json::from_slice::<Value>(&fs::read(&state).unwrap()).unwrap()["files"], json!([]));
    desk.submit().unwrap();
    let mut recorded: Value = serde_json::from_slice(&fs::read(&state).unwrap()).unwrap();
    assert_eq!(desk.server.count("POST", "/v1/files"), 2);
    // The process ended after the batch was created, before its id was recorded.
    recorded["files"][0].as_object_mut().unwrap().remove("batch");
    fs::write(&state, recorded.to_string()).unwrap();
    let (creates, uploads) = (desk.creates(), desk.server.count("POST", "/v1/files"));
    let lines = desk.submit().unwrap();
    assert_eq!(lines[0].batch.as_deref(), Some("batch_1"));
    assert_eq!((desk.creates(), desk.server.count("POST", "/v1/files")), (creates, uploads));
}

#[test]
fn a_batch_whose_creation_was_answered_with_an_error_is_found_again() {
    for service in SERVICES {
        let desk = Desk::new(service, echo);
        desk.server.fail_next("POST", desk.create_path(), Scripted::error(500, "x", "oops"), true);
        let lines = desk.submit().unwrap();
        assert_eq!((lines[0].batch.as_deref(), desk.creates()), (Some("batch_1"), 1), "{service:?}");
        // One that was not created is created.
        let desk = Desk::new(service, echo);
        desk.server.fail_next("POST", desk.create_path(), Scripted::drop_connection(), false);
        desk.submit().unwrap();
        assert_eq!((desk.creates(), desk.server.batches()), (2, 1), "{service:?}");
    }
}

#[test]
fn of_several_batches_that_an_interrupted_submission_may_have_created_none_is_taken() {
    let desk = Desk::new(Service::Anthropic, echo);
    desk.submit().unwrap();
    let other = Desk { folder: tempfile::tempdir().unwrap(), ..desk };
    other.write(&other.questions);
    other.submit().unwrap();
    let state = other.batch().path().join(STATE_FILE);
    let mut recorded: Value = serde_json::from_slice(&fs::read(&state).unwrap()).unwrap();
    recorded["files"][0].as_object_mut().unwrap().remove("batch");
    fs::write(&state, recorded.to_string()).unwrap();
    let failure = other.submit().unwrap_err();
    assert_eq!(failure.code, "batch.ambiguous");
    assert!(failure.message.contains("batch_1") && failure.message.contains("batch_2"), "{failure}");
}

#[test]
fn overload_is_waited_for_as_the_service_asks() {
    for service in SERVICES {
        let desk = Desk::new(service, echo);
        let busy = || Scripted::error(429, "rate_limit", "slow down").header("retry-after", "7");
        desk.server.fail_next("POST", desk.create_path(), busy(), false);
        desk.server.fail_next(
            "GET",
            &format!("{}/batch_1", desk.create_path()),
            Scripted::error(503, "x", "busy"),
            false,
        );
        desk.submit().unwrap();
        assert_eq!(desk.clock.0.waits(), [Duration::from_secs(7)]);
        assert!(desk.fetch().fetched);
        assert_eq!(desk.clock.0.waits().len(), 2);
    }
}

#[test]
fn a_wrong_key_is_named_by_its_variable_and_never_shown() {
    for service in SERVICES {
        let desk = Desk { key: "sk-wrong-key-987654321", ..Desk::new(service, echo) };
        let failure = desk.submit().unwrap_err();
        assert!(failure.message.contains("401"), "{failure}");
        assert!(failure.help.unwrap().contains("A_KEY"));
        assert_eq!((desk.server.batches(), desk.server.requests().len()), (0, 1), "it is not tried again");
        // The server that echoes a key cannot put it into messages.
        let desk = Desk::new(service, echo);
        desk.server.require_key("another");
        let failure = desk.submit().unwrap_err();
        assert!(!failure.message.contains(KEY) && failure.message.contains("[redacted]"), "{failure}");
    }
}

#[test]
fn requests_that_failed_in_passing_are_named_and_submitted_with_the_next_wave() {
    for service in SERVICES {
        let desk = Desk::new(service, |body| match text_of(body) {
            "question 1" => BatchOutcome::Expired,
            "question 2" => BatchOutcome::Missing,
            _ => BatchOutcome::Error(400, "invalid_request_error".into(), "no such field".into()),
        });
        desk.submit().unwrap();
        let results = desk.fetch().results.unwrap();
        assert_eq!((results.replies, results.missing), (0, 1));
        assert_eq!((results.failed["timeout"], results.failed["bad-request (400)"]), (1, 1), "{results:?}");
        // A resumed run writes the two again, each time that they fail.
        for wave in 2..4 {
            assert_eq!(desk.write(&desk.questions[..2]), 2, "{service:?}, wave {wave}");
            assert_eq!(desk.write(&desk.questions[..2]), 0);
            let lines = desk.submit().unwrap();
            assert!(lines[wave - 1].submitted && lines[wave - 1].requests == 2, "{lines:?}");
            desk.with(|client| client.fetch(false)).unwrap();
        }
        assert_eq!(desk.creates(), 3);
    }
}

#[test]
fn a_batch_that_fails_as_a_whole_gives_each_request_an_error_that_may_pass() {
    let desk = Desk::new(Service::Openai, echo);
    desk.server.fail_batches(true);
    desk.submit().unwrap();
    let line = desk.fetch();
    assert!(line.progress.unwrap().errors[0].contains("Enqueued token limit"));
    assert_eq!(line.results.unwrap().missing, 3);
    desk.server.fail_batches(false);
    assert_eq!(desk.write(&desk.questions), 3);
    assert!(desk.submit().unwrap()[1].submitted);
}

#[test]
fn unknown_requests_are_counted_and_long_lines_are_read() {
    let long = "x".repeat(10_000_000);
    let desk = Desk::new(Service::Openai, move |body| match text_of(body) {
        "question 1" => BatchOutcome::Reply(long.clone()),
        _ => echo(body),
    });
    desk.server
        .add_result(r#"{"custom_id": "pf-of-another-run", "response": {"status_code": 200, "body": {}}}"#);
    desk.submit().unwrap();
    let results = desk.fetch().results.unwrap();
    assert_eq!((results.replies, results.unknown), (3, (1, vec!["pf-of-another-run".to_owned()])));
    assert!(desk.reply(1).len() > 10_000_000);
}

#[test]
fn results_that_cannot_be_used_are_refused_and_nothing_is_kept() {
    for line in ["not json", r#"{"custom_id": "a"}"#] {
        let desk = Desk::new(Service::Openai, echo);
        desk.server.add_result(line);
        desk.submit().unwrap();
        let failure = desk.fetch().failure.unwrap();
        assert_eq!(failure.code, "batch.results");
        assert_eq!(fs::read_dir(desk.batch().answers()).unwrap().count(), 0, "{failure}");
    }
    // A download that breaks off is repeated.
    let desk = Desk::new(Service::Anthropic, echo);
    desk.submit().unwrap();
    let path = "/v1/messages/batches/batch_1/results";
    desk.server.fail_next("GET", path, Scripted::raw(200, "{\"custom_id\": \"x\"").half_body(), false);
    assert_eq!(desk.fetch().results.unwrap().replies, 3);
}

#[test]
fn a_key_that_a_service_echoes_is_in_no_file() {
    for service in SERVICES {
        let desk = Desk::new(service, |_| BatchOutcome::Reply(format!("your key is {KEY}")));
        let spelled = KEY.replace('-', "\\u002d");
        desk.server.add_result(&format!(r#"{{"custom_id": "other", "content": "{spelled}"}}"#));
        desk.submit().unwrap();
        desk.fetch().results.unwrap();
        assert!(!desk.files().contains("0123456789"), "{}", desk.files());
    }
}

#[test]
fn a_file_that_was_answered_by_other_means_is_not_submitted() {
    let desk = Desk::new(Service::Openai, echo);
    let answers: String = desk
        .questions
        .iter()
        .map(|q| {
            json!({"custom_id": planforge_model_api::batch::custom_id(&q.key, &q.body), "content": "x"})
                .to_string()
                + "\n"
        })
        .collect();
    fs::create_dir_all(desk.batch().answers()).unwrap();
    fs::write(desk.batch().answers().join("by-hand.jsonl"), answers).unwrap();
    let lines = desk.submit().unwrap();
    assert!(!lines[0].is_unsent() && lines[0].batch.is_none());
    assert!(desk.server.requests().is_empty());
}
