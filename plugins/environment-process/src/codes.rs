//! The codes of this plugin's failures.

use planforge_diagnostics::{CodeInfo, code_table};

pub(crate) const OPTIONS: &str = "process.options";
pub(crate) const START: &str = "process.start";
pub(crate) const DIED: &str = "process.died";
pub(crate) const SILENT: &str = "process.silent";
pub(crate) const LIMIT: &str = "process.limit";
pub(crate) const PROTOCOL: &str = "process.protocol";
pub(crate) const ERROR: &str = "process.error";
pub(crate) const CONTRADICTION: &str = "process.contradiction";
pub(crate) const TOO_MANY: &str = "process.too-many-actions";
pub(crate) const NOT_EXECUTABLE: &str = "process.not-executable";
pub(crate) const STOPPED: &str = "process.stopped";

/// The way out that nearly all of them share.
pub(crate) const CHECK: &str =
    "try the program by itself with `planforge plugins try-environment -- COMMAND`";

/// A help text followed by the one that all failures share.
pub(crate) fn or_check(way: &str) -> String {
    format!("{way}; {CHECK}")
}

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("codes.md");
