//! Refinement against a trace worked by hand (Algorithm 1 of the exploration-walk paper): two problems, two domains a round, two
//! rounds, and one round that gets worse.

use crate::common::*;
use planforge_contract::api::Host;
use planforge_contract::*;
use planforge_llm::Mode;
use planforge_pipeline::*;
use planforge_record::{Event, Journal, MemoryJournal, RoundHistory, TaskVerdict};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

const TREE: &str = concat!(
    toml!(schema = 1 feedback = "environment"),
    model!(main "m"),
    stage!(translate "problem" use = "translator-direct" n = 2 roles = { writer = "main" }),
    stage!(refine "refine" rounds = 2 by = "ew.score" forget = ["domain", "conversation"]),
    round!(translate "edit" use = "translator-direct" n = 2 roles = { writer = "main" } feedback = ["edit", "ew", "valid"]),
    round!(verify "ew" use = "verifier-val"),
    round!(plan "plan" use = "planner-classical"),
    round!(verify "valid" use = "verifier-val"),
    stage!(select "best" by = "ew.score"),
);

/// Replies of the scripted model, by the sample path of the domain: a score, `accepted`, or nothing usable.
type Script = BTreeMap<&'static str, &'static str>;

/// A question as the model got it: who asked, the messages, and the answers.
type SeenRequests = Arc<Mutex<Vec<(String, Vec<String>)>>>;

/// Writes problem 0 and 1.
fn problems() -> StageInstance {
    StageInstance::Translator(Arc::new(Translate(|_: &dyn Host, request: &TranslateRequest| {
        let patch = |i: u32| CandidatePatch {
            problem: Some(format!("problem {i}")),
            messages: vec![Message::user("problem?"), Message::assistant(format!("problem {i}"))],
            ..CandidatePatch::default()
        };
        Ok(TranslateResponse { samples: (0..request.n).map(|i| Outcome::Ok(patch(i))).collect() })
    })))
}

/// Position of a candidate's children in the tree: the problem, then the child of each round.
fn place(candidate: &Candidate) -> String {
    candidate.lineage.iter().map(|s| s.sample.to_string()).collect::<Vec<_>>().join(".")
}

/// A model that writes the domains of a script; a domain's text is its score. Repeated requests for the same
/// children are told apart by a count.
fn domains(script: &Script, asked: &SeenRequests) -> StageInstance {
    let (script, asked) = (script.clone(), Arc::clone(asked));
    let times: Mutex<BTreeMap<String, u32>> = Mutex::default();
    StageInstance::Translator(Arc::new(Translate(move |_: &dyn Host, request: &TranslateRequest| {
        let candidate = &request.candidate;
        let question =
            format!("domain for {}? {:?}", candidate.problem.as_deref().unwrap(), request.feedback);
        let mut messages: Vec<String> = candidate.conversation.iter().map(|m| m.content.clone()).collect();
        messages.push(question.clone());
        let place = place(candidate);
        asked.lock().unwrap().push((place.clone(), messages));
        let mut times = times.lock().unwrap();
        let time = times.entry(place.clone()).or_insert(0);
        let again = "'".repeat(*time as usize);
        *time += 1;
        let one = |i: u32| {
            let path = format!("{place}{again}.{i}");
            let reply = *script.get(path.as_str()).unwrap_or_else(|| panic!("{path} is not in the script"));
            if reply == "nothing" {
                return Outcome::Failure(Failure::new(
                    FailureClass::Reply,
                    "test.reply",
                    "no domain in the reply",
                ));
            }
            let diagnostics = if reply.contains("refused") { vec![refused_diagnostic()] } else { Vec::new() };
            Outcome::Ok(CandidatePatch {
                domain: Some(reply.to_owned()),
                messages: vec![Message::user(question.clone()), Message::assistant(reply.to_owned())],
                raw_reply: reply.to_owned(),
                diagnostics,
                ..CandidatePatch::default()
            })
        };
        Ok(TranslateResponse { samples: (0..request.n).map(one).collect() })
    })))
}

