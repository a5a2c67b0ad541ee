//! The codes of this plugin's failures.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const NO_TEXT: &str = "planner.no-text";
pub(crate) const NO_EXAMPLE: &str = "planner.no-example";
pub(crate) const TEMPLATE: &str = "planner.prompt-template";
pub(crate) const CUT_OFF: &str = "planner.cut-off";
pub(crate) const FILTERED: &str = "planner.filtered";
pub(crate) const NO_PLAN: &str = "planner.no-plan";
pub(crate) const NO_REPLY: &str = "planner.no-reply";
pub(crate) const UNREADABLE_STEP: &str = "planner.unreadable-step";
pub(crate) const SCATTERED_PLAN: &str = "planner.scattered-plan";
pub(crate) const SEVERAL_REPLIES: &str = "planner.llm-several-plans";
pub(crate) const NOTHING_TO_EXPLAIN: &str = "planner.nothing-to-explain";
pub(crate) const NO_EXPLANATION: &str = "planner.no-explanation";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
