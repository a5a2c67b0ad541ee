//! Live, record, replay and batch over journals and cassettes.

use crate::common::{Bench, ScriptedProvider, UnansweredResult, ask, failure, replies};
use planforge_contract::{FailureClass, ProviderFailureClass as Class};
use planforge_llm::Mode;
use planforge_record::{CompletionEvent, Event, Journal, Lookup, Redactor, comparable_events};
use secrecy::SecretString;
use std::sync::{Arc, Mutex};

#[test]
fn what_the_journal_holds_is_not_asked_again() {
    let provider = ScriptedProvider::obliging();
    let bench = Bench::new(Some(provider.clone()));
    let first = ask(&bench.llm(), "q", 3).unwrap();
    let events = bench.journal.events();
    assert_eq!(ask(&bench.llm(), "q", 3).unwrap(), first);
    assert_eq!(provider.count(), 1);
    assert_eq!(bench.journal.events(), events, "a hit adds nothing");
}

/// A bench that searches the record of another one.
fn over(recorded: &Bench, mode: Mode, provider: Option<Arc<ScriptedProvider>>) -> Bench {
    let mut bench = Bench::new(provider);
    bench.options.mode = mode;
    bench.options.cassettes = vec![Arc::clone(&recorded.journal) as Arc<dyn Lookup>];
    bench
}

#[test]
fn replay_needs_no_provider_and_leaves_the_same_journal() {
    let ignores_n = ScriptedProvider::new(|_, r| Ok(replies(r, 1)));
    let live = Bench::new(Some(ignores_n));
    let told = ask(&live.llm(), "q", 4).unwrap();
    let replay = over(&live, Mode::Replay, None);
    let llm = replay.llm();
    assert_eq!(ask(&llm, "q", 4).unwrap(), told);
    assert_eq!(comparable_events(&replay.journal.events()), comparable_events(&live.journal.events()));
    let usage = &llm.usage()["main"];
    assert_eq!((usage.answered_by_record, usage.requests_sent, usage.completion_tokens), (4, 0, 20));
}

#[test]
fn a_miss_is_a_failure_that_shows_the_difference() {
    let live = Bench::new(Some(ScriptedProvider::obliging()));
    ask(&live.llm(), "Write the problem.\nUse three blocks.", 1).unwrap();
    let spy = ScriptedProvider::obliging();
    let replay = over(&live, Mode::Replay, Some(spy.clone()));
    let miss = ask(&replay.llm(), "Write the problem.\nUse four blocks.", 1).failure();
    assert_eq!((miss.class, miss.code.as_str()), (FailureClass::ReplayMiss, "llm.replay-miss"));
    assert!(miss.message.contains("-Use three blocks.\n+Use four blocks."), "{}", miss.message);
    assert_eq!(spy.count(), 0, "replay never asks, provider or not");
    assert!(replay.journal.events().is_empty());
}

#[test]
fn recording_completes_a_cassette_and_live_ignores_it() {
    let old = Bench::new(Some(ScriptedProvider::obliging()));
    ask(&old.llm(), "known", 1).unwrap();
    let provider = ScriptedProvider::obliging();
    let record = over(&old, Mode::Record, Some(provider.clone()));
    let llm = record.llm();
    ask(&llm, "known", 1).unwrap();
    ask(&llm, "new", 1).unwrap();
    assert_eq!(provider.count(), 1);
    assert_eq!(record.journal.completion_keys().len(), 2, "the new record is whole");
    let live = over(&old, Mode::Live, Some(provider.clone()));
    ask(&live.llm(), "known", 1).unwrap();
    assert_eq!(provider.count(), 2);
}

#[test]
fn batch_parks_what_it_does_not_know() {
    let old = Bench::new(Some(ScriptedProvider::obliging()));
    let known = ask(&old.llm(), "known", 1).unwrap();
    let batch = over(&old, Mode::Batch, None);
    let llm = batch.llm();
    assert_eq!(ask(&llm, "known", 1).unwrap(), known);
    assert!(ask(&llm, "new", 1).is_deferred());
}

