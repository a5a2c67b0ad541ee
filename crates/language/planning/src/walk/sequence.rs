//! Time-uniform bounds of a mean (a confidence sequence), by betting.
//!
//! A bettor stakes a share `b` of the capital on observations in 0 to 1 having a mean above `m`, which
//! multiplies the capital by `1 - b + b X/m` each time. If the mean is `m` the capital is a nonnegative
//! martingale, so by Ville's inequality it ever reaches `1/α` with probability at most `α`; so does the
//! average over several `b`. Every `m` for which it has reached that is ruled out as too low, at any time
//! (Waudby-Smith and Ramdas 2023). The upper bound is the same with `1 - X`. Constant bets make the capital a
//! function of the count of each observed value, so nothing else is stored.

use super::interval::{ScoreInterval, bisect};
use std::collections::BTreeMap;

/// Values are kept in steps of 2^-32, rounded to the safe side.
const UNIT: f64 = 4_294_967_296.0;
/// Bets: 0.9, 0.9/2, 0.9/4, ... Small ones win in the long run, large ones early.
const BETS: i32 = 12;

/// A confidence sequence for the mean of independent observations in 0 to 1 with a common mean.
#[derive(Debug, Clone)]
pub struct ConfidenceSequence {
    alpha: f64,
    /// Observations by value, for the lower bound.
    low: BTreeMap<u64, u64>,
    /// Observations by 1 - value, for the upper bound.
    high: BTreeMap<u64, u64>,
    sum: f64,
    count: u64,
    /// Intersection of all earlier bounds, which stay valid.
    best: ScoreInterval,
}

impl ConfidenceSequence {
    /// Creates bounds that all hold at any time, together with probability at least `1 - alpha`.
    pub fn new(alpha: f64) -> Self {
        ConfidenceSequence {
            alpha,
            low: BTreeMap::new(),
            high: BTreeMap::new(),
            sum: 0.0,
            count: 0,
            best: ScoreInterval::UNIT,
        }
    }

    /// Adds an observation, in 0 to 1.
    pub fn observe(&mut self, value: f64) {
        self.observe_between(value, value);
    }

    /// Takes an observation of which only bounds are known, `0 <= low <= high <= 1`.
    pub fn observe_between(&mut self, low: f64, high: f64) {
        let step = |x: f64| (x.clamp(0.0, 1.0) * UNIT).floor() as u64;
        *self.low.entry(step(low)).or_default() += 1;
        *self.high.entry(step(1.0 - high)).or_default() += 1;
        self.sum += 0.5 * (low + high);
        self.count += 1;
    }

    /// The mean of the observations; `None` before the first.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// Returns the number of observations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the current bounds, never wider than earlier ones.
    pub fn interval(&mut self) -> ScoreInterval {
        let threshold = (2.0 / self.alpha).ln();
        let bound =
            |values: &BTreeMap<u64, u64>| bisect(|m| m <= 0.0 || log_capital(values, m) >= threshold).0;
        self.best.low = self.best.low.max(bound(&self.low));
        self.best.high = self.best.high.min(1.0 - bound(&self.high));
        self.best
    }
}

/// The logarithm of the capital of betting on a mean above `m`, averaged over the bets.
fn log_capital(values: &BTreeMap<u64, u64>, m: f64) -> f64 {
    let logs = (0..BETS).map(|i| {
        let bet = 0.9 * 0.5f64.powi(i);
        let log = |x: u64| (bet * (x as f64 / UNIT / m - 1.0)).ln_1p();
        values.iter().map(|(&x, &n)| n as f64 * log(x)).sum::<f64>()
    });
    let logs: smallvec::SmallVec<[f64; BETS as usize]> = logs.collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + (logs.iter().map(|l| (l - most).exp()).sum::<f64>() / f64::from(BETS)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::interval::clopper_pearson;
    use planforge_pddl::random::Random;

    /// Returns the share of runs in which the truth is outside the bounds at least once, for the sequence and
    /// for the fixed-n interval computed repeatedly.
    fn ever_missed(p: f64, alpha: f64, runs: u32) -> (f64, f64) {
        let (mut sequence_missed, mut fixed_missed) = (0, 0);
        for run in 0..runs {
            let mut random = Random::stream(run.into(), (p * 1000.0) as u64);
            let mut sequence = ConfidenceSequence::new(alpha);
            let (mut successes, mut inside, mut fixed_inside) = (0, true, true);
            for n in 1..=400u64 {
                let success = random.unit() < p;
                successes += u64::from(success);
                sequence.observe(f64::from(u8::from(success)));
                if n % 10 == 0 {
                    inside &= sequence.interval().contains(p);
                    fixed_inside &= clopper_pearson(successes, n, alpha).contains(p);
                }
            }
            sequence_missed += u32::from(!inside);
            fixed_missed += u32::from(!fixed_inside);
        }
        (f64::from(sequence_missed) / f64::from(runs), f64::from(fixed_missed) / f64::from(runs))
    }

    #[test]
    fn optional_stopping_invalidates_a_fixed_interval_but_not_a_sequence() {
        for p in [0.5, 0.8] {
            let (sequence, fixed) = ever_missed(p, 0.1, 120);
            assert!(sequence <= 0.1, "{p}: {sequence}");
            assert!(fixed > 0.2, "{p}: {fixed}");
        }
    }

    #[test]
    fn bounds_converge_to_the_mean() {
        let mut random = Random::stream(3, 3);
        let mut sequence = ConfidenceSequence::new(0.05);
        assert_eq!(sequence.interval(), ScoreInterval::UNIT);
        let mut last = 1.0;
        for (rounds, width) in [(100, 0.36), (1000, 0.12), (10_000, 0.04)] {
            while sequence.count() < rounds {
                sequence.observe(if random.unit() < 0.7 { 1.0 } else { 0.0 });
            }
            let interval = sequence.interval();
            assert!(
                interval.contains(0.7) && interval.width() < width && interval.width() < last,
                "{interval:?}"
            );
            last = interval.width();
        }
    }

    #[test]
    fn unknown_observations_widen_the_bounds() {
        let (mut known, mut half) = (ConfidenceSequence::new(0.05), ConfidenceSequence::new(0.05));
        for i in 0..200 {
            known.observe(1.0);
            half.observe_between(if i % 2 == 0 { 0.0 } else { 1.0 }, 1.0);
        }
        assert!(known.interval().low > 0.95 && half.interval().low < 0.5 && half.interval().high == 1.0);
    }
}
