//! The domain-generators paper's Table 1 and Fig. 2 to 5: what became of actions that models wrote, by class, by domain and action, by
//! description class, by model size, after each round of corrective re-prompting; and how far action reconstruction errors go with it.
//!
//! One reply is one task, sample and action. Every sample counts, not only the candidate that a pipeline returns, for the paper's
//! percentages are over all prompts. What the paper has no row for keeps rows of its own: what was not decided, and replies that never
//! came or that nobody judged.

mod counts;
mod fate;
mod figures;
mod read;
mod shown;
mod size;
mod stages;
mod table;
#[cfg(test)]
mod tests;

pub use counts::{CellClasses, Change, Counts, Exact, ExactCount, Histogram, Setting, Suspect, Tally};
pub use fate::{Fate, Group, Reading};
pub use figures::{ClassFigures, class_figures};
pub use size::{Sizes, size_of};
pub use stages::ClassStages;
pub use table::{ClassColumn, ClassRow, ClassSettings, Classes, ListedSuspect, SuiteClasses};
