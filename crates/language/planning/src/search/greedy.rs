//! Lazy greedy best-first search, and weighted A* in the same way: states are evaluated when they are expanded, successors wait under their parent's
//! value, preferred operators have open lists of their own that are served more often after progress.
//!
//! All successors of a state wait as one entry, with the index of the operator that is next: its applicable operators are determined
//! again when its turn comes. One entry for each successor was most of the memory.

use super::astar::EVALUATION;
use super::landmarks::{LandmarkCount, Landmarks};
use super::relaxed::{FfHeuristic, Relaxed};
use super::space::{NONE, NodeTable, SearchStatistics, Space, StateId, initial_state};
use crate::resources::{LimitWatch, StopReason};
use crate::task::{Condition, GroundTask};
use std::collections::{BTreeMap, VecDeque};

/// Pops by which a preferred open list is ahead after progress.
const BOOST: i64 = 1000;

/// A successor not yet generated: its parent and the operator. In the greedy search's lists of all operators: the parent and the index of the
/// operator among those applicable.
pub(super) type Edge = (StateId, u32);

/// A start and a goal with what guides the search between them: the relaxed task and, where it has some, its landmarks.
pub(super) struct Guidance {
    pub(super) start: Vec<u64>,
    pub(super) goal: Condition,
    pub(super) relaxed: Relaxed,
    pub(super) landmarks: Option<Landmarks>,
}

impl Guidance {
    pub(super) fn new(task: &GroundTask, watch: &mut LimitWatch<'_>) -> Result<Self, StopReason> {
        let relaxed = Relaxed::new(task, &task.goal);
        watch.charge(relaxed.bytes())?;
        let landmarks = Landmarks::find(task, &relaxed, watch)?;
        Ok(Guidance { start: initial_state(task), goal: task.goal.clone(), relaxed, landmarks })
    }

    /// Guidance from any state to any goal, without landmarks.
    pub(super) fn between(task: &GroundTask, start: &[u64], goal: &Condition) -> Self {
        let relaxed = Relaxed::new(task, goal);
        Guidance { start: start.to_vec(), goal: goal.clone(), relaxed, landmarks: None }
    }
}

/// One heuristic's open lists.
pub(super) struct Lists<V> {
    pub(super) all: BucketQueue<Edge>,
    pub(super) preferred: BucketQueue<Edge>,
    /// Pops charged to each; the list with fewer is served next.
    pub(super) turns: [i64; 2],
    /// The lowest value of the heuristic so far.
    pub(super) best: V,
}

impl<V> Lists<V> {
    /// Empty lists; no value is above `highest`.
    pub(super) fn new(highest: V) -> Self {
        Lists { all: BucketQueue::new(), preferred: BucketQueue::new(), turns: [0, 0], best: highest }
    }

    /// The next entry, from the list that had the fewest turns.
    pub(super) fn pop(all: &mut [Self]) -> Option<Edge> {
        let (list, is_preferred) = Self::take_turn(all)?;
        let lists = &mut all[list];
        if is_preferred { lists.preferred.pop() } else { lists.all.pop() }
    }

    /// Charges a turn to the list that had the fewest. Returns its heuristic's index and true if it holds preferred operators.
    fn take_turn(all: &mut [Self]) -> Option<(usize, bool)> {
        let mut best: Option<(i64, usize, usize)> = None;
        for (l, lists) in all.iter().enumerate() {
            for (kind, len) in [lists.all.len(), lists.preferred.len()].into_iter().enumerate() {
                if len > 0 && best.is_none_or(|(turns, _, _)| lists.turns[kind] < turns) {
                    best = Some((lists.turns[kind], l, kind));
                }
            }
        }
        let (_, l, kind) = best?;
        all[l].turns[kind] += 1;
        Some((l, kind == 1))
    }
}

/// A state and its applicable operators.
struct Applicable {
    state: StateId,
    operators: Vec<u32>,
}

/// Costs of a weighted A* search.
struct Costs {
    weight: u64,
    /// Cost of one unit of the heuristics' values.
    unit: u64,
    /// Cost of the cheapest way to each state that was found.
    reached: Vec<u64>,
    /// The value of h_FF of each state and the place of its preferred operators in `preferred`, for states that are reopened. The value is
    /// [`NONE`] for a dead end, and for a state that was not evaluated.
    values: Vec<(u32, u32)>,
    /// For each evaluated state the number of preferred operators, then these.
    preferred: Vec<u32>,
}

/// Bytes of a state in [`Costs`], about.
const COSTS_BYTES: u64 = 32;

