//! Lower bounds from projections: the task on one to three variables, solved for every abstract state. Saturated cost partitioning
//! (Seipp, Keller and Helmert, 2020) makes their sum admissible: a projection takes of each operator's cost only what its
//! distances need, and leaves the rest to the next. Several orders are computed; the bound is their highest sum.
//!
//! A variable is a set of facts of which no useful state has two. Negative conditions are left out, which only lowers the bound.

use super::mutex::Mutexes;
use super::space::{NONE, Space};
use crate::bits;
use crate::resources::{LimitWatch, StopReason};
use crate::task::{Fact, Operator};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Most abstract states of a projection, and of all.
const MAX_STATES: usize = 20_000;
const MAX_ALL_STATES: usize = 500_000;
/// Most transitions of a projection, and of all.
const MAX_TRANSITIONS: usize = 300_000;
const MAX_ALL_TRANSITIONS: usize = 4_000_000;
/// Most steps: each projection reads all of them.
const MAX_STEPS: usize = 200_000;
/// Most projections.
const MAX_PATTERNS: usize = 2_000;
/// Most orders.
const MAX_ORDERS: usize = 12;
/// Transitions that all orders may process, about.
const ORDER_WORK: usize = 24_000_000;
/// Facts up to which the largest set comes first.
const LARGEST_FIRST: usize = 1_500;

/// No abstract path leads to the goal.
const INFINITE: u32 = u32::MAX;

/// A lower bound on the cost from each state to the goal.
pub(super) struct Projections {
    variables: Variables,
    patterns: Vec<Pattern>,
    /// By order: projections, each with its abstract distances.
    orders: Vec<Vec<(u32, Box<[u32]>)>>,
    values: Vec<u32>,
    indices: Vec<u32>,
}

/// Finite-domain variables. The last value of each is that none of its facts holds.
struct Variables {
    /// By fact: its variable and value.
    of: Vec<(u32, u32)>,
    sizes: Vec<u32>,
}

/// The variables of a projection, ascending.
struct Pattern {
    variables: Vec<u32>,
    /// By variable: the factor of its value in the index of an abstract state.
    factors: Vec<u32>,
    size: usize,
}

/// An effect on a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Change {
    Keep,
    Set(u32),
    /// The variable has no fact afterwards, if it had this one.
    Clear(u32),
}

/// An operator over variables, or a case of it.
#[derive(Clone)]
struct Step {
    pre: Vec<(u32, u32)>,
    changes: Vec<(u32, Change)>,
    cost: u32,
}

/// A projection with its transitions.
struct Projection {
    /// By label: the operators that have the same effect in the projection.
    labels: Vec<Vec<u32>>,
    /// By target: where its transitions start in `transitions`.
    starts: Vec<u32>,
    /// Source and label.
    transitions: Vec<(u32, u32)>,
    goals: Vec<u32>,
}

impl Variables {
    fn find(facts: usize, mutexes: &Mutexes, watch: &mut LimitWatch<'_>) -> Result<Self, StopReason> {
        // A fact of no useful state has no variable.
        let mut open: Vec<bool> = (0..facts as Fact).map(|f| !mutexes.excludes(f, f)).collect();
        let mut variables = Variables { of: vec![(NONE, 0); facts], sizes: Vec::new() };
        let grow = |seed: usize, open: &[bool]| -> Vec<Fact> {
            let mut set = vec![seed as Fact];
            for f in (0..facts as Fact).filter(|&f| open[f as usize] && f as usize != seed) {
                if set.iter().all(|&g| mutexes.excludes(f, g)) {
                    set.push(f);
                }
            }
            set
        };
        let mut next = 0;
        loop {
            while next < facts && !open[next] {
                next += 1;
            }
            if next == facts {
                return Ok(variables);
            }
            watch.poll()?;
            let seeds = if facts <= LARGEST_FIRST { next..facts } else { next..next + 1 };
            let sets = seeds.filter(|&f| open[f]).map(|f| grow(f, &open));
            // The first of the largest: `max_by_key` returns the last.
            let Some(set) = sets.max_by_key(|set| (set.len(), Reverse(set[0]))) else {
                return Ok(variables);
            };
            let last = set.len() as u32;
            for (value, &fact) in set.iter().enumerate() {
                open[fact as usize] = false;
                variables.of[fact as usize] = (variables.sizes.len() as u32, value as u32);
            }
            variables.sizes.push(last + 1);
        }
    }

