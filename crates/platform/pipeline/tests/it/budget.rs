//! Budget stages: what is decided, what is spent, when it ends, and that jobs, a crash and a replay change nothing.

use crate::common::*;
use planforge_contract::api::{Host, Provider, Translator, Verifier};
use planforge_contract::*;
use planforge_llm::{Clock, Llm, LlmOptions, Mode, ModelSettings, ModelTable};
use planforge_pipeline::*;
use planforge_record::{BudgetCost, BudgetEnd, CompletionEvent, Event, Journal, MemoryJournal, TaskVerdict};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SEARCH: &str = concat!(
    toml!(schema = 1 seed = 7),
    model!(main "scripted" price = { prompt = 1.0, completion = 1000.0 }),
    stage!(budget "search" by = "score.score" policy = "thompson" width = 1),
    table!("stage.budget" calls = 12),
    sample!(translate "domain" use = "translator-direct" roles = { writer = "main" }),
    round!(translate "update" use = "translator-direct" roles = { writer = "main" } feedback = ["score"]),
    judge!(verify "score" use = "verifier-val"),
);

/// With a critic before the writer of a round.
fn with_critic(text: &str) -> String {
    text.replacen(
        "[[stage.round]]",
        "[[stage.round]]\ndo = \"verify\"\nlabel = \"critique\"\nuse = \"verifier-ew\"\n[[stage.round]]",
        1,
    )
}

/// Writes the number in the reply as a problem; a reply that is a multiple of 11 cannot be used.
fn writes() -> Arc<dyn Translator> {
    Arc::new(Translate(|host: &dyn Host, request: &TranslateRequest| {
        let old = number(request.candidate.problem.as_deref().unwrap_or("0"));
        let text = format!("{} {old} {:?}", request.task.task_text, request.feedback);
        let request =
            CompletionRequest { messages: vec![Message::user(text)], ..CompletionRequest::default() };
        let replies = host.complete("writer", request)?;
        let drawn = number(&replies.replies[0].content);
        if drawn.is_multiple_of(11) {
            let failure = Failure::new(FailureClass::Reply, "test.nothing", format!("{drawn} is no PDDL"));
            return Ok(TranslateResponse { samples: vec![Outcome::Failure(failure)] });
        }
        // A new one is worth up to 40, and a rewritten one a little more or less than before.
        let value = match request_is_new(old) {
            true => 1 + drawn % 40,
            false => (old + drawn % 15).saturating_sub(5).max(1),
        };
        let patch = CandidatePatch { problem: Some(format!("({value})")), ..CandidatePatch::default() };
        Ok(TranslateResponse { samples: vec![Outcome::Ok(patch)] })
    }))
}

fn request_is_new(old: u64) -> bool {
    old == 0
}

/// A candidate's number in hundredths; accepts what reaches the goal.
fn scores(goal: u64) -> Arc<dyn Verifier> {
    Arc::new(Verify(move |_: &dyn Host, candidate: &Candidate, _: &VerifyRequest| {
        let value = number(candidate.problem.as_deref().unwrap_or_default());
        let decision = if value >= goal { Decision::Accepted } else { Decision::Rejected };
        let mut assessment = Assessment::new(decision, format!("worth {value}"));
        assessment.metrics.insert("score".into(), value as f64 / 100.0);
        assessment.feedback.push(format!("{value} is not enough"));
        Ok(assessment)
    }))
}

fn bench(text: &str, goal: u64) -> Bench {
    let mut bench = Bench::new(text);
    for (label, (_, instance)) in &mut bench.instances.stages {
        *instance = match label.as_str() {
            "domain" | "update" | "first" => StageInstance::Translator(writes()),
            _ => StageInstance::Verifier(scores(goal)),
        };
    }
    bench
}

fn budget(task: &TaskReport) -> &BudgetReport {
    task.stages.iter().find_map(|stage| stage.budget.as_ref()).expect("a budget stage")
}

