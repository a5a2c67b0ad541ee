//! Refine stages: Algorithm 1 of the exploration-walk paper (section 4.4) for each candidate on its own.
//!
//! A round's children share the history h of the candidate that they are made from: its conversation, and the feedback on it.
//! The best child alone, with its own conversation, goes into the next round. The best of all rounds is returned.

use super::beam::{Entry, Standing, better, standing};
use super::context::{Context, TaskRun};
use super::path::candidate_path;
use super::report::{FailedSample, StageReport};
use super::stage::{self, Step};
use super::translate::feedback;
use crate::config::{ContinueFrom, Forget, KeepRound, RefineStage, Stage};
use planforge_contract::{Event, Failure, FailureClass, ReportedSeverity, RoundHistory};
use std::cmp::Ordering;

/// Runs a refine stage. Candidates are refined at the same time; only their calls count against the number of jobs.
pub(super) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &RefineStage,
    beam: Vec<Entry>,
) -> Result<Step, Failure> {
    let ended = context.pool.drive(&beam, |entry| {
        let path = candidate_path(&task.task.name, &entry.candidate.lineage);
        let reports = stage.round.iter().map(report).collect();
        Refinement { context, task, stage, path, reports, rounds: 0, failed: Vec::new() }.run(entry.clone())
    });
    let mut step = Step { inner: stage.round.iter().map(report).collect(), ..Step::default() };
    for result in ended {
        let (end, refinement) = result?;
        *step.outcomes.entry("rounds".to_owned()).or_insert(0) += refinement.rounds as usize;
        for (all, one) in step.inner.iter_mut().zip(refinement.reports) {
            add(all, one);
        }
        match end {
            End::Returned { entry, accepted } => {
                step.count(if accepted { "accepted" } else { "best" });
                step.beam.push(*entry);
            }
            End::Nothing => {
                step.count("nothing");
                step.failed.extend(refinement.failed);
            }
            End::Parked => step.parked = true,
            End::Interrupted => step.interrupted = true,
        }
    }
    Ok(step)
}

pub(super) fn report(stage: &Stage) -> StageReport {
    StageReport {
        label: stage.label().to_owned(),
        kind: stage.kind().name().to_owned(),
        entered: 0,
        left: 0,
        outcomes: std::collections::BTreeMap::new(),
        failed: Vec::new(),
        budget: None,
    }
}

pub(super) fn add(all: &mut StageReport, one: StageReport) {
    all.entered += one.entered;
    all.left += one.left;
    for (outcome, count) in one.outcomes {
        *all.outcomes.entry(outcome).or_insert(0) += count;
    }
    all.failed.extend(one.failed);
}

/// How the refinement of one candidate ended.
enum End {
    Returned {
        entry: Box<Entry>,
        accepted: bool,
    },
    /// No round had a child.
    Nothing,
    /// An answer comes later: which child is the best cannot be said before.
    Parked,
    Interrupted,
}

/// A candidate with what rounds are compared by.
#[derive(Clone)]
struct Rated {
    entry: Entry,
    /// Every stage of the round accepted it.
    accepted: bool,
    value: Option<f64>,
}

impl Rated {
    /// The better comes first: one that is accepted, then by the metric.
    fn compare(&self, other: &Self, stage: &RefineStage) -> Ordering {
        other.accepted.cmp(&self.accepted).then_with(|| better(self.value, other.value, stage.order))
    }
}

/// The refinement of one candidate.
struct Refinement<'a> {
    context: &'a Context<'a>,
    task: &'a TaskRun<'a>,
    stage: &'a RefineStage,
    /// The candidate's path as it came in.
    path: String,
    reports: Vec<StageReport>,
    /// Rounds that were begun.
    rounds: u32,
    failed: Vec<FailedSample>,
}

/// What a round came to.
enum Round {
    Children(Vec<Entry>),
    /// No sample came to anything, for these reasons.
    Lost(Vec<String>),
    Parked,
    Interrupted,
}

