//! Why a task has no plan, as far as delete relaxation shows it: what nothing can ever make true.

use crate::budget::Budget;
use crate::lifted::LiftedTask;

/// The reasons, as sentences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// One sentence each, the most direct first; empty where the relaxation reaches the goal and only search showed
    /// that there is no plan.
    pub reasons: Vec<String>,
}

/// Explains.
pub fn why_unsolvable(_task: &LiftedTask, _budget: &mut dyn Budget) -> Explanation {
    Explanation::default()
}
