//! A candidate on its way through the stages, with what the candidate document does not hold, and the sample paths of the record.

use crate::report::Translation;
use planforge_contract::{
    Assessment, Candidate, Decision, Failure, LeadMaterials, LineageStep, Message, PlanOutcome,
};
use planforge_record::SamplePath;
use std::collections::BTreeMap;

/// The label of a candidate's own metrics; no stage may have it.
pub(crate) const CANDIDATE: &str = "candidate";
/// The log-likelihood divided by the number of tokens.
pub(crate) const MEAN_LOG_LIKELIHOOD: &str = "mean_log_likelihood";

/// One member of the beam.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) candidate: Candidate,
    pub(crate) versions: Versions,
    /// The last result of each stage that judged or planned it, by the stage's label. Assessments are in the candidate.
    pub(crate) results: BTreeMap<String, StageResult>,
    /// Translations that made it, oldest first.
    pub(crate) written: Vec<Translation>,
    /// The lead task that the candidate comes from, behind a fan-out.
    pub(crate) lead: LeadMaterials,
    /// Reasons why no reply to the last round's request could be used.
    pub(crate) unusable: Vec<String>,
    /// Place in its group among the candidates that the last select or budget stage kept, from 0; 0 without such a
    /// stage.
    pub(crate) place: usize,
    /// The verify stages' own conversations about it and its ancestors, by the stage's label.
    pub(crate) conversations: BTreeMap<String, Vec<Message>>,
}

/// The versions of a candidate's artefacts. Each counts from 0, and grows when the artefact is written anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Versions {
    domain: u32,
    problem: u32,
    /// 0 while there is no plan.
    plan: u32,
}

/// The result of one stage for a candidate.
#[derive(Debug, Clone)]
pub(crate) struct StageResult {
    /// The versions that it is about.
    versions: Versions,
    /// False if it is only for the record: the verdict does not depend on it.
    counts: bool,
    pub(crate) outcome: StageOutcome,
}

/// The outcome of one stage for a candidate.
#[derive(Debug, Clone)]
pub(crate) enum StageOutcome {
    /// It gave an assessment, which depends on the environment or not.
    Assessed { from_environment: bool },
    /// It asked its planner.
    Planned(PlanOutcome),
    /// Its call broke.
    Failed(Failure),
    /// It was to judge the candidate and did not, for a reason that may be known.
    Missing(Option<String>),
    /// It asked no planner: the candidate lacks a part, for this reason.
    NothingToPlan(String),
    /// It needs a reference that the task does not have.
    NotJudged,
}

impl Entry {
    /// Appends to a verify stage's own conversation.
    pub(crate) fn converse(&mut self, label: &str, messages: Vec<Message>) {
        if !messages.is_empty() {
            self.conversations.entry(label.to_owned()).or_default().extend(messages);
        }
    }

    /// Records a stage's assessment in place of its earlier result.
    pub(crate) fn assess(&mut self, label: &str, assessment: Assessment, from_environment: bool) {
        self.record(label, StageOutcome::Assessed { from_environment });
        self.candidate.assessments.insert(label.to_owned(), assessment);
    }

    /// Records a stage's outcome for the current versions in place of its earlier result.
    pub(crate) fn record(&mut self, label: &str, outcome: StageOutcome) {
        self.candidate.assessments.remove(label);
        let result = StageResult { versions: self.versions, counts: true, outcome };
        self.results.insert(label.to_owned(), result);
    }

    /// Removes a stage's result.
    pub(crate) fn remove_result(&mut self, label: &str) {
        self.candidate.assessments.remove(label);
        self.results.remove(label);
    }

    /// The outcome of a stage, whether it counts or not.
    pub(crate) fn outcome(&self, label: &str) -> Option<&StageOutcome> {
        self.results.get(label).map(|result| &result.outcome)
    }

    /// The outcome of a plan stage that asked its planner.
    pub(crate) fn plan_outcome(&self, label: &str) -> Option<&PlanOutcome> {
        match self.outcome(label) {
            Some(StageOutcome::Planned(outcome)) => Some(outcome),
            _ => None,
        }
    }

    /// True if a stage has a result about the current versions.
    pub(crate) fn has_current_result(&self, label: &str) -> bool {
        self.results.get(label).is_some_and(|result| result.counts && result.is_about(&self.versions))
    }

    /// True if a stage judged a plan of the candidate.
    pub(crate) fn is_about_plan(&self, label: &str) -> bool {
        self.results.get(label).is_some_and(|result| result.versions.plan > 0)
    }

    /// Keeps results for the record alone, except those of some stages.
    pub(crate) fn discount_results(&mut self, except: impl Fn(&str) -> bool) {
        for (label, result) in &mut self.results {
            if !except(label) {
                result.counts = false;
            }
        }
    }

    /// Notes that the domain, the problem or both were written anew: there is no plan for them and no result about them.
    pub(crate) fn advance_texts(&mut self, domain: bool, problem: bool) {
        self.versions.domain += u32::from(domain);
        self.versions.problem += u32::from(problem);
        self.versions.plan = 0;
        self.candidate.plan = None;
        self.remove_stale_results();
    }

    /// Notes that the plan is written anew: results about the old one are removed.
    pub(crate) fn advance_plan(&mut self) {
        self.versions.plan += 1;
        self.remove_stale_results();
    }

    /// Notes that the candidate has a plan. A second plan by another planner leaves the results about the first as they are.
    pub(crate) fn add_plan(&mut self, outcome: PlanOutcome) {
        self.versions.plan = self.versions.plan.max(1);
        self.candidate.plan = Some(outcome);
    }