/// State of one search: greedy, or weighted A* which reopens states on a cheaper path. It can pause and continue.
pub(super) struct Greedy<'s, 't> {
    space: &'s Space<'t>,
    goal: &'s Condition,
    start: &'s [u64],
    table: NodeTable,
    ff: FfHeuristic<'s>,
    landmarks: Option<LandmarkCount<'s>>,
    lists: Vec<Lists<u32>>,
    /// For each heuristic the state whose successors were served last.
    served: Vec<Applicable>,
    /// True for each operator that is preferred in the state under expansion.
    preferred: Vec<bool>,
    /// `None` for the greedy search, which does not look at costs.
    costs: Option<Costs>,
    started: bool,
    /// Work of an evaluation.
    evaluation: u64,
    /// Evaluations and generated states, weighted by about the time that they take.
    pub(super) work: u64,
    /// The state that successors are generated from.
    state: Vec<u64>,
    next: Vec<u64>,
}

/// Result of a part of a search.
pub(super) enum Progress {
    /// A plan below the ceiling.
    Plan(Vec<u32>),
    /// There is no plan below the ceiling.
    Exhausted,
    /// The work of this part is done.
    Paused,
}

/// Name of the greedy search.
pub(super) const METHOD: &str = "lazy greedy search with h_FF, landmarks and preferred operators";

/// Work of an evaluation of h_FF beside a width search, where that of a generated state is 1. It grows with the task.
pub(super) fn evaluation_work(relaxed: &Relaxed) -> u64 {
    EVALUATION + relaxed.operators() as u64 / 256
}

