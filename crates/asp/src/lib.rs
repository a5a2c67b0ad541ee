//! Planning tasks as answer set programs (translate-infer-compile paper, section 3): the intermediate representation that a
//! model writes, what may stand in it, the rules that complete it, and the PDDL problem that comes out.
//!
//! Nothing here solves a program: a reasoner is given [`syntax`] as text and answers with atoms. Nothing here does I/O.

mod codes;
pub mod compile;
pub mod materialized;
pub mod syntax;

pub use codes::CODES;
pub use materialized::Materialized;
