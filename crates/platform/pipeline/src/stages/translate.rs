//! `do = "translate"`: makes children of each candidate by asking a translator.

use super::bound::{BeamBound, BoundWalk};
use super::checker::{StageChecker, StageTable, small};
use super::interface::{KindFacts, StageContext, StageDefinition, StageResult, Writes, no_instance};
use super::rounds::sample_defect;
use crate::beam::{Entry, candidate_path, label_in_round, label_without_round};
use crate::calls::{PluginCall, PluginUse, cancelled_failure};
use crate::plugins::{read_options, read_plugin};
use crate::report::Translation;
use crate::services::StageInstance;
use planforge_contract::api::Translator;
use planforge_contract::{
    Candidate, CandidatePatch, Failure, FailureClass, FixPolicy, JsonObject, LineageStep, Outcome,
    PluginKind, TranslateRequest,
};
use planforge_diagnostics::Diagnostic;
use planforge_llm::{RoleModels, derive_u64};
use planforge_plugin_sdk::feedback as phrases;
use planforge_record::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// `do = "translate"`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranslateStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The id of a translator plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// Number of samples of each candidate.
    #[serde(default = "crate::stages::one")]
    #[schemars(range(min = 1, max = 1000))]
    pub n: u32,
    /// Makes a call for each sample instead of one for all. The calls run side by side, as far as `--jobs` allows. It pays for translators
    /// that ask each sample in its own way, such as `translator-reading`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub apart: bool,
    /// Most times that a sample is asked for again: if its reply could not be used, or if its problem has a mistake that no
    /// domain repairs (an unreadable problem, an undeclared object, an empty goal). The last reply counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(max = 10))]
    pub resample: u32,
    /// Role -> who takes it: the name of an `[llm.NAME]` table, names in an order, or names with weights.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleModels>,
    /// The plugin's options.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
    /// Applies safe fixes to what a model wrote; each is recorded.
    #[serde(default)]
    pub fixes: FixPolicy,
    /// Labels of the stages whose feedback becomes part of the request: verify stages for their feedback,
    /// plan stages for the reason why there is no plan, and translate stages for the mistakes in the reply.
    /// They stand before this one; in a round, stages behind this one are those of the round before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
    /// Candidates that have this already pass through unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_without: Option<Artefact>,
}

const fn is_zero(number: &u32) -> bool {
    *number == 0
}

const fn is_false(value: &bool) -> bool {
    !*value
}

/// The parts of a candidate that are PDDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Artefact {
    /// The domain.
    Domain,
    /// The problem.
    Problem,
}

impl StageDefinition for TranslateStage {
    fn facts() -> KindFacts {
        KindFacts { gives_feedback: true, groups: true, ..KindFacts::PLAIN }
    }

    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        let StageTable { reader, label, .. } = table;
        let (plugin, info) = read_plugin(reader, PluginKind::Translator, checker.catalogue, out);
        let options = read_options(reader, info.as_ref(), checker.catalogue, out);
        let roles = checker.read_roles(reader, (info.as_ref(), &options), out);
        let stage = TranslateStage {
            label: label.value.clone(),
            plugin,
            n: small(reader.integer("n", 1..=1000, out), 1),
            apart: reader.boolean("apart", out).unwrap_or(false),
            roles,
            options,
            fixes: reader
                .word("fixes", &[("none", FixPolicy::None), ("safe", FixPolicy::Safe)], out)
                .unwrap_or_default(),
            feedback: checker.read_feedback(reader, out),
            resample: small(reader.integer("resample", 0..=10, out), 0),
            only_without: reader.word(
                "only_without",
                &[("domain", Artefact::Domain), ("problem", Artefact::Problem)],
                out,
            ),
        };
        checker.note_writer(&label.value, &stage.roles);
        (stage, Vec::new())
    }

    fn plugin(&self) -> Option<PluginUse<'_>> {
        Some(PluginUse { stage: &self.label, id: &self.plugin, options: &self.options, roles: &self.roles })
    }

    fn feedback_labels(&self) -> &[String] {
        &self.feedback
    }

    fn writes(&self) -> Option<Writes> {
        Some(Writes::Candidate)
    }

    fn makes_children(&self) -> bool {
        true
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, times: u64) -> BeamBound {
        let n = u64::from(self.n);
        if let Some(plugin) = self.plugin() {
            let (calls, each) = if self.apart { (n, 1) } else { (1, n) };
            let samples = each * (1 + u64::from(self.resample));
            walk.calls(&plugin, samples, beam, times.saturating_mul(calls));
        }
        let width = beam.width.saturating_mul(n);
        walk.made.insert(self.label.clone(), width);
        BeamBound { width, before: beam.before + 1 }
    }

    fn run(
        &self,
        context: &StageContext<'_>,
        round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        let label = label_in_round(&self.label, round);
        let calls: Vec<(&Entry, Range<u32>)> = beam
            .iter()
            .filter(|entry| !has(entry, self.only_without))
            .flat_map(|entry| self.calls().map(move |samples| (entry, samples)))
            .collect();
        let mut results = context
            .run
            .pool
            .map(&calls, |(entry, samples)| match ask_translator(context, self, &label, entry, samples) {
                Ok(outcomes) => outcomes,
                // The whole call broke, and with it every sample.
                Err(failure) => samples.clone().map(|_| Outcome::Failure(failure.clone())).collect(),
            })
            .into_iter()
            .flatten();
        let mut step = StageResult::default();
        for parent in beam {
            if has(&parent, self.only_without) {
                step.count("passed");
                step.beam.push(parent);
                continue;
            }
            for (sample, outcome) in (0..self.n).zip(&mut results) {
                let lineage = lineage(&parent, &label, sample);
                let path = candidate_path(context.name(), &lineage);
                match outcome {
                    Outcome::Ok(patch) => {
                        let child = child(&parent, &Birth { lineage, path: &path, round }, &patch);
                        context.record_candidate(&child, &patch)?;
                        step.count("made");
                        step.beam.push(child);
                    }
                    Outcome::Failure(failure) => {
                        let _ = step.broke(context, path, &failure)?;
                    }
                }
            }
        }
        Ok(step)
    }

    fn feedback(&self, entry: &Entry, _shown: &Candidate) -> Vec<String> {
        let written = entry.written.iter().rev().find(|w| label_without_round(&w.stage) == self.label);
        written.and_then(|written| phrases::reply(&written.diagnostics)).into_iter().collect()
    }
}