impl Refinement<'_> {
    fn run(mut self, entered: Entry) -> Result<(End, Self), Failure> {
        let mut current = forget(self.stage, self.context.position(&self.stage.label), entered);
        let mut best = self.round_zero(&current);
        let mut last = None;
        for round in 1..=self.stage.rounds {
            self.rounds = round;
            let children = match self.round(round, &current)? {
                Round::Children(children) => children,
                Round::Lost(reasons) => {
                    current.unusable = reasons;
                    self.record(round, None, best.as_ref(), &current)?;
                    continue;
                }
                Round::Parked => return Ok((End::Parked, self)),
                Round::Interrupted => return Ok((End::Interrupted, self)),
            };
            let Some(of_round) = self.best_of(children) else { continue };
            // Strictly better: ties go to the earlier round.
            if best.as_ref().is_none_or(|best| of_round.compare(best, self.stage).is_lt()) {
                best = Some(of_round.clone());
            }
            let next = match (self.stage.continue_from, &best) {
                (ContinueFrom::BestSoFar, Some(best)) => best,
                _ => &of_round,
            };
            current = Entry { unusable: Vec::new(), ..next.entry.clone() };
            self.record(round, Some(&of_round), best.as_ref(), &current)?;
            let accepted = of_round.accepted;
            last = Some(of_round);
            if accepted {
                break;
            }
        }
        let kept = match self.stage.keep {
            KeepRound::Best => best,
            KeepRound::Last => last.or(best),
        };
        let end = kept.map_or(End::Nothing, |Rated { entry, accepted, .. }| End::Returned {
            entry: Box::new(entry),
            accepted,
        });
        Ok((end, self))
    }

    /// What came in takes part where it is whole and has the metric.
    fn round_zero(&self, entry: &Entry) -> Option<Rated> {
        if self.stage.forget.iter().any(|forget| matches!(forget, Forget::Domain | Forget::Problem)) {
            return None;
        }
        let value = entry.metric(&self.stage.by)?;
        Some(Rated { entry: entry.clone(), accepted: false, value: Some(value) })
    }

    /// The round's stages over the children of one candidate.
    fn round(&mut self, round: u32, current: &Entry) -> Result<Round, Failure> {
        let mut beam = vec![current.clone()];
        let mut parked = false;
        for (position, stage) in self.stage.round.iter().enumerate() {
            if self.context.stopping() {
                return Ok(Round::Interrupted);
            }
            if parked && matches!(stage, Stage::Select(_)) {
                return Ok(Round::Parked);
            }
            let entered = beam.len();
            let step = stage::run(self.context, self.task, stage, Some(round), beam)?;
            parked |= step.parked;
            let one = StageReport {
                entered,
                left: step.beam.len(),
                outcomes: step.outcomes,
                failed: step.failed.clone(),
                ..report(stage)
            };
            if let Some(all) = self.reports.get_mut(position) {
                add(all, one);
            }
            self.failed.extend(step.failed.iter().cloned());
            if step.interrupted {
                return Ok(Round::Interrupted);
            }
            if step.beam.is_empty() {
                return Ok(if parked { Round::Parked } else { Round::Lost(reasons(&step.failed)) });
            }
            beam = step.beam;
        }
        Ok(if parked { Round::Parked } else { Round::Children(beam) })
    }

    /// The best of a round; ties go to the sample path, in whose order the children are.
    fn best_of(&self, children: Vec<Entry>) -> Option<Rated> {
        let mut rated: Vec<Rated> = children.into_iter().map(|child| self.rate(child)).collect();
        rated.sort_by(|a, b| a.compare(b, self.stage));
        rated.into_iter().next()
    }

    fn rate(&self, entry: Entry) -> Rated {
        let of_round = |stage: &Stage| self.stage.round.iter().any(|s| s.label() == stage.label());
        let stages = self.context.pipeline.all_stages().enumerate().filter(|(_, stage)| of_round(stage));
        let accepted = standing(stages, &entry) == Standing::Accepted;
        let value = entry.metric(&self.stage.by);
        Rated { entry, accepted, value }
    }

    fn record(
        &self,
        round: u32,
        of_round: Option<&Rated>,
        best: Option<&Rated>,
        next: &Entry,
    ) -> Result<(), Failure> {
        let path = |entry: &Entry| candidate_path(&self.task.task.name, &entry.candidate.lineage);
        let writer = self.stage.round.iter().find_map(|stage| match stage {
            Stage::Translate(stage) => Some(stage),
            _ => None,
        });
        let history = RoundHistory {
            path: path(next),
            conversation: next.candidate.conversation.clone(),
            feedback: writer.map(|stage| feedback(self.context, stage, next)).unwrap_or_default(),
        };
        self.context.recorder.event(Event::RoundFinished {
            task: self.task.task.name.clone(),
            stage: self.stage.label.clone(),
            path: self.path.clone(),
            round,
            best: of_round.map(|rated| path(&rated.entry)),
            value: of_round.and_then(|rated| rated.value),
            accepted: of_round.is_some_and(|rated| rated.accepted),
            best_so_far: best.map(|rated| path(&rated.entry)),
            history: self.context.recorder.blob(&history)?,
        })
    }
}