    /// Writes the values of a state.
    fn read(&self, state: &[u64], values: &mut [u32]) {
        values.iter_mut().zip(&self.sizes).for_each(|(v, size)| *v = size - 1);
        for fact in bits::ones(state) {
            let (variable, value) = self.of[fact as usize];
            if variable != NONE {
                values[variable as usize] = value;
            }
        }
    }
}

impl Pattern {
    fn new(mut variables: Vec<u32>, sizes: &[u32]) -> Option<Self> {
        variables.sort_unstable();
        let mut size = 1usize;
        let mut factors = Vec::new();
        for &v in &variables {
            factors.push(size as u32);
            size *= sizes[v as usize] as usize;
            if size > MAX_STATES {
                return None;
            }
        }
        Some(Pattern { variables, factors, size })
    }

    fn index(&self, values: &[u32]) -> u32 {
        self.variables.iter().zip(&self.factors).map(|(&v, f)| values[v as usize] * f).sum()
    }
}

impl Projections {
    /// Builds the bound; `None` where pairs of facts are not known or no projection has a distance.
    pub(super) fn build(space: &Space<'_>, watch: &mut LimitWatch<'_>) -> Result<Option<Self>, StopReason> {
        let Some(mutexes) = space.mutexes() else { return Ok(None) };
        let task = space.task;
        let variables = Variables::find(task.facts.len(), mutexes, watch)?;
        watch.poll()?;
        let mut steps = Vec::new();
        for operator in &task.operators {
            watch.poll()?;
            let Some(more) = variables.steps(operator, MAX_STEPS - steps.len()) else { return Ok(None) };
            steps.extend(more);
        }
        let goal: Vec<(u32, u32)> = task.goal.positive.iter().map(|&f| variables.of[f as usize]).collect();
        // A goal of no useful state needs no bound: all states are dead ends.
        if goal.iter().any(|g| g.0 == NONE) {
            return Ok(None);
        }
        let mut patterns = Vec::new();
        let mut projections = Vec::new();
        let (mut states, mut transitions) = (0, 0);
        for pattern in interesting(&variables, &steps, &goal) {
            if projections.len() == MAX_PATTERNS
                || states > MAX_ALL_STATES
                || transitions > MAX_ALL_TRANSITIONS
            {
                break;
            }
            let Some(pattern) = Pattern::new(pattern, &variables.sizes) else { continue };
            watch.poll()?;
            let Some(projection) = Projection::new(&pattern, &variables, &steps, &goal) else { continue };
            watch.charge((8 * pattern.size + 8 * projection.transitions.len()) as u64)?;
            states += pattern.size;
            transitions += projection.transitions.len();
            patterns.push(pattern);
            projections.push(projection);
        }
        let count = variables.sizes.len();
        let mut bound = Projections {
            patterns,
            orders: Vec::new(),
            values: vec![0; count],
            indices: Vec::new(),
            variables,
        };
        bound.partition(space, &steps, &projections, transitions, watch)?;
        bound.drop_unused();
        Ok((!bound.orders.is_empty()).then_some(bound))
    }