/// The pulls of a journal: number, arm, reward, spent calls.
fn pulls(journal: &MemoryJournal) -> Vec<(u32, String, f64, BudgetCost)> {
    let pull = |event| match event {
        Event::BudgetPulled { pull, arm, reward, spent, .. } => Some((pull, arm, reward, spent)),
        _ => None,
    };
    journal.events().into_iter().filter_map(pull).collect()
}

#[test]
fn a_budget_is_spent_to_its_end_and_the_best_is_returned() {
    for policy in ["thompson", "ucb", "uniform"] {
        let text = SEARCH.replace("policy = \"thompson\"", &format!("policy = \"{policy}\""));
        let (report, journal) = bench(&text, 10_000).run(&tasks(1), 1);
        let task = &report.tasks[0];
        assert!(matches!(task.verdict, Some(TaskVerdict::Rejected { .. })), "{:?}", task.verdict);
        let budget = budget(task);
        assert_eq!((budget.end, budget.spent.calls), (BudgetEnd::Spent, 12), "{policy}");
        assert_eq!(budget.samples + budget.refinements, 12);
        assert!(budget.samples >= 2 && budget.refinements >= 2, "{policy}: {budget:?}");
        // What is returned is the best of all that was judged.
        let best = recorded_scores(&journal).into_iter().fold(0.0, f64::max);
        assert_eq!(budget.best_value, Some(best), "{policy}");
        let returned = &task.candidate.as_ref().unwrap().assessments["score"];
        assert_eq!((returned.metrics["score"], &budget.best), (best, &task.path), "{policy}");
        // Every call of the task was paid from the budget.
        assert_eq!(task.usage["main"].calls, 12);
        assert_eq!(
            budget.spent.tokens,
            task.usage["main"].prompt_tokens + task.usage["main"].completion_tokens
        );
        // Each decision is in the record with what it cost and brought.
        let pulls = pulls(&journal);
        let numbers: Vec<u32> = pulls.iter().map(|pull| pull.0).collect();
        assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
        assert_eq!(pulls[0].1, "new");
        assert!(pulls.iter().any(|pull| pull.1.starts_with("toys.p01/")), "nothing was refined");
        assert!(pulls.windows(2).all(|two| two[0].3.calls < two[1].3.calls));
        assert!(pulls.iter().all(|pull| (0.0..=1.0).contains(&pull.2)));
        // What broke is reported with its stage, and says nothing about the budget.
        assert!(task.stages.iter().any(|stage| !stage.failed.is_empty()), "every reply was good");
    }
}

fn recorded_scores(journal: &MemoryJournal) -> Vec<f64> {
    let read = |event| match event {
        Event::Assessed { stage, assessment, .. } if stage == "score" => {
            let found: Assessment = serde_json::from_slice(&journal.get(&assessment).unwrap()).unwrap();
            Some(found.metrics["score"])
        }
        _ => None,
    };
    journal.events().into_iter().filter_map(read).collect()
}

#[test]
fn it_ends_where_every_judge_accepts() {
    let (report, journal) = bench(SEARCH, 20).run(&tasks(1), 1);
    let task = &report.tasks[0];
    assert_eq!(task.verdict, Some(TaskVerdict::Accepted));
    let budget = budget(task);
    assert_eq!(budget.end, BudgetEnd::Accepted);
    assert!(budget.spent.calls < 12, "{budget:?}");
    let accepted =
        |event: &Event| matches!(event, Event::BudgetPulled { accepted: true, reward, .. } if *reward == 1.0);
    assert_eq!(journal.events().iter().filter(|event| accepted(event)).count(), 1);
    let last = journal.events().into_iter().rev().find(|e| matches!(e, Event::BudgetSpent { .. }));
    let Some(Event::BudgetSpent { end, spent, best, .. }) = last else { panic!("no end") };
    assert_eq!((end, spent, best), (BudgetEnd::Accepted, budget.spent, task.path.clone()));
}

#[test]
fn jobs_change_nothing_and_neither_does_a_replay() {
    for width in ["width = 1", "width = 4"] {
        let text = with_critic(SEARCH).replace("width = 1", width);
        let (one, _) = jobs_and_replays_change_nothing(|| bench(&text, 10_000), &tasks(3), &[16, 16]);
        assert_eq!(one.state, RunState::Finished);
    }
}

