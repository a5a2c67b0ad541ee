//! Sampling defaults, seeds, `n`, retries and interruption.

use crate::common::{Bench, ScriptedProvider, UnansweredResult, ask, failure, question, replies, site};
use planforge_contract::{
    CompletionRequest, Constraint, Failure, FailureClass, ProviderFailureClass as Class,
};
use planforge_llm::{CallSite, Clock, Llm, LlmOptions, ModelSettings, SystemClock, derive_seed};
use planforge_record::{CompletionEvent, Event, Journal, MemoryJournal};
use planforge_testkit::SilentHost;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn the_table_fills_what_the_request_leaves_out() {
    let provider = ScriptedProvider::obliging();
    let bench = Bench::with(Some(provider.clone()), |c| {
        c.temperature = Some(0.7);
        c.max_tokens = Some(100);
        c.stop = vec!["END".into()];
        c.extra_body.insert("grammar".into(), "table".into());
        c.extra_body.insert("other".into(), 1.into());
    });
    let mut request = question("q", 1);
    request.model = "not mine to say".into();
    request.sampling.temperature = Some(0.0);
    request.extra.insert("grammar".into(), "request".into());
    request.tags.task = "p01".into();
    bench.llm().complete("main", request, &site("t/s/0"), &SilentHost::default()).unwrap();
    let seen = provider.seen.lock().unwrap()[0].clone();
    assert_eq!(seen.model, "m");
    assert_eq!((seen.sampling.temperature, seen.sampling.max_tokens), (Some(0.0), Some(100)));
    assert_eq!(seen.sampling.stop, ["END"]);
    assert_eq!((seen.extra["grammar"].as_str(), seen.extra["other"].as_u64()), (Some("request"), Some(1)));
    assert_eq!(seen.sampling.seed, Some(derive_seed(42, "t/s/0/0/0")));
    assert_eq!(seen.tags.task, "", "tags reach simulated providers only");
}

#[test]
fn a_server_that_ignores_n_is_asked_again_with_other_seeds() {
    let provider = ScriptedProvider::new(|_, request| Ok(replies(request, 1)));
    let bench = Bench::new(Some(provider.clone()));
    let got = ask(&bench.llm(), "q", 5).unwrap();
    let seeds: Vec<u64> = (0..5).map(|i| derive_seed(42, &format!("t/s/0/0/{i}"))).collect();
    let expected: Vec<String> = seeds.iter().map(|s| format!("q|{s}|0")).collect();
    assert_eq!(got, expected, "in sample order");
    assert_eq!(provider.count(), 5);
    let paths: Vec<_> = bench.journal.events().iter().filter_map(path_of).collect();
    assert_eq!(paths.len(), 5);
    for i in 0..5 {
        assert!(paths.contains(&format!("t/s/0/0/{i}")));
    }
}

fn constrained(required: bool) -> CompletionRequest {
    let constraint = Constraint { gbnf: "root ::= \"a\"".into(), required, ..Constraint::default() };
    CompletionRequest { constraint: Some(constraint), ..question("q", 1) }
}

#[test]
fn a_grammar_reaches_only_providers_that_enforce_it() {
    let notes = |bench: &Bench| -> Vec<String> {
        let logged = |event: Event| match event {
            Event::Log { message, .. } => Some(message),
            _ => None,
        };
        bench.journal.events().into_iter().filter_map(logged).collect()
    };
    for enforces in [true, false] {
        let provider = ScriptedProvider::obliging();
        let mut bench = Bench::new(Some(provider.clone()));
        bench.options.tables.get_mut("main").unwrap().enforces_grammars = enforces;
        bench.llm().complete("main", constrained(false), &site("t/s/0"), &SilentHost::default()).unwrap();
        let seen = provider.seen.lock().unwrap()[0].clone();
        assert_eq!(seen.constraint.is_some(), enforces);
        let notes = notes(&bench);
        assert_eq!(notes.len(), usize::from(!enforces), "{notes:?}");
        assert!(enforces || notes[0].contains("`main` goes without its grammar"), "{notes:?}");
        let again = bench.replay();
        again.llm().complete("main", constrained(false), &site("t/s/0"), &SilentHost::default()).unwrap();
    }
}

