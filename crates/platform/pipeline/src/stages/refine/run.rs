//! Refine stages, for each candidate on its own: Algorithm 1 of the exploration-walk paper (section 4.4), and iVML of the
//! test-time-scaling paper (section 3.3).
//!
//! In a round the stages before the writer look at what came in, the writer makes children, and the stages behind it judge them. A
//! round's children share the history h of the candidate that they are made from: its conversation, and the feedback on it. The best
//! child alone, with its own conversation, goes into the next round. The best of all rounds is returned, or the last.

use super::config::{ContinueFrom, Forget, KeepRound, RefineStage, StopRounds};
use crate::run::beam::{Entry, StageOutcome};
use crate::run::context::{Context, TaskRun};
use crate::run::feedback::{stage_feedback, writer_feedback};
use crate::run::path::candidate_path;
use crate::run::report::{FailedSample, StageReport};
use crate::run::series::{self, SeriesEnd, add_all, report};
use crate::run::step::StageResult;
use crate::run::verdict::objection;
use crate::stages::rated::Rated;
use crate::stages::{Stage, defect};
use planforge_contract::{Failure, FailureClass, LineageStep};
use planforge_record::{Event, RoundHistory};
use std::ops::Range;

/// Runs a refine stage. Candidates are refined at the same time; only their calls count against the number of jobs.
pub(super) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &RefineStage,
    beam: Vec<Entry>,
) -> Result<StageResult, Failure> {
    let ended = context.pool.drive(&beam, |entry| {
        let path = candidate_path(&task.task.name, &entry.candidate.lineage);
        let reports = stage.round.iter().map(report).collect();
        let writer = stage.writer().unwrap_or(0);
        Refinement { context, task, stage, writer, path, reports, rounds: 0, failed: Vec::new() }
            .run(entry.clone())
    });
    let mut step = StageResult { inner: stage.round.iter().map(report).collect(), ..StageResult::default() };
    for result in ended {
        let (end, refinement) = result?;
        *step.outcomes.entry("rounds".to_owned()).or_insert(0) += refinement.rounds as usize;
        add_all(&mut step.inner, refinement.reports);
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

/// The end of the refinement of one candidate.
enum End {
    Returned {
        entry: Box<Entry>,
        accepted: bool,
    },
    /// No round had a child, and what came in is not whole.
    Nothing,
    /// A reply is deferred: the best child is not known before it is there.
    Parked,
    Interrupted,
}

/// The refinement of one candidate.
struct Refinement<'a> {
    context: &'a Context<'a>,
    task: &'a TaskRun<'a>,
    stage: &'a RefineStage,
    /// The position in the round of the stage that writes.
    writer: usize,
    /// The candidate's path as it came in.
    path: String,
    reports: Vec<StageReport>,
    /// Number of started rounds.
    rounds: u32,
    failed: Vec<FailedSample>,
}

/// The continuation after a round.
enum Next {
    Round,
    End(End),
}

/// The state of a refinement between rounds.
struct RefineState {
    /// The candidate that the next round starts from.
    current: Entry,
    /// The candidate that entered, if it is complete.
    entered: Option<Rated>,
    /// The best of all rounds.
    best: Option<Rated>,
    /// The best of the last round that had a child.
    last: Option<Rated>,
}

impl RefineState {
    /// Stores the results of the stages before the writer wherever the candidate is held.
    fn store_results(&mut self, entry: Entry) {
        let held = [&mut self.entered, &mut self.best, &mut self.last];
        for rated in held.into_iter().flatten() {
            if rated.entry.candidate.lineage == entry.candidate.lineage {
                rated.entry = entry.clone();
            }
        }
        self.current = entry;
    }
}

impl Refinement<'_> {
    fn run(mut self, entered: Entry) -> Result<(End, Self), Failure> {
        let current = forget(&self.stage.forget, entered);
        if let Some(why) = self.problem_defect(&current) {
            let message = format!("the problem has a mistake that no domain repairs: {why}");
            let failure = Failure::new(FailureClass::Reply, "pipeline.broken-problem", message).help(
                "let the rounds edit the problem too: `options = { problem = true }` of `translator-edit`",
            );
            let mut lineage = current.candidate.lineage.clone();
            lineage.push(LineageStep { stage: self.stage.label.clone(), sample: 0 });
            let path = candidate_path(&self.task.task.name, &lineage);
            self.context.recorder.event(Event::SampleFailed {
                task: self.task.task.name.clone(),
                path: path.clone(),
                failure: failure.clone(),
            })?;
            self.failed.push(FailedSample { path, failure });
            return Ok((End::Nothing, self));
        }
        let entered = self.round_zero(&current);
        let best = entered.clone().filter(|rated| rated.value.is_some());
        let mut held = RefineState { current, entered, best, last: None };
        for round in 1..=self.stage.rounds {
            self.rounds = round;
            if let Next::End(end) = self.round(round, &mut held)? {
                return Ok((end, self));
            }
        }
        let RefineState { entered, best, last, .. } = held;
        let kept = match self.stage.keep {
            KeepRound::Best => best,
            KeepRound::Last => last.or(entered),
        };
        let end = kept.map_or(End::Nothing, |Rated { mut entry, accepted, .. }| {
            if candidate_path(&self.task.task.name, &entry.candidate.lineage) == self.path {
                self.note_missing_results(&mut entry);
            }
            End::Returned { entry: Box::new(entry), accepted }
        });
        Ok((end, self))
    }

    /// The mistake of the written problem that no domain repairs, if the rounds write domains alone.
    fn problem_defect(&self, entry: &Entry) -> Option<String> {
        let Some(Stage::Translate(writer)) = self.stage.round.get(self.writer) else { return None };
        let (info, _) = self.context.services.instances.stages.get(&writer.label)?;
        let text = entry.candidate.problem.as_deref()?;
        if !info.writes_domain_only(&writer.options) {
            return None;
        }
        defect::of_problem(&self.task.view(entry), entry.candidate.domain.as_deref(), text)
    }

    /// A candidate that is returned as it came in was not judged by the stages behind the writer.
    fn note_missing_results(&self, entry: &mut Entry) {
        for stage in &self.stage.round {
            if stage.definition().decides() && !entry.has_current_result(stage.label()) {
                entry.record(stage.label(), StageOutcome::Missing(None));
            }
        }
    }

    /// The entered candidate competes if it is complete and has the metric.
    fn round_zero(&self, entry: &Entry) -> Option<Rated> {
        if self.stage.forget.iter().any(|forget| matches!(forget, Forget::Domain | Forget::Problem)) {
            return None;
        }
        Some(Rated { entry: entry.clone(), accepted: false, value: entry.metric(&self.stage.by) })
    }

    /// One round: look, write, judge, choose.
    fn round(&mut self, round: u32, held: &mut RefineState) -> Result<Next, Failure> {
        let unusable = held.current.unusable.clone();
        match self.part(round, 0..self.writer, &held.current)? {
            SeriesEnd::Left(looked) => {
                if let Some(mut entry) = looked.into_iter().next() {
                    entry.unusable = unusable;
                    held.store_results(entry);
                }
            }
            SeriesEnd::Lost(_) | SeriesEnd::Enough => {}
            SeriesEnd::Parked => return Ok(Next::End(End::Parked)),
            SeriesEnd::Interrupted => return Ok(Next::End(End::Interrupted)),
        }
        if self.stage.stop == StopRounds::Accepted && self.accepts(0..self.writer, &held.current) {
            return self.as_it_is(round, held);
        }
        let rest = self.writer..self.stage.round.len();
        let children = match self.part(round, rest, &held.current)? {
            SeriesEnd::Left(children) => children,
            SeriesEnd::Enough => return Ok(Next::Round),
            SeriesEnd::Lost(reasons) => {
                held.current.unusable = reasons;
                self.record(round, None, held.best.as_ref(), &held.current)?;
                return Ok(Next::Round);
            }
            SeriesEnd::Parked => return Ok(Next::End(End::Parked)),
            SeriesEnd::Interrupted => return Ok(Next::End(End::Interrupted)),
        };
        let Some(of_round) = self.best_of(children) else { return Ok(Next::Round) };
        // Strictly better: ties go to the earlier round.
        if held.best.as_ref().is_none_or(|best| of_round.compare(best, self.stage.order).is_lt()) {
            held.best = Some(of_round.clone());
        }
        let next = match (self.stage.continue_from, &held.best) {
            (ContinueFrom::BestSoFar, Some(best)) => best,
            _ => &of_round,
        };
        held.current = Entry { unusable: Vec::new(), ..next.entry.clone() };
        self.record(round, Some(&of_round), held.best.as_ref(), &held.current)?;
        let ends = of_round.accepted && self.stage.stop == StopRounds::Accepted;
        held.last = Some(of_round);
        if !ends {
            return Ok(Next::Round);
        }
        // An accepted child is the best of all rounds, for none before was accepted.
        let Some(Rated { entry, accepted, .. }) = held.last.take() else { return Ok(Next::Round) };
        Ok(Next::End(End::Returned { entry: Box::new(entry), accepted }))
    }

    /// Returns the candidate that entered the round, because the stages before the writer accept it. Results
    /// of the other stages from when it was a child itself still count.
    fn as_it_is(&self, round: u32, held: &mut RefineState) -> Result<Next, Failure> {
        let entry = held.current.clone();
        let value = entry.metric(&self.stage.by);
        let rated = Rated { entry, accepted: true, value };
        self.record(round, Some(&rated), Some(&rated), &rated.entry)?;
        Ok(Next::End(End::Returned { entry: Box::new(rated.entry), accepted: true }))
    }

    /// Some stages of the round, over what goes into the first of them.
    fn part(&mut self, round: u32, stages: Range<usize>, entry: &Entry) -> Result<SeriesEnd, Failure> {
        let part = self.stage.round.iter().skip(stages.start).take(stages.len());
        let done = series::run(self.context, self.task, round, part, vec![entry.clone()], |_, _| false)?;
        add_all(&mut self.reports, done.reports);
        self.failed.extend(done.failed);
        Ok(done.end)
    }

    /// True if there are judges among these stages of the round and all accept. A new plan by itself is not
    /// an acceptance.
    fn accepts(&self, stages: Range<usize>, entry: &Entry) -> bool {
        let judges =
            |(position, stage): &(usize, &Stage)| stage.definition().decides() && *position != self.writer;
        let all = self.stage.round.iter().enumerate().skip(stages.start).take(stages.len());
        let mut judging = all.filter(judges).peekable();
        judging.peek().is_some() && judging.all(|(_, stage)| objection(stage, entry).is_none())
    }

    /// The best of a round; ties go to the sample path, in whose order the children are.
    fn best_of(&self, children: Vec<Entry>) -> Option<Rated> {
        let rated = children.into_iter().map(|child| self.rate(child));
        rated.min_by(|a, b| a.compare(b, self.stage.order))
    }

    fn rate(&self, entry: Entry) -> Rated {
        let accepted = self.accepts(self.writer..self.stage.round.len(), &entry);
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
        let path = |rated: &Rated| rated.path(&self.task.task.name);
        let history = self.history(next);
        self.context.recorder.event(Event::RoundFinished {
            task: self.task.task.name.clone(),
            stage: self.stage.label.clone(),
            path: self.path.clone(),
            round,
            best: of_round.map(path),
            value: of_round.and_then(|rated| rated.value),
            accepted: of_round.is_some_and(|rated| rated.accepted),
            best_so_far: best.filter(|_| !self.stage.by.is_empty()).map(path),
            history: self.context.recorder.blob(&history)?,
        })
    }

    /// The feedback on a candidate in the next round's requests, as far as it is known before that round.
    fn history(&self, next: &Entry) -> RoundHistory {
        let before: Vec<&Stage> = self.stage.round.iter().take(self.writer).collect();
        let known = |label: &&String| !before.iter().any(|stage| stage.label() == label.as_str());
        let writer = self.stage.round.get(self.writer);
        let labels = writer.map_or(&[][..], |writer| writer.definition().feedback_labels());
        let told = before.iter().filter_map(|stage| {
            let said =
                stage_feedback(self.context, stage.definition().feedback_labels().iter().filter(known), next);
            Some((stage.label().to_owned(), said)).filter(|(_, said)| !said.is_empty())
        });
        let own = |stage: &Stage| {
            let conversation = next.conversations.get(stage.label())?;
            Some((stage.label().to_owned(), conversation.clone()))
        };
        RoundHistory {
            path: candidate_path(&self.task.task.name, &next.candidate.lineage),
            conversation: next.candidate.conversation.clone(),
            feedback: writer_feedback(self.context, labels.iter().filter(known), next),
            told: told.collect(),
            conversations: self.stage.round.iter().filter_map(own).collect(),
        }
    }
}

/// The candidate without some parts, and without results about them.
pub(crate) fn forget(parts: &[Forget], entry: Entry) -> Entry {
    let forgets = |what| parts.contains(&what);
    let mut left = entry;
    if forgets(Forget::Domain) || forgets(Forget::Problem) {
        left.advance_texts(forgets(Forget::Domain), forgets(Forget::Problem));
        left.unusable.clear();
        left.conversations.clear();
        let candidate = &mut left.candidate;
        candidate.edits = None;
        if forgets(Forget::Domain) {
            candidate.domain = None;
        }
        if forgets(Forget::Problem) {
            candidate.problem = None;
            candidate.inference = None;
        }
    }
    if forgets(Forget::Conversation) {
        left.candidate.conversation.clear();
    }
    left
}
