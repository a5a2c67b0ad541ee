//! Verify stages: each candidate gets an assessment.

use super::beam::Entry;
use super::context::{Context, TaskRun};
use super::host::{Call, path_of};
use super::path::candidate_path;
use super::recorder::Keep;
use super::services::StageInstance;
use super::stage::{Step, cancelled, no_instance};
use crate::config::{FeedbackSource, VerifyStage};
use planforge_contract::{
    Assessment, Decision, Event, Failure, FailureClass, Outcome, UndecidedReason, VerifyRequest,
};
use planforge_llm::derive_u64;
use serde::{Deserialize, Serialize};

/// An assessment, and whether the environment was asked for it.
#[derive(Serialize, Deserialize)]
struct Judged {
    assessment: Assessment,
    from_environment: bool,
}

/// Runs a verify stage.
pub(super) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &VerifyStage,
    beam: Vec<Entry>,
) -> Result<Step, Failure> {
    let results = context.pool.map(&beam, |entry| one(context, task, stage, entry));
    let mut step = Step::default();
    for (mut entry, result) in beam.into_iter().zip(results) {
        match result {
            Ok(Judged { assessment, from_environment }) => {
                context.recorder.event(Event::Assessed {
                    task: task.task.name.clone(),
                    stage: stage.label.clone(),
                    path: candidate_path(&task.task.name, &entry.candidate.lineage),
                    assessment: context.recorder.blob(&assessment)?,
                    decision: assessment.decision.name().to_owned(),
                })?;
                step.count(assessment.decision.name());
                if from_environment {
                    entry.from_environment.insert(stage.label.clone());
                }
                entry.candidate.assessments.insert(stage.label.clone(), assessment);
            }
            Err(failure) => {
                let path = path_of(task, &stage.label, &entry);
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

fn one(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &VerifyStage,
    entry: &Entry,
) -> Result<Judged, Failure> {
    let Some((info, StageInstance::Verifier(verifier))) = context.services.instances.stages.get(&stage.label)
    else {
        return Err(no_instance(&stage.label));
    };
    if context.stopping() {
        return Err(cancelled());
    }
    let path = path_of(task, &stage.label, entry);
    let candidate = if context.pipeline.feedback == Some(FeedbackSource::Environment) {
        entry.candidate.clone()
    } else {
        entry.without_environment()
    };
    let request = VerifyRequest {
        task: task.task.view.clone(),
        candidates: vec![candidate],
        seed: derive_u64(context.pipeline.seed, "verify", &path),
    };
    let call = Call::new(context, task, info, &stage.label, path.clone());
    context.recorder.effect(&format!("{}.verify", info.id), &path, &request, keep, || {
        let mut results = verifier.verify(&call, &request)?.results;
        match (results.pop(), results.is_empty()) {
            (Some(Outcome::Ok(assessment)), true) => {
                let judged = Judged { assessment, from_environment: call.asked_environment() };
                // A limit that was reached once the run is being interrupted may be the interruption's doing.
                if keep(&judged) == Keep::Timed && context.stopping() { Err(cancelled()) } else { Ok(judged) }
            }
            (Some(Outcome::Failure(failure)), true) => Err(failure),
            _ => Err(Failure::new(
                FailureClass::Plugin,
                "pipeline.assessment-count",
                format!("`{}` was asked about one candidate and did not give one answer", info.id),
            )),
        }
    })
}

/// Most judgements are made again in no time; what a limit cut short is not the same the next time.
fn keep(judged: &Judged) -> Keep {
    match judged.assessment.decision {
        Decision::Undecided { reason: UndecidedReason::Limit, .. } => Keep::Timed,
        _ => Keep::No,
    }
}
