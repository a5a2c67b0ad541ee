//! Roles with weights: draws are fixed by the run's seed and the place, and neither time, threads nor crashes change an answer.

use crate::common::{Bench, ScriptedProvider, ask_at, failure, order, replies, texts, weights};
use planforge_contract::{CompletionRequest, ProviderFailureClass as Class};
use planforge_llm::{Llm, RoleAnswer, RoleModels};
use planforge_record::{CompletionEvent, Event, Journal, MemoryJournal, comparable_events};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A number that depends on a request alone.
fn number(request: &CompletionRequest) -> u64 {
    let text = format!("{} {:?}", request.model, request.sampling.seed);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)) >> 17
}

/// A server with random delays. Its replies depend on the request alone: some requests fail, and some get
/// fewer replies than asked.
fn moody(failing: u64) -> Arc<ScriptedProvider> {
    ScriptedProvider::new(move |count, request| {
        let number = number(request);
        std::thread::sleep(Duration::from_micros((number ^ count as u64).wrapping_mul(7_919) % 1_500));
        if number % 100 < failing {
            let classes = [Class::BadRequest, Class::Server, Class::ContextOverflow, Class::Malformed];
            return Ok(failure(classes[(number / 100 % 4) as usize], None));
        }
        let wanted = request.sampling.n.unwrap_or(1);
        let mut told = replies(request, (number / 7 % u64::from(wanted) + 1) as u32);
        if let planforge_contract::CompletionResult::Replies(told) = &mut told {
            told.replies
                .iter_mut()
                .for_each(|reply| reply.content.insert_str(0, &format!("{}: ", request.model)));
        }
        Ok(told)
    })
}

/// Three tables of moody servers, each with other settings. None ever rests, so that failures depend on
/// requests alone.
fn bench(provider: &Arc<ScriptedProvider>) -> Bench {
    let some = || Some(Arc::clone(provider));
    Bench::with(some(), |c| {
        c.rest_after = 0;
        c.max_attempts = 2;
    })
    .table("b", some(), |c| {
        c.rest_after = 0;
        c.max_attempts = 1;
        c.n_per_request = Some(2);
    })
    // The same model as `main`, as two servers may have it.
    .table("c", some(), |c| {
        c.rest_after = 0;
        c.max_attempts = 1;
        c.model = "m".into();
        c.n_per_request = Some(1);
    })
}

const QUESTIONS: usize = 12;

fn lists() -> [RoleModels; 2] {
    [weights(&[("main", 3.0), ("b", 2.0), ("c", 0.5)]), order(&["main", "b", "c"])]
}

/// All results, requested on that many threads.
fn all(llm: &Llm, models: &RoleModels, threads: usize) -> Vec<RoleAnswer> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let answers = std::sync::Mutex::new(vec![None; QUESTIONS]);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    if at >= QUESTIONS {
                        break;
                    }
                    let answer = ask_at(llm, models, &format!("t/s/{at}"), "q", 1 + at as u32 % 6);
                    answers.lock().unwrap()[at] = Some(answer);
                }
            });
        }
    });
    answers.into_inner().unwrap().into_iter().flatten().collect()
}

#[test]
fn threads_and_the_order_of_answers_change_nothing_with_weights_failures_and_missing_replies() {
    for models in lists() {
        let provider = moody(40);
        let one = bench(&provider);
        let answers = all(&one.llm(), &models, 1);
        let moved: usize = answers.iter().map(|a| a.failed.iter().filter(|l| l.next.is_some()).count()).sum();
        let failed = answers.iter().filter(|a| a.replies.is_err()).count();
        assert!(moved > 5 && failed < QUESTIONS / 2, "{moved} moved, {failed} failed: too little to compare");
        for _ in 0..3 {
            let many = bench(&provider);
            assert_eq!(all(&many.llm(), &models, 16), answers);
            assert_eq!(comparable_events(&many.journal.events()), comparable_events(&one.journal.events()));
        }
        let replay = one.replay();
        assert_eq!(all(&replay.llm(), &models, 5), answers);
        let told: Vec<Event> =
            one.journal.events().into_iter().filter(|e| !matches!(e, Event::Retry { .. })).collect();
        assert_eq!(comparable_events(&replay.journal.events()), comparable_events(&told));
    }
}

