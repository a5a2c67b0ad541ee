//! The options of the plugin.

use crate::codes;
use planforge_contract::{Failure, FailureClass};
use planforge_judging::JudgingLimits;
use planforge_planning::equivalence::domains::EquivalenceLimits;
use planforge_planning::{Algorithm, PlanOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of `verifier-clusters`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterOptions {
    /// Most questions to the role `critic`, for each candidate that is compared. 0, the default, asks none, and the stage then needs no
    /// `roles`.
    pub questions: u32,
    /// Assumed probability that an answer of the critic is right, above 0.5 and below 1.
    pub trust: f64,
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
            trust: 0.8,
            max_states: 100_000,
            max_nodes: 100_000,
            system: None,
            limits: JudgingLimits::default(),
        }
    }
}

impl ClusterOptions {
    /// Checks what the schema cannot express.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.trust > 0.5 && self.trust < 1.0 {
            return Ok(());
        }
        let message = format!("`trust` is above 0.5 and below 1, and not {}", self.trust);
        Err(Failure::new(FailureClass::Request, codes::OPTIONS, message)
            .help("0.8 is the default: four of five answers are right"))
    }

    pub(crate) fn comparison(&self) -> EquivalenceLimits {
        EquivalenceLimits { max_pairs: self.max_states, ..EquivalenceLimits::default() }
    }

    pub(crate) fn search(&self) -> PlanOptions {
        PlanOptions { algorithm: Algorithm::Greedy, max_nodes: self.max_nodes, ..PlanOptions::default() }
    }
}
