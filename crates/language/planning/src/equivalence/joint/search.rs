//! Searches the joint renaming: candidates by colour refinement, each judged by behaviour, and the best one improved by exchanges.

use super::judge::{End, Judged, Keys, Wanted, judge, same_task};
use super::refine::{Deviation, Evidence, Kept, PairingOrder, pair_nodes, similarity};
use super::side::{Side, mix};
use super::{JointLimits, Mapping};
use crate::equivalence::domains::SearchEnd;
use crate::resources::{ResourceLimits, StopReason, check};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Pairs of states in a first look at a candidate.
const QUICK_PAIRS: u64 = 2_000;
/// Most combinations of left-out parameters that are tried.
const MOST_COMBINATIONS: usize = 6;
/// Most parameters of which all orders are tried.
const MOST_PERMUTED: usize = 4;

/// What the pairing is guided by.
type Guide = (Evidence, PairingOrder);

/// A judged renaming.
pub(super) struct Candidate {
    pub(super) mapping: Mapping,
    pub(super) verdict: CandidateVerdict,
    rank: Rank,
    /// True if every ground action of either side has a partner.
    has_all_partners: bool,
}

/// Judgement of a renaming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CandidateVerdict {
    /// Proved on the whole reachable space.
    Same,
    /// No difference up to a length.
    SameUpTo(u32, SearchEnd),
    /// A difference exists.
    Different,
}

/// The longest first difference, then the most ground actions in common, then the most similar names.
type Rank = (usize, usize, usize, u64);

/// Result of the search.
pub(super) struct Searched {
    pub(super) best: Candidate,
    /// Renamings that were judged.
    pub(super) judged: usize,
    /// True if the execution trees differ whatever the names.
    pub(super) differs_under_all: bool,
    /// Pairs of states that were met.
    pub(super) pairs: u64,
    /// Why the search ended before it was complete.
    pub(super) stopped: Option<StopReason>,
}

struct RenamingSearch<'s> {
    sides: [&'s Side; 2],
    limits: &'s JointLimits,
    /// Depth to which the execution trees are equal.
    depth: usize,
    /// Length beyond which no first difference can be, if the trees differ.
    bound: Option<usize>,
    features: [Vec<u64>; 2],
    seen: FxHashSet<Mapping>,
    best: Option<Candidate>,
    /// Renamings that show a difference and whose neighbours were not judged, by rank.
    open: BinaryHeap<(Rank, Reverse<usize>)>,
    /// The mappings of `open`.
    mappings: Vec<Mapping>,
    /// Decisions and exchanges that are left.
    choices: [u64; 2],
    judged: usize,
    pairs: u64,
}