    fn remove_stale_results(&mut self) {
        let versions = self.versions;
        self.results.retain(|_, result| result.is_about(&versions));
        let results = &self.results;
        self.candidate.assessments.retain(|label, _| results.contains_key(label));
    }

    /// True if a stage's assessment depends on the environment.
    pub(crate) fn is_from_environment(&self, label: &str) -> bool {
        matches!(self.outcome(label), Some(StageOutcome::Assessed { from_environment: true }))
    }

    /// The candidate as plugins may see it that ask a model: without assessments that rest on the environment.
    pub(crate) fn without_environment(&self) -> Candidate {
        let mut candidate = self.candidate.clone();
        candidate.assessments.retain(|label, _| !self.is_from_environment(label));
        candidate
    }

    /// The candidate for plugins that may ask a model, where the pipeline allows feedback from the
    /// environment: assessments that depend on the environment keep decision, metrics and feedback. Their
    /// other parts may contain the reference.
    pub(crate) fn with_feedback_alone(&self) -> Candidate {
        let mut candidate = self.candidate.clone();
        for (label, assessment) in &mut candidate.assessments {
            if self.is_from_environment(label) {
                let (metrics, feedback) =
                    (std::mem::take(&mut assessment.metrics), std::mem::take(&mut assessment.feedback));
                let decision = without_message(&assessment.decision);
                *assessment = Assessment { metrics, feedback, ..Assessment::new(decision, "") };
            }
        }
        candidate
    }

    /// The value that a select or refine stage compares.
    pub(crate) fn metric(&self, by: &str) -> Option<f64> {
        let (label, name) = by.split_once('.')?;
        let value = if label == CANDIDATE {
            match name {
                MEAN_LOG_LIKELIHOOD => {
                    let tokens = self.candidate.tokens.filter(|tokens| *tokens > 0);
                    self.candidate.log_likelihood.zip(tokens).map(|(sum, tokens)| sum / tokens as f64)
                }
                _ => self.candidate.log_likelihood,
            }
        } else if let Some(outcome) = self.plan_outcome(label) {
            let plan = outcome.best()?;
            match name {
                "steps" => Some(plan.steps.len() as f64),
                _ => plan.cost,
            }
        } else {
            self.candidate.assessments.get(label)?.metrics.get(name).copied()
        };
        value.filter(|v| !v.is_nan())
    }

    /// The lineage of the ancestor made by that stage; that of the task itself where no stage is named.
    pub(crate) fn ancestor(&self, stage: Option<&str>) -> &[LineageStep] {
        let lineage = &self.candidate.lineage;
        // A stage of a round has made several ancestors; the last is the one that stands now.
        let made = |step: &LineageStep| stage.is_some_and(|stage| label_without_round(&step.stage) == stage);
        let end = lineage.iter().rposition(made).map_or(0, |at| at + 1);
        lineage.get(..end).unwrap_or_default()
    }
}

impl StageResult {
    /// True if it is about these versions. A result from before there was a plan is about every plan.
    fn is_about(&self, current: &Versions) -> bool {
        let judged = &self.versions;
        judged.domain == current.domain
            && judged.problem == current.problem
            && (judged.plan == 0 || judged.plan == current.plan)
    }
}

/// A decision without the words that a verifier has for a person.
fn without_message(decision: &Decision) -> Decision {
    match decision {
        Decision::Undecided { reason, .. } => Decision::Undecided { reason: *reason, message: String::new() },
        Decision::NotComparable { .. } => Decision::NotComparable { message: String::new() },
        Decision::Accepted => Decision::Accepted,
        Decision::Rejected => Decision::Rejected,
    }
}

/// `task/stage/lineage`: the beginning of the paths of everything that one call does. The lineage is the sample indices of
/// the candidate's descent, joined by dots; `-` for the candidate that a task begins with.
pub(crate) fn call_path(task: &str, stage: &str, lineage: &[LineageStep]) -> SamplePath {
    format!("{task}/{stage}/{}", indices(lineage))
}

/// The path of a candidate: that of the sample which made it.
pub(crate) fn candidate_path(task: &str, lineage: &[LineageStep]) -> SamplePath {
    let stage = lineage.last().map_or("start", |step| step.stage.as_str());
    call_path(task, stage, lineage)
}

/// A stage's label in paths and lineages: inside a refine or budget stage it is followed by the round.
pub(crate) fn label_in_round(label: &str, round: Option<u32>) -> String {
    round.map_or_else(|| label.to_owned(), |round| format!("{label}#{round}"))
}

/// The label of a stage without the round.
pub(crate) fn label_without_round(label: &str) -> &str {
    label.split_once('#').map_or(label, |(label, _)| label)
}

fn indices(lineage: &[LineageStep]) -> String {
    if lineage.is_empty() {
        return "-".to_owned();
    }
    lineage.iter().map(|step| step.sample.to_string()).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_task_stage_and_descent() {
        let step = |stage: &str, sample| LineageStep { stage: stage.to_owned(), sample };
        assert_eq!(call_path("s.p01", "problem", &[]), "s.p01/problem/-");
        let lineage = [step("problem", 3), step("domain", 0)];
        assert_eq!(call_path("s.p01", "ew", &lineage), "s.p01/ew/3.0");
        assert_eq!(candidate_path("s.p01", &lineage), "s.p01/domain/3.0");
        assert_eq!(candidate_path("s.p01", &[]), "s.p01/start/-");
        assert_eq!(
            (label_in_round("edit", Some(2)).as_str(), label_in_round("edit", None).as_str()),
            ("edit#2", "edit")
        );
        assert_eq!((label_without_round("edit#2"), label_without_round("edit")), ("edit", "edit"));
    }
}
