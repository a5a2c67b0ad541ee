//! The codes of this module.

use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::{CodeInfo, code_table};
use std::path::Path;

/// Every code that this module gives.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

/// `batch.io`: `what` is what could not be done with the file.
pub fn io_failure(path: &Path, what: &str, error: &dyn std::fmt::Display) -> Failure {
    let message = format!("cannot {what} {}: {error}", path.display());
    Failure::new(FailureClass::System, "batch.io", message)
}
