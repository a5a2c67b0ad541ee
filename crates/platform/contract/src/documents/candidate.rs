//! Candidates (what a beam holds), the requests to translators and verifiers about them, and the provenance of the parts of an inferred problem
//! (translate-infer-compile paper, section 3.3).

use crate::{AppliedFix, Assessment, Message, Outcome, PlanOutcome, ReportedDiagnostic, TaskView};
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

/// True if machine-applicable fixes are applied to a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FixPolicy {
    /// Leave the text as it came.
    #[default]
    None,
    /// Apply every safe fix and record each.
    Safe,
}

/// A request for `n` continuations of one candidate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranslateRequest {
    /// The task as the plugin may see it.
    pub task: TaskView,
    /// The candidate to continue.
    pub candidate: Candidate,
    /// Feedback of the verifiers, ready for a prompt; empty in the first round.
    #[serde(default)]
    pub feedback: Vec<String>,
    /// Number of samples; at least 1.
    pub n: u32,
    /// Number of the first sample among all that the stage makes of the candidate, from 0. Other than 0 only if the stage makes a
    /// call for each sample (`apart`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_sample: u32,
    /// Policy for fixes of the written text.
    #[serde(default)]
    pub fixes: FixPolicy,
    /// For choices of the plugin's own; derived from the run's seed and the sample path.
    #[serde(default)]
    pub seed: u64,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// One result a sample, in sample order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranslateResponse {
    /// One result a sample: exactly `n`.
    pub samples: Vec<Outcome<CandidatePatch>>,
}

/// Origin of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleOrigin {
    /// The intermediate representation: what was read from the text.
    Text,
    /// The suite's knowledge file.
    Knowledge,
    /// The rules that hold for every domain.
    Library,
    /// Made from the domain's declarations.
    Domain,
}

/// One rule or fact of the program that was solved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InferenceRule {
    /// Origin.
    pub origin: RuleOrigin,
    /// The text it stands in: `ir`, `knowledge`, a library file's name, `domain`.
    pub source: String,
    /// Line in it, from 1.
    pub line: u32,
    /// Column in it, from 1.
    pub column: u32,
    /// The rule as it was read, after repairs.
    pub text: String,
}

/// An atom of the answer set and the derivation of it with the fewest steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InferredAtom {
    /// As the reasoner writes it: `init(clean(shot5))`.
    pub atom: String,
    /// Index of the rule in [`Inference::rules`].
    pub rule: u32,
    /// Indices in [`Inference::atoms`] of what the rule needed; each is derived in fewer steps.
    #[serde(default)]
    pub premises: Vec<u32>,
    /// Conditions that had to be false, and aggregates, as text.
    #[serde(default)]
    pub absent: Vec<String>,
    /// Number of further derivations.
    #[serde(default)]
    pub others: u32,
}

/// The part of a problem that an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProblemSection {
    /// `:objects`.
    Objects,
    /// `:init`.
    Init,
    /// `:goal`.
    Goal,
    /// `:metric`.
    Metric,
}

/// One object, fact or number of the problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InferredEntry {
    /// Section of the problem.
    pub section: ProblemSection,
    /// As the problem writes it: `(clean shot5)`, `shot5 - shot`.
    pub pddl: String,
    /// Indices in [`Inference::atoms`]: what it was made from.
    pub atoms: Vec<u32>,
}

/// Reason why a line of the intermediate representation changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleReason {
    /// Its conditions never hold.
    NeverApplies,
    /// The problem would be the same without it: its content follows from the other lines.
    Follows,
    /// Its content is not part of the PDDL, and nothing follows from it.
    NotCompiled,
}

/// A line of the intermediate representation without effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleRule {
    /// Index of the rule in [`Inference::rules`].
    pub rule: u32,
    /// Reason.
    pub reason: IdleReason,
}

/// An inferred problem's provenance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Inference {
    /// The rules that were used, and every line of the intermediate representation.
    pub rules: Vec<InferenceRule>,
    /// The atoms that the problem's parts go back to.
    pub atoms: Vec<InferredAtom>,
    /// The problem's parts, in the order in which it writes them.
    pub entries: Vec<InferredEntry>,
    /// Lines without effect.
    pub idle: Vec<IdleRule>,
}

/// A request to assess candidates of one task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyRequest {
    /// The task as the plugin may see it.
    pub task: TaskView,
    /// At least one. Several are the children of one round, or of one candidate, for a verifier with the capability `together`.
    pub candidates: Vec<Candidate>,
    /// For sampling; derived from the run's seed and the sample path.
    #[serde(default)]
    pub seed: u64,
    /// For each candidate, the feedback of the stages that the pipeline names, ready for a prompt. Empty if
    /// it names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<Vec<String>>,
    /// For each candidate, the stage's own conversation about it and what it was made from so far. Empty where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversations: Vec<Vec<Message>>,
}

/// One result a candidate, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyResponse {
    /// As many as candidates.
    pub results: Vec<Outcome<Assessment>>,
}
