//! iVML (test-time-scaling paper, section 3.3) against a trace worked by hand: best two of three samples,
//! each criticised and updated in rounds; and plans that are rewritten under criticism (section 4.6).

use crate::common::*;
use planforge_contract::api::Host;
use planforge_contract::*;
use planforge_pipeline::*;
use planforge_record::{Event, Journal, MemoryJournal, RoundHistory, SelectedGroup, TaskVerdict};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const IVML: &str = concat!(
    toml!(schema = 1),
    model!(main "m"),
    stage!(translate "domain" use = "translator-direct" n = 3 roles = { writer = "main" }),
    stage!(select "best" by = "candidate.log_likelihood" keep = 2),
    stage!(refine "ivml" rounds = 2 keep = "last"),
    round!(verify "critique" use = "verifier-critique" roles = { critic = "main" } feedback = ["pddl"]),
    round!(translate "update" use = "translator-direct" roles = { writer = "main" } feedback = ["critique"]),
    round!(verify "pddl" use = "verifier-val" measure = true),
    stage!(verify "final" use = "verifier-val"),
);

type SeenRequests = Arc<Mutex<Vec<(String, String)>>>;

fn place(candidate: &Candidate) -> String {
    candidate.lineage.iter().map(|s| s.sample.to_string()).collect::<Vec<_>>().join(".")
}

fn words(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|m| m.content.as_str()).collect()
}

/// Samples A, B and C, of which B and C are the likeliest.
fn samples() -> StageInstance {
    StageInstance::Translator(Arc::new(Translate(|_: &dyn Host, request: &TranslateRequest| {
        let of = [("A", -9.0), ("B", -4.0), ("C", -6.0)];
        let patch = |(domain, sum): &(&str, f64)| {
            Outcome::Ok(CandidatePatch {
                domain: Some((*domain).to_owned()),
                thought: Some(format!("thought of {domain}")),
                log_likelihood: Some(*sum),
                tokens: Some(2),
                raw_reply: (*domain).to_owned(),
                ..CandidatePatch::default()
            })
        };
        Ok(TranslateResponse { samples: of[..request.n as usize].iter().map(patch).collect() })
    })))
}

/// A critic with its own conversation, which approves texts that end with `!`.
fn critic(asked: &SeenRequests) -> StageInstance {
    let asked = Arc::clone(asked);
    StageInstance::Verifier(Arc::new(Verify(
        move |_: &dyn Host, candidate: &Candidate, request: &VerifyRequest| {
            let domain = candidate.domain.clone().unwrap_or_default();
            let before = request.conversations.first().map(|c| words(c).join(" | ")).unwrap_or_default();
            let told = request.feedback.first().map(|f| f.join(" | ")).unwrap_or_default();
            let thought = candidate.thought.clone().unwrap_or_default();
            let question = format!("critic: {domain}, {thought}; told [{told}]; before [{before}]");
            asked.lock().unwrap().push((place(candidate), question));
            let decision = if domain.ends_with('!') { Decision::Accepted } else { Decision::Rejected };
            let mut assessment = Assessment::new(decision, "criticised");
            assessment.feedback.push(format!("{domain} is wrong"));
            assessment.messages = vec![Message::user(format!("{domain}?")), Message::assistant("wrong")];
            Ok(assessment)
        },
    )))
}

/// Writes the whole domain anew: B becomes B1, then B2; C1 is what the critic approves.
fn update(asked: &SeenRequests) -> StageInstance {
    let asked = Arc::clone(asked);
    StageInstance::Translator(Arc::new(Translate(move |_: &dyn Host, request: &TranslateRequest| {
        let candidate = &request.candidate;
        let domain = candidate.domain.clone().unwrap_or_default();
        let thought = candidate.thought.clone().unwrap_or_default();
        assert!(candidate.conversation.is_empty(), "{:?}", candidate.conversation);
        // Nobody but the critic sees its conversation.
        assert!(candidate.assessments.values().all(|a| a.messages.is_empty()));
        let told = request.feedback.join(" | ");
        asked.lock().unwrap().push((place(candidate), format!("update: {domain}, {thought}; told [{told}]")));
        let round = candidate.lineage.len();
        let end = if domain.starts_with('C') && round == 1 { "!" } else { "" };
        let new = format!("{}{round}{end}", domain.trim_end_matches(|c: char| !c.is_ascii_uppercase()));
        let patch = CandidatePatch {
            thought: Some(format!("thought of {new}")),
            log_likelihood: Some(-1.5),
            tokens: Some(3),
            rewrite: true,
            raw_reply: new.clone(),
            domain: Some(new),
            ..CandidatePatch::default()
        };
        Ok(TranslateResponse { samples: vec![Outcome::Ok(patch)] })
    })))
}

