//! Rank correlation: Spearman's rho and Kendall's tau-b, both with ties.

use serde::{Deserialize, Serialize};

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

    fn near(found: Option<f64>, right: f64) -> bool {
        found.is_some_and(|f| (f - right).abs() < 1e-9)
    }

    #[test]
    fn coefficients_agree_with_figures_worked_by_hand() {
        let falling = [(1.0, 9.0), (2.0, 5.0), (3.0, 4.0), (4.0, 0.0)];
        assert!(near(spearman(&falling), -1.0) && near(kendall(&falling), -1.0));
        // Ranks 1 2 3 4 5 against 2 1 4 3 5: sum of squared differences 4, so rho = 1 - 24/120; 8 pairs agree, 2 do not.
        let mixed = [(1.0, 20.0), (2.0, 10.0), (3.0, 40.0), (4.0, 30.0), (5.0, 50.0)];
        assert!(near(spearman(&mixed), 0.8) && near(kendall(&mixed), 0.6));
        // Ties: x ranks 1.5 1.5 3.5 3.5, y ranks 1 2.5 2.5 4.
        let tied = [(0.0, 1.0), (0.0, 2.0), (1.0, 2.0), (1.0, 3.0)];
        assert!(near(kendall(&tied), 3.0 / 20.0_f64.sqrt()), "{:?}", kendall(&tied));
        assert!(near(spearman(&tied), 3.0 / (4.0_f64 * 4.5).sqrt()), "{:?}", spearman(&tied));
    }

    #[test]
    fn undefined_statistics_are_absent() {
        for pairs in [&[][..], &[(1.0, 1.0)], &[(1.0, 2.0), (1.0, 3.0)], &[(1.0, 2.0), (2.0, 2.0)]] {
            assert_eq!(correlation(pairs), Correlation::default(), "{pairs:?}");
        }
    }
}
