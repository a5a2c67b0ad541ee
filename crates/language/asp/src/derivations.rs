//! Derivations of the atoms of an answer.
//!
//! Every instance of a rule that applied is a *support* of the atom it concludes. An atom's derivation is the
//! support with the fewest steps: the least fixpoint over the supports reaches the atom with it first, so no
//! atom explains itself. Negated conditions and counts are taken from the answer.

mod idle;
mod read;

use crate::ground::{Id, Store};
use crate::program::walk::substitute_literal;
use crate::program::{Origin, Record, Table, Twin};
use crate::syntax::ast::{Literal, Term};
use planforge_diagnostics::{SourceId, Span};
use smallvec::SmallVec;
use std::collections::VecDeque;

pub use idle::Idle;
pub(crate) use read::read;

/// An instance of a rule that applied.
#[derive(Debug, Clone)]
struct Support {
    rule: u32,
    head: u32,
    premises: SmallVec<[u32; 3]>,
    /// For a rule with a twin: which element of a choice, and the values of its variables.
    instance: Option<(u32, Id)>,
}

/// The derivation of an atom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derivation {
    /// Index of the rule in [`Table::rules`].
    pub rule: u32,
    /// The atoms that the rule needed; each is derived in fewer steps.
    pub premises: Vec<u32>,
    /// Negated conditions and counts of the rule, as text.
    pub absent: Vec<String>,
    /// Number of further supports that do not depend on the atom itself.
    pub others: u32,
    /// Length of the longest chain of rules; 1 for a fact.
    pub steps: u32,
}

/// The derivations of an answer's atoms. Atoms are named by number; those of
/// [`Materialized::atoms`](crate::Materialized::atoms) come first, in the same order.
#[derive(Debug)]
pub struct Derivations<'a> {
    table: &'a Table,
    store: Store,
    /// The term of each atom.
    atoms: Vec<Id>,
    supports: Vec<Support>,
    /// The supports of each atom, in the order of the rules.
    by_head: Vec<SmallVec<[u32; 2]>>,
    /// The supports that need each atom.
    by_premise: Vec<Vec<u32>>,
    /// The support and the number of steps of each atom's derivation.
    chosen: Vec<Option<(u32, u32)>>,
    /// Violated constraints: the rule, what it needed, and its instance.
    violations: Vec<Support>,
}

/// An instance of a constraint of the knowledge file that is violated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Index of the constraint in [`Table::rules`].
    pub(crate) rule: u32,
    /// The atoms that it needed.
    pub(crate) premises: Vec<u32>,
    /// The variables that it names, with their values.
    pub(crate) values: Vec<(String, Term)>,
}

impl<'a> Derivations<'a> {
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// The rules that the derivations are made of.
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// An atom as a term.
    pub fn term(&self, atom: u32) -> Option<Term> {
        self.atoms.get(atom as usize).map(|id| self.store.term(*id))
    }

    /// The number of an atom.
    pub fn find(&self, atom: &Term) -> Option<u32> {
        (0..self.atoms.len() as u32).find(|at| self.store.term(self.atoms[*at as usize]) == *atom)
    }

    /// Returns the derivation of an atom. `None` for an unknown index, and for atoms that only choices in a
    /// circle support.
    pub fn derivation(&self, atom: u32) -> Option<Derivation> {
        let (support, steps) = (*self.chosen.get(atom as usize)?)?;
        let support = &self.supports[support as usize];
        let mut premises: Vec<u32> = Vec::new();
        for premise in &support.premises {
            if !premises.contains(premise) {
                premises.push(*premise);
            }
        }
        Some(Derivation {
            rule: support.rule,
            premises,
            absent: self.absent(support),
            others: self.others(atom),
            steps,
        })
    }

    /// Conditions of a support's rule other than its premises, with the values of its variables.
    fn absent(&self, support: &Support) -> Vec<String> {
        let Some((twin, values)) = self.instance(support) else { return Vec::new() };
        let value = |name: &str| {
            let at = twin.variables.iter().position(|variable| variable == name)?;
            values.get(at).map(|id| self.store.term(*id))
        };
        let is_shown = |literal: &&Literal| match literal {
            Literal::Atom { negated, .. } => *negated,
            Literal::Comparison { .. } => false,
            Literal::Conditional { .. } | Literal::Aggregate(_) => true,
        };
        twin.rule.body.iter().filter(is_shown).map(|l| substitute_literal(l, &value).to_string()).collect()
    }