/// A verifier that only measures.
fn measure() -> StageInstance {
    StageInstance::Verifier(Arc::new(Verify(|_: &dyn Host, candidate: &Candidate, _: &VerifyRequest| {
        let mut assessment = Assessment::new(Decision::Accepted, "measured");
        assessment.feedback.push(format!("{} parses", candidate.domain.clone().unwrap_or_default()));
        Ok(assessment)
    })))
}

fn ivml(text: &str) -> (Bench, SeenRequests) {
    let asked = SeenRequests::default();
    let bench = Bench::new(text)
        .stage("domain", samples())
        .stage("critique", critic(&asked))
        .stage("update", update(&asked))
        .stage("pddl", measure())
        .stage("final", measure());
    (bench, asked)
}

fn sorted(asked: &SeenRequests) -> Vec<(String, String)> {
    let mut asked = asked.lock().unwrap().clone();
    asked.sort_by(|a, b| a.0.cmp(&b.0));
    asked
}

/// Thought and domain of every candidate that was made, by path.
fn made_candidates(journal: &MemoryJournal) -> BTreeMap<String, (String, String)> {
    let read = |event: &Event| match event {
        Event::CandidateMade { path, candidate, .. } => {
            let candidate: Candidate = serde_json::from_slice(&journal.get(candidate).unwrap()).unwrap();
            let path = path.trim_start_matches("toys.p01/").to_owned();
            Some((path, (candidate.thought.unwrap_or_default(), candidate.domain.unwrap_or_default())))
        }
        _ => None,
    };
    journal.events().iter().filter_map(read).collect()
}

fn rounds(journal: &MemoryJournal) -> Vec<(String, RoundHistory)> {
    let read = |event: &Event| match event {
        Event::RoundFinished { path, round, best, accepted, best_so_far, history, .. } => {
            // Rounds are compared by nothing.
            assert_eq!(best_so_far, &None);
            let history = serde_json::from_slice(&journal.get(history).unwrap()).unwrap();
            let best = best.clone().unwrap_or_default();
            Some((format!("{path} {round}: {best} {accepted}").replace("toys.p01/", ""), history))
        }
        _ => None,
    };
    let mut rounds: Vec<_> = journal.events().iter().filter_map(read).collect();
    rounds.sort_by(|a, b| a.0.cmp(&b.0));
    rounds
}

fn pair(place: &str, question: &str) -> (String, String) {
    (place.to_owned(), question.to_owned())
}

