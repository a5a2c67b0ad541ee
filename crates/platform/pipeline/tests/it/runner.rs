//! Candidates in a run: failed samples, verdicts, conversations, and the rights of plugins.

use crate::common::*;
use planforge_contract::api::{EnvironmentCall, Host};
use planforge_contract::*;
use planforge_pipeline::*;
use planforge_record::{Event, Journal, TaskVerdict};
use std::sync::{Arc, Mutex};

const TRANSLATE: &str =
    concat!(stage!(translate "problem" use = "translator-direct" n = 4 roles = { writer = "main" }),);
const VERIFY: &str = concat!(stage!(verify "pddl" use = "verifier-val"),);
const PLAN: &str = concat!(stage!(plan "plan" use = "planner-classical"),);
const ENVIRONMENT: &str = "[environment]\nuse = \"environment-pddl\"\n";

fn file(parts: &[&str]) -> String {
    let head = "schema = 1\n[llm.main]\nuse = \"provider-openai\"\nmodel = \"m\"\n";
    format!("{head}{}", parts.concat())
}

/// A translator whose samples are given: a problem, or a failure of a class.
fn samples(results: Vec<Result<&'static str, FailureClass>>) -> StageInstance {
    let translate = move |_: &dyn Host, request: &TranslateRequest| {
        let first = request.first_sample as usize;
        let asked = &results[first..first + request.n as usize];
        let one = |r: &Result<&str, FailureClass>| match r {
            Ok(problem) => Outcome::Ok(CandidatePatch {
                problem: Some((*problem).to_owned()),
                ..CandidatePatch::default()
            }),
            Err(class) => Outcome::Failure(Failure::new(*class, "test.sample", "this sample broke")),
        };
        Ok(TranslateResponse { samples: asked.iter().map(one).collect() })
    };
    StageInstance::Translator(Arc::new(Translate(translate)))
}

/// A verifier whose decision is the problem's text.
fn by_word() -> StageInstance {
    StageInstance::Verifier(Arc::new(Verify(|_: &dyn Host, candidate: &Candidate, _: &VerifyRequest| {
        let problem = candidate.problem.clone().unwrap_or_default();
        let decision = match problem.as_str() {
            p if p.contains("break") => {
                return Err(Failure::new(FailureClass::Plugin, "test.broke", "the verifier broke"));
            }
            p if p.contains("wrong") => Decision::Rejected,
            p if p.contains("odd") => Decision::NotComparable { message: "no common objects".into() },
            p if p.contains("long") => {
                Decision::Undecided { reason: UndecidedReason::Limit, message: "time".into() }
            }
            _ => Decision::Accepted,
        };
        Ok(Assessment::new(decision, format!("judged {problem}")))
    })))
}

/// A planner whose outcome is the problem's text, and which notes its requests.
fn planner_by_word(asked: &Arc<Mutex<Vec<String>>>) -> StageInstance {
    let asked = Arc::clone(asked);
    StageInstance::Planner(Arc::new(Plan(move |_: &dyn Host, request: &PlanRequest| {
        asked.lock().unwrap().push(request.problem.clone());
        let statistics = SearchStatistics::default();
        Ok(match request.problem.as_str() {
            p if p.contains("impossible") => PlanOutcome::ProvenUnsolvable {
                explanation: vec!["(goal) is never reached".into()],
                statistics,
            },
            p if p.contains("hard") => PlanOutcome::LimitReached {
                limit: LimitKind::Nodes,
                message: "too many nodes".into(),
                plans: Vec::new(),
                statistics,
            },
            p if p.contains("partly") => PlanOutcome::LimitReached {
                limit: LimitKind::Nodes,
                message: "1 of 10 plans".into(),
                plans: vec![PlanDocument { steps: vec!["(go)".into()], ..PlanDocument::default() }],
                statistics,
            },
            p if p.contains("vast") => PlanOutcome::Exhausted { explanation: vec![], statistics },
            _ => one_plan(vec!["(go)".into()]),
        })
    })))
}

