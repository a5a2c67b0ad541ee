//! Planning tasks as answer set programs (translate-infer-compile paper, section 3): the intermediate
//! representation that a model writes, the rules that complete it, and the PDDL problem that follows.
//!
//! This crate solves nothing and does no I/O: a reasoner gets [`syntax`] as text and returns atoms.

pub mod answer;
pub mod build;
#[macro_use]
mod codes;
pub mod compile;
pub mod declarations;
pub mod derivations;
mod ground;
mod knowledge;
pub mod learn;
pub mod library;
pub mod materialized;
pub mod names;
pub mod naming;
mod pattern;
pub mod program;
pub mod reader;
pub mod stages;
mod steps;
pub mod syntax;
pub mod types;

pub use codes::CODES;
pub use declarations::Declarations;
pub use knowledge::read_knowledge;
pub use materialized::Materialized;
