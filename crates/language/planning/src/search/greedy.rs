//! Lazy greedy best-first search: states are evaluated when they are expanded, successors wait under their parent's
//! value, preferred operators have open lists of their own that are served more often after progress.

use super::landmarks::{LandmarkCount, Landmarks};
use super::relaxed::{FfHeuristic, Relaxed};
use super::space::{NONE, NodeTable, Outcome, SearchStatistics, Space, StateId};
use crate::resources::{LimitWatch, StopReason};
use std::collections::{BTreeMap, VecDeque};

/// Pops by which a preferred open list is ahead after progress.
const BOOST: i64 = 1000;

/// A successor not yet generated: its parent and the operator.
type Edge = (StateId, u32);

/// One heuristic's open lists.
struct Lists {
    all: BucketQueue<Edge>,
    preferred: BucketQueue<Edge>,
    /// Pops charged to each; the list with fewer is served next.
    turns: [i64; 2],
    best: u32,
}

impl Lists {
    fn new() -> Self {
        Lists { all: BucketQueue::new(), preferred: BucketQueue::new(), turns: [0, 0], best: u32::MAX }
    }
}

/// State of one search.
struct Greedy<'s, 't> {
    space: &'s Space<'t>,
    table: NodeTable,
    ff: FfHeuristic<'s>,
    landmarks: Option<LandmarkCount<'s>>,
    lists: Vec<Lists>,
    /// True for each operator that is preferred in the state under expansion.
    preferred: Vec<bool>,
}

/// Searches greedily with h_FF and, where the task has landmarks, their count.
pub(crate) fn search(
    space: &Space<'_>,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Outcome {
    let relaxed = Relaxed::new(space.task);
    if let Err(reason) = watch.charge(relaxed.bytes()) {
        return Outcome::Stopped(reason);
    }
    let landmarks = match Landmarks::find(space.task, &relaxed, watch) {
        Ok(landmarks) => landmarks,
        Err(reason) => return Outcome::Stopped(reason),
    };
    let mut greedy = Greedy {
        space,
        table: space.table(),
        ff: FfHeuristic::new(&relaxed, space.task.operators.len()),
        lists: (0..1 + usize::from(landmarks.is_some())).map(|_| Lists::new()).collect(),
        landmarks: landmarks.as_ref().map(LandmarkCount::new),
        preferred: vec![false; space.task.operators.len()],
    };
    greedy.run(watch, statistics).unwrap_or_else(Outcome::Stopped)
}

impl Greedy<'_, '_> {
    fn run(
        &mut self,
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<Outcome, StopReason> {
        let initial = self.space.initial();
        let (root, _) = self.table.insert(&initial, NONE, NONE);
        if self.space.is_goal(&initial) {
            return Ok(Outcome::Plan(Vec::new()));
        }
        if let Some(landmarks) = &mut self.landmarks {
            landmarks.start(root, &initial);
        }
        let mut state = initial;
        let mut next = Vec::new();
        let mut current = root;
        loop {
            self.expand(current, &state, statistics);
            loop {
                let waiting: usize = self.lists.iter().map(|l| l.all.len() + l.preferred.len()).sum();
                let per_node =
                    self.table.bytes_per_state() + 16 * (1 + waiting as u64 / (self.table.len() as u64 + 1));
                watch.tick(self.table.len(), per_node)?;
                let Some((parent, operator)) = self.pop() else { return Ok(Outcome::Unsolvable) };
                self.space.apply(self.table.state(parent), operator, &mut next);
                statistics.generated += 1;
                let (id, new) = self.table.insert(&next, parent, operator);
                if let Some(landmarks) = &mut self.landmarks {
                    landmarks.reach(parent, id, new, &next);
                }
                if new {
                    if self.space.is_goal(&next) {
                        return Ok(Outcome::Plan(self.table.path(id)));
                    }
                    std::mem::swap(&mut state, &mut next);
                    current = id;
                    break;
                }
            }
        }
    }

    /// Evaluates a state and queues its successors.
    fn expand(&mut self, id: StateId, state: &[u64], statistics: &mut SearchStatistics) {
        if self.space.is_dead_end(state) {
            return;
        }
        statistics.evaluated += 1;
        let mut favourites = Vec::new();
        let Some(ff) = self.ff.evaluate(state, &mut favourites) else { return };
        let mut operators = Vec::new();
        self.space.applicable(state, &mut operators);
        let mut values = [ff, 0];
        if let Some(landmarks) = &mut self.landmarks {
            values[1] = landmarks.value(id, state);
            landmarks.collect_preferred(id, self.space, state, &operators, &mut favourites);
        }
        statistics.expanded += 1;
        let mut progress = false;
        for (list, value) in self.lists.iter_mut().zip(values) {
            if value < list.best {
                list.best = value;
                progress = true;
            }
        }
        if progress {
            self.lists.iter_mut().for_each(|l| l.turns[1] -= BOOST);
        }
        favourites.iter().for_each(|&o| self.preferred[o as usize] = true);
        for operator in operators {
            let preferred = self.preferred[operator as usize];
            for (list, value) in self.lists.iter_mut().zip(values) {
                list.all.push(value, (id, operator));
                if preferred {
                    list.preferred.push(value, (id, operator));
                }
            }
        }
        favourites.iter().for_each(|&o| self.preferred[o as usize] = false);
    }

    /// The next successor, from the list that had the fewest turns.
    fn pop(&mut self) -> Option<Edge> {
        let mut best: Option<(i64, usize, usize)> = None;
        for (l, lists) in self.lists.iter().enumerate() {
            for (kind, len) in [lists.all.len(), lists.preferred.len()].into_iter().enumerate() {
                if len > 0 && best.is_none_or(|(turns, _, _)| lists.turns[kind] < turns) {
                    best = Some((lists.turns[kind], l, kind));
                }
            }
        }
        let (_, l, kind) = best?;
        let lists = &mut self.lists[l];
        lists.turns[kind] += 1;
        if kind == 0 { lists.all.pop() } else { lists.preferred.pop() }
    }
}

/// Entries by a key, the smallest key first.
#[derive(Debug)]
struct BucketQueue<T> {
    buckets: Vec<VecDeque<T>>,
    /// Keys beyond the buckets: rare and large.
    far: BTreeMap<u32, VecDeque<T>>,
    lowest: usize,
    len: usize,
}

/// Keys below this have a bucket of their own.
const NEAR: usize = 4096;

impl<T> BucketQueue<T> {
    pub(crate) fn new() -> Self {
        BucketQueue { buckets: Vec::new(), far: BTreeMap::new(), lowest: 0, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, key: u32, entry: T) {
        self.len += 1;
        let near = key as usize;
        if near >= NEAR {
            self.far.entry(key).or_default().push_back(entry);
            return;
        }
        if near >= self.buckets.len() {
            self.buckets.resize_with(near + 1, VecDeque::new);
        }
        self.buckets[near].push_back(entry);
        self.lowest = self.lowest.min(near);
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        while self.lowest < self.buckets.len() {
            if let Some(entry) = self.buckets[self.lowest].pop_front() {
                self.len -= 1;
                return Some(entry);
            }
            self.lowest += 1;
        }
        let mut first = self.far.first_entry()?;
        let entry = first.get_mut().pop_front();
        if first.get().is_empty() {
            first.remove();
        }
        self.len -= usize::from(entry.is_some());
        entry
    }
}