fn verdict_of(results: Vec<Result<&'static str, FailureClass>>) -> (TaskVerdict, TaskReport, Vec<String>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let translate = TRANSLATE.replace("n = 4", &format!("n = {}", results.len()));
    let bench = Bench::new(&file(&[&translate, VERIFY, PLAN]))
        .stage("problem", samples(results))
        .stage("pddl", by_word())
        .stage("plan", planner_by_word(&asked));
    let (mut report, _) = bench.run(&tasks(1), 4);
    let task = report.tasks.remove(0);
    let mut asked = asked.lock().unwrap().clone();
    asked.sort();
    (task.verdict.clone().unwrap(), task, asked)
}

#[test]
fn the_best_candidate_decides_and_ties_go_to_the_sample_path() {
    let (verdict, task, asked) = verdict_of(vec![Ok("wrong"), Ok("fine a"), Ok("fine b"), Ok("impossible")]);
    assert_eq!(verdict, TaskVerdict::Accepted);
    assert_eq!(task.candidate.unwrap().problem.as_deref(), Some("fine a"));
    assert_eq!(task.path.as_deref(), Some("toys.p01/problem/1"));
    // A rejected candidate stays in the beam and is not planned for.
    assert_eq!(asked, ["fine a", "fine b", "impossible"]);
    assert_eq!((task.stages[2].entered, task.stages[2].outcomes["skipped"]), (4, 1));
}

const DOMAIN: &str = "(define (domain d) (:predicates (done)) (:action go :parameters () :effect (done)))";
const FINE: &str = "(define (problem fine) (:domain d) (:init) (:goal (done)))";

/// The verdict on a task with that reference problem after a verify stage that the environment refuses for lack of a reference.
fn verdict_without_reference(
    problem: &'static str,
    stages: &[&str],
    options: &str,
    reference: Option<&str>,
) -> TaskVerdict {
    let judged = stages.concat();
    let verify = concat!(stage!(verify "environment" use = "verifier-val"),);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let no_reference =
        StageInstance::Verifier(Arc::new(Verify(|_: &dyn Host, _: &Candidate, _: &VerifyRequest| {
            Err(Failure::new(FailureClass::Request, "environment.no-reference", "no reference domain"))
        })));
    let translate = TRANSLATE.replace("n = 4", "n = 1");
    let mut bench = Bench::new(&file(&[&translate, &judged, &format!("{verify}{options}\n")]))
        .stage("problem", samples(vec![Ok(problem)]))
        .stage("pddl", by_word());
    if judged.contains("\"plan\"") {
        bench = bench.stage("plan", planner_by_word(&asked));
    }
    let mut tasks = tasks(1);
    tasks[0].view.given.domain = Some(DOMAIN.to_owned());
    tasks[0].reference.problem = reference.map(str::to_owned);
    let (mut report, _) = bench.stage("environment", no_reference).run(&tasks, 4);
    report.tasks.remove(0).verdict.unwrap()
}

#[test]
fn a_stage_without_the_reference_that_it_needs_does_not_judge() {
    let not_judged = vec!["environment".to_owned()];
    let verdict = |problem, stages: &[&str]| verdict_without_reference(problem, stages, "", None);
    assert_eq!(verdict(FINE, &[VERIFY, PLAN]), TaskVerdict::Planned { not_judged: not_judged.clone() });
    // A planner's word is not enough: its plan (go) does not reach this goal.
    let other = "(define (problem other) (:domain d) (:init) (:goal (not (done))))";
    let written = TaskVerdict::Written { not_judged: not_judged.clone() };
    assert_eq!(verdict(other, &[VERIFY, PLAN]), written);
    assert_eq!(verdict(FINE, &[VERIFY]), written);
    // The other stages judge as before.
    assert_eq!(verdict("wrong", &[VERIFY, PLAN]).name(), "rejected");
    assert_eq!(verdict("impossible", &[VERIFY, PLAN]).name(), "unsolvable");
    assert_eq!(verdict("hard", &[VERIFY, PLAN]).name(), "undecided");
    // A skipped stage is never an acceptance, whatever files there are.
    for reference in [" \n", "(problem)"] {
        let verdict = verdict_without_reference(FINE, &[VERIFY, PLAN], "", Some(reference));
        assert_eq!(verdict, TaskVerdict::Planned { not_judged: not_judged.clone() }, "{reference:?}");
    }
    // A pipeline can insist.
    let verdict = verdict_without_reference(FINE, &[VERIFY, PLAN], "required = true", None);
    let TaskVerdict::Failed { stage, failure } = verdict else { panic!("{verdict:?}") };
    assert_eq!((stage.as_str(), failure.code.as_str()), ("environment", "environment.no-reference"));
}

