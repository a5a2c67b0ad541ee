//! Unbiased estimators for the best of k samples from n of them, without drawing.

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
}
