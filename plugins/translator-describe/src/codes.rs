//! The codes of this plugin's failures and diagnostics.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const NOT_GIVEN: &str = "describe.not-given";
pub(crate) const TEMPLATE: &str = "describe.prompt-template";
pub(crate) const FEW_REPLIES: &str = "describe.too-few-replies";
pub(crate) const CUT_OFF: &str = "describe.cut-off";
pub(crate) const NO_TEXT: &str = "describe.no-text";
pub(crate) const SENTENCES: &str = "describe.sentences";
pub(crate) const TYPES: &str = "describe.types";
pub(crate) const UNNAMED: &str = "describe.unnamed";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
