//! The codes of this plugin's failures.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const CANCELLED: &str = "clusters.cancelled";
pub(crate) const TEMPLATE: &str = "clusters.prompt-template";
pub(crate) const NO_REPLY: &str = "clusters.no-reply";
pub(crate) const NO_TEXT: &str = "clusters.no-text";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
