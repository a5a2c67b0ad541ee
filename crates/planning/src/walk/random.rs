//! The random choices of walks: a fixed algorithm, so that a seed means the same walks on every machine and in every
//! version.

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The generator of one walk: independent of how many walks are drawn beside it.
    pub fn of_walk(seed: u64, walk: u64) -> Self {
        let mut mixed = Self { state: seed };
        let base = mixed.next_u64();
        Self { state: base ^ walk.wrapping_mul(0xD1B5_4A32_D192_ED03) }
    }

    /// Uniform over all 64-bit numbers.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `0..n`, without the bias of a remainder; 0 for `n` of 0 or 1.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n.max(1) as u64;
        // Values under `threshold` would make the low results likelier: drawn again.
        let threshold = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(n);
            if wide as u64 >= threshold {
                return (wide >> 64) as usize;
            }
        }
    }

    /// Uniform in `[0, 1)`, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_draws_of_seed_zero_stay_what_they_are() {
        let mut r = Random { state: 0 };
        assert_eq!([r.next_u64(), r.next_u64()], [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
    }

    #[test]
    fn draws_are_uniform() {
        let mut counts = [0u32; 3];
        let mut r = Random::of_walk(7, 3);
        for _ in 0..30_000 {
            counts[r.below(3)] += 1;
        }
        // Five standard deviations of a binomial with p = 1/3 are about 410.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 410), "{counts:?}");
        assert!((0..1000).all(|_| (0.0..1.0).contains(&r.unit())));
    }
}
