//! The codes of this plugin's diagnostics.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const UNSUPPORTED: &str = "planner.unsupported";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
