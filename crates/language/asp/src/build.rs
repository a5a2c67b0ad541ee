//! Short ways to write trees.

use crate::syntax::ast::{Atom, Head, Literal, Rule, Term};
use planforge_diagnostics::Span;

/// A constant.
pub fn constant(name: &str) -> Term {
    function(name, Vec::new())
}

pub(crate) fn variable(name: &str) -> Term {
    Term::Variable(name.to_owned())
}

/// A function term; without arguments a constant.
pub fn function(name: &str, arguments: Vec<Term>) -> Term {
    Term::Function { name: name.to_owned(), arguments }
}

pub(crate) fn atom(name: &str, arguments: Vec<Term>, span: Span) -> Atom {
    Atom { name: name.to_owned(), arguments, span }
}

pub(crate) fn rule(head: Atom, body: Vec<Atom>) -> Rule {
    let body = body.into_iter().map(|atom| Literal::Atom { negated: false, atom }).collect();
    Rule { head: Head::Atom(head), body }
}
