//! The states around a plan and the actions between them (test-time-scaling paper, Fig. 6): the plan's states as a path, and the states
//! that other applicable actions lead to.
//!
//! States are found breadth first, those of the plan before all others, and the actions of a state in the order of their text; so the
//! same task gives the same graph everywhere. What a limit cuts off is counted at the state where it begins.

use crate::resources::{Poll, ResourceLimits, StopReason};
use crate::simulate::{Simulator, State};
use crate::task::{Atom, GroundAction};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Approximate bytes of a node and its edges, apart from its state.
const NODE_BYTES: u64 = 256;
/// Approximate bytes of an atom that holds in a state, apart from its arguments.
const ATOM_BYTES: usize = 40;
/// Approximate bytes of an applicable action, by its text.
const ACTION_BYTES: u64 = 96;

/// Part of the state space to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphOptions {
    /// Maximum distance, in actions, from the plan's states; from the initial state if the plan is empty.
    pub distance: usize,
    /// Most states; those of the plan are shown in any case.
    pub max_states: usize,
}

/// A state of the graph.
#[derive(Debug, Clone)]
pub struct GraphState {
    /// After which steps of the plan the task is in this state, 0 for none of them executed; empty away from the plan.
    pub after_steps: Vec<usize>,
    /// Distance from the plan's states, in actions.
    pub distance: usize,
    /// True if the goal holds.
    pub goal: bool,
    /// From which state, by which edge, it was found; `None` for the initial state.
    pub from: Option<usize>,
    /// Atoms that hold here and not in the state that it was found from, sorted.
    pub added: Vec<Atom>,
    /// Atoms that hold there and not here, sorted.
    pub deleted: Vec<Atom>,
    /// The atoms that hold, sorted; those that no action can change are left out.
    pub atoms: Vec<Atom>,
    /// Applicable actions, where the state was expanded.
    pub applicable: Option<usize>,
    /// Number of applicable actions that lead to states beyond the limit.
    pub left_out: usize,
}

/// An action that leads from a state to a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphEdge {
    /// Index of the state before.
    pub from: usize,
    /// Index of the state after.
    pub to: usize,
    /// The action of the edge.
    pub action: GroundAction,
    /// Steps of the plan that take this edge, counted from 1; empty if none.
    pub steps: Vec<usize>,
}

/// The states and actions around a plan.
#[derive(Debug, Clone, Default)]
pub struct StateGraph {
    /// The initial state first, then in the order in which they were found.
    pub states: Vec<GraphState>,
    /// By the state that they leave, in the order of their text.
    pub edges: Vec<GraphEdge>,
    /// Steps of the plan that were executed.
    pub executed: usize,
}

impl StateGraph {
    /// Actions that lead to states left out by the limit.
    pub fn left_out(&self) -> usize {
        self.states.iter().map(|s| s.left_out).sum()
    }
}

/// Computes the graph of a plan, up to its first step that is not applicable. An empty plan gives the graph
/// around the initial state.
///
/// # Errors
/// The limit that ended the work.
pub fn state_graph(
    simulator: &Simulator,
    plan: &[GroundAction],
    options: &GraphOptions,
    resources: &mut dyn ResourceLimits,
) -> Result<StateGraph, StopReason> {
    let mut builder = Builder {
        simulator,
        graph: StateGraph::default(),
        found: FxHashMap::default(),
        kept: Vec::new(),
        most_actions: 0,
    };
    builder.path(plan, resources)?;
    let mut begin = 0;
    for distance in 0..options.distance {
        let end = builder.kept.len();
        for at in begin..end {
            builder.expand(at, distance + 1, options.max_states, resources)?;
        }
        begin = end;
    }
    builder.graph.edges.sort_by_cached_key(|e| (e.from, simulator.task().symbols.step(&e.action), e.to));
    Ok(builder.graph)
}

/// Identity of a state: its facts and the bits of its numbers.
type Key = (Box<[u64]>, Box<[u64]>);

struct Builder<'s> {
    simulator: &'s Simulator,
    graph: StateGraph,
    found: FxHashMap<Key, usize>,
    kept: Vec<State>,
    /// Most actions of one state so far, which the limits were charged for.
    most_actions: usize,
}