#[test]
fn a_crash_after_any_event_of_a_search_loses_nothing() {
    for width in ["width = 1", "width = 3"] {
        let text = with_critic(SEARCH).replace("width = 1", width).replace("calls = 12", "calls = 5");
        let events = crashes_lose_nothing(|| bench(&text, 10_000), &tasks(1));
        assert!(events.len() > 35, "{}", events.len());
    }
}

#[test]
fn another_seed_decides_otherwise() {
    let arms = |seed: &str| {
        let (_, journal) = bench(&SEARCH.replace("seed = 7", seed), 10_000).run(&tasks(2), 1);
        pulls(&journal).into_iter().map(|pull| pull.1).collect::<Vec<_>>()
    };
    assert_eq!(arms("seed = 7"), arms("seed = 7"));
    assert_ne!(arms("seed = 7"), arms("seed = 8"));
}

/// Every request has its own path in the record, though candidates form a tree.
#[test]
fn no_two_samples_share_a_path() {
    let (_, journal) = bench(&SEARCH.replace("calls = 12", "calls = 60"), 10_000).run(&tasks(1), 4);
    let paths: Vec<String> = journal
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Completion(CompletionEvent { path, .. }) => Some(path),
            _ => None,
        })
        .collect();
    assert_eq!(paths.len(), 60);
    assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), 60);
}

#[test]
fn tokens_and_money_end_at_most_one_pull_beyond_the_budget_for_each_side_by_side() {
    for (limits, width) in [("tokens = 700", 1), ("money = 0.05", 1), ("tokens = 900", 3)] {
        let text = SEARCH.replace("calls = 12", limits).replace("width = 1", &format!("width = {width}"));
        let (report, journal) = bench(&text, 10_000).run(&tasks(2), 2);
        for task in &report.tasks {
            let budget = budget(task);
            let share = |cost: &BudgetCost| match budget.limits.tokens {
                Some(most) => cost.tokens as f64 / most as f64,
                None => cost.money.unwrap() / budget.limits.money.unwrap(),
            };
            let costs: Vec<f64> = journal
                .events()
                .iter()
                .filter_map(|event| match event {
                    Event::BudgetPulled { task: of, cost, .. } if *of == task.task => Some(share(cost)),
                    _ => None,
                })
                .collect();
            let dearest = costs.iter().copied().fold(0.0, f64::max);
            let spent = share(&budget.spent);
            assert_eq!(budget.end, BudgetEnd::Spent, "{limits}");
            assert!((costs.iter().sum::<f64>() - spent).abs() < 1e-9);
            assert!(spent <= 1.0 + f64::from(width) * dearest, "{limits}: {spent}");
            // It did not end early either: not even two more pulls would have fitted.
            assert!(spent + 2.0 * f64::from(width) * dearest > 1.0, "{limits}: {spent} and {dearest}");
        }
    }
}

/// Tokens of a server that does not count are estimated, and the report shows it.
#[test]
fn what_a_server_does_not_count_is_estimated_and_never_free() {
    struct Silent(ScriptedProvider);
    impl Provider for Silent {
        fn complete(
            &self,
            host: &dyn Host,
            request: &CompletionRequest,
        ) -> Result<CompletionResult, Failure> {
            let mut answer = self.0.complete(host, request)?;
            if let CompletionResult::Replies(replies) = &mut answer {
                replies.usage = Usage::default();
            }
            Ok(answer)
        }
    }
    let bench = bench(&SEARCH.replace("calls = 12", "tokens = 400"), 10_000);
    let journal = Arc::new(MemoryJournal::default());
    let services = with_provider(&bench, &journal, Arc::new(Silent(ScriptedProvider::default())), None);
    let report = run(&bench.pipeline, &tasks(1), &services).unwrap();
    let budget = budget(&report.tasks[0]);
    assert_eq!(budget.end, BudgetEnd::Spent);
    assert_eq!(budget.spent.tokens, budget.spent.estimated_tokens);
    assert!((300..=500).contains(&budget.spent.tokens), "{:?}", budget.spent);
    let usage = &report.tasks[0].usage["main"];
    // The server counted nothing, and the report of its own counts does not pretend otherwise.
    assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.unmetered), (0, 0, usage.calls));
}

