//! The judged candidates of a budget stage, and the arms that refine them.

use super::bandit::{Arm, Bandit, UNKNOWN_VALUE};
use super::config::{BudgetArms, BudgetStage};
use super::copies::{is_copy, is_equal};
use crate::run::beam::Entry;
use crate::run::verdict::verdict_of;
use crate::stages::order::Order;
use crate::stages::rated::Rated;
use planforge_record::TaskVerdict;

/// The judged candidates of one task.
pub(super) struct Candidates<'a> {
    stage: &'a BudgetStage,
    /// In the order in which they came, without copies.
    rated: Vec<Rated>,
    /// In the order of the bandit's numbers.
    arms: Vec<RefineArm>,
    /// Number of values outside of the stage's range.
    pub(super) outside: u32,
}

/// An arm that refines.
struct RefineArm {
    /// Index of the candidate that the next pull refines.
    candidate: usize,
    /// The best value of the arm so far, 0 to 1.
    best: f64,
}

impl<'a> Candidates<'a> {
    pub(super) const fn new(stage: &'a BudgetStage) -> Self {
        Self { stage, rated: Vec::new(), arms: Vec::new(), outside: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.rated.len()
    }

    /// True if the judges accepted a candidate.
    pub(super) fn has_accepted(&self) -> bool {
        self.rated.iter().any(|candidate| candidate.accepted)
    }

    /// The best so far; ties go to the earlier.
    pub(super) fn best(&self) -> Option<&Rated> {
        self.rated.iter().min_by(|a, b| a.compare(b, self.stage.order))
    }

    /// The scaled value of the best so far, 0 to 1.
    pub(super) fn best_value(&self) -> f64 {
        self.best().map_or(0.0, |best| self.scaled_value(best))
    }

    /// The best candidates, as many as the stage keeps.
    pub(super) fn kept(&self) -> Vec<Entry> {
        let mut ranked: Vec<&Rated> = self.rated.iter().collect();
        ranked.sort_by(|a, b| a.compare(b, self.stage.order));
        let kept = ranked.into_iter().take(self.stage.keep as usize).enumerate();
        kept.map(|(place, rated)| Entry { place, ..rated.entry.clone() }).collect()
    }

    /// The candidate that the next pull of a refining arm starts from.
    pub(super) fn of_arm(&self, arm: usize) -> Option<&Rated> {
        self.arms.get(arm).and_then(|arm| self.rated.get(arm.candidate))
    }

    /// The best value of the branch that a pull refines; `None` if candidates are the arms.
    pub(super) fn branch_best(&self, arm: Arm) -> Option<f64> {
        match (self.stage.arms, arm) {
            (BudgetArms::Branches, Arm::Candidate(index)) => self.arms.get(index).map(|branch| branch.best),
            _ => None,
        }
    }

    /// Keeps the reasons of a failed refinement for the candidate's next one.
    pub(super) fn keep_reasons(&mut self, arm: Arm, reasons: Vec<String>) {
        if let Arm::Candidate(index) = arm
            && let Some(arm) = self.arms.get(index)
            && let Some(candidate) = self.rated.get_mut(arm.candidate)
        {
            candidate.entry.unusable = reasons;
        }
    }

    /// Compares a judged candidate's results with the stage's range, without adding it.
    pub(super) fn rate(&mut self, mut entry: Entry) -> Rated {
        // Only the judges decide: what else judged it did so in order to write it.
        entry.discount_results(|label| self.stage.judge.iter().any(|judge| judge.label() == label));
        entry.unusable.clear();
        let accepted = verdict_of(&self.stage.judge, &entry) == TaskVerdict::Accepted;
        let value = entry.metric(&self.stage.by);
        let [low, high] = self.range();
        self.outside += u32::from(value.is_some_and(|value| value < low || value > high));
        Rated { entry, accepted, value }
    }

    /// Adds a candidate of a pull. One that equals an earlier one takes its place if it was judged better. A new one is an arm of its
    /// own, or it continues its branch if it `leads` the candidates of its pull. What `entered` and has no value is refined only where
    /// nothing can be sampled.
    pub(super) fn add(&mut self, child: Rated, bandit: &mut Bandit, arm: Arm, entered: bool, leads: bool) {
        let order = self.stage.order;
        let value = self.scaled_value(&child);
        let known = child.value.is_some();
        let same = |other: &Rated| match self.stage.arms {
            BudgetArms::Candidates => is_copy(&other.entry, &child.entry),
            BudgetArms::Branches => is_equal(&other.entry, &child.entry),
        };
        let copy = self.rated.iter().position(same);
        let index = copy.unwrap_or(self.rated.len());
        match self.rated.get_mut(index) {
            None => self.rated.push(child),
            Some(other) if child.compare(other, order).is_lt() => *other = child,
            Some(_) => {}
        }
        match (self.stage.arms, arm) {
            (BudgetArms::Branches, Arm::Candidate(branch)) => {
                if let Some(state) = self.arms.get_mut(branch) {
                    state.best = state.best.max(value);
                    if leads {
                        state.candidate = index;
                    }
                    if known {
                        bandit.revalue(branch, state.best);
                    }
                }
            }
            _ if copy.is_some() => {}
            (arms, _) => {
                let open = !entered || known || self.stage.sample.is_empty();
                let unknown = arms == BudgetArms::Branches && !known;
                bandit.add(if unknown { UNKNOWN_VALUE } else { value }, open && !self.stage.round.is_empty());
                self.arms.push(RefineArm { candidate: index, best: value });
            }
        }
    }

    /// A candidate's value on the way from the worst, 0, to the best, 1; what has none is worth nothing.
    pub(super) fn scaled_value(&self, rated: &Rated) -> f64 {
        if rated.accepted {
            return 1.0;
        }
        let [low, high] = self.range();
        let up = rated.value.map(|value| ((value - low) / (high - low)).clamp(0.0, 1.0));
        match self.stage.order {
            Order::Highest => up.unwrap_or(0.0),
            Order::Lowest => up.map_or(0.0, |up| 1.0 - up),
        }
    }

    fn range(&self) -> [f64; 2] {
        self.stage.range.unwrap_or([0.0, 1.0])
    }
}
