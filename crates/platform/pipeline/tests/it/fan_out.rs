//! From the lead task to the suite's others, answers from outside, and in-context examples from another suite.

use crate::common::*;
use planforge_contract::api::{Environment, EnvironmentCall, Host};
use planforge_contract::*;
use planforge_llm::Mode;
use planforge_pipeline::*;
use planforge_record::{Event, Journal, MemoryJournal, TaskVerdict};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const SPREAD: &str = concat!(
    toml!(schema = 1 seed = 3),
    model!(main "m"),
    stage!(translate "problem" use = "translator-direct" n = 2 roles = { writer = "main" }),
    stage!(refine "refine" rounds = 1 by = "early.score" forget = ["domain"]),
    round!(translate "domain" use = "translator-direct" roles = { writer = "main" }),
    round!(verify "early" use = "verifier-val"),
    stage!(fan_out "others"),
    stage!(translate "rest" use = "translator-direct" n = 2 roles = { writer = "main" } only_without = "problem"),
    stage!(verify "figures" use = "verifier-val" measure = true),
    stage!(verify "final" use = "verifier-val"),
);

/// `task: problem, domain, lead text, lead problem` of every question.
type SeenRequests = Arc<Mutex<Vec<String>>>;

fn writes(what: &'static str, seen: &SeenRequests) -> StageInstance {
    let seen = Arc::clone(seen);
    StageInstance::Translator(Arc::new(Translate(move |_: &dyn Host, request: &TranslateRequest| {
        let (task, candidate) = (&request.task, &request.candidate);
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        seen.lock().unwrap().push(format!(
            "{what} for {}: {}, {}, {}, {}",
            task.task,
            text(&candidate.problem),
            text(&candidate.domain),
            text(&task.materials.lead.text),
            text(&task.materials.lead.problem)
        ));
        assert!(what != "rest" || candidate.conversation.is_empty(), "the lead's conversation is forgotten");
        let patch = |i: u32| {
            let text = format!("{what} {i} of {}", task.task);
            let mut patch =
                CandidatePatch { messages: vec![Message::user("?")], ..CandidatePatch::default() };
            match what {
                "domain" => {
                    patch.domain = Some(format!("{text} for {}", candidate.problem.as_deref().unwrap()))
                }
                _ => patch.problem = Some(text),
            }
            patch
        };
        Ok(TranslateResponse { samples: (0..request.n).map(|i| Outcome::Ok(patch(i))).collect() })
    })))
}

/// Rejects, with a metric.
fn says_no() -> StageInstance {
    StageInstance::Verifier(Arc::new(Verify(|_: &dyn Host, _: &Candidate, _: &VerifyRequest| {
        let mut assessment = Assessment::new(Decision::Rejected, "not perfect");
        assessment.metrics.insert("score".into(), 0.5);
        Ok(assessment)
    })))
}

/// Accepts unless the problem is a certain one.
fn accepts_but(bad: &'static str) -> StageInstance {
    StageInstance::Verifier(Arc::new(Verify(
        move |_: &dyn Host, candidate: &Candidate, _: &VerifyRequest| {
            let problem = candidate.problem.as_deref().unwrap_or_default();
            let decision = if problem.contains(bad) { Decision::Rejected } else { Decision::Accepted };
            Ok(Assessment::new(decision, format!("judged {problem}")))
        },
    )))
}

fn spread(text: &str, bad: &'static str) -> (Bench, SeenRequests) {
    let seen = SeenRequests::default();
    let bench = Bench::new(text)
        .stage("problem", writes("problem", &seen))
        .stage("domain", writes("domain", &seen))
        .stage("rest", writes("rest", &seen))
        .stage("early", says_no())
        .stage("figures", says_no())
        .stage("final", accepts_but(bad));
    (bench, seen)
}

/// Tasks whose domain is withheld.
fn withheld(n: usize) -> Vec<RunTask> {
    let mut tasks = tasks(n);
    for task in &mut tasks {
        task.view.given.domain = None;
    }
    tasks
}