#[test]
fn ivml_worked_by_hand() {
    let (bench, asked) = ivml(IVML);
    let (report, journal) = bench.run(&tasks(1), 4);
    // Every question. B: two rounds. C: the critic approves C1 in the second, and nothing more is written.
    assert_eq!(
        sorted(&asked),
        [
            pair("1", "critic: B, thought of B; told []; before []"),
            pair("1", "update: B, thought of B; told [B is wrong]"),
            pair("1.0", "critic: B1, thought of B1; told [B1 parses]; before [B? | wrong]"),
            pair("1.0", "update: B1, thought of B1; told [B1 is wrong]"),
            pair("2", "critic: C, thought of C; told []; before []"),
            pair("2", "update: C, thought of C; told [C is wrong]"),
            pair("2.0", "critic: C1!, thought of C1!; told [C1! parses]; before [C? | wrong]"),
        ]
    );
    let rounds = rounds(&journal);
    let ended: Vec<&str> = rounds.iter().map(|(round, _)| round.as_str()).collect();
    assert_eq!(
        ended,
        [
            "domain/1 1: update#1/1.0 false",
            "domain/1 2: update#2/1.0.0 false",
            "domain/2 1: update#1/2.0 false",
            "domain/2 2: update#1/2.0 true",
        ]
    );
    // What the next round is asked with: the critic's memory, and what was said of the new domain.
    let first = &rounds[0].1;
    assert_eq!(first.told, BTreeMap::from([("critique".to_owned(), vec!["B1 parses".to_owned()])]));
    assert_eq!(words(&first.conversations["critique"]), ["B?", "wrong"]);
    assert_eq!((first.path.as_str(), first.feedback.len()), ("toys.p01/update#1/1.0", 0));
    assert_eq!(words(&rounds[1].1.conversations["critique"]), ["B?", "wrong", "B1?", "wrong"]);
    // Thought T_i and domain D_i of every round are in the record.
    let both = |domain: &str| (format!("thought of {domain}"), domain.to_owned());
    let wanted = [
        ("domain/0", "A"),
        ("domain/1", "B"),
        ("domain/2", "C"),
        ("update#1/1.0", "B1"),
        ("update#2/1.0.0", "B2"),
        ("update#1/2.0", "C1!"),
    ];
    let wanted: BTreeMap<_, _> = wanted.iter().map(|(path, d)| ((*path).to_owned(), both(d))).collect();
    assert_eq!(made_candidates(&journal), wanted);
    let task = &report.tasks[0];
    assert_eq!(
        (task.path.as_deref(), &task.verdict),
        (Some("toys.p01/update#2/1.0.0"), &Some(TaskVerdict::Accepted))
    );
    // A reply that states everything anew has the likelihood of that reply alone.
    let candidate = task.candidate.as_ref().unwrap();
    assert_eq!((candidate.log_likelihood, candidate.tokens), (Some(-1.5), Some(3)));
    let refine = task.stages.iter().find(|stage| stage.label == "ivml").unwrap();
    let outcomes = [("accepted", 1), ("best", 1), ("rounds", 4)];
    assert_eq!(refine.outcomes, outcomes.map(|(k, v)| (k.to_owned(), v)).into());
    // By what the three were compared is in the report and in the record.
    assert_eq!(task.stages[1].compared, BTreeMap::from([("candidate.log_likelihood".to_owned(), 1)]));
    let groups = journal.events().into_iter().find_map(|event| match event {
        Event::Selected { groups, .. } => Some(groups),
        _ => None,
    });
    let group = SelectedGroup {
        group: "toys.p01/start/-".into(),
        by: "candidate.log_likelihood".into(),
        members: 3,
        without_value: 0,
    };
    assert_eq!(groups, Some(vec![group]));
}

#[test]
fn with_stop_never_all_rounds_are_made() {
    let text = IVML.replace("keep = \"last\"", "keep = \"last\"\nstop = \"never\"");
    let (bench, asked) = ivml(&text);
    let (_, journal) = bench.run(&tasks(1), 2);
    assert_eq!(sorted(&asked).last().unwrap().1, "update: C1!, thought of C1!; told [C1! is wrong]");
    assert!(made_candidates(&journal).contains_key("update#2/2.0.0"));
}

#[test]
fn what_the_critic_approves_at_once_is_returned_as_it_came_in() {
    let text = IVML.replace("measure = true\n", "");
    let (bench, asked) = ivml(&text);
    let approves = Verify(|_: &dyn Host, _: &Candidate, _: &VerifyRequest| {
        Ok(Assessment::new(Decision::Accepted, "good"))
    });
    let bench = bench.stage("critique", StageInstance::Verifier(Arc::new(approves)));
    let (report, journal) = bench.run(&tasks(1), 2);
    assert_eq!(sorted(&asked), []);
    assert_eq!(rounds(&journal)[0].0, "domain/1 1: domain/1 true");
    // That no stage of the round judged a child is not held against it.
    assert_eq!(report.tasks[0].verdict, Some(TaskVerdict::Accepted));
    assert!(report.tasks[0].candidate.as_ref().unwrap().assessments.contains_key("critique"));
}

