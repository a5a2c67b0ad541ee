//! Exploration walks: similarity of the behaviour of two models of one task, measured by executing random
//! walks of each on the other (Mahdavi et al. 2024, Definition 1 and Eq. 2).
//!
//! * [`Model`]: a domain and a problem ready to walk in, under STRIPS semantics or without ground no-ops ([`Semantics`]).
//! * [`sample_direction`] draws walks of one model and executes them on the other; [`exact_direction`] computes the
//!   expectation, for small state spaces.
//! * [`WalkScore`] combines both directions over the problems of a domain; [`interval`](mod@interval) bounds the error of a sampled score.
//! * [`race`] draws walks for several candidates until the best is decided, under bounds that hold at any time.
//! * [`exact_goals`] and [`sample_goals`] compare the goals, which the walk score does not see.
//! * [`counterexample`] finds the shortest walk that one model executes and the other refuses, [`counterexamples`] one of each
//!   refused action schema.
//!
//! Pure like the rest of the crate: randomness is derived from a seed, limits from
//! [`ResourceLimits`](crate::ResourceLimits).

mod counterexample;
mod exact;
mod goals;
pub mod interval;
mod lifted;
mod model;
mod race;
mod sample;

pub use counterexample::{
    Counterexample, CounterexampleLimits, CounterexampleOutcome, counterexample, counterexamples, minimise,
};
pub use exact::{ExactDirection, ExactError, ExactLength, SchemaShare, exact_direction};
pub use goals::{
    DirectionGoals, GoalDifference, GoalPlan, GoalSampleSpec, exact_goals, goal_agreement, goal_plan,
    plan_model, sample_goals,
};
pub use interval::{ConfidenceSequence, ScoreInterval};
pub(crate) use model::changes_nothing;
pub use model::{
    ExecutedSteps, FailingWalk, GroundingMethod, Model, ModelError, ModelOptions, Refusal, execute_steps,
};
pub use race::{CandidateState, ModelPair, RaceResult, RaceSpec, Racer, race};
pub use sample::{
    DeadEnds, DirectionSample, DirectionSampler, DrawOutcome, LengthSample, SampleSpec, SchemaCount,
    WalkPolicy, sample_direction, sample_walks,
};

use std::fmt;

/// A ground action of one [`Model`], by index.
pub type ActionId = u32;

/// Definition of the legal ground actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Semantics {
    /// Every ground action whose precondition holds, as VAL judges plans.
    #[default]
    Strips,
    /// As [`Semantics::Strips`], but a ground action that cannot change any state is never legal, because the Fast Downward
    /// translator, which the paper's own code walks with, drops it: every atom it adds is one of its preconditions (or
    /// never becomes false), every atom it deletes is added again, is a negative precondition or can never hold,
    /// and what its conditional effects do contradicts its precondition. The translator also uses invariants it
    /// finds, so that it may drop a few ground actions more; what it drops of goal-irrelevant actions is not
    /// followed.
    GroundNoOpsDropped,
}

/// A ground action by names, as its model's text writes them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamedStep {
    /// Name of the action schema.
    pub name: String,
    /// Names of the objects.
    pub args: Vec<String>,
}

impl NamedStep {
    /// Reads `(name object ...)`, with or without the parentheses. `None` if there is no name.
    pub fn parse(text: &str) -> Option<Self> {
        let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
        let mut words = inner.split_whitespace().map(str::to_owned);
        let name = words.next()?;
        Some(NamedStep { name, args: words.collect() })
    }
}

impl fmt::Display for NamedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}", self.name)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))?;
        f.write_str(")")
    }
}

/// Direction of a one-sided score: from the model that walks are drawn from to the model that executes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WalkDirection {
    /// The reference's walks on the candidate: is what should be possible possible?
    ReferenceToCandidate,
    /// The candidate's walks on the reference: is what is possible allowed?
    CandidateToReference,
}

impl WalkDirection {
    /// Source and target among two models (or anything else there is of each).
    pub fn models<'m, T: ?Sized>(self, reference: &'m T, candidate: &'m T) -> (&'m T, &'m T) {
        match self {
            WalkDirection::ReferenceToCandidate => (reference, candidate),
            WalkDirection::CandidateToReference => (candidate, reference),
        }
    }
}