impl TranslateStage {
    /// The samples of a candidate that each call asks for.
    fn calls(&self) -> impl Iterator<Item = Range<u32>> + use<> {
        let n = self.n;
        let each = if self.apart { 1 } else { n };
        (0..n).step_by(each as usize).map(move |first| first..first + each)
    }
}

/// The lineage of a sample.
fn lineage(parent: &Entry, label: &str, sample: u32) -> Vec<LineageStep> {
    let step = LineageStep { stage: label.to_owned(), sample };
    parent.candidate.lineage.iter().cloned().chain([step]).collect()
}

/// True if the stage passes the candidate on unchanged.
fn has(entry: &Entry, only_without: Option<Artefact>) -> bool {
    match only_without {
        None => false,
        Some(Artefact::Domain) => entry.candidate.domain.is_some(),
        Some(Artefact::Problem) => entry.candidate.problem.is_some(),
    }
}

/// Asks the translator for children of a candidate.
fn ask_translator(
    context: &StageContext<'_>,
    stage: &TranslateStage,
    label: &str,
    entry: &Entry,
    samples: &Range<u32>,
) -> Result<Vec<Outcome<CandidatePatch>>, Failure> {
    let Some((info, StageInstance::Translator(translator))) =
        context.run.services.instances.stages.get(&stage.label)
    else {
        return Err(no_instance(&stage.label));
    };
    if context.run.stopping() {
        return Err(cancelled_failure());
    }
    let path = match stage.apart {
        true => candidate_path(context.name(), &lineage(entry, label, samples.start)),
        false => context.path_of(label, entry),
    };
    let seed = derive_u64(context.run.seed, "translate", &path);
    let call = context.call(info, &stage.label, path);
    let request = TranslateRequest {
        task: context.task.view(entry),
        candidate: context.run.visible_candidate(entry),
        feedback: context.writer_feedback(&stage.feedback, entry),
        n: samples.end - samples.start,
        first_sample: samples.start,
        fixes: stage.fixes,
        seed,
    };
    let mut samples = match translate(translator.as_ref(), &call, &request) {
        Ok(samples) => samples,
        failed => return call.unless_deferred(failed, |_| false),
    };
    resample(context, stage, (translator.as_ref(), &call), &request, &mut samples)?;
    call.unless_deferred(Ok(samples), |samples| samples.iter().any(Outcome::is_deferred))
}