#[test]
fn a_required_grammar_fails_by_name_before_a_request_is_sent() {
    let provider = ScriptedProvider::obliging();
    let mut bench = Bench::new(Some(provider.clone()));
    let asked = |bench: &Bench| {
        bench.llm().complete("main", constrained(true), &site("t/s/0"), &SilentHost::default())
    };
    let failure = asked(&bench).failure();
    assert_eq!((failure.code.as_str(), failure.class), ("llm.no-grammar", FailureClass::Request));
    assert!(failure.message.contains("`scripted` of [llm.main]"), "{}", failure.message);
    assert_eq!(provider.count(), 0);
    bench.options.tables.get_mut("main").unwrap().enforces_grammars = true;
    asked(&bench).unwrap();
    assert!(provider.seen.lock().unwrap()[0].constraint.is_some());
}

fn path_of(event: &Event) -> Option<String> {
    match event {
        Event::Completion(CompletionEvent { path, .. }) => Some(path.clone()),
        _ => None,
    }
}

#[test]
fn a_server_that_gives_some_of_n_is_asked_for_the_rest_in_that_size() {
    let provider = ScriptedProvider::new(|_, r| Ok(replies(r, r.sampling.n.unwrap_or(1).min(2))));
    let bench = Bench::new(Some(provider.clone()));
    assert_eq!(ask(&bench.llm(), "q", 5).unwrap().len(), 5);
    let mut asked: Vec<_> = provider.seen.lock().unwrap().iter().map(|r| r.sampling.n).collect();
    asked.sort();
    assert_eq!(asked, [None, Some(2), Some(5)]);
}

#[test]
fn n_per_request_and_surplus_replies() {
    let provider = ScriptedProvider::new(|_, r| Ok(replies(r, r.sampling.n.unwrap_or(1) + 1)));
    let bench = Bench::with(Some(provider.clone()), |c| c.n_per_request = Some(2));
    assert_eq!(ask(&bench.llm(), "q", 3).unwrap().len(), 3, "what nobody asked for is not handed out");
    let mut asked: Vec<_> = provider.seen.lock().unwrap().iter().map(|r| r.sampling.n).collect();
    asked.sort();
    assert_eq!(asked, [None, Some(2)]);
}

#[test]
fn a_fixed_seed_moves_on_with_the_sample() {
    let provider = ScriptedProvider::new(|_, request| Ok(replies(request, 1)));
    let bench = Bench::with(Some(provider), |c| c.seed = Some(100));
    assert_eq!(ask(&bench.llm(), "q", 3).unwrap(), ["q|100|0", "q|101|0", "q|102|0"]);
}

#[test]
fn transient_failures_are_tried_again_and_others_are_not() {
    use Class as C;
    for (class, again) in [
        (C::Connection, true),
        (C::Timeout, true),
        (C::RateLimited, true),
        (C::Server, true),
        (C::Authentication, false),
        (C::NotFound, false),
        (C::BadRequest, false),
        (C::ContextOverflow, false),
        (C::Malformed, false),
    ] {
        let provider = ScriptedProvider::new(move |number, r| {
            Ok(if number < 2 { failure(class, None) } else { replies(r, 1) })
        });
        let bench = Bench::new(Some(provider.clone()));
        let llm = bench.llm();
        let end = ask(&llm, "q", 1);
        let retries = bench.journal.events().iter().filter(|e| matches!(e, Event::Retry { .. })).count();
        assert_eq!(end.is_ok(), again, "{class:?}");
        assert_eq!(provider.count(), if again { 3 } else { 1 }, "{class:?}");
        assert_eq!(retries, if again { 2 } else { 0 }, "{class:?}");
        assert_eq!(llm.usage()["main"].requests_sent, provider.count() as u64);
        if class == C::ContextOverflow {
            assert_eq!(end.failure().class, FailureClass::ContextOverflow);
        }
    }
}