#[test]
fn a_task_without_a_reference_is_not_accepted_even_if_no_stage_needs_one() {
    let bench = Bench::new(&file(&[&TRANSLATE.replace("n = 4", "n = 1"), VERIFY, PLAN]))
        .stage("problem", samples(vec![Ok(FINE)]))
        .stage("pddl", by_word())
        .stage("plan", planner_by_word(&Arc::new(Mutex::new(Vec::new()))));
    let mut tasks = tasks(1);
    tasks[0].view.given.domain = Some(DOMAIN.to_owned());
    tasks[0].reference = EnvironmentOpen::default();
    let (report, _) = bench.run(&tasks, 4);
    assert_eq!(report.tasks[0].verdict, Some(TaskVerdict::Planned { not_judged: Vec::new() }));
}

#[test]
fn every_verdict_is_reached_and_none_reads_as_another() {
    let name = |results| {
        let (verdict, ..) = verdict_of(results);
        let stage = match &verdict {
            TaskVerdict::Accepted | TaskVerdict::Planned { .. } | TaskVerdict::Written { .. } => {
                String::new()
            }
            TaskVerdict::Rejected { stage, .. }
            | TaskVerdict::Unsolvable { stage, .. }
            | TaskVerdict::Undecided { stage, .. }
            | TaskVerdict::Unusable { stage, .. }
            | TaskVerdict::Failed { stage, .. } => stage.clone(),
        };
        format!("{} {stage}", verdict.name())
    };
    assert_eq!(name(vec![Ok("wrong")]), "rejected pddl");
    assert_eq!(name(vec![Ok("impossible")]), "unsolvable plan");
    assert_eq!(name(vec![Ok("hard")]), "undecided plan");
    // Plans that a limit leaves are no plan that was asked for.
    assert_eq!(name(vec![Ok("partly")]), "undecided plan");
    assert_eq!(name(vec![Ok("partly"), Ok("fine")]), "accepted ");
    assert_eq!(name(vec![Ok("vast")]), "undecided plan");
    assert_eq!(name(vec![Ok("odd")]), "undecided pddl");
    assert_eq!(name(vec![Ok("long")]), "undecided pddl");
    assert_eq!(name(vec![Ok("break")]), "failed pddl");
    assert_eq!(name(vec![Ok("hard"), Ok("break"), Ok("wrong")]), "rejected pddl");
    assert_eq!(name(vec![Ok("hard"), Ok("break"), Ok("impossible")]), "unsolvable plan");
    assert_eq!(name(vec![Ok("break"), Ok("hard")]), "undecided plan");
    assert_eq!(name(vec![Ok("wrong"), Ok("break"), Ok("fine")]), "accepted ");
}

#[test]
fn a_failed_sample_is_in_the_record_and_out_of_the_beam() {
    let results = vec![Err(FailureClass::Reply), Ok("fine"), Err(FailureClass::Limit)];
    // In one call, and in a call for each sample.
    for n in ["n = 3", "n = 3\napart = true"] {
        let translate = TRANSLATE.replace("n = 4", n);
        let bench = Bench::new(&file(&[&translate, VERIFY]))
            .stage("problem", samples(results.clone()))
            .stage("pddl", by_word());
        let (report, journal) = bench.run(&tasks(1), 2);
        assert_eq!(report.tasks[0].verdict, Some(TaskVerdict::Accepted));
        assert_eq!(report.tasks[0].path.as_deref(), Some("toys.p01/problem/1"));
        let stage = &report.tasks[0].stages[0];
        assert_eq!((stage.entered, stage.left), (1, 1));
        let paths: Vec<&str> = stage.failed.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(paths, ["toys.p01/problem/0", "toys.p01/problem/2"]);
        let failed = journal.events().into_iter().filter(|e| matches!(e, Event::SampleFailed { .. })).count();
        assert_eq!(failed, 2);
    }
}