#[test]
fn where_no_update_can_be_used_what_came_in_is_returned_with_the_critic_s_word() {
    let (bench, asked) = ivml(IVML);
    let told = Arc::clone(&asked);
    let nothing = Translate(move |_: &dyn Host, request: &TranslateRequest| {
        told.lock().unwrap().push((place(&request.candidate), request.feedback.join(" | ")));
        let failure = Failure::new(FailureClass::Reply, "test.reply", "no domain in the reply");
        Ok(TranslateResponse { samples: vec![Outcome::Failure(failure)] })
    });
    let (report, _) = bench.stage("update", StageInstance::Translator(Arc::new(nothing))).run(&tasks(1), 2);
    let task = &report.tasks[0];
    assert_eq!(task.path.as_deref(), Some("toys.p01/domain/1"));
    assert!(
        matches!(&task.verdict, Some(TaskVerdict::Rejected { stage, .. }) if stage == "critique"),
        "{:?}",
        task.verdict
    );
    // The critic is asked again, and the writer is told why its last reply was of no use.
    let of_b: Vec<String> =
        sorted(&asked).into_iter().filter(|(place, _)| place == "1").map(|(_, q)| q).collect();
    assert_eq!(of_b[2], "critic: B, thought of B; told []; before [B? | wrong]");
    assert!(of_b[3].starts_with("B is wrong | The last question got no answer"), "{of_b:?}");
}

/// Writer and critic behind the host, so that completions are recorded. The critic goes on with its own conversation.
fn asking() -> Bench {
    let text = IVML.replace("rounds = 2", "rounds = 3").replace(
        "by = \"candidate.log_likelihood\"",
        "by = \"candidate.log_likelihood\"\notherwise = \"candidate.mean_log_likelihood\"",
    );
    let critic = Verify(|host: &dyn Host, candidate: &Candidate, request: &VerifyRequest| {
        let question = Message::user(format!(
            "judge {} {:?}",
            candidate.problem.as_deref().unwrap_or_default(),
            request.feedback
        ));
        let mut messages = request.conversations.first().cloned().unwrap_or_default();
        messages.push(question.clone());
        let replies =
            host.complete("critic", CompletionRequest { messages, ..CompletionRequest::default() })?;
        let reply = replies.replies[0].content.clone();
        let decision = if number(&reply).is_multiple_of(5) { Decision::Accepted } else { Decision::Rejected };
        let mut assessment = Assessment::new(decision, "criticised");
        assessment.feedback.push(reply.clone());
        assessment.messages = vec![question, Message::assistant(reply)];
        Ok(assessment)
    });
    Bench::new(&text).stage("critique", StageInstance::Verifier(Arc::new(critic)))
}

/// One job, four and sixteen, a replay, and a crash after every event come to the same bytes, and nothing is paid for twice.
fn nothing_changes(make: impl Fn() -> Bench) {
    jobs_and_replays_change_nothing(&make, &tasks(2), &[4, 16]);
    crashes_lose_nothing(&make, &tasks(1));
}

#[test]
fn jobs_crashes_and_replays_change_nothing_about_rounds_that_begin_with_a_critic() {
    let (_, journal) = asking().run(&tasks(2), 2);
    let ended = |wanted: bool| {
        journal
            .events()
            .iter()
            .any(|e| matches!(e, Event::RoundFinished { accepted, .. } if *accepted == wanted))
    };
    assert!(ended(true) && ended(false), "the script is worth running");
    nothing_changes(asking);
}

const PASS: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true),
    model!(main "m"),
    stage!(plan "plan" use = "planner-llm" n = 8 roles = { planner = "main" }),
    stage!(verify "valid" use = "verifier-val"),
);

/// A planner that asks a model: as many steps as the number in the reply; a multiple of seven is not a plan.
fn asking_planner() -> StageInstance {
    StageInstance::Planner(Arc::new(Plan(|host: &dyn Host, request: &PlanRequest| {
        let question = format!("plan {:?} {:?}", request.previous, request.feedback);
        let messages = vec![Message::user(question)];
        let replies =
            host.complete("planner", CompletionRequest { messages, ..CompletionRequest::default() })?;
        let number = number(&replies.replies[0].content);
        if number.is_multiple_of(7) {
            return Err(Failure::new(FailureClass::Reply, "test.nothing", "no plan in the reply"));
        }
        Ok(one_plan((0..=number % 9).map(|i| format!("(step{i} a)")).collect()))
    })))
}

/// Accepts plans of exactly this many steps.
fn of_length(wanted: usize) -> StageInstance {
    StageInstance::Verifier(Arc::new(Verify(
        move |_: &dyn Host, candidate: &Candidate, _: &VerifyRequest| {
            let steps =
                candidate.plan.as_ref().and_then(PlanOutcome::best).map_or(0, |plan| plan.steps.len());
            let decision = if steps == wanted { Decision::Accepted } else { Decision::Rejected };
            let mut assessment = Assessment::new(decision, format!("{steps} steps"));
            assessment.feedback.push(format!("{steps} steps are not {wanted}"));
            Ok(assessment)
        },
    )))
}