#[test]
fn the_others_start_from_the_survivors_of_the_lead() {
    let (bench, seen) = spread(SPREAD, "of p03");
    let (report, journal) = bench.run(&withheld(3), 4);
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    let lead = "task 1, problem 0 of p01";
    let second = "task 1, problem 1 of p01";
    assert_eq!(
        seen,
        [
            "domain for p01: problem 0 of p01, -, -, -".to_owned(),
            "domain for p01: problem 1 of p01, -, -, -".to_owned(),
            "problem for p01: -, -, -, -".to_owned(),
            format!("rest for p02: -, domain 0 of p01 for problem 0 of p01, {lead}"),
            format!("rest for p02: -, domain 0 of p01 for problem 1 of p01, {second}"),
            format!("rest for p03: -, domain 0 of p01 for problem 0 of p01, {lead}"),
            format!("rest for p03: -, domain 0 of p01 for problem 1 of p01, {second}"),
        ]
    );
    // The reports are in the order of the tasks. Verdicts come from the stages behind the fan-out: the round had rejected the
    // lead's domain, and so does a measurement.
    let verdicts: Vec<(&str, &str)> =
        report.tasks.iter().map(|t| (t.stem.as_str(), t.verdict.as_ref().unwrap().name())).collect();
    assert_eq!(verdicts, [("p01", "accepted"), ("p02", "accepted"), ("p03", "rejected")]);
    assert_eq!(report.tasks[0].path.as_deref(), Some("toys.p01/domain#1/0.0"));
    assert_eq!(report.tasks[1].path.as_deref(), Some("toys.p02/rest/0.0"));
    let candidate = report.tasks[1].candidate.as_ref().unwrap();
    assert_eq!(candidate.lineage[0], LineageStep { stage: "others".into(), sample: 0 });
    assert_eq!(candidate.domain.as_deref(), Some("domain 0 of p01 for problem 0 of p01"));
    let labels = |i: usize| report.tasks[i].stages.iter().map(|s| s.label.clone()).collect::<Vec<_>>();
    assert_eq!(labels(0), ["problem", "refine", "domain", "early", "others", "rest", "figures", "final"]);
    assert_eq!(labels(1), ["others", "rest", "figures", "final"]);
    // The lead has a problem already.
    assert_eq!(report.tasks[0].stages[5].outcomes["passed"], 2);
    assert!(journal.events().iter().any(|e| matches!(e, Event::TaskStarted { task } if task == "toys.p03")));
}

#[test]
fn another_lead_is_named_and_a_task_alone_leads_itself() {
    let named = SPREAD.replace("label = \"others\"", "label = \"others\"\nlead = \"p02\"");
    let (bench, seen) = spread(&named, "none");
    let (report, _) = bench.run(&withheld(3), 2);
    let stems: Vec<&str> = report.tasks.iter().map(|t| t.stem.as_str()).collect();
    assert_eq!(stems, ["p01", "p02", "p03"]);
    assert!(seen.lock().unwrap().iter().any(|s| s.starts_with("rest for p01: -, domain 0 of p02")));
    let (bench, seen) = spread(&named, "none");
    let (report, _) = bench.run(&withheld(1), 2);
    assert_eq!(report.tasks[0].verdict, Some(TaskVerdict::Accepted));
    assert!(seen.lock().unwrap().iter().all(|s| !s.starts_with("rest")));
}

#[test]
fn each_suite_has_a_lead_of_its_own() {
    let mut all = withheld(2);
    for mut task in withheld(2) {
        task.name = task.name.replace("toys", "balls");
        task.view.suite = "balls".into();
        task.reference.suite = "balls".into();
        task.view.task_text = "balls".into();
        all.insert(0, task);
    }
    let (bench, seen) = spread(SPREAD, "none");
    let (report, _) = bench.run(&all, 3);
    let names: Vec<&str> = report.tasks.iter().map(|t| t.task.as_str()).collect();
    assert_eq!(names, ["balls.p02", "balls.p01", "toys.p01", "toys.p02"]);
    let seen = seen.lock().unwrap();
    assert!(
        seen.iter().any(|s| s.starts_with("rest for p01: -, domain 0 of p02") && s.contains(", balls, "))
    );
    assert!(
        seen.iter().any(|s| s.starts_with("rest for p02: -, domain 0 of p01") && s.contains(", task 1, "))
    );
}

/// A translator that always breaks.
fn breaks(class: FailureClass) -> StageInstance {
    StageInstance::Translator(Arc::new(Translate(move |_: &dyn Host, _: &TranslateRequest| {
        Err(Failure::new(class, "test.broke", "it broke"))
    })))
}

