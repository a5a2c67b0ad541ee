//! Seeded random choices: a fixed algorithm, so that a seed means the same walk, the same mutation and the same study on
//! every machine and in every version.

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the generator of one of many draws under one seed (a walk, a sample). It does not depend on
    /// the number of draws.
    pub fn stream(seed: u64, index: u64) -> Self {
        let base = Self::new(seed).next_u64();
        Self { state: base ^ index.wrapping_mul(0xD1B5_4A32_D192_ED03) }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `0..n`, without the bias of a remainder. `0` where `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        // Values under `threshold` would make the low results likelier: drawn again.
        let threshold = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(n);
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Uniform in `0 <= x < 1`, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `p`; never for 0 or less, always for 1 or more.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// One of the items, uniformly; nothing where there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u64) as usize)
    }

    /// Puts the items into a uniformly random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        let all = items.len();
        self.shuffle_front(items, all);
    }

    /// Moves a uniformly chosen set of `k` items (all, where there are fewer) to the front, in uniformly random order.
    pub fn shuffle_front<T>(&mut self, items: &mut [T], k: usize) {
        for done in 0..k.min(items.len()) {
            let other = done + self.below((items.len() - done) as u64) as usize;
            items.swap(done, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_draws_of_seed_zero_never_change() {
        let mut r = Random::new(0);
        assert_eq!([r.next_u64(), r.next_u64()], [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
    }

    #[test]
    fn draws_are_uniform() {
        let mut counts = [0u32; 3];
        let mut r = Random::stream(7, 3);
        for _ in 0..30_000 {
            counts[r.below(3) as usize] += 1;
        }
        // Five standard deviations of a binomial with p = 1/3 are about 410.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 410), "{counts:?}");
        let hits = (0..30_000).filter(|_| r.chance(0.2)).count();
        assert!(hits.abs_diff(6_000) < 350, "{hits}");
        assert!((0..100).all(|_| !r.chance(0.0) && r.chance(1.0)));
    }

    #[test]
    fn streams_differ_from_each_other() {
        let first = |index| Random::stream(1, index).next_u64();
        assert_ne!(first(0), first(1));
        assert_ne!(Random::stream(1, 0).next_u64(), Random::stream(2, 0).next_u64());
    }

    #[test]
    fn a_shuffle_moves_every_subset_to_the_front_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        let mut r = Random::new(11);
        for _ in 0..12_000 {
            let mut items = [0, 1, 2, 3];
            r.shuffle_front(&mut items, 2);
            *counts.entry((items[0], items[1])).or_insert(0u32) += 1;
        }
        // Twelve ordered pairs; five standard deviations are about 152.
        assert!(counts.len() == 12 && counts.values().all(|c| c.abs_diff(1000) < 152), "{counts:?}");
        let mut none: [u8; 0] = [];
        r.shuffle_front(&mut none, 3);
        assert_eq!(r.pick(&none), None);
    }
}
