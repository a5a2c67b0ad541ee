//! Texts that `planforge explain` prints for the codes of this crate.

use planforge_diagnostics::{CodeInfo, code_table};

/// Every diagnostic code of the crate.
pub const CODES: &[CodeInfo] = code_table!("codes.md");
