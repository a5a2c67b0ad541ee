//! What plugins that judge, plan or simulate have in common: the host's limits as a budget of [planning](planforge_planning), the reference that an
//! environment shows, what comparisons found as the contract has it, and the words of their options.
//!
//! The SDK knows nothing of planning, and planning nothing of hosts; plugins that need both share this, and the command line that prints the same.

pub mod deadline;
pub mod domains;
pub mod problems;
pub mod reference;
pub mod reports;
mod words;

pub use deadline::Deadline;
pub use reference::{NotShown, Reference};
pub use words::{Rule, Semantics};