fn refused_diagnostic() -> ReportedDiagnostic {
    ReportedDiagnostic {
        code: "test.refused".into(),
        severity: ReportedSeverity::Error,
        message: "there is no action `fly`".into(),
        file: "reply".into(),
        line: 1,
        column: 1,
        start: 0,
        end: 0,
        help: vec![],
    }
}

fn score(candidate: &Candidate) -> f64 {
    let domain = candidate.domain.as_deref().unwrap_or_default();
    domain.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(-1.0)
}

/// Accepts the score 1 and nothing below it.
fn walks() -> StageInstance {
    StageInstance::Verifier(Arc::new(Verify(|_: &dyn Host, candidate: &Candidate, _: &VerifyRequest| {
        let score = score(candidate);
        let decision = if score < 1.0 { Decision::Rejected } else { Decision::Accepted };
        let mut assessment = Assessment::new(decision, format!("score {score}"));
        if score >= 0.0 {
            assessment.metrics.insert("score".into(), score);
        }
        assessment.feedback.push(format!("walks: {score}"));
        Ok(assessment)
    })))
}

/// A plan for every domain.
fn plans() -> StageInstance {
    StageInstance::Planner(Arc::new(Plan(|_: &dyn Host, _: &PlanRequest| Ok(one_plan(vec!["(go)".into()])))))
}

/// A plan is valid unless the domain contains otherwise.
fn validity() -> StageInstance {
    StageInstance::Verifier(Arc::new(Verify(|_: &dyn Host, candidate: &Candidate, _: &VerifyRequest| {
        let bad = candidate.domain.as_deref().unwrap_or_default().contains("badplan");
        let no_plan = candidate.plan.is_none();
        let decision = match (no_plan, bad) {
            (true, _) => {
                Decision::Undecided { reason: UndecidedReason::MissingInput, message: "no plan".into() }
            }
            (false, true) => Decision::Rejected,
            (false, false) => Decision::Accepted,
        };
        Ok(Assessment::new(decision, "plan"))
    })))
}

fn bench(text: &str, script: &Script) -> (Bench, SeenRequests) {
    let asked = SeenRequests::default();
    let bench = Bench::new(text)
        .stage("problem", problems())
        .stage("edit", domains(script, &asked))
        .stage("ew", walks())
        .stage("plan", plans())
        .stage("valid", validity());
    (bench, asked)
}

/// The questions in the order of where they were asked.
fn questions(asked: &SeenRequests) -> Vec<(String, Vec<String>)> {
    let mut asked = asked.lock().unwrap().clone();
    asked.sort();
    asked
}

/// Each round as `path round: best value, best so far, next`.
fn rounds(journal: &MemoryJournal) -> Vec<String> {
    let mut rounds = Vec::new();
    for event in journal.events() {
        let Event::RoundFinished { path, round, best, value, best_so_far, history, accepted, .. } = event
        else {
            continue;
        };
        let history: RoundHistory = serde_json::from_slice(&journal.get(&history).unwrap()).unwrap();
        let name = |path: Option<String>| {
            path.map_or("-".to_owned(), |p| p.trim_start_matches("toys.p01/").to_owned())
        };
        let value = value.map_or("-".to_owned(), |v| v.to_string());
        let end = if accepted { " accepted" } else { "" };
        rounds.push(format!(
            "{} {round}: {} {value}, best {}, next {}{end}",
            name(Some(path)),
            name(best),
            name(best_so_far),
            name(Some(history.path))
        ));
    }
    rounds.sort();
    rounds
}

/// The trace worked by hand. Problem 0: round 1 has 0.5 and 0.7, round 2 goes on from 0.7 and gets worse, 0.2 and 0.6.
/// Problem 1: round 1 has 0.4 twice, so the first goes on; round 2 has 0.3 and 0.65.
fn worse() -> Script {
    Script::from([
        ("0.0", "0.5"),
        ("0.1", "0.7 refused"),
        ("0.1.0", "0.2"),
        ("0.1.1", "0.6"),
        ("1.0", "0.4"),
        ("1.1", "0.4"),
        ("1.0.0", "0.3"),
        ("1.0.1", "0.65"),
    ])
}

const REFUSED: &str = "Something was wrong with the last reply:\\n- There is no action `fly`.";

