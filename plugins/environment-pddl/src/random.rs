//! The random choices of walks: a fixed algorithm, so that a seed means the same walk on every machine and in every
//! version.

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The generator of one walk: independent of how many walks are asked for beside it.
    pub(crate) fn of_walk(seed: u64, walk: u64) -> Self {
        let mut mixed = Self { state: seed };
        let base = mixed.next();
        Self { state: base ^ walk.wrapping_mul(0xD1B5_4A32_D192_ED03) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `0..n`, without the bias of a remainder. `n` must not be 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        // Values under `threshold` would make the low results likelier: drawn again.
        let threshold = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.next()) * u128::from(n);
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_draws_of_seed_zero_stay_what_they_are() {
        let mut r = Random { state: 0 };
        assert_eq!([r.next(), r.next()], [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
    }

    #[test]
    fn draws_are_uniform() {
        let mut counts = [0u32; 3];
        let mut r = Random::of_walk(7, 3);
        for _ in 0..30_000 {
            counts[r.below(3) as usize] += 1;
        }
        // Five standard deviations of a binomial with p = 1/3 are about 410.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 410), "{counts:?}");
    }

    #[test]
    fn walks_differ_from_each_other() {
        let first = |walk| Random::of_walk(1, walk).next();
        assert_ne!(first(0), first(1));
        assert_ne!(Random::of_walk(1, 0).next(), Random::of_walk(2, 0).next());
    }
}