/// A server that is down: its failures are paid for, so the search ends, and the verdict is the failure.
#[test]
fn a_server_that_always_fails_ends_the_search() {
    struct Down;
    impl Provider for Down {
        fn complete(&self, _: &dyn Host, _: &CompletionRequest) -> Result<CompletionResult, Failure> {
            Ok(CompletionResult::ProviderFailure(ProviderFailure {
                class: ProviderFailureClass::Authentication,
                status: Some(401),
                message: "no".into(),
                retry_after_ms: None,
                usage: None,
            }))
        }
    }
    let bench = bench(SEARCH, 10_000);
    let journal = Arc::new(MemoryJournal::default());
    let services = with_provider(&bench, &journal, Arc::new(Down), None);
    let report = run(&bench.pipeline, &tasks(1), &services).unwrap();
    let task = &report.tasks[0];
    assert_eq!((budget(task).end, budget(task).spent.calls), (BudgetEnd::Spent, 12));
    assert_eq!((task.usage["main"].calls, task.usage["main"].failed), (0, 12));
    assert!(
        matches!(&task.verdict, Some(TaskVerdict::Failed { stage, .. }) if stage == "search"),
        "{:?}",
        task.verdict
    );
}

/// Pulls that spend nothing of what is limited do not go on for ever.
#[test]
fn free_pulls_end() {
    let quiet = Translate(|_: &dyn Host, _: &TranslateRequest| {
        let patch = CandidatePatch { problem: Some("(1)".into()), ..CandidatePatch::default() };
        Ok(TranslateResponse { samples: vec![Outcome::Ok(patch)] })
    });
    let quiet = StageInstance::Translator(Arc::new(quiet));
    let bench = bench(SEARCH, 10_000).stage("domain", quiet.clone()).stage("update", quiet);
    let (report, journal) = bench.run(&tasks(1), 1);
    let budget = budget(&report.tasks[0]);
    assert_eq!((budget.end, budget.spent.calls, budget.candidates), (BudgetEnd::Stalled, 0, 1));
    assert_eq!(pulls(&journal).len(), 16);
}

/// A clock that moves on with every question.
#[derive(Default)]
struct Ticking(AtomicU64);
impl Clock for Ticking {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
    fn sleep(&self, _: Duration, _: &dyn Fn() -> bool) -> bool {
        true
    }
}

struct Slow {
    inner: ScriptedProvider,
    clock: Arc<Ticking>,
    step: u64,
}
impl Provider for Slow {
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        self.clock.0.fetch_add(self.step, Ordering::SeqCst);
        self.inner.complete(host, request)
    }
}

/// The bench's services with another provider and, where one is given, another clock.
fn with_provider(
    bench: &Bench,
    journal: &Arc<MemoryJournal>,
    provider: Arc<dyn Provider>,
    clock: Option<Arc<Ticking>>,
) -> Services {
    let mut services = bench.services(Arc::clone(journal) as _, Vec::new(), Mode::Live, 1);
    let mut options = LlmOptions::new(Arc::clone(journal) as _);
    options.run_seed = bench.pipeline.config.seed;
    if let Some(clock) = clock {
        options.clock = clock;
    }
    let config = ModelSettings::new("provider-openai", "scripted");
    options.tables.insert("main".to_owned(), ModelTable::new(config, Some(provider)));
    services.llm = Arc::new(Llm::new(options).unwrap());
    services
}

