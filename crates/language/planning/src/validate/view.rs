//! Atoms and numbers of a state, as formulas are evaluated over them.

use crate::lifted::{LiftedAtom, LiftedExpr};
use crate::satisfy::{Args, Cut, Interpretation};
use crate::task::ObjectId;
use planforge_pddl::Number;
use planforge_pddl::ast::CompareOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// The arguments of an atom under a binding.
pub(crate) fn args_of(atom: &LiftedAtom, binding: &[ObjectId]) -> Args {
    atom.args.iter().map(|t| t.object(binding)).collect()
}

/// The parts of a state that formulas depend on.
#[derive(Clone, Copy)]
pub(crate) struct View<'v> {
    pub(crate) facts: &'v [FxHashSet<Args>],
    pub(super) numbers: &'v FxHashMap<(u32, Args), Number>,
    pub(super) steps: usize,
    /// True if inexact numbers decide nothing.
    pub(super) exact: bool,
}

impl View<'_> {
    pub(super) fn number(&self, function: u32, args: &Args) -> Number {
        self.numbers.get(&(function, args.clone())).copied().unwrap_or(Number::UNDEFINED)
    }

    pub(super) fn value(&self, expr: &LiftedExpr, binding: &[ObjectId]) -> Number {
        match expr {
            LiftedExpr::Constant(c) => *c,
            LiftedExpr::Steps => Number::integer(self.steps as i128),
            LiftedExpr::Function(term) => self.number(term.predicate, &args_of(term, binding)),
            LiftedExpr::Binary(op, sides) => {
                op.apply(self.value(&sides.0, binding), self.value(&sides.1, binding))
            }
        }
    }
}

impl Interpretation for View<'_> {
    fn literal(&self, atom: &LiftedAtom, negated: bool, binding: &[ObjectId]) -> bool {
        self.facts[atom.predicate as usize].contains(&args_of(atom, binding)) != negated
    }

    fn compare(
        &self,
        comparison: CompareOp,
        left: &LiftedExpr,
        right: &LiftedExpr,
        binding: &[ObjectId],
    ) -> Result<bool, Cut> {
        let (left, right) = (self.value(left, binding), self.value(right, binding));
        if self.exact && (left.is_inexact() || right.is_inexact()) {
            return Err(Cut::Inexact);
        }
        Ok(comparison.holds(left, right))
    }

    fn row_count(&self, predicate: u32) -> usize {
        self.facts[predicate as usize].len()
    }

    fn rows(&self, predicate: u32) -> Vec<&[ObjectId]> {
        self.facts[predicate as usize].iter().map(|args| args.as_slice()).collect()
    }
}
