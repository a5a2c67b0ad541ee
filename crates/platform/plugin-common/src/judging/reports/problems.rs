//! The output of `planforge pddl equivalent problem --json`, parts of which are the evidence of `verifier-equivalence`.

use planforge_contract::ReportedDiagnostic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two problems compared up to names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EquivalentReport {
    /// True only where equality was shown.
    pub equivalent: bool,
    /// equal, different or undecided.
    pub decision: String,
    /// If equal: (name in the first, name in the second). Otherwise the correspondence under which the
    /// difference is described.
    #[serde(default)]
    pub renaming: Vec<(String, String)>,
    /// If different: the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<EquivalentDifference>,
    /// Level of the comparison: `syntactic` (textual form) or `goals` (goals by the reachable states that
    /// satisfy them).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// At level `goals`: what follows from the goals in every reachable state that satisfies them. Absent where the answer needed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_goal_facts: Option<AddedGoalFacts>,
    /// At level `goals`, where different: a state that satisfies one goal alone. Absent where the problems differ in more than the
    /// goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<EquivalentWitness>,
    /// Reason why it is undecided, as a clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Errors in the files.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
}

/// Literals such as `(clear a)` and `(not (on a b))`, positive ones first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AddedGoalFacts {
    /// Consequences of the first goal, in the first's names.
    pub first: Vec<String>,
    /// Consequences of the second goal.
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

/// Difference of two problems.
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
    /// True if no correspondence of objects leaves fewer facts over.
    pub minimal: bool,
}
