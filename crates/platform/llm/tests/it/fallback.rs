//! Roles with several tables in order: the fallback, its record, and that nothing is paid for twice.

use crate::common::{Bench, ScriptedProvider, UnansweredResult, ask_at, failure, order, replies, texts};
use planforge_contract::{CompletionResult, Failure, FailureClass, ProviderFailureClass as Class};
use planforge_llm::{Mode, RoleAnswer, RoleModels};
use planforge_record::{CompletionEvent, Event, Journal, comparable_events};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn always(class: Class) -> Arc<ScriptedProvider> {
    ScriptedProvider::new(move |_, _| Ok(failure(class, None)))
}

fn both() -> RoleModels {
    order(&["main", "backup"])
}

fn ask(bench: &Bench, text: &str) -> RoleAnswer {
    ask_at(&bench.llm(), &both(), &format!("t/s/{text}"), text, 2)
}

/// Tables that replied, in the order of the journal.
fn tables(bench: &Bench) -> Vec<String> {
    let told = |event: Event| match event {
        Event::Completion(CompletionEvent { llm, result: Some(_), .. }) => Some(llm),
        _ => None,
    };
    bench.journal.events().into_iter().filter_map(told).collect()
}

fn logs(bench: &Bench) -> Vec<String> {
    let told = |event: Event| match event {
        Event::Log { message, .. } => Some(message),
        _ => None,
    };
    bench.journal.events().into_iter().filter_map(told).collect()
}

/// Checks that a replay without a provider gives the same result and leaves the same journal.
fn replays(bench: &Bench, live: &RoleAnswer, text: &str) {
    let replay = bench.replay();
    let again = ask(&replay, text);
    assert_eq!(again, *live);
    assert_eq!(comparable_events(&replay.journal.events()), without_retries(bench));
    // What the replay left can be replayed itself.
    assert_eq!(ask(&replay.replay(), text), *live);
}

/// The journal without retries, which a replay does not have.
fn without_retries(bench: &Bench) -> String {
    let events = bench.journal.events();
    comparable_events(&events.into_iter().filter(|e| !matches!(e, Event::Retry { .. })).collect::<Vec<_>>())
}

#[test]
fn each_failure_of_a_server_is_followed_by_the_next_table_and_replays_the_same() {
    use Class as C;
    for (class, code) in [
        (C::Connection, "llm.connection"),
        (C::Timeout, "llm.timeout"),
        (C::RateLimited, "llm.rate-limited"),
        (C::Server, "llm.server"),
        (C::Authentication, "llm.authentication"),
        (C::NotFound, "llm.not-found"),
        (C::BadRequest, "llm.bad-request"),
        (C::ContextOverflow, "llm.context-overflow"),
        (C::Malformed, "llm.malformed"),
    ] {
        let (main, backup) = (always(class), ScriptedProvider::obliging());
        let bench = Bench::new(Some(main.clone())).table("backup", Some(backup.clone()), |_| {});
        let live = ask(&bench, "q");
        assert_eq!(texts(&live).len(), 2, "{class:?}");
        let attempts = if class.is_transient() { 5 } else { 1 };
        assert_eq!((main.count(), backup.count()), (attempts, 1), "{class:?}");
        assert_eq!(tables(&bench), ["backup"]);
        let [left] = &live.failed[..] else { panic!("{:?}", live.failed) };
        assert_eq!((left.llm.as_str(), left.next.as_deref()), ("main", Some("backup")));
        assert_eq!((left.code.as_str(), left.was_asked, left.samples), (code, true, 2));
        assert_eq!((live.answered[0].llm.as_str(), &live.answered[0].samples[..]), ("backup", &[0, 1][..]));
        let [log] = &logs(&bench)[..] else { panic!("{:?}", logs(&bench)) };
        assert!(log.contains("`main` is followed by `backup`") && log.contains(code), "{log}");
        replays(&bench, &live, "q");

        // A run that goes on takes the backup's answer, even where it would ask the first table again.
        let events = bench.journal.events();
        assert_eq!(ask(&bench, "q"), live);
        assert_eq!((main.count(), backup.count()), (attempts, 1), "{class:?}: nobody is asked twice");
        assert_eq!(bench.journal.events(), events, "a hit adds nothing");
    }
}

