//! The codes of this plugin's failures and of the diagnostics about edits.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const NO_DOMAIN: &str = "translate.no-domain-to-edit";
pub(crate) const NO_EDIT: &str = "translate.no-edit";
pub(crate) const EDIT_CUT_OFF: &str = "translate.edits-cut-off";
pub(crate) const EDIT_FORM: &str = "translate.edit-form";
pub(crate) const EDIT_FUNCTION: &str = "translate.edit-unknown-function";
pub(crate) const EDIT_LIMIT: &str = "translate.edit-limit";
pub(crate) const EDIT_OUTSIDE: &str = "translate.edit-outside-code";
pub(crate) const EDIT_PARENTHESES: &str = "translate.edit-parentheses";
pub(crate) const EDIT_TYPED: &str = "translate.edit-typed-atom";
pub(crate) const EDIT_ACTION: &str = "translate.edit-unknown-action";
pub(crate) const EDIT_SIGNATURE: &str = "translate.edit-signature";
pub(crate) const EDIT_NAME: &str = "translate.edit-unknown-name";
pub(crate) const EDIT_BREAKS: &str = "translate.edit-breaks-domain";
pub(crate) const EDIT_BREAKS_PROBLEM: &str = "translate.edit-breaks-problem";
pub(crate) const EDIT_NOT_THERE: &str = "translate.edit-not-there";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
