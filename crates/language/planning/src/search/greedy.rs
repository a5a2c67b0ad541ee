//! Lazy greedy best-first search, and weighted A* in the same way: states are evaluated when they are expanded, successors wait under their parent's
//! value, preferred operators have open lists of their own that are served more often after progress.

use super::astar::EVALUATION;
use super::landmarks::{LandmarkCount, Landmarks};
use super::relaxed::{FfHeuristic, Relaxed};
use super::space::{NONE, NodeTable, SearchStatistics, Space, StateId, initial_state};
use crate::resources::{LimitWatch, StopReason};
use crate::task::{Condition, GroundTask};
use std::collections::{BTreeMap, VecDeque};

/// Pops by which a preferred open list is ahead after progress.
const BOOST: i64 = 1000;

/// A successor not yet generated: its parent and the operator.
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

    /// The next successor, from the list that had the fewest turns.
    pub(super) fn pop(all: &mut [Self]) -> Option<Edge> {
        let mut best: Option<(i64, usize, usize)> = None;
        for (l, lists) in all.iter().enumerate() {
            for (kind, len) in [lists.all.len(), lists.preferred.len()].into_iter().enumerate() {
                if len > 0 && best.is_none_or(|(turns, _, _)| lists.turns[kind] < turns) {
                    best = Some((lists.turns[kind], l, kind));
                }
            }
        }
        let (_, l, kind) = best?;
        let lists = &mut all[l];
        lists.turns[kind] += 1;
        if kind == 0 { lists.all.pop() } else { lists.preferred.pop() }
    }
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
    values: Vec<(u32, usize)>,
    /// For each evaluated state the number of preferred operators, then these.
    preferred: Vec<u32>,
}

/// Bytes of a state in [`Costs`], about.
const COSTS_BYTES: u64 = 40;

/// State of one search: greedy, or weighted A* which reopens states on a cheaper path. It can pause and continue.
pub(super) struct Greedy<'s, 't> {
    space: &'s Space<'t>,
    goal: &'s Condition,
    start: &'s [u64],
    table: NodeTable,
    ff: FfHeuristic<'s>,
    landmarks: Option<LandmarkCount<'s>>,
    lists: Vec<Lists<u32>>,
    /// True for each operator that is preferred in the state under expansion.
    preferred: Vec<bool>,
    /// `None` for the greedy search, which does not look at costs.
    costs: Option<Costs>,
    started: bool,
    /// Work of an evaluation.
    evaluation: u64,
    /// Evaluations and generated states, weighted by about the time that they take.
    pub(super) work: u64,
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
        Greedy {
            space,
            goal: &guidance.goal,
            start: &guidance.start,
            table: space.table(),
            ff: FfHeuristic::new(relaxed, space.task.operators.len(), weight.and(unit)),
            lists: (0..1 + usize::from(landmarks.is_some())).map(|_| Lists::new(u32::MAX)).collect(),
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
                + 16 * (1 + waiting as u64 / (self.table.len() as u64 + 1))
                + COSTS_BYTES * u64::from(self.costs.is_some());
            watch.tick(self.table.len(), per_node)?;
            let Some((parent, operator)) = Lists::pop(&mut self.lists) else {
                return Ok(Progress::Exhausted);
            };
            let cost = self
                .costs
                .as_ref()
                .map_or(0, |costs| costs.reached[parent as usize].saturating_add(self.space.cost(operator)));
            if cost >= ceiling {
                continue;
            }
            self.space.apply(self.table.state(parent), operator, &mut next);
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
            let end = start + 1 + costs.preferred[start] as usize;
            favourites.extend_from_slice(&costs.preferred[start + 1..end]);
            return Some(value);
        }
        statistics.evaluated += 1;
        self.work += self.evaluation;
        let value = self.ff.evaluate(state, favourites);
        if let Some(costs) = &mut self.costs
            && let Some(value) = value
        {
            costs.values.resize(costs.values.len().max(id as usize + 1), (NONE, 0));
            costs.values[id as usize] = (value, costs.preferred.len());
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
        favourites.iter().for_each(|&o| self.preferred[o as usize] = true);
        for operator in operators {
            let preferred = self.preferred[operator as usize];
            for (list, key) in self.lists.iter_mut().zip(keys) {
                list.all.push(key, (id, operator));
                if preferred {
                    list.preferred.push(key, (id, operator));
                }
            }
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
