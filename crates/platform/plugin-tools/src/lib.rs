//! For authors of plugins: the checks of `planforge plugins test` and the templates of `planforge plugins new`.

pub mod check;
pub mod scaffold;

use planforge_diagnostics::{CodeInfo, code_table};

/// The codes `new.*`.
pub const CODES: &[CodeInfo] = code_table!("codes.md");
