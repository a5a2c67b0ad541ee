//! Landmarks of the delete relaxation: facts that every plan makes true, and small sets of facts of which every plan makes one true.
//!
//! [`Landmarks`] has them with their orders; a [`LandmarkCount`] is the number of those still to be reached. A set of facts comes from
//! a landmark before it, as in LAMA: every operator that may add that landmark first needs a fact of the same predicate.

use super::relaxed::{Relaxed, scaled};
use super::space::{NONE, Space, StateId};
use crate::bits;
use crate::csr::Csr;
use crate::resources::{LimitWatch, StopReason};
use crate::task::{Fact, GroundTask};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Most words of landmark sets. Beyond it landmarks are left out, and h_FF is the only heuristic.
const MAX_WORDS: usize = 40_000_000;

/// Most facts of a set.
const MAX_SET: usize = 4;

/// Facts, and sets of facts, that every plan makes true at some time.
pub(super) struct Landmarks {
    facts: Vec<Fact>,
    /// The landmarks after the facts, of which one fact is enough.
    sets: Vec<Box<[Fact]>>,
    /// True for each landmark that is part of the goal.
    goal: Vec<bool>,
    /// For each landmark those that are true in the step before it first becomes true.
    just_before: Vec<Vec<u32>>,
    /// For each landmark those that become true earlier in every plan.
    earlier: Vec<Vec<u32>>,
    /// Operators that add a landmark: operator to landmark numbers.
    added_by: Vec<Vec<u32>>,
}

impl Landmarks {
    /// Finds the landmarks of a task. `None` if only the goal would be counted, or if their sets are too
    /// large.
    pub(super) fn find(
        task: &GroundTask,
        relaxed: &Relaxed,
        watch: &mut LimitWatch<'_>,
    ) -> Result<Option<Landmarks>, StopReason> {
        let words = bits::words_for(relaxed.propositions);
        if words * relaxed.propositions > MAX_WORDS || !task.axioms.is_empty() {
            return Ok(None);
        }
        watch.charge(8 * (words * relaxed.propositions) as u64)?;
        let sets = LandmarkSets::new(task, relaxed, words, watch)?;
        if !sets.reached[relaxed.goal as usize] {
            return Ok(None);
        }
        let mut facts: Vec<Fact> =
            bits::ones(sets.of(relaxed.goal)).filter(|&p| (p as usize) < task.facts.len()).collect();
        facts.sort_unstable();
        let mut number = vec![NONE; task.facts.len()];
        for (i, &f) in facts.iter().enumerate() {
            number[f as usize] = i as u32;
        }
        let goal = facts.iter().map(|f| task.goal.positive.binary_search(f).is_ok()).collect();
        let achievers = relaxed.effects.transpose(relaxed.propositions);
        let mut added_by: Vec<Vec<u32>> = vec![Vec::new(); task.operators.len()];
        for (o, operator) in task.operators.iter().enumerate() {
            let added = operator.add.iter().chain(operator.conditional.iter().flat_map(|c| c.add.iter()));
            added_by[o] = added.map(|&f| number[f as usize]).filter(|&n| n != NONE).collect();
        }
        let earlier = facts
            .iter()
            .map(|&f| {
                bits::ones(sets.of(f))
                    .filter(|&p| p != f)
                    .filter_map(|p| number.get(p as usize).copied())
                    .filter(|&n| n != NONE)
                    .collect()
            })
            .collect();
        let just_before =
            facts.iter().map(|&f| sets.just_before(&[f], relaxed, &achievers, &number)).collect();
        let mut landmarks = Landmarks { facts, sets: Vec::new(), goal, just_before, earlier, added_by };
        landmarks.add_sets(task, relaxed, &sets, &achievers, &number, watch)?;
        Ok(Some(landmarks))
    }

