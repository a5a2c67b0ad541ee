//! Counts from the journal of a run: readable replies and their errors, and plans that were tried.

use super::judges::Judges;
use crate::history::{History, MadeCandidate, TaskHistory};
use planforge_contract::{Decision, FailureClass};
use planforge_diagnostics::{Diagnostic, Severity};
use planforge_pddl::{TaskSources, check_domain, check_problem, parse_domain, parse_problem};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The replies of the stages that write PDDL, over all tasks of a cell: first samples and updates alike.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replies {
    /// Replies that came.
    pub replies: u64,
    /// Those that held PDDL: it could be taken out of the reply, and has what a domain or problem has.
    pub parsed: u64,
    /// Those whose PDDL has no error for planforge's reader.
    pub clean: u64,
    /// Errors in all that held PDDL.
    pub errors: u64,
    /// Warnings in all that held PDDL.
    pub warnings: u64,
}

impl Replies {
    /// Counts; nothing where the pipeline has no writer.
    pub(super) fn of(history: &History, judges: &Judges) -> Option<Self> {
        if judges.writers.is_empty() {
            return None;
        }
        let mut sum = Self::default();
        for task in &history.tasks {
            let written = |made: &&MadeCandidate| {
                judges.writers.contains(&made.stage) && !made.patch.raw_reply.is_empty()
            };
            for made in task.candidates.iter().filter(written) {
                sum.replies += 1;
                let Some((errors, warnings)) = findings(made) else { continue };
                sum.parsed += 1;
                sum.clean += u64::from(errors == 0);
                sum.errors += errors;
                sum.warnings += warnings;
            }
            // Unusable replies count; other failures are not replies.
            let unusable = |(path, failure): &&(String, planforge_contract::Failure)| {
                failure.class == FailureClass::Reply
                    && stage_of(path, &task.task)
                        .is_some_and(|stage| judges.writers.iter().any(|w| w == stage))
            };
            sum.replies += task.failed.iter().filter(unusable).count() as u64;
        }
        Some(sum)
    }

    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.replies += other.replies;
        self.parsed += other.parsed;
        self.clean += other.clean;
        self.errors += other.errors;
        self.warnings += other.warnings;
    }
}

/// The stage in a sample path, without its round.
fn stage_of<'a>(path: &'a str, task: &str) -> Option<&'a str> {
    let stage = path.strip_prefix(task)?.strip_prefix('/')?.split('/').next()?;
    Some(stage.split_once('#').map_or(stage, |(label, _)| label))
}

/// Errors and warnings in what a reply wrote; nothing where it wrote no PDDL.
pub(super) fn findings(made: &MadeCandidate) -> Option<(u64, u64)> {
    let ids = TaskSources::default();
    let text = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let (new_domain, new_problem) = (text(&made.patch.domain), text(&made.patch.problem));
    if new_domain.is_none() && new_problem.is_none() {
        return None;
    }
    let domain = text(&made.candidate.domain).map(|text| parse_domain(&text, ids.domain));
    let mut found: Vec<Diagnostic> = Vec::new();
    if let Some(domain) = domain.as_ref().filter(|_| new_domain.is_some()) {
        found.extend(domain.diagnostics.iter().cloned());
        found.extend(check_domain(&domain.value, ids.domain));
    }
    if let Some(text) = &new_problem {
        let problem = parse_problem(text, ids.problem);
        found.extend(problem.diagnostics.iter().cloned());
        if let Some(domain) = &domain {
            found.extend(check_problem(&domain.value, &problem.value, ids));
        }
    }
    let count = |severity| found.iter().filter(|d| d.severity == severity).count() as u64;
    Some((count(Severity::Error), count(Severity::Warning)))
}

/// The metrics of `verifier-val` that count as classes of failure (test-time-scaling paper, section 4.6), with the words for tables.
pub const PLAN_FAILURES: [(&str, &str); 4] = [
    ("rule_violation", "rule violation"),
    ("wrong_state", "wrong state"),
    ("wrong_goal_claim", "wrong goal claim"),
    ("wrong_self_evaluation", "wrong self-evaluation"),
];