    fn instance(&self, support: &Support) -> Option<(&'a Twin, &[Id])> {
        let (element, id) = support.instance?;
        let twin = match &self.table.rules[support.rule as usize].record {
            Record::Twin(twin) | Record::Constraint(twin) => twin,
            Record::Choice(twins) => twins.get(element as usize)?,
            _ => return None,
        };
        Some((twin, self.store.call(id)?.1))
    }

    /// Supports of an atom, other than its derivation's, whose premises are derived without it.
    fn others(&self, atom: u32) -> u32 {
        let Some((chosen, steps)) = self.chosen[atom as usize] else { return 0 };
        let others = self.by_head[atom as usize].iter().filter(|support| **support != chosen);
        let through_itself = |support: &&u32| {
            self.supports[**support as usize]
                .premises
                .iter()
                .any(|premise| self.rests_on(*premise, atom, steps))
        };
        others.filter(|support| !through_itself(support)).count() as u32
    }

    /// True if the derivation of `premise` uses `atom`, whose derivation has `steps` steps.
    fn rests_on(&self, premise: u32, atom: u32, steps: u32) -> bool {
        let mut open = vec![premise];
        let mut seen = vec![premise];
        while let Some(at) = open.pop() {
            if at == atom {
                return true;
            }
            // Without a derivation it cannot be another way; with fewer steps it cannot go through the atom.
            let Some((support, depth)) = self.chosen[at as usize] else { return true };
            if depth <= steps {
                continue;
            }
            for next in &self.supports[support as usize].premises {
                if !seen.contains(next) {
                    seen.push(*next);
                    open.push(*next);
                }
            }
        }
        false
    }

    pub(crate) fn violations(&self) -> impl Iterator<Item = Violation> {
        self.violations.iter().map(|support| {
            let (variables, values) = match self.instance(support) {
                Some((twin, values)) => (twin.variables.as_slice(), values),
                None => ([].as_slice(), [].as_slice()),
            };
            let written = &self.table.rules[support.rule as usize].rule;
            let named = variables.iter().zip(values).filter(|(variable, _)| names(written, variable));
            Violation {
                rule: support.rule,
                premises: support.premises.to_vec(),
                values: named.map(|(variable, value)| (variable.clone(), self.store.term(*value))).collect(),
            }
        })
    }

    /// Objects of a type, with the atoms that state the type.
    pub(crate) fn members(&self, ty: &str) -> Vec<(String, u32)> {
        let member = |atom: u32| match self.term(atom) {
            Some(Term::Function { name, arguments }) => match (name.as_str(), arguments.as_slice()) {
                ("object", [object, of]) if of.to_string() == ty => Some((object.to_string(), atom)),
                _ => None,
            },
            _ => None,
        };
        (0..self.atoms.len() as u32).filter_map(member).collect()
    }

    /// The rules of an atom's derivation, the nearest first, each once.
    pub fn rules(&self, atom: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut seen = vec![atom];
        let mut open = VecDeque::from([atom]);
        while let Some(at) = open.pop_front() {
            let Some(Some((support, _))) = self.chosen.get(at as usize) else { continue };
            let support = &self.supports[*support as usize];
            if !found.contains(&support.rule) {
                found.push(support.rule);
            }
            for premise in &support.premises {
                if !seen.contains(premise) {
                    seen.push(*premise);
                    open.push_back(*premise);
                }
            }
        }
        found
    }

    /// The lines of the representation and of the knowledge file in an atom's derivation, the nearest first.
    pub fn places(&self, atom: u32) -> Vec<(SourceId, Span)> {
        let written = |rule: &u32| {
            let rule = &self.table.rules[*rule as usize];
            let is_written = matches!(rule.origin, Origin::Text | Origin::Knowledge);
            rule.id.filter(|_| is_written).map(|id| (id, rule.span))
        };
        self.rules(atom).iter().filter_map(written).collect()
    }

    /// The line of the representation that an atom rests on, the nearest one.
    pub(crate) fn text_place(&self, atom: u32) -> Option<(SourceId, Span)> {
        let is_text = |rule: &&u32| self.table.rules[**rule as usize].origin == Origin::Text;
        let rules = self.rules(atom);
        let rule = &self.table.rules[*rules.iter().find(is_text)? as usize];
        rule.id.map(|id| (id, rule.span))
    }
}

/// True if the rule, as written, has a variable of this name.
fn names(rule: &crate::syntax::ast::Rule, variable: &str) -> bool {
    let mut found = false;
    crate::program::walk::visit_terms(rule, &mut |term| {
        found |= matches!(term, Term::Variable(name) if name == variable);
    });
    found
}
