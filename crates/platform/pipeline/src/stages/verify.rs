//! `do = "verify"`: gives each candidate an assessment.

use super::bound::{BeamBound, BoundWalk};
use super::checker::{StageChecker, StageTable};
use super::interface::{KindFacts, StageContext, StageDefinition, StageResult, no_instance};
use crate::beam::{Entry, StageOutcome, call_path, label_in_round};
use crate::calls::{PluginCall, PluginUse, RunContext, cancelled_failure};
use crate::codes::NO_REFERENCE;
use crate::plugins::{check_feedback_is_used, read_options, read_plugin};
use crate::services::{Keep, StageInstance};
use planforge_contract::api::Verifier;
use planforge_contract::{
    Assessment, Candidate, Decision, Failure, FailureClass, JsonObject, LineageStep, Message, Outcome,
    PluginInfo, PluginKind, UndecidedReason, VerifyRequest,
};
use planforge_diagnostics::Diagnostic;
use planforge_llm::{RoleModels, derive_u64};
use planforge_record::{Event, TaskVerdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `do = "verify"`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The id of a verifier plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// Role -> who takes it: the name of an `[llm.NAME]` table, names in an order, or names with weights.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleModels>,
    /// The plugin's options.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
    /// Labels of the stages whose feedback the verifier gets in `VerifyRequest.feedback`, as in a translate
    /// stage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
    /// The assessment is a measurement alone: it decides neither the task's verdict, nor whether a planner is asked, nor
    /// whether a round's child is accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub measure: bool,
    /// A task without the reference that the verifier needs fails. Otherwise the stage is skipped for such a task, whose verdict then says that it
    /// was not judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

impl StageDefinition for VerifyStage {
    fn facts() -> KindFacts {
        KindFacts { judges: true, gives_feedback: true, ..KindFacts::PLAIN }
    }

    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        let StageTable { reader, label, .. } = table;
        let (plugin, info) = read_plugin(reader, PluginKind::Verifier, checker.catalogue, out);
        let place = reader.node("use").map_or(reader.place, |node| node.place);
        let options = read_options(reader, info.as_ref(), checker.catalogue, out);
        let roles = checker.read_roles(reader, (info.as_ref(), &options), out);
        let stage = VerifyStage {
            label: label.value.clone(),
            plugin,
            roles,
            options,
            feedback: checker.read_feedback(reader, out),
            measure: reader.boolean("measure", out).unwrap_or(false),
            required: reader.boolean("required", out).unwrap_or(false),
        };
        if let Some(info) = &info
            && info.needs_environment(&stage.options)
        {
            checker.findings.need_environment.push((info.id.clone(), place));
        }
        check_feedback_is_used(reader, info.as_ref(), &stage.feedback, out);
        let metrics = info.map(|info| info.metrics.into_iter().map(|m| m.name).collect()).unwrap_or_default();
        (stage, metrics)
    }

    fn plugin(&self) -> Option<PluginUse<'_>> {
        Some(PluginUse { stage: &self.label, id: &self.plugin, options: &self.options, roles: &self.roles })
    }

    fn feedback_labels(&self) -> &[String] {
        &self.feedback
    }

    fn decides(&self) -> bool {
        !self.measure
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, times: u64) -> BeamBound {
        if let Some(plugin) = self.plugin() {
            walk.calls(&plugin, 1, beam, times);
        }
        beam
    }

    fn run(
        &self,
        context: &StageContext<'_>,
        round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        let label = label_in_round(&self.label, round);
        let groups = groups(context, self, round, &beam);
        let results = context.run.pool.map(&groups, |group| judge(context, self, &label, group));
        let results: Vec<Result<JudgedCandidate, Failure>> = results.into_iter().flatten().collect();
        let mut step = StageResult::default();
        for (mut entry, result) in beam.into_iter().zip(results) {
            match result {
                Ok(JudgedCandidate { mut assessment, from_environment }) => {
                    context.run.recorder.event(Event::Assessed {
                        task: context.name().to_owned(),
                        stage: self.label.clone(),
                        path: context.candidate_path(&entry),
                        assessment: context.run.recorder.blob(&assessment)?,
                        decision: assessment.decision.name().to_owned(),
                    })?;
                    step.count(assessment.decision.name());
                    let messages = std::mem::take(&mut assessment.messages);
                    // The environment's messages reach a model only if feedback comes from the environment.
                    if !from_environment || context.run.environment_feedback {
                        entry.converse(&self.label, messages);
                    }
                    entry.assess(&self.label, assessment, from_environment);
                }
                Err(failure) if failure.code == NO_REFERENCE && !self.required => {
                    step.count("not-judged");
                    entry.record(&self.label, StageOutcome::NotJudged);
                }
                Err(failure) => {
                    let path = context.path_of(&label, &entry);
                    if step.broke(context, path, &failure)? {
                        continue;
                    }
                    entry.record(&self.label, StageOutcome::Failed(failure));
                }
            }
            step.beam.push(entry);
        }
        Ok(step)
    }

    fn needs_whole_beam(&self, run: &RunContext<'_>) -> bool {
        judges_together(run, self)
    }

    fn objection(&self, entry: &Entry) -> Option<TaskVerdict> {
        let stage = self.label.clone();
        let undecided = |stage, message| Some(TaskVerdict::Undecided { stage, message });
        // It was skipped.
        if matches!(entry.outcome(&stage), Some(StageOutcome::NotJudged)) {
            return None;
        }
        let Some(assessment) = entry.candidate.assessments.get(&stage) else {
            return undecided(stage, "it was not judged".to_owned());
        };
        match &assessment.decision {
            Decision::Accepted => None,
            Decision::Rejected => Some(TaskVerdict::Rejected { stage, message: assessment.summary.clone() }),
            Decision::Undecided { reason, message } => {
                undecided(stage, format!("{}: {message}", reason_text(*reason)))
            }
            Decision::NotComparable { message } => undecided(stage, format!("not comparable: {message}")),
        }
    }

    fn rejects(&self, entry: &Entry) -> bool {
        let assessment = entry.candidate.assessments.get(&self.label);
        !self.measure && assessment.is_some_and(|assessment| assessment.decision == Decision::Rejected)
    }

    fn feedback(&self, _entry: &Entry, shown: &Candidate) -> Vec<String> {
        shown.assessments.get(&self.label).map(|assessment| assessment.feedback.clone()).unwrap_or_default()
    }
}

