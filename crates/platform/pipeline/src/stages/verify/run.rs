//! The run of a verify stage.

use super::config::VerifyStage;
use crate::config::FeedbackSource;
use crate::run::beam::{Entry, StageOutcome};
use crate::run::context::{Context, TaskRun};
use crate::run::feedback::{stage_feedback, visible_candidate};
use crate::run::host::{PluginCall, path_of};
use crate::run::path::{call_path, candidate_path, label_in_round};
use crate::run::recorder::Keep;
use crate::run::services::StageInstance;
use crate::run::step::{StageResult, cancelled_failure, no_instance};
use planforge_contract::api::Verifier;
use planforge_contract::{
    Assessment, Candidate, Decision, Failure, FailureClass, LineageStep, Message, Outcome, PluginInfo,
    UndecidedReason, VerifyRequest,
};
use planforge_llm::derive_u64;
use planforge_record::Event;
use serde::{Deserialize, Serialize};

/// An assessment, and whether the environment was asked for it.
#[derive(Serialize, Deserialize)]
struct JudgedCandidate {
    assessment: Assessment,
    from_environment: bool,
}

/// Runs a verify stage.
pub(super) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &VerifyStage,
    round: Option<u32>,
    beam: Vec<Entry>,
) -> Result<StageResult, Failure> {
    let label = label_in_round(&stage.label, round);
    let groups = groups(context, stage, round, &beam);
    let results = context.pool.map(&groups, |group| judge(context, task, stage, &label, group));
    let results: Vec<Result<JudgedCandidate, Failure>> = results.into_iter().flatten().collect();
    let mut step = StageResult::default();
    for (mut entry, result) in beam.into_iter().zip(results) {
        match result {
            Ok(JudgedCandidate { mut assessment, from_environment }) => {
                context.recorder.event(Event::Assessed {
                    task: task.task.name.clone(),
                    stage: stage.label.clone(),
                    path: candidate_path(&task.task.name, &entry.candidate.lineage),
                    assessment: context.recorder.blob(&assessment)?,
                    decision: assessment.decision.name().to_owned(),
                })?;
                step.count(assessment.decision.name());
                let messages = std::mem::take(&mut assessment.messages);
                // The environment's messages reach a model only if feedback comes from the environment.
                if !from_environment || context.pipeline.feedback == Some(FeedbackSource::Environment) {
                    entry.converse(&stage.label, messages);
                }
                entry.assess(&stage.label, assessment, from_environment);
            }
            Err(failure) => {
                let path = path_of(task, &label, &entry);
                if step.broke(context, task, path, &failure)? {
                    continue;
                }
                entry.record(&stage.label, StageOutcome::Failed(failure));
            }
        }
        step.beam.push(entry);
    }
    Ok(step)
}

/// The candidates of each call, in the order of the beam: one each, unless the verifier judges better together. Then the
/// children of one round share a call, and elsewhere the children of one candidate.
fn groups<'b>(
    context: &Context<'_>,
    stage: &VerifyStage,
    round: Option<u32>,
    beam: &'b [Entry],
) -> Vec<&'b [Entry]> {
    let together = judges_together(context, stage);
    beam.chunk_by(|a, b| together && (round.is_some() || parent(a) == parent(b))).collect()
}

/// True if a call takes several candidates.
pub(super) fn judges_together(context: &Context<'_>, stage: &VerifyStage) -> bool {
    let instance = context.services.instances.stages.get(&stage.label);
    instance.is_some_and(|(info, _)| info.compares_candidates(&stage.options))
}

fn parent(entry: &Entry) -> &[LineageStep] {
    let lineage = &entry.candidate.lineage;
    lineage.get(..lineage.len().saturating_sub(1)).unwrap_or_default()
}

/// The common lineage of the candidates of a call.
fn common(group: &[Entry]) -> &[LineageStep] {
    let Some((first, rest)) = group.split_first() else { return &[] };
    let shared = rest.iter().fold(first.candidate.lineage.len(), |length, entry| {
        let both = first.candidate.lineage.iter().zip(&entry.candidate.lineage);
        both.take(length).take_while(|(a, b)| a == b).count()
    });
    first.candidate.lineage.get(..shared).unwrap_or_default()
}

/// One call; as many results as candidates.
fn judge(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &VerifyStage,
    label: &str,
    group: &[Entry],
) -> Vec<Result<JudgedCandidate, Failure>> {
    match ask_verifier(context, task, stage, label, group) {
        Ok(results) => results.into_iter().map(Outcome::into_result).collect(),
        Err(failure) => group.iter().map(|_| Err(failure.clone())).collect(),
    }
}

