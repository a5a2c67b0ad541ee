//! Candidates: what a beam holds.

use crate::{AppliedFix, Assessment, Inference, Message, PlanOutcome, ReportedDiagnostic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One step of a candidate's descent: which sample of which stage made it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct LineageStep {
    /// The stage's label, with `#ROUND` in a refine stage.
    pub stage: String,
    /// Zero-based number of the sample.
    pub sample: u32,
}

/// Numbers of applied and refused edits that a model asked for (exploration-walk paper, Appendix B.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Edits {
    /// Edits that were made.
    pub applied: u32,
    /// Edits that were refused; each has a diagnostic.
    pub refused: u32,
}

/// Texts that translators wrote beside domain and problem.
///
/// The JSON form is one object of texts: an action's key is `action.NAME`, the others have their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct WrittenTexts {
    /// Replies to requests for one action each: action in lower case -> its PDDL, or the whole reply if that has none. They belong to
    /// the candidate's domain: a domain that another translator writes drops them.
    pub actions: BTreeMap<String, String>,
    /// Other texts by what they are: `domain-text`, `task-text`, `sentences` and `types` of a described suite, `predicates` of a domain
    /// that grows, and `ir`, the intermediate representation that a problem is inferred from.
    pub named: BTreeMap<String, String>,
}

impl WrittenTexts {
    const ACTION: &'static str = "action.";

    /// True if there is no text.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty() && self.named.is_empty()
    }

    /// The text of an action, whose name may be in any case.
    pub fn action(&self, name: &str) -> Option<&String> {
        self.actions.get(&name.to_lowercase())
    }

    /// Sets the text of an action, whose name may be in any case.
    pub fn set_action(&mut self, name: &str, text: String) {
        self.actions.insert(name.to_lowercase(), text);
    }

    /// Takes all texts of another set; they replace those of the same names.
    pub fn extend(&mut self, other: Self) {
        self.actions.extend(other.actions);
        self.named.extend(other.named);
    }

    /// All texts, mutably, actions first.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.actions.values_mut().chain(self.named.values_mut())
    }
}

impl<K: AsRef<str>, V: Into<String>> FromIterator<(K, V)> for WrittenTexts {
    /// Reads the JSON form.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(texts: I) -> Self {
        let mut written = Self::default();
        for (key, text) in texts {
            match key.as_ref().strip_prefix(Self::ACTION) {
                Some(action) => written.actions.insert(action.to_owned(), text.into()),
                None => written.named.insert(key.as_ref().to_owned(), text.into()),
            };
        }
        written
    }
}

impl From<BTreeMap<String, String>> for WrittenTexts {
    fn from(texts: BTreeMap<String, String>) -> Self {
        texts.into_iter().collect()
    }
}

impl From<WrittenTexts> for BTreeMap<String, String> {
    fn from(texts: WrittenTexts) -> Self {
        let actions = texts.actions.into_iter();
        let actions = actions.map(|(name, text)| (format!("{}{name}", WrittenTexts::ACTION), text));
        actions.chain(texts.named).collect()
    }
}

/// A domain and problem in the making. PDDL is text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Candidate {
    /// Its descent, oldest first; with the task it is the candidate's name.
    pub lineage: Vec<LineageStep>,
    /// The domain: given or written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The problem: given or written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The planner's outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanOutcome>,
    /// Texts beside domain and problem.
    #[serde(skip_serializing_if = "WrittenTexts::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub texts: WrittenTexts,
    /// The model's written reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// Sum of token log-probabilities of the replies that made it, natural (test-time-scaling paper, Eq. 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_likelihood: Option<f64>,
    /// Number of tokens in that sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Numbers of applied and refused edits in the last reply, if the request asked for edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<Edits>,
    /// Provenance of the problem's parts, if the problem was inferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inference: Option<Inference>,
    /// The conversation so far.
    pub conversation: Vec<Message>,
    /// Assessments by the label of the verify stage.
    pub assessments: BTreeMap<String, Assessment>,
}

/// Changes that a translator makes to a candidate. Absent fields stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CandidatePatch {
    /// A new domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// A new problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Texts beside domain and problem. Each replaces the candidate's text of that name.
    #[serde(skip_serializing_if = "WrittenTexts::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub texts: WrittenTexts,
    /// The model's written reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// Added to the candidate's own, or in its place where the patch is a `rewrite`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_likelihood: Option<f64>,
    /// Number of tokens in that sum; added or replaced as `log_likelihood`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The reply states the whole candidate anew: its likelihood is that of this reply alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rewrite: bool,
    /// Numbers of applied and refused edits in the reply, if the request asked for edits. Replaces the
    /// candidate's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<Edits>,
    /// Provenance of the problem's parts, if the problem was inferred. Replaces the candidate's own when
    /// there is a new problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inference: Option<Inference>,
    /// The turns to append to the conversation.
    pub messages: Vec<Message>,
    /// The model's reply before extraction and fixes.
    pub raw_reply: String,
    /// Fixes applied to the text, in order.
    pub fixes: Vec<AppliedFix>,
    /// Findings about the reply.
    pub diagnostics: Vec<ReportedDiagnostic>,
}
