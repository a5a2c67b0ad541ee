//! [`Landmarks`] are facts of the delete relaxation that every plan makes true, with their orders; a [`LandmarkCount`] is the number of
//! those still to be reached.

use super::relaxed::{Relaxed, scaled};
use super::space::{NONE, Space, StateId};
use crate::bits;
use crate::csr::Csr;
use crate::resources::{LimitWatch, StopReason};
use crate::task::{Fact, GroundTask};
use smallvec::SmallVec;

/// Most words of landmark sets. Beyond it landmarks are left out, and h_FF is the only heuristic.
const MAX_WORDS: usize = 40_000_000;

/// Facts that every plan makes true at some time.
pub(super) struct Landmarks {
    facts: Vec<Fact>,
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
        let just_before = facts.iter().map(|&f| sets.just_before(f, relaxed, &achievers, &number)).collect();
        Ok(Some(Landmarks { facts, goal, just_before, earlier, added_by }))
    }

    fn len(&self) -> usize {
        self.facts.len()
    }

    #[inline]
    fn holds(&self, landmark: usize, state: &[u64]) -> bool {
        bits::get(state, self.facts[landmark])
    }
}

/// For each proposition the propositions that every relaxed plan for it makes true.
struct LandmarkSets {
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

    /// Landmarks that are preconditions of every operator that may add `f` first.
    fn just_before(&self, f: Fact, relaxed: &Relaxed, achievers: &Csr, number: &[u32]) -> Vec<u32> {
        let mut common: Option<Vec<u32>> = None;
        let achievers = achievers.row(f as usize).iter().map(|&o| o as usize);
        for o in achievers.filter(|&o| self.may_be_first(o, f, relaxed)) {
            let pre = relaxed.preconditions.row(o);
            match &mut common {
                None => common = Some(pre.to_vec()),
                Some(list) => list.retain(|p| pre.contains(p)),
            }
        }
        let landmark = |p: u32| number.get(p as usize).copied().filter(|&n| n != NONE);
        common.unwrap_or_default().into_iter().filter_map(landmark).collect()
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
                let f = landmarks.facts[l as usize];
                let adds_now = || {
                    let shape = &space.task.operators[operator as usize];
                    !bits::get(state, f)
                        && (shape.add.binary_search(&f).is_ok()
                            || shape
                                .conditional
                                .iter()
                                .any(|c| c.add.contains(&f) && c.condition.holds(state, &[])))
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