fn ask_verifier(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &VerifyStage,
    label: &str,
    group: &[Entry],
) -> Result<Vec<Outcome<JudgedCandidate>>, Failure> {
    let Some((info, StageInstance::Verifier(verifier))) = context.services.instances.stages.get(&stage.label)
    else {
        return Err(no_instance(&stage.label));
    };
    let Some(first) = group.first() else { return Ok(Vec::new()) };
    if context.stopping() {
        return Err(cancelled_failure());
    }
    let path = call_path(&task.task.name, label, common(group));
    let call = PluginCall::new(context, task, info, &stage.label, path.clone());
    // Recorded answers of external programs are found by their request, which contains the seed of the path.
    let origin = if call.is_outside() { path.clone() } else { content_of(context, task, stage, group) };
    let request = VerifyRequest {
        task: task.view(first),
        candidates: group.iter().map(|entry| visible_candidate(context, entry)).collect(),
        seed: derive_u64(context.pipeline.seed, "verify", &origin),
        feedback: match stage.feedback.is_empty() {
            true => Vec::new(),
            false => group.iter().map(|entry| stage_feedback(context, &stage.feedback, entry)).collect(),
        },
        conversations: conversations(stage, group),
    };
    let name = format!("{}.verify", info.id);
    if call.is_outside() {
        return call.outside(&name, &request, || answers(&call, info, verifier.as_ref(), &request));
    }
    // One candidate that breaks fails its call; among several it is one result of them.
    if group.len() == 1 {
        let judged = context.recorder.effect(&name, &path, &request, keep, || {
            let results = answers(&call, info, verifier.as_ref(), &request)?;
            results.into_iter().next().map_or_else(|| Err(cancelled_failure()), Outcome::into_result)
        })?;
        return Ok(vec![Outcome::Ok(judged)]);
    }
    context.recorder.effect(
        &name,
        &path,
        &request,
        |all: &Vec<Outcome<JudgedCandidate>>| keep_all(all),
        || answers(&call, info, verifier.as_ref(), &request),
    )
}

/// The content that the seed of a call derives from: the task and the candidate's PDDL. The same domain and problem get the same random
/// choices in every round and stage. Candidates that are judged together share those of the task.
fn content_of(context: &Context<'_>, task: &TaskRun<'_>, stage: &VerifyStage, group: &[Entry]) -> String {
    let name = &task.task.name;
    match group {
        [entry] if !judges_together(context, stage) => {
            let Candidate { domain, problem, .. } = &entry.candidate;
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            format!("{name}\n{}\n{}", text(domain), text(problem))
        }
        _ => name.clone(),
    }
}

/// The stage's own conversations about the candidates; empty where there is none yet.
fn conversations(stage: &VerifyStage, group: &[Entry]) -> Vec<Vec<Message>> {
    let of = |entry: &Entry| entry.conversations.get(&stage.label).cloned().unwrap_or_default();
    let all: Vec<Vec<Message>> = group.iter().map(of).collect();
    if all.iter().all(Vec::is_empty) { Vec::new() } else { all }
}

fn answers(
    call: &PluginCall<'_>,
    info: &PluginInfo,
    verifier: &dyn Verifier,
    request: &VerifyRequest,
) -> Result<Vec<Outcome<JudgedCandidate>>, Failure> {
    let results = verifier.verify(call, request).and_then(|response| {
        let (wanted, returned) = (request.candidates.len(), response.results.len());
        if wanted == returned {
            return Ok(response.results);
        }
        let message =
            format!("`{}` was asked about {wanted} candidates and answered for {returned}", info.id);
        Err(Failure::new(FailureClass::Plugin, "pipeline.assessment-count", message))
    });
    // The result of an external program is recorded whole, so it must not contain a deferral.
    let may_contain = !call.is_outside();
    let results =
        call.unless_deferred(results, |results| may_contain && results.iter().any(Outcome::is_deferred))?;
    let from_environment = call.asked_environment();
    let judged = |result| match result {
        Outcome::Ok(assessment) => Outcome::Ok(JudgedCandidate { assessment, from_environment }),
        Outcome::Failure(failure) => Outcome::Failure(failure),
    };
    let all: Vec<Outcome<JudgedCandidate>> = results.into_iter().map(judged).collect();
    // A limit that was reached once the run is being interrupted may be the interruption's doing.
    if has_limit(&all) && call.context.stopping() { Err(cancelled_failure()) } else { Ok(all) }
}

/// Most judgements are made again in no time; what a limit cut short is not the same the next time.
fn keep(judged: &JudgedCandidate) -> Keep {
    match judged.assessment.decision {
        Decision::Undecided { reason: UndecidedReason::Limit, .. } => Keep::Timed,
        _ => Keep::No,
    }
}

/// Results with a deferral are not recorded: a resumed run calls the verifier again.
fn keep_all(all: &[Outcome<JudgedCandidate>]) -> Keep {
    if has_limit(all) && !all.iter().any(Outcome::is_deferred) { Keep::Timed } else { Keep::No }
}

/// True if a limit ended one of the assessments.
fn has_limit(all: &[Outcome<JudgedCandidate>]) -> bool {
    all.iter().any(|one| matches!(one, Outcome::Ok(judged) if keep(judged) == Keep::Timed))
}
