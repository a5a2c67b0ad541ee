//! The codes of pipeline files, of the runner and of suites, for `planforge explain`.

use planforge_diagnostics::{CodeInfo, code_table};

/// Every code that this crate gives.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

/// Code of an environment that cannot be opened, because the task has no reference.
pub(crate) const NO_REFERENCE: &str = "environment.no-reference";