    /// Computes the distances in several orders.
    fn partition(
        &mut self,
        space: &Space<'_>,
        steps: &[Step],
        projections: &[Projection],
        transitions: usize,
        watch: &mut LimitWatch<'_>,
    ) -> Result<(), StopReason> {
        let costs: Vec<u32> = steps.iter().map(|s| s.cost).collect();
        let mut alone = Vec::new();
        for (projection, pattern) in projections.iter().zip(&self.patterns) {
            watch.poll()?;
            let distances = projection.distances(pattern.size, &costs);
            let used = projection.saturate(&distances);
            let stolen: u64 =
                used.iter().zip(&projection.labels).map(|(&u, l)| u64::from(u) * l.len() as u64).sum();
            alone.push((distances, stolen.max(1)));
        }
        let orders = (ORDER_WORK / transitions.max(1)).clamp(1, MAX_ORDERS);
        let samples = samples(space, orders);
        let mut best = vec![0u64; samples.len()];
        for sample in &samples {
            let indices = self.indices_of(sample);
            let mut order: Vec<usize> = (0..projections.len()).collect();
            let share = |p: usize| (u64::from(alone[p].0[indices[p] as usize]), alone[p].1);
            order.retain(|&p| share(p).0 > 0);
            order.sort_by(|&a, &b| {
                let ((ha, sa), (hb, sb)) = (share(a), share(b));
                (u128::from(hb) * u128::from(sa)).cmp(&(u128::from(ha) * u128::from(sb))).then(a.cmp(&b))
            });
            // Those that say nothing about the sample may say something about others.
            let rest = (0..projections.len()).filter(|&p| share(p).0 == 0);
            let mut left = costs.clone();
            let mut tables = Vec::new();
            for p in order.iter().copied().chain(rest) {
                watch.poll()?;
                let distances = projections[p].distances(self.patterns[p].size, &left);
                if distances.iter().all(|&d| d == 0) {
                    continue;
                }
                let used = projections[p].saturate(&distances);
                for (label, used) in projections[p].labels.iter().zip(used) {
                    label.iter().for_each(|&o| left[o as usize] -= used);
                }
                watch.charge(4 * distances.len() as u64)?;
                tables.push((p as u32, distances.into_boxed_slice()));
            }
            self.orders.push(tables);
            let last = self.orders.len() - 1;
            let values: Vec<u64> = samples.iter().map(|s| self.value_in(last..last + 1, s)).collect();
            if !tables_help(&values, &mut best) {
                self.orders.pop();
            }
        }
        Ok(())
    }

    /// Drops projections that no order uses: computing their abstract states took more time than the sums.
    fn drop_unused(&mut self) {
        let mut number = vec![NONE; self.patterns.len()];
        self.orders.iter().flatten().for_each(|(p, _)| number[*p as usize] = 0);
        let used = number.iter_mut().filter(|n| **n != NONE);
        used.enumerate().for_each(|(i, n)| *n = i as u32);
        let mut all = number.iter();
        self.patterns.retain(|_| all.next() != Some(&NONE));
        self.orders.iter_mut().flatten().for_each(|(p, _)| *p = number[*p as usize]);
    }

    fn indices_of(&mut self, state: &[u64]) -> Vec<u32> {
        self.variables.read(state, &mut self.values);
        self.patterns.iter().map(|p| p.index(&self.values)).collect()
    }

    fn value_in(&mut self, orders: Range<usize>, state: &[u64]) -> u64 {
        self.variables.read(state, &mut self.values);
        self.indices.clear();
        self.indices.extend(self.patterns.iter().map(|p| p.index(&self.values)));
        let mut highest = 0;
        for order in &self.orders[orders] {
            let mut sum = 0u64;
            for (p, distances) in order {
                match distances[self.indices[*p as usize] as usize] {
                    INFINITE => return u64::MAX,
                    distance => sum += u64::from(distance),
                }
            }
            highest = highest.max(sum);
        }
        highest
    }

    /// The bound for a state; `u64::MAX` where the goal is out of reach.
    pub(super) fn value(&mut self, state: &[u64]) -> u64 {
        self.value_in(0..self.orders.len(), state)
    }
}

/// Raises the best values; true if a value rose.
fn tables_help(values: &[u64], best: &mut [u64]) -> bool {
    let mut helps = false;
    for (value, best) in values.iter().zip(best) {
        helps |= value > best;
        *best = (*best).max(*value);
    }
    helps
}

