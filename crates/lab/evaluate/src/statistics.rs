//! Means with standard errors, confidence intervals, rank correlation, tests of pairs, and estimators of the best of k samples. Random
//! parts are seeded.

use planforge_pddl::random::Random;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::factorial::ln_binomial;

/// A mean and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// Number of values.
    pub n: usize,
    /// Their arithmetic mean.
    pub mean: f64,
    /// Its standard error: the sample standard deviation (with n - 1) over the square root of n; absent for one value.
    pub standard_error: Option<f64>,
}

/// The mean of some values; nothing where there are none.
pub fn mean(values: &[f64]) -> Option<Mean> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let standard_error = (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt());
    Some(Mean { n: values.len(), mean, standard_error })
}

/// The sample variance (with n - 1); nothing for fewer than two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = mean(values)?.mean;
    (values.len() > 1).then(|| values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Wilson's score interval of a share (Wilson 1927): sound for few trials and for shares near 0 and 1. `confidence` lies
/// strictly between 0 and 1. Nothing is known without a trial: 0 to 1.
pub fn wilson(successes: u64, trials: u64, confidence: f64) -> Interval {
    if trials == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    share_interval(successes.min(trials) as f64 / trials as f64, trials as f64, confidence)
}

/// Wilson's score interval of a share that need not be a whole number of successes: the mean of `n` trials that each have a value
/// from 0 to 1. As such a trial varies less than one that is 0 or 1, the interval is wide rather than narrow.
pub fn share_interval(share: f64, n: f64, confidence: f64) -> Interval {
    if n <= 0.0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let z = Normal::standard().inverse_cdf(0.5 + confidence.clamp(0.0, 1.0) / 2.0);
    let z2 = z * z;
    let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = z / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends the exact value is 0 or 1; rounding would put a shadow beside it.
    let low = if share <= 0.0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if share >= 1.0 { 1.0 } else { (centre + half).min(1.0) };
    Interval { low, high }
}

/// The percentile bootstrap of a mean; for paired samples pass the differences. Absent for no values.
pub fn bootstrap_mean(values: &[f64], confidence: f64, resamples: usize, seed: u64) -> Option<Interval> {
    bootstrap(values, confidence, resamples, seed, |sample| sample.iter().sum::<f64>() / sample.len() as f64)
}

/// The percentile bootstrap of any figure of a sample: `resamples` samples of the same size are drawn with
/// replacement. Absent for no values or no resamples.
pub fn bootstrap<T: Clone>(
    values: &[T],
    confidence: f64,
    resamples: usize,
    seed: u64,
    figure: impl Fn(&[T]) -> f64,
) -> Option<Interval> {
    if values.is_empty() || resamples == 0 {
        return None;
    }
    let mut sample = Vec::with_capacity(values.len());
    let mut figures: Vec<f64> = (0..resamples)
        .map(|index| {
            let mut random = Random::stream(seed, index as u64);
            sample.clear();
            sample.extend(values.iter().filter_map(|_| random.pick(values).cloned()));
            figure(&sample)
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
    Some(Interval { low: quantile(&figures, tail), high: quantile(&figures, 1.0 - tail) })
}

/// Linear between the two nearest of sorted values.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// McNemar's test of pairs of yes and no, from the pairs in which the two differ alone; both p-values are two-sided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct McNemar {
    /// Pairs in which the first alone is a yes.
    pub only_first: u64,
    /// Pairs in which the second alone is a yes.
    pub only_second: u64,
    /// The exact conditional p-value: binomial with probability 1/2. 1 where no pair differs.
    pub exact: f64,
    /// The mid-p value (Fagerland, Lydersen and Laake 2013): outcomes exactly as far from even count by half.
    /// It rejects a true hypothesis about as often as stated, whereas the exact value rejects less often.
    pub mid_p: f64,
}

/// McNemar's test (McNemar 1947), exactly.
pub fn mcnemar(only_first: u64, only_second: u64) -> McNemar {
    let (n, fewer) = (only_first + only_second, only_first.min(only_second));
    let exact = sign_test(only_first, only_second);
    let at = probability(n, fewer);
    // Half of what is as extreme: both ends, which are one and the same where the counts are even.
    let mid_p = if only_first == only_second { exact - at / 2.0 } else { exact - at };
    let mid_p = if n == 0 { 1.0 } else { mid_p.clamp(0.0, 1.0) };
    McNemar { only_first, only_second, exact, mid_p }
}

/// The two-sided exact sign test: the probability of counts as uneven as these, or more so, where both signs are equally likely. Ties are
/// left out beforehand. 1 without a count.
pub fn sign_test(plus: u64, minus: u64) -> f64 {
    if plus == minus {
        return 1.0;
    }
    let (n, fewer) = (plus + minus, plus.min(minus));
    let tail: f64 = (0..=fewer).map(|count| probability(n, count)).sum();
    (2.0 * tail).min(1.0)
}

/// The probability of so many heads of n fair coins.
fn probability(n: u64, heads: u64) -> f64 {
    (ln_binomial(n, heads) - n as f64 * std::f64::consts::LN_2).exp()
}

/// The exact two-sided sign-flip test (Fisher's randomisation test for pairs): the probability that the sum of the differences is as far
/// from 0 as it is, or further, where each difference is as likely to have the other sign. A difference may be that of several trials
/// which belong together, so that these need not be independent of each other. Where every difference is -1, 0 or 1 this is McNemar's exact
/// test. Time grows with the number of differences times the sum of their sizes.
pub fn sign_flip(differences: &[i64]) -> f64 {
    let sizes: Vec<usize> =
        differences.iter().map(|d| d.unsigned_abs() as usize).filter(|d| *d > 0).collect();
    let reach: usize = sizes.iter().sum();
    let observed = differences.iter().sum::<i64>().unsigned_abs() as usize;
    if observed == 0 {
        return 1.0;
    }
    // chances[i] is that of the sum i - reach.
    let mut chances = vec![0.0_f64; 2 * reach + 1];
    chances[reach] = 1.0;
    let mut now = 0;
    for size in sizes {
        let mut next = vec![0.0_f64; chances.len()];
        for at in reach - now..=reach + now {
            next[at - size] += chances[at] / 2.0;
            next[at + size] += chances[at] / 2.0;
        }
        now += size;
        chances = next;
    }
    let tail: f64 = chances[..=reach - observed].iter().sum();
    (2.0 * tail).min(1.0)
}

/// Pairs of yes and no.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    /// Both are a yes.
    pub both: u64,
    /// The first alone is.
    pub only_first: u64,
    /// The second alone is.
    pub only_second: u64,
    pub neither: u64,
}

impl Pairs {
    pub const fn total(&self) -> u64 {
        self.both + self.only_first + self.only_second + self.neither
    }

    /// The share of yes of the second less that of the first; nothing without a pair.
    pub fn difference(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| (self.only_second as f64 - self.only_first as f64) / total as f64)
    }

    /// An interval of [`Pairs::difference`]: Newcombe's method 10 (Newcombe 1998, Statistics in Medicine 17, 2635), from Wilson's intervals of
    /// both shares and their correlation with a continuity correction. Pairs count as independent. Nothing without a pair.
    pub fn difference_interval(&self, confidence: f64) -> Option<Interval> {
        let difference = self.difference()?;
        let n = self.total();
        let (first, second) = (self.both + self.only_first, self.both + self.only_second);
        let (p1, p2) = (first as f64 / n as f64, second as f64 / n as f64);
        let (w1, w2) = (wilson(first, n, confidence), wilson(second, n, confidence));
        let phi = self.correlation();
        let root = |x: f64, y: f64| (x * x - 2.0 * phi * x * y + y * y).max(0.0).sqrt();
        Some(Interval {
            low: (difference - root(p2 - w2.low, w1.high - p1)).max(-1.0),
            high: (difference + root(w2.high - p2, p1 - w1.low)).min(1.0),
        })
    }

    /// Method 10's phi: 0 where a margin is empty.
    fn correlation(&self) -> f64 {
        let [a, b, c, d] = [self.both, self.only_first, self.only_second, self.neither].map(|x| x as f64);
        let margins = (a + b) * (c + d) * (a + c) * (b + d);
        if margins <= 0.0 {
            return 0.0;
        }
        let apart = a * d - b * c;
        let corrected = if apart > 0.0 { (apart - self.total() as f64 / 2.0).max(0.0) } else { apart };
        corrected / margins.sqrt()
    }
}

