//! Budget stages whose arms are branches: equal problems are one, each branch goes on from its last candidate, and the search ends
//! with the first accepted one.

use crate::common::*;
use planforge_contract::api::{Host, Translator, Verifier};
use planforge_contract::*;
use planforge_pipeline::*;
use planforge_record::{BudgetEnd, Event, Journal, MemoryJournal, TaskVerdict};
use std::collections::BTreeMap;
use std::sync::Arc;

const TREE: &str = concat!(
    toml!(schema = 1 seed = 7),
    model!(main "scripted"),
    stage!(translate "first" use = "translator-direct" n = 4 roles = { writer = "main" }),
    stage!(budget "search" by = "score.score" arms = "branches" forget = ["conversation"] width = 1),
    table!("stage.budget" calls = 24),
    round!(translate "edit" use = "translator-direct" roles = { writer = "main" } feedback = ["score"]),
    judge!(verify "score" use = "verifier-val"),
);

/// The second problem is the first in other words, the third has another goal, and the fourth does not parse.
const PROBLEMS: [&str; 4] = [
    "(define (problem one) (:domain d) (:objects a b - t) (:init (at a) (at b)) (:goal (in a)))",
    "(define (problem two) (:domain e)\n (:objects b a - t) (:init (at b) (AT a)) (:goal (and (in a))))",
    "(define (problem one) (:domain d) (:objects a b - t) (:init (at a) (at b)) (:goal (in b)))",
    "(define (problem",
];

fn problems() -> Arc<dyn Translator> {
    Arc::new(Translate(|_: &dyn Host, _: &TranslateRequest| {
        let patch = |problem: &&str| {
            let messages = vec![Message::user("a problem")];
            Outcome::Ok(CandidatePatch {
                problem: Some((*problem).to_owned()),
                messages,
                ..CandidatePatch::default()
            })
        };
        Ok(TranslateResponse { samples: PROBLEMS.iter().map(patch).collect() })
    }))
}

/// Writes a number as the domain, a little more than before or a little less. Only under the first problem does it pass 15.
fn edits() -> Arc<dyn Translator> {
    Arc::new(Translate(|host: &dyn Host, request: &TranslateRequest| {
        let candidate = &request.candidate;
        assert!(candidate.conversation.is_empty(), "the conversation about the problem is forgotten");
        let old = number(candidate.domain.as_deref().unwrap_or("0"));
        let problem = candidate.problem.as_deref().unwrap_or_default();
        let text = format!("{} {problem} {old} {:?}", request.task.task_text, request.feedback);
        let asked = CompletionRequest { messages: vec![Message::user(text)], ..CompletionRequest::default() };
        let drawn = number(&host.complete("writer", asked)?.replies[0].content);
        let most = if problem == PROBLEMS[0] { 1000 } else { 15 };
        let value = (old + drawn % 15).saturating_sub(4).clamp(1, most);
        let patch = CandidatePatch { domain: Some(format!("({value})")), ..CandidatePatch::default() };
        Ok(TranslateResponse { samples: vec![Outcome::Ok(patch)] })
    }))
}

fn scores(goal: u64) -> Arc<dyn Verifier> {
    Arc::new(Verify(move |_: &dyn Host, candidate: &Candidate, _: &VerifyRequest| {
        let Some(domain) = candidate.domain.as_deref() else {
            return Ok(Assessment::new(Decision::Rejected, "there is no domain"));
        };
        let value = number(domain);
        let decision = if value >= goal { Decision::Accepted } else { Decision::Rejected };
        let mut assessment = Assessment::new(decision, format!("worth {value}"));
        assessment.metrics.insert("score".into(), value as f64 / 100.0);
        Ok(assessment)
    }))
}

fn bench(text: &str, goal: u64) -> Bench {
    Bench::new(text)
        .stage("first", StageInstance::Translator(problems()))
        .stage("edit", StageInstance::Translator(edits()))
        .stage("score", StageInstance::Verifier(scores(goal)))
}

/// The arms of all pulls of the first task.
fn arms(journal: &MemoryJournal) -> Vec<String> {
    let pull = |event| match event {
        Event::BudgetPulled { pull: 1.., arm, task, .. } if task.ends_with("p01") => Some(arm),
        _ => None,
    };
    journal.events().into_iter().filter_map(pull).collect()
}

/// The problem that an arm descends from: the first index of its lineage.
fn branch(arm: &str) -> char {
    arm.rsplit('/').next().and_then(|lineage| lineage.chars().next()).expect("a lineage")
}

fn budget(task: &TaskReport) -> &BudgetReport {
    task.stages.iter().find_map(|stage| stage.budget.as_ref()).expect("a budget stage")
}

#[test]
fn equal_problems_are_one_branch_and_a_stalled_branch_is_left() {
    let text = TREE.replace("calls = 24", "calls = 60");
    let (report, journal) = bench(&text, 10_000).run(&tasks(1), 1);
    assert_eq!(budget(&report.tasks[0]).end, BudgetEnd::Spent);
    assert_eq!(budget(&report.tasks[0]).spent.calls, 60);
    let mut pulls: BTreeMap<char, usize> = BTreeMap::new();
    arms(&journal).iter().for_each(|arm| *pulls.entry(branch(arm)).or_default() += 1);
    assert_eq!(pulls.get(&'1'), None, "the second problem equals the first: {pulls:?}");
    assert!(pulls.contains_key(&'2') && pulls.contains_key(&'3'), "the others differ: {pulls:?}");
    assert!(pulls[&'0'] > pulls[&'2'] + pulls[&'3'], "the branch that gets on is refined most: {pulls:?}");
}

#[test]
fn a_branch_goes_on_from_its_last_candidate() {
    let (_, journal) = bench(TREE, 10_000).run(&tasks(1), 1);
    for branch_of in ['0', '2', '3'] {
        let own: Vec<String> = arms(&journal).into_iter().filter(|arm| branch(arm) == branch_of).collect();
        // The dots of the path: one in the task's name, and one for each step after the problem.
        let lengths: Vec<usize> = own.iter().map(|arm| arm.matches('.').count()).collect();
        assert!(lengths.windows(2).all(|two| two[1] <= two[0] + 1), "{own:?}");
        assert!(lengths.iter().max() > Some(&2) || lengths.len() < 3, "{own:?}");
        assert_eq!(lengths.first(), Some(&1), "it begins with the problem: {own:?}");
    }
}

#[test]
fn the_first_accepted_candidate_ends_the_search() {
    let (report, journal) = bench(TREE, 12).run(&tasks(1), 1);
    let task = &report.tasks[0];
    assert_eq!((&task.verdict, budget(task).end), (&Some(TaskVerdict::Accepted), BudgetEnd::Accepted));
    let accepted: Vec<bool> = journal
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::BudgetPulled { accepted, .. } => Some(accepted),
            _ => None,
        })
        .collect();
    assert!(accepted.len() < 24 && accepted.iter().filter(|a| **a).count() == 1, "{accepted:?}");
    assert_eq!(accepted.last(), Some(&true), "nothing is asked afterwards");
}

#[test]
fn jobs_a_crash_and_a_replay_change_nothing() {
    for width in ["width = 1", "width = 3"] {
        let text = TREE.replace("width = 1", width);
        jobs_and_replays_change_nothing(|| bench(&text, 10_000), &tasks(3), &[16, 16]);
        let short = text.replace("calls = 24", "calls = 5");
        crashes_lose_nothing(|| bench(&short, 10_000), &tasks(1));
    }
}