impl Variables {
    /// An operator over variables. Where it deletes several facts of a variable that it has no condition on, there is one step for each of
    /// them and one for all others. No step if no useful state has the precondition or the added facts. `None` if there are more than
    /// `most`.
    fn steps(&self, operator: &Operator, most: usize) -> Option<Vec<Step>> {
        let of = |f: &Fact| self.of[*f as usize];
        let mut pre: Vec<(u32, u32)> = operator.precondition.positive.iter().map(of).collect();
        pre.sort_unstable();
        let added: Vec<(u32, u32)> = operator.add.iter().map(of).collect();
        let is_useless = |list: &[(u32, u32)]| list.iter().any(|v| v.0 == NONE);
        if is_useless(&pre) || is_useless(&added) || pre.windows(2).any(|w| w[0].0 == w[1].0) {
            return Some(Vec::new());
        }
        let changes: Vec<(u32, Change)> = added.iter().map(|&(v, value)| (v, Change::Set(value))).collect();
        let mut steps = vec![Step { pre, changes, cost: operator.cost as u32 }];
        let mut deleted: Vec<(u32, u32)> = operator.delete.iter().map(of).collect();
        deleted.retain(|d| d.0 != NONE && added.iter().all(|a| a.0 != d.0));
        deleted.sort_unstable();
        for group in deleted.chunk_by(|a, b| a.0 == b.0) {
            let variable = group[0].0;
            let none = self.sizes[variable as usize] - 1;
            let needed = steps[0].pre.iter().find(|p| p.0 == variable).map(|p| p.1);
            match (needed, group) {
                (Some(value), _) => {
                    if group.iter().any(|g| g.1 == value) {
                        steps.iter_mut().for_each(|s| s.changes.push((variable, Change::Set(none))));
                    }
                }
                (None, [(_, value)]) => {
                    steps.iter_mut().for_each(|s| s.changes.push((variable, Change::Clear(*value))));
                }
                (None, _) => {
                    if steps.len() * (group.len() + 1) > most {
                        return None;
                    }
                    let with = |(step, &(_, value)): (&Step, &(u32, u32))| {
                        let mut step = step.clone();
                        step.pre.push((variable, value));
                        step.changes.push((variable, Change::Set(none)));
                        step
                    };
                    let more: Vec<Step> =
                        steps.iter().flat_map(|s| group.iter().map(move |g| (s, g))).map(with).collect();
                    steps.extend(more);
                }
            }
        }
        (steps.len() <= most).then_some(steps)
    }
}

/// Sets of one to three variables with a goal that are connected by operators, the smallest first.
fn interesting(variables: &Variables, steps: &[Step], goal: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut near: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); variables.sizes.len()];
    for step in steps {
        for &(changed, _) in &step.changes {
            let others = step.pre.iter().map(|p| p.0).chain(step.changes.iter().map(|c| c.0));
            near[changed as usize].extend(others.filter(|&v| v != changed));
        }
    }
    let near: Vec<Vec<u32>> = near
        .into_iter()
        .map(|set| {
            let mut list: Vec<u32> = set.into_iter().collect();
            list.sort_unstable();
            list
        })
        .collect();
    let mut goals: Vec<u32> = goal.iter().map(|g| g.0).collect();
    goals.sort_unstable();
    goals.dedup();
    let mut sets: Vec<Vec<u32>> = goals.iter().map(|&g| vec![g]).collect();
    let mut seen: FxHashSet<Vec<u32>> = sets.iter().cloned().collect();
    let mut first = 0;
    for _ in 0..2 {
        let last = sets.len();
        for i in first..last {
            let more: Vec<u32> = sets[i].iter().flat_map(|&v| near[v as usize].iter().copied()).collect();
            for v in more {
                let mut set = sets[i].clone();
                if set.contains(&v) || sets.len() > 4 * MAX_PATTERNS {
                    continue;
                }
                set.push(v);
                set.sort_unstable();
                if seen.insert(set.clone()) {
                    sets.push(set);
                }
            }
        }
        first = last;
    }
    sets
}

