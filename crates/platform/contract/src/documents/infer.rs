//! Provenance of the parts of an inferred problem (translate-infer-compile paper, section 3.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