#[test]
fn an_answer_without_a_reply_and_a_broken_plugin_are_followed_and_an_interruption_is_not() {
    let empty = ScriptedProvider::new(|_, r| Ok(replies(r, 0)));
    let broken =
        ScriptedProvider::new(|_, _| Err(Failure::new(FailureClass::Plugin, "plugin.panic", "boom")));
    for (main, code) in [(empty, "llm.no-reply"), (broken, "plugin.panic")] {
        let bench = Bench::new(Some(main)).table("backup", Some(ScriptedProvider::obliging()), |_| {});
        let live = ask(&bench, "q");
        assert_eq!((live.failed[0].code.as_str(), texts(&live).len()), (code, 2));
        replays(&bench, &live, "q");
    }
    let later =
        ScriptedProvider::new(|_, _| Ok(CompletionResult::Pending { ticket: "1".into(), body: None }));
    let backup = ScriptedProvider::obliging();
    let bench = Bench::new(Some(later)).table("backup", Some(backup.clone()), |_| {});
    assert!(ask(&bench, "q").replies.is_deferred());

    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    let interrupted = ScriptedProvider::new(move |_, _| {
        seen.store(true, Ordering::SeqCst);
        Ok(failure(Class::Server, None))
    });
    let mut bench = Bench::new(Some(interrupted)).table("backup", Some(backup.clone()), |_| {});
    bench.options.cancelled = Arc::new(move || flag.load(Ordering::SeqCst));
    assert_eq!(ask(&bench, "q").replies.failure().class, FailureClass::Cancelled);
    let mut batch = Bench::new(None).table("backup", Some(backup.clone()), |_| {});
    batch.options.mode = Mode::Batch;
    assert!(ask(&batch, "q").replies.is_deferred());
    assert_eq!(backup.count(), 0, "none of these is a reason to ask somebody else");
}

#[test]
fn a_cap_on_the_first_moves_over_and_the_last_one_s_cap_ends_the_question() {
    let (main, backup) = (ScriptedProvider::obliging(), ScriptedProvider::obliging());
    let mut bench = Bench::with(Some(main.clone()), |c| c.max_calls = Some(1)).table(
        "backup",
        Some(backup.clone()),
        |c| {
            c.max_total_tokens = Some(50);
            c.max_tokens = Some(10);
        },
    );
    let llm = bench.llm();
    let answers: Vec<RoleAnswer> =
        (0..3).map(|i| ask_at(&llm, &both(), &format!("t/s/{i}"), "q", 2)).collect();
    assert_eq!(tables(&bench), ["main", "backup"]);
    assert!(answers[0].failed.is_empty());
    let [moved] = &answers[1].failed[..] else { panic!() };
    assert_eq!((moved.code.as_str(), moved.was_asked), ("llm.budget", false), "nobody's server was asked");
    let end = answers[2].replies.clone().failure();
    assert_eq!((end.class, end.code.as_str()), (FailureClass::Budget, "llm.budget"));
    assert!(end.message.contains("`max_total_tokens` of `backup`"), "{end}");
    assert!(end.message.ends_with("before it: `main` [llm.budget]"), "{end}");
    let usage = llm.usage();
    assert_eq!((usage["main"].answered_by_provider, usage["backup"].answered_by_provider), (1, 1));

    // A replay looks at no cap: who was asked is in the record.
    let replay = bench.replay();
    for role in replay.options.tables.values() {
        assert!(role.provider.is_none());
    }
    let again = replay.llm();
    for (i, answer) in answers.iter().enumerate() {
        assert_eq!(ask_at(&again, &both(), &format!("t/s/{i}"), "q", 2), *answer);
    }
    assert_eq!(comparable_events(&replay.journal.events()), without_retries(&bench));

    // With another cap the run goes on, with the first table where nobody answered.
    bench.options.tables.get_mut("main").unwrap().settings.max_calls = Some(9);
    let llm = bench.llm();
    let resumed: Vec<RoleAnswer> =
        (0..3).map(|i| ask_at(&llm, &both(), &format!("t/s/{i}"), "q", 2)).collect();
    assert_eq!(resumed[..2], answers[..2]);
    assert_eq!(resumed[2].answered[0].llm, "main");
    assert_eq!((main.count(), backup.count()), (2, 1));
}

