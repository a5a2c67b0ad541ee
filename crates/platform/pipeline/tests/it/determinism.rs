//! The number of jobs, an interruption, a crash at any event, and a replay change nothing but the time.

use crate::common::*;
use planforge_contract::api::Host;
use planforge_contract::*;
use planforge_llm::Mode;
use planforge_pipeline::*;
use planforge_record::{CompletionEvent, Event, Journal, MemoryJournal, TaskVerdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const CHAIN: &str = concat!(
    toml!(schema = 1 seed = 7),
    model!(main "scripted"),
    stage!(translate "problem" use = "translator-direct" n = 4 roles = { writer = "main" }),
    stage!(verify "first" use = "verifier-val"),
    stage!(translate "again" use = "translator-direct" n = 3 apart = true roles = { writer = "main" } feedback = ["first"]),
    stage!(verify "ew" use = "verifier-val"),
    stage!(select by = "ew.score" keep = 2 group_by = "problem"),
    stage!(plan "plan" use = "planner-classical"),
    stage!(select by = "plan.steps" keep = 3 order = "lowest"),
);

#[test]
fn one_job_and_sixteen_give_the_same_bytes() {
    let chain = || Bench::new(CHAIN);
    let (one, journal_one) = jobs_and_replays_change_nothing(chain, &tasks(3), &[16, 16, 16]);
    assert_eq!(one.state, RunState::Finished);
    // What is compared is worth comparing.
    assert!(one.tasks.iter().any(|t| t.stages.iter().any(|s| !s.failed.is_empty())));
    let effects =
        journal_one.events().iter().filter(|e| matches!(e, Event::Effect { timed: true, .. })).count();
    assert!(effects > 0, "no outcome depended on time");
}

#[test]
fn another_seed_gives_other_replies() {
    let (a, _) = Bench::new(CHAIN).run(&tasks(1), 2);
    let (b, _) = Bench::new(&CHAIN.replace("seed = 7", "seed = 8")).run(&tasks(1), 2);
    assert_ne!(bytes(&a), bytes(&b));
}

#[test]
fn a_crash_after_any_event_loses_nothing_that_was_recorded() {
    let events = crashes_lose_nothing(|| Bench::new(CHAIN), &tasks(1));
    assert!(events.len() > 30, "{}", events.len());
}

#[test]
fn replay_needs_no_provider_and_gives_the_same_bytes() {
    let bench = Bench::new(CHAIN);
    let (live, journal) = bench.run(&tasks(2), 8);
    let asked = bench.provider.asked.load(Ordering::SeqCst);
    let (replayed, again) = bench.replay(&journal, &tasks(2));
    assert_eq!(bytes(&live), bytes(&replayed));
    assert_eq!(bench.provider.asked.load(Ordering::SeqCst), asked);
    let effects = |j: &MemoryJournal| {
        let key = |event| match event {
            Event::Effect { key, .. } | Event::Completion(CompletionEvent { key, .. }) => Some(key),
            _ => None,
        };
        let mut keys: Vec<String> = j.events().into_iter().filter_map(key).collect();
        keys.sort();
        keys
    };
    assert_eq!(effects(&journal), effects(&again));
}

const PLAN_ONLY: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true problem = true),
    stage!(plan "plan" use = "planner-classical" limits = { time_s = 1.5, memory_mb = 64, nodes = 1000 }),
);

fn plan_task() -> Vec<RunTask> {
    let mut tasks = tasks(1);
    tasks[0].view.given.problem = Some("(problem 4)".into());
    tasks
}

/// Answers with each of the outcomes in turn and counts.
fn in_turn(outcomes: Vec<PlanOutcome>) -> (StageInstance, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let planner = Plan(move |_: &dyn Host, request: &PlanRequest| {
        assert_eq!((request.limits.time_ms, request.limits.memory_bytes), (Some(1500), Some(64 << 20)));
        let n = counter.fetch_add(1, Ordering::SeqCst);
        Ok(outcomes[n.min(outcomes.len() - 1)].clone())
    });
    (StageInstance::Planner(Arc::new(planner)), count)
}

fn out_of_time() -> PlanOutcome {
    PlanOutcome::LimitReached {
        limit: LimitKind::Time,
        message: "out of time".into(),
        plans: Vec::new(),
        statistics: SearchStatistics::default(),
    }
}

