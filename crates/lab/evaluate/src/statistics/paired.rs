//! Two methods on the same trials: exact tests of McNemar's kind, an interval of the paired difference, and Holm's correction.

use super::interval::{Interval, wilson};
use serde::{Deserialize, Serialize};
use statrs::function::factorial::ln_binomial;

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
}
