//! Sets of facts as machine words.

/// Words needed for `bits` bits.
#[inline]
pub(crate) fn words_for(bits: usize) -> usize {
    bits.div_ceil(64).max(1)
}

#[inline]
pub(crate) fn get(words: &[u64], bit: u32) -> bool {
    words[(bit >> 6) as usize] >> (bit & 63) & 1 != 0
}

#[inline]
pub(crate) fn set(words: &mut [u64], bit: u32) {
    words[(bit >> 6) as usize] |= 1 << (bit & 63);
}

#[inline]
pub(crate) fn clear(words: &mut [u64], bit: u32) {
    words[(bit >> 6) as usize] &= !(1 << (bit & 63));
}

/// The set bits in ascending order.
#[inline]
pub(crate) fn ones(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            Some((i as u32) << 6 | bit)
        })
    })
}