#[test]
fn a_crash_after_any_event_asks_nothing_again_that_was_answered_and_changes_no_answer() {
    for models in lists() {
        let whole = bench(&moody(40));
        let answers = all(&whole.llm(), &models, 1);
        let events = whole.journal.events();
        for kept in 0..=events.len() {
            let provider = moody(40);
            let mut rest = bench(&provider);
            rest.journal = Arc::new(MemoryJournal::default());
            copy(&whole.journal, &events[..kept], &rest.journal);
            rest.options.journal = Arc::clone(&rest.journal) as Arc<dyn Journal>;
            assert_eq!(all(&rest.llm(), &models, 4), answers, "after {kept} events");
            let answered = |events: &[Event]| -> Vec<String> {
                let key = |event: &Event| match event {
                    Event::Completion(CompletionEvent { key, result: Some(_), .. }) => Some(key.clone()),
                    _ => None,
                };
                events.iter().filter_map(key).collect()
            };
            let keys = answered(&rest.journal.events());
            let distinct: BTreeSet<&String> = keys.iter().collect();
            assert_eq!(distinct.len(), keys.len(), "after {kept} events something was answered twice");
        }
    }
}

/// Copies events with their blobs.
fn copy(from: &MemoryJournal, events: &[Event], to: &MemoryJournal) {
    for event in events {
        let text = serde_json::to_value(event).unwrap();
        for name in text.as_object().unwrap().values().filter_map(|v| v.as_str()).filter(|n| n.len() == 64) {
            if let Ok(blob) = from.get(name) {
                to.put(&blob).unwrap();
            }
        }
        to.append(event).unwrap();
    }
}

#[test]
fn samples_of_one_table_are_one_request_and_come_back_in_their_places() {
    let provider = ScriptedProvider::obliging();
    let bench = Bench::new(Some(provider.clone())).table("b", Some(provider.clone()), |_| {});
    let models = weights(&[("main", 1.0), ("b", 1.0)]);
    let answer = ask_at(&bench.llm(), &models, "t/s/0", "q", 8);
    assert_eq!(provider.count(), 2, "one request a table, so a prompt is paid for once a table");
    let told = texts(&answer);
    assert_eq!(told.len(), 8);
    let mut seen: Vec<u32> = Vec::new();
    for table in &answer.answered {
        let first = table.samples[0];
        let seed = planforge_llm::derive_seed(42, &format!("t/s/0/0/{first}"));
        for (place, sample) in table.samples.iter().enumerate() {
            assert_eq!(told[*sample as usize], format!("q|{seed}|{place}"));
        }
        seen.extend(&table.samples);
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..8).collect::<Vec<_>>());
    assert_eq!(answer.answered.len(), 2, "both were drawn");
    // The prefix of a larger question draws the same tables.
    let of = |answer: &RoleAnswer, sample: u32| {
        answer.answered.iter().find(|t| t.samples.contains(&sample)).unwrap().llm.clone()
    };
    let again = Bench::new(Some(provider.clone())).table("b", Some(provider), |_| {});
    let less = ask_at(&again.llm(), &models, "t/s/0", "q", 3);
    assert!((0..3).all(|sample| of(&less, sample) == of(&answer, sample)));
}

#[test]
fn another_seed_draws_otherwise_and_shares_keep_to_the_weights() {
    let provider = ScriptedProvider::obliging();
    let models = weights(&[("main", 3.0), ("b", 1.0)]);
    let drawn = |seed: u64| {
        let mut bench = Bench::new(Some(provider.clone())).table("b", Some(provider.clone()), |_| {});
        bench.options.run_seed = seed;
        let llm = bench.llm();
        let answers: Vec<RoleAnswer> =
            (0..100).map(|i| ask_at(&llm, &models, &format!("t/s/{i}"), "q", 4)).collect();
        answers
    };
    let count = |answers: &[RoleAnswer]| -> usize {
        answers.iter().flat_map(|a| &a.answered).filter(|t| t.llm == "main").map(|t| t.samples.len()).sum()
    };
    let (a, b) = (drawn(1), drawn(2));
    assert_ne!(
        a.iter().map(|x| &x.answered).collect::<Vec<_>>(),
        b.iter().map(|x| &x.answered).collect::<Vec<_>>()
    );
    // 400 draws at 3/4: four standard deviations are 35.
    assert!(count(&a).abs_diff(300) < 35 && count(&b).abs_diff(300) < 35, "{} {}", count(&a), count(&b));
}

#[test]
fn where_the_table_that_is_drawn_fails_the_others_follow() {
    let down = ScriptedProvider::new(|_, _| Ok(failure(Class::BadRequest, None)));
    let up = ScriptedProvider::obliging();
    let bench = Bench::new(Some(down)).table("b", Some(up.clone()), |_| {}).table("c", Some(up), |_| {});
    let models = weights(&[("main", 1.0), ("b", 1.0), ("c", 5.0)]);
    let llm = bench.llm();
    let mut followed = 0;
    for i in 0..60 {
        let answer = ask_at(&llm, &models, &format!("t/s/{i}"), "q", 1);
        assert!(answer.replies.is_ok());
        for left in answer.failed {
            assert_eq!((left.llm.as_str(), left.next.as_deref()), ("main", Some("c")), "the heavier one");
            followed += 1;
        }
    }
    assert!(followed > 0, "`main` was never drawn");
}
