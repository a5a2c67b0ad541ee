//! The regularised incomplete beta function, for binomial tails.

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
pub(crate) fn incomplete(a: f64, b: f64, x: f64) -> f64 {
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
pub(crate) fn binomial_at_least(k: u64, n: u64, p: f64) -> f64 {
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
