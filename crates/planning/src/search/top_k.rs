//! The k cheapest plans: best-first search over walks instead of states. A walk is one action sequence from the initial state;
//! walks are ordered by cost, then length, then the names of their actions. Of the walks to one state only the k first matter: were
//! a plan to pass through another, its k betters followed by the plan's rest would be k better plans.
//!
//! The open list is ordered by (cost so far + lower bound on the rest, length). Bounds never fall by more than a step costs along a walk, so
//! a bucket is complete when it comes to the front, and the plans in it are the next ones in order. That holds for any admissible
//! heuristic, consistent or not, and cycles of cost 0 are left for later by their length.

use super::lmcut::LmCut;
use super::node_table::{NONE, NodeTable, StateId};
use super::relaxed::Relaxed;
use super::space::{SearchStatistics, Space, Watch};
use crate::budget::StopReason;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

/// `h` of states that cannot reach the goal.
const DEAD: u32 = u32::MAX;

/// Number of a walk.
type WalkId = u32;

/// What is wanted.
pub(crate) struct Wanted<'w> {
    /// Most plans.
    pub(crate) count: usize,
    /// The highest cost of interest, given the lowest.
    pub(crate) highest: &'w dyn Fn(u64) -> u64,
    /// Place of each action of the task in the order of names.
    pub(crate) rank: &'w [u32],
}

/// How a search for several plans ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As many as wanted were found.
    Enough,
    /// There are no others of interest.
    NoMore,
    /// A limit; the plans found are the first ones all the same.
    Stopped(StopReason),
}

/// Plans in order, each with its cost and its actions.
pub(crate) struct Plans {
    pub(crate) plans: Vec<(u64, Vec<u32>)>,
    pub(crate) end: End,
    pub(crate) method: &'static str,
    pub(crate) statistics: SearchStatistics,
}

/// Searches.
pub(crate) fn search(space: &Space<'_>, wanted: &Wanted<'_>, watch: &mut Watch<'_>) -> Plans {
    let additive = space.task.axioms.is_empty() && !space.task.has_conditional_effects();
    let relaxed = Relaxed::new(space.task);
    let mut search = Search {
        space,
        wanted,
        heuristic: LmCut::new(&relaxed),
        additive,
        table: space.table(),
        states: Vec::new(),
        edges: Vec::new(),
        walks: Vec::new(),
        open: BTreeMap::new(),
        plan_costs: BinaryHeap::new(),
        highest: u64::MAX,
        plans: Vec::new(),
        statistics: SearchStatistics::default(),
        buffers: Buffers::default(),
    };
    let end = watch.charge(relaxed.bytes()).and_then(|()| search.run(watch)).unwrap_or_else(End::Stopped);
    Plans {
        plans: search.plans,
        end,
        method: if additive { "k-best search with LM-cut" } else { "k-best search with h_max" },
        statistics: search.statistics,
    }
}

/// An action sequence: another one and a step.
struct Walk {
    cost: u64,
    /// [`NONE`] for the empty walk.
    parent: WalkId,
    action: u32,
    state: StateId,
    length: u32,
    /// Whether as many better ones as are wanted lead to its state.
    superseded: bool,
}

/// What is known of a state.
struct StateNode {
    /// A lower bound on the cost to the goal.
    h: u32,
    /// Whether the heuristic has been asked.
    evaluated: bool,
    goal: bool,
    /// Where its successors are in the list of edges, once it was expanded.
    edges: Option<(u32, u32)>,
    /// The best walks known to it, best first.
    best: Vec<WalkId>,
}

/// A step from a state.
#[derive(Clone, Copy)]
struct Edge {
    action: u32,
    cost: u32,
    to: StateId,
}

#[derive(Default)]
struct Buffers {
    state: Vec<u64>,
    next: Vec<u64>,
    operators: Vec<u32>,
}

