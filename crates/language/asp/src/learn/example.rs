//! The examples that rules are learned from.

use crate::syntax::ast::Term;
use std::collections::BTreeSet;

/// A representation and its reference problem, as atoms about objects with the same names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Example {
    /// The atoms that hold without rules: `object(b1, block)`, `init(on(b1, b2))`, `goal(neg(held(b1)))`.
    pub given: BTreeSet<Term>,
    /// The atoms that should hold. Includes atoms of the representation's own types and predicates.
    pub wanted: BTreeSet<Term>,
    /// Types whose objects the representation counts and does not name. Their order may be a condition.
    pub counted: BTreeSet<String>,
}
