//! The options of the plugin.

use planforge_planning::equivalence::domains::EquivalenceLimits;
use planforge_planning::{Algorithm, PlanOptions};
use planforge_plugin_common::judging::JudgingLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of `verifier-clusters`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterOptions {
    /// Most questions to the role `critic`, for each candidate that is compared. 0, the default, asks none, and the stage then needs no
    /// `roles`.
    pub questions: u32,
    /// Most pairs of states in one comparison of two candidates. Candidates whose comparison is cut are in clusters of their own.
    pub max_states: u64,
    /// Most search nodes for a plan. A candidate that is not shown to be unsolvable within them counts as solvable.
    pub max_nodes: u64,
    /// Replaces the system text of questions. An empty text leaves the system turn out.
    pub system: Option<String>,
    /// Limits on the comparisons. Candidates that share a call share the sum.
    pub limits: JudgingLimits,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            questions: 0,
            max_states: 100_000,
            max_nodes: 100_000,
            system: None,
            limits: JudgingLimits::default(),
        }
    }
}

impl ClusterOptions {
    pub(crate) fn comparison(&self) -> EquivalenceLimits {
        EquivalenceLimits { max_pairs: self.max_states, ..EquivalenceLimits::default() }
    }

    pub(crate) fn search(&self) -> PlanOptions {
        PlanOptions { algorithm: Algorithm::Greedy, max_nodes: self.max_nodes, ..PlanOptions::default() }
    }
}