#[test]
fn where_all_fail_the_last_one_s_failure_decides_and_names_the_others() {
    for (first, last, class) in [
        (Class::Server, Class::ContextOverflow, FailureClass::ContextOverflow),
        (Class::ContextOverflow, Class::Server, FailureClass::Provider),
    ] {
        let bench = Bench::new(Some(always(first))).table("backup", Some(always(last)), |_| {});
        let live = ask(&bench, "q");
        let end = live.replies.clone().failure();
        assert_eq!(end.class, class);
        assert!(end.message.contains("before it: `main` ["), "{end}");
        let to: Vec<_> = live.failed.iter().map(|left| (left.llm.as_str(), left.next.as_deref())).collect();
        assert_eq!(to, [("main", Some("backup")), ("backup", None)]);
        replays(&bench, &live, "q");
    }
}

#[test]
fn tables_with_the_same_model_are_told_apart_and_share_what_is_recorded_under_one_name() {
    let (main, backup) = (always(Class::Server), ScriptedProvider::obliging());
    let twin = |c: &mut planforge_llm::ModelSettings| c.model = "m".into();
    let bench = Bench::new(Some(main.clone())).table("backup", Some(backup.clone()), twin);
    let live = ask(&bench, "q");
    assert_eq!(live.answered[0].llm, "backup");
    replays(&bench, &live, "q");
    assert_eq!(ask(&bench, "q"), live);
    assert_eq!((main.count(), backup.count()), (5, 1));

    // A recording of one table serves a list that begins with another table of that model; the table is the list's.
    let old = Bench::new(Some(ScriptedProvider::obliging()));
    let recorded = ask_at(&old.llm(), &"main".into(), "t/s/q", "q", 2);
    let list = Bench::new(None).table("other", None, twin);
    let mut replay = list.replay();
    replay.options.cassettes = vec![Arc::clone(&old.journal) as _];
    let answer = ask_at(&replay.llm(), &order(&["other", "main"]), "t/s/q", "q", 2);
    assert_eq!(texts(&answer), texts(&recorded));
    assert_eq!((answer.answered[0].llm.as_str(), tables(&replay)), ("other", vec!["other".to_owned()]));
}

#[test]
fn only_what_a_table_did_not_answer_is_asked_of_the_next_in_its_own_sizes() {
    // One reply a request, and the second sample never comes.
    let main = ScriptedProvider::new(|_, r| {
        let second = planforge_llm::derive_seed(42, "t/s/q/0/1");
        Ok(if r.sampling.seed == Some(second) { failure(Class::BadRequest, None) } else { replies(r, 1) })
    });
    let backup = ScriptedProvider::obliging();
    let bench = Bench::with(Some(main.clone()), |c| c.n_per_request = Some(1)).table(
        "backup",
        Some(backup.clone()),
        |_| {},
    );
    let answer = ask_at(&bench.llm(), &both(), "t/s/q", "q", 3);
    let seeds: Vec<u64> = (0..3).map(|i| planforge_llm::derive_seed(42, &format!("t/s/q/0/{i}"))).collect();
    let expected: Vec<String> = seeds.iter().map(|seed| format!("q|{seed}|0")).collect();
    assert_eq!(texts(&answer), expected);
    let by: Vec<_> = answer.answered.iter().map(|a| (a.llm.as_str(), a.samples.clone())).collect();
    assert_eq!(by, [("main", vec![0, 2]), ("backup", vec![1])]);
    assert_eq!((main.count(), backup.count()), (3, 1));
    assert_eq!(ask_at(&bench.llm(), &both(), "t/s/q", "q", 3), answer);
    assert_eq!(ask_at(&bench.replay().llm(), &both(), "t/s/q", "q", 3), answer);
    assert_eq!((main.count(), backup.count()), (3, 1));
}

