//! Best-first width search, BFWS(f5) of Lipovetzky and Geffner (2017), for plateaus of the heuristics, and the greedy search beside it.
//!
//! States wait by their novelty, then by the goals that remain. Two counters divide the states: the goals that remain, and the facts of a relaxed plan
//! that were reached on the way since their number last fell. A state has novelty 1 if a fact is true for the first time among the states with the same
//! counters, 2 if a pair of facts is, and 3 otherwise. A relaxed plan is computed only where the number of goals has fallen, so most states cost
//! no evaluation.

use super::greedy::{self, BucketQueue, Greedy, Guidance, Progress, evaluation_work};
use super::landmarks::LandmarkCount;
use super::relaxed::FfHeuristic;
use super::rounds::{Account, run_round};
use super::space::{NONE, NodeTable, Outcome, SearchStatistics, Space, StateId};
use crate::bits;
use crate::resources::{Charged, LimitWatch, ResourceLimits, StopReason};
use crate::task::{Condition, Fact};
use rustc_hash::FxHashMap;

/// Name of the method.
pub(super) const METHOD: &str = "best-first width search";

/// Most words of pairs and parts, if a pair is to be added. Beyond them no pair is new.
const MAX_WORDS: usize = 1 << 25;
/// Most words of parts, which also divide single facts. Beyond them nothing is new.
const MAX_PART_WORDS: usize = MAX_WORDS / 2;
/// Range of the goals that remain within the keys of a novelty.
const LEVELS: u64 = 1 << 10;
/// Bytes of a state beside its entry in the table, about.
const NODE_BYTES: u64 = 32;

/// Work of a search in each round.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundWork {
    /// Work of the greedy search before the width search starts.
    pub(super) alone: u64,
    /// Work of each search in a round after that.
    pub(super) round: u64,
}

/// What the greedy search finds at all, it mostly finds alone.
pub(super) const ROUNDS: RoundWork = RoundWork { alone: 2_000_000, round: 50_000 };

/// A search with what it was charged.
struct Side<S> {
    search: S,
    charged: Charged,
    statistics: SearchStatistics,
}

impl<S> Side<S> {
    fn new(search: S) -> Self {
        Side { search, charged: Charged::default(), statistics: SearchStatistics::default() }
    }

