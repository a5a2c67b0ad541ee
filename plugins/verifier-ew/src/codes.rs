//! The codes of this plugin's diagnostics and failures.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const OPTIONS: &str = "ew.options";
pub(crate) const ANSWER: &str = "ew.environment-answer";
pub(crate) const REFERENCE: &str = "ew.reference";
pub(crate) const CANCELLED: &str = "ew.cancelled";
pub(crate) const STOPPED: &str = "ew.stopped";
pub(crate) const REFUSED_BY_ENVIRONMENT: &str = "ew.refused-by-environment";
pub(crate) const REFUSED_BY_CANDIDATE: &str = "ew.refused-by-candidate";
pub(crate) const NO_FIRST_ACTION: &str = "ew.no-first-action";
pub(crate) const NO_EFFECT: &str = "ew.no-effect";
pub(crate) const NOT_EDITED: &str = "ew.not-edited";
pub(crate) const NOT_SHARED: &str = "ew.not-shared";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
