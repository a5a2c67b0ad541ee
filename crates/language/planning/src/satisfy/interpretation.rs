//! Interpretations of formulas, and the limits of their evaluation.

use crate::lifted::{Formula, LiftedAtom, LiftedExpr};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::task::ObjectId;
use planforge_pddl::ast::CompareOp;
use smallvec::SmallVec;

/// Called with each binding until it returns false.
pub(crate) type Visitor<'v> = dyn FnMut(&mut [ObjectId], &mut Work<'_>) -> Result<bool, Cut> + 'v;

/// Arguments of an atom.
pub(crate) type Args = SmallVec<[ObjectId; 6]>;

/// Reason why a formula was not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Limit(StopReason),
    /// A comparison depends on a number that exact arithmetic does not have.
    Inexact,
}

impl From<StopReason> for Cut {
    fn from(reason: StopReason) -> Self {
        Cut::Limit(reason)
    }
}

/// Choices between two polls.
pub(crate) const POLL: u32 = 256;

/// Polls the limits while formulas are evaluated.
pub(crate) struct Work<'w> {
    resources: &'w mut dyn ResourceLimits,
    calls: u32,
}

impl<'w> Work<'w> {
    pub(crate) fn new(resources: &'w mut dyn ResourceLimits) -> Self {
        Work { resources, calls: 0 }
    }

    /// Called for every choice.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<(), StopReason> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(POLL) { check(self.resources.poll()) } else { Ok(()) }
    }

    /// Charges bytes.
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<(), StopReason> {
        check(self.resources.charge(bytes))
    }
}

/// Truth of literals and comparisons.
pub(crate) trait Interpretation {
    /// Returns true if the literal holds. Its variables are bound.
    fn literal(&self, atom: &LiftedAtom, negated: bool, binding: &[ObjectId]) -> bool;

    /// Returns true if the comparison holds. Its variables are bound.
    fn compare(
        &self,
        comparison: CompareOp,
        left: &LiftedExpr,
        right: &LiftedExpr,
        binding: &[ObjectId],
    ) -> Result<bool, Cut>;

    /// Number of rows of a predicate.
    fn row_count(&self, predicate: u32) -> usize;

    /// The arguments of at least all atoms of which a positive literal is true or a negative one is false.
    fn rows(&self, predicate: u32) -> Vec<&[ObjectId]>;
}

/// A formula and the truth value that is asked for.
pub(crate) type Goal<'f> = (&'f Formula, bool);

/// Rows that stand in for those of one conjunct's predicate.
#[derive(Clone, Copy)]
pub(crate) struct Substitute<'r> {
    /// Index of the conjunct.
    pub(crate) part: usize,
    pub(crate) rows: &'r [Args],
}
