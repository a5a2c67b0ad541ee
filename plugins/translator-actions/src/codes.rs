//! The codes of this plugin's failures and diagnostics.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const NOT_GIVEN: &str = "actions.not-given";
pub(crate) const FEW_EXAMPLES: &str = "actions.few-examples";
pub(crate) const TEMPLATE: &str = "actions.prompt-template";
pub(crate) const NO_REPLY: &str = "actions.no-reply";
pub(crate) const NO_ACTION: &str = "actions.no-action";
pub(crate) const UNKNOWN_ACTION: &str = "actions.unknown-action";
pub(crate) const BAD_PREDICATE: &str = "actions.bad-predicate";
pub(crate) const NOT_UNIFIED: &str = "actions.not-unified";
pub(crate) const UNUSED_PREDICATE: &str = "actions.unused-predicate";
pub(crate) const OPTIONS: &str = "actions.options";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