#[test]
fn time_is_limited_by_what_was_recorded() {
    let text = SEARCH.replace("calls = 12", "seconds = 10.0");
    let live = |journal: &Arc<MemoryJournal>, step: u64| {
        let clock = Arc::new(Ticking::default());
        let slow = Slow { inner: ScriptedProvider::default(), clock: Arc::clone(&clock), step };
        let bench = bench(&text, 10_000);
        let services = with_provider(&bench, journal, Arc::new(slow), Some(clock));
        run(&bench.pipeline, &tasks(1), &services).unwrap()
    };
    let journal = Arc::new(MemoryJournal::default());
    let whole = live(&journal, 900);
    let budget_whole = budget(&whole.tasks[0]);
    assert_eq!(budget_whole.end, BudgetEnd::Spent);
    // Eleven pulls of 0.9 seconds fit into ten.
    assert_eq!(budget_whole.samples + budget_whole.refinements, 11);
    assert!((budget_whole.spent.seconds.unwrap() - 9.9).abs() < 1e-9);
    // A replay's clock stands still.
    let (replayed, _) = bench(&text, 10_000).replay(&journal, &tasks(1));
    assert_eq!(bytes(&whole), bytes(&replayed));
    // A run that goes on keeps the time that was recorded, on a machine three times as fast.
    let events = journal.events();
    for cut in (0..=events.len()).step_by(3).chain([events.len()]) {
        let torn = Arc::new(MemoryJournal::default());
        copy(&journal, &events[..cut], &torn);
        let resumed = live(&torn, 300);
        let ended = |events: &[Event]| {
            let pulled =
                |event: &&Event| matches!(event, Event::Effect { call, .. } if call == "budget.seconds");
            events.iter().filter(pulled).count()
        };
        let spent = budget(&resumed.tasks[0]).spent.seconds.unwrap();
        assert!(spent >= 0.9 * ended(&events[..cut]) as f64 - 1e-9 && spent <= 10.0, "cut {cut}: {spent}");
        if ended(&events[..cut]) == 11 {
            assert_eq!(bytes(&whole), bytes(&resumed), "cut after event {cut}");
        }
    }
    // A replay of a record without times says that they are missing.
    let timeless = Arc::new(MemoryJournal::default());
    let untimed: Vec<Event> = events.into_iter().filter(|e| !matches!(e, Event::Effect { .. })).collect();
    copy(&journal, &untimed, &timeless);
    let (report, _) = bench(&text, 10_000).replay(&timeless, &tasks(1));
    let Some(TaskVerdict::Failed { failure, .. }) = &report.tasks[0].verdict else {
        panic!("{:?}", report.tasks[0].verdict)
    };
    assert_eq!(failure.class, FailureClass::ReplayMiss);
}

const BEAM: &str = concat!(
    toml!(schema = 1 seed = 3),
    model!(main "scripted"),
    stage!(translate "first" use = "translator-direct" roles = { writer = "main" }),
);

/// Entered candidates are judged, returned if nothing better is found, and can be refined.
#[test]
fn what_came_in_takes_part() {
    let text = format!("{BEAM}{}", &SEARCH[SEARCH.find("[[stage]]").unwrap()..]);
    let refined_only = {
        let from = text.find("[[stage.sample]]").unwrap();
        let to = text.find("[[stage.round]]").unwrap();
        format!("{}{}", &text[..from], &text[to..])
    };
    for text in [text.as_str(), refined_only.as_str()] {
        let (report, journal) = bench(text, 10_000).run(&tasks(2), 2);
        for task in &report.tasks {
            let budget = budget(task);
            assert_eq!(budget.spent.calls, 12);
            assert_eq!(budget.samples == 0, text == refined_only);
            assert!(budget.refinements > 0);
            // The budget is the stage's own: what an earlier stage asked is not taken from it.
            assert_eq!(task.usage["main"].calls, 13);
        }
        assert_eq!(pulls(&journal).iter().filter(|pull| pull.0 == 0 && pull.1 == "entered").count(), 2);
    }
    // What is good enough as it came in costs nothing.
    let (report, _) = bench(&text, 1).run(&tasks(1), 1);
    let task = &report.tasks[0];
    assert_eq!((budget(task).end, budget(task).spent.calls), (BudgetEnd::Accepted, 0));
    assert_eq!(
        (&task.verdict, task.path.as_deref()),
        (&Some(TaskVerdict::Accepted), Some("toys.p01/first/0"))
    );
}

