//! The codes of this plugin's failures and remarks.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const CANCELLED: &str = "critique.cancelled";
pub(crate) const NO_TEXT: &str = "critique.no-text";
pub(crate) const TEMPLATE: &str = "critique.prompt-template";
pub(crate) const NO_REPLY: &str = "critique.no-reply";
pub(crate) const LEXICON: &str = "critique.lexicon";
pub(crate) const CUT_OFF: &str = "critique.cut-off";
pub(crate) const FILTERED: &str = "critique.filtered";
pub(crate) const EMPTY: &str = "critique.empty";
pub(crate) const LONG: &str = "critique.too-long";
pub(crate) const MANY: &str = "critique.too-many-findings";
pub(crate) const LOOP: &str = "critique.repeats-itself";
pub(crate) const REPEATED: &str = "critique.repeats-the-last";
pub(crate) const ECHO: &str = "critique.repeats-the-question";
pub(crate) const CONTRADICTION: &str = "critique.contradiction";
pub(crate) const NOTHING_NAMED: &str = "critique.names-nothing";
pub(crate) const UNKNOWN_ACTION: &str = "critique.unknown-action";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