struct Search<'s, 't, 'w> {
    space: &'s Space<'t>,
    wanted: &'s Wanted<'w>,
    heuristic: LmCut<'s>,
    /// Whether LM-cut applies; h_max does always.
    additive: bool,
    table: NodeTable,
    states: Vec<StateNode>,
    edges: Vec<Edge>,
    walks: Vec<Walk>,
    open: BTreeMap<(u64, u32), Vec<WalkId>>,
    /// Costs of the cheapest plans generated, at most as many as wanted.
    plan_costs: BinaryHeap<u64>,
    /// Walks that must cost more than this are of no interest.
    highest: u64,
    plans: Vec<(u64, Vec<u32>)>,
    statistics: SearchStatistics,
    buffers: Buffers,
}

impl Search<'_, '_, '_> {
    fn run(&mut self, watch: &mut Watch<'_>) -> Result<End, StopReason> {
        let root = self.space.initial();
        let (root, _) = self.intern(&root);
        self.add(Walk { cost: 0, parent: NONE, action: NONE, state: root, length: 0, superseded: false });
        while let Some(((bound, _), bucket)) = self.open.pop_first() {
            if bound > self.highest {
                break;
            }
            self.collect_plans(&bucket);
            if self.plans.len() == self.wanted.count {
                return Ok(End::Enough);
            }
            for walk in bucket {
                watch.tick(self.walks.len(), 56 + self.table.bytes_per_state())?;
                if !self.walks[walk as usize].superseded {
                    self.expand(walk, bound, watch)?;
                }
            }
        }
        Ok(End::NoMore)
    }

    /// The plans of a bucket: all of one cost and length.
    fn collect_plans(&mut self, bucket: &[WalkId]) {
        let is_plan = |w: &WalkId| {
            let walk = &self.walks[*w as usize];
            !walk.superseded && self.states[walk.state as usize].goal
        };
        let mut found: Vec<WalkId> = bucket.iter().copied().filter(is_plan).collect();
        found.sort_by(|&a, &b| self.by_names(a, b));
        found.truncate(self.wanted.count - self.plans.len());
        for walk in found {
            let cost = self.walks[walk as usize].cost;
            if self.plans.is_empty() {
                self.highest = self.highest.min((self.wanted.highest)(cost));
            }
            self.plans.push((cost, self.actions(walk)));
        }
    }

    fn actions(&self, mut walk: WalkId) -> Vec<u32> {
        let mut actions = Vec::with_capacity(self.walks[walk as usize].length as usize);
        while self.walks[walk as usize].parent != NONE {
            actions.push(self.walks[walk as usize].action);
            walk = self.walks[walk as usize].parent;
        }
        actions.reverse();
        actions
    }

    /// Compares walks of one length by the names of their actions: the first difference counts.
    fn by_names(&self, mut a: WalkId, mut b: WalkId) -> Ordering {
        let mut order = Ordering::Equal;
        while a != b {
            let (left, right) = (&self.walks[a as usize], &self.walks[b as usize]);
            let here = self.wanted.rank[left.action as usize].cmp(&self.wanted.rank[right.action as usize]);
            if here != Ordering::Equal {
                order = here;
            }
            (a, b) = (left.parent, right.parent);
        }
        order
    }

    fn compare(&self, a: WalkId, b: WalkId) -> Ordering {
        let (left, right) = (&self.walks[a as usize], &self.walks[b as usize]);
        (left.cost, left.length).cmp(&(right.cost, right.length)).then_with(|| self.by_names(a, b))
    }

    /// The number of a state, and whether it is new.
    fn intern(&mut self, state: &[u64]) -> (StateId, bool) {
        let (id, new) = self.table.insert(state, NONE, NONE);
        if new {
            let goal = self.space.is_goal(state);
            self.states.push(StateNode { h: 0, evaluated: false, goal, edges: None, best: Vec::new() });
        }
        (id, new)
    }

    /// Takes a walk up, unless enough better ones lead to its state or enough plans are cheaper than it can become.
    fn add(&mut self, walk: Walk) {
        let state = walk.state as usize;
        let h = self.states[state].h;
        if h == DEAD || walk.cost + u64::from(h) > self.highest {
            return;
        }
        let (cost, length, id) = (walk.cost, walk.length, self.walks.len() as WalkId);
        let full = self.states[state].best.len() == self.wanted.count;
        self.walks.push(walk);
        if full && let Some(&last) = self.states[state].best.last() {
            if self.compare(id, last) == Ordering::Greater {
                self.walks.pop();
                return;
            }
            self.states[state].best.pop();
            self.walks[last as usize].superseded = true;
        }
        let best = &self.states[state].best;
        let place = best.partition_point(|&other| self.compare(other, id) == Ordering::Less);
        self.states[state].best.insert(place, id);
        self.open.entry((cost + u64::from(h), length)).or_default().push(id);
        if self.states[state].goal {
            self.plan_costs.push(cost);
            if self.plan_costs.len() > self.wanted.count {
                self.plan_costs.pop();
            }
            if self.plan_costs.len() == self.wanted.count
                && let Some(&most) = self.plan_costs.peek()
            {
                self.highest = self.highest.min(most);
            }
        }
    }

    /// Makes all walks that are one step longer, or puts the walk back where the heuristic shows that it is dearer.
    fn expand(&mut self, id: WalkId, bound: u64, watch: &mut Watch<'_>) -> Result<(), StopReason> {
        let Walk { cost, state, length, .. } = self.walks[id as usize];
        self.evaluate(state);
        let h = self.states[state as usize].h;
        if h == DEAD {
            return Ok(());
        }
        let dearer = cost + u64::from(h);
        if dearer > bound {
            if dearer <= self.highest {
                self.open.entry((dearer, length)).or_default().push(id);
            }
            return Ok(());
        }
        let (first, end) = match self.states[state as usize].edges {
            Some(range) => range,
            None => self.successors(state, watch)?,
        };
        self.statistics.expanded += 1;
        for edge in first..end {
            let Edge { action, cost: step, to } = self.edges[edge as usize];
            self.statistics.generated += 1;
            let child = &mut self.states[to as usize];
            if child.h != DEAD {
                child.h = child.h.max(h.saturating_sub(step));
            }
            self.add(Walk {
                cost: cost + u64::from(step),
                parent: id,
                action,
                state: to,
                length: length + 1,
                superseded: false,
            });
        }
        Ok(())
    }

    /// Lists the steps from a state, each ground action once: two operators of one action do the same.
    fn successors(&mut self, id: StateId, watch: &mut Watch<'_>) -> Result<(u32, u32), StopReason> {
        let mut buffers = std::mem::take(&mut self.buffers);
        let task = self.space.task;
        let action = |o: u32| task.operators[o as usize].action;
        buffers.state.clear();
        buffers.state.extend_from_slice(self.table.state(id));
        self.space.applicable(&buffers.state, &mut buffers.operators);
        buffers.operators.sort_unstable_by_key(|&o| (action(o), o));
        buffers.operators.dedup_by_key(|o| action(*o));
        let first = self.edges.len() as u32;
        for &operator in &buffers.operators {
            self.space.apply(&buffers.state, operator, &mut buffers.next);
            let (to, _) = self.intern(&buffers.next);
            self.edges.push(Edge { action: action(operator), cost: self.space.cost(operator), to });
        }
        let range = (first, self.edges.len() as u32);
        self.states[id as usize].edges = Some(range);
        watch.charge((size_of::<Edge>() * buffers.operators.len()) as u64)?;
        self.buffers = buffers;
        Ok(range)
    }

    /// Asks the heuristic about a state, once.
    fn evaluate(&mut self, id: StateId) {
        let node = &mut self.states[id as usize];
        if std::mem::replace(&mut node.evaluated, true) {
            return;
        }
        let state = self.table.state(id);
        if self.space.is_dead_end(state) {
            node.h = DEAD;
            return;
        }
        self.statistics.evaluated += 1;
        let value = if self.additive { self.heuristic.evaluate(state) } else { self.heuristic.h_max(state) };
        node.h = value.map_or(DEAD, |value| node.h.max(value));
    }
}
