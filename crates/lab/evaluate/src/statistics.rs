//! Means with standard errors, confidence intervals, rank correlation, agreement beyond chance, tests of
//! pairs, and estimators of the best of k samples. Random parts are seeded.

mod agreement;
mod at_k;
mod interval;
mod paired;
mod rank;

pub use agreement::Confusion;
pub use at_k::{best_at_k, pass_at_k};
pub use interval::{Interval, bootstrap, bootstrap_mean, share_interval, wilson};
pub use paired::{McNemar, Pairs, holm, mcnemar, sign_flip, sign_test};
pub use rank::{Correlation, correlation, kendall, spearman};

use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
