//! Confidence intervals of sampled one-sided scores, for a number of walks fixed beforehand.
//!
//! A one-sided score is a mean over strata (problem and walk length). With equally many walks in every
//! stratum the number of executable walks is a sum of independent Bernoulli variables whose mean probability
//! is the score. Hoeffding (1956) shows that the tails of such a sum are no heavier than the binomial's at
//! least 1 beyond the mean, so the Clopper-Pearson interval of the pooled counts is valid (and conservative).
//! At the two ends, where all but one walk agree, the union bound replaces that theorem and the level is
//! lowered from α/2 to 1 - exp(-α/2). With unequal strata the interval is Hoeffding's (1963) for the weighted
//! mean. Optional stopping invalidates these intervals: see [`ConfidenceSequence`]
//! for bounds that remain valid.
//!
//! # Confidence sequences
//!
//! A bettor stakes a share `b` of the capital on observations in 0 to 1 having a mean above `m`, which
//! multiplies the capital by `1 - b + b X/m` each time. If the mean is `m` the capital is a nonnegative
//! martingale, so by Ville's inequality it ever reaches `1/α` with probability at most `α`; so does the
//! average over several `b`. Every `m` for which it has reached that is ruled out as too low, at any time
//! (Waudby-Smith and Ramdas 2023). The upper bound is the same with `1 - X`. Constant bets make the capital a
//! function of the count of each observed value, so nothing else is stored.

use super::sample::DirectionSample;
use std::collections::BTreeMap;

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
fn bisect(below: impl Fn(f64) -> bool) -> (f64, f64) {
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

/// ln Γ(x) for x > 0 (Lanczos, g = 7; relative error below 1e-14).
fn ln_gamma(x: f64) -> f64 {
    const G: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = G.iter().enumerate().skip(1).fold(G[0], |sum, (i, g)| sum + g / (x + i as f64));
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// I_x(a, b) for a, b > 0 and x in 0 to 1 (continued fraction, Lentz's method).
fn incomplete(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // The fraction converges fast below the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    front * fraction(a, b, x) / a
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MOST: u32 = 1_000_000;
    let guard = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..MOST {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = value;
        for term in [even, odd] {
            d = 1.0 / guard(1.0 + term * d);
            c = guard(1.0 + term / c);
            value *= c * d;
        }
        if (value - before).abs() <= 1e-15 * value.abs() {
            break;
        }
    }
    value
}

/// Returns the probability of at least `k` successes among `n` trials of probability `p`.
fn binomial_at_least(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        1.0
    } else if k > n {
        0.0
    } else {
        incomplete(k as f64, (n - k + 1) as f64, p)
    }
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

    /// By summing the terms.
    fn slow(k: u64, n: u64, p: f64) -> f64 {
        let term = |i: u64| {
            let choose: f64 = (0..i).map(|j| (n - j) as f64 / (i - j) as f64).product();
            choose * p.powi(i as i32) * (1.0 - p).powi((n - i) as i32)
        };
        (k..=n).map(term).sum()
    }

    #[test]
    fn tails_equal_the_sum_of_their_terms() {
        for n in [1, 2, 7, 40] {
            for k in 0..=n {
                for p in [0.001, 0.2, 0.5, 0.77, 0.999] {
                    let (fast, slow) = (binomial_at_least(k, n, p), slow(k, n, p));
                    assert!((fast - slow).abs() < 1e-12, "{k} {n} {p}: {fast} {slow}");
                }
            }
        }
    }

    #[test]
    fn the_tail_of_a_million_trials_is_computed() {
        // By symmetry the probability of at least half + 1/2 is 1/2 for an odd number of fair trials.
        let half = binomial_at_least(500_001, 1_000_001, 0.5);
        assert!((half - 0.5).abs() < 1e-7, "{half}");
    }

    #[test]
    fn gamma_of_small_integers_is_the_factorial() {
        for (x, factorial) in [(1.0, 1.0f64), (2.0, 1.0), (5.0, 24.0), (11.0, 3_628_800.0)] {
            assert!((ln_gamma(x) - factorial.ln()).abs() < 1e-12);
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-13);
    }
}
