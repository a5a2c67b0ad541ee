//! What verifiers that judge behaviour have in common: the host's limits as a budget of [planning](planforge_planning), the reference that an
//! environment shows, and what comparisons found as the contract has it.
//!
//! The SDK knows nothing of planning, and planning nothing of hosts; plugins that need both share this.

pub mod deadline;
pub mod reference;
pub mod report;

pub use deadline::Deadline;
pub use reference::{NotShown, Reference};
