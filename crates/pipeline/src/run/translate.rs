//! Translate stages: each candidate gets `n` children.

use super::beam::Entry;
use super::context::{Context, TaskRun};
use super::host::{Call, path_of};
use super::path::candidate_path;
use super::report::Written;
use super::services::StageInstance;
use super::stage::{Step, cancelled, no_instance};
use crate::config::{FeedbackSource, TranslateStage};
use planforge_contract::{
    CandidatePatch, Event, Failure, FailureClass, LineageStep, Outcome, TranslateRequest,
};

/// Runs a translate stage.
pub(super) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &TranslateStage,
    beam: Vec<Entry>,
) -> Result<Step, Failure> {
    let results = context.pool.map(&beam, |entry| one(context, task, stage, entry));
    let position = context.pipeline.stages.iter().position(|s| s.label() == stage.label).unwrap_or(0);
    let mut step = Step::default();
    for (parent, samples) in beam.iter().zip(results) {
        let samples: Vec<Outcome<CandidatePatch>> = match samples {
            Ok(samples) => samples,
            // The whole call broke, and with it every sample.
            Err(failure) => (0..stage.n).map(|_| Outcome::Failure(failure.clone())).collect(),
        };
        for (sample, outcome) in (0u32..).zip(samples) {
            let mut lineage = parent.candidate.lineage.clone();
            lineage.push(LineageStep { stage: stage.label.clone(), sample });
            let path = candidate_path(&task.task.name, &lineage);
            match outcome {
                Outcome::Ok(patch) => {
                    let child = child(parent, stage, lineage, &path, &patch, position);
                    context.recorder.event(Event::CandidateMade {
                        task: task.task.name.clone(),
                        path,
                        candidate: context.recorder.blob(&child.candidate)?,
                        patch: context.recorder.blob(&patch)?,
                    })?;
                    step.count("made");
                    step.beam.push(child);
                }
                Outcome::Failure(failure) => drop(step.broke(context, task, path, &failure)?),
            }
        }
    }
    Ok(step)
}

fn one(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &TranslateStage,
    entry: &Entry,
) -> Result<Vec<Outcome<CandidatePatch>>, Failure> {
    let Some((info, StageInstance::Translator(translator))) =
        context.services.instances.stages.get(&stage.label)
    else {
        return Err(no_instance(&stage.label));
    };
    if context.stopping() {
        return Err(cancelled());
    }
    let call = Call::new(context, task, info, &stage.label, path_of(task, &stage.label, entry));
    let request = TranslateRequest {
        task: task.task.view.clone(),
        candidate: seen(context, entry),
        feedback: feedback(context, stage, entry),
        n: stage.n,
        fixes: stage.fixes,
    };
    let response = translator.translate(&call, &request)?;
    if response.samples.len() != stage.n as usize {
        return Err(Failure::new(
            FailureClass::Plugin,
            "pipeline.sample-count",
            format!(
                "`{}` returned {} samples and was asked for {}",
                info.id,
                response.samples.len(),
                stage.n
            ),
        ));
    }
    Ok(response.samples)
}

/// The candidate as the translator sees it. What the environment said stays out unless the pipeline declares it.
fn seen(context: &Context<'_>, entry: &Entry) -> planforge_contract::Candidate {
    if context.pipeline.feedback == Some(FeedbackSource::Environment) {
        entry.candidate.clone()
    } else {
        entry.without_environment()
    }
}

/// The feedback of the stages that the file names, in that order.
fn feedback(context: &Context<'_>, stage: &TranslateStage, entry: &Entry) -> Vec<String> {
    let candidate = seen(context, entry);
    let assessments = stage.feedback.iter().filter_map(|label| candidate.assessments.get(label));
    assessments.flat_map(|assessment| assessment.feedback.iter().cloned()).collect()
}

/// A new domain or problem is a new candidate: what was said and planned about the parent does not hold for it.
fn child(
    parent: &Entry,
    stage: &TranslateStage,
    lineage: Vec<LineageStep>,
    path: &str,
    patch: &CandidatePatch,
    since: usize,
) -> Entry {
    let changed = patch.domain.is_some() || patch.problem.is_some();
    let mut child = if changed {
        Entry { written: parent.written.clone(), since, ..Entry::default() }
    } else {
        parent.clone()
    };
    let old = &parent.candidate;
    child.candidate.lineage = lineage;
    child.candidate.domain = patch.domain.clone().or_else(|| old.domain.clone());
    child.candidate.problem = patch.problem.clone().or_else(|| old.problem.clone());
    child.candidate.thought = patch.thought.clone().or_else(|| old.thought.clone());
    child.candidate.log_likelihood = match (old.log_likelihood, patch.log_likelihood) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => b.or(a),
    };
    child.candidate.conversation.clone_from(&old.conversation);
    child.candidate.conversation.extend(patch.messages.iter().cloned());
    child.written.push(Written {
        stage: stage.label.clone(),
        path: path.to_owned(),
        raw_reply: patch.raw_reply.clone(),
        fixes: patch.fixes.clone(),
        diagnostics: patch.diagnostics.clone(),
    });
    child
}