#[test]
fn a_trace_worked_by_hand() {
    let (bench, asked) = bench(TREE, &worse());
    let (report, journal) = bench.run(&tasks(1), 4);
    // Every question: the history of the round's best child, and the feedback on it, and nothing of its siblings.
    let wanted: Vec<(String, Vec<String>)> = vec![
        ("0".into(), vec!["domain for problem 0? []".into()]),
        (
            "0.1".into(),
            vec![
                "domain for problem 0? []".into(),
                "0.7 refused".into(),
                format!("domain for problem 0? [\"{REFUSED}\", \"walks: 0.7\"]"),
            ],
        ),
        ("1".into(), vec!["domain for problem 1? []".into()]),
        (
            "1.0".into(),
            vec![
                "domain for problem 1? []".into(),
                "0.4".into(),
                "domain for problem 1? [\"walks: 0.4\"]".into(),
            ],
        ),
    ];
    assert_eq!(questions(&asked), wanted);
    // The best over all rounds is that of round 1, although round 2 went on from it.
    assert_eq!(
        rounds(&journal),
        [
            "problem/0 1: edit#1/0.1 0.7, best edit#1/0.1, next edit#1/0.1",
            "problem/0 2: edit#2/0.1.1 0.6, best edit#1/0.1, next edit#2/0.1.1",
            "problem/1 1: edit#1/1.0 0.4, best edit#1/1.0, next edit#1/1.0",
            "problem/1 2: edit#2/1.0.1 0.65, best edit#2/1.0.1, next edit#2/1.0.1",
        ]
    );
    let task = &report.tasks[0];
    assert_eq!(task.path.as_deref(), Some("toys.p01/edit#1/0.1"));
    let candidate = task.candidate.as_ref().unwrap();
    assert_eq!(candidate.domain.as_deref(), Some("0.7 refused"));
    // What the problem was asked with is forgotten; the problem is not.
    assert_eq!((candidate.conversation.len(), candidate.problem.as_deref()), (2, Some("problem 0")));
    let outcomes = |label: &str| task.stages.iter().find(|s| s.label == label).unwrap().outcomes.clone();
    assert_eq!(outcomes("refine"), BTreeMap::from([("best".to_owned(), 2), ("rounds".to_owned(), 4)]));
    assert_eq!(outcomes("edit"), BTreeMap::from([("made".to_owned(), 8)]));
    assert_eq!(outcomes("plan"), BTreeMap::from([("skipped".to_owned(), 8)]));
}

#[test]
fn keep_last_returns_what_the_last_round_came_to() {
    let text = TREE.replace("by = \"ew.score\"\nforget", "by = \"ew.score\"\nkeep = \"last\"\nforget");
    let (report, _) = bench(&text, &worse()).0.run(&tasks(1), 4);
    assert_eq!(report.tasks[0].path.as_deref(), Some("toys.p01/edit#2/1.0.1"));
}

#[test]
fn a_round_goes_on_from_the_last_one_s_best_or_from_the_best_so_far() {
    let mut script = worse();
    // A third round: from 0.6 by Algorithm 1, from 0.7 again where the best so far is asked for.
    script.extend([("0.1.1.0", "0.1"), ("0.1.1.1", "0.8"), ("0.1'.0", "0.9"), ("0.1'.1", "0.75")]);
    script.extend([("1.0.1.0", "0.1"), ("1.0.1.1", "0.2")]);
    let three = TREE.replace("rounds = 2", "rounds = 3");
    let (algorithm, asked) = bench(&three, &script);
    let (report, _) = algorithm.run(&tasks(1), 4);
    assert_eq!(report.tasks[0].path.as_deref(), Some("toys.p01/edit#3/0.1.1.1"));
    let last = questions(&asked).into_iter().find(|(place, _)| place == "0.1.1").unwrap().1;
    assert_eq!(
        last,
        [
            "domain for problem 0? []",
            "0.7 refused",
            &format!("domain for problem 0? [\"{REFUSED}\", \"walks: 0.7\"]"),
            "0.6",
            "domain for problem 0? [\"walks: 0.6\"]"
        ]
    );

    let text = three.replace("forget", "continue_from = \"best-so-far\"\nforget");
    let (best, asked) = bench(&text, &script);
    let (report, journal) = best.run(&tasks(1), 4);
    // The paths say which round it was, so the two rounds from one place are told apart.
    assert_eq!(report.tasks[0].path.as_deref(), Some("toys.p01/edit#3/0.1.0"));
    assert_eq!(
        rounds(&journal)[..3],
        [
            "problem/0 1: edit#1/0.1 0.7, best edit#1/0.1, next edit#1/0.1",
            "problem/0 2: edit#2/0.1.1 0.6, best edit#1/0.1, next edit#1/0.1",
            "problem/0 3: edit#3/0.1.0 0.9, best edit#3/0.1.0, next edit#3/0.1.0",
        ]
    );
    let again: Vec<Vec<String>> =
        questions(&asked).into_iter().filter(|(place, _)| place == "0.1").map(|(_, m)| m).collect();
    assert_eq!(again.len(), 2);
    assert_eq!(again[0], again[1]);
}

