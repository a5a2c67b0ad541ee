//! The facts of one state, found by patterns, and which of them a picture shows.

use super::Painter;
use planforge_pipeline::Pattern;
use planforge_planning::task::{Atom, ObjectId};
use std::collections::HashMap;

/// A state to be drawn.
pub(super) struct Scene<'a> {
    painter: &'a Painter,
    atoms: &'a [Atom],
    numbers: &'a [(Atom, f64)],
    by_predicate: HashMap<u32, Vec<usize>>,
    drawn: Vec<bool>,
    drawn_numbers: Vec<bool>,
}

/// A fact, or a value, that a picture may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownFact {
    /// An atom, by its number.
    Atom(usize),
    /// A value, by its number.
    Number(usize),
}

impl<'a> Scene<'a> {
    pub(super) fn new(painter: &'a Painter, atoms: &'a [Atom], numbers: &'a [(Atom, f64)]) -> Self {
        let mut by_predicate: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, atom) in atoms.iter().enumerate() {
            by_predicate.entry(atom.predicate).or_default().push(at);
        }
        Self {
            painter,
            atoms,
            numbers,
            by_predicate,
            drawn: vec![false; atoms.len()],
            drawn_numbers: vec![false; numbers.len()],
        }
    }

    /// The atoms of a pattern, in the order of the state.
    pub(super) fn facts(&self, pattern: &Pattern) -> Vec<(ShownFact, &'a [ObjectId])> {
        let predicate = self.painter.predicates.get(&pattern.name);
        let numbers =
            predicate.and_then(|id| self.by_predicate.get(id)).map(Vec::as_slice).unwrap_or_default();
        let found = numbers.iter().map(|at| (ShownFact::Atom(*at), &*self.atoms[*at].args));
        found.filter(|(_, args)| self.fits(pattern, args)).collect()
    }

    /// The values of a pattern over a numeric function.
    pub(super) fn values(&self, pattern: &Pattern) -> Vec<(ShownFact, &'a [ObjectId], f64)> {
        let Some(function) = self.painter.functions.get(&pattern.name) else { return Vec::new() };
        let all = self.numbers.iter().enumerate().filter(|(_, (term, _))| term.predicate == *function);
        let found = all.map(|(at, (term, value))| (ShownFact::Number(at), &*term.args, *value));
        found.filter(|(_, args, _)| self.fits(pattern, args)).collect()
    }

    fn fits(&self, pattern: &Pattern, args: &[ObjectId]) -> bool {
        let key = |at: usize| Some(self.painter.object(*args.get(at)?)?.key.as_str());
        pattern.matches(key, args.len())
    }

    pub(super) fn show(&mut self, what: ShownFact) {
        match what {
            ShownFact::Atom(at) => self.drawn[at] = true,
            ShownFact::Number(at) => self.drawn_numbers[at] = true,
        }
    }

    pub(super) fn undrawn(&self) -> Vec<usize> {
        without(&self.drawn)
    }

    pub(super) fn undrawn_numbers(&self) -> Vec<usize> {
        without(&self.drawn_numbers)
    }
}

fn without(drawn: &[bool]) -> Vec<usize> {
    drawn.iter().enumerate().filter(|(_, drawn)| !**drawn).map(|(at, _)| at).collect()
}

/// The object for a variable of a pattern in the arguments of a fact.
pub(super) fn argument(pattern: &Pattern, variable: &str, args: &[ObjectId]) -> Option<ObjectId> {
    args.get(pattern.position(variable)?).copied()
}

/// The same for `?what`, or for the first variable where none is called so.
pub(super) fn argument_or_first(pattern: &Pattern, args: &[ObjectId]) -> Option<ObjectId> {
    args.get(pattern.position_or_first("what")?).copied()
}