#[test]
fn replay_takes_what_depended_on_time_from_the_record_and_recomputes_the_rest() {
    let plan = || one_plan(vec!["(go)".into()]);
    // Out of time when it was recorded; a faster machine would find a plan.
    let (instance, count) = in_turn(vec![out_of_time(), plan()]);
    let bench = Bench::new(PLAN_ONLY).stage("plan", instance);
    let (live, journal) = bench.run(&plan_task(), 1);
    assert!(matches!(live.tasks[0].verdict, Some(TaskVerdict::Undecided { .. })));
    assert_eq!(bytes(&live), bytes(&bench.replay(&journal, &plan_task()).0));
    assert_eq!(count.load(Ordering::SeqCst), 1);
    // A plan when it was recorded; a slower machine runs out of time, which says nothing against the record.
    let (instance, count) = in_turn(vec![plan(), out_of_time()]);
    let bench = Bench::new(PLAN_ONLY).stage("plan", instance);
    let (live, journal) = bench.run(&plan_task(), 1);
    assert_eq!(live.tasks[0].verdict, Some(TaskVerdict::Accepted));
    assert_eq!(bytes(&live), bytes(&bench.replay(&journal, &plan_task()).0));
    assert_eq!(count.load(Ordering::SeqCst), 2, "it was not recomputed");
    // A planner that answers otherwise is seen: its answer does not depend on time, so it is not taken from the record.
    let (instance, _) = in_turn(vec![plan(), one_plan(vec!["(stop)".into()])]);
    let bench = Bench::new(PLAN_ONLY).stage("plan", instance);
    let (live, journal) = bench.run(&plan_task(), 1);
    assert_ne!(bytes(&live), bytes(&bench.replay(&journal, &plan_task()).0));
    // Going on with a run searches nothing twice.
    let (instance, count) = in_turn(vec![plan(), out_of_time()]);
    let bench = Bench::new(PLAN_ONLY).stage("plan", instance);
    let (live, journal) = bench.run(&plan_task(), 1);
    assert_eq!(bytes(&live), bytes(&bench.run_on(&journal, &plan_task(), 1)));
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

const WORKER: &str = concat!(
    toml!(schema = 1),
    model!(main "scripted"),
    stage!(translate "problem" use = "translator-asp" n = 2 roles = { writer = "main" }),
);

/// A translator with a child process, which answers with each of these in turn; one question a sample.
fn with_worker(answers: Vec<Result<String, Failure>>) -> (Bench, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let translator = Translate(move |host: &dyn Host, request: &TranslateRequest| {
        let sample = |sample: u32| {
            let ask = || {
                let n = counter.fetch_add(1, Ordering::SeqCst);
                answers[n.min(answers.len() - 1)].clone()
            };
            let answer = host.worker_through(&format!("job {sample}"), &ask);
            answer.map(|a| CandidatePatch { problem: Some(a), ..CandidatePatch::default() }).into()
        };
        Ok(TranslateResponse { samples: (0..request.n).map(sample).collect() })
    });
    (Bench::new(WORKER).stage("problem", StageInstance::Translator(Arc::new(translator))), count)
}

fn too_slow() -> Result<String, Failure> {
    Err(Failure::new(FailureClass::Limit, "host.worker-limit", "out of time"))
}

#[test]
fn a_limit_of_a_child_process_comes_from_the_record_and_its_answers_are_recomputed() {
    // Out of time when it was recorded; a faster machine would answer.
    let (bench, count) = with_worker(vec![too_slow(), Ok("(a)".into())]);
    let (live, journal) = bench.run(&tasks(1), 1);
    assert_eq!(live.tasks[0].stages[0].failed.len(), 1);
    let timed: Vec<bool> = journal
        .events()
        .iter()
        .filter_map(|e| match e {
            Event::Effect { timed, .. } => Some(*timed),
            _ => None,
        })
        .collect();
    assert_eq!(timed, [true, false]);
    assert_eq!(bytes(&live), bytes(&bench.replay(&journal, &tasks(1)).0));
    assert_eq!(count.load(Ordering::SeqCst), 3, "one limit from the record, one answer recomputed");
    // Answers when it was recorded; a slower machine's limit says nothing against the record.
    let (bench, _) = with_worker(vec![Ok("(a)".into()), Ok("(b)".into()), too_slow()]);
    let (live, journal) = bench.run(&tasks(1), 1);
    assert_eq!(bytes(&live), bytes(&bench.replay(&journal, &tasks(1)).0));
    // An answer that is another one is seen.
    let (bench, _) = with_worker(vec![Ok("(a)".into()), Ok("(b)".into()), Ok("(c)".into())]);
    let (live, journal) = bench.run(&tasks(1), 1);
    assert_ne!(bytes(&live), bytes(&bench.replay(&journal, &tasks(1)).0));
    // Going on with a run asks nothing twice.
    let (bench, count) = with_worker(vec![Ok("(a)".into())]);
    let (live, journal) = bench.run(&tasks(1), 1);
    assert_eq!(bytes(&live), bytes(&bench.run_on(&journal, &tasks(1), 1)));
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[test]
fn replay_without_the_record_is_a_failure_and_no_verdict_about_the_candidate() {
    let bench = Bench::new(CHAIN);
    let (report, _) = bench.replay(&Arc::new(MemoryJournal::default()), &tasks(1));
    match &report.tasks[0].verdict {
        Some(TaskVerdict::Failed { stage, failure }) => {
            assert_eq!((stage.as_str(), failure.class), ("problem", FailureClass::ReplayMiss));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_interrupted_run_says_so_and_goes_on_later() {
    let (whole, whole_journal) = Bench::new(CHAIN).run(&tasks(3), 2);
    for at in [1, 2, 5, 9] {
        let mut bench = Bench::new(CHAIN);
        let cancelled = Arc::clone(&bench.cancelled);
        bench.provider =
            Arc::new(ScriptedProvider { cancel_at: Some((at, cancelled)), ..ScriptedProvider::default() });
        let (report, journal) = bench.run(&tasks(3), 2);
        assert_eq!(report.state, RunState::Interrupted, "at {at}");
        assert!(report.tasks.iter().any(|t| t.verdict.is_none()));
        let last = journal.events().pop().unwrap();
        assert!(matches!(&last, Event::SessionFinished { state, .. } if state == "interrupted"), "{last:?}");
        let resumed = Bench::new(CHAIN).run_on(&journal, &tasks(3), 2);
        assert_eq!(bytes(&whole), bytes(&resumed), "at {at}");
        assert_eq!(story(&whole_journal), story(&journal), "at {at}");
    }
}

#[test]
fn what_an_interruption_cut_short_is_not_recorded_as_a_limit() {
    let flag = Arc::new(std::sync::Mutex::new(None::<Arc<std::sync::atomic::AtomicBool>>));
    let set = Arc::clone(&flag);
    let interrupted = Plan(move |_: &dyn Host, _: &PlanRequest| {
        if let Some(flag) = set.lock().unwrap().as_ref() {
            flag.store(true, Ordering::SeqCst);
        }
        Ok(out_of_time())
    });
    let bench = Bench::new(PLAN_ONLY).stage("plan", StageInstance::Planner(Arc::new(interrupted)));
    *flag.lock().unwrap() = Some(Arc::clone(&bench.cancelled));
    let (report, journal) = bench.run(&plan_task(), 1);
    assert_eq!((report.state, &report.tasks[0].verdict), (RunState::Interrupted, &None));
    assert!(!journal.events().iter().any(|e| matches!(e, Event::Effect { .. } | Event::SampleFailed { .. })));
}

#[test]
fn pending_answers_park_the_task_and_the_other_questions_are_still_asked() {
    let bench = Bench::new(CHAIN);
    let journal = Arc::new(MemoryJournal::default());
    let services = bench.services(Arc::clone(&journal) as _, Vec::new(), Mode::Batch, 2);
    let report = run(&bench.pipeline, &tasks(2), &services).unwrap();
    assert_eq!(report.state, RunState::Parked);
    assert!(report.tasks.iter().all(|t| t.verdict.is_none()));
    assert!(
        !journal
            .events()
            .iter()
            .any(|e| matches!(e, Event::TaskFinished { .. } | Event::SampleFailed { .. }))
    );
}
