//! Confidence intervals: Wilson's for a share, the percentile bootstrap for anything else.

use planforge_pddl::random::Random;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

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

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
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
                near(interval.low, low) && near(interval.high, high),
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
}
