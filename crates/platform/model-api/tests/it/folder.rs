//! The folder of batch files: what is written once, what is kept, and what is refused.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use planforge_contract::{ProviderFailure, ProviderFailureClass};
use planforge_llm::{ArrivedResult, DeferredReplies, PendingRequest};
use planforge_model_api::batch::{BatchFolder, MAX_LINE_BYTES, custom_id};
use planforge_record::Redactor;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn question(number: usize, model: &str) -> PendingRequest {
    PendingRequest {
        key: format!("key{number}:t/s/{number}"),
        path: format!("t/s/{number}"),
        role: "writer".into(),
        llm: "main".into(),
        model: model.into(),
        body: json!({"model": model, "messages": [{"role": "user", "content": format!("question {number}")}]}),
        ticket: "chat.completions".into(),
        failed: None,
    }
}

fn id(question: &PendingRequest) -> String {
    custom_id(&question.key, &question.body)
}

fn none() -> Redactor {
    Redactor::default()
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn folder(&self) -> BatchFolder {
        BatchFolder::of(self.0.path())
    }
    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
    fn asked(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.0.path().join("batch").join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
    /// The errors that keep these files from being used.
    fn refused(&self, files: &[PathBuf]) -> Vec<String> {
        let wrong = self.folder().read_replies(files, &none()).unwrap_err();
        wrong.into_iter().map(|d| format!("{} {}", d.code, d.message)).collect()
    }
}

fn answer(question: &PendingRequest, content: &str) -> String {
    json!({"custom_id": id(question), "content": content}).to_string() + "\n"
}

#[test]
fn a_question_has_one_name_that_every_service_takes() {
    let (a, b) = (question(1, "m"), question(2, "m"));
    assert_eq!(id(&a), id(&a.clone()));
    assert_ne!(id(&a), id(&b));
    let other = PendingRequest { body: json!({"model": "n"}), ..a.clone() };
    assert_ne!(id(&a), id(&other), "what is asked is part of it, not its place alone");
    assert!(id(&a).len() <= 64 && id(&a).chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'));
}

#[test]
fn a_question_is_written_once_and_again_where_it_failed_in_passing() {
    let place = Place::new();
    let (a, b) = (question(1, "m"), question(2, "m"));
    let read = |files: &[PathBuf]| place.folder().read_replies(files, &none()).unwrap();
    let wave = place.folder().write(&[a.clone(), b.clone(), a.clone()], &read(&[]), &none()).unwrap();
    assert_eq!((wave.pending, wave.new, wave.again, wave.open), (2, 2, 0, 0));
    assert_eq!(place.asked("requests-0001.jsonl").len(), 2);
    let c = question(3, "m");
    let wave = place.folder().write(&[a.clone(), c], &read(&[]), &none()).unwrap();
    assert_eq!((wave.pending, wave.new, wave.open), (2, 1, 1));
    assert_eq!(place.asked("requests-0002.jsonl")[0]["body"]["messages"][0]["content"], "question 3");

    let expired = |what: &str| {
        json!({"id": what, "custom_id": id(&a), "error": {"code": "batch_expired", "message": "late"}})
            .to_string()
    };
    // The same error twice is one error.
    let first = place.file("first.jsonl", [expired("r1"), expired("r1")].join("\n"));
    let replies = read(&[first]);
    let failed = ProviderFailure {
        class: ProviderFailureClass::Timeout,
        status: None,
        retry_after_ms: None,
        usage: None,
        message: "late".into(),
    };
    let waits = PendingRequest { failed: Some(failed), ..a.clone() };
    let wave = place.folder().write(std::slice::from_ref(&waits), &replies, &none()).unwrap();
    assert_eq!((wave.again, wave.open, wave.failed["timeout"]), (1, 0, 1));
    let wave = place.folder().write(std::slice::from_ref(&waits), &read(&[]), &none()).unwrap();
    assert_eq!((wave.again, wave.open, wave.files.len()), (0, 1, 0), "it was asked twice and failed once");
    let replies = read(&[place.file("second.jsonl", expired("r2"))]);
    let wave = place.folder().write(&[waits], &replies, &none()).unwrap();
    assert_eq!((wave.again, place.asked("requests-0004.jsonl").len()), (1, 1));
    // An answer stands above errors, whatever the files are called.
    let replies = read(&[place.file("a-first-name.jsonl", answer(&a, "yes"))]);
    assert_eq!(
        replies.find(&a.key, &a.body).unwrap(),
        Some(ArrivedResult::Body(r#"{"content":"yes"}"#.into()))
    );
}

#[test]
fn models_have_files_of_their_own_and_names_that_files_can_have() {
    let place = Place::new();
    let all = [question(1, "org/m:1"), question(2, "org-m-1"), question(3, "../x"), question(4, "org/m:1")];
    let wave =
        place.folder().write(&all, &place.folder().read_replies(&[], &none()).unwrap(), &none()).unwrap();
    let mut names: Vec<(String, String, usize)> = Vec::new();
    for file in &wave.files {
        let name = file.path.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(file.path.parent().unwrap(), place.0.path().join("batch"));
        assert!(place.asked(&name).iter().all(|line| line["body"]["model"] == file.model.as_str()));
        names.push((name, file.model.clone(), file.requests));
    }
    let wanted = [
        ("requests-0001.-x.jsonl", "../x", 1),
        ("requests-0001.org-m-1.jsonl", "org-m-1", 1),
        ("requests-0001.org-m-1-2.jsonl", "org/m:1", 2),
    ];
    assert_eq!(names, wanted.map(|(name, model, n)| (name.to_owned(), model.to_owned(), n)));
}

#[test]
fn secrets_are_in_no_file() {
    let place = Place::new();
    let redactor = Redactor::new([&SecretString::from("sk-0123456789")]);
    let mut asked = question(1, "m");
    asked.body["messages"][0]["content"] = "my key is sk-0123456789".into();
    let file = place.file("elsewhere/answers.jsonl", answer(&asked, "sk-0123456789 is the key"));
    let replies = place.folder().read_replies(&[file], &redactor).unwrap();
    place.folder().write(&[asked.clone()], &replies, &redactor).unwrap();
    for name in ["requests-0001.jsonl", "answers/answers.jsonl"] {
        let text = fs::read_to_string(place.0.path().join("batch").join(name)).unwrap();
        assert!(text.contains("[redacted]") && !text.contains("sk-0123456789"), "{name}: {text}");
    }
    let found = replies.find(&asked.key, &asked.body).unwrap();
    assert_eq!(found, Some(ArrivedResult::Body(r#"{"content":"[redacted] is the key"}"#.into())));
}

#[test]
fn files_of_one_name_are_both_kept_and_one_that_has_grown_takes_its_own_place() {
    let place = Place::new();
    let (a, b) = (question(1, "m"), question(2, "m"));
    let kept = || {
        let entries = fs::read_dir(place.folder().answers()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let read = |text: &str| {
        place.folder().read_replies(&[place.file("answers.jsonl", text)], &none()).unwrap().len()
    };
    assert_eq!(read(&answer(&a, "one")), 1);
    assert_eq!(read(&(answer(&a, "one") + &answer(&b, "two"))), 2);
    assert_eq!(kept(), ["answers.jsonl"]);
    assert_eq!(read(&answer(&b, "two")), 2, "another file of the same name");
    assert_eq!(kept(), ["answers-2.jsonl", "answers.jsonl"]);
    assert_eq!(read(&answer(&b, "two")), 2);
    assert_eq!(kept().len(), 2, "a file that is there already is not kept twice");
    // What lies in the folder can be named as well.
    let own = place.folder().answers().join("answers.jsonl");
    assert_eq!(place.folder().read_replies(&[own], &none()).unwrap().len(), 2);
    assert_eq!(kept().len(), 2);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    let place = Place::new();
    let a = question(1, "m");
    let long = place.file("long.jsonl", answer(&a, "short") + &"x".repeat(MAX_LINE_BYTES + 1) + "\n{}\n");
    let told = place.refused(&[long, place.file("array.jsonl", "[\n{}\n]\n")]);
    for wanted in [
        "long.jsonl:2: this line is longer than 64 MB",
        "long.jsonl:3: the line has no `custom_id`",
        "array.jsonl:1: ",
    ] {
        assert!(told.iter().any(|t| t.contains(wanted)), "{wanted}: {told:#?}");
    }
    let many = place.file("many.jsonl", "{}\n".repeat(150));
    let told = place.refused(&[many]);
    assert_eq!((told.len(), told[100].contains("50 more")), (101, true));
    let two = place.file("two.jsonl", answer(&a, "one") + &answer(&a, "other"));
    assert!(place.refused(&[two])[0].starts_with("batch.twice"));
    assert!(place.refused(&[Path::new("/nonexistent/x.jsonl").to_owned()])[0].starts_with("batch.io"));
    assert!(!place.folder().answers().exists(), "nothing of it was kept");
    // A byte order mark, Windows' line ends and empty lines are no mistakes.
    let text =
        format!("\u{feff}{}\r\n\r\n{}", answer(&a, "one").trim(), answer(&question(2, "m"), "two").trim());
    assert_eq!(place.folder().read_replies(&[place.file("windows.jsonl", text)], &none()).unwrap().len(), 2);
}