impl Projection {
    /// The transitions; `None` if there are too many.
    fn new(pattern: &Pattern, variables: &Variables, steps: &[Step], goal: &[(u32, u32)]) -> Option<Self> {
        let place = |v: u32| pattern.variables.binary_search(&v).ok();
        let mut numbers: FxHashMap<Vec<(u32, Change)>, u32> = FxHashMap::default();
        let mut labels: Vec<Vec<u32>> = Vec::new();
        let mut shapes: Vec<Vec<(u32, Change)>> = Vec::new();
        for (o, step) in steps.iter().enumerate() {
            // By variable of the pattern: the value that is needed, or `NONE`, and the change.
            let mut shape = vec![(NONE, Change::Keep); pattern.variables.len()];
            for &(v, change) in &step.changes {
                if let Some(i) = place(v) {
                    shape[i].1 = change;
                }
            }
            if shape.iter().all(|s| s.1 == Change::Keep) {
                continue;
            }
            for &(v, value) in &step.pre {
                if let Some(i) = place(v) {
                    shape[i].0 = value;
                }
            }
            let label = *numbers.entry(shape).or_insert_with_key(|shape| {
                labels.push(Vec::new());
                shapes.push(shape.clone());
                labels.len() as u32 - 1
            });
            labels[label as usize].push(o as u32);
        }
        let sizes: Vec<u32> = pattern.variables.iter().map(|&v| variables.sizes[v as usize]).collect();
        let mut arcs: Vec<(u32, u32, u32)> = Vec::new();
        for (label, shape) in shapes.iter().enumerate() {
            let mut values: Vec<u32> = shape.iter().map(|s| if s.0 == NONE { 0 } else { s.0 }).collect();
            loop {
                let mut source = 0;
                let mut target = 0;
                for (i, &value) in values.iter().enumerate() {
                    let after = match shape[i].1 {
                        Change::Set(to) => to,
                        Change::Clear(from) if from == value => sizes[i] - 1,
                        Change::Keep | Change::Clear(_) => value,
                    };
                    source += value * pattern.factors[i];
                    target += after * pattern.factors[i];
                }
                if source != target {
                    arcs.push((target, source, label as u32));
                    if arcs.len() > MAX_TRANSITIONS {
                        return None;
                    }
                }
                // The next values of the variables without a precondition.
                let free = (0..values.len()).filter(|&i| shape[i].0 == NONE);
                let mut advanced = false;
                for i in free {
                    values[i] += 1;
                    if values[i] < sizes[i] {
                        advanced = true;
                        break;
                    }
                    values[i] = 0;
                }
                if !advanced {
                    break;
                }
            }
        }
        arcs.sort_unstable();
        let mut starts = vec![0u32; pattern.size + 1];
        arcs.iter().for_each(|arc| starts[arc.0 as usize + 1] += 1);
        for i in 0..pattern.size {
            starts[i + 1] += starts[i];
        }
        let is_goal = |index: u32| {
            goal.iter()
                .all(|&(v, value)| place(v).is_none_or(|i| index / pattern.factors[i] % sizes[i] == value))
        };
        Some(Projection {
            labels,
            starts,
            transitions: arcs.iter().map(|arc| (arc.1, arc.2)).collect(),
            goals: (0..pattern.size as u32).filter(|&i| is_goal(i)).collect(),
        })
    }

    /// Costs of the cheapest abstract paths to the goal, under the costs of the operators.
    fn distances(&self, states: usize, costs: &[u32]) -> Vec<u32> {
        let cost = |label: &Vec<u32>| label.iter().map(|&o| costs[o as usize]).min().unwrap_or(0);
        let costs: Vec<u32> = self.labels.iter().map(cost).collect();
        let mut distances = vec![INFINITE; states];
        let mut queue = BinaryHeap::new();
        for &goal in &self.goals {
            distances[goal as usize] = 0;
            queue.push(Reverse((0, goal)));
        }
        while let Some(Reverse((distance, target))) = queue.pop() {
            if distance > distances[target as usize] {
                continue;
            }
            let range = self.starts[target as usize] as usize..self.starts[target as usize + 1] as usize;
            for &(source, label) in &self.transitions[range] {
                // A lower distance is admissible, too: costs stay below the value that stands for none.
                let through = distance.saturating_add(costs[label as usize]).min(INFINITE - 1);
                if through < distances[source as usize] {
                    distances[source as usize] = through;
                    queue.push(Reverse((through, source)));
                }
            }
        }
        distances
    }

    /// By label: the cost that the distances need.
    fn saturate(&self, distances: &[u32]) -> Vec<u32> {
        let mut used = vec![0u32; self.labels.len()];
        for (target, &below) in distances.iter().enumerate().filter(|(_, d)| **d != INFINITE) {
            let range = self.starts[target] as usize..self.starts[target + 1] as usize;
            for &(source, label) in &self.transitions[range] {
                let above = distances[source as usize];
                if above != INFINITE {
                    let used = &mut used[label as usize];
                    *used = (*used).max(above.saturating_sub(below));
                }
            }
        }
        used
    }
}

/// The initial state, then the ends of longer and longer walks from it.
fn samples(space: &Space<'_>, count: usize) -> Vec<Vec<u64>> {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut operators = Vec::new();
    let mut next = Vec::new();
    let walk = |n: usize| {
        let mut state = space.initial();
        for _ in 0..4 * n {
            space.applicable(&state, &mut operators);
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let Some(&operator) = operators.get((seed >> 11) as usize % operators.len().max(1)) else {
                break;
            };
            space.apply(&state, operator, &mut next);
            if space.is_dead_end(&next) {
                break;
            }
            std::mem::swap(&mut state, &mut next);
        }
        state
    };
    (0..count).map(walk).collect()
}
