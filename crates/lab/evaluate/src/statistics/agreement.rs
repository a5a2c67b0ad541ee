//! Agreement of a judge with the truth beyond chance: Cohen's kappa, for two classes.

use super::interval::{Interval, wilson};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// Verdicts of a judge against the truth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    pub good_accepted: u64,
    pub good_rejected: u64,
    pub bad_accepted: u64,
    pub bad_rejected: u64,
}

impl Confusion {
    /// Verdicts in all.
    pub fn total(&self) -> u64 {
        self.good_accepted + self.good_rejected + self.bad_accepted + self.bad_rejected
    }

    /// Cohen's kappa (Cohen 1960): (p_o - p_e) / (1 - p_e), where p_o is the share of right verdicts and p_e the share that a judge without
    /// knowledge, who accepts as often, would get right on average. 1 is full agreement, 0 no more than chance. `None` without a
    /// verdict, and where chance alone gets everything right: there is one class, and the judge gives its verdict always.
    pub fn kappa(&self) -> Option<f64> {
        let shares = self.shares()?;
        (shares.chance < 1.0).then(|| (shares.right - shares.chance) / (1.0 - shares.chance))
    }

    /// An interval of kappa at that confidence: with the standard error for large samples (Fleiss, Cohen and Everitt 1969) and, where
    /// every verdict is right, so that this error is 0, from Wilson's interval of the share of right verdicts, p_e being held. Verdicts
    /// count as independent, which mutants of one domain are only in part.
    pub fn kappa_interval(&self, confidence: f64) -> Option<Interval> {
        let kappa = self.kappa()?;
        let shares = self.shares()?;
        if self.good_rejected + self.bad_accepted == 0 {
            let right = wilson(self.total(), self.total(), confidence);
            let low = (right.low - shares.chance) / (1.0 - shares.chance);
            return Some(Interval { low: low.max(-1.0), high: 1.0 });
        }
        let z = Normal::standard().inverse_cdf(0.5 + confidence.clamp(0.0, 1.0) / 2.0);
        let half = z * self.standard_error(kappa, &shares);
        Some(Interval { low: (kappa - half).max(-1.0), high: (kappa + half).min(1.0) })
    }

    fn standard_error(&self, kappa: f64, shares: &Shares) -> f64 {
        let (cells, row, column) = (&shares.cells, &shares.truth, &shares.verdict);
        let apart = 1.0 - kappa;
        let mut sum = 0.0;
        for i in 0..2 {
            for j in 0..2 {
                let weight = match i == j {
                    true => (1.0 - (row[i] + column[i]) * apart).powi(2),
                    // The marginals the other way round, as published.
                    false => (apart * (column[i] + row[j])).powi(2),
                };
                sum += cells[i][j] * weight;
            }
        }
        let variance = (sum - (kappa - shares.chance * apart).powi(2))
            / (self.total() as f64 * (1.0 - shares.chance).powi(2));
        variance.max(0.0).sqrt()
    }

    fn shares(&self) -> Option<Shares> {
        let total = self.total() as f64;
        if self.total() == 0 {
            return None;
        }
        let cells = [[self.good_accepted, self.good_rejected], [self.bad_accepted, self.bad_rejected]]
            .map(|row| row.map(|count| count as f64 / total));
        let truth = cells.map(|row| row[0] + row[1]);
        let verdict = [0, 1].map(|j: usize| cells[0][j] + cells[1][j]);
        let chance = truth[0] * verdict[0] + truth[1] * verdict[1];
        Some(Shares { right: cells[0][0] + cells[1][1], chance, cells, truth, verdict })
    }
}

/// The counts as shares of all verdicts.
struct Shares {
    right: f64,
    chance: f64,
    cells: [[f64; 2]; 2],
    truth: [f64; 2],
    verdict: [f64; 2],
}

#[cfg(test)]
mod tests {
    use super::super::interval::bootstrap;
    use super::*;

    fn of(good_accepted: u64, good_rejected: u64, bad_accepted: u64, bad_rejected: u64) -> Confusion {
        Confusion { good_accepted, good_rejected, bad_accepted, bad_rejected }
    }

    #[test]
    fn kappa_agrees_with_figures_worked_by_hand() {
        // Right: 35 of 50; by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
        assert!((of(20, 5, 10, 15).kappa().unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(of(10, 0, 0, 30).kappa(), Some(1.0));
        assert_eq!(of(0, 25, 25, 0).kappa(), Some(-1.0));
        // One who accepts everything agrees no more than chance.
        assert_eq!(of(25, 0, 25, 0).kappa(), Some(0.0));
        assert_eq!(of(25, 0, 25, 0).kappa_interval(0.95), Some(Interval { low: 0.0, high: 0.0 }));
        assert_eq!((of(7, 0, 0, 0).kappa(), of(0, 0, 0, 0).kappa_interval(0.95)), (None, None));
    }

    #[test]
    fn the_interval_is_that_of_the_bootstrap() {
        for counts in [of(200, 50, 100, 150), of(300, 20, 90, 90), of(40, 260, 15, 185)] {
            let interval = counts.kappa_interval(0.95).unwrap();
            let repeat = |n: u64, pair: (bool, bool)| vec![pair; n as usize];
            let verdicts = [
                repeat(counts.good_accepted, (true, true)),
                repeat(counts.good_rejected, (true, false)),
                repeat(counts.bad_accepted, (false, true)),
                repeat(counts.bad_rejected, (false, false)),
            ]
            .concat();
            let kappa = |sample: &[(bool, bool)]| {
                let count = |pair| sample.iter().filter(|s| **s == pair).count() as u64;
                let own = of(
                    count((true, true)),
                    count((true, false)),
                    count((false, true)),
                    count((false, false)),
                );
                own.kappa().unwrap()
            };
            let other = bootstrap(&verdicts, 0.95, 1000, 1, kappa).unwrap();
            assert!((interval.low - other.low).abs() < 0.015, "{interval:?} {other:?}");
            assert!((interval.high - other.high).abs() < 0.015, "{interval:?} {other:?}");
        }
    }

    #[test]
    fn full_agreement_on_few_cases_has_a_wide_interval() {
        let few = of(5, 0, 0, 5).kappa_interval(0.95).unwrap();
        let many = of(500, 0, 0, 500).kappa_interval(0.95).unwrap();
        assert!(few.low < 0.5 && few.high == 1.0 && many.low > 0.99, "{few:?} {many:?}");
    }
}
