//! The run of a plan stage.

use super::config::PlanStage;
use crate::run::beam::{Entry, StageOutcome};
use crate::run::context::{Context, TaskRun};
use crate::run::feedback::writer_feedback;
use crate::run::host::{PluginCall, path_of};
use crate::run::path::{call_path, candidate_path, label_in_round};
use crate::run::services::StageInstance;
use crate::run::step::{StageResult, cancelled_failure, no_instance};
use crate::run::verdict::is_rejected;
use crate::stages::Stage;
use planforge_contract::{CandidatePatch, Failure, LineageStep, PlanLimits, PlanOutcome, PlanRequest};
use planforge_llm::derive_u64;
use planforge_record::Event;

/// The result of one request to a planner.
enum PlannerResult {
    Outcome(PlanOutcome),
    Skipped,
    Unasked(String),
    Broke(Failure),
}

/// A plan stage at work.
struct Planning<'a> {
    context: &'a Context<'a>,
    task: &'a TaskRun<'a>,
    stage: &'a PlanStage,
    round: Option<u32>,
    /// The stage's label in paths.
    label: String,
}

/// Runs a plan stage.
pub(super) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &PlanStage,
    round: Option<u32>,
    beam: Vec<Entry>,
) -> Result<StageResult, Failure> {
    let label = label_in_round(&stage.label, round);
    let planning = Planning { context, task, stage, round, label };
    if stage.makes_children() { planning.children(beam) } else { planning.same(beam) }
}