/// A critic that accepts a candidate ends its refinement, and the judges' verdict stands.
#[test]
fn a_candidate_that_its_critic_accepts_is_left_as_it_is() {
    let content = Verify(|_: &dyn Host, _: &Candidate, _: &VerifyRequest| {
        Ok(Assessment::new(Decision::Accepted, "nothing to say"))
    });
    let bench =
        bench(&with_critic(SEARCH), 10_000).stage("critique", StageInstance::Verifier(Arc::new(content)));
    let (report, journal) = bench.run(&tasks(1), 1);
    let task = &report.tasks[0];
    let budget = budget(task);
    // No refinement asked the writer for anything.
    let updates = task.stages.iter().find(|stage| stage.label == "update").unwrap();
    assert_eq!((updates.entered, u64::from(budget.samples)), (0, budget.spent.calls));
    // Each candidate was looked at once.
    let arms: Vec<String> =
        pulls(&journal).into_iter().map(|pull| pull.1).filter(|arm| arm != "new").collect();
    assert_eq!(arms.iter().collect::<BTreeSet<_>>().len(), arms.len());
    assert!(!arms.is_empty());
    // The critic's word inside of a round is no verdict on the task.
    assert!(matches!(&task.verdict, Some(TaskVerdict::Rejected { stage, .. }) if stage == "score"));
}

/// The reasons why a reply could not be used reach the next question about the same candidate.
#[test]
fn a_refinement_that_came_to_nothing_is_told_why() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let fails = Translate(move |host: &dyn Host, request: &TranslateRequest| {
        seen.lock().unwrap().push(request.feedback.join(" "));
        host.complete(
            "writer",
            CompletionRequest { messages: vec![Message::user("x")], ..CompletionRequest::default() },
        )?;
        let failure = Failure::new(FailureClass::Reply, "test.nothing", "a parenthesis is missing");
        Ok(TranslateResponse { samples: vec![Outcome::Failure(failure)] })
    });
    let bench = bench(SEARCH, 10_000).stage("update", StageInstance::Translator(Arc::new(fails)));
    let (report, _) = bench.run(&tasks(1), 1);
    let asked = asked.lock().unwrap();
    assert!(asked.iter().any(|feedback| feedback.contains("parenthesis is missing")), "{asked:?}");
    assert!(asked.iter().all(|feedback| feedback.contains("is not enough")));
    assert!(budget(&report.tasks[0]).best.is_some());
}

#[test]
fn pending_answers_park_the_task_and_as_many_questions_as_stand_side_by_side_are_asked() {
    let bench = bench(&SEARCH.replace("width = 1", "width = 3"), 10_000);
    let journal = Arc::new(MemoryJournal::default());
    let services = bench.services(Arc::clone(&journal) as _, Vec::new(), Mode::Batch, 2);
    let report = run(&bench.pipeline, &tasks(1), &services).unwrap();
    assert_eq!(report.state, RunState::Parked);
    assert!(pulls(&journal).is_empty());
    let begun = |e: &&Event| matches!(e, Event::StageStarted { stage, .. } if stage.starts_with("domain#"));
    assert_eq!(journal.events().iter().filter(begun).count(), 3);
}

/// Values beyond the range count as its end, and the report counts them.
#[test]
fn values_outside_of_the_range_are_told() {
    let text = SEARCH.replace("by = \"score.score\"", "by = \"score.score\"\nrange = [0.0, 0.1]");
    let (report, journal) = bench(&text, 10_000).run(&tasks(1), 1);
    let outside = recorded_scores(&journal).into_iter().filter(|value| *value > 0.1).count();
    assert!(outside > 0);
    assert_eq!(budget(&report.tasks[0]).outside as usize, outside);
}

#[test]
fn several_of_the_best_are_kept_best_first() {
    let text = SEARCH.replace("width = 1", "width = 1\nkeep = 3");
    let (report, journal) = bench(&text, 10_000).run(&tasks(1), 1);
    let task = &report.tasks[0];
    let stage = task.stages.iter().find(|stage| stage.kind == "budget").unwrap();
    assert_eq!(stage.left, 3);
    let best = recorded_scores(&journal).into_iter().fold(0.0, f64::max);
    assert_eq!(task.candidate.as_ref().unwrap().assessments["score"].metrics["score"], best);
}