#[test]
fn an_empty_beam_is_failed_undecided_or_unusable_and_never_rejected() {
    use FailureClass::*;
    let (verdict, task, _) = verdict_of(vec![Err(Reply), Err(Provider)]);
    assert!(
        matches!(&verdict, TaskVerdict::Failed { stage, failure } if stage == "problem" && failure.class == Provider)
    );
    assert!(task.candidate.is_none() && task.stages.len() == 1);
    for results in [vec![Err(Limit), Err(Budget)], vec![Err(Reply), Err(Limit)]] {
        let (verdict, ..) = verdict_of(results);
        assert!(
            matches!(&verdict, TaskVerdict::Undecided { stage, .. } if stage == "problem"),
            "{verdict:?}"
        );
    }
    // Every sample was answered: no outage, and no verdict about a candidate.
    let (verdict, ..) = verdict_of(vec![Err(Reply), Err(Reply)]);
    assert!(matches!(&verdict, TaskVerdict::Unusable { stage, .. } if stage == "problem"), "{verdict:?}");
}

#[test]
fn a_plugin_that_miscounts_fails_and_judges_nobody() {
    let short = Translate(|_: &dyn Host, _: &TranslateRequest| Ok(TranslateResponse { samples: Vec::new() }));
    let bench = Bench::new(&file(&[TRANSLATE])).stage("problem", StageInstance::Translator(Arc::new(short)));
    let (report, _) = bench.run(&tasks(1), 1);
    assert!(
        matches!(&report.tasks[0].verdict, Some(TaskVerdict::Failed { failure, .. }) if failure.code == "pipeline.sample-count")
    );
    struct Mute;
    impl planforge_contract::api::Verifier for Mute {
        fn verify(&self, _: &dyn Host, _: &VerifyRequest) -> Result<VerifyResponse, Failure> {
            Ok(VerifyResponse { results: Vec::new() })
        }
    }
    let translate = TRANSLATE.replace("n = 4", "n = 1");
    let bench = Bench::new(&file(&[&translate, VERIFY]))
        .stage("problem", samples(vec![Ok("fine")]))
        .stage("pddl", StageInstance::Verifier(Arc::new(Mute)));
    let (report, _) = bench.run(&tasks(1), 1);
    assert!(
        matches!(&report.tasks[0].verdict, Some(TaskVerdict::Failed { failure, .. }) if failure.code == "pipeline.assessment-count")
    );
}

#[test]
fn a_rejected_candidate_is_planned_for_where_the_file_says_so() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let translate = TRANSLATE.replace("n = 4", "n = 1");
    let bench = Bench::new(&file(&[&translate, VERIFY, PLAN, "plan_rejected = true\n"]))
        .stage("problem", samples(vec![Ok("wrong")]))
        .stage("pddl", by_word())
        .stage("plan", planner_by_word(&asked));
    let (report, _) = bench.run(&tasks(1), 1);
    assert_eq!(*asked.lock().unwrap(), ["wrong"]);
    assert!(matches!(&report.tasks[0].verdict, Some(TaskVerdict::Rejected { stage, .. }) if stage == "pddl"));
}

#[test]
fn a_plan_needs_a_domain_and_a_problem_unless_the_planner_asks_a_model() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let bench = Bench::new(&file(&[PLAN])).stage("plan", planner_by_word(&asked));
    let (report, _) = bench.run(&tasks(1), 1);
    match &report.tasks[0].verdict {
        Some(TaskVerdict::Undecided { stage, message }) => {
            assert_eq!((stage.as_str(), message.as_str()), ("plan", "the candidate has no problem"));
        }
        other => panic!("{other:?}"),
    }
    assert!(asked.lock().unwrap().is_empty());
    let llm = PLAN.replace("planner-classical\"", "planner-llm\"\nroles = { planner = \"main\" }");
    let bench = Bench::new(&file(&[&llm])).stage("plan", planner_by_word(&asked));
    let (report, _) = bench.run(&tasks(1), 1);
    assert_eq!(report.tasks[0].verdict, Some(TaskVerdict::Accepted));
    assert_eq!(*asked.lock().unwrap(), [""]);
}

