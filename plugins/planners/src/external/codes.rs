//! The codes of failures of an external planner.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const OPTIONS: &str = "external.options";
pub(crate) const NOT_STARTED: &str = "external.not-started";
pub(crate) const BROKE: &str = "external.broke";
pub(crate) const NO_PLAN_FILE: &str = "external.no-plan-file";
pub(crate) const WRONG_PLAN: &str = "external.wrong-plan";
pub(crate) const FLOODED: &str = "external.flooded";
pub(crate) const FOLDER: &str = "external.folder";
pub(crate) const UNSUPPORTED: &str = "external.unsupported";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
