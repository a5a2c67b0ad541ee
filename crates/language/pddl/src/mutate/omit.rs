//! Uniform omission of exactly k terms, and pairs of damaged domains that differ in exactly d terms.
//!
//! The sets of terms that may go are counted first, list by list, and a set is then drawn with these counts: so the draw is
//! uniform even where leaving a literal in each list rules most sets out.

use super::terms::{list_sites, part_at};
use super::{Edit, Mutation, MutationKind, MutationPlace, Site, TermList, apply_mutations};
use crate::ast::Domain;
use crate::random::Random;

/// Minimum that remains of each list of terms (an action's precondition, an action's effect).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeepPolicy {
    /// At least one term of each list that has any.
    OneInEachList,
    /// Nothing: a list may lose all its terms.
    Nothing,
}

/// A domain with terms left out.
#[derive(Debug, Clone, PartialEq)]
pub struct DamagedDomain {
    /// The domain without them.
    pub domain: Domain,
    /// The omitted terms, in the order of the text.
    pub omitted: Vec<Mutation>,
}

/// The omissions of one domain.
#[derive(Debug, Clone)]
pub struct Omissions<'a> {
    domain: &'a Domain,
    lists: Vec<Vec<Site>>,
    keep: usize,
}

impl<'a> Omissions<'a> {
    /// The terms of the domain's instantaneous actions, and what has to stay of them.
    pub fn new(domain: &'a Domain, keep: KeepPolicy) -> Self {
        let lists = domain.actions.iter().enumerate().flat_map(|(number, action)| {
            [TermList::Precondition, TermList::Effect].map(|list| list_sites(action, number, list))
        });
        let keep = match keep {
            KeepPolicy::OneInEachList => 1,
            KeepPolicy::Nothing => 0,
        };
        Self { domain, lists: lists.filter(|list| !list.is_empty()).collect(), keep }
    }

    /// Returns the number of terms.
    pub fn terms(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    /// The most terms that can be left out at once.
    pub fn most(&self) -> usize {
        self.lists.iter().map(|list| list.len() - self.keep).sum()
    }

    /// The domain without `k` terms, each set of k terms that may go being equally likely (the distribution P_k of the paper's Section
    /// 4.2). `None` where k terms cannot go.
    pub fn draw(&self, k: usize, random: &mut Random) -> Option<DamagedDomain> {
        Some(self.sampler(k, 0, k)?.draw(random).0)
    }

    /// Returns a sampler of pairs: the first domain without `first` terms, the second without `second`, such
    /// that they differ in exactly `differing` terms (Section 4.3: those omitted from only one of them).
    /// `None` if no such pair exists: the numbers are inconsistent, or the domain has too few terms.
    pub fn sampler(&self, first: usize, second: usize, differing: usize) -> Option<PairSampler<'_>> {
        let common = (first + second).checked_sub(differing).filter(|rest| rest % 2 == 0)? / 2;
        let only_first = first.checked_sub(common)?;
        let only_second = second.checked_sub(common)?;
        let counts = Counts::of(&self.lists, self.keep, [only_first, only_second, common]);
        (counts.ways(0, [only_first, only_second, common]) > 0.0).then_some(PairSampler {
            omissions: self,
            wanted: [only_first, only_second, common],
            counts,
        })
    }

    fn omit_sites(&self, mut sites: Vec<Site>) -> DamagedDomain {
        sites.sort_unstable();
        let omitted: Vec<Mutation> = sites
            .into_iter()
            .filter_map(|site| {
                Some(Mutation {
                    kind: MutationKind::Omission,
                    action: Some(self.domain.actions.get(site.action)?.name.clone()),
                    place: MutationPlace::Term { list: site.list, index: Some(site.index) },
                    before: Some(part_at(self.domain, site)?.text()),
                    ill_typed: Vec::new(),
                    after: None,
                    edit: Edit::Remove(site),
                })
            })
            .collect();
        DamagedDomain { domain: apply_mutations(self.domain, &omitted), omitted }
    }
}

/// Numbers of terms omitted from the first domain only, from the second only, and from both.
type Split = [usize; 3];

