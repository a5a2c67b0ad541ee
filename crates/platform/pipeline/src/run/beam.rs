//! A candidate on its way through the stages, with what the candidate document does not hold.

use super::path::unmarked;
use super::report::Written;
use crate::front::metrics::{CANDIDATE, MEAN_LOG_LIKELIHOOD};
use planforge_contract::{Assessment, Candidate, Decision, Failure, LineageStep, Message, PlanOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// One member of the beam.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) candidate: Candidate,
    /// Outcomes by the label of the plan stage.
    pub(crate) plans: BTreeMap<String, PlanOutcome>,
    /// Calls on this candidate that broke, by the stage's label.
    pub(crate) failures: BTreeMap<String, Failure>,
    /// Plan stages that could not be asked, and why.
    pub(crate) unasked: BTreeMap<String, String>,
    /// Labels of assessments that rest on what the environment said.
    pub(crate) from_environment: BTreeSet<String>,
    /// The position among all stages of the one that last wrote a domain or problem; what earlier stages said is about
    /// another text.
    pub(crate) since: usize,
    /// How it was written.
    pub(crate) written: Vec<Written>,
    /// Texts for translators that came with the candidate: those of the lead task.
    pub(crate) materials: BTreeMap<String, String>,
    /// Why no reply to the last round's question could be used.
    pub(crate) unusable: Vec<String>,
    /// The verify stages' own conversations about it and its ancestors, by the stage's label.
    pub(crate) conversations: BTreeMap<String, Vec<Message>>,
    /// Stages of a round before the writer that have judged it since it was written, though they stand before that.
    pub(crate) looked: BTreeSet<String>,
    /// Stages that have nothing to say about it: about a plan that was written anew, or about children that were not made.
    pub(crate) exempt: BTreeSet<String>,
    /// The position among all stages from which on stages speak of its plan.
    pub(crate) plan_from: Option<usize>,
}

impl Entry {
    /// Appends to a verify stage's own conversation.
    pub(crate) fn converse(&mut self, label: &str, messages: Vec<Message>) {
        if !messages.is_empty() {
            self.conversations.entry(label.to_owned()).or_default().extend(messages);
        }
    }

    /// Takes a verify stage's assessment, in place of what the stage said in an earlier round.
    pub(crate) fn assess(&mut self, label: &str, assessment: Assessment, from_environment: bool) {
        self.hear(label);
        if from_environment {
            self.from_environment.insert(label.to_owned());
        }
        self.candidate.assessments.insert(label.to_owned(), assessment);
    }

    /// Whether a stage has said something, or said why it says nothing.
    pub(crate) fn has_word_of(&self, label: &str) -> bool {
        self.candidate.assessments.contains_key(label)
            || self.plans.contains_key(label)
            || self.failures.contains_key(label)
            || self.unasked.contains_key(label)
    }

    /// A stage has something to say about what it is now; what it said before is void.
    pub(crate) fn hear(&mut self, label: &str) {
        let looked = self.looked.contains(label);
        self.forget_word_of(label);
        self.exempt.remove(label);
        if looked {
            self.looked.insert(label.to_owned());
        }
    }

    /// Takes off what a stage has said.
    pub(crate) fn forget_word_of(&mut self, label: &str) {
        self.candidate.assessments.remove(label);
        self.from_environment.remove(label);
        self.plans.remove(label);
        self.failures.remove(label);
        self.unasked.remove(label);
        self.looked.remove(label);
    }

    /// Whether what a stage said, or did not say, counts for what it is now.
    pub(crate) fn counts(&self, position: usize, label: &str) -> bool {
        (position >= self.since || self.looked.contains(label)) && !self.exempt.contains(label)
    }

    /// The candidate as plugins may see it that ask a model: without assessments that rest on the environment.
    pub(crate) fn without_environment(&self) -> Candidate {
        let mut candidate = self.candidate.clone();
        candidate.assessments.retain(|label, _| !self.from_environment.contains(label));
        candidate
    }

    /// The candidate as those plugins may see it where the pipeline tells models what the environment says: of assessments that
    /// rest on it, the decision, the metrics and the feedback. The rest is for the record, and may hold the reference.
    pub(crate) fn with_feedback_alone(&self) -> Candidate {
        let mut candidate = self.candidate.clone();
        for (label, assessment) in &mut candidate.assessments {
            if self.from_environment.contains(label) {
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
        } else if let Some(outcome) = self.plans.get(label) {
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
        let made = |step: &LineageStep| stage.is_some_and(|stage| unmarked(&step.stage) == stage);
        let end = lineage.iter().rposition(made).map_or(0, |at| at + 1);
        lineage.get(..end).unwrap_or_default()
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