/// Holm's step-down correction (Holm 1979): p-values that hold for all hypotheses together, in the order given, never below the raw ones.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut adjusted = vec![0.0; values.len()];
    let mut most: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        most = most.max((values.len() - rank) as f64 * values[at]).min(1.0);
        adjusted[at] = most;
    }
    adjusted
}

/// Pass@k (Chen et al. 2021, Eq. 1): the probability that at least one of k samples drawn without replacement from n, of which `right` are
/// right, is right: 1 - C(n - right, k) / C(n, k), as a product that no binomial coefficient overflows. Nothing where k is 0 or above n, or
/// more are right than there are.
pub fn pass_at_k(n: usize, right: usize, k: usize) -> Option<f64> {
    if k == 0 || k > n || right > n {
        return None;
    }
    if n - right < k {
        return Some(1.0);
    }
    let none: f64 = (n - right + 1..=n).map(|i| 1.0 - k as f64 / i as f64).product();
    Some(1.0 - none)
}

/// Best@k: the expected largest of k values drawn without replacement from these. The i-th smallest is the largest of C(i - 1, k - 1) of the
/// C(n, k) draws. Nothing where k is 0 or above n.
pub fn best_at_k(values: &[f64], k: usize) -> Option<f64> {
    let n = values.len();
    if k == 0 || k > n {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut weight = k as f64 / n as f64;
    let mut expected = 0.0;
    for rank in (k..=n).rev() {
        expected += weight * sorted[rank - 1];
        if rank > k {
            weight *= (rank - k) as f64 / (rank - 1) as f64;
        }
    }
    Some(expected)
}

/// Both rank correlations of the same pairs. Absent where they are not defined: fewer than two pairs, or one side constant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// Spearman's rho: Pearson's correlation of the ranks, ties ranked in the middle.
    pub spearman: Option<f64>,
    /// Kendall's tau-b, which accounts for ties.
    pub kendall: Option<f64>,
}

