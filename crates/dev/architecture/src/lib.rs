//! Reads the imports of a crate's files, as text, for the tests that hold the structure of the workspace.

mod imports;
mod source;

pub use imports::{ModuleCircle, circles, module_circles};