    /// Runs a part of the search, which may generate `states` more.
    fn run(
        &mut self,
        limits: &mut dyn ResourceLimits,
        states: u64,
        part: impl FnOnce(&mut S, &mut LimitWatch<'_>, &mut SearchStatistics) -> Result<Progress, StopReason>,
    ) -> Result<Progress, StopReason> {
        let mut watch = self.charged.watch(limits, states);
        let result = part(&mut self.search, &mut watch, &mut self.statistics);
        self.charged = watch.charged();
        result
    }
}

/// Searches greedily with h_FF and, where the task has landmarks, their count; after some work side by side with a width search, in
/// rounds of counted work. The first to end wins, and the greedy search if both end in the same round. At its share of the memory a
/// search ends, and the other continues with all of it.
pub(super) fn search(
    space: &Space<'_>,
    guidance: &Guidance,
    rounds: RoundWork,
    max_nodes: u64,
    resources: &mut dyn ResourceLimits,
    statistics: &mut SearchStatistics,
) -> (Outcome, &'static str) {
    let mut greedy = Some(Side::new(Greedy::new(space, guidance, None)));
    let mut width: Option<Side<WidthSearch<'_, '_>>> = None;
    let mut accounts = <[Account; 2]>::default();
    // The states of both, which count for one limit.
    let mut states = [0, 0];
    let mut is_first_round = true;
    loop {
        let left = max_nodes.saturating_sub(states[0] + states[1]);
        if left == 0 {
            return (Outcome::Stopped(StopReason::Nodes), greedy::METHOD);
        }
        let work = if is_first_round { rounds.alone } else { rounds.round.min(left.div_ceil(2)) };
        let (first, second) = run_round(
            resources,
            &mut accounts,
            greedy.as_mut().map(|side| {
                move |limits: &mut dyn ResourceLimits| {
                    side.run(limits, states[0] + left, |search, watch, statistics| {
                        search.run(u64::MAX, work, watch, statistics)
                    })
                }
            }),
            width.as_mut().map(|side| {
                move |limits: &mut dyn ResourceLimits| {
                    side.run(limits, states[1] + left, |search, watch, statistics| {
                        search.run(work, watch, statistics)
                    })
                }
            }),
            |result| matches!(result, Ok(Progress::Plan(_) | Progress::Exhausted)),
        );
        for (counts, result) in [
            (greedy.as_mut().map(|side| &mut side.statistics), &first),
            (width.as_mut().map(|side| &mut side.statistics), &second),
        ] {
            *statistics += result.as_ref().and(counts).map(std::mem::take).unwrap_or_default();
        }
        let (mut stopped, mut is_over) = (None, [false, false]);
        for (i, (result, method)) in [(first, greedy::METHOD), (second, METHOD)].into_iter().enumerate() {
            match result {
                Some(Ok(Progress::Plan(plan))) => return (Outcome::Plan(plan), method),
                Some(Ok(Progress::Exhausted)) => return (Outcome::Unsolvable, method),
                Some(Err(StopReason::Memory)) => is_over[i] = true,
                Some(Err(reason)) => stopped = stopped.or(Some(reason)),
                Some(Ok(Progress::Paused)) | None => {}
            }
        }
        if let Some(reason) = stopped {
            return (Outcome::Stopped(reason), greedy::METHOD);
        }
        states = [
            greedy.as_ref().map_or(states[0], |side| side.search.len() as u64),
            width.as_ref().map_or(states[1], |side| side.search.len() as u64),
        ];
        if is_over[0] {
            greedy = None;
            accounts[0].close(resources);
        }
        if std::mem::take(&mut is_first_round) {
            width = Some(Side::new(WidthSearch::new(space, guidance)));
        } else if is_over[1] {
            width = None;
            accounts[1].close(resources);
        }
        if greedy.is_none() && width.is_none() {
            return (Outcome::Stopped(StopReason::Memory), greedy::METHOD);
        }
    }
}

/// Values of a state.
#[derive(Clone, Copy)]
struct Node {
    /// Goals or landmarks that remain.
    remaining: u32,
    /// Index of the relaxed plan; [`NONE`] until the state is expanded if it has one of its own.
    plan: u32,
    /// Start of the reached facts of the relaxed plan.
    reached: u32,
}

/// State of one search. It can pause and continue.
pub(super) struct WidthSearch<'s, 't> {
    space: &'s Space<'t>,
    goal: &'s Condition,
    start: &'s [u64],
    table: NodeTable,
    nodes: Vec<Node>,
    ff: FfHeuristic<'s>,
    landmarks: Option<LandmarkCount<'s>>,
    /// Facts of each relaxed plan.
    plans: Vec<Box<[Fact]>>,
    /// Facts of the relaxed plans that were reached, as bits by their place in the plan.
    reached: Vec<u64>,
    open: BucketQueue<StateId>,
    seen: Seen,
    /// Work of an evaluation.
    evaluation: u64,
    work: u64,
}

impl<'s, 't> WidthSearch<'s, 't> {
    /// A search from a start that is not a goal.
    pub(super) fn new(space: &'s Space<'t>, guidance: &'s Guidance) -> Self {
        WidthSearch {
            space,
            goal: &guidance.goal,
            start: &guidance.start,
            table: space.table(),
            nodes: Vec::new(),
            ff: FfHeuristic::new(&guidance.relaxed, space.task.operators.len(), None),
            landmarks: guidance.landmarks.as_ref().map(|l| LandmarkCount::new(l, space.task, None)),
            plans: Vec::new(),
            reached: Vec::new(),
            open: BucketQueue::new(),
            seen: Seen::new(space.task.facts.len()),
            evaluation: evaluation_work(&guidance.relaxed),
            work: 0,
        }
    }

