//! The codes of this plugin's diagnostics and failures.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const OPTIONS: &str = "equivalence.options";
pub(crate) const ANSWER: &str = "equivalence.environment-answer";
pub(crate) const NO_REFERENCE: &str = "equivalence.no-reference";
pub(crate) const REFERENCE: &str = "equivalence.reference";
pub(crate) const CANCELLED: &str = "equivalence.cancelled";
pub(crate) const OTHER_DOMAIN: &str = "equivalence.other-domain";
pub(crate) const MISSING: &str = "equivalence.missing";
pub(crate) const EXTRA: &str = "equivalence.extra";
pub(crate) const INTERFACE: &str = "equivalence.interface";
pub(crate) const BEHAVIOUR: &str = "equivalence.behaviour";

/// Of a reference that is not shown.
pub(crate) const SHOWN: planforge_plugin_common::judging::reference::Codes =
    planforge_plugin_common::judging::reference::Codes {
        answer: ANSWER,
        nothing: NO_REFERENCE,
        unreadable: REFERENCE,
    };

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
