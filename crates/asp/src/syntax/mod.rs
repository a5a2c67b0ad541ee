//! Answer set programs as trees, in the dialect of clingo.

pub mod ast;