#[test]
fn children_share_the_conversation_of_their_parent_and_add_to_it() {
    let again = TRANSLATE.replace("label = \"problem\"", "label = \"again\"").replace("n = 4", "n = 2");
    let bench = Bench::new(&file(&[
        "[[stage]]\ndo = \"translate\"\nlabel = \"problem\"\nuse = \"translator-direct\"\nn = 3\nroles = { writer = \"main\" }\n",
        &again,
    ]));
    let (report, journal) = bench.run(&tasks(1), 4);
    let mut seen = 0;
    let mut prefixes = std::collections::BTreeMap::new();
    for event in journal.events() {
        let Event::CandidateMade { candidate, path, .. } = event else { continue };
        let candidate: Candidate = serde_json::from_slice(&journal.get(&candidate).unwrap()).unwrap();
        assert_eq!(candidate.conversation.len(), candidate.lineage.len() * 2, "{path}");
        if candidate.lineage.len() == 2 {
            let parent = candidate.lineage[0].sample;
            let prefix = candidate.conversation[..2].to_vec();
            assert_eq!(prefixes.entry(parent).or_insert_with(|| prefix.clone()), &prefix);
            seen += 1;
        }
    }
    assert!(seen >= 2, "{seen} grandchildren");
    // The second question went out with the first and its answer before it.
    let prompts = bench.provider.prompts.lock().unwrap();
    assert!(prompts.iter().any(|p| p.matches("\"assistant\"").count() == 1), "{prompts:?}");
    assert_eq!(
        report.tasks[0].usage["main"].calls,
        report.tasks[0].stages.iter().map(|s| s.entered as u64).sum::<u64>()
    );
}

#[test]
fn a_correction_is_not_held_to_what_was_said_about_its_parent() {
    let again = TRANSLATE
        .replace("label = \"problem\"", "label = \"fix\"\nfeedback = [\"pddl\"]")
        .replace("n = 4", "n = 1");
    let after = VERIFY.replace("\"pddl\"", "\"after\"");
    let first = TRANSLATE.replace("n = 4", "n = 1");
    let bench = Bench::new(&file(&[&first, VERIFY, &again, &after]))
        .stage("problem", samples(vec![Ok("wrong")]))
        .stage("pddl", by_word())
        .stage("fix", samples(vec![Ok("fine")]))
        .stage("after", by_word());
    let (report, _) = bench.run(&tasks(1), 1);
    assert_eq!(report.tasks[0].verdict, Some(TaskVerdict::Accepted));
    assert_eq!(report.tasks[0].written.len(), 2);
}

/// Answers to a plugin of each kind that asks the host for everything.
type HostAnswers = Arc<Mutex<Vec<String>>>;

fn ask_everything(host: &dyn Host, kind: &str, role: &str, answers: &HostAnswers) {
    let request =
        CompletionRequest { messages: vec![Message::user("hello")], ..CompletionRequest::default() };
    let word = |r: Result<(), Failure>| r.err().map_or_else(|| "ok".to_owned(), |f| f.code);
    let all = [
        ("complete", word(host.complete(role, request).map(drop))),
        ("plan", word(host.plan("plan", PlanRequest { k: 1, ..PlanRequest::default() }).map(drop))),
        ("nowhere", word(host.plan("nowhere", PlanRequest::default()).map(drop))),
        ("worker", word(host.worker("x").map(drop))),
        ("environment", word(host.environment(EnvironmentCall::Describe).map(drop))),
    ];
    let line = all.map(|(what, code)| format!("{what}={code}")).join(" ");
    answers.lock().unwrap().push(format!("{kind}: {line}"));
}

