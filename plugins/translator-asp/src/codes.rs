//! The codes of this plugin. Those about a program, `asp.*` and `ir.*`, are of the crate asp, those about a reply, `reply.*`, the SDK's.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const NO_TEXT: &str = "translate-asp.no-text";
pub(crate) const NO_DOMAIN: &str = "translate-asp.no-domain";
pub(crate) const NO_EXAMPLE: &str = "translate-asp.no-example";
pub(crate) const NO_IR: &str = "translate-asp.no-ir";
pub(crate) const KNOWLEDGE: &str = "translate-asp.knowledge";
pub(crate) const DESCRIPTIONS: &str = "translate-asp.descriptions";
pub(crate) const TEMPLATE: &str = "translate-asp.prompt-template";
pub(crate) const FEW_REPLIES: &str = "translate-asp.too-few-replies";
pub(crate) const JSON: &str = "translate-asp.json";
pub(crate) const TYPE: &str = "translate-asp.unknown-type";
pub(crate) const COUNT: &str = "translate-asp.count";
pub(crate) const NAME: &str = "translate-asp.name";
pub(crate) const REFUSED: &str = "translate-asp.refused";
pub(crate) const CONFLICT: &str = "translate-asp.conflict";
pub(crate) const AMBIGUOUS: &str = "translate-asp.ambiguous";
pub(crate) const NOT_COMPILED: &str = "translate-asp.not-compiled";
pub(crate) const REMARK: &str = "translate-asp.remark";
pub(crate) const COMPARISON: &str = "translate-asp.comparison";
pub(crate) const REASONER: &str = "translate-asp.reasoner";
pub(crate) const JOB: &str = "translate-asp.job";
pub(crate) const TIME: &str = "translate-asp.time";
pub(crate) const SIZE: &str = "translate-asp.size";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
