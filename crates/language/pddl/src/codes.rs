//! Meaning of every diagnostic code of this crate, with an example that triggers it and a remedy.

#[cfg(test)]
mod tests;

use planforge_diagnostics::{CodeInfo, code_table};

/// Every code this crate emits, for `planforge explain`.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