#[test]
fn it_stops_where_the_walk_score_is_one_and_the_plan_is_valid() {
    // A perfect walk score with a bad plan is not the end; a good plan with a lower score is not either.
    let script = Script::from([
        ("0.0", "1 badplan"),
        ("0.1", "0.9"),
        ("0.0.0", "1"),
        ("0.0.1", "1"),
        ("1.0", "0.3"),
        ("1.1", "1"),
    ]);
    let (bench, asked) = bench(&TREE.replace("rounds = 2", "rounds = 4"), &script);
    let (report, journal) = bench.run(&tasks(1), 4);
    assert_eq!(questions(&asked).len(), 3);
    assert_eq!(
        rounds(&journal),
        [
            "problem/0 1: edit#1/0.0 1, best edit#1/0.0, next edit#1/0.0",
            "problem/0 2: edit#2/0.0.0 1, best edit#2/0.0.0, next edit#2/0.0.0 accepted",
            "problem/1 1: edit#1/1.1 1, best edit#1/1.1, next edit#1/1.1 accepted",
        ]
    );
    // Both have the score 1: the first path is the best.
    assert_eq!(report.tasks[0].path.as_deref(), Some("toys.p01/edit#2/0.0.0"));
    assert_eq!(report.tasks[0].verdict, Some(TaskVerdict::Accepted));
}

#[test]
fn an_accepted_child_is_the_best_of_its_round_whatever_the_metric_says() {
    let text = TREE.replace("by = \"ew.score\"\nforget", "by = \"plan.steps\"\norder = \"lowest\"\nforget");
    let script = Script::from([("0.0", "0.9"), ("0.1", "1"), ("1.0", "1"), ("1.1", "1")]);
    let (bench, _) = bench(&text, &script);
    let steps = Plan(|_: &dyn Host, request: &PlanRequest| {
        let steps = if request.domain == "1" { 3 } else { 1 };
        Ok(one_plan((0..steps).map(|i| format!("(go{i})")).collect()))
    });
    let text_planner = StageInstance::Planner(Arc::new(steps));
    let (_, journal) = bench.stage("plan", text_planner).run(&tasks(1), 2);
    assert!(rounds(&journal)[0].starts_with("problem/0 1: edit#1/0.1 3, "), "{:?}", rounds(&journal));
}

#[test]
fn an_accepted_candidate_wins_over_an_earlier_one_with_the_same_score() {
    // Walks do not see goals: problem 0 is wrong, and its domain has score 1 all the same.
    let mut script = Script::from([("1.0", "1 right"), ("1.1", "0.2")]);
    for path in ["0.0", "0.1", "0.0.0", "0.0.1"] {
        script.insert(path, "1 badplan");
    }
    let (report, _) = bench(TREE, &script).0.run(&tasks(1), 2);
    assert_eq!(report.tasks[0].verdict, Some(TaskVerdict::Accepted));
    assert_eq!(report.tasks[0].path.as_deref(), Some("toys.p01/edit#1/1.0"));
}