impl<'s, 't> Greedy<'s, 't> {
    /// A greedy search or, with a weight for the heuristics, weighted A*.
    pub(super) fn new(space: &'s Space<'t>, guidance: &'s Guidance, weight: Option<u32>) -> Self {
        let unit = cost_unit(space.task);
        let relaxed = &guidance.relaxed;
        let landmarks = guidance.landmarks.as_ref();
        let heuristics = 1 + usize::from(landmarks.is_some());
        Greedy {
            space,
            goal: &guidance.goal,
            start: &guidance.start,
            table: space.table(),
            ff: FfHeuristic::new(relaxed, space.task.operators.len(), weight.and(unit)),
            lists: (0..heuristics).map(|_| Lists::new(u32::MAX)).collect(),
            served: (0..heuristics).map(|_| Applicable { state: NONE, operators: Vec::new() }).collect(),
            landmarks: landmarks.map(|l| LandmarkCount::new(l, space.task, weight.and(unit))),
            preferred: vec![false; space.task.operators.len()],
            costs: weight.map(|weight| Costs {
                weight: weight.into(),
                // Without a unit the values count steps, which all cost the same.
                unit: unit.unwrap_or_else(|| {
                    space.task.operators.first().map_or(1, |operator| operator.cost.max(1))
                }),
                reached: Vec::new(),
                values: Vec::new(),
                preferred: Vec::new(),
            }),
            started: false,
            evaluation: if weight.is_some() { EVALUATION } else { evaluation_work(relaxed) },
            work: 0,
            state: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Number of states.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Searches a plan that costs less than `ceiling` until `work` more is done.
    pub(super) fn run(
        &mut self,
        ceiling: u64,
        work: u64,
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<Progress, StopReason> {
        let end = self.work.saturating_add(work);
        if !std::mem::replace(&mut self.started, true) {
            let initial = self.start;
            let (root, _) = self.table.insert(initial, NONE, NONE);
            if self.goal.holds(initial, &[]) {
                return Ok(Progress::Plan(Vec::new()));
            }
            if let Some(landmarks) = &mut self.landmarks {
                landmarks.start(root, initial);
            }
            if let Some(costs) = &mut self.costs {
                costs.reached.push(0);
            }
            self.expand(root, initial, statistics);
        }
        let mut next = std::mem::take(&mut self.next);
        while self.work < end {
            let waiting: usize = self.lists.iter().map(|l| l.all.len() + l.preferred.len()).sum();
            let per_node = self.table.bytes_per_state()
                + 8 * (2 + waiting as u64 / (self.table.len() as u64 + 1))
                + COSTS_BYTES * u64::from(self.costs.is_some());
            watch.tick(self.table.len(), per_node)?;
            let Some((parent, operator)) = self.pop() else { return Ok(Progress::Exhausted) };
            let cost = self
                .costs
                .as_ref()
                .map_or(0, |costs| costs.reached[parent as usize].saturating_add(self.space.cost(operator)));
            if cost >= ceiling {
                continue;
            }
            self.table.read(parent, &mut self.state);
            self.space.apply(&self.state, operator, &mut next);
            statistics.generated += 1;
            self.work += 1;
            let (id, new) = self.table.insert(&next, parent, operator);
            if let Some(landmarks) = &mut self.landmarks {
                landmarks.reach(parent, id, new, &next);
            }
            if let Some(costs) = &mut self.costs {
                if new {
                    costs.reached.push(cost);
                } else if cost < costs.reached[id as usize] {
                    costs.reached[id as usize] = cost;
                    self.table.set_parent(id, parent, operator);
                } else {
                    continue;
                }
            } else if !new {
                continue;
            }
            if self.goal.holds(&next, &[]) {
                return Ok(Progress::Plan(self.table.path(id)));
            }
            self.expand(id, &next, statistics);
        }
        self.next = next;
        Ok(Progress::Paused)
    }

    /// The next successor.
    fn pop(&mut self) -> Option<Edge> {
        let (list, is_preferred) = Lists::take_turn(&mut self.lists)?;
        if is_preferred {
            return self.lists[list].preferred.pop();
        }
        let (all, served) = (&mut self.lists[list].all, &mut self.served[list]);
        let (state, index) = all.front_mut()?;
        if served.state != *state {
            served.state = *state;
            self.table.read(*state, &mut self.state);
            self.space.applicable(&self.state, &mut served.operators);
        }
        let edge = (*state, served.operators[*index as usize]);
        *index += 1;
        if *index as usize == served.operators.len() {
            all.pop();
        }
        Some(edge)
    }

    /// h_FF with the preferred operators; `None` for a dead end.
    fn evaluate(
        &mut self,
        id: StateId,
        state: &[u64],
        favourites: &mut Vec<u32>,
        statistics: &mut SearchStatistics,
    ) -> Option<u32> {
        if let Some(costs) = &self.costs
            && let Some(&(value, start)) = costs.values.get(id as usize).filter(|(value, _)| *value != NONE)
        {
            let start = start as usize;
            let end = start + 1 + costs.preferred[start] as usize;
            favourites.extend_from_slice(&costs.preferred[start + 1..end]);
            return Some(value);
        }
        statistics.evaluated += 1;
        self.work += self.evaluation;
        let value = self.ff.evaluate(state, favourites);
        if let Some(costs) = &mut self.costs
            && let Some(value) = value
            && let Ok(start) = u32::try_from(costs.preferred.len())
        {
            costs.values.resize(costs.values.len().max(id as usize + 1), (NONE, 0));
            costs.values[id as usize] = (value, start);
            costs.preferred.push(favourites.len() as u32);
            costs.preferred.extend_from_slice(favourites);
        }
        value
    }

    /// Evaluates a state and queues its successors.
    fn expand(&mut self, id: StateId, state: &[u64], statistics: &mut SearchStatistics) {
        if self.space.is_dead_end(state) {
            return;
        }
        let mut favourites = Vec::new();
        let Some(ff) = self.evaluate(id, state, &mut favourites, statistics) else { return };
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
        let keys = values.map(|value| match &self.costs {
            None => u64::from(value),
            Some(costs) => costs.reached[id as usize] / costs.unit + costs.weight * u64::from(value),
        });
        if !operators.is_empty() {
            self.lists.iter_mut().zip(keys).for_each(|(list, key)| list.all.push(key, (id, 0)));
        }
        favourites.iter().for_each(|&o| self.preferred[o as usize] = true);
        for operator in operators.into_iter().filter(|&o| self.preferred[o as usize]) {
            self.lists.iter_mut().zip(keys).for_each(|(list, key)| list.preferred.push(key, (id, operator)));
        }
        favourites.iter().for_each(|&o| self.preferred[o as usize] = false);
    }
}

/// Values of the heuristics that one operator adds at most, about.
const DEAREST: u64 = 256;

/// Cost of one unit of heuristic values that count costs; `None` if every operator costs the same. Without it large costs would
/// reach the cap of those values.
fn cost_unit(task: &GroundTask) -> Option<u64> {
    let costs = || task.operators.iter().map(|o| o.cost);
    let (least, most) = (costs().min()?, costs().max()?);
    (least != most).then(|| most.div_ceil(DEAREST))
}

/// Entries by a key, the smallest key first.
#[derive(Debug)]
pub(super) struct BucketQueue<T> {
    buckets: Vec<VecDeque<T>>,
    /// Keys beyond the buckets: rare and large.
    far: BTreeMap<u64, VecDeque<T>>,
    lowest: usize,
    len: usize,
}

/// Keys below this have a bucket of their own.
const NEAR: u64 = 4096;

impl<T> BucketQueue<T> {
    pub(crate) fn new() -> Self {
        BucketQueue { buckets: Vec::new(), far: BTreeMap::new(), lowest: 0, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, key: u64, entry: T) {
        self.len += 1;
        if key >= NEAR {
            self.far.entry(key).or_default().push_back(entry);
            return;
        }
        let near = key as usize;
        if near >= self.buckets.len() {
            self.buckets.resize_with(near + 1, VecDeque::new);
        }
        self.buckets[near].push_back(entry);
        self.lowest = self.lowest.min(near);
    }

    /// The entry that is popped next.
    fn front_mut(&mut self) -> Option<&mut T> {
        while self.buckets.get(self.lowest).is_some_and(VecDeque::is_empty) {
            self.buckets[self.lowest] = VecDeque::new();
            self.lowest += 1;
        }
        match self.buckets.get_mut(self.lowest) {
            Some(bucket) => bucket.front_mut(),
            None => self.far.first_entry().and_then(|first| first.into_mut().front_mut()),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        while self.lowest < self.buckets.len() {
            let bucket = &mut self.buckets[self.lowest];
            if let Some(entry) = bucket.pop_front() {
                self.len -= 1;
                return Some(entry);
            }
            *bucket = VecDeque::new();
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
