//! Questions that a provider puts off: what waits, what has come in the meantime, caps over several sessions.

use crate::common::{Bench, ScriptedProvider, UnansweredResult, ask, question, replies, site};
use planforge_contract::{
    CompletionRequest, CompletionResult, Failure, FailureClass, ProviderFailure,
    ProviderFailureClass as Class, Usage,
};
use planforge_llm::{ArrivedResult, DeferredReplies, Mode};
use planforge_record::{CompletionEvent, Event, Journal, Redactor};
use planforge_testkit::SilentHost;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Puts everything off, and takes `{"n": COUNT}` for an answer with so many replies.
fn patient() -> Arc<ScriptedProvider> {
    ScriptedProvider::new(|_, request| {
        let Some(answer) = &request.answer else {
            let body = json!({"ask": request.messages, "n": request.sampling.n});
            return Ok(CompletionResult::Pending { ticket: String::new(), body: Some(body) });
        };
        let answer: Value = serde_json::from_str(answer).unwrap();
        Ok(replies(request, u32::try_from(answer["n"].as_u64().unwrap()).unwrap()))
    })
}

/// Answers by the key of a question.
#[derive(Default)]
struct ScriptedReplies(Mutex<BTreeMap<String, ArrivedResult>>);

impl ScriptedReplies {
    fn put(&self, key: &str, result: ArrivedResult) {
        self.0.lock().unwrap().insert(key.to_owned(), result);
    }
}

impl DeferredReplies for ScriptedReplies {
    fn find(&self, key: &str, body: &Value) -> Result<Option<ArrivedResult>, Failure> {
        assert!(body.get("ask").is_some(), "the body is what the provider put: {body}");
        Ok(self.0.lock().unwrap().get(key).cloned())
    }
}

fn bench(arrived: &Arc<ScriptedReplies>) -> Bench {
    let mut bench = Bench::new(Some(patient()));
    bench.options.deferred = Some(Arc::clone(arrived) as Arc<dyn DeferredReplies>);
    bench
}

fn body(n: u32) -> ArrivedResult {
    ArrivedResult::Body(json!({"n": n}).to_string())
}

fn error(class: Class, status: u16) -> ArrivedResult {
    ArrivedResult::Failure(ProviderFailure {
        class,
        status: Some(status),
        retry_after_ms: None,
        usage: None,
        message: "trouble with key-0123456789".into(),
    })
}

#[test]
fn what_waits_is_told_once_in_the_order_of_paths_and_an_answer_ends_it() {
    let arrived = Arc::new(ScriptedReplies::default());
    let bench = bench(&arrived);
    let llm = bench.llm();
    let put = |path: &str| llm.complete("main", question(path, 2), &site(path), &SilentHost::default());
    assert!([put("t/b"), put("t/a"), put("t/b")].iter().all(UnansweredResult::is_deferred));
    let pending = llm.pending();
    assert_eq!(pending.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(), ["t/a/0/0", "t/b/0/0"]);
    assert_eq!((pending[0].model.as_str(), pending[0].llm.as_str()), ("m", "main"));
    assert_eq!(pending[0].body["n"], 2);
    assert!(bench.journal.events().is_empty(), "a question that waits is no event");
    let usage = &llm.usage()["main"];
    assert_eq!((usage.pending, usage.requests_sent), (3, 0));

    arrived.put(&pending[0].key, body(2));
    let next = bench.llm();
    let told = next.complete("main", question("t/a", 2), &site("t/a"), &SilentHost::default()).unwrap();
    assert_eq!(told.replies.len(), 2);
    let events = bench.journal.events();
    let [Event::Completion(CompletionEvent { key, attempts: 1, elapsed_ms: 0, .. })] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(*key, pending[0].key);
    assert!(next.pending().is_empty());
    // From then on the record has it.
    arrived.0.lock().unwrap().clear();
    let again = bench.llm().complete("main", question("t/a", 2), &site("t/a"), &SilentHost::default());
    assert_eq!(again.unwrap().replies, told.replies);
}

#[test]
fn an_answer_with_fewer_replies_leaves_a_question_for_the_rest() {
    let arrived = Arc::new(ScriptedReplies::default());
    let bench = bench(&arrived);
    let llm = bench.llm();
    assert!(ask(&llm, "q", 3).is_deferred());
    arrived.put(&llm.pending()[0].key, body(2));
    let next = bench.llm();
    assert!(ask(&next, "q", 3).is_deferred());
    let pending = next.pending();
    assert_eq!(pending.len(), 1);
    assert!(pending[0].path.ends_with("/2"), "{}", pending[0].path);
    arrived.put(&pending[0].key, body(1));
    let whole = ask(&bench.llm(), "q", 3).unwrap();
    // The same as a server that answers at once and gives two, then one.
    let live =
        Bench::new(Some(ScriptedProvider::new(|_, r| Ok(replies(r, r.sampling.n.unwrap_or(1).min(2))))));
    assert_eq!(whole, ask(&live.llm(), "q", 3).unwrap());
}

