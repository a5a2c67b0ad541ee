//! The suite and the limits of a classification.

use super::ClassesSpec;
use crate::study::{StudyBudget, StudySuite, Watch};

/// A suite with the limits within which its mutants are judged.
#[derive(Clone, Copy)]
pub(super) struct Setup<'s> {
    pub(super) suite: &'s StudySuite,
    pub(super) spec: &'s ClassesSpec,
    pub(super) watch: &'s Watch,
}

impl<'s> Setup<'s> {
    /// A fresh budget for one computation.
    pub(super) fn budget(&self) -> StudyBudget<'s> {
        StudyBudget::new(self.watch, self.spec.max_bytes)
    }
}