    /// Adds the sets of facts that are landmarks before others.
    fn add_sets(
        &mut self,
        task: &GroundTask,
        relaxed: &Relaxed,
        known: &LandmarkSets,
        achievers: &Csr,
        number: &[u32],
        watch: &mut LimitWatch<'_>,
    ) -> Result<(), StopReason> {
        // A fact is in one set, so that no step counts twice.
        let mut set_of: FxHashMap<Fact, u32> = FxHashMap::default();
        let mut next = 0;
        while next < self.len() {
            watch.poll()?;
            let facts = self.facts_of(next).to_vec();
            let sets = match facts.iter().any(|&fact| bits::get(&known.initial, fact)) {
                true => Vec::new(),
                false => known.sets_before(&facts, task, relaxed, achievers, number),
            };
            for set in sets {
                let first = set_of.get(&set[0]).copied();
                let landmark = match first {
                    Some(landmark) if *self.facts_of(landmark as usize) == *set => landmark,
                    None if set.iter().all(|fact| !set_of.contains_key(fact)) => {
                        let landmark = self.len() as u32;
                        set_of.extend(set.iter().map(|&fact| (fact, landmark)));
                        self.push_set(set, known, relaxed, achievers, number);
                        landmark
                    }
                    _ => continue,
                };
                if landmark as usize != next {
                    self.just_before[next].push(landmark);
                    self.earlier[next].push(landmark);
                }
            }
            next += 1;
        }
        for (operator, added_by) in task.operators.iter().zip(&mut self.added_by) {
            let added = operator.add.iter().chain(operator.conditional.iter().flat_map(|c| c.add.iter()));
            added_by.extend(added.filter_map(|fact| set_of.get(fact)));
            added_by.sort_unstable();
            added_by.dedup();
        }
        Ok(())
    }

    fn push_set(
        &mut self,
        set: Vec<Fact>,
        known: &LandmarkSets,
        relaxed: &Relaxed,
        achievers: &Csr,
        number: &[u32],
    ) {
        // What comes before each of the facts.
        let mut common = known.of(set[0]).to_vec();
        for &fact in &set[1..] {
            common.iter_mut().zip(known.of(fact)).for_each(|(word, other)| *word &= other);
        }
        let numbers = bits::ones(&common).filter_map(|p| number.get(p as usize).copied());
        self.earlier.push(numbers.filter(|&n| n != NONE).collect());
        self.just_before.push(known.just_before(&set, relaxed, achievers, number));
        self.goal.push(false);
        self.sets.push(set.into());
    }

    fn len(&self) -> usize {
        self.facts.len() + self.sets.len()
    }

    fn facts_of(&self, landmark: usize) -> &[Fact] {
        match landmark.checked_sub(self.facts.len()) {
            None => std::slice::from_ref(&self.facts[landmark]),
            Some(set) => &self.sets[set],
        }
    }

    #[inline]
    fn holds(&self, landmark: usize, state: &[u64]) -> bool {
        match self.facts.get(landmark) {
            Some(&fact) => bits::get(state, fact),
            None => self.sets[landmark - self.facts.len()].iter().any(|&fact| bits::get(state, fact)),
        }
    }
}

/// For each proposition the propositions that every relaxed plan for it makes true.
struct LandmarkSets {
    initial: Vec<u64>,
    words: usize,
    sets: Vec<u64>,
    reached: Vec<bool>,
}

impl LandmarkSets {
    fn new(
        task: &GroundTask,
        relaxed: &Relaxed,
        words: usize,
        watch: &mut LimitWatch<'_>,
    ) -> Result<Self, StopReason> {
        let mut initial = vec![0; task.words()];
        task.init.iter().for_each(|&f| bits::set(&mut initial, f));
        let mut all = LandmarkSets {
            initial: initial.clone(),
            words,
            sets: vec![0; words * relaxed.propositions],
            reached: vec![false; relaxed.propositions],
        };
        let mut open: Vec<u32> =
            (0..relaxed.operators()).map(|o| relaxed.preconditions.row(o).len() as u32).collect();
        let mut queue = std::collections::VecDeque::new();
        let mut queued = vec![false; relaxed.operators()];
        relaxed.for_each_true(&initial, |p| {
            all.reached[p as usize] = true;
            bits::set(&mut all.sets[p as usize * words..(p as usize + 1) * words], p);
            for &o in relaxed.needed_by.row(p as usize) {
                open[o as usize] -= 1;
                if open[o as usize] == 0 {
                    queued[o as usize] = true;
                    queue.push_back(o);
                }
            }
        });
        let mut union = vec![0u64; words];
        let mut steps = 0u32;
        while let Some(o) = queue.pop_front() {
            steps += 1;
            if steps.is_multiple_of(256) {
                watch.poll()?;
            }
            queued[o as usize] = false;
            union.fill(0);
            for &p in relaxed.preconditions.row(o as usize) {
                union.iter_mut().zip(all.of(p)).for_each(|(u, s)| *u |= s);
            }
            for &e in relaxed.effects.row(o as usize) {
                let (changed, first) = all.restrict(e, &union);
                if !changed {
                    continue;
                }
                for &next in relaxed.needed_by.row(e as usize) {
                    if first {
                        open[next as usize] -= 1;
                    }
                    if open[next as usize] == 0 && !queued[next as usize] {
                        queued[next as usize] = true;
                        queue.push_back(next);
                    }
                }
            }
        }
        Ok(all)
    }

