//! The codes of this module.

use planforge_diagnostics::{CodeInfo, code_table};

/// Every code that this module gives.
pub const CODES: &[CodeInfo] = code_table!("codes.md");