/// Searches a renaming.
///
/// # Errors
/// The limit that ended the search before a renaming was judged.
pub(super) fn search(
    sides: [&Side; 2],
    limits: &JointLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<Searched, StopReason> {
    let deepest = sides[0].depth().min(sides[1].depth());
    let equal = (0..=deepest).take_while(|&d| sides[0].tree_hash(d) == sides[1].tree_hash(d)).count();
    let depth = equal.saturating_sub(1).max(1).min(deepest);
    let mut search = RenamingSearch {
        sides,
        limits,
        depth,
        bound: (equal <= deepest).then_some(equal),
        features: sides.map(|s| s.tree_features(depth)),
        seen: FxHashSet::default(),
        best: None,
        open: BinaryHeap::new(),
        mappings: Vec::new(),
        choices: [limits.max_choices; 2],
        judged: 0,
        pairs: 0,
    };
    let stopped = search.run(resources).err();
    let (judged, pairs) = (search.judged, search.pairs);
    let differs_under_all = search.bound.is_some();
    match search.best {
        Some(best) => Ok(Searched { best, judged, differs_under_all, pairs, stopped }),
        None => Err(stopped.unwrap_or(StopReason::Nodes)),
    }
}

impl RenamingSearch<'_> {
    fn run(&mut self, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        let guided = self.try_guides(resources);
        // Exchanges have a limit of their own.
        if !matches!(guided, Ok(()) | Err(StopReason::Nodes)) {
            return guided;
        }
        self.exchange(resources)?;
        guided
    }

    /// Judges what each guide proposes, then the same with one decision made otherwise.
    fn try_guides(&mut self, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        let combinations = self.combinations();
        let evidence = [Evidence::Facts, Evidence::TreeAndGoal, Evidence::Names, Evidence::Tree];
        let orders = [PairingOrder::Together, PairingOrder::SchemasFirst];
        let guides: Vec<Guide> = orders.into_iter().flat_map(|o| evidence.map(|e| (e, o))).collect();
        let mut decided: Vec<(usize, Guide, Vec<usize>)> = Vec::new();
        for (number, kept) in combinations.iter().enumerate() {
            for &guide in &guides {
                let decisions = self.candidate(kept, guide, None, resources)?;
                if self.is_done() {
                    return Ok(());
                }
                decided.push((number, guide, decisions));
            }
        }
        if self.is_latest() {
            return Ok(());
        }
        for (number, guide, decisions) in decided {
            for (at, &count) in decisions.iter().enumerate() {
                for take in 1..count {
                    self.candidate(&combinations[number], guide, Some(Deviation { at, take }), resources)?;
                    if self.is_done() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns true if no better renaming can be found: proved the same, or different as late as possible with a partner for every ground
    /// action.
    fn is_done(&self) -> bool {
        self.best.as_ref().is_some_and(|best| {
            best.verdict == CandidateVerdict::Same || (self.is_latest() && best.has_all_partners)
        })
    }

    /// Returns true if no renaming has a later first difference than the best.
    fn is_latest(&self) -> bool {
        let length = self.best.as_ref().map(|best| best.rank.0);
        self.bound.zip(length).is_some_and(|(bound, length)| length >= bound)
    }

    /// Judges one more renaming; returns the number of candidates of each decision that led to it.
    fn candidate(
        &mut self,
        kept: &[Kept; 2],
        guide: Guide,
        deviation: Option<Deviation>,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Vec<usize>, StopReason> {
        let [a, b] = kept;
        let found =
            pair_nodes(self.sides, [a, b], guide, self.depth, deviation, &mut self.choices[0], resources)?;
        self.consider(found.mapping, resources)?;
        Ok(found.decisions)
    }

    /// Judges a renaming and keeps it if it is the best.
    fn consider(&mut self, mapping: Mapping, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        if !self.seen.insert(mapping.clone()) {
            return Ok(());
        }
        check(resources.poll())?;
        self.judged += 1;
        let keys = Keys::new(self.sides, &mapping);
        let is_open = self.best.as_ref().is_some_and(|best| best.verdict != CandidateVerdict::Different);
        let (shared, equal) = keys.shared([&self.features[0], &self.features[1]]);
        // The best already differs as late as possible: only a renaming with more partners is better.
        if self.is_latest() && self.best.as_ref().is_some_and(|best| shared < best.rank.1) {
            return Ok(());
        }
        let (verdict, length) = match same_task(self.sides, &keys) {
            true => (CandidateVerdict::Same, usize::MAX),
            // Only a proof is better than no difference within the limits.
            false if is_open => return Ok(()),
            false => {
                let mut judged = self.judge(&keys, QUICK_PAIRS.min(self.limits.max_pairs), resources);
                if judged.end == End::Limit(SearchEnd::Pairs) && self.limits.max_pairs > QUICK_PAIRS {
                    judged = self.judge(&keys, self.limits.max_pairs, resources);
                }
                match (judged.end, judged.shortest()) {
                    (End::Ambiguous, _) => return Ok(()),
                    (_, Some(length)) => (CandidateVerdict::Different, length),
                    (End::Limit(end), None) => {
                        (CandidateVerdict::SameUpTo(judged.compared, end), usize::MAX - 1)
                    }
                    (End::Whole | End::Found, None) => (CandidateVerdict::Same, usize::MAX),
                }
            }
        };
        let rank = (length, shared, equal, self.likeness(&mapping));
        if verdict == CandidateVerdict::Different {
            self.open.push((rank, Reverse(self.mappings.len())));
            self.mappings.push(mapping.clone());
        }
        if self.best.as_ref().is_none_or(|best| rank > best.rank) {
            let has_all_partners = keys.all_have_partners();
            self.best = Some(Candidate { mapping, verdict, rank, has_all_partners });
        }
        Ok(())
    }

    fn judge(&mut self, keys: &Keys, max_pairs: u64, resources: &mut dyn ResourceLimits) -> Judged {
        let judged = judge(self.sides, keys, Wanted::Any, max_pairs, self.limits.max_depth, resources);
        self.pairs += judged.pairs;
        judged
    }

    /// Sum of the similarities of paired names.
    fn likeness(&self, mapping: &Mapping) -> u64 {
        let [first, second] = self.sides;
        let objects = mapping.objects.iter().enumerate().filter_map(|(a, b)| {
            let b = (*b)?;
            Some(similarity(&first.objects()[a], &second.objects()[b as usize]))
        });
        let schemas = mapping.schemas.iter().enumerate().filter_map(|(a, pair)| {
            Some(similarity(&first.schemas[a].name, &second.schemas[pair.as_ref()?.second].name))
        });
        objects.chain(schemas).map(u64::from).sum()
    }

    /// Judges neighbours of judged renamings, those of the best first.
    fn exchange(&mut self, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        while let Some((_, Reverse(number))) = self.open.pop() {
            let is_open = |best: &Candidate| best.verdict != CandidateVerdict::Different;
            if self.is_latest() || self.best.as_ref().is_some_and(is_open) {
                return Ok(());
            }
            let mapping = self.mappings[number].clone();
            let keys = Keys::new(self.sides, &mapping);
            let judged = self.judge(&keys, self.limits.max_pairs, resources);
            for changed in self.neighbours(&mapping, &judged) {
                if self.choices[1] == 0 {
                    return Err(StopReason::Nodes);
                }
                self.choices[1] -= 1;
                self.consider(changed, resources)?;
                if self.is_done() || self.is_latest() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Renamings with one exchange: of parameters of the schema of a last step, of that schema and another, or of one of its objects
    /// and another. Not all of them if the limit on exchanges allows fewer.
    fn neighbours(&self, mapping: &Mapping, judged: &Judged) -> Vec<Mapping> {
        let (mut schemas, mut objects) = (Vec::new(), Vec::new());
        for (side, found) in judged.only.iter().enumerate() {
            let Some(found) = found else { continue };
            let last = found.last.or_else(|| found.steps.last().map(|step| step[side]));
            let Some(last) = last else { continue };
            let ground = self.sides[side].action(last);
            if side == 0 {
                schemas.push(ground.action as usize);
                objects.extend(ground.args.iter().map(|&o| o as usize));
            } else {
                let is_partner = |pair: &Option<super::SchemaPair>| {
                    pair.as_ref().is_some_and(|pair| pair.second == ground.action as usize)
                };
                schemas.extend(mapping.schemas.iter().position(is_partner));
                let partner = |&o: &u32| mapping.objects.iter().position(|partner| *partner == Some(o));
                objects.extend(ground.args.iter().filter_map(partner));
            }
        }
        for list in [&mut schemas, &mut objects] {
            list.sort_unstable();
            list.dedup();
        }
        let mut changed = Vec::new();
        for &schema in &schemas {
            let count = mapping.schemas[schema].as_ref().map_or(0, |pair| pair.parameters.len());
            let orders = if count <= MOST_PERMUTED { permutations(count) } else { transpositions(count) };
            changed.extend(orders.iter().map(|order| mapping.with_reordered_parameters(schema, order)));
            let others = (0..mapping.schemas.len()).filter(|&other| other != schema);
            changed.extend(others.filter_map(|other| mapping.with_swapped_schemas(schema, other)));
        }
        let free: Vec<u32> = (0..self.sides[1].objects().len() as u32)
            .filter(|&o| !mapping.objects.contains(&Some(o)))
            .collect();
        for &object in &objects {
            for other in (0..mapping.objects.len()).filter(|&other| other != object) {
                let mut next = mapping.clone();
                next.objects.swap(object, other);
                changed.push(next);
                if changed.len() as u64 > self.choices[1] {
                    return changed;
                }
            }
            for &partner in &free {
                let mut next = mapping.clone();
                next.objects[object] = Some(partner);
                changed.push(next);
                if changed.len() as u64 > self.choices[1] {
                    return changed;
                }
            }
        }
        changed
    }

    /// The parameters that take part: all of them, and those that remain when the numbers of parameters are made equal.
    fn combinations(&self) -> Vec<[Kept; 2]> {
        let all = self
            .sides
            .map(|side| (0..side.by_schema.len()).map(|s| (0..side.arity(s)).collect()).collect::<Kept>());
        let mut list: Vec<[Kept; 2]> = Vec::new();
        let counts = all.each_ref().map(|kept| {
            let mut counts: Vec<usize> = kept.iter().map(Vec::len).collect();
            counts.sort_unstable();
            counts
        });
        if counts[0] == counts[1] {
            list.push(all.clone());
        }
        for by_name in [false, true] {
            let mut next = vec![all.clone()];
            for (first, second) in self.pair_schemas(by_name) {
                let options = self.options(first, second);
                let mut longer = Vec::new();
                for kept in &next {
                    for [a, b] in &options {
                        let mut kept = kept.clone();
                        kept[0][first].clone_from(a);
                        kept[1][second].clone_from(b);
                        longer.push(kept);
                    }
                }
                longer.truncate(MOST_COMBINATIONS);
                next = longer;
            }
            for kept in next {
                if !list.contains(&kept) {
                    list.push(kept);
                }
            }
        }
        if !list.contains(&all) {
            list.push(all);
        }
        list
    }

    /// Pairs schemas whose numbers of parameters can be made equal, the most alike first.
    fn pair_schemas(&self, by_name: bool) -> Vec<(usize, usize)> {
        let [first, second] = self.sides;
        let feature = |side: usize, schema: usize| {
            let actions = self.sides[side].by_schema[schema].iter();
            actions.fold(0u64, |sum, &a| sum.wrapping_add(mix(1, self.features[side][a as usize])))
        };
        let mut ranked = Vec::new();
        for a in 0..first.by_schema.len() {
            for b in 0..second.by_schema.len() {
                if self.options(a, b).is_empty() {
                    continue;
                }
                let drops = first.arity(a).abs_diff(second.arity(b));
                let unlike = 1000 - similarity(&first.schemas[a].name, &second.schemas[b].name);
                let structure = usize::from(feature(0, a) != feature(1, b)) * 100
                    + usize::from(first.by_schema[a].len() != second.by_schema[b].len()) * 50
                    + drops * 10;
                let cost = if by_name { (unlike as usize, structure) } else { (structure, unlike as usize) };
                ranked.push((cost, a, b));
            }
        }
        ranked.sort_unstable();
        let (mut pairs, mut taken) = (Vec::new(), [FxHashSet::default(), FxHashSet::default()]);
        for (_, a, b) in ranked {
            if !taken[0].contains(&a) && !taken[1].contains(&b) {
                taken[0].insert(a);
                taken[1].insert(b);
                pairs.push((a, b));
            }
        }
        pairs
    }

    /// The parameters that two schemas may keep so that both keep equally many.
    fn options(&self, first: usize, second: usize) -> Vec<[Vec<usize>; 2]> {
        let arity = [self.sides[0].arity(first), self.sides[1].arity(second)];
        let all = arity.map(|n| (0..n).collect::<Vec<usize>>());
        if arity[0] == arity[1] {
            return vec![all];
        }
        let longer = usize::from(arity[1] > arity[0]);
        let schema = [first, second][longer];
        let wanted = [second, first][longer];
        let wanted = self.sides[1 - longer].by_schema[wanted].len();
        let mut options: Vec<(usize, bool, Vec<usize>)> = subsets(arity[longer], arity[1 - longer])
            .into_iter()
            .filter_map(|kept| {
                let side = self.sides[longer];
                let values = side.count_values(schema, &kept);
                let fixed = values == side.by_schema[schema].len();
                let is_determined = fixed || side.is_determined_by_state(schema, &kept);
                is_determined.then_some((values.abs_diff(wanted), !fixed, kept))
            })
            .collect();
        options.sort();
        options
            .into_iter()
            .map(|(_, _, kept)| {
                let mut pair = all.clone();
                pair[longer] = kept;
                pair
            })
            .collect()
    }
}

/// All orders of the numbers below `count`.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let insert = |p: Vec<usize>| (0..count).map(move |at| [&p[..at], &[last], &p[at..]].concat());
    permutations(last).into_iter().flat_map(insert).collect()
}

/// The orders of the numbers below `count` that exchange two of them.
fn transpositions(count: usize) -> Vec<Vec<usize>> {
    let swap = |(i, j): (usize, usize)| {
        let mut order: Vec<usize> = (0..count).collect();
        order.swap(i, j);
        order
    };
    (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j))).map(swap).collect()
}

/// Ascending lists of `size` of the numbers below `count`; none if there would be very many.
fn subsets(count: usize, size: usize) -> Vec<Vec<usize>> {
    if count > 10 {
        return Vec::new();
    }
    let all = 0u32..1 << count;
    all.filter(|bits| bits.count_ones() as usize == size)
        .map(|bits| (0..count).filter(|k| bits >> k & 1 == 1).collect())
        .collect()
}
