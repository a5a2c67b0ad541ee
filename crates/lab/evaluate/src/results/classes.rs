//! Result classes of the actions that models wrote (domain-generators paper), counted from the journal of a run.
//!
//! One reply is one task, sample and action. Every sample counts, not only the candidate that a pipeline returns: the paper's percentages
//! are over all prompts.

mod counts;
mod read;
mod reply_class;
mod stages;

pub use counts::{
    CellClasses, Change, ComparisonRule, Counts, ExactCount, ExactResult, Histogram, Suspect, Tally,
};
pub(crate) use counts::{add, of_group};
pub use reply_class::{Group, Reading, ReplyClass};
pub use stages::ClassStages;