#[test]
fn a_lead_without_survivors_leaves_the_others_undecided_or_failed_and_never_rejected() {
    let verdicts = |class| {
        let (bench, _) = spread(SPREAD, "none");
        let (report, _) = bench.stage("problem", breaks(class)).run(&withheld(3), 2);
        report.tasks.into_iter().map(|t| t.verdict.unwrap()).collect::<Vec<_>>()
    };
    let (failed, unusable) = (verdicts(FailureClass::Provider), verdicts(FailureClass::Reply));
    for other in failed[1..].iter().chain(&unusable[1..]) {
        let (TaskVerdict::Failed { stage, failure } | TaskVerdict::Unusable { stage, failure }) = other
        else {
            panic!("{other:?}")
        };
        assert_eq!(other.name(), if failure.class == FailureClass::Reply { "unusable" } else { "failed" });
        assert_eq!((stage.as_str(), failure.code.as_str()), ("others", "pipeline.lead"));
        assert!(failure.message.contains("`toys.p01`"), "{}", failure.message);
    }
    let undecided = verdicts(FailureClass::Limit);
    assert!(
        undecided[1..].iter().all(|v| matches!(v, TaskVerdict::Undecided { stage, .. } if stage == "others"))
    );
    let (bench, _) = spread(SPREAD, "none");
    let pending = Translate(|_: &dyn Host, _: &TranslateRequest| Err(Failure::deferred("later")));
    let (report, _) =
        bench.stage("domain", StageInstance::Translator(Arc::new(pending))).run(&withheld(2), 2);
    assert_eq!(report.state, RunState::Parked);
    assert!(report.tasks.iter().all(|t| t.verdict.is_none()));
}

/// The usual scripted plugins: the model's replies are recorded.
fn recorded_bench() -> Bench {
    let domains = Translate(|host: &dyn Host, request: &TranslateRequest| {
        let mut response = writer().translate(host, request)?;
        for sample in &mut response.samples {
            if let Outcome::Ok(patch) = sample {
                patch.domain = patch.problem.take();
            }
        }
        Ok(response)
    });
    Bench::new(SPREAD).stage("domain", StageInstance::Translator(Arc::new(domains)))
}

#[test]
fn jobs_a_crash_and_a_replay_change_nothing() {
    let (whole, _) = jobs_and_replays_change_nothing(recorded_bench, &withheld(3), &[16]);
    assert_eq!(whole.state, RunState::Finished);
    crashes_lose_nothing(recorded_bench, &withheld(3));
}

/// Counts its requests and returns a different answer each time; breaks if it is to describe a state.
struct Outside(Arc<AtomicUsize>);
impl Outside {
    fn number(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}
impl Environment for Outside {
    fn describe(&self, _: &dyn Host, _: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        Ok(EnvironmentInfo::default())
    }
    fn walks(&self, _: &dyn Host, _: &EnvironmentOpen, _: &WalkSpec) -> Result<Walks, Failure> {
        Ok(Walks { walks: vec![vec![format!("(step{})", self.number())]] })
    }
    fn execute(&self, _: &dyn Host, _: &EnvironmentOpen, _: &Sequences) -> Result<ExecutionReport, Failure> {
        Ok(ExecutionReport::default())
    }
    fn validate(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        _: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        let reasons = vec![self.number().to_string()];
        Ok(EnvironmentVerdict { valid: true, reasons, ..EnvironmentVerdict::default() })
    }
    fn describe_state(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        _: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        Err(Failure::new(FailureClass::System, "test.died", format!("it died {}", self.number())))
    }
}

const OUTSIDE: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true),
    table!("environment" use = "environment-pddl"),
    stage!(verify "judge" use = "verifier-val"),
);

/// Makes three requests to the environment and returns its answers.
fn asks() -> StageInstance {
    StageInstance::Verifier(Arc::new(Verify(|host: &dyn Host, _: &Candidate, _: &VerifyRequest| {
        let walks = host.environment(EnvironmentCall::Walks(WalkSpec::default()))?;
        let plan = host.environment(EnvironmentCall::Validate(EnvironmentPlan::default()))?;
        let state = host.environment(EnvironmentCall::DescribeState(StateQuery::default()));
        let mut assessment = Assessment::new(Decision::Accepted, format!("{walks:?} {plan:?} {state:?}"));
        assessment.metrics.insert("score".into(), 1.0);
        Ok(assessment)
    })))
}

fn outside(external: Applies) -> (Bench, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let mut bench = Bench::new(OUTSIDE).stage("judge", asks());
    let mut about = info("environment-pddl", PluginKind::Environment, &[], &[]);
    about.capabilities.external = external;
    bench.instances.environment = Some((about, Arc::new(Outside(Arc::clone(&count)))));
    (bench, count)
}