    fn of(&self, proposition: u32) -> &[u64] {
        let start = proposition as usize * self.words;
        &self.sets[start..start + self.words]
    }

    /// Another way to reach `p`, through `via`; whether its set changed and whether it is the first way.
    fn restrict(&mut self, p: u32, via: &[u64]) -> (bool, bool) {
        let start = p as usize * self.words;
        let set = &mut self.sets[start..start + self.words];
        if !self.reached[p as usize] {
            self.reached[p as usize] = true;
            set.copy_from_slice(via);
            bits::set(set, p);
            return (true, true);
        }
        let own = (p >> 6) as usize;
        let mut changed = false;
        for (w, (mine, other)) in set.iter_mut().zip(via).enumerate() {
            let mut keep = *mine & other;
            if w == own {
                keep |= *mine & (1 << (p & 63));
            }
            changed |= keep != *mine;
            *mine = keep;
        }
        (changed, false)
    }

    /// Operators that may make one of the facts true first.
    fn first_achievers<'a>(
        &'a self,
        facts: &'a [Fact],
        relaxed: &'a Relaxed,
        achievers: &'a Csr,
    ) -> impl Iterator<Item = usize> + 'a {
        let of = move |fact: &Fact| achievers.row(*fact as usize).iter().map(|&o| o as usize);
        let may_be_first = move |o: &usize| facts.iter().all(|&fact| self.may_be_first(*o, fact, relaxed));
        facts.iter().flat_map(of).filter(may_be_first)
    }

    /// Landmarks that are preconditions of every operator that may make one of the facts true first.
    fn just_before(&self, facts: &[Fact], relaxed: &Relaxed, achievers: &Csr, number: &[u32]) -> Vec<u32> {
        let mut common: Option<Vec<u32>> = None;
        for o in self.first_achievers(facts, relaxed, achievers) {
            let pre = relaxed.preconditions.row(o);
            match &mut common {
                None => common = Some(pre.to_vec()),
                Some(list) => list.retain(|p| pre.contains(p)),
            }
        }
        let landmark = |p: u32| number.get(p as usize).copied().filter(|&n| n != NONE);
        common.unwrap_or_default().into_iter().filter_map(landmark).collect()
    }

    /// Sets of facts of one predicate: each operator that may make one of `facts` true first needs one of the set. Sets with a fact that
    /// is initially true, or a landmark itself, are left out.
    fn sets_before(
        &self,
        facts: &[Fact],
        task: &GroundTask,
        relaxed: &Relaxed,
        achievers: &Csr,
        number: &[u32],
    ) -> Vec<Vec<Fact>> {
        let mut sets: Option<Vec<(u32, Vec<Fact>)>> = None;
        for o in self.first_achievers(facts, relaxed, achievers) {
            let pre = relaxed.preconditions.row(o).iter().copied();
            let pre: SmallVec<[(u32, Fact); 8]> = pre
                .filter(|&p| (p as usize) < task.facts.len())
                .map(|p| (task.facts[p as usize].predicate, p))
                .collect();
            let sets = sets.get_or_insert_with(|| {
                let mut predicates: Vec<u32> = pre.iter().map(|&(predicate, _)| predicate).collect();
                predicates.sort_unstable();
                predicates.dedup();
                predicates.into_iter().map(|predicate| (predicate, Vec::new())).collect()
            });
            sets.retain_mut(|(predicate, set)| {
                let mut needed =
                    pre.iter().filter(|(p, _)| *p == *predicate).map(|&(_, fact)| fact).peekable();
                let is_needed = needed.peek().is_some();
                for fact in needed {
                    if !set.contains(&fact) {
                        set.push(fact);
                    }
                }
                is_needed && set.len() <= MAX_SET
            });
            if sets.is_empty() {
                return Vec::new();
            }
        }
        let mut found: Vec<Vec<Fact>> = sets.unwrap_or_default().into_iter().map(|(_, set)| set).collect();
        found.retain(|set| {
            set.len() > 1
                && set.iter().all(|fact| number[*fact as usize] == NONE && !bits::get(&self.initial, *fact))
        });
        found.iter_mut().for_each(|set| set.sort_unstable());
        found
    }

    fn may_be_first(&self, o: usize, f: Fact, relaxed: &Relaxed) -> bool {
        relaxed.preconditions.row(o).iter().all(|&p| self.reached[p as usize] && !bits::get(self.of(p), f))
    }
}

