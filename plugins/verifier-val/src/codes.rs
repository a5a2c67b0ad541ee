//! The codes of this plugin's diagnostics and failures.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const REFUSED: &str = "verify.environment-refused";
pub(crate) const GOAL: &str = "verify.environment-goal";
pub(crate) const ANSWER: &str = "verify.environment-answer";
pub(crate) const VAL: &str = "verify.val";
pub(crate) const VAL_BROKE: &str = "verify.val-broke";
pub(crate) const OPTIONS: &str = "verify.options";
pub(crate) const CLAIMED_STATE: &str = "verify.claimed-state";
pub(crate) const CLAIMED_GOAL: &str = "verify.claimed-goal";
pub(crate) const CLAIMED_VALIDITY: &str = "verify.claimed-validity";
pub(crate) const CLAIMED_COST: &str = "verify.claimed-cost";
pub(crate) const NOT_OPTIMAL: &str = "verify.not-optimal";
pub(crate) const EMPTY: &str = "verify.empty-domain";
pub(crate) const CANCELLED: &str = "verify.cancelled";

/// Codes of a reference that is not shown.
pub(crate) const SHOWN: planforge_plugin_common::judging::reference::Codes =
    planforge_plugin_common::judging::reference::Codes {
        answer: ANSWER,
        nothing: ANSWER,
        unreadable: ANSWER,
    };

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
