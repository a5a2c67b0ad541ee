//! Verdicts: accepted, rejected, undecided, not comparable. A failure is something else (see [`crate::Failure`]).

use crate::{Candidate, Message, Outcome, ReportedDiagnostic, TaskView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Why a verifier could not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UndecidedReason {
    /// Time, memory or another limit.
    Limit,
    /// A construct that the verifier does not judge.
    Unsupported,
    /// There was nothing to judge, for example no plan.
    MissingInput,
}

/// A verifier's answer about one candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "kebab-case")]
pub enum Decision {
    /// Right, as far as this verifier looks.
    Accepted,
    /// Wrong.
    Rejected,
    /// Neither could be shown.
    Undecided {
        /// Why.
        reason: UndecidedReason,
        /// For a person.
        message: String,
    },
    /// The question makes no sense for this pair: a metric's precondition does not hold.
    NotComparable {
        /// Which precondition, for a person.
        message: String,
    },
}

impl Decision {
    /// The word used in tables: accepted, rejected, undecided, not-comparable.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Undecided { .. } => "undecided",
            Self::NotComparable { .. } => "not-comparable",
        }
    }
}

/// What a verifier has to say about one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// The verdict.
    #[serde(flatten)]
    pub decision: Decision,
    /// Metrics by the names declared in `PluginInfo.metrics`.
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
    /// What is wrong and where.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// Texts for the model, ready for a prompt.
    #[serde(default)]
    pub feedback: Vec<String>,
    /// One or more lines for a person.
    #[serde(default)]
    pub summary: String,
    /// Further evidence, as the plugin's documentation describes it (a state trace, walks).
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub evidence: serde_json::Value,
    /// The turns to append to the stage's own conversation about the candidate, which the next round's request brings again. Nobody
    /// else sees them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
}

impl Assessment {
    /// An assessment without evidence.
    pub fn new(decision: Decision, summary: impl Into<String>) -> Self {
        Self {
            decision,
            metrics: BTreeMap::new(),
            diagnostics: Vec::new(),
            feedback: Vec::new(),
            summary: summary.into(),
            evidence: serde_json::Value::Null,
            messages: Vec::new(),
        }
    }
}

/// Asks a verifier about candidates of one task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyRequest {
    /// What the plugin may know of the task.
    pub task: TaskView,
    /// At least one. Several are the children of one round, or of one candidate, for a verifier with the capability `together`.
    pub candidates: Vec<Candidate>,
    /// For sampling; derived from the run's seed and the sample path.
    #[serde(default)]
    pub seed: u64,
    /// For each candidate, what the stages that the pipeline names had to say about it, ready for a prompt. Empty where it names
    /// none.
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

/// What `planforge validate --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidateReport {
    /// True only for `accepted`.
    pub valid: bool,
    /// accepted, rejected or undecided.
    pub decision: String,
    /// Everything found, warnings included.
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// The plan's cost, where a plan was judged and has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// What `planforge ew --json` prints: the exploration-walk metric of Definition 1 and Eq. 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EwReport {
    /// Harmonic mean of the two directions, 0 to 1; absent where a direction is not defined.
    #[serde(default)]
    pub score: Option<f64>,
    /// Share of the reference's walks that the candidate can execute; absent where the reference has no walk.
    #[serde(default)]
    pub reference_to_candidate: Option<f64>,
    /// Share of the candidate's walks that the reference can execute; absent where the candidate has no walk.
    #[serde(default)]
    pub candidate_to_reference: Option<f64>,
    /// Where the score lies.
    #[serde(default)]
    pub interval: Option<EwInterval>,
    /// `exact` or `sampled`.
    pub mode: String,
    /// What is behind the figures, by direction: lengths, actions, walks, the shortest failing walk.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub details: serde_json::Value,
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EwInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// At least this share of such intervals holds the true score; 1 where it was computed exactly.
    pub confidence: f64,
}

/// What `planforge equivalent --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EquivalentReport {
    /// True only where equality was shown.
    pub equivalent: bool,
    /// equal, different or undecided.
    pub decision: String,
    /// Where equal: (name in the first, name in the second). Elsewhere, the correspondence that the difference is told under.
    #[serde(default)]
    pub renaming: Vec<(String, String)>,
    /// Where different: what the two do not share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<EquivalentDifference>,
    /// What was compared: `syntactic` (as they read) or `goals` (goals by the reachable states that satisfy them).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// At level `goals`: what follows from the goals in every reachable state that satisfies them. Absent where the answer needed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_goal_facts: Option<AddedGoalFacts>,
    /// At level `goals`, where different: a state that satisfies one goal alone. Absent where the problems differ in more than the
    /// goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<EquivalentWitness>,
    /// Where undecided: why, as a clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is wrong with the files.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
}

/// Literals such as `(clear a)` and `(not (on a b))`, positive ones first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AddedGoalFacts {
    /// What follows from the first goal, in the first's names.
    pub first: Vec<String>,
    /// What follows from the second.
    pub second: Vec<String>,
}

/// A reachable state that satisfies one goal and not the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EquivalentWitness {
    /// Whose goal it satisfies: `first` or `second`. State and steps are in that problem's names.
    pub satisfies: String,
    /// Steps that lead to it from the initial state.
    pub steps: Vec<String>,
    /// The facts that hold in it and not in every reachable state.
    pub facts: Vec<String>,
    /// The renaming under which the other goal does not hold in it: (name in the first, name in the second).
    pub renaming: Vec<(String, String)>,
}

/// What two problems do not share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EquivalentDifference {
    /// Objects of the first without a counterpart.
    pub missing_objects: Vec<String>,
    /// Objects of the second without one.
    pub extra_objects: Vec<String>,
    /// Facts of the first that the second lacks, such as `init (at a b)`.
    pub missing_facts: Vec<String>,
    /// Facts of the second that the first lacks.
    pub extra_facts: Vec<String>,
    /// Whether no correspondence of objects leaves fewer facts over.
    pub minimal: bool,
}