#[test]
fn a_table_whose_server_is_down_is_left_out_for_a_while_and_a_replay_does_the_same() {
    let up = Arc::new(AtomicBool::new(false));
    let is_up = Arc::clone(&up);
    let main = ScriptedProvider::new(move |_, r| {
        Ok(if is_up.load(Ordering::SeqCst) { replies(r, 2) } else { failure(Class::Connection, None) })
    });
    let backup = ScriptedProvider::obliging();
    let bench =
        Bench::with(Some(main.clone()), |c| c.rest_s = 1_000.0).table("backup", Some(backup.clone()), |_| {});
    let llm = bench.llm();
    let mut answers: Vec<RoleAnswer> = Vec::new();
    let asked = |answers: &mut Vec<RoleAnswer>| {
        answers.push(ask_at(&llm, &both(), &format!("t/s/{}", answers.len()), "q", 2));
        main.count()
    };
    let counts: Vec<usize> = (0..5).map(|_| asked(&mut answers)).collect();
    assert_eq!(counts, [5, 10, 15, 15, 15], "after three questions it is left out");
    let left = &answers[4].failed[0];
    assert_eq!(
        (left.code.as_str(), left.was_asked, left.next.as_deref()),
        ("llm.resting", false, Some("backup"))
    );
    bench.clock.0.sleep(std::time::Duration::from_secs(1_001));
    assert_eq!([asked(&mut answers), asked(&mut answers)], [20, 20], "one question tries again");
    bench.clock.0.sleep(std::time::Duration::from_secs(1_001));
    up.store(true, Ordering::SeqCst);
    assert_eq!([asked(&mut answers), asked(&mut answers)], [21, 22], "and finds it there");
    assert_eq!(answers[8].answered[0].llm, "main");
    assert_eq!(llm.usage()["main"].requests_sent, 22);

    let replay = bench.replay();
    let again = replay.llm();
    for (i, answer) in answers.iter().enumerate() {
        assert_eq!(ask_at(&again, &both(), &format!("t/s/{i}"), "q", 2), *answer, "question {i}");
    }
    assert_eq!(comparable_events(&replay.journal.events()), without_retries(&bench));
}

#[test]
fn the_last_table_of_a_list_is_always_asked_and_a_single_one_too() {
    for models in [RoleModels::from("backup"), both()] {
        let (main, backup) = (always(Class::Authentication), always(Class::Authentication));
        let bench = Bench::new(Some(main.clone())).table("backup", Some(backup.clone()), |_| {});
        let llm = bench.llm();
        for i in 0..8 {
            let end = ask_at(&llm, &models, &format!("t/s/{i}"), "q", 1).replies.failure();
            assert_eq!(end.code, "llm.authentication");
        }
        assert_eq!(backup.count(), 8);
        assert_eq!(main.count(), if models.has_several() { 3 } else { 0 });
    }
    let main = always(Class::Authentication);
    let bench = Bench::with(Some(main.clone()), |c| c.rest_after = 0).table(
        "backup",
        Some(ScriptedProvider::obliging()),
        |_| {},
    );
    let llm = bench.llm();
    (0..8).for_each(|i| drop(ask_at(&llm, &both(), &format!("t/s/{i}"), "q", 1)));
    assert_eq!(main.count(), 8, "rest_after = 0 never leaves it out");
}

#[test]
fn a_list_with_a_name_that_is_no_table_asks_nobody() {
    let main = ScriptedProvider::obliging();
    let bench = Bench::new(Some(main.clone()));
    for models in [order(&["main", "nobody"]), order(&[])] {
        let answer = ask_at(&bench.llm(), &models, "t/s/q", "q", 1);
        assert_eq!(answer.replies.failure().code, "llm.unknown-model");
    }
    assert_eq!(main.count(), 0);
}
