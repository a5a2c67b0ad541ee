//! Plan stages, and planners asked by verifiers.

use super::beam::Entry;
use super::context::{Context, TaskRun};
use super::host::{Call, path_of};
use super::path::{candidate_path, marked};
use super::recorder::Keep;
use super::services::StageInstance;
use super::stage::Step;
use crate::config::PlanStage;
use planforge_contract::api::Planner;
use planforge_contract::{Event, Failure, FailureClass, LimitKind, PlanLimits, PlanOutcome, PlanRequest};
use planforge_llm::derive_u64;

/// Asks a planner, or takes its answer from the record.
pub(super) fn ask_planner(
    call: &Call<'_>,
    planner: &dyn Planner,
    request: &PlanRequest,
) -> Result<PlanOutcome, Failure> {
    let name = format!("{}.plan", call.info.id);
    let ask = || match planner.plan(call, request)? {
        PlanOutcome::LimitReached { limit: LimitKind::Cancelled, message, .. } => {
            Err(Failure::new(FailureClass::Cancelled, "pipeline.cancelled", message))
        }
        // A limit that was reached once the run is being interrupted may be the interruption's doing.
        outcome if keep(&outcome) == Keep::Timed && call.context.stopping() => Err(super::stage::cancelled()),
        outcome => Ok(outcome),
    };
    if call.is_outside() {
        return call.outside(&name, request, ask);
    }
    call.context.recorder.effect(&name, &call.path, request, keep, ask)
}

fn keep(outcome: &PlanOutcome) -> Keep {
    match outcome {
        PlanOutcome::LimitReached { limit: LimitKind::Time | LimitKind::Memory, .. } => Keep::Timed,
        _ => Keep::Yes,
    }
}

/// What came of one candidate in a plan stage.
enum Planned {
    Outcome(PlanOutcome),
    Skipped,
    Unasked(String),
    Broke(Failure),
}

/// Runs a plan stage.
pub(super) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &PlanStage,
    round: Option<u32>,
    beam: Vec<Entry>,
) -> Result<Step, Failure> {
    let label = marked(&stage.label, round);
    let results = context.pool.map(&beam, |entry| one(context, task, stage, &label, entry));
    let mut step = Step::default();
    for (mut entry, planned) in beam.into_iter().zip(results) {
        let path = path_of(task, &label, &entry);
        match planned {
            Planned::Outcome(outcome) => {
                context.recorder.event(Event::Planned {
                    task: task.task.name.clone(),
                    stage: stage.label.clone(),
                    path: candidate_path(&task.task.name, &entry.candidate.lineage),
                    outcome: context.recorder.blob(&outcome)?,
                    name: outcome.name().to_owned(),
                })?;
                step.count(outcome.name());
                entry.candidate.plan = Some(outcome.clone());
                entry.plans.insert(stage.label.clone(), outcome);
            }
            Planned::Skipped => {
                step.count("skipped");
                let why = "a verify stage had rejected the candidate".to_owned();
                entry.unasked.insert(stage.label.clone(), why);
            }
            Planned::Unasked(why) => {
                step.count("missing-input");
                entry.unasked.insert(stage.label.clone(), why);
            }
            Planned::Broke(failure) => {
                if step.broke(context, task, path, &failure)? {
                    continue;
                }
                entry.failures.insert(stage.label.clone(), failure);
            }
        }
        step.beam.push(entry);
    }
    Ok(step)
}

fn one(context: &Context<'_>, task: &TaskRun<'_>, stage: &PlanStage, label: &str, entry: &Entry) -> Planned {
    let Some((info, StageInstance::Planner(planner))) = context.services.instances.stages.get(&stage.label)
    else {
        return Planned::Broke(super::stage::no_instance(&stage.label));
    };
    if entry.is_skipped_by(stage, context.pipeline) {
        return Planned::Skipped;
    }
    let candidate = &entry.candidate;
    // A planner that asks a model reads the task's text; every other needs the PDDL.
    if info.roles.is_empty() {
        let missing = match (&candidate.domain, &candidate.problem) {
            (Some(_), Some(_)) => None,
            (None, Some(_)) => Some("the candidate has no domain"),
            (Some(_), None) => Some("the candidate has no problem"),
            (None, None) => Some("the candidate has neither domain nor problem"),
        };
        if let Some(missing) = missing {
            return Planned::Unasked(missing.to_owned());
        }
    }
    if context.stopping() {
        return Planned::Broke(super::stage::cancelled());
    }
    let path = path_of(task, label, entry);
    let request = PlanRequest {
        domain: candidate.domain.clone().unwrap_or_default(),
        problem: candidate.problem.clone().unwrap_or_default(),
        limits: limits(stage),
        k: 1,
        seed: derive_u64(context.pipeline.seed, "plan", &path),
        task: task.view(entry),
        ..PlanRequest::default()
    };
    let mut call = Call::new(context, task, info, &stage.label, path);
    call.asked.push(stage.label.clone());
    match ask_planner(&call, planner.as_ref(), &request) {
        Ok(outcome) => Planned::Outcome(outcome),
        Err(failure) => Planned::Broke(failure),
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