/// Both coefficients of `(x, y)` pairs.
pub fn correlation(pairs: &[(f64, f64)]) -> Correlation {
    Correlation { spearman: spearman(pairs), kendall: kendall(pairs) }
}

/// Spearman's rho, -1 to 1.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let xs = ranks(pairs.iter().map(|p| p.0).collect());
    let ys = ranks(pairs.iter().map(|p| p.1).collect());
    pearson(&xs, &ys)
}

/// Kendall's tau-b, -1 to 1. Quadratic in the number of pairs.
pub fn kendall(pairs: &[(f64, f64)]) -> Option<f64> {
    let (mut agree, mut tied_x, mut tied_y) = (0_i64, 0_i64, 0_i64);
    for (i, a) in pairs.iter().enumerate() {
        for b in &pairs[..i] {
            let (x, y) = (a.0.total_cmp(&b.0) as i64, a.1.total_cmp(&b.1) as i64);
            agree += x * y;
            tied_x += i64::from(x == 0);
            tied_y += i64::from(y == 0);
        }
    }
    let all = (pairs.len() as i64) * (pairs.len() as i64 - 1) / 2;
    let scale = ((all - tied_x) as f64 * (all - tied_y) as f64).sqrt();
    (scale > 0.0).then(|| (agree as f64 / scale).clamp(-1.0, 1.0))
}

/// Ranks from 1; equal values share the middle of their ranks.
fn ranks(values: Vec<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let same = order[start..].iter().take_while(|&&i| values[i] == values[order[start]]).count().max(1);
        for &index in &order[start..start + same] {
            ranks[index] = (2 * start + same + 1) as f64 / 2.0;
        }
        start += same;
    }
    ranks
}

