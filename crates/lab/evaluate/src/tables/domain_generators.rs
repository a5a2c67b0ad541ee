//! The domain-generators paper's Table 1 and Fig. 2 to 5: replies by result class, domain and action,
//! description class, model size and round of corrective re-prompting, with their action reconstruction
//! errors.
//!
//! Undecided replies, replies that never came and replies that no stage judged have separate rows, which the
//! paper lacks.

mod columns;
mod figures;
mod files;
mod size;
mod suspects;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use figures::{ClassFigures, class_figures};
pub use size::{Sizes, size_of};
pub use table::{ClassColumn, ClassRow, ClassSettings, Classes, ListedSuspect, SuiteClasses};