fn pass() -> Bench {
    Bench::new(PASS).stage("plan", asking_planner()).stage("valid", of_length(4))
}

#[test]
fn each_of_several_plans_is_a_child_and_the_best_gives_the_verdict() {
    let (report, journal) = pass().run(&tasks(1), 4);
    let events = journal.events();
    let mut paths: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::CandidateMade { path, .. } | Event::SampleFailed { path, .. } => Some(path.clone()),
            _ => None,
        })
        .collect();
    paths.sort();
    let wanted: Vec<String> = (0..8).map(|i| format!("toys.p01/plan/{i}")).collect();
    assert_eq!(paths, wanted);
    // One question, and eight answers by seeds of their own.
    let prompts = bench_prompts(&pass());
    assert!(prompts.windows(2).all(|pair| pair[0] == pair[1]) && prompts.len() == 8);
    let outcomes: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::Planned { outcome, .. } => Some(outcome.clone()),
            _ => None,
        })
        .collect();
    assert!(outcomes.iter().collect::<std::collections::BTreeSet<_>>().len() > 2, "{outcomes:?}");
    let steps = |event: &Event| match event {
        Event::Planned { path, outcome, .. } => {
            let outcome: PlanOutcome = serde_json::from_slice(&journal.get(outcome).unwrap()).unwrap();
            Some((path.clone(), outcome.best().unwrap().steps.len()))
        }
        _ => None,
    };
    let planned: Vec<(String, usize)> = events.iter().filter_map(steps).collect();
    let best = planned.iter().find(|(_, steps)| *steps == 4).or(planned.first()).unwrap();
    assert_eq!(report.tasks[0].path.as_ref(), Some(&best.0));
    assert_eq!(report.tasks[0].verdict == Some(TaskVerdict::Accepted), best.1 == 4);
}

fn bench_prompts(bench: &Bench) -> Vec<String> {
    let _ = bench.run(&tasks(1), 2);
    bench.provider.prompts.lock().unwrap().clone()
}

#[test]
fn jobs_crashes_and_replays_change_nothing_about_several_plans() {
    nothing_changes(pass);
}

const SELF_CRITIQUE: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true),
    model!(main "m"),
    stage!(verify "pddl" use = "verifier-val"),
    stage!(plan "plan" use = "planner-llm" roles = { planner = "main" }),
    stage!(refine "self-critique" rounds = 3 keep = "last"),
    round!(verify "critique" use = "verifier-critique" roles = { critic = "main" }),
    round!(plan "again" use = "planner-llm" roles = { planner = "main" } feedback = ["critique"]),
    stage!(verify "valid" use = "verifier-val"),
);

/// Plans with one step more than the plan that it gets, and notes what it was asked.
fn longer(asked: &SeenRequests) -> StageInstance {
    let asked = Arc::clone(asked);
    StageInstance::Planner(Arc::new(Plan(move |_: &dyn Host, request: &PlanRequest| {
        let steps = request.previous.as_ref().map_or(0, |plan| plan.steps.len());
        asked.lock().unwrap().push((steps.to_string(), request.feedback.join(" | ")));
        Ok(one_plan((0..=steps).map(|i| format!("(step{i} a)")).collect()))
    })))
}

fn self_critique(wanted: usize, valid: usize) -> (Bench, SeenRequests) {
    let asked = SeenRequests::default();
    let bench = Bench::new(SELF_CRITIQUE)
        .stage("pddl", measure())
        .stage("plan", longer(&asked))
        .stage("critique", of_length(wanted))
        .stage("again", longer(&asked))
        .stage("valid", of_length(valid));
    (bench, asked)
}

#[test]
fn a_plan_is_written_anew_until_its_critic_approves() {
    let (bench, asked) = self_critique(3, 3);
    let (report, journal) = bench.run(&tasks(1), 1);
    assert_eq!(
        sorted(&asked),
        [pair("0", ""), pair("1", "1 steps are not 3"), pair("2", "2 steps are not 3")]
    );
    // The critic's word on plans that are no more is void; its approval ends the rounds.
    let task = &report.tasks[0];
    assert_eq!(
        (task.path.as_deref(), &task.verdict),
        (Some("toys.p01/again#2/0.0"), &Some(TaskVerdict::Accepted))
    );
    assert_eq!(journal.events().iter().filter(|e| matches!(e, Event::RoundFinished { .. })).count(), 3);
}