/// Asks again for the samples that have a defect, as often as the stage allows.
fn resample(
    context: &StageContext<'_>,
    stage: &TranslateStage,
    (translator, call): (&dyn Translator, &PluginCall<'_>),
    request: &TranslateRequest,
    samples: &mut [Outcome<CandidatePatch>],
) -> Result<(), Failure> {
    let domain = request.candidate.domain.as_deref();
    for attempt in 1..=stage.resample {
        // Which samples are asked for again is known when all replies are there.
        if context.run.stopping() || samples.iter().any(Outcome::is_deferred) {
            break;
        }
        let path = &call.path;
        let mut defective = Vec::new();
        for (sample, outcome) in samples.iter_mut().enumerate() {
            let Some(why) = sample_defect(&request.task, domain, outcome) else { continue };
            let name = if stage.apart { path.clone() } else { format!("{path}/{sample}") };
            context.run.recorder.event(Event::Log {
                plugin: "planforge".to_owned(),
                level: "info".to_owned(),
                message: format!("{name}: asked again ({attempt} of {}): {why}", stage.resample),
            })?;
            defective.push(outcome);
        }
        if defective.is_empty() {
            break;
        }
        let n = u32::try_from(defective.len()).unwrap_or(u32::MAX);
        let seed = derive_u64(context.run.seed, "translate", &format!("{path}/{attempt}"));
        let again = TranslateRequest { n, seed, ..request.clone() };
        let fresh = match translate(translator, call, &again) {
            Ok(fresh) => fresh,
            // The other samples stay as they are.
            Err(failure) => defective.iter().map(|_| Outcome::Failure(failure.clone())).collect(),
        };
        for (sample, outcome) in defective.into_iter().zip(fresh) {
            *sample = outcome;
        }
    }
    Ok(())
}

/// As many samples as requested.
fn translate(
    translator: &dyn Translator,
    call: &PluginCall<'_>,
    request: &TranslateRequest,
) -> Result<Vec<Outcome<CandidatePatch>>, Failure> {
    let samples = translator.translate(call, request)?.samples;
    if samples.len() == request.n as usize {
        return Ok(samples);
    }
    let (id, returned, wanted) = (&call.info.id, samples.len(), request.n);
    let message = format!("`{id}` returned {returned} samples and was asked for {wanted}");
    Err(Failure::new(FailureClass::Plugin, "pipeline.sample-count", message))
}

/// The origin of a child.
struct Birth<'a> {
    lineage: Vec<LineageStep>,
    path: &'a str,
    round: Option<u32>,
}

/// The child of a candidate. Results about the parent's domain and problem do not hold for a new one. A round
/// judges each child, whether it changed anything or not.
fn child(parent: &Entry, birth: &Birth<'_>, patch: &CandidatePatch) -> Entry {
    let stage = birth.lineage.last().map(|step| step.stage.clone()).unwrap_or_default();
    let changed = patch.domain.is_some() || patch.problem.is_some();
    let mut child = parent.clone();
    if changed || birth.round.is_some() {
        // A round judges each child, whether it changed anything or not.
        let (domain, problem) = (patch.domain.is_some(), patch.problem.is_some());
        child.advance_texts(domain || !changed, problem || !changed);
        child.unusable.clear();
    }
    let old = &parent.candidate;
    child.candidate.lineage.clone_from(&birth.lineage);
    child.candidate.domain = patch.domain.clone().or_else(|| old.domain.clone());
    child.candidate.problem = patch.problem.clone().or_else(|| old.problem.clone());
    child.candidate.texts.clone_from(&old.texts);
    if is_other_domain(old, patch) {
        child.candidate.texts.actions.clear();
    }
    child.candidate.texts.extend(patch.texts.clone());
    child.candidate.thought = patch.thought.clone().or_else(|| old.thought.clone());
    // What became of edits is about the last reply, whatever was asked for.
    child.candidate.edits = patch.edits;
    // A problem that was written anew did not come from the old one's inference.
    child.candidate.inference = match patch.problem {
        Some(_) => patch.inference.clone(),
        None => old.inference.clone(),
    };
    (child.candidate.log_likelihood, child.candidate.tokens) = likelihood(parent, patch);
    child.candidate.conversation.clone_from(&old.conversation);
    child.candidate.conversation.extend(patch.messages.iter().cloned());
    child.written.push(Translation {
        stage,
        path: birth.path.to_owned(),
        raw_reply: patch.raw_reply.clone(),
        fixes: patch.fixes.clone(),
        diagnostics: patch.diagnostics.clone(),
    });
    child
}

/// True if a translator that does not write actions one by one has written another domain. It is then not
/// made of the single actions, and verifiers of actions have to find them in the domain.
fn is_other_domain(old: &Candidate, patch: &CandidatePatch) -> bool {
    let other = patch.domain.is_some() && patch.domain != old.domain;
    other && patch.texts.actions.is_empty()
}