    /// Number of states.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Searches until `work` more is done.
    pub(super) fn run(
        &mut self,
        work: u64,
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<Progress, StopReason> {
        let end = self.work.saturating_add(work);
        if self.table.len() == 0 {
            let (root, _) = self.table.insert(self.start, NONE, NONE);
            if let Some(landmarks) = &mut self.landmarks {
                landmarks.start(root, self.start);
            }
            let remaining = self.remaining(root, self.start);
            self.seen.novelty((remaining, 0), self.start, None, watch)?;
            self.nodes.push(Node { remaining, plan: NONE, reached: 0 });
            self.open.push(0, root);
        }
        let (mut state, mut next, mut operators) = (Vec::new(), Vec::new(), Vec::new());
        while self.work < end {
            let per_node = self.table.bytes_per_state() + NODE_BYTES;
            watch.tick(self.table.len(), per_node)?;
            let Some(id) = self.open.pop() else { return Ok(Progress::Exhausted) };
            self.table.read(id, &mut state);
            if self.space.is_dead_end(&state) || !self.prepare(id, &state, watch, statistics)? {
                continue;
            }
            statistics.expanded += 1;
            self.space.applicable(&state, &mut operators);
            self.work += 1;
            for &operator in &operators {
                self.space.apply(&state, operator, &mut next);
                statistics.generated += 1;
                self.work += 1;
                let (child, new) = self.table.insert(&next, id, operator);
                if let Some(landmarks) = &mut self.landmarks {
                    landmarks.reach(id, child, new, &next);
                }
                if !new {
                    continue;
                }
                if self.goal.holds(&next, &[]) {
                    return Ok(Progress::Plan(self.table.path(child)));
                }
                self.queue(id, &state, child, &next, watch)?;
            }
        }
        Ok(Progress::Paused)
    }

    /// Goals or, where the task has some, landmarks that remain.
    fn remaining(&self, id: StateId, state: &[u64]) -> u32 {
        match &self.landmarks {
            Some(landmarks) => landmarks.value(id, state),
            None => {
                let open = self.goal.positive.iter().filter(|&&f| !bits::get(state, f)).count();
                let shut = self.goal.negative.iter().filter(|&&f| bits::get(state, f)).count();
                (open + shut) as u32
            }
        }
    }

    /// Computes the relaxed plan that the successors are measured by. False in a dead end.
    fn prepare(
        &mut self,
        id: StateId,
        state: &[u64],
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<bool, StopReason> {
        if self.nodes[id as usize].plan != NONE {
            return Ok(true);
        }
        statistics.evaluated += 1;
        self.work += self.evaluation;
        let Some(facts) = self.ff.relaxed_plan_facts(state) else { return Ok(false) };
        let facts: Box<[Fact]> = facts.filter(|&f| !bits::get(state, f)).collect();
        let words = bits::words_for(facts.len());
        watch.charge(4 * facts.len() as u64 + 8 * words as u64)?;
        let node = &mut self.nodes[id as usize];
        node.plan = self.plans.len() as u32;
        node.reached = self.reached.len() as u32;
        self.reached.resize(self.reached.len() + words, 0);
        self.plans.push(facts);
        Ok(true)
    }

    /// Queues a new state by its novelty.
    fn queue(
        &mut self,
        parent: StateId,
        before: &[u64],
        id: StateId,
        state: &[u64],
        watch: &mut LimitWatch<'_>,
    ) -> Result<(), StopReason> {
        let from = self.nodes[parent as usize];
        let remaining = self.remaining(id, state);
        let mut node = Node { remaining, plan: NONE, reached: 0 };
        let (mut count, mut count_before) = (0, 0);
        if remaining >= from.remaining {
            node.plan = from.plan;
            node.reached = self.reached.len() as u32;
            let facts = &self.plans[from.plan as usize];
            let start = from.reached as usize;
            let words = bits::words_for(facts.len());
            self.reached.extend_from_within(start..start + words);
            let (old, new) = self.reached.split_at_mut(node.reached as usize);
            for (i, &fact) in facts.iter().enumerate() {
                if bits::get(state, fact) {
                    bits::set(new, i as u32);
                }
            }
            count = new.iter().map(|w| w.count_ones()).sum();
            count_before = old[start..start + words].iter().map(|w| w.count_ones()).sum();
            if count == count_before {
                // The same set is not kept twice.
                self.reached.truncate(node.reached as usize);
                node.reached = from.reached;
            } else {
                watch.charge(8 * words as u64)?;
            }
        }
        let same = remaining == from.remaining && count == count_before;
        let novelty = self.seen.novelty((remaining, count), state, same.then_some(before), watch)?;
        self.nodes.push(node);
        self.open.push(u64::from(novelty) * LEVELS + u64::from(remaining).min(LEVELS - 1), id);
        Ok(())
    }
}

/// The facts and pairs of facts of the states so far, by the counters of the states.
struct Seen {
    words: usize,
    facts: usize,
    parts: FxHashMap<(u32, u32), u32>,
    /// For each part the facts, as bits.
    single: Vec<u64>,
    /// For each part and fact the number of its row of pairs.
    row_of: Vec<u32>,
    rows: Vec<u64>,
}

impl Seen {
    fn new(facts: usize) -> Self {
        let words = bits::words_for(facts);
        Seen {
            words,
            facts,
            parts: FxHashMap::default(),
            single: Vec::new(),
            row_of: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Words of the parts.
    fn part_words(&self) -> usize {
        self.single.len() + self.row_of.len() / 2
    }

    /// Novelty of a state, whose facts and pairs are then known. `before` is a known state of the same part that differs little.
    fn novelty(
        &mut self,
        counters: (u32, u32),
        state: &[u64],
        before: Option<&[u64]>,
        watch: &mut LimitWatch<'_>,
    ) -> Result<u32, StopReason> {
        let fresh = self.parts.len() as u32;
        let part = *self.parts.entry(counters).or_insert(fresh) as usize;
        if part == fresh as usize {
            if self.part_words() > MAX_PART_WORDS {
                self.parts.remove(&counters);
                return Ok(3);
            }
            watch.charge(8 * self.words as u64 + 4 * self.facts as u64)?;
            self.single.resize(self.single.len() + self.words, 0);
            self.row_of.resize(self.row_of.len() + self.facts, NONE);
        }
        let single = &mut self.single[part * self.words..(part + 1) * self.words];
        let mut novelty = 3;
        for (known, word) in single.iter_mut().zip(state) {
            if word & !*known != 0 {
                *known |= word;
                novelty = 1;
            }
        }
        let mut changed: smallvec::SmallVec<[u64; 32]> = state.into();
        if let Some(before) = before {
            changed.iter_mut().zip(before).for_each(|(c, b)| *c &= !b);
        }
        for fact in bits::ones(&changed) {
            let Some(row) = self.row(part, fact, watch)? else { return Ok(novelty) };
            for (w, &word) in state.iter().enumerate() {
                let mut pairs = word & !self.rows[row + w];
                if pairs == 0 {
                    continue;
                }
                novelty = novelty.min(2);
                self.rows[row + w] |= pairs;
                while pairs != 0 {
                    let other = (w as u32) << 6 | pairs.trailing_zeros();
                    pairs &= pairs - 1;
                    let Some(other) = self.row(part, other, watch)? else { return Ok(novelty) };
                    bits::set(&mut self.rows[other..], fact);
                }
            }
        }
        Ok(novelty)
    }

    /// Start of the row of a fact; `None` if there is no space for it.
    fn row(
        &mut self,
        part: usize,
        fact: Fact,
        watch: &mut LimitWatch<'_>,
    ) -> Result<Option<usize>, StopReason> {
        let place = part * self.facts + fact as usize;
        if self.row_of[place] == NONE {
            if self.part_words() + self.rows.len() + self.words > MAX_WORDS {
                return Ok(None);
            }
            watch.charge(8 * self.words as u64)?;
            self.row_of[place] = (self.rows.len() / self.words) as u32;
            self.rows.resize(self.rows.len() + self.words, 0);
        }
        Ok(Some(self.row_of[place] as usize * self.words))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::resources::Unlimited;

    #[test]
    fn novelty_counts_facts_and_pairs_of_each_part() {
        let mut resources = Unlimited;
        let mut watch = LimitWatch::new(&mut resources, 10);
        let mut seen = Seen::new(70);
        let state = |facts: &[Fact]| {
            let mut words = vec![0; 2];
            facts.iter().for_each(|&f| bits::set(&mut words, f));
            words
        };
        for (part, facts, before, novelty) in [
            (1, &[1, 2][..], None, 1),
            (1, &[1, 2], None, 3),
            (1, &[2, 69], None, 1),
            (1, &[1, 69], None, 2),
            (1, &[1, 69], None, 3),
            (2, &[1, 69], None, 1),
            (1, &[1, 3], Some(&[1, 2][..]), 1),
            (1, &[3, 69], Some(&[1, 3]), 2),
            (1, &[3, 69], Some(&[1, 69]), 3),
        ] {
            let before = before.map(state);
            let found = seen.novelty((part, 0), &state(facts), before.as_deref(), &mut watch).unwrap();
            assert_eq!(found, novelty, "{part} {facts:?}");
        }
    }
}
