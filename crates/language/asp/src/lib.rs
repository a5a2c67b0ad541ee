//! Planning tasks as answer set programs (translate-infer-compile paper, section 3): the intermediate
//! representation that a model writes, the rules that complete it, and the PDDL problem that follows.
//!
//! This crate solves nothing and does no I/O: a reasoner gets [`syntax`] as text and returns atoms.

pub mod answer;
#[macro_use]
mod codes;
pub mod compile;
pub mod declarations;
pub mod derivations;
mod knowledge;
pub mod learn;
pub mod library;
pub mod materialized;
pub mod names;
mod pattern;
pub mod program;
pub mod reader;
pub mod stages;
pub mod syntax;
pub mod types;

pub use crate::codes::CODES;
pub use crate::declarations::Declarations;
pub use crate::knowledge::read_knowledge;
pub use crate::materialized::Materialized;
