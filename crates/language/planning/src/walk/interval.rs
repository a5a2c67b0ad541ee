//! Confidence intervals of sampled one-sided scores, for a number of walks fixed beforehand.
//!
//! A one-sided score is a mean over strata (problem and walk length). With equally many walks in every
//! stratum the number of executable walks is a sum of independent Bernoulli variables whose mean probability
//! is the score. Hoeffding (1956) shows that the tails of such a sum are no heavier than the binomial's at
//! least 1 beyond the mean, so the Clopper-Pearson interval of the pooled counts is valid (and conservative).
//! At the two ends, where all but one walk agree, the union bound replaces that theorem and the level is
//! lowered from α/2 to 1 - exp(-α/2). With unequal strata the interval is Hoeffding's (1963) for the weighted
//! mean. Optional stopping invalidates these intervals: see [`ConfidenceSequence`](super::ConfidenceSequence)
//! for bounds that remain valid.

use super::beta::binomial_at_least;
use super::sample::DirectionSample;

/// Bounds of an unknown number in 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreInterval {
    /// Lower bound, in 0 to 1.
    pub low: f64,
    /// Upper bound, in 0 to 1.
    pub high: f64,
}

impl ScoreInterval {
    /// The interval without any observation: 0 to 1.
    pub const UNIT: ScoreInterval = ScoreInterval { low: 0.0, high: 1.0 };

    /// Returns true if the number lies in the interval.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns the difference of the bounds.
    pub fn width(self) -> f64 {
        self.high - self.low
    }
}

/// Walks of one problem and length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stratum {
    /// Its share in the score; the shares of all strata add up to 1.
    pub weight: f64,
    /// Number of walks, at least 1.
    pub walks: u64,
    /// Number of walks that the target executes.
    pub executable: u64,
}

/// The strata of one direction over several problems: every problem has the same weight, and so has every length within a
/// problem that has walks.
pub fn strata<'s>(problems: impl IntoIterator<Item = &'s DirectionSample>) -> Vec<Stratum> {
    let problems: Vec<&DirectionSample> = problems.into_iter().collect();
    let mut out = Vec::new();
    for problem in &problems {
        let lengths: Vec<_> = problem.lengths.iter().filter(|l| l.walks > 0).collect();
        let weight = 1.0 / (problems.len() * lengths.len()) as f64;
        out.extend(lengths.iter().map(|l| Stratum {
            weight,
            walks: l.walks.into(),
            executable: l.executable.into(),
        }));
    }
    out
}

/// The interval of a one-sided score at confidence `1 - alpha`, `alpha` in (0, 1). Nothing is known without walks.
pub fn direction_interval(strata: &[Stratum], alpha: f64) -> ScoreInterval {
    let Some(first) = strata.first() else { return ScoreInterval::UNIT };
    let equal = strata.iter().all(|s| s.walks == first.walks && (s.weight - first.weight).abs() < 1e-12);
    if equal {
        let n = strata.iter().map(|s| s.walks).sum();
        let k = strata.iter().map(|s| s.executable).sum();
        return match strata.len() {
            1 => clopper_pearson(k, n, alpha),
            _ => clopper_pearson(k, n, -2.0 * (-alpha / 2.0).exp_m1()),
        };
    }
    let estimate: f64 = strata.iter().map(|s| s.weight * s.executable as f64 / s.walks as f64).sum();
    let spread: f64 = strata.iter().map(|s| s.weight * s.weight / s.walks as f64).sum();
    let margin = ((2.0 / alpha).ln() / 2.0 * spread).sqrt();
    ScoreInterval { low: (estimate - margin).max(0.0), high: (estimate + margin).min(1.0) }
}

/// The Clopper-Pearson interval of a binomial probability at confidence `1 - alpha`: `k` successes in `n` trials.
pub fn clopper_pearson(k: u64, n: u64, alpha: f64) -> ScoreInterval {
    let tail = alpha / 2.0;
    // Both tails are monotone in p; the bracket's outer end is taken, so rounding never narrows the interval.
    let low = if k == 0 { 0.0 } else { bisect(|p| binomial_at_least(k, n, p) < tail).0 };
    let high = if k >= n { 1.0 } else { bisect(|p| 1.0 - binomial_at_least(k + 1, n, p) >= tail).1 };
    ScoreInterval { low, high }
}

/// A bracket around the point of 0 to 1 where `below` turns from true to false.
pub(crate) fn bisect(below: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..52 {
        let middle = 0.5 * (low + high);
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_pddl::random::Random;

    #[test]
    fn clopper_pearson_has_its_known_values() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        // All of n: the lower bound is (alpha/2)^(1/n).
        let all = clopper_pearson(50, 50, 0.05);
        assert!(close(all.low, 0.025f64.powf(0.02)) && all.high == 1.0);
        let none = clopper_pearson(0, 50, 0.05);
        assert!(close(none.high, 1.0 - 0.025f64.powf(0.02)) && none.low == 0.0);
        // Two of four, where the bound solves p^4 - ... in closed form: P(X >= 2) = 1 - q^4 - 4pq^3.
        let i = clopper_pearson(2, 4, 0.1);
        let tail = |p: f64| 1.0 - (1.0 - p).powi(4) - 4.0 * p * (1.0 - p).powi(3);
        assert!(close(tail(i.low), 0.05) && close(i.low, 1.0 - i.high));
    }

    /// The share of samples whose interval misses the true mean of the strata.
    fn misses(probabilities: &[f64], walks: &[u64], alpha: f64) -> f64 {
        let truth = probabilities.iter().sum::<f64>() / probabilities.len() as f64;
        let mut random = Random::stream(1, walks[0]);
        let rounds = 2000;
        let missed = (0..rounds).filter(|_| {
            let strata: Vec<Stratum> = probabilities
                .iter()
                .zip(walks)
                .map(|(&p, &walks)| Stratum {
                    weight: 1.0 / probabilities.len() as f64,
                    walks,
                    executable: (0..walks).filter(|_| random.unit() < p).count() as u64,
                })
                .collect();
            !direction_interval(&strata, alpha).contains(truth)
        });
        missed.count() as f64 / f64::from(rounds)
    }

    #[test]
    fn intervals_cover_with_the_stated_confidence() {
        let falling: Vec<f64> = (0..10).map(|i| 0.95f64.powi(i + 1)).collect();
        let steep: Vec<f64> = (0..10).map(|i| if i < 9 { 1.0 } else { 0.5 }).collect();
        // Four standard deviations of the simulation are 0.027 at a miss rate of 0.1.
        for probabilities in [falling, steep, vec![0.5; 10], vec![0.99; 10]] {
            for walks in [[1; 10], [5; 10], [20; 10]] {
                assert!(misses(&probabilities, &walks, 0.1) <= 0.127, "{probabilities:?} {walks:?}");
            }
        }
        let uneven = [5, 1, 9, 3, 5, 5, 5, 5, 2, 20];
        assert!(misses(&[0.3, 0.9, 0.5, 0.5, 0.5, 0.2, 0.7, 0.8, 0.1, 0.6], &uneven, 0.1) <= 0.127);
    }

    #[test]
    fn intervals_are_not_wider_than_they_need_to_be() {
        let strata = [Stratum { weight: 0.5, walks: 500, executable: 400 }; 2];
        // The normal interval at 95 % is 0.8 +- 0.0248.
        let interval = direction_interval(&strata, 0.05);
        assert!(interval.width() < 0.053 && interval.contains(0.8), "{interval:?}");
        assert_eq!(direction_interval(&[], 0.05), ScoreInterval::UNIT);
    }
}
