//! The diagnostic codes of studies and evaluations.

use planforge_diagnostics::{CodeInfo, code_table};

/// Every code of this crate, for `planforge explain`.
pub const CODES: &[CodeInfo] = code_table!("codes.md");
