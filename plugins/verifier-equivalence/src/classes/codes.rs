//! The codes of this plugin's diagnostics and failures.

use planforge_diagnostics::{CodeInfo, code_table};
use planforge_plugin_common::judging::reference::Codes;

pub(crate) const OPTIONS: &str = "classes.options";
pub(crate) const ANSWER: &str = "classes.environment-answer";
pub(crate) const NO_REFERENCE: &str = "classes.no-reference";
pub(crate) const REFERENCE: &str = "classes.reference";
pub(crate) const MATERIAL: &str = "classes.material";
pub(crate) const CANCELLED: &str = "classes.cancelled";
pub(crate) const OTHER_PREDICATES: &str = "classes.other-predicates";
pub(crate) const DIFFERENT: &str = "classes.different";
pub(crate) const UNDECIDED: &str = "classes.undecided";
pub(crate) const UNKNOWN_ACTION: &str = "classes.unknown-action";

/// Of a reference that is not shown.
pub(crate) const SHOWN: Codes = Codes { answer: ANSWER, nothing: NO_REFERENCE, unreadable: REFERENCE };

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