#[test]
fn failures_end_a_replay_the_same_way_and_are_asked_again_on_resume() {
    for (class, stands) in [
        (Class::Server, false),
        (Class::Authentication, false),
        (Class::BadRequest, false),
        (Class::ContextOverflow, true),
        (Class::Malformed, false),
    ] {
        let provider = ScriptedProvider::new(move |number, r| {
            Ok(if number < 5 { failure(class, None) } else { replies(r, 1) })
        });
        let live = Bench::new(Some(provider.clone()));
        let failed = ask(&live.llm(), "q", 1).failure();
        let replay = over(&live, Mode::Replay, None);
        assert_eq!(ask(&replay.llm(), "q", 1).failure(), failed, "{class:?}");
        let before = provider.count();
        let resumed = ask(&live.llm(), "q", 1);
        assert_eq!(provider.count() == before, stands, "{class:?}");
        if class == Class::Server {
            resumed.unwrap();
            assert!(ask(&replay_again(&live), "q", 1).is_ok(), "the last record counts");
        }
    }
}

/// An evaluation that was killed goes on as if it had not been: what failed for good before the kill failed.
#[test]
fn failures_are_final_if_the_run_says_so() {
    for class in [Class::Server, Class::Authentication, Class::Malformed] {
        let provider = ScriptedProvider::new(move |number, r| {
            Ok(if number < 5 { failure(class, None) } else { replies(r, 1) })
        });
        let live = Bench::new(Some(provider.clone()));
        let failed = ask(&live.llm(), "q", 1).failure();
        let before = provider.count();
        let mut options = live.options.clone();
        options.failures_are_final = true;
        let llm = planforge_llm::Llm::new(options).unwrap();
        assert_eq!(ask(&llm, "q", 1).failure(), failed, "{class:?}");
        assert_eq!(provider.count(), before, "{class:?}");
        ask(&llm, "another", 1).unwrap_or_else(|_| vec![]);
        assert!(provider.count() > before, "what was never asked is asked");
    }
}

fn replay_again(live: &Bench) -> planforge_llm::Llm {
    over(live, Mode::Replay, None).llm()
}

#[test]
fn a_reached_cap_ends_a_replay_the_same_way_and_not_a_resumed_run() {
    let provider = ScriptedProvider::obliging();
    let mut live = Bench::with(Some(provider.clone()), |c| c.max_calls = Some(1));
    ask(&live.llm(), "a", 1).unwrap();
    let llm = live.llm();
    ask(&llm, "a", 1).unwrap();
    let refused = ask(&llm, "b", 1).failure();
    let replay = over(&live, Mode::Replay, None);
    let llm = replay.llm();
    ask(&llm, "a", 1).unwrap();
    assert_eq!(ask(&llm, "b", 1).failure(), refused);
    assert!(replay.journal.events().iter().any(|e| matches!(e, Event::Effect { timed: true, .. })));
    live.options.tables.get_mut("main").unwrap().settings.max_calls = Some(9);
    ask(&live.llm(), "b", 1).unwrap();
    assert_eq!(provider.count(), 2);
}

#[test]
fn a_provider_that_tells_a_secret_tells_nobody() {
    let secret = "sk-scripted-0123456789";
    let provider = ScriptedProvider::new(move |number, r| {
        let planforge_contract::CompletionResult::Replies(mut told) = replies(r, 1) else { unreachable!() };
        told.replies[0].content = format!("your key is {secret}");
        told.raw = format!("{{\"key\":\"{secret}\"}}");
        told.model = secret.into();
        Ok(match number {
            0 => planforge_contract::CompletionResult::ProviderFailure(planforge_contract::ProviderFailure {
                class: Class::Server,
                status: Some(500),
                retry_after_ms: None,
                usage: None,
                message: format!("bad key {secret}"),
            }),
            1 => planforge_contract::CompletionResult::Replies(told),
            _ => failure(Class::Authentication, None),
        })
    });
    let mut bench = Bench::new(Some(provider));
    bench.options.redactor = Arc::new(Redactor::new([&SecretString::from(secret)]));
    let seen = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&seen);
    bench.options.observer = Some(Arc::new(move |event: &Event| {
        sink.lock().unwrap().push_str(&serde_json::to_string(event).unwrap())
    }));
    let told = ask(&bench.llm(), "q", 1).unwrap();
    assert_eq!(told, ["your key is [redacted]"]);
    let events = bench.journal.events();
    let mut text = serde_json::to_string(&events).unwrap() + &seen.lock().unwrap();
    for event in &events {
        if let Event::Completion(CompletionEvent { request, result, .. }) = event {
            for id in [Some(request), result.as_ref()].into_iter().flatten() {
                text.push_str(&String::from_utf8(bench.journal.get(id).unwrap()).unwrap());
            }
        }
    }
    assert!(text.contains("bad key [redacted]") && text.contains("your key is [redacted]"));
    assert!(!text.contains(secret));
}
