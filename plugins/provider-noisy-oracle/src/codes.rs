//! The codes of this crate.

use planforge_diagnostics::{CodeInfo, code_table};

/// Options that make no sense.
pub(crate) const OPTIONS: &str = "oracle.options";
/// A reference that cannot be used.
pub(crate) const SUITE: &str = "oracle.suite";

/// Every code that this crate gives.
pub const CODES: &[CodeInfo] = code_table!("codes.md");
