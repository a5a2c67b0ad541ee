//! The codes of this plugin's failures.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const NO_REFERENCE: &str = "environment.no-reference";
pub(crate) const UNREADABLE: &str = "environment.unreadable";
pub(crate) const UNSUPPORTED: &str = "environment.unsupported";
pub(crate) const TOO_LARGE: &str = "environment.too-large";
pub(crate) const STOPPED: &str = "environment.stopped";
pub(crate) const NOT_EXECUTABLE: &str = "environment.not-executable";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
