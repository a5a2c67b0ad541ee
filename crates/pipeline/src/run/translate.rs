//! Translate stages: each candidate gets `n` children.

use super::beam::Entry;
use super::context::{Context, TaskRun};
use super::host::{Call, path_of};
use super::path::{candidate_path, marked, unmarked};
use super::report::Written;
use super::services::StageInstance;
use super::stage::{Step, cancelled, no_instance};
use crate::config::{Artefact, FeedbackSource, Stage, TranslateStage};
use planforge_contract::{
    Candidate, CandidatePatch, Event, Failure, FailureClass, LineageStep, Outcome, TranslateRequest,
};
use planforge_plugin_sdk::feedback as words;

/// Runs a translate stage.
pub(super) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &TranslateStage,
    round: Option<u32>,
    beam: Vec<Entry>,
) -> Result<Step, Failure> {
    let label = marked(&stage.label, round);
    let results = context.pool.map(&beam, |entry| match has(entry, stage.only_without) {
        true => None,
        false => Some(one(context, task, stage, &label, entry)),
    });
    let position = context.position(&stage.label);
    let mut step = Step::default();
    for (parent, result) in beam.into_iter().zip(results) {
        let samples: Vec<Outcome<CandidatePatch>> = match result {
            None => {
                step.count("passed");
                step.beam.push(parent);
                continue;
            }
            Some(Ok(samples)) => samples,
            // The whole call broke, and with it every sample.
            Some(Err(failure)) => (0..stage.n).map(|_| Outcome::Failure(failure.clone())).collect(),
        };
        for (sample, outcome) in (0u32..).zip(samples) {
            let mut lineage = parent.candidate.lineage.clone();
            lineage.push(LineageStep { stage: label.clone(), sample });
            let path = candidate_path(&task.task.name, &lineage);
            match outcome {
                Outcome::Ok(patch) => {
                    let child = child(&parent, &Birth { lineage, path: &path, position, round }, &patch);
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

/// Whether the stage passes the candidate on as it is.
fn has(entry: &Entry, only_without: Option<Artefact>) -> bool {
    match only_without {
        None => false,
        Some(Artefact::Domain) => entry.candidate.domain.is_some(),
        Some(Artefact::Problem) => entry.candidate.problem.is_some(),
    }
}

fn one(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &TranslateStage,
    label: &str,
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
    let call = Call::new(context, task, info, &stage.label, path_of(task, label, entry));
    let request = TranslateRequest {
        task: task.view(entry),
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

/// The candidate as plugins see it that may ask a model. What the environment said stays out unless the pipeline declares
/// it, and then it is told in words that are made for it.
pub(super) fn seen(context: &Context<'_>, entry: &Entry) -> Candidate {
    match context.pipeline.feedback {
        Some(FeedbackSource::Environment) => entry.with_feedback_alone(),
        None => entry.without_environment(),
    }
}

/// What the stages that the file names said of the candidate, in that order, and why the last replies could not be used.
pub(super) fn feedback(context: &Context<'_>, stage: &TranslateStage, entry: &Entry) -> Vec<String> {
    let candidate = seen(context, entry);
    let mut feedback = Vec::new();
    for label in &stage.feedback {
        match context.pipeline.stage(label) {
            Some(Stage::Translate(_)) => {
                let written = entry.written.iter().rev().find(|w| unmarked(&w.stage) == label);
                feedback.extend(written.and_then(|w| words::reply(&w.diagnostics)));
            }
            _ => {
                feedback.extend(candidate.assessments.get(label).into_iter().flat_map(|a| a.feedback.clone()))
            }
        }
    }
    if !entry.unusable.is_empty() {
        feedback.push(words::unusable(&entry.unusable));
    }
    feedback
}

/// Where a child comes from.
struct Birth<'a> {
    lineage: Vec<LineageStep>,
    path: &'a str,
    position: usize,
    round: Option<u32>,
}

/// A new domain or problem is a new candidate: what was said and planned about the parent does not hold for it. A round judges
/// each child anew, whether it changed anything or not.
fn child(parent: &Entry, birth: &Birth<'_>, patch: &CandidatePatch) -> Entry {
    let stage = birth.lineage.last().map(|step| step.stage.clone()).unwrap_or_default();
    let changed = patch.domain.is_some() || patch.problem.is_some();
    let mut child = if changed || birth.round.is_some() {
        Entry {
            written: parent.written.clone(),
            materials: parent.materials.clone(),
            since: birth.position,
            ..Entry::default()
        }
    } else {
        parent.clone()
    };
    let old = &parent.candidate;
    child.candidate.lineage.clone_from(&birth.lineage);
    child.candidate.domain = patch.domain.clone().or_else(|| old.domain.clone());
    child.candidate.problem = patch.problem.clone().or_else(|| old.problem.clone());
    child.candidate.texts.clone_from(&old.texts);
    child.candidate.texts.extend(patch.texts.clone());
    child.candidate.thought = patch.thought.clone().or_else(|| old.thought.clone());
    // What became of edits is about the last reply, whatever was asked for.
    child.candidate.edits = patch.edits;
    // A problem that was written anew did not come from the old one's inference.
    child.candidate.inference = match patch.problem {
        Some(_) => patch.inference.clone(),
        None => old.inference.clone(),
    };
    child.candidate.log_likelihood = match (old.log_likelihood, patch.log_likelihood) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => b.or(a),
    };
    child.candidate.conversation.clone_from(&old.conversation);
    child.candidate.conversation.extend(patch.messages.iter().cloned());
    child.written.push(Written {
        stage,
        path: birth.path.to_owned(),
        raw_reply: patch.raw_reply.clone(),
        fixes: patch.fixes.clone(),
        diagnostics: patch.diagnostics.clone(),
    });
    child
}