#[test]
fn a_round_without_a_usable_reply_asks_again_and_says_what_was_wrong() {
    let script = Script::from([
        ("0.0", "0.5"),
        ("0.1", "nothing"),
        ("0.0.0", "nothing"),
        ("0.0.1", "nothing"),
        ("0.0'.0", "0.4"),
        ("0.0'.1", "0.6"),
        ("1.0", "nothing"),
        ("1.1", "nothing"),
        ("1'.0", "nothing"),
        ("1'.1", "nothing"),
        ("1''.0", "nothing"),
        ("1''.1", "nothing"),
    ]);
    let (bench, asked) = bench(&TREE.replace("rounds = 2", "rounds = 3"), &script);
    let (report, journal) = bench.run(&tasks(1), 4);
    assert_eq!(
        rounds(&journal),
        [
            "problem/0 1: edit#1/0.0 0.5, best edit#1/0.0, next edit#1/0.0",
            "problem/0 2: - -, best edit#1/0.0, next edit#1/0.0",
            "problem/0 3: edit#3/0.0.1 0.6, best edit#3/0.0.1, next edit#3/0.0.1",
            "problem/1 1: - -, best -, next problem/1",
            "problem/1 2: - -, best -, next problem/1",
            "problem/1 3: - -, best -, next problem/1",
        ]
    );
    let unusable = "The last question got no answer that could be used:\\n- No domain in the reply.";
    let last = |from: &str| -> Vec<String> {
        let asked = questions(&asked).into_iter().filter(|(place, _)| place == from);
        asked.map(|(_, mut messages)| messages.pop().unwrap()).collect()
    };
    let mut from_best = last("0.0");
    from_best.sort();
    assert_eq!(
        from_best,
        [
            format!("domain for problem 0? [\"walks: 0.5\", \"{unusable}\"]"),
            "domain for problem 0? [\"walks: 0.5\"]".to_owned(),
        ]
    );
    assert_eq!(last("1").iter().filter(|m| m.contains(unusable)).count(), 2);
    // The failures are in the record, and the candidate that never had a domain is out of the beam.
    let failed = journal.events().into_iter().filter(|e| matches!(e, Event::SampleFailed { .. })).count();
    assert_eq!(failed, 9);
    assert_eq!(report.tasks[0].path.as_deref(), Some("toys.p01/edit#3/0.0.1"));
    let refine = &report.tasks[0].stages[1];
    assert_eq!((refine.entered, refine.left, refine.outcomes["nothing"]), (2, 1, 1));
}