#[test]
fn a_critic_that_never_approves_leaves_the_verdict_to_what_judges_the_last_plan() {
    let (bench, asked) = self_critique(9, 4);
    let (report, _) = bench.run(&tasks(1), 1);
    assert_eq!(sorted(&asked).len(), 4);
    assert_eq!(report.tasks[0].verdict, Some(TaskVerdict::Accepted));
    // What was said of the domain still counts: a rejected domain is not planned for, and not accepted.
    let (bench, asked) = self_critique(9, 4);
    let (report, _) = bench.stage("pddl", of_length(9)).run(&tasks(1), 1);
    assert_eq!(sorted(&asked), []);
    assert!(matches!(&report.tasks[0].verdict, Some(TaskVerdict::Rejected { stage, .. }) if stage == "pddl"));
}

#[test]
fn jobs_crashes_and_replays_change_nothing_about_plans_that_are_written_anew() {
    nothing_changes(|| {
        Bench::new(SELF_CRITIQUE)
            .stage("pddl", measure())
            .stage("plan", asking_planner())
            .stage("critique", of_length(20))
            .stage("again", asking_planner())
    });
}

/// A domain is written for a given problem, judged with it, and the critic gets the reason why there is no
/// plan.
#[test]
fn a_given_problem_goes_with_the_written_domain() {
    let text = concat!(
        toml!(schema = 1),
        table!("given" text = false problem = true),
        model!(main "m"),
        stage!(translate "domain" use = "translator-direct" roles = { writer = "main" }),
        stage!(plan "plan" use = "planner-classical"),
        stage!(verify "critique" use = "verifier-critique" roles = { critic = "main" } feedback = ["plan"]),
        stage!(translate "update" use = "translator-direct" roles = { writer = "main" } feedback = ["plan", "critique"]),
    );
    let asked = SeenRequests::default();
    let (of_critic, of_writer) = (Arc::clone(&asked), Arc::clone(&asked));
    let planner = Plan(|_: &dyn Host, request: &PlanRequest| {
        assert_eq!((request.domain.as_str(), request.problem.as_str()), ("A", "(problem given)"));
        let explanation = vec!["(done a) can never hold".to_owned()];
        Ok(PlanOutcome::ProvenUnsolvable { explanation, statistics: SearchStatistics::default() })
    });
    let critic = Verify(move |_: &dyn Host, candidate: &Candidate, request: &VerifyRequest| {
        assert_eq!(candidate.problem.as_deref(), Some("(problem given)"));
        of_critic.lock().unwrap().push(("critic".to_owned(), request.feedback.concat().join(" ")));
        let mut assessment = Assessment::new(Decision::Rejected, "no");
        assessment.feedback.push("said the critic".into());
        Ok(assessment)
    });
    let writer = Translate(move |_: &dyn Host, request: &TranslateRequest| {
        assert_eq!(request.candidate.problem.as_deref(), Some("(problem given)"));
        of_writer.lock().unwrap().push(("writer".to_owned(), request.feedback.join(" ")));
        Ok(TranslateResponse {
            samples: vec![Outcome::Ok(CandidatePatch {
                domain: Some("D".into()),
                ..CandidatePatch::default()
            })],
        })
    });
    let bench = Bench::new(text)
        .stage("domain", samples())
        .stage("plan", StageInstance::Planner(Arc::new(planner)))
        .stage("critique", StageInstance::Verifier(Arc::new(critic)))
        .stage("update", StageInstance::Translator(Arc::new(writer)));
    let mut tasks = tasks(1);
    tasks[0].view.given = Given { domain: None, problem: Some("(problem given)".into()) };
    let (report, _) = bench.run(&tasks, 1);
    let asked = sorted(&asked);
    let why = "By the domain and the problem there is no plan; this is proven.\n\n(done a) can never hold.";
    assert_eq!(asked, [pair("critic", why), pair("writer", &format!("{why} said the critic"))]);
    let candidate = report.tasks[0].candidate.as_ref().unwrap();
    assert_eq!(
        (candidate.domain.as_deref(), candidate.problem.as_deref()),
        (Some("D"), Some("(problem given)"))
    );
}