/// Landmarks reached on each state's paths, and the number that remains.
pub(super) struct LandmarkCount<'l> {
    landmarks: &'l Landmarks,
    words: usize,
    /// Reached sets by state.
    reached: Vec<u64>,
    /// Amount that each landmark counts.
    weights: Vec<u32>,
}

impl<'l> LandmarkCount<'l> {
    /// Counts landmarks or, with a unit of cost, the cheapest ways to add them.
    pub(super) fn new(landmarks: &'l Landmarks, task: &GroundTask, unit: Option<u64>) -> Self {
        let mut weights = vec![if unit.is_some() { u32::MAX } else { 1 }; landmarks.len()];
        if let Some(unit) = unit {
            for (operator, added) in task.operators.iter().zip(&landmarks.added_by) {
                for &l in added {
                    weights[l as usize] = weights[l as usize].min(scaled(operator.cost, unit));
                }
            }
            // What no operator adds holds initially.
            weights.iter_mut().filter(|w| **w == u32::MAX).for_each(|w| *w = 1);
        }
        LandmarkCount { landmarks, words: bits::words_for(landmarks.len()), reached: Vec::new(), weights }
    }

    /// The initial state: what holds is reached.
    pub(super) fn start(&mut self, root: StateId, state: &[u64]) {
        self.reached.resize((root as usize + 1) * self.words, 0);
        let set = &mut self.reached[root as usize * self.words..];
        for landmark in (0..self.landmarks.len()).filter(|&l| self.landmarks.holds(l, state)) {
            bits::set(set, landmark as u32);
        }
    }

    /// A state reached from `parent`: new, or on another path (then a landmark counts only where both paths have it).
    pub(super) fn reach(&mut self, parent: StateId, id: StateId, new: bool, state: &[u64]) {
        let start = parent as usize * self.words;
        let mut set: SmallVec<[u64; 8]> = self.reached[start..start + self.words].into();
        for landmark in 0..self.landmarks.len() {
            if !bits::get(&set, landmark as u32) && self.landmarks.holds(landmark, state) {
                let before = &self.landmarks.earlier[landmark];
                if before.iter().all(|&b| bits::get(&set, b)) {
                    bits::set(&mut set, landmark as u32);
                }
            }
        }
        if new {
            self.reached.extend_from_slice(&set);
        } else {
            let start = id as usize * self.words;
            self.reached[start..start + self.words].iter_mut().zip(&set).for_each(|(a, b)| *a &= b);
        }
    }

    fn is_reached(&self, id: StateId, landmark: u32) -> bool {
        bits::get(&self.reached[id as usize * self.words..(id as usize + 1) * self.words], landmark)
    }

    /// Landmarks not reached, and those reached that are needed again.
    pub(super) fn value(&self, id: StateId, state: &[u64]) -> u32 {
        let landmarks = self.landmarks;
        let mut needed: SmallVec<[u64; 8]> = SmallVec::from_elem(0, self.words);
        for landmark in 0..landmarks.len() {
            if !self.is_reached(id, landmark as u32) {
                bits::set(&mut needed, landmark as u32);
                for &before in &landmarks.just_before[landmark] {
                    if !landmarks.holds(before as usize, state) {
                        bits::set(&mut needed, before);
                    }
                }
            } else if landmarks.goal[landmark] && !landmarks.holds(landmark, state) {
                bits::set(&mut needed, landmark as u32);
            }
        }
        bits::ones(&needed).fold(0, |sum: u32, l| sum.saturating_add(self.weights[l as usize]))
    }

    /// Adds the operators that reach a landmark all of whose predecessors are reached.
    pub(super) fn collect_preferred(
        &self,
        id: StateId,
        space: &Space<'_>,
        state: &[u64],
        operators: &[u32],
        favourites: &mut Vec<u32>,
    ) {
        let landmarks = self.landmarks;
        for &operator in operators {
            let helps = landmarks.added_by[operator as usize].iter().any(|&l| {
                let adds_now = || {
                    let shape = &space.task.operators[operator as usize];
                    let adds = |f: &Fact| {
                        shape.add.binary_search(f).is_ok()
                            || shape
                                .conditional
                                .iter()
                                .any(|c| c.add.contains(f) && c.condition.holds(state, &[]))
                    };
                    !landmarks.holds(l as usize, state) && landmarks.facts_of(l as usize).iter().any(adds)
                };
                !self.is_reached(id, l)
                    && landmarks.earlier[l as usize].iter().all(|&b| self.is_reached(id, b))
                    && adds_now()
            });
            if helps {
                favourites.push(operator);
            }
        }
    }
}