const fn reason_text(reason: UndecidedReason) -> &'static str {
    match reason {
        UndecidedReason::Limit => "a limit was reached",
        UndecidedReason::Unsupported => "unsupported",
        UndecidedReason::MissingInput => "nothing to judge",
    }
}

/// An assessment, and whether the environment was asked for it.
#[derive(Serialize, Deserialize)]
struct JudgedCandidate {
    assessment: Assessment,
    from_environment: bool,
}

/// The candidates of each call, in the order of the beam: one each, unless the verifier judges better together. Then the
/// children of one round share a call, and elsewhere the children of one candidate.
fn groups<'b>(
    context: &StageContext<'_>,
    stage: &VerifyStage,
    round: Option<u32>,
    beam: &'b [Entry],
) -> Vec<&'b [Entry]> {
    let together = judges_together(context.run, stage);
    beam.chunk_by(|a, b| together && (round.is_some() || parent(a) == parent(b))).collect()
}

/// True if a call takes several candidates.
fn judges_together(run: &RunContext<'_>, stage: &VerifyStage) -> bool {
    let instance = run.services.instances.stages.get(&stage.label);
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
    context: &StageContext<'_>,
    stage: &VerifyStage,
    label: &str,
    group: &[Entry],
) -> Vec<Result<JudgedCandidate, Failure>> {
    match ask_verifier(context, stage, label, group) {
        Ok(results) => results.into_iter().map(Outcome::into_result).collect(),
        Err(failure) => group.iter().map(|_| Err(failure.clone())).collect(),
    }
}

fn ask_verifier(
    context: &StageContext<'_>,
    stage: &VerifyStage,
    label: &str,
    group: &[Entry],
) -> Result<Vec<Outcome<JudgedCandidate>>, Failure> {
    let Some((info, StageInstance::Verifier(verifier))) =
        context.run.services.instances.stages.get(&stage.label)
    else {
        return Err(no_instance(&stage.label));
    };
    let Some(first) = group.first() else { return Ok(Vec::new()) };
    if context.run.stopping() {
        return Err(cancelled_failure());
    }
    let path = call_path(context.name(), label, common(group));
    let call = context.call(info, &stage.label, path.clone());
    // Recorded answers of external programs are found by their request, which contains the seed of the path.
    let origin = if call.is_outside() { path.clone() } else { content_of(context, stage, group) };
    let request = VerifyRequest {
        task: context.task.view(first),
        candidates: group.iter().map(|entry| context.run.visible_candidate(entry)).collect(),
        seed: derive_u64(context.run.seed, "verify", &origin),
        feedback: match stage.feedback.is_empty() {
            true => Vec::new(),
            false => group.iter().map(|entry| context.feedback(&stage.feedback, entry)).collect(),
        },
        conversations: conversations(stage, group),
    };
    let name = format!("{}.verify", info.id);
    if call.is_outside() {
        return call.outside(&name, &request, || answers(&call, info, verifier.as_ref(), &request));
    }
    // One candidate that breaks fails its call; among several it is one result of them.
    if group.len() == 1 {
        let judged = context.run.recorder.effect(&name, &path, &request, keep, || {
            let results = answers(&call, info, verifier.as_ref(), &request)?;
            results.into_iter().next().map_or_else(|| Err(cancelled_failure()), Outcome::into_result)
        })?;
        return Ok(vec![Outcome::Ok(judged)]);
    }
    context.run.recorder.effect(
        &name,
        &path,
        &request,
        |all: &Vec<Outcome<JudgedCandidate>>| keep_all(all),
        || answers(&call, info, verifier.as_ref(), &request),
    )
}

/// The content that the seed of a call derives from: the task and the candidate's PDDL. The same domain and problem get the same random
/// choices in every round and stage. Candidates that are judged together share those of the task.
fn content_of(context: &StageContext<'_>, stage: &VerifyStage, group: &[Entry]) -> String {
    let name = context.name();
    match group {
        [entry] if !judges_together(context.run, stage) => {
            let Candidate { domain, problem, .. } = &entry.candidate;
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            format!("{name}\n{}\n{}", text(domain), text(problem))
        }
        _ => name.to_owned(),
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
    if has_limit(&all) && call.run.stopping() { Err(cancelled_failure()) } else { Ok(all) }
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
