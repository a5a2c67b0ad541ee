//! Spending caps hold under concurrency, and unknown use never counts as zero.

use crate::common::{
    Bench, ScriptedProvider, UnansweredResult, ask, ask_at, failure, question, replies, site,
};
use planforge_contract::{CompletionResult, FailureClass, Price, ProviderFailureClass, Usage};
use planforge_llm::{Llm, RoleModels};
use planforge_testkit::SilentHost;
use std::time::Duration;

/// Sends `each` requests on sixteen threads. Returns the number of replies.
fn burst(llm: &Llm, each: usize) -> usize {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|t| {
                scope.spawn(move || {
                    (0..each)
                        .filter(|i| {
                            let end = llm.complete(
                                "main",
                                question("q", 1),
                                &site(&format!("t/s/{t}/{i}")),
                                &SilentHost::default(),
                            );
                            let is_ok = end.is_ok();
                            if !is_ok {
                                let failure = end.failure();
                                assert_eq!(
                                    (failure.class, failure.code.as_str()),
                                    (FailureClass::Budget, "llm.budget")
                                );
                            }
                            is_ok
                        })
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    })
}

fn slow() -> std::sync::Arc<ScriptedProvider> {
    ScriptedProvider::new(|_, r| {
        std::thread::sleep(Duration::from_millis(2));
        Ok(replies(r, 1))
    })
}

#[test]
fn a_burst_does_not_overshoot_the_cap_on_calls() {
    let provider = slow();
    let bench = Bench::with(Some(provider.clone()), |c| {
        c.max_calls = Some(20);
        c.max_concurrency = 16;
    });
    assert_eq!(burst(&bench.llm(), 5), 20);
    assert_eq!(provider.count(), 20);
}

#[test]
fn a_burst_does_not_overshoot_the_cap_on_tokens_and_uses_it_up() {
    // Each question reserves 1 + 16 + 50 tokens and uses 15.
    let provider = slow();
    let bench = Bench::with(Some(provider.clone()), |c| {
        c.max_total_tokens = Some(1_000);
        c.max_tokens = Some(50);
        c.max_concurrency = 16;
    });
    let llm = bench.llm();
    let answered = burst(&llm, 10);
    let usage = llm.usage()["main"].clone();
    let used = usage.prompt_tokens + usage.completion_tokens;
    assert_eq!(used, 15 * answered as u64);
    assert!(used <= 1_000, "{used}");
    assert!(used + 67 > 1_000, "the cap was used up: {used}");
}

#[test]
fn a_cap_on_cost_counts_both_prices() {
    let provider = slow();
    let bench = Bench::with(Some(provider), |c| {
        c.price = Price { prompt: Some(100_000.0), completion: Some(200_000.0), ..Price::default() };
        c.max_cost_usd = Some(10.0);
        c.max_tokens = Some(5);
    });
    let llm = bench.llm();
    // 10 * 0.1 + 5 * 0.2 = 2 dollars an answer, of 1.7 + 1 reserved: after four answers a fifth might pass the cap.
    assert_eq!(burst(&llm, 1), 4);
    assert_eq!(llm.usage()["main"].cost_usd, Some(8.0));
}

#[test]
fn silence_about_tokens_neither_lifts_a_cap_nor_reads_as_free() {
    let provider = ScriptedProvider::new(|_, r| {
        let CompletionResult::Replies(mut silent) = replies(r, 1) else { unreachable!() };
        silent.usage = Usage::default();
        Ok(CompletionResult::Replies(silent))
    });
    let bench = Bench::with(Some(provider.clone()), |c| {
        c.max_total_tokens = Some(100);
        c.max_tokens = Some(24);
        c.price = Price { prompt: Some(1.0), completion: Some(1.0), ..Price::default() };
    });
    let llm = bench.llm();
    assert_eq!(burst(&llm, 1), 2, "each is charged the 41 tokens it reserved");
    let usage = &llm.usage()["main"];
    assert_eq!((usage.cost_usd, usage.unmetered), (None, 2));
    // Neither does a session that goes on, before or after it looks them up.
    let resumed = bench.llm();
    assert_eq!(ask(&resumed, "further", 1).failure().class, FailureClass::Budget);
    assert_eq!((burst(&resumed, 1), provider.count()), (2, 2));
    assert_eq!(ask(&resumed, "further", 1).failure().class, FailureClass::Budget);
}

#[test]
fn answers_from_the_record_count_towards_the_caps_of_a_resumed_run() {
    let provider = ScriptedProvider::obliging();
    let bench = Bench::with(Some(provider.clone()), |c| c.max_calls = Some(2));
    ask(&bench.llm(), "a", 1).unwrap();
    ask(&bench.llm(), "b", 1).unwrap();
    let resumed = bench.llm();
    ask(&resumed, "a", 1).unwrap();
    ask(&resumed, "b", 1).unwrap();
    assert_eq!(ask(&resumed, "c", 1).failure().class, FailureClass::Budget);
    assert_eq!(provider.count(), 2);
    let usage = resumed.usage()["main"].clone();
    assert_eq!((usage.answered_by_record, usage.requests_sent, usage.prompt_tokens), (2, 0, 20));
}

/// A provider whose first two requests end so, and whose further ones are answered.
fn failing_twice(class: ProviderFailureClass) -> std::sync::Arc<ScriptedProvider> {
    ScriptedProvider::new(move |number, request| {
        Ok(if number < 2 { failure(class, None) } else { replies(request, 1) })
    })
}

#[test]
fn retries_that_may_have_been_charged_are_counted_with_the_question() {
    let main = RoleModels::Order(vec!["main".into()]);
    for (class, uncounted) in [(ProviderFailureClass::Timeout, Some(2)), (ProviderFailureClass::Server, None)]
    {
        let bench = Bench::new(Some(failing_twice(class)));
        let live = ask_at(&bench.llm(), &main, "t/s/0", "q", 1);
        let usage = live.answered[0].usage;
        assert_eq!((usage.requests, usage.uncounted_requests), (Some(3), uncounted), "{class:?}");
        assert_eq!(usage.is_metered(), uncounted.is_none());
        assert_eq!(ask_at(&bench.replay().llm(), &main, "t/s/0", "q", 1), live, "a replay counts the same");
    }
}

#[test]
fn the_requests_of_a_question_without_an_answer_are_counted() {
    let down = ScriptedProvider::new(|_, _| Ok(failure(ProviderFailureClass::Server, None)));
    let bench = Bench::with(Some(down), |c| c.max_attempts = 3);
    let main = RoleModels::Order(vec!["main".into()]);
    let live = ask_at(&bench.llm(), &main, "t/s/0", "q", 1);
    assert_eq!(live.failed_requests.get("main"), Some(&3));
    assert_eq!(ask_at(&bench.replay().llm(), &main, "t/s/0", "q", 1).failed_requests, live.failed_requests);
}

#[test]
fn a_resumed_run_is_charged_the_retries_of_earlier_sessions() {
    // A question is estimated at 1 + 16 + 24 tokens and uses 15; two attempts of unknown use come before the answer.
    let bench = Bench::with(Some(failing_twice(ProviderFailureClass::Timeout)), |c| {
        c.max_total_tokens = Some(130);
        c.max_tokens = Some(24);
    });
    ask(&bench.llm(), "q", 1).unwrap();
    assert_eq!(
        ask(&bench.llm(), "further", 1).failure().class,
        FailureClass::Budget,
        "41 + 41 + 15 are used"
    );
}

#[test]
fn a_cap_on_cost_counts_cached_tokens_without_a_price_as_fresh_ones() {
    let provider = ScriptedProvider::new(|_, r| {
        let CompletionResult::Replies(mut cached) = replies(r, 1) else { unreachable!() };
        cached.usage.cached_tokens = Some(10);
        Ok(CompletionResult::Replies(cached))
    });
    let bench = Bench::with(Some(provider), |c| {
        c.price = Price { prompt: Some(100_000.0), completion: Some(200_000.0), ..Price::default() };
        c.max_cost_usd = Some(10.0);
        c.max_tokens = Some(5);
    });
    let llm = bench.llm();
    assert_eq!(burst(&llm, 1), 4, "as many as without a cache");
    let usage = &llm.usage()["main"];
    assert_eq!((usage.cost_usd, usage.cost_known_usd), (None, Some(4.0)), "the cost itself is unknown");
}

#[test]
fn caps_of_a_run_in_progress_can_be_raised_and_never_below_what_is_used() {
    let provider = slow();
    let bench = Bench::with(Some(provider.clone()), |c| c.max_calls = Some(2));
    let llm = bench.llm();
    assert_eq!(burst(&llm, 1), 2);
    let mut settings = bench.options.tables["main"].settings.clone();
    settings.max_calls = Some(2);
    assert_eq!(llm.set_limits("main", &settings).unwrap_err().code, "llm.limit-too-low");
    settings.max_calls = Some(5);
    llm.set_limits("main", &settings).unwrap();
    for text in ["a", "b", "c"] {
        ask(&llm, text, 1).unwrap();
    }
    assert_eq!(ask(&llm, "d", 1).failure().class, FailureClass::Budget);
    assert_eq!(provider.count(), 5);
    settings.max_concurrency = 0;
    assert_eq!(llm.set_limits("main", &settings).unwrap_err().code, "llm.config");
    assert_eq!(llm.set_limits("other", &settings).unwrap_err().code, "llm.unknown-model");
}

/// A failure for which the server counted tokens.
fn billed(class: ProviderFailureClass, prompt: u64, completion: u64) -> CompletionResult {
    let CompletionResult::ProviderFailure(failure) = failure(class, None) else { unreachable!() };
    let usage =
        Usage { prompt_tokens: Some(prompt), completion_tokens: Some(completion), ..Usage::default() };
    CompletionResult::ProviderFailure(failure.with_usage(usage))
}

#[test]
fn tokens_of_unusable_answers_are_counted_and_a_replay_gives_the_same_sums() {
    // An outage with tokens, then an answer of 10 + 5; and an answer without a choice, for which 4,241 were billed.
    let provider = ScriptedProvider::new(|number, request| {
        Ok(match number {
            0 => billed(ProviderFailureClass::Server, 100, 7),
            1 => replies(request, 1),
            _ => billed(ProviderFailureClass::Malformed, 4_000, 241),
        })
    });
    let bench = Bench::with(Some(provider.clone()), |c| {
        c.max_total_tokens = Some(4_363);
        c.price = Price { prompt: Some(1.0), completion: Some(2.0), ..Price::default() };
    });
    let llm = bench.llm();
    let main = RoleModels::Order(vec!["main".into()]);
    let answered = ask_at(&llm, &main, "t/s/0", "q", 1);
    let usage = answered.answered[0].usage;
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(110), Some(12)));
    assert_eq!((usage.requests, usage.uncounted_requests), (Some(2), None));
    assert_eq!(ask(&llm, "lost", 1).failure().code, "llm.malformed");
    let sums = |llm: &Llm| {
        let usage = llm.usage()["main"].clone();
        (usage.prompt_tokens, usage.completion_tokens, usage.unmetered, usage.cost_usd)
    };
    let (prompt, completion, unmetered, cost) = sums(&llm);
    assert_eq!((prompt, completion, unmetered), (4_110, 253, 0));
    assert!((cost.unwrap() - (4_110.0 + 2.0 * 253.0) / 1e6).abs() < 1e-12);
    // The cap is reached by them, in this session and in a resumed one.
    assert_eq!(ask(&llm, "further", 1).failure().class, FailureClass::Budget);
    assert_eq!(ask(&bench.llm(), "further", 1).failure().class, FailureClass::Budget);
    assert_eq!(provider.count(), 3);
    let replay = bench.replay().llm();
    assert_eq!(ask_at(&replay, &main, "t/s/0", "q", 1), answered);
    assert_eq!(ask(&replay, "lost", 1).failure().code, "llm.malformed");
    assert_eq!(sums(&replay), sums(&llm));
}

#[test]
fn an_attempt_with_tokens_does_not_hide_one_without() {
    // 100 + 7 tokens, then a timeout, of which nobody knows, then the answer.
    let provider = ScriptedProvider::new(|number, request| {
        Ok(match number {
            0 => billed(ProviderFailureClass::Server, 100, 7),
            1 => failure(ProviderFailureClass::Timeout, None),
            _ => replies(request, 1),
        })
    });
    let bench = Bench::new(Some(provider));
    let main = RoleModels::Order(vec!["main".into()]);
    let usage = ask_at(&bench.llm(), &main, "t/s/0", "q", 1).answered[0].usage;
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(110), Some(12)));
    assert_eq!((usage.requests, usage.uncounted_requests, usage.is_metered()), (Some(3), Some(1), false));
}