/// The one-sided scores of one problem: the share of walks of the first model that the second executes, averaged over the
/// walk lengths. `None` where the first model has no applicable action initially.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TaskDirections {
    /// Walks of the reference executed by the candidate.
    pub reference_to_candidate: Option<f64>,
    /// Walks of the candidate executed by the reference.
    pub candidate_to_reference: Option<f64>,
}

/// The exploration walk score over the problems of a domain (Eq. 2).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WalkScore {
    /// Mean of the defined values of this direction; `None` where there is none.
    pub reference_to_candidate: Option<f64>,
    /// Mean of the defined values of this direction; `None` where there is none.
    pub candidate_to_reference: Option<f64>,
    /// Problems whose walks from the reference are not defined.
    pub reference_undefined: usize,
    /// Problems whose walks from the candidate are not defined.
    pub candidate_undefined: usize,
    /// The harmonic mean of both directions, in 0 to 1; `None` where any direction of any problem is not defined.
    pub score: Option<f64>,
}

impl WalkScore {
    /// Averages each direction over the problems, then takes the harmonic mean.
    pub fn combine(problems: &[TaskDirections]) -> Self {
        let (reference, reference_undefined) = mean(problems.iter().map(|p| p.reference_to_candidate));
        let (candidate, candidate_undefined) = mean(problems.iter().map(|p| p.candidate_to_reference));
        let score = match (reference, candidate) {
            (Some(a), Some(b)) if reference_undefined + candidate_undefined == 0 => Some(harmonic_mean(a, b)),
            _ => None,
        };
        WalkScore {
            reference_to_candidate: reference,
            candidate_to_reference: candidate,
            reference_undefined,
            candidate_undefined,
            score,
        }
    }

    /// The interval of the score from intervals of the directions, each of which holds at confidence 1 - alpha/2: it holds
    /// at confidence 1 - alpha (Bonferroni), because the harmonic mean grows with both.
    pub fn interval(
        reference_to_candidate: ScoreInterval,
        candidate_to_reference: ScoreInterval,
    ) -> ScoreInterval {
        ScoreInterval {
            low: harmonic_mean(reference_to_candidate.low, candidate_to_reference.low),
            high: harmonic_mean(reference_to_candidate.high, candidate_to_reference.high),
        }
    }
}

/// The mean of the values there are, and how many there are not.
fn mean(values: impl Iterator<Item = Option<f64>>) -> (Option<f64>, usize) {
    let (mut sum, mut count, mut missing) = (0.0, 0usize, 0usize);
    for value in values {
        match value {
            Some(value) => {
                sum += value;
                count += 1;
            }
            None => missing += 1,
        }
    }
    ((count > 0).then(|| sum / count as f64), missing)
}

/// The harmonic mean of two numbers in 0 to 1; 0 where both are.
pub fn harmonic_mean(a: f64, b: f64) -> f64 {
    // Equal sides are returned as they are, so that 1 stays 1 to the last bit.
    if a == b {
        return a;
    }
    let sum = a + b;
    if sum > 0.0 { 2.0 * a * b / sum } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(a: f64, b: f64) -> TaskDirections {
        TaskDirections { reference_to_candidate: Some(a), candidate_to_reference: Some(b) }
    }

    #[test]
    fn directions_are_averaged_before_the_harmonic_mean() {
        let score = WalkScore::combine(&[both(1.0, 0.0), both(0.0, 1.0)]);
        // The other order would give the mean of two zeros.
        assert_eq!(score.score, Some(0.5));
    }

    #[test]
    fn two_zeros_are_zero_and_two_ones_are_one() {
        assert_eq!(WalkScore::combine(&[both(0.0, 0.0)]).score, Some(0.0));
        assert_eq!(WalkScore::combine(&[both(1.0, 1.0), both(1.0, 1.0)]).score, Some(1.0));
        assert_eq!(harmonic_mean(1.0, 0.5), 2.0 / 3.0);
    }

    #[test]
    fn an_undefined_direction_leaves_the_other_reported() {
        let half = TaskDirections { reference_to_candidate: Some(0.25), candidate_to_reference: None };
        let score = WalkScore::combine(&[both(0.75, 1.0), half]);
        assert_eq!(score.reference_to_candidate, Some(0.5));
        assert_eq!(score.candidate_to_reference, Some(1.0));
        assert_eq!((score.score, score.candidate_undefined), (None, 1));
    }
}