#[test]
fn nothing_usable_in_any_round_is_no_outage_and_no_verdict_about_a_domain() {
    let mut script = Script::new();
    for from in ["0", "0'", "1", "1'"] {
        for i in 0..2 {
            script.insert(format!("{from}.{i}").leak(), "nothing");
        }
    }
    let (report, _) = bench(TREE, &script).0.run(&tasks(1), 2);
    match &report.tasks[0].verdict {
        Some(TaskVerdict::Unusable { stage, failure }) => {
            assert_eq!((stage.as_str(), failure.code.as_str()), ("refine", "test.reply"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_the_declaration_no_round_is_told_what_the_environment_said() {
    let text = TREE.replace("feedback = \"environment\"\n", "[environment]\nuse = \"environment-pddl\"\n");
    let (bench, asked) = bench(&text, &worse());
    let told = Verify(|host: &dyn Host, candidate: &Candidate, _: &VerifyRequest| {
        host.environment(planforge_contract::api::EnvironmentCall::Describe)?;
        let mut assessment = Assessment::new(Decision::Rejected, "no");
        assessment.metrics.insert("score".into(), score(candidate));
        assessment.feedback.push("the environment refuses it".into());
        Ok(assessment)
    });
    let (report, _) = bench.stage("ew", StageInstance::Verifier(Arc::new(told))).run(&tasks(1), 4);
    // It still chooses by what the environment said.
    assert_eq!(report.tasks[0].path.as_deref(), Some("toys.p01/edit#1/0.1"));
    let asked = questions(&asked);
    assert!(asked.iter().flat_map(|(_, m)| m).all(|m| !m.contains("environment refuses")), "{asked:?}");
    assert!(asked[1].1[2].contains("no action `fly`"));
}

/// The tree with the model behind the host, so that completions are recorded.
fn recorded_bench() -> Bench {
    let text = TREE.replace("rounds = 2", "rounds = 3").replace("n = 2", "n = 3");
    Bench::new(&text)
}

#[test]
fn one_job_sixteen_and_a_replay_give_the_same_bytes() {
    let (_, journal) = jobs_and_replays_change_nothing(recorded_bench, &tasks(2), &[4, 16]);
    assert!(journal.events().iter().any(|e| matches!(e, Event::RoundFinished { round: 3, .. })));
}

#[test]
fn a_crash_after_any_event_of_a_round_loses_nothing() {
    crashes_lose_nothing(recorded_bench, &tasks(1));
}

#[test]
fn sample_paths_are_all_different() {
    let (_, journal) = recorded_bench().run(&tasks(2), 4);
    let made = |e: &Event| match e {
        Event::CandidateMade { path, .. } => Some(path.clone()),
        _ => None,
    };
    let paths: Vec<String> = journal.events().iter().filter_map(made).collect();
    assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), paths.len());
    assert!(paths.iter().any(|p| p.contains("/edit#3/")), "{paths:?}");
}

#[test]
fn a_pending_answer_parks_its_candidate_and_the_others_are_refined() {
    let (bench, _) = bench(TREE, &worse());
    let refined = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&refined);
    let script = worse();
    let pending = Translate(move |_: &dyn Host, request: &TranslateRequest| {
        let place = place(&request.candidate);
        if place == "0" {
            let answer = Failure::deferred("arrives later");
            return Err(answer);
        }
        seen.lock().unwrap().insert(place.clone());
        let one = |i: u32| {
            let reply = script[format!("{place}.{i}").as_str()].to_owned();
            Outcome::Ok(CandidatePatch { domain: Some(reply), ..CandidatePatch::default() })
        };
        Ok(TranslateResponse { samples: (0..request.n).map(one).collect() })
    });
    let bench = bench.stage("edit", StageInstance::Translator(Arc::new(pending)));
    let journal = Arc::new(MemoryJournal::default());
    let services = bench.services(Arc::clone(&journal) as _, Vec::new(), Mode::Live, 2);
    let report = run(&bench.pipeline, &tasks(1), &services).unwrap();
    assert_eq!((report.state, &report.tasks[0].verdict), (RunState::Parked, &None));
    assert_eq!(*refined.lock().unwrap(), BTreeSet::from(["1".to_owned(), "1.0".to_owned()]));
    assert!(
        !journal.events().iter().any(|e| matches!(e, Event::Selected { .. } | Event::SampleFailed { .. }))
    );
}

/// Judges all candidates of a call together, and notes how many there were.
struct Together(Arc<Mutex<Vec<usize>>>);
impl planforge_contract::api::Verifier for Together {
    fn verify(&self, _: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        self.0.lock().unwrap().push(request.candidates.len());
        let one = |candidate: &Candidate| {
            let mut assessment = Assessment::new(Decision::Rejected, "no");
            assessment.metrics.insert("score".into(), score(candidate));
            Outcome::Ok(assessment)
        };
        Ok(VerifyResponse { results: request.candidates.iter().map(one).collect() })
    }
}

#[test]
fn a_verifier_that_races_gets_the_children_of_a_round_in_one_call() {
    let racing = TREE.replace("label = \"ew\"\n", "label = \"ew\"\noptions = { racing = true }\n");
    for (text, wanted) in [(racing.as_str(), vec![2, 2, 2, 2]), (TREE, vec![1; 8])] {
        let (mut bench, _) = bench(text, &worse());
        let sizes = Arc::new(Mutex::new(Vec::new()));
        bench.instances.stages.get_mut("ew").unwrap().0.capabilities.together =
            Applies::Where(vec![OptionCondition::new("racing", &["true"])]);
        let bench = bench.stage("ew", StageInstance::Verifier(Arc::new(Together(Arc::clone(&sizes)))));
        let _ = bench.run(&tasks(1), 2);
        assert_eq!(*sizes.lock().unwrap(), wanted);
    }
}