#[test]
fn each_kind_may_ask_what_the_design_grants_and_nothing_else() {
    let answers: HostAnswers = Arc::default();
    let verify = VERIFY.to_owned();
    let translate = TRANSLATE.replace("n = 4", "n = 1");
    let a = Arc::clone(&answers);
    let translator = Translate(move |host: &dyn Host, _: &TranslateRequest| {
        ask_everything(host, "translator", "writer", &a);
        let patch = CandidatePatch { problem: Some("p".into()), ..CandidatePatch::default() };
        Ok(TranslateResponse { samples: vec![Outcome::Ok(patch)] })
    });
    let a = Arc::clone(&answers);
    let verifier = Verify(move |host: &dyn Host, _: &Candidate, _: &VerifyRequest| {
        ask_everything(host, "verifier", "writer", &a);
        Ok(Assessment::new(Decision::Accepted, ""))
    });
    let a = Arc::clone(&answers);
    let planner = Plan(move |host: &dyn Host, request: &PlanRequest| {
        if !request.problem.is_empty() {
            ask_everything(host, "planner", "writer", &a);
        }
        Ok(one_plan(Vec::new()))
    });
    let mut text = file(&[ENVIRONMENT, &translate, &verify, PLAN]);
    text = text.replace("[llm.main]", "feedback = \"environment\"\n[llm.main]");
    let bench = Bench::new(&text)
        .stage("problem", StageInstance::Translator(Arc::new(translator)))
        .stage("pddl", StageInstance::Verifier(Arc::new(verifier)))
        .stage("plan", StageInstance::Planner(Arc::new(planner)));
    let (report, _) = bench.run(&tasks(1), 1);
    assert_eq!(report.tasks[0].verdict, Some(TaskVerdict::Accepted));
    let answers = answers.lock().unwrap();
    let forbidden = "host.forbidden";
    assert_eq!(
        *answers,
        [
            format!(
                "translator: complete=ok plan={forbidden} nowhere={forbidden} worker={forbidden} environment={forbidden}"
            ),
            format!(
                "verifier: complete=host.unknown-role plan=ok nowhere=host.unknown-label worker={forbidden} environment=ok"
            ),
            format!(
                "planner: complete=host.unknown-role plan=host.call-cycle nowhere={forbidden} worker=host.no-worker environment={forbidden}"
            ),
        ]
    );
}

#[test]
fn progress_is_told_as_it_happens() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let planner = Plan(|host: &dyn Host, _: &PlanRequest| {
        host.progress(3, 10, "nodes");
        Ok(one_plan(Vec::new()))
    });
    let llm = PLAN.replace("planner-classical\"", "planner-llm\"\nroles = { planner = \"main\" }");
    let bench = Bench::new(&file(&[&llm])).stage("plan", StageInstance::Planner(Arc::new(planner)));
    let journal = Arc::new(planforge_record::MemoryJournal::default());
    let mut services = bench.services(journal as _, Vec::new(), planforge_llm::Mode::Live, 1);
    let note = Arc::clone(&seen);
    services.observer = Some(Arc::new(move |progress: &Progress<'_>| {
        note.lock().unwrap().push(match progress {
            Progress::Event(event) => {
                serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned()
            }
            Progress::Call { path, done, total, what } => format!("{path} {done}/{total} {what}"),
            Progress::Work { path, plugin, begins, .. } => {
                format!("{path} {plugin} {}", if *begins { "begins" } else { "ends" })
            }
        });
    }));
    run(&bench.pipeline, &tasks(1), &services).unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "session-started",
            "task-started",
            "stage-started",
            "toys.p01/plan/- planner-llm begins",
            "toys.p01/plan/- 3/10 nodes",
            "toys.p01/plan/- planner-llm ends",
            // The planner asks a model, whose answers are recorded, and is asked again when the run goes on.
            "planned",
            "task-finished",
            "session-finished"
        ]
    );
}

/// Asks the environment, then decides by the problem's text.
fn by_environment() -> StageInstance {
    StageInstance::Verifier(Arc::new(Verify(|host: &dyn Host, candidate: &Candidate, _: &VerifyRequest| {
        host.environment(EnvironmentCall::Describe)?;
        let right = candidate.problem.as_deref().is_some_and(|problem| problem.contains("right"));
        let decision = if right { Decision::Accepted } else { Decision::Rejected };
        Ok(Assessment::new(decision, "the environment's answer"))
    })))
}

