//! States in fewer bits: facts of which no reachable state has two share a number, as the variables of finite-domain representations.

use crate::bits;
use crate::resources::{LimitWatch, StopReason};
use crate::task::Fact;

/// A group of facts and its bits in a packed state.
struct Group {
    word: u32,
    shift: u32,
    mask: u64,
    /// The facts by their number in the group, from 1 up; 0 stands for none of them.
    facts: Box<[Fact]>,
}

/// Places of facts in packed states.
pub(super) struct Packing {
    /// By fact: a word, and the number of the fact in its group at its place within that word.
    places: Vec<(u32, u64)>,
    groups: Vec<Group>,
    /// Words of a state that is not packed.
    wide: usize,
    /// Words of a packed state.
    words: usize,
}

impl Packing {
    /// Forms groups by first fit. `beside` gives for each fact those that may hold together with it. `None` if states would hardly be smaller.
    pub(super) fn new<'p>(
        facts: usize,
        beside: impl Fn(Fact) -> &'p [u64],
        watch: &mut LimitWatch<'_>,
    ) -> Result<Option<Self>, StopReason> {
        let wide = bits::words_for(facts);
        // Each group has a bit at least.
        let most_groups = wide * 48;
        let mut members: Vec<(Vec<u64>, Vec<Fact>)> = Vec::new();
        for fact in 0..facts as Fact {
            if members.len() > most_groups {
                return Ok(None);
            }
            let others = beside(fact);
            let before = members.len();
            let fits = |set: &[u64]| set.iter().zip(others).all(|(s, o)| s & o == 0);
            let group = members.iter().position(|(set, _)| fits(set)).unwrap_or_else(|| {
                members.push((vec![0; wide], Vec::new()));
                members.len() - 1
            });
            watch.charge(8 * (members.len() - before) as u64 * wide as u64)?;
            watch.poll()?;
            bits::set(&mut members[group].0, fact);
            members[group].1.push(fact);
        }
        let mut packing = Packing { places: vec![(0, 0); facts], groups: Vec::new(), wide, words: 1 };
        let mut used = 0;
        for (_, facts) in members {
            let width = usize::BITS - facts.len().leading_zeros();
            if used + width > u64::BITS {
                packing.words += 1;
                used = 0;
            }
            let word = packing.words as u32 - 1;
            for (number, &fact) in (1..).zip(&facts) {
                packing.places[fact as usize] = (word, number << used);
            }
            let mask = (1 << width) - 1;
            packing.groups.push(Group { word, shift: used, mask, facts: facts.into() });
            used += width;
        }
        Ok((packing.words * 4 <= wide * 3).then_some(packing))
    }

    /// Words of a packed state.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Writes a packed state over `row`.
    #[inline]
    pub(super) fn pack(&self, state: &[u64], row: &mut Vec<u64>) {
        row.clear();
        row.resize(self.words, 0);
        for fact in bits::ones(state) {
            let (word, number) = self.places[fact as usize];
            row[word as usize] |= number;
        }
    }

    /// Writes the state that was packed over `state`.
    #[inline]
    pub(super) fn unpack(&self, row: &[u64], state: &mut Vec<u64>) {
        state.clear();
        state.resize(self.wide, 0);
        for group in &self.groups {
            let number = row[group.word as usize] >> group.shift & group.mask;
            if number != 0 {
                bits::set(state, group.facts[number as usize - 1]);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::resources::Unlimited;

    #[test]
    fn facts_that_exclude_each_other_share_bits_and_states_come_back_equal() {
        // Three groups of 60 facts, and 20 facts that exclude nothing but themselves.
        let facts = 200;
        let group = |f: Fact| if f < 180 { f / 60 } else { f };
        let beside: Vec<Vec<u64>> = (0..facts)
            .map(|a| {
                let mut row = vec![0; bits::words_for(facts as usize)];
                (0..facts).filter(|&b| a == b || group(a) != group(b)).for_each(|b| bits::set(&mut row, b));
                row
            })
            .collect();
        let mut limits = Unlimited;
        let mut watch = LimitWatch::new(&mut limits, u64::MAX);
        let beside = |f| beside[f as usize].as_slice();
        let packing = Packing::new(facts as usize, beside, &mut watch).unwrap().unwrap();
        assert_eq!(packing.words(), 1);
        let (mut row, mut back, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for chosen in [&[][..], &[0], &[59], &[60], &[0, 60, 120], &[59, 119, 179, 180, 199], &[7, 181, 198]]
        {
            let mut state = vec![0; 4];
            chosen.iter().for_each(|&f| bits::set(&mut state, f));
            packing.pack(&state, &mut row);
            packing.unpack(&row, &mut back);
            assert_eq!(back, state);
            assert!(!rows.contains(&row));
            rows.push(row.clone());
        }
        let alone = [vec![u64::MAX; 4]];
        assert!(Packing::new(200, |_| alone[0].as_slice(), &mut watch).unwrap().is_none());
    }
}
