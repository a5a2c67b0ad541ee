//! Eq. 2: one-sided scores averaged over the problems first, the harmonic mean of the two averages last.

use super::interval::ScoreInterval;

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