/// Sum of log-probabilities over all replies that made a candidate, and its number of tokens
/// (test-time-scaling paper, Eq. 1). Unknown if a server returned none for one of them.
fn likelihood(parent: &Entry, patch: &CandidatePatch) -> (Option<f64>, Option<u64>) {
    let replied = |reply: &str| !reply.is_empty();
    if patch.rewrite {
        return (patch.log_likelihood, patch.tokens);
    }
    let asked = parent.written.iter().any(|written| replied(&written.raw_reply));
    let add = |old: Option<f64>, new: Option<f64>| match (old, new) {
        (Some(a), Some(b)) => Some(a + b),
        (None, new) => new.filter(|_| !asked),
        (old, None) => old.filter(|_| !replied(&patch.raw_reply)),
    };
    let sum = add(parent.candidate.log_likelihood, patch.log_likelihood);
    // Numbers of tokens are far below the integers that a float holds exactly.
    let tokens = |tokens: Option<u64>| tokens.map(|tokens| tokens as f64);
    let count = add(tokens(parent.candidate.tokens), tokens(patch.tokens));
    (sum, count.filter(|_| sum.is_some()).map(|count| count as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelihoods_add_up_and_a_rewrite_has_its_own() {
        let patch = |sum: Option<f64>, tokens: Option<u64>, rewrite: bool| CandidatePatch {
            log_likelihood: sum,
            tokens,
            rewrite,
            raw_reply: "reply".into(),
            ..CandidatePatch::default()
        };
        let birth = Birth { lineage: Vec::new(), path: "p", round: None };
        let born = |parent: &Entry, patch: &CandidatePatch| child(parent, &birth, patch);
        let of = |entry: &Entry| (entry.candidate.log_likelihood, entry.candidate.tokens);
        let first = born(&Entry::default(), &patch(Some(-2.0), Some(4), false));
        let second = born(&first, &patch(Some(-3.0), Some(6), false));
        assert_eq!(of(&second), (Some(-5.0), Some(10)));
        assert_eq!(of(&born(&second, &patch(Some(-1.0), Some(2), true))), (Some(-1.0), Some(2)));
        assert_eq!(of(&born(&second, &patch(None, None, true))), (None, None));
        // A sum with a part that no server told is not known, and no later reply makes it known again.
        let unknown = born(&second, &patch(None, None, false));
        assert_eq!(of(&unknown), (None, None));
        assert_eq!(of(&born(&unknown, &patch(Some(-1.0), Some(2), false))), (None, None));
        // What was written without a reply changes nothing.
        let silent = CandidatePatch { problem: Some("p".into()), ..CandidatePatch::default() };
        assert_eq!(of(&born(&second, &silent)), (Some(-5.0), Some(10)));
        // A sum of unknown length has no mean.
        let uncounted = born(&first, &patch(Some(-3.0), None, false));
        assert_eq!(of(&uncounted), (Some(-5.0), None));
        assert_eq!(uncounted.metric("candidate.mean_log_likelihood"), None);
        assert_eq!(second.metric("candidate.mean_log_likelihood"), Some(-0.5));
    }

    #[test]
    fn actions_by_themselves_go_with_the_domain_that_is_made_of_them() {
        let patch = |domain: Option<&str>, texts: &[(&str, &str)]| CandidatePatch {
            domain: domain.map(str::to_owned),
            texts: texts.iter().copied().collect(),
            ..CandidatePatch::default()
        };
        let birth = Birth { lineage: Vec::new(), path: "p", round: None };
        let names = |entry: &Entry| {
            let texts = std::collections::BTreeMap::from(entry.candidate.texts.clone());
            texts.into_keys().collect::<Vec<_>>()
        };
        let texts = [("action.go", "a"), ("action.light", "b"), ("predicates", "c")];
        let written = child(&Entry::default(), &birth, &patch(Some("one"), &texts));
        assert_eq!(names(&written), ["action.go", "action.light", "predicates"]);
        // One of them is written again, or the domain stays, or a problem is written for it.
        let again = child(&written, &birth, &patch(Some("two"), &[("action.go", "d")]));
        assert_eq!(names(&again), names(&written));
        assert_eq!(names(&child(&again, &birth, &patch(Some("two"), &[]))), names(&written));
        assert_eq!(names(&child(&again, &birth, &patch(None, &[]))), names(&written));
        // Another translator has changed the domain.
        assert_eq!(names(&child(&again, &birth, &patch(Some("three"), &[]))), ["predicates"]);
    }
}