/// Draws pairs of damaged domains; make it once for many draws.
#[derive(Debug, Clone)]
pub struct PairSampler<'a> {
    omissions: &'a Omissions<'a>,
    wanted: Split,
    counts: Counts,
}

impl PairSampler<'_> {
    /// One pair, all possible pairs being equally likely.
    pub fn draw(&self, random: &mut Random) -> (DamagedDomain, DamagedDomain) {
        let mut wanted = self.wanted;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (index, list) in self.omissions.lists.iter().enumerate() {
            let here = self.counts.draw(index, wanted, random);
            let mut sites = list.clone();
            random.shuffle_front(&mut sites, here.iter().sum());
            let (only_first, rest) = sites.split_at(here[0]);
            let (only_second, rest) = rest.split_at(here[1]);
            let both = &rest[..here[2]];
            first.extend(only_first.iter().chain(both));
            second.extend(only_second.iter().chain(both));
            for (left, taken) in wanted.iter_mut().zip(here) {
                *left -= taken;
            }
        }
        (self.omissions.omit_sites(first), self.omissions.omit_sites(second))
    }
}

/// Numbers of ways to split the terms of the lists from each index on. The numbers are exact up to 2^53;
/// rounding beyond that is far below what a sampling study can detect.
#[derive(Debug, Clone)]
struct Counts {
    sizes: Vec<usize>,
    keep: usize,
    /// One more than the most of each kind.
    shape: Split,
    /// By list (one more than there are), then by split.
    table: Vec<Vec<f64>>,
}

impl Counts {
    fn of(lists: &[Vec<Site>], keep: usize, most: Split) -> Self {
        let shape = most.map(|n| n + 1);
        let cells = shape.iter().product();
        let mut counts = Self { sizes: lists.iter().map(Vec::len).collect(), keep, shape, table: Vec::new() };
        let mut after = vec![0.0; cells];
        after[0] = 1.0;
        let mut table = vec![after];
        for size in counts.sizes.iter().rev() {
            let after = table.last().cloned().unwrap_or_default();
            let mut here = vec![0.0; cells];
            for split in splits(most) {
                let ways = counts
                    .options(*size, split)
                    .map(|(taken, ways)| ways * after[counts.cell([0, 1, 2].map(|i| split[i] - taken[i]))]);
                here[counts.cell(split)] = ways.sum();
            }
            table.push(here);
        }
        table.reverse();
        counts.table = table;
        counts
    }

    fn cell(&self, split: Split) -> usize {
        (split[0] * self.shape[1] + split[1]) * self.shape[2] + split[2]
    }

    fn ways(&self, list: usize, split: Split) -> f64 {
        self.table.get(list).and_then(|row| row.get(self.cell(split))).copied().unwrap_or(0.0)
    }

    /// Returns the possible contributions of a list of that size to a split, each with its number of ways.
    fn options(&self, size: usize, wanted: Split) -> impl Iterator<Item = (Split, f64)> {
        let limit = size - self.keep.min(size);
        splits(wanted.map(|n| n.min(limit)))
            .filter(move |[a, b, both]| a + both <= limit && b + both <= limit && a + b + both <= size)
            .map(move |[a, b, both]| {
                let ways = choose(size, a) * choose(size - a, b) * choose(size - a - b, both);
                ([a, b, both], ways)
            })
    }

    /// Draws the contribution of one list, with probability proportional to the number of ways.
    fn draw(&self, list: usize, wanted: Split, random: &mut Random) -> Split {
        let mut rest = random.unit() * self.ways(list, wanted);
        let mut last = [0; 3];
        for (taken, ways) in self.options(self.sizes[list], wanted) {
            let ways = ways * self.ways(list + 1, [0, 1, 2].map(|i| wanted[i] - taken[i]));
            if ways > 0.0 {
                last = taken;
                rest -= ways;
                if rest < 0.0 {
                    break;
                }
            }
        }
        last
    }
}

/// All splits with at most that many of each kind.
fn splits(most: Split) -> impl Iterator<Item = Split> {
    (0..=most[0])
        .flat_map(move |a| (0..=most[1]).flat_map(move |b| (0..=most[2]).map(move |both| [a, b, both])))
}

fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}
