//! Planning tasks as answer set programs (translate-infer-compile paper, section 3): the intermediate representation that a
//! model writes, what may stand in it, the rules that complete it, and the PDDL problem that comes out.
//!
//! Nothing here solves a program: a reasoner is given [`syntax`] as text and answers with atoms. Nothing here does I/O.

pub mod answer;
mod build;
#[macro_use]
mod codes;
pub mod compile;
pub mod declarations;
pub mod derivations;
mod ground;
mod knowledge;
pub mod library;
pub mod materialized;
pub mod names;
pub mod naming;
mod pattern;
pub mod program;
pub mod reader;
pub mod stages;
pub mod syntax;
pub mod types;

pub use codes::CODES;
pub use declarations::Declarations;
pub use materialized::Materialized;
