//! The codes of the failures that the translators share.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const FROM_PROBLEM: &str = "translate.from-problem";
pub(crate) const NO_TEXT: &str = "translate.no-text";
pub(crate) const ZERO_SHOT: &str = "translate.zero-shot";
/// The code of a missing or unusable in-context example.
pub const NO_EXAMPLE: &str = "translate.no-example";
pub(crate) const NO_TEMPLATE: &str = "translate.no-template";
/// The code of a prompt template that cannot be rendered.
pub const PROMPT_TEMPLATE: &str = "translate.prompt-template";
pub(crate) const FEW_REPLIES: &str = "translate.too-few-replies";
pub(crate) const NO_GRAMMAR: &str = "translate.no-grammar";
pub(crate) const JSON_REPLY: &str = "translate.json-reply";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