#[test]
fn the_reference_does_not_choose_among_the_candidates_that_are_left() {
    let verify = concat!(stage!(verify "environment" use = "verifier-val"),);
    let select = concat!(stage!(select "best" by = "pddl.score" keep = 3),);
    let run = |head: &str, stages: &[&str], results: Vec<Result<&'static str, FailureClass>>| {
        let translate = TRANSLATE.replace("n = 4", &format!("n = {}", results.len()));
        let text = format!("{head}{}", file(&[ENVIRONMENT, &translate, VERIFY, &stages.concat()]));
        let mut bench =
            Bench::new(&text).stage("problem", samples(results)).stage("environment", by_environment());
        let scored =
            StageInstance::Verifier(Arc::new(Verify(|_: &dyn Host, c: &Candidate, _: &VerifyRequest| {
                let problem = c.problem.clone().unwrap_or_default();
                let wrong = problem.contains("broken");
                let decision = if wrong { Decision::Rejected } else { Decision::Accepted };
                let mut assessment = Assessment::new(decision, "");
                let score = problem.split(' ').next_back().and_then(|word| word.parse().ok());
                assessment.metrics.extend(score.map(|score: f64| ("score".to_owned(), score)));
                Ok(assessment)
            })));
        bench = bench.stage("pddl", scored);
        let (mut report, _) = bench.run(&tasks(1), 2);
        report.tasks.remove(0)
    };
    let chosen = |task: &TaskReport| {
        let problem = task.candidate.as_ref().and_then(|c| c.problem.clone()).unwrap();
        (task.verdict.as_ref().unwrap().name(), problem)
    };
    // Without a selection the first decides, of those that the method's own stages accept.
    let results = vec![Ok("broken 0"), Ok("bad 1"), Ok("right 2"), Ok("right 3")];
    let task = run("", &[verify], results.clone());
    assert_eq!(chosen(&task), ("rejected", "bad 1".to_owned()));
    let counted: Vec<(&str, usize)> =
        task.candidates.iter().map(|(verdict, n)| (verdict.as_str(), *n)).collect();
    assert_eq!(counted, [("accepted", 2), ("rejected", 2)]);
    // With one, the place that it gave decides.
    let best = vec![Ok("right 1"), Ok("bad 3"), Ok("right 2"), Ok("broken 9")];
    assert_eq!(chosen(&run("", &[select, verify], best.clone())), ("rejected", "bad 3".to_owned()));
    assert_eq!(
        chosen(&run("", &[&select.replace("keep = 3", "keep = 1"), verify], best.clone())),
        ("rejected", "bad 3".to_owned())
    );
    // A selection behind the environment's verdict uses it only where the environment is part of the method.
    assert_eq!(chosen(&run("", &[verify, select], best.clone())), ("rejected", "bad 3".to_owned()));
    let told = run("feedback = \"environment\"\n", &[verify, select], best);
    assert_eq!(chosen(&told), ("accepted", "right 2".to_owned()));
}