fn key(state: &State) -> Key {
    (state.bits().into(), state.numbers().iter().flat_map(|n| n.to_words()).collect())
}

fn go_on(poll: Poll) -> Result<(), StopReason> {
    match poll {
        Poll::Continue => Ok(()),
        Poll::Stop(reason) => Err(reason),
    }
}

impl Builder<'_> {
    /// The plan's own states, and the edges between them.
    fn path(&mut self, plan: &[GroundAction], resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        let mut at = self.add(self.simulator.initial(), None, 0, resources)?;
        self.graph.states[at].after_steps.push(0);
        for (index, action) in plan.iter().enumerate() {
            let number = self.simulator.find_action(action);
            let Some(next) = number.and_then(|n| self.simulator.successor(&self.kept[at], n)) else { break };
            let to = match self.found.get(&key(&next)) {
                Some(&known) => known,
                None => self.add(next, Some(at), 0, resources)?,
            };
            self.graph.states[to].after_steps.push(index + 1);
            match self.graph.edges.iter_mut().find(|e| e.from == at && e.to == to && e.action == *action) {
                Some(edge) => edge.steps.push(index + 1),
                None => self.graph.edges.push(GraphEdge {
                    from: at,
                    to,
                    action: action.clone(),
                    steps: vec![index + 1],
                }),
            }
            self.graph.executed = index + 1;
            at = to;
        }
        Ok(())
    }

    /// The states that the applicable actions of a state lead to.
    fn expand(
        &mut self,
        at: usize,
        distance: usize,
        max_states: usize,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let task = self.simulator.task();
        let mut actions: Vec<(String, u32)> = self
            .simulator
            .applicable(&self.kept[at])
            .into_iter()
            .map(|a| (task.symbols.step(&task.actions[a as usize]), a))
            .collect();
        actions.sort_unstable();
        if actions.len() > self.most_actions {
            let more = actions.len() - self.most_actions;
            self.most_actions = actions.len();
            go_on(resources.charge(ACTION_BYTES * more as u64))?;
        }
        self.graph.states[at].applicable = Some(actions.len());
        for (_, number) in actions {
            go_on(resources.poll())?;
            let action = &task.actions[number as usize];
            if self.graph.edges.iter().any(|e| e.from == at && e.action == *action) {
                continue;
            }
            let Some(next) = self.simulator.successor(&self.kept[at], number) else { continue };
            let to = match self.found.get(&key(&next)) {
                Some(&known) => known,
                None if self.kept.len() >= max_states => {
                    self.graph.states[at].left_out += 1;
                    continue;
                }
                None => self.add(next, Some(at), distance, resources)?,
            };
            self.graph.edges.push(GraphEdge { from: at, to, action: action.clone(), steps: Vec::new() });
        }
        Ok(())
    }

    fn add(
        &mut self,
        state: State,
        from: Option<usize>,
        distance: usize,
        resources: &mut dyn ResourceLimits,
    ) -> Result<usize, StopReason> {
        let mut atoms: Vec<Atom> = self.simulator.atoms(&state).cloned().collect();
        let arguments: usize = atoms.iter().map(|atom| atom.args.len()).sum();
        let bytes = ATOM_BYTES * atoms.len() + 4 * arguments + 16 * state.bits().len();
        go_on(resources.charge(NODE_BYTES + bytes as u64))?;
        atoms.sort_unstable();
        let before: BTreeSet<&Atom> = from.iter().flat_map(|&f| &self.graph.states[f].atoms).collect();
        let here: BTreeSet<&Atom> = atoms.iter().collect();
        let (added, deleted) = match from {
            None => (Vec::new(), Vec::new()),
            Some(_) => (
                here.difference(&before).map(|a| (*a).clone()).collect(),
                before.difference(&here).map(|a| (*a).clone()).collect(),
            ),
        };
        let index = self.kept.len();
        self.found.insert(key(&state), index);
        self.graph.states.push(GraphState {
            after_steps: Vec::new(),
            distance,
            goal: self.simulator.is_goal(&state),
            from,
            added,
            deleted,
            atoms,
            applicable: None,
            left_out: 0,
        });
        self.kept.push(state);
        Ok(index)
    }
}