impl Planning<'_> {
    /// The plan is added to the candidate.
    fn same(&self, beam: Vec<Entry>) -> Result<StageResult, Failure> {
        let results = self.context.pool.map(&beam, |entry| {
            self.skip_reason(entry).unwrap_or_else(|| self.ask(entry, &entry.candidate.lineage))
        });
        let mut step = StageResult::default();
        for (mut entry, planned) in beam.into_iter().zip(results) {
            match planned {
                PlannerResult::Outcome(outcome) => {
                    self.record_plan(&mut entry, outcome, &mut step)?;
                }
                PlannerResult::Broke(failure) => {
                    let path = path_of(self.task, &self.label, &entry);
                    if step.broke(self.context, self.task, path, &failure)? {
                        continue;
                    }
                    entry.record(&self.stage.label, StageOutcome::Failed(failure));
                }
                unasked => self.record_skip(&mut entry, unasked, &mut step),
            }
            step.beam.push(entry);
        }
        Ok(step)
    }

    /// Each plan is a child of the candidate. A sample that breaks is in the record and not in the beam, as in translate stages.
    fn children(&self, beam: Vec<Entry>) -> Result<StageResult, Failure> {
        let unasked: Vec<Option<PlannerResult>> = beam.iter().map(|entry| self.skip_reason(entry)).collect();
        let samples = |(index, unasked): (usize, &Option<PlannerResult>)| {
            let n = if unasked.is_some() { 0 } else { self.stage.n };
            (0..n).map(move |sample| (index, sample))
        };
        let questions: Vec<(usize, u32)> = unasked.iter().enumerate().flat_map(samples).collect();
        let lineage = |entry: &Entry, sample: u32| {
            let mut lineage = entry.candidate.lineage.clone();
            lineage.push(LineageStep { stage: self.label.clone(), sample });
            lineage
        };
        let results = self.context.pool.map(&questions, |(index, sample)| match beam.get(*index) {
            Some(entry) => self.ask(entry, &lineage(entry, *sample)),
            None => PlannerResult::Skipped,
        });
        let mut results = questions.iter().zip(results).peekable();
        let mut step = StageResult::default();
        for (index, (parent, unasked)) in beam.into_iter().zip(unasked).enumerate() {
            if let Some(unasked) = unasked {
                let mut entry = parent;
                self.record_skip(&mut entry, unasked, &mut step);
                step.beam.push(entry);
                continue;
            }
            while let Some(((_, sample), planned)) = results.next_if(|((of, _), _)| *of == index) {
                let lineage = lineage(&parent, *sample);
                match planned {
                    PlannerResult::Outcome(outcome) => {
                        let mut child = self.child(&parent, lineage);
                        child.candidate.plan = Some(outcome.clone());
                        self.record_candidate(&child)?;
                        self.record_plan(&mut child, outcome, &mut step)?;
                        step.beam.push(child);
                    }
                    PlannerResult::Broke(failure) => {
                        let path = candidate_path(&self.task.task.name, &lineage);
                        let _ = step.broke(self.context, self.task, path, &failure)?;
                    }
                    PlannerResult::Skipped | PlannerResult::Unasked(_) => {}
                }
            }
        }
        Ok(step)
    }

    /// The reason for not asking the planner about a candidate; none if it is asked.
    fn skip_reason(&self, entry: &Entry) -> Option<PlannerResult> {
        let (info, _) = self.context.services.instances.stages.get(&self.stage.label)?;
        if !self.stage.plan_rejected
            && is_rejected(self.context.pipeline, entry, |stage| self.replaces_result(entry, stage))
        {
            return Some(PlannerResult::Skipped);
        }
        // A planner that asks a model reads the task's text; every other needs the PDDL.
        if !info.roles.is_empty() {
            return None;
        }
        let missing = match (&entry.candidate.domain, &entry.candidate.problem) {
            (Some(_), Some(_)) => return None,
            (None, Some(_)) => "the candidate has no domain",
            (Some(_), None) => "the candidate has no problem",
            (None, None) => "the candidate has neither domain nor problem",
        };
        Some(PlannerResult::Unasked(missing.to_owned()))
    }

    /// One question. The lineage is that of the candidate that has the plan.
    fn ask(&self, entry: &Entry, lineage: &[LineageStep]) -> PlannerResult {
        let (context, stage) = (self.context, self.stage);
        let Some((info, StageInstance::Planner(planner))) =
            context.services.instances.stages.get(&stage.label)
        else {
            return PlannerResult::Broke(no_instance(&stage.label));
        };
        if context.stopping() {
            return PlannerResult::Broke(cancelled_failure());
        }
        let candidate = &entry.candidate;
        let path = call_path(&self.task.task.name, &self.label, lineage);
        let mut request = PlanRequest {
            domain: candidate.domain.clone().unwrap_or_default(),
            problem: candidate.problem.clone().unwrap_or_default(),
            limits: limits(stage),
            k: 1,
            seed: derive_u64(context.pipeline.seed, "plan", &path),
            task: self.task.view(entry),
            ..PlanRequest::default()
        };
        if stage.rewrites() {
            request.previous = candidate.plan.as_ref().and_then(PlanOutcome::best).cloned();
            request.feedback = writer_feedback(context, &stage.feedback, entry);
        }
        let mut call = PluginCall::new(context, self.task, info, &stage.label, path);
        call.asked.push(stage.label.clone());
        match call.ask_planner(planner.as_ref(), &request) {
            Ok(outcome) => PlannerResult::Outcome(outcome),
            Err(failure) => PlannerResult::Broke(failure),
        }
    }

    /// The stages of the round before this one; none where it does not write the plan anew.
    fn before_in_round(&self) -> impl Iterator<Item = &Stage> {
        let around = self.round.and_then(|_| self.context.pipeline.around(&self.stage.label));
        let inner = around.filter(|_| self.stage.rewrites()).into_iter().flat_map(Stage::inner);
        inner.take_while(|stage| stage.label() != self.stage.label)
    }

    /// True if this stage writes anew what an earlier stage judged: its rejection is a reason to ask the planner.
    fn replaces_result(&self, entry: &Entry, of: &Stage) -> bool {
        let mut before = self.context.pipeline.all_stages().take_while(|s| s.label() != self.stage.label);
        let judged_plan = entry.is_about_plan(of.label()) && before.any(|stage| stage.label() == of.label());
        self.stage.rewrites()
            && (judged_plan || self.before_in_round().any(|stage| stage.label() == of.label()))
    }

    /// The candidate with another plan.
    fn child(&self, parent: &Entry, lineage: Vec<LineageStep>) -> Entry {
        let mut child = parent.clone();
        child.candidate.lineage = lineage;
        child.unusable.clear();
        if self.stage.rewrites() {
            child.advance_plan();
            // They judged the old plan, even where there was none.
            for stage in self.before_in_round() {
                child.remove_result(stage.label());
            }
        }
        child
    }

    fn record_candidate(&self, child: &Entry) -> Result<(), Failure> {
        let recorder = &self.context.recorder;
        recorder.event(Event::CandidateMade {
            task: self.task.task.name.clone(),
            path: candidate_path(&self.task.task.name, &child.candidate.lineage),
            candidate: recorder.blob(&child.candidate)?,
            patch: recorder.blob(&CandidatePatch::default())?,
        })
    }

    fn record_plan(
        &self,
        entry: &mut Entry,
        outcome: PlanOutcome,
        step: &mut StageResult,
    ) -> Result<(), Failure> {
        self.context.recorder.event(Event::Planned {
            task: self.task.task.name.clone(),
            stage: self.stage.label.clone(),
            path: candidate_path(&self.task.task.name, &entry.candidate.lineage),
            outcome: self.context.recorder.blob(&outcome)?,
            name: outcome.name().to_owned(),
        })?;
        step.count(outcome.name());
        entry.add_plan(outcome.clone());
        entry.record(&self.stage.label, StageOutcome::Planned(outcome));
        Ok(())
    }

    /// Notes that the planner was not asked.
    fn record_skip(&self, entry: &mut Entry, unasked: PlannerResult, step: &mut StageResult) {
        let (outcome, why) = match unasked {
            PlannerResult::Unasked(why) => ("missing-input", why),
            _ => ("skipped", "a verify stage had rejected the candidate".to_owned()),
        };
        step.count(outcome);
        entry.record(&self.stage.label, StageOutcome::Missing(Some(why)));
    }
}

fn limits(stage: &PlanStage) -> PlanLimits {
    let limits = &stage.limits;
    PlanLimits {
        // The checker keeps seconds between a millisecond and a million.
        time_ms: limits.time_s.map(|s| (s * 1000.0).round() as u64),
        memory_bytes: limits.memory_mb.map(|mb| mb.saturating_mul(1 << 20)),
        nodes: limits.nodes,
    }
}