fn pearson(xs: &[f64], ys: &[f64]) -> Option<f64> {
    let n = xs.len() as f64;
    let (mean_x, mean_y) = (xs.iter().sum::<f64>() / n, ys.iter().sum::<f64>() / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in xs.iter().zip(ys) {
        xy += (x - mean_x) * (y - mean_y);
        xx += (x - mean_x).powi(2);
        yy += (y - mean_y).powi(2);
    }
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mean_has_its_standard_error() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[2.0]).unwrap().standard_error, None);
        let four = mean(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((four.n, four.mean), (4, 2.5));
        // Variance 5/3, over 4.
        assert!((four.standard_error.unwrap() - (5.0_f64 / 12.0).sqrt()).abs() < 1e-12);
        assert!((variance(&[1.0, 2.0, 3.0, 4.0]).unwrap() - 5.0 / 3.0).abs() < 1e-12);
        assert_eq!((variance(&[1.0]), variance(&[]), variance(&[2.0, 2.0])), (None, None, Some(0.0)));
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-4
    }

    #[test]
    fn wilson_gives_the_published_figures() {
        // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29 at 95 %.
        for (successes, trials, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = wilson(successes, trials, 0.95);
            assert!(
                close(interval.low, low) && close(interval.high, high),
                "{successes}/{trials}: {interval:?}"
            );
        }
        assert_eq!(wilson(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
        assert_eq!(wilson(7, 7, 0.95).high, 1.0);
    }

    #[test]
    fn the_bootstrap_is_seeded_and_near_the_normal_interval() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 10)).collect();
        let interval = bootstrap_mean(&values, 0.95, 2000, 7).unwrap();
        assert_eq!(bootstrap_mean(&values, 0.95, 2000, 7), Some(interval));
        assert_ne!(bootstrap_mean(&values, 0.95, 2000, 8), Some(interval));
        // Mean 4.5, standard error sqrt(8.29 / 200) = 0.2036.
        assert!((interval.low - (4.5 - 1.96 * 0.2036)).abs() < 0.06, "{interval:?}");
        assert!((interval.high - (4.5 + 1.96 * 0.2036)).abs() < 0.06, "{interval:?}");
        assert_eq!(bootstrap_mean(&[], 0.95, 10, 1), None);
        assert_eq!(bootstrap_mean(&[3.0], 0.95, 10, 1), Some(Interval { low: 3.0, high: 3.0 }));
    }

    fn near(found: f64, right: f64, by: f64) -> bool {
        (found - right).abs() < by
    }

    #[test]
    fn mcnemar_gives_the_published_figures() {
        // Airway hyper-responsiveness before and after stem cell transplantation (Bentur et al. 2009), as worked in Fagerland, Lydersen
        // and Laake 2013 (BMC Medical Research Methodology 13:91): 1 and 7 discordant pairs, exact 0.070, mid-p 0.039.
        let airway = mcnemar(1, 7);
        assert!(near(airway.exact, 0.0703, 5e-5) && near(airway.mid_p, 0.0391, 5e-5), "{airway:?}");
        // Two media for culturing tubercle bacilli (Armitage and Berry 1994, p. 127): 12 and 2, exact 0.0129.
        assert!(near(mcnemar(12, 2).exact, 0.0129, 5e-5));
        assert_eq!((mcnemar(0, 0).exact, mcnemar(0, 0).mid_p), (1.0, 1.0));
        // Even counts: 1 less half of C(4, 2) / 16.
        assert!(near(mcnemar(2, 2).mid_p, 1.0 - 3.0 / 16.0, 1e-12));
        // Beyond what 2^-n can hold as a float.
        assert!(near(mcnemar(1000, 1000).exact, 1.0, 1e-9) && mcnemar(700, 1300).exact < 1e-30);
    }

    #[test]
    fn the_interval_of_a_paired_difference_gives_the_published_figures() {
        // The two media again: 20 both, 12 and 2, 16 neither. StatsDirect prints Newcombe's interval as 0.0562 to 0.3292 of the first
        // less the second.
        let media = Pairs { both: 20, only_first: 12, only_second: 2, neither: 16 };
        let interval = media.difference_interval(0.95).unwrap();
        assert!(near(interval.low, -0.3292, 5e-5) && near(interval.high, -0.0562, 5e-5), "{interval:?}");
        // Airway hyper-responsiveness: 2 of 21 before, 8 of 21 after; -0.507 to -0.026 in Fagerland, Lydersen and Laake 2014 (Statistics in
        // Medicine 33, 2850), as before less after.
        let airway = Pairs { both: 1, only_first: 1, only_second: 7, neither: 12 };
        let interval = airway.difference_interval(0.95).unwrap();
        assert!(near(interval.low, 0.026, 5e-4) && near(interval.high, 0.507, 5e-4), "{interval:?}");
        assert_eq!(Pairs::default().difference_interval(0.95), None);
        let same = Pairs { both: 5, ..Pairs::default() }.difference_interval(0.95).unwrap();
        assert!(same.low < 0.0 && same.high > 0.0, "five pairs do not show that nothing differs: {same:?}");
    }

    #[test]
    fn holm_gives_the_decisions_of_a_known_example() {
        // The example of the encyclopaedia's article on the method: at 0.05 the fourth and the first are rejected, the others not. The
        // smallest is multiplied by 4, the next by 3, and values never fall.
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.7, 0.9]), [1.0, 1.0]);
    }

    /// Every way in which the signs can fall.
    fn flips(differences: &[i64]) -> f64 {
        let observed = differences.iter().sum::<i64>().abs();
        let ways = 1_u32 << differences.len();
        let extreme = (0..ways).filter(|way| {
            let signed = differences.iter().enumerate().map(|(i, d)| if way >> i & 1 == 1 { -d } else { *d });
            signed.sum::<i64>().abs() >= observed
        });
        extreme.count() as f64 / f64::from(ways)
    }

    proptest! {
        #[test]
        fn tests_are_those_of_every_way_the_signs_can_fall(differences in prop::collection::vec(-3_i64..=3, 0..11)) {
            prop_assert!(near(sign_flip(&differences), flips(&differences), 1e-12));
            let (plus, minus) = (
                differences.iter().filter(|d| **d > 0).count() as u64,
                differences.iter().filter(|d| **d < 0).count() as u64,
            );
            let ones: Vec<i64> = differences.iter().map(|d| d.signum()).collect();
            let found = mcnemar(plus, minus);
            prop_assert!(near(found.exact, flips(&ones), 1e-12));
            prop_assert!(near(found.exact, sign_flip(&ones), 1e-12));
            // Half of those that are exactly as far from even counts.
            let n = (plus + minus) as i32;
            let far = (plus as i64 - minus as i64).abs();
            let as_far: u64 = (0_u32..1 << n)
                .filter(|way| (2 * i64::from(way.count_ones()) - i64::from(n)).abs() == far)
                .count() as u64;
            let mid = if n == 0 { 1.0 } else { found.exact - as_far as f64 / 2.0_f64.powi(n) / 2.0 };
            prop_assert!(near(found.mid_p, mid, 1e-12), "{} {}", found.mid_p, mid);
        }

        #[test]
        fn exchanging_the_sides_changes_signs_alone(both in 0_u64..30, first in 0_u64..30, second in 0_u64..30, neither in 0_u64..30) {
            let pairs = Pairs { both, only_first: first, only_second: second, neither };
            let other = Pairs { only_first: second, only_second: first, ..pairs };
            prop_assert_eq!(mcnemar(first, second).exact, mcnemar(second, first).exact);
            prop_assert_eq!(mcnemar(first, second).mid_p, mcnemar(second, first).mid_p);
            if let (Some(one), Some(mirrored)) = (pairs.difference_interval(0.95), other.difference_interval(0.95)) {
                prop_assert!(near(one.low, -mirrored.high, 1e-12) && near(one.high, -mirrored.low, 1e-12));
                let difference = pairs.difference().unwrap();
                prop_assert!(one.low <= difference + 1e-12 && difference <= one.high + 1e-12);
            }
        }

        #[test]
        fn a_correction_keeps_the_order_and_only_raises(values in prop::collection::vec(0.0_f64..=1.0, 0..8)) {
            let adjusted = holm(&values);
            for (i, a) in values.iter().enumerate() {
                prop_assert!(adjusted[i] >= *a && adjusted[i] <= 1.0);
                // As defined: the largest of (m - j + 1) p_(j) over those that are no larger.
                let smaller = |x: f64| values.iter().filter(|v| **v < x).count();
                let right = values.iter().filter(|v| *v <= a).fold(0.0_f64, |m, v| m.max((values.len() - smaller(*v)) as f64 * v));
                prop_assert!(near(adjusted[i], right.min(1.0), 1e-12));
                for (j, b) in values.iter().enumerate() {
                    prop_assert!(a > b || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }

    /// The mean of a figure over every choice of k of the values.
    fn over_choices(values: &[f64], k: usize, figure: impl Fn(&[f64]) -> f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for way in 0_u32..1 << values.len() {
            if way.count_ones() as usize == k {
                let chosen: Vec<f64> =
                    values.iter().enumerate().filter(|(i, _)| way >> i & 1 == 1).map(|(_, v)| *v).collect();
                sum += figure(&chosen);
                count += 1;
            }
        }
        sum / f64::from(count)
    }

    #[test]
    fn rank_statistics_agree_with_figures_worked_by_hand() {
        // 1 - C(7, 5) / C(10, 5) = 1 - 21 / 252.
        assert!((pass_at_k(10, 3, 5).unwrap() - 11.0 / 12.0).abs() < 1e-12);
        // Pass@1 is the share of right samples.
        assert!((pass_at_k(200, 37, 1).unwrap() - 0.185).abs() < 1e-12);
        assert_eq!(
            (pass_at_k(5, 0, 5), pass_at_k(5, 1, 5), pass_at_k(5, 2, 4)),
            (Some(0.0), Some(1.0), Some(1.0))
        );
        assert_eq!((pass_at_k(5, 2, 0), pass_at_k(5, 2, 6), pass_at_k(5, 6, 1)), (None, None, None));
        // Coefficients of this size overflow every float.
        let many = pass_at_k(100_000, 10, 50_000).unwrap();
        assert!((many - (1.0 - 0.5_f64.powi(10))).abs() < 1e-5, "{many}");
        // Pairs of 1, 2, 4 have the maxima 2, 4, 4.
        assert!((best_at_k(&[4.0, 1.0, 2.0], 2).unwrap() - 10.0 / 3.0).abs() < 1e-12);
        assert_eq!(
            (best_at_k(&[1.0], 2), best_at_k(&[], 1), best_at_k(&[3.0, 7.0], 2)),
            (None, None, Some(7.0))
        );
    }

    proptest! {
        #[test]
        fn estimates_are_the_means_over_every_choice(values in prop::collection::vec(-2.0_f64..2.0, 1..9), k in 1_usize..9) {
            prop_assume!(k <= values.len());
            let best = over_choices(&values, k, |chosen| chosen.iter().copied().fold(f64::MIN, f64::max));
            prop_assert!((best_at_k(&values, k).unwrap() - best).abs() < 1e-12);
            let marks: Vec<f64> = values.iter().map(|v| f64::from(u8::from(*v > 0.5))).collect();
            let right = marks.iter().filter(|m| **m > 0.0).count();
            let any = over_choices(&marks, k, |chosen| chosen.iter().copied().fold(0.0, f64::max));
            prop_assert!((pass_at_k(values.len(), right, k).unwrap() - any).abs() < 1e-12);
            // Pass@k is Best@k of right and wrong.
            prop_assert!((best_at_k(&marks, k).unwrap() - any).abs() < 1e-12);
        }
    }

    fn found_near(found: Option<f64>, right: f64) -> bool {
        found.is_some_and(|f| (f - right).abs() < 1e-9)
    }

    #[test]
    fn coefficients_agree_with_figures_worked_by_hand() {
        let falling = [(1.0, 9.0), (2.0, 5.0), (3.0, 4.0), (4.0, 0.0)];
        assert!(found_near(spearman(&falling), -1.0) && found_near(kendall(&falling), -1.0));
        // Ranks 1 2 3 4 5 against 2 1 4 3 5: sum of squared differences 4, so rho = 1 - 24/120; 8 pairs agree, 2 do not.
        let mixed = [(1.0, 20.0), (2.0, 10.0), (3.0, 40.0), (4.0, 30.0), (5.0, 50.0)];
        assert!(found_near(spearman(&mixed), 0.8) && found_near(kendall(&mixed), 0.6));
        // Ties: x ranks 1.5 1.5 3.5 3.5, y ranks 1 2.5 2.5 4.
        let tied = [(0.0, 1.0), (0.0, 2.0), (1.0, 2.0), (1.0, 3.0)];
        assert!(found_near(kendall(&tied), 3.0 / 20.0_f64.sqrt()), "{:?}", kendall(&tied));
        assert!(found_near(spearman(&tied), 3.0 / (4.0_f64 * 4.5).sqrt()), "{:?}", spearman(&tied));
    }

    #[test]
    fn undefined_statistics_are_absent() {
        for pairs in [&[][..], &[(1.0, 1.0)], &[(1.0, 2.0), (1.0, 3.0)], &[(1.0, 2.0), (2.0, 2.0)]] {
            assert_eq!(correlation(pairs), Correlation::default(), "{pairs:?}");
        }
    }
}