/// The candidate as the first round finds it. What was said about a domain or problem that is forgotten holds no longer.
fn forget(stage: &RefineStage, position: usize, entry: Entry) -> Entry {
    let forgets = |what| stage.forget.contains(&what);
    let mut left = entry;
    if forgets(Forget::Domain) || forgets(Forget::Problem) {
        let mut candidate = left.candidate;
        candidate.assessments.clear();
        candidate.plan = None;
        candidate.edits = None;
        if forgets(Forget::Domain) {
            candidate.domain = None;
        }
        if forgets(Forget::Problem) {
            candidate.problem = None;
            candidate.inference = None;
        }
        let (written, materials) = (left.written, left.materials);
        left = Entry { candidate, written, materials, since: position, ..Entry::default() };
    }
    if forgets(Forget::Conversation) {
        left.candidate.conversation.clear();
    }
    left
}

/// What was wrong with replies, each reason once: the mistakes found in them where a failure has them, else its message. Other failures
/// say nothing that a model could heed.
pub(super) fn reasons(failed: &[FailedSample]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for FailedSample { failure, .. } in failed.iter().filter(|f| f.failure.class == FailureClass::Reply) {
        let mistakes = failure.diagnostics.iter().filter(|d| d.severity == ReportedSeverity::Error);
        let mut found: Vec<&String> = mistakes.map(|d| &d.message).collect();
        if found.is_empty() {
            found.push(&failure.message);
        }
        for reason in found {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::ReportedDiagnostic;

    #[test]
    fn each_mistake_found_in_a_reply_is_a_reason_of_its_own() {
        let finding = |severity, message: &str| ReportedDiagnostic {
            code: "test.found".into(),
            severity,
            message: message.into(),
            file: "ir".into(),
            line: 1,
            column: 1,
            start: 0,
            end: 1,
            help: vec![],
        };
        let found = vec![
            finding(ReportedSeverity::Error, "no such predicate"),
            finding(ReportedSeverity::Advice, "a dot was added"),
            finding(ReportedSeverity::Error, "no such type"),
        ];
        let failed = |class, found| {
            let failure = Failure::new(class, "test.failed", "the text cannot be used").diagnostics(found);
            FailedSample { path: String::new(), failure }
        };
        let samples = [
            failed(FailureClass::Reply, found.clone()),
            failed(FailureClass::Reply, found),
            failed(FailureClass::Reply, Vec::new()),
            failed(FailureClass::Limit, Vec::new()),
        ];
        assert_eq!(reasons(&samples), ["no such predicate", "no such type", "the text cannot be used"]);
    }
}