#[test]
fn a_program_outside_is_never_asked_twice() {
    let (bench, count) = outside(Applies::Always);
    let (live, journal) = bench.run(&tasks(2), 2);
    assert_eq!(count.load(Ordering::SeqCst), 6);
    // What broke is part of what happened as well.
    assert!(live.tasks[0].candidate.as_ref().unwrap().assessments["judge"].summary.contains("it died"));
    assert_eq!(bytes(&live), bytes(&bench.run_on(&journal, &tasks(2), 1)));
    assert_eq!(bytes(&live), bytes(&bench.replay(&journal, &tasks(2)).0));
    assert_eq!(count.load(Ordering::SeqCst), 6);
    // A crash between the answers loses none of them.
    let events = journal.events();
    for cut in 0..=events.len() {
        let torn = Arc::new(MemoryJournal::default());
        copy(&journal, &events[..cut], &torn);
        let kept = events[..cut].iter().filter(|e| matches!(e, Event::Effect { .. })).count();
        let before = count.load(Ordering::SeqCst);
        let _ = bench.run_on(&torn, &tasks(2), 1);
        assert_eq!(count.load(Ordering::SeqCst) - before, 6 - kept, "cut after event {cut}");
    }
    // A miss in replay is an error and asks nobody.
    let before = count.load(Ordering::SeqCst);
    let (report, _) = bench.replay(&Arc::new(MemoryJournal::default()), &tasks(1));
    match &report.tasks[0].verdict {
        Some(TaskVerdict::Failed { failure, .. }) => {
            assert_eq!(
                (failure.code.as_str(), failure.class),
                ("pipeline.replay-miss", FailureClass::ReplayMiss)
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(count.load(Ordering::SeqCst), before);
    // One that is simulated is asked again.
    let (bench, count) = outside(Applies::Never);
    let (_, journal) = bench.run(&tasks(1), 1);
    let _ = bench.replay(&journal, &tasks(1));
    assert_eq!(count.load(Ordering::SeqCst), 6);
    let services = bench.services(Arc::clone(&journal) as _, Vec::new(), Mode::Live, 1);
    assert_eq!(run(&bench.pipeline, &tasks(1), &services).unwrap().state, RunState::Finished);
}

const PLANNED: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true),
    model!(main "m"),
    stage!(translate "problem" use = "translator-direct" roles = { writer = "main" }),
    stage!(plan "plan" use = "planner-classical"),
    stage!(verify "valid" use = "verifier-val" options = { backend = "val" }),
);

#[test]
fn programs_behind_planners_and_verifiers_are_not_started_by_a_replay() {
    let started = Arc::new(AtomicUsize::new(0));
    let (plans, verdicts) = (Arc::clone(&started), Arc::clone(&started));
    let planner = Plan(move |_: &dyn Host, _: &PlanRequest| {
        plans.fetch_add(1, Ordering::SeqCst);
        let plan = PlanDocument { steps: vec!["(go)".into()], ..PlanDocument::default() };
        Ok(PlanOutcome::Plan { plans: vec![plan], optimal: false, statistics: SearchStatistics::default() })
    });
    let verifier = Verify(move |_: &dyn Host, _: &Candidate, _: &VerifyRequest| {
        verdicts.fetch_add(1, Ordering::SeqCst);
        Ok(Assessment::new(Decision::Accepted, "so it says"))
    });
    let mut bench = Bench::new(PLANNED)
        .stage("plan", StageInstance::Planner(Arc::new(planner)))
        .stage("valid", StageInstance::Verifier(Arc::new(verifier)));
    let with_val = Applies::Where(vec![OptionCondition::new("backend", &["val"])]);
    for (label, external) in [("plan", Applies::Always), ("valid", with_val)] {
        bench.instances.stages.get_mut(label).unwrap().0.capabilities.external = external;
    }
    let (live, journal) = bench.run(&tasks(4), 1);
    let made = started.load(Ordering::SeqCst);
    assert!(made >= 4 && made.is_multiple_of(2), "{made}");
    assert_eq!(bytes(&live), bytes(&bench.replay(&journal, &tasks(4)).0));
    assert_eq!(started.load(Ordering::SeqCst), made);
    // Without the record of them, replay fails rather than to start one.
    let bare = Arc::new(MemoryJournal::default());
    let completions: Vec<Event> =
        journal.events().into_iter().filter(|e| !matches!(e, Event::Effect { .. })).collect();
    copy(&journal, &completions, &bare);
    let (report, _) = bench.replay(&bare, &tasks(4));
    let missed = report.tasks.iter().filter(|t| {
        matches!(&t.verdict, Some(TaskVerdict::Failed { failure, .. })
            if failure.class == FailureClass::ReplayMiss)
    });
    assert_eq!(missed.count(), made / 2);
    assert_eq!(started.load(Ordering::SeqCst), made);
}

fn write_suite(folder: &Path, name: &str, files: &[(&str, &str)]) -> Suite {
    let suite = folder.join(name);
    std::fs::create_dir_all(&suite).unwrap();
    for (file, text) in files {
        std::fs::write(suite.join(file), text).unwrap();
    }
    load_suite(&suite).suite.unwrap()
}

const TOYS: [(&str, &str); 6] = [
    ("domain.nl", "Toys."),
    (
        "domain.pddl",
        "(define (domain toys) (:action take :parameters (?x) :precondition (and) :effect (and)))",
    ),
    ("p01.nl", "A toy."),
    ("p01.pddl", "(define (problem p01) (:domain toys) (:objects a) (:init) (:goal (and)))"),
    ("p02.nl", "Another toy."),
    ("p02.pddl", "(define (problem p02) (:domain toys) (:objects b) (:init) (:goal (and)))"),
];
const BALLS: [(&str, &str); 4] = [
    ("domain.nl", "Balls."),
    (
        "domain.pddl",
        "(define (domain balls) (:action roll :parameters (?b) :precondition (and) :effect (and)))",
    ),
    ("p01.nl", "A ball."),
    ("p01.pddl", "(define (problem p01) (:domain balls) (:objects c) (:init) (:goal (and)))"),
];

#[test]
fn an_example_from_another_suite_is_given_whole_and_its_own_never() {
    let folder = tempfile::tempdir().unwrap();
    let toys = write_suite(folder.path(), "toys", &TOYS);
    write_suite(folder.path(), "balls", &BALLS);
    let text = OUTSIDE.replace("domain = true", "example = \"balls\"");
    let config = good(&text).config;
    let tasks = run_tasks(&config, std::slice::from_ref(&toys), folder.path()).unwrap();
    let materials = tasks[0].view.materials.to_texts();
    let names: Vec<&str> = materials.keys().map(String::as_str).collect();
    let wanted = [
        "example.domain",
        "example.domain-template",
        "example.domain-text",
        "example.problem",
        "example.text",
    ];
    assert_eq!(names, wanted);
    assert_eq!(materials["example.text"], "A ball.");
    assert!(materials["example.domain-template"].contains("(:action roll"));
    assert!(tasks[0].view.given.domain.is_none());
    // Its own p_example goes before a task, with the plan.
    write_suite(folder.path(), "balls", &[("p_example.nl", "Roll."), ("p_example.sol", "(roll c)")]);
    let tasks = run_tasks(&config, std::slice::from_ref(&toys), folder.path()).unwrap();
    assert_eq!(tasks[0].view.materials.example.text.as_deref(), Some("Roll."));
    assert_eq!(tasks[0].view.materials.example.plan.as_deref(), Some("(roll c)"));

    let wrong = |text: &str| -> String {
        let found = run_tasks(&good(text).config, std::slice::from_ref(&toys), folder.path()).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].code.to_string()
    };
    assert_eq!(wrong(&text.replace("balls", "toys")), "suite.own-example");
    assert_eq!(wrong(&text.replace("balls", "gone")), "suite.example");
    write_suite(folder.path(), "balls", &[("suite.toml", "schema = 1\n[given]\ndomain = false\n")]);
    assert_eq!(wrong(&text), "suite.example");
    // The same folder under another name is the same suite.
    let copied: Vec<(&str, &str)> = TOYS.to_vec();
    write_suite(folder.path(), "copy", &copied);
    assert_eq!(wrong(&text.replace("balls", "copy")), "suite.own-example");
}

#[test]
fn a_lead_that_is_not_in_the_run_is_said_before_anything_is_paid() {
    let folder = tempfile::tempdir().unwrap();
    let toys = write_suite(folder.path(), "toys", &TOYS);
    let named = |lead: &str| {
        let text = SPREAD.replace("label = \"others\"", &format!("label = \"others\"\nlead = \"{lead}\""));
        good(&text).config
    };
    assert!(run_tasks(&named("p02"), std::slice::from_ref(&toys), folder.path()).is_ok());
    let found = run_tasks(&named("p09"), std::slice::from_ref(&toys), folder.path()).unwrap_err();
    assert_eq!(found.iter().map(|d| d.code.as_ref()).collect::<Vec<_>>(), ["suite.no-lead"]);
    let alone = load_task(&folder.path().join("toys/p01")).suite.unwrap();
    assert!(run_tasks(&named("p09"), &[alone], folder.path()).is_ok());
}