/// The plans of a task that a stage judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTries {
    /// Plans that were judged.
    pub plans: u64,
    /// Plans that were accepted: with one of them the task counts for Pass@k.
    pub valid: u64,
    /// Plans of each class of failure, by the metric's name. A plan may be of several.
    pub failures: BTreeMap<String, u64>,
}

impl PlanTries {
    /// Counts; nothing where no plan was judged.
    pub(super) fn of(task: &TaskHistory, judges: &Judges) -> Option<Self> {
        let label = judges.solved_by.as_ref()?;
        let mut tries = Self::default();
        for assessments in task.candidates.iter().map(|made| &made.assessments).chain([&task.start]) {
            match assessments.get(label).map(|assessment| &assessment.decision) {
                Some(Decision::Accepted) => tries.valid += 1,
                Some(Decision::Rejected) => {}
                _ => continue,
            }
            tries.plans += 1;
            for (name, _) in PLAN_FAILURES {
                let said = assessments.values().filter_map(|assessment| assessment.metrics.get(name));
                if said.fold(0.0_f64, |most, value| most.max(*value)) > 0.0 {
                    *tries.failures.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
        (tries.plans > 0).then_some(tries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::JournalBuilder;
    use planforge_contract::Assessment;

    const GOOD: &str = "(define (domain d) (:predicates (p)) (:action a :parameters () :precondition (p) :effect (not (p))))";

    #[test]
    fn replies_are_counted_by_what_can_be_read_of_them() {
        let journal = JournalBuilder::new();
        journal.made("s.p01", "domain/0", GOOD, None);
        journal.made("s.p01", "domain/1", &GOOD.replace("(not (p))", "(not (q))"), None);
        journal.made("s.p01", "domain/0 update#1/0", GOOD, None);
        journal.failed("s.p01", "s.p01/domain/2", FailureClass::Reply);
        journal.failed("s.p01", "s.p01/update#2/0.0.1", FailureClass::Reply);
        // A server that is down gave no reply, and a critic writes no PDDL.
        journal.failed("s.p01", "s.p01/domain/3", FailureClass::Provider);
        journal.failed("s.p01", "s.p01/critique/0", FailureClass::Reply);
        let history = History::read(&journal.0).unwrap();
        let judges = Judges { writers: vec!["domain".to_owned(), "update".to_owned()], ..Judges::default() };
        let replies = Replies::of(&history, &judges).unwrap();
        assert_eq!((replies.replies, replies.parsed, replies.clean), (5, 3, 2));
        assert!(replies.errors >= 1);
        assert_eq!(Replies::of(&history, &Judges::default()), None);
    }

    #[test]
    fn plans_are_counted_with_their_failures() {
        let journal = JournalBuilder::new();
        let judged = |descent: &str, decision, metrics: &[(&str, f64)]| {
            let path = journal.made("s.p01", descent, GOOD, None);
            let mut assessment = Assessment::new(decision, "");
            assessment.metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
            journal.assessed("s.p01", "valid", &path, &assessment);
        };
        judged("plan/0", Decision::Accepted, &[("rule_violation", 0.0)]);
        judged("plan/1", Decision::Rejected, &[("rule_violation", 1.0), ("wrong_state", 3.0)]);
        judged("plan/2", Decision::NotComparable { message: String::new() }, &[]);
        // A pipeline that asks for one plan makes no candidate: its start is judged.
        let mut single = Assessment::new(Decision::Rejected, "");
        single.metrics.insert("wrong_goal_claim".to_owned(), 1.0);
        journal.assessed("s.p02", "valid", "s.p02/start/-", &single);
        let history = History::read(&journal.0).unwrap();
        let judges = Judges { solved_by: Some("valid".to_owned()), ..Judges::default() };
        let one = PlanTries::of(history.task("p02").unwrap(), &judges).unwrap();
        assert_eq!((one.plans, one.valid, one.failures["wrong_goal_claim"]), (1, 0, 1));
        let tries = PlanTries::of(&history.tasks[0], &judges).unwrap();
        assert_eq!((tries.plans, tries.valid), (2, 1));
        assert_eq!(tries.failures["wrong_state"], 1);
        assert!(!tries.failures.contains_key("wrong_goal_claim"));
    }
}