#[test]
fn attempts_end_and_waits_grow() {
    let provider = ScriptedProvider::new(|_, _| Ok(failure(Class::Server, None)));
    let bench = Bench::with(Some(provider.clone()), |c| {
        c.max_attempts = 4;
        c.backoff_ms = 1_000;
    });
    let end = ask(&bench.llm(), "q", 1).failure();
    assert_eq!((end.class, end.code.as_str()), (FailureClass::Provider, "llm.server"));
    assert!(end.message.contains("after 4 attempts") && end.message.contains("scripted trouble"), "{end}");
    assert_eq!(provider.count(), 4);
    let waits = bench.clock.0.waits();
    assert_eq!(waits.len(), 3);
    for (wait, full) in waits.iter().zip([1_000, 2_000, 4_000]) {
        assert!((full / 2..=full).contains(&(wait.as_millis() as u64)), "{wait:?} of {full}");
    }
}

#[test]
fn retry_after_is_waited_for_and_capped() {
    let provider = ScriptedProvider::new(|number, r| {
        Ok(match number {
            0 => failure(Class::RateLimited, Some(9_000)),
            1 => failure(Class::RateLimited, Some(3_600_000)),
            _ => replies(r, 1),
        })
    });
    let bench = Bench::with(Some(provider), |c| {
        c.backoff_ms = 10;
        c.max_backoff_ms = 30_000;
    });
    ask(&bench.llm(), "q", 1).unwrap();
    assert_eq!(bench.clock.0.waits(), [Duration::from_secs(9), Duration::from_secs(30)]);
}

#[test]
fn a_wait_that_outlasts_the_deadline_is_not_begun() {
    struct Hurried;
    impl planforge_contract::api::Host for Hurried {
        fn log(&self, _: planforge_contract::api::LogLevel, _: &str) {}
        fn progress(&self, _: u64, _: u64, _: &str) {}
        fn cancelled(&self) -> bool {
            false
        }
        fn remaining_ms(&self) -> Option<u64> {
            Some(100)
        }
    }
    let provider = ScriptedProvider::new(|_, _| Ok(failure(Class::RateLimited, Some(5_000))));
    let bench = Bench::new(Some(provider.clone()));
    let end = bench.llm().complete("main", question("q", 1), &site("t/s/0"), &Hurried).failure();
    assert_eq!((end.code.as_str(), provider.count()), ("llm.rate-limited", 1));
    assert!(bench.clock.0.waits().is_empty());
}

/// A clock on which no time passes: a sleep ends only by an interruption.
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }
    fn sleep(&self, _: Duration, cancelled: &dyn Fn() -> bool) -> bool {
        while !cancelled() {
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }
}

#[test]
fn a_sleep_on_the_system_clock_polls_for_an_interruption() {
    let polls = Cell::new(0);
    let cancelled = || polls.replace(polls.get() + 1) == 3;
    assert!(!SystemClock::default().sleep(Duration::from_secs(3_600), &cancelled));
    assert_eq!(polls.get(), 4);
}

#[test]
fn an_interruption_wakes_sleepers_and_records_no_failure() {
    let provider = ScriptedProvider::new(|_, _| Ok(failure(Class::RateLimited, Some(60_000))));
    let mut bench = Bench::with(Some(provider.clone()), |c| c.max_concurrency = 1);
    bench.options.clock = Arc::new(StoppedClock);
    let llm = bench.llm();
    let host = SilentHost::default();
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4)
            .map(|i| {
                let (llm, host) = (&llm, &host);
                scope.spawn(move || llm.complete("main", question("q", 1), &site(&format!("t/s/{i}")), host))
            })
            .collect();
        while provider.count() == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        host.cancel();
        for call in calls {
            assert_eq!(call.join().unwrap().failure().class, FailureClass::Cancelled);
        }
    });
    assert!(provider.count() <= 4, "no call sends its request again");
    assert!(bench.journal.events().iter().all(|e| matches!(e, Event::Retry { .. })));
}

#[test]
fn no_more_requests_are_in_flight_than_the_table_allows() {
    let arrived = AtomicUsize::new(0);
    let provider = ScriptedProvider::new(move |_, r| {
        arrived.fetch_add(1, Ordering::SeqCst);
        // The first three must be in flight together; later ones stay for a moment, so that a fourth would be seen.
        while arrived.load(Ordering::SeqCst) < 3 {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(5));
        Ok(replies(r, 1))
    });
    let bench = Bench::with(Some(provider.clone()), |c| c.max_concurrency = 3);
    let llm = bench.llm();
    std::thread::scope(|scope| {
        for i in 0..16 {
            let llm = &llm;
            scope.spawn(move || {
                llm.complete("main", question("q", 2), &site(&format!("t/s/{i}")), &SilentHost::default())
                    .unwrap()
            });
        }
    });
    assert_eq!(provider.count(), 32);
    assert_eq!(provider.most_in_flight.load(Ordering::SeqCst), 3);
}

