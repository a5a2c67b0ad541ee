//! Uniform-cost search over the independent simulator: the cheapest cost, and the cheapest plans in order.

use super::fraction::{Fraction, TooLarge};
use super::simulator::{Simulator, State};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Cost, then length.
pub(crate) type Effort = (Fraction, usize);

/// The reachable states of a task with their steps.
pub(crate) struct Space<'s> {
    /// Steps from each state: name, next state, cost.
    edges: Vec<Vec<(&'s str, usize, Fraction)>>,
    goals: Vec<bool>,
}

/// Reason why a space is not built.
pub(crate) enum NoSpace {
    TooManyStates,
    /// A value is beyond the range of fractions, or a step's cost is undefined or negative.
    Uncomparable,
}

impl From<TooLarge> for NoSpace {
    fn from(_: TooLarge) -> Self {
        Self::Uncomparable
    }
}

/// A plan, ordered by cost, length and names of steps.
pub(crate) type RankedPlan<'s> = (Effort, Vec<&'s str>);

/// The cost counter. It is not part of a state here, because no condition of a generated task reads it.
const COST: &str = "total-cost";

impl<'s> Space<'s> {
    /// Visits all reachable states, at most `cap`. Without a metric, each step costs 1.
    pub(crate) fn build(simulator: &'s Simulator<'s>, metric: bool, cap: usize) -> Result<Self, NoSpace> {
        let mut space = Self { edges: Vec::new(), goals: Vec::new() };
        let mut numbers: BTreeMap<State, usize> = BTreeMap::new();
        let mut states: Vec<State> = Vec::new();
        let mut initial = simulator.initial()?;
        initial.numbers.insert(COST.to_owned(), Fraction::ZERO);
        numbers.insert(initial.clone(), 0);
        states.push(initial);
        let mut next = 0;
        while let Some(state) = states.get(next).cloned() {
            space.goals.push(simulator.is_goal(&state)?);
            let mut edges = Vec::new();
            for action in &simulator.actions {
                let Some(mut after) = simulator.successor(&state, action)? else { continue };
                let cost = after.numbers.insert(COST.to_owned(), Fraction::ZERO);
                let cost = if metric { cost.unwrap_or(Fraction::ZERO) } else { Fraction::ONE };
                if cost < Fraction::ZERO {
                    return Err(NoSpace::Uncomparable);
                }
                let number = numbers.get(&after).copied().unwrap_or(states.len());
                if number == states.len() {
                    if states.len() == cap {
                        return Err(NoSpace::TooManyStates);
                    }
                    numbers.insert(after.clone(), number);
                    states.push(after);
                }
                edges.push((action.name.as_str(), number, cost));
            }
            space.edges.push(edges);
            next += 1;
        }
        Ok(space)
    }

    pub(crate) fn states(&self) -> usize {
        self.edges.len()
    }

    /// Steps of a shortest plan; `None` if there is no plan.
    pub(crate) fn fewest_steps(&self) -> Option<usize> {
        let (mut seen, mut layer) = (BTreeSet::from([0]), vec![0]);
        for steps in 0.. {
            if layer.iter().any(|&state| self.goals[state]) {
                return Some(steps);
            }
            let next = layer.iter().flat_map(|&state| &self.edges[state]).map(|edge| edge.1);
            layer = next.filter(|&state| seen.insert(state)).collect();
            if layer.is_empty() {
                break;
            }
        }
        None
    }

    /// The least effort from every state to a goal; `None` where there is no plan.
    pub(crate) fn efforts(&self) -> Result<Vec<Option<Effort>>, TooLarge> {
        let mut backward: Vec<Vec<(usize, Fraction)>> = vec![Vec::new(); self.edges.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            for &(_, to, cost) in edges {
                backward[to].push((from, cost));
            }
        }
        let mut best: Vec<Option<Effort>> = vec![None; self.edges.len()];
        let mut open: BinaryHeap<Reverse<(Effort, usize)>> = BinaryHeap::new();
        let goals = (0..self.goals.len()).filter(|&s| self.goals[s]);
        open.extend(goals.map(|s| Reverse(((Fraction::ZERO, 0), s))));
        while let Some(Reverse((effort, state))) = open.pop() {
            if best[state].is_some() {
                continue;
            }
            best[state] = Some(effort);
            for &(from, cost) in &backward[state] {
                if best[from].is_none() {
                    open.push(Reverse(((effort.0.plus(cost)?, effort.1 + 1), from)));
                }
            }
        }
        Ok(best)
    }

    /// The first `k` plans by cost, length and names of steps; `None` if more than `cap` prefixes would be visited. The
    /// list is shorter if there are no other plans.
    pub(crate) fn plans(&self, k: usize, cap: usize) -> Result<Option<Vec<RankedPlan<'s>>>, TooLarge> {
        let efforts = self.efforts()?;
        let mut plans: BTreeSet<RankedPlan<'_>> = BTreeSet::new();
        // Prefixes by the least effort of a plan that begins so.
        let mut open: BTreeSet<(Effort, Effort, Vec<&str>, usize)> = BTreeSet::new();
        if let Some(effort) = efforts[0] {
            open.insert((effort, (Fraction::ZERO, 0), Vec::new(), 0));
        }
        let mut visited = 0;
        while let Some((least, so_far, steps, state)) = open.pop_first() {
            if plans.iter().nth(k - 1).is_some_and(|kth| kth.0 < least) {
                break;
            }
            visited += 1;
            if visited > cap {
                return Ok(None);
            }
            if self.goals[state] {
                plans.insert((so_far, steps.clone()));
            }
            for &(name, next, cost) in &self.edges[state] {
                let Some(rest) = efforts[next] else { continue };
                let after = (so_far.0.plus(cost)?, so_far.1 + 1);
                let longer = steps.iter().copied().chain([name]).collect();
                open.insert(((after.0.plus(rest.0)?, after.1 + rest.1), after, longer, next));
            }
        }
        Ok(Some(plans.into_iter().take(k).collect()))
    }
}
