//! Shared parts of plugins that judge, plan or simulate: the host's limits as limits of
//! [planning](planforge_planning), the reference that an environment shows, comparison results as documents
//! of the contract, and common options.
//!
//! The SDK does not depend on planning, and planning does not depend on hosts. Plugins that need both share
//! this module with the command line.

pub mod blame;
pub mod deadline;
pub mod domains;
mod limits;
pub mod problems;
pub mod reference;
pub mod reports;
mod task_texts;
mod words;

pub use deadline::Deadline;
pub use limits::{JudgingLimits, limit_outcome};
pub use reference::{NotShown, Reference};
pub use task_texts::{NamedText, TaskTexts};
pub use words::{Rule, Semantics};
