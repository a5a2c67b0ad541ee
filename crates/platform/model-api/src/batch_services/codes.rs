//! The codes of this module.

use planforge_diagnostics::{CodeInfo, code_table};

/// Every code that this module gives. `batch.changed` and `batch.io` are those of `batch`.
pub const CODES: &[CodeInfo] = code_table!("codes.md");
