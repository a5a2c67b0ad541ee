//! The parts of an outline.

use planforge_contract::{ProviderFailure, Usage};
use planforge_record::{BudgetCost, BudgetEnd, SamplePath, SelectedGroup};
use serde::Serialize;

/// A process that worked on the run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Session {
    pub(crate) mode: String,
    pub(crate) began: String,
    /// The time and state of its end; absent if it was killed or still runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<String>,
}

/// A message of a plugin or the host.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct LogLine {
    pub(crate) plugin: String,
    pub(crate) level: String,
    pub(crate) message: String,
}

/// A candidate.
pub(crate) struct MadeOutline {
    pub(crate) path: SamplePath,
    pub(crate) candidate: String,
    pub(crate) patch: String,
    /// Stage, blob and decision, in the order in which they were given; the same word twice is one.
    pub(crate) assessed: Vec<(String, String, String)>,
    /// Stage, blob and outcome.
    pub(crate) planned: Vec<(String, String, String)>,
}

/// The candidates that a select stage kept.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct Selection {
    pub(crate) stage: String,
    pub(crate) kept: Vec<SamplePath>,
    pub(crate) groups: Vec<SelectedGroup>,
}

/// A round of a refine stage.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct RoundOutline {
    pub(crate) stage: String,
    pub(crate) root: SamplePath,
    pub(crate) round: u32,
    pub(crate) best: Option<SamplePath>,
    pub(crate) value: Option<f64>,
    pub(crate) accepted: bool,
    pub(crate) best_so_far: Option<SamplePath>,
}

/// A pull of a budget stage.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct Pull {
    pub(crate) stage: String,
    pub(crate) pull: u32,
    pub(crate) arm: String,
    pub(crate) made: Vec<SamplePath>,
    pub(crate) value: Option<f64>,
    pub(crate) reward: f64,
    pub(crate) accepted: bool,
    pub(crate) cost: BudgetCost,
    pub(crate) spent: BudgetCost,
    pub(crate) best: Option<SamplePath>,
    pub(crate) best_value: Option<f64>,
}

/// The end of a budget stage.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct Spent {
    pub(crate) stage: String,
    pub(crate) end: BudgetEnd,
    pub(crate) pulls: u32,
    pub(crate) spent: BudgetCost,
    pub(crate) best: Option<SamplePath>,
}

/// A question to a model.
pub(crate) struct CallOutline {
    pub(crate) key: String,
    pub(crate) path: SamplePath,
    pub(crate) role: String,
    pub(crate) llm: String,
    /// Absent where the question ended before it was recorded with its request.
    pub(crate) request: Option<String>,
    pub(crate) result: Option<String>,
    pub(crate) failure: Option<ProviderFailure>,
    /// The blob with the failure of a question that ended without the server's word: a cap, a deadline, a plugin that broke.
    pub(crate) broken: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) attempts: u32,
    pub(crate) elapsed_ms: u64,
}

/// A planner's, verifier's or other program's answer that was recorded.
pub(crate) struct EffectOutline {
    pub(crate) call: String,
    pub(crate) elapsed_ms: u64,
}

/// An attempt that failed and was made again.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct Retry {
    pub(crate) attempt: u32,
    pub(crate) failure: ProviderFailure,
    pub(crate) wait_ms: u64,
}