#[test]
fn an_error_that_may_pass_leaves_a_question_waiting_and_another_ends_it_once() {
    let arrived = Arc::new(ScriptedReplies::default());
    let mut bench = bench(&arrived);
    bench.options.redactor = Arc::new(Redactor::new([&SecretString::from("key-0123456789")]));
    let llm = bench.llm();
    assert!(ask(&llm, "q", 1).is_deferred());
    let key = llm.pending()[0].key.clone();
    for (class, status) in [(Class::RateLimited, 429), (Class::Server, 500), (Class::Timeout, 408)] {
        arrived.put(&key, error(class, status));
        let llm = bench.llm();
        assert!(ask(&llm, "q", 1).is_deferred());
        let failed = llm.pending()[0].failed.clone().unwrap();
        assert_eq!((failed.class, failed.message.as_str()), (class, "trouble with [redacted]"));
    }
    assert!(bench.journal.events().is_empty());
    arrived.put(&key, error(Class::BadRequest, 400));
    for _ in 0..2 {
        let llm = bench.llm();
        let failure = ask(&llm, "q", 1).failure();
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Provider, "llm.bad-request"));
        assert!(llm.pending().is_empty());
    }
    assert_eq!(bench.journal.events().len(), 1, "one error is one record, however often it is met");
    // Whoever takes the error away and brings an answer goes on.
    arrived.put(&key, body(1));
    assert_eq!(ask(&bench.llm(), "q", 1).unwrap().len(), 1);
}

#[test]
fn tokens_of_an_outage_in_an_arrived_result_are_counted_once() {
    let arrived = Arc::new(ScriptedReplies::default());
    let bench = bench(&arrived);
    let llm = bench.llm();
    assert!(ask(&llm, "q", 1).is_deferred());
    let usage = Usage { prompt_tokens: Some(11), completion_tokens: Some(5), ..Usage::default() };
    let outage = ProviderFailure {
        class: Class::Server,
        status: Some(503),
        retry_after_ms: None,
        usage: Some(Box::new(usage)),
        message: "the server ended the reply with `network_error`, an outage".into(),
    };
    arrived.put(&llm.pending()[0].key, ArrivedResult::Failure(outage));
    let next = bench.llm();
    for _ in 0..2 {
        assert!(ask(&next, "q", 1).is_deferred());
        let usage = &next.usage()["main"];
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (11, 5));
    }
}

#[test]
fn a_question_that_waits_counts_once_against_a_cap_however_many_sessions_it_waits() {
    let arrived = Arc::new(ScriptedReplies::default());
    let mut bench = bench(&arrived);
    bench.options.tables.get_mut("main").unwrap().settings.max_calls = Some(2);
    let put = |llm: &planforge_llm::Llm, path: &str| {
        let request: CompletionRequest = question(path, 1);
        llm.complete("main", request, &site(path), &SilentHost::default())
    };
    for _ in 0..3 {
        let llm = bench.llm();
        assert!(put(&llm, "a").is_deferred());
        assert!(put(&llm, "b").is_deferred());
        assert_eq!(put(&llm, "c").failure().code, "llm.budget");
    }
    for question in {
        let llm = bench.llm();
        drop((put(&llm, "a"), put(&llm, "b")));
        llm.pending()
    } {
        arrived.put(&question.key, body(1));
    }
    let llm = bench.llm();
    assert!(put(&llm, "a").is_ok() && put(&llm, "b").is_ok());
    // What the record holds counts before it is looked up: no order of questions gets past the cap.
    assert_eq!(put(&bench.llm(), "d").failure().code, "llm.budget");
}

#[test]
fn what_waits_holds_a_token_cap_closed_for_others_and_answers_open_it() {
    let arrived = Arc::new(ScriptedReplies::default());
    let mut bench = bench(&arrived);
    let settings = &mut bench.options.tables.get_mut("main").unwrap().settings;
    // Each question may use 100 tokens and those of its prompt, and is answered with few.
    (settings.max_tokens, settings.max_total_tokens) = (Some(100), Some(250));
    let put = |llm: &planforge_llm::Llm, path: &str| {
        llm.complete("main", question(path, 1), &site(path), &SilentHost::default())
    };
    let llm = bench.llm();
    assert!(["a", "b", "c"].iter().all(|path| put(&llm, path).is_deferred()));
    let pending = llm.pending();
    assert_eq!(pending.len(), 2, "the third would pass the cap if the others used all they may: {pending:?}");
    assert!(bench.journal.events().is_empty(), "no cap was reached");
    pending.iter().for_each(|question| arrived.put(&question.key, body(1)));
    let llm = bench.llm();
    assert!(put(&llm, "a").is_ok() && put(&llm, "b").is_ok());
    assert!(put(&llm, "c").is_deferred());
    assert_eq!(llm.pending().len(), 1);
    // What no answer makes room for is a cap.
    bench.options.tables.get_mut("main").unwrap().settings.max_total_tokens = Some(50);
    assert_eq!(put(&bench.llm(), "d").failure().code, "llm.budget");
}

#[test]
fn batch_mode_tells_what_would_be_asked() {
    let mut bench = Bench::new(None);
    bench.options.mode = Mode::Batch;
    let llm = bench.llm();
    assert!(ask(&llm, "q", 1).is_deferred());
    let pending = llm.pending();
    assert_eq!((pending.len(), pending[0].body["model"].as_str()), (1, Some("m")));
}