#[test]
fn a_rate_spaces_requests_evenly() {
    let provider = ScriptedProvider::obliging();
    let bench = Bench::with(Some(provider), |c| c.requests_per_minute = Some(30.0));
    let llm = bench.llm();
    for i in 0..3 {
        llm.complete("main", question("q", 1), &site(&format!("t/s/{i}")), &SilentHost::default()).unwrap();
    }
    assert_eq!(bench.clock.0.waits(), [Duration::from_secs(2), Duration::from_secs(2)]);
}

#[test]
fn a_request_that_waits_for_its_rate_goes_on_when_the_rate_is_raised() {
    let provider = ScriptedProvider::obliging();
    let mut bench = Bench::with(Some(provider.clone()), |c| c.requests_per_minute = Some(1.0));
    bench.options.clock = Arc::new(StoppedClock);
    let mut settings = bench.options.tables["main"].settings.clone();
    let (llm, host) = (bench.llm(), SilentHost::default());
    let complete = |path: &str| llm.complete("main", question("q", 1), &site(path), &host);
    complete("t/s/0").unwrap();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| complete("t/s/1"));
        settings.requests_per_minute = None;
        llm.set_limits("main", &settings).unwrap();
        second.join().unwrap().unwrap();
    });
    assert_eq!(provider.count(), 2);
}

#[test]
fn a_broken_provider_is_its_own_failure_and_is_not_tried_again() {
    let provider =
        ScriptedProvider::new(|_, _| Err(Failure::new(FailureClass::Plugin, "plugin.panic", "boom")));
    let bench = Bench::new(Some(provider.clone()));
    assert_eq!(ask(&bench.llm(), "q", 1).failure().code, "plugin.panic");
    assert_eq!(provider.count(), 1);
}

#[test]
fn senseless_questions_and_tables_are_refused() {
    let bench = Bench::new(Some(ScriptedProvider::obliging()));
    let llm = bench.llm();
    let host = SilentHost::default();
    let code = |name: &str, request| llm.complete(name, request, &site("t"), &host).failure().code;
    assert_eq!(code("other", question("q", 1)), "llm.unknown-model");
    assert_eq!(code("main", question("q", 0)), "llm.empty-request");
    let mut empty = question("q", 1);
    empty.messages.clear();
    assert_eq!(code("main", empty), "llm.empty-request");
    assert_eq!(ask(&Bench::new(None).llm(), "q", 1).failure().code, "llm.no-provider");
    let mut options = LlmOptions::new(Arc::new(MemoryJournal::default()) as Arc<dyn Journal>);
    let config = ModelSettings { max_attempts: 0, max_cost_usd: Some(1.0), ..ModelSettings::new("p", "") };
    options.tables.insert("main".into(), planforge_llm::ModelTable::new(config, None));
    let failure = Llm::new(options).unwrap_err();
    for key in ["llm.main.model", "llm.main.max_attempts", "llm.main.max_cost_usd"] {
        assert!(failure.message.contains(key), "{failure}");
    }
    let none = ScriptedProvider::new(|_, r| Ok(replies(r, 0)));
    assert_eq!(ask(&Bench::new(Some(none)).llm(), "q", 1).failure().code, "llm.no-reply");
}

#[test]
fn calls_of_one_plugin_call_have_their_own_paths() {
    let provider = ScriptedProvider::obliging();
    let bench = Bench::new(Some(provider.clone()));
    let llm = bench.llm();
    for call in 0..2 {
        let site = CallSite { path: "t/s/0".into(), call, role: "writer".into() };
        llm.complete("main", question("q", 1), &site, &SilentHost::default()).unwrap();
    }
    let seeds: Vec<_> = provider.seen.lock().unwrap().iter().map(|r| r.sampling.seed).collect();
    assert_ne!(seeds[0], seeds[1]);
    assert_eq!(provider.count(), 2);
}