#[test]
fn a_broken_problem_is_asked_for_again_and_replays_alike() {
    let translate = TRANSLATE.replace("n = 4", "n = 3\nresample = 3");
    let good = "(define (problem p) (:domain d) (:objects a) (:init) (:goal (on a)))";
    let empty = "(define (problem p) (:domain d) (:objects a) (:init) (:goal (and)))";
    // Sample 0 is never good, sample 1 is good the second time, sample 2 at once.
    let script = move |call: usize| match call {
        0 => vec![Err("no PDDL"), Ok(empty), Ok(good)],
        1 => vec![Ok(empty), Ok(good)],
        2 => vec![Err("no PDDL")],
        _ => vec![Err("refused")],
    };
    let make = || {
        let calls = Mutex::new(0);
        StageInstance::Translator(Arc::new(Translate(move |host: &dyn Host, request: &TranslateRequest| {
            let mut calls = calls.lock().unwrap();
            let outcomes = script(*calls);
            *calls += 1;
            assert_eq!(request.n as usize, outcomes.len());
            let sampling = Sampling { n: Some(request.n), ..Sampling::default() };
            let messages = vec![Message::user("problem?")];
            host.complete(
                "writer",
                CompletionRequest { messages, sampling, ..CompletionRequest::default() },
            )?;
            let one = |outcome: Result<&str, &str>| match outcome {
                Ok(problem) => {
                    Outcome::Ok(CandidatePatch { problem: Some(problem.into()), ..CandidatePatch::default() })
                }
                Err(why) => Outcome::Failure(Failure::new(FailureClass::Reply, "test.reply", why)),
            };
            Ok(TranslateResponse { samples: outcomes.into_iter().map(one).collect() })
        })))
    };
    let mut all = tasks(1);
    all[0].view.given.domain = None;
    let bench = |text: &str| Bench::new(text).stage("problem", make()).stage("pddl", by_word());
    let text = file(&[&translate, VERIFY]);
    let first = bench(&text);
    let (report, journal) = first.run(&all, 2);
    assert_eq!(first.provider.asked.load(std::sync::atomic::Ordering::SeqCst), 4);
    let stage = &report.tasks[0].stages[0];
    assert_eq!((stage.outcomes["made"], stage.outcomes["failed"]), (2, 1));
    assert_eq!(stage.failed[0].failure.message, "refused");
    let logged = journal
        .events()
        .into_iter()
        .filter(|event| matches!(event, Event::Log { message, .. } if message.contains("asked again")));
    assert_eq!(logged.count(), 4);
    let (again, _) = bench(&text).replay(&journal, &all);
    assert_eq!(bytes(&again), bytes(&report));
    // Off by default.
    let once = bench(&text.replace("resample = 3\n", ""));
    let (report, _) = once.run(&all, 2);
    assert_eq!(once.provider.asked.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(report.tasks[0].stages[0].outcomes["made"], 2);
}

#[test]
fn the_same_domain_gets_the_same_seed_in_every_stage_and_sample() {
    let seeds: Arc<Mutex<Vec<(String, u64)>>> = Arc::default();
    let noting = || {
        let seeds = Arc::clone(&seeds);
        StageInstance::Verifier(Arc::new(Verify(
            move |_: &dyn Host, c: &Candidate, request: &VerifyRequest| {
                seeds.lock().unwrap().push((c.problem.clone().unwrap_or_default(), request.seed));
                Ok(Assessment::new(Decision::Accepted, ""))
            },
        )))
    };
    let again = VERIFY.replace("\"pddl\"", "\"again\"");
    let translate = TRANSLATE.replace("n = 4", "n = 3");
    let bench = Bench::new(&file(&[&translate, VERIFY, &again]))
        .stage("problem", samples(vec![Ok("same"), Ok("other"), Ok("same")]))
        .stage("pddl", noting())
        .stage("again", noting());
    bench.run(&tasks(1), 2);
    let seeds = seeds.lock().unwrap();
    let of = |problem: &str| {
        let of = seeds.iter().filter(|(text, _)| text == problem).map(|(_, seed)| *seed);
        of.collect::<std::collections::BTreeSet<u64>>()
    };
    assert_eq!((seeds.len(), of("same").len(), of("other").len()), (6, 1, 1));
    assert_ne!(of("same"), of("other"));
}

#[test]
fn a_reply_that_was_cut_off_says_which_limit_to_raise() {
    let cut = |_: &dyn Host, _: &TranslateRequest| {
        let failure = Failure::new(
            FailureClass::Reply,
            "reply.cut-off",
            "the server cut the reply off at its token limit",
        );
        Ok(TranslateResponse { samples: vec![Outcome::Failure(failure)] })
    };
    let translate = TRANSLATE.replace("n = 4", "n = 1");
    let text = file(&[&translate, VERIFY]).replace("model = \"m\"", "model = \"m\"\nmax_tokens = 2048");
    let bench = Bench::new(&text).stage("problem", StageInstance::Translator(Arc::new(Translate(cut))));
    let (report, _) = bench.run(&tasks(1), 1);
    let Some(TaskVerdict::Unusable { failure, .. }) = &report.tasks[0].verdict else { panic!("{report:?}") };
    assert!(failure.message.ends_with("cut off at max_tokens = 2048 of [llm.main]"), "{failure}");
    assert_eq!(failure.help.as_deref(), Some("raise `max_tokens`"));
}
