//! Lines of the representation that change nothing.

use super::Derivations;
use crate::program::walk::{literals, premises};
use crate::program::{Origin, Record};
use crate::syntax::ast::{Atom, Head, Literal, Rule, Term};

/// The most supports to follow; after that, further lines are not examined.
const MOST_WORK: usize = 20_000_000;

/// The reason why a line changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Idle {
    /// Its conditions never hold.
    NeverApplies,
    /// Its conclusion follows from the other lines.
    Follows,
    /// The problem has no part for its conclusion, and none follows from it.
    NotCompiled,
}

impl Derivations<'_> {
    /// The rules of the representation that do not change the problem. `is_compiled` is true for atoms with a
    /// part in the problem.
    ///
    /// A line is idle if everything that is compiled can be derived without it. If a rule counts or negates
    /// an atom that only this line supports, the answer without the line is unknown, and the line does not
    /// count as idle. Neither do the last lines of a program of thousands that takes too long to search. A
    /// line that names a counted object is not idle, although an object of the same name would be made
    /// instead.
    pub fn idle(&self, is_compiled: &dyn Fn(u32) -> bool) -> Vec<(u32, Idle)> {
        let sensitive = self.sensitive();
        let rules = (0..).zip(&self.table.rules).filter(|(_, rule)| rule.origin == Origin::Text);
        let mut heads: Vec<Vec<u32>> = vec![Vec::new(); self.table.rules.len()];
        for support in &self.supports {
            heads[support.rule as usize].push(support.head);
        }
        let mut work = 0;
        let idle = |(number, rule): (u32, &crate::program::TableRule)| {
            if matches!(rule.record, Record::Constraint(_) | Record::Choice(_)) {
                return None;
            }
            let heads = &heads[number as usize];
            if heads.is_empty() {
                return Some((number, Idle::NeverApplies));
            }
            // Most lines are the only ones that say a part of the problem; these need no further look.
            if heads.iter().any(|head| is_compiled(*head) && self.by_head[*head as usize].len() == 1) {
                return None;
            }
            work += self.supports.len();
            if work > MOST_WORK {
                return None;
            }
            self.without(number, is_compiled, &sensitive).map(|reason| (number, reason))
        };
        rules.filter_map(idle).collect()
    }

    fn without(&self, rule: u32, is_compiled: &dyn Fn(u32) -> bool, sensitive: &[&Atom]) -> Option<Idle> {
        let reached = self.fixpoint(&|support| support.rule != rule);
        let lost: Vec<u32> = (0..self.atoms.len() as u32)
            .filter(|at| self.chosen[*at as usize].is_some() && reached[*at as usize].is_none())
            .collect();
        if lost.is_empty() {
            return Some(Idle::Follows);
        }
        let matters = |atom: &u32| {
            is_compiled(*atom) || {
                let term = self.store.term(self.atoms[*atom as usize]);
                sensitive.iter().any(|pattern| may_be(pattern, &term))
            }
        };
        // There are as many objects as are counted, or there would be a conflict; without the line as well, where nothing else is lost.
        let is_count = matches!(&self.table.rules[rule as usize].rule.head, Head::Atom(head) if head.name == "cardinality");
        let reason = if is_count { Idle::Follows } else { Idle::NotCompiled };
        (!lost.iter().any(matters)).then_some(reason)
    }

    /// Atoms that rules of the program count or negate.
    fn sensitive(&self) -> Vec<&Atom> {
        let used = self.table.rules.iter().filter(|rule| rule.record != Record::LeftOut);
        used.flat_map(|entry| {
            let positive: Vec<*const Atom> = premises(&entry.rule).map(std::ptr::from_ref).collect();
            conditions(&entry.rule).filter(move |atom| !positive.contains(&std::ptr::from_ref(*atom)))
        })
        .collect()
    }
}

fn conditions(rule: &Rule) -> impl Iterator<Item = &Atom> {
    literals(rule).into_iter().filter_map(|literal| match literal {
        Literal::Atom { atom, .. } => Some(atom),
        _ => None,
    })
}

/// True if a ground atom may be an instance of an atom; variables and operations match anything.
fn may_be(atom: &Atom, ground: &Term) -> bool {
    let Term::Function { name, arguments } = ground else { return false };
    *name == atom.name && all_may_be(&atom.arguments, arguments)
}

fn all_may_be(terms: &[Term], ground: &[Term]) -> bool {
    terms.len() == ground.len() && terms.iter().zip(ground).all(|(term, ground)| term_may_be(term, ground))
}

fn term_may_be(term: &Term, ground: &Term) -> bool {
    match (term, ground) {
        (Term::Number(_) | Term::Text(_), _) => term == ground,
        (Term::Function { name, arguments }, Term::Function { name: other, arguments: given }) => {
            name == other && all_may_be(arguments, given)
        }
        (Term::Function { .. }, _) => false,
        _ => true,
    }
}
