//! The one-sided score as an expectation: dynamic programming over pairs of a source state and the state that the target is
//! in after the same walk.

use super::ActionId;
use super::model::{Link, Model};
use super::sample::DeadEnds;
use crate::resources::{ResourceLimits, ScopedLimits, StopReason, check};
use crate::simulate::State;
use rustc_hash::FxHashMap;
use std::fmt;

/// The target has refused a step of the walk.
pub(super) const REFUSED: StateId = StateId::MAX;

/// The expectation for one walk length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactLength {
    /// Length of the walks, in steps.
    pub length: u32,
    /// The probability that the target executes a walk of the source; `None` where the source has no walk of exactly this length
    /// (under [`DeadEnds::Condition`] only).
    pub probability: Option<f64>,
}

/// Expected steps of one schema on a walk of the longest length that stops at dead ends and at the first refusal.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaShare {
    /// The schema's name in the source.
    pub name: String,
    /// Expected steps tried on the target.
    pub tried: f64,
    /// The probability that a step of this schema is the one refused.
    pub refused: f64,
}

/// The expectation of one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactDirection {
    /// By length, ascending from 1.
    pub lengths: Vec<ExactLength>,
    /// By action schema of the source, in the domain's order.
    pub schemas: Vec<SchemaShare>,
    /// Pairs of states that were expanded, over all lengths.
    pub pairs: usize,
}

impl ExactDirection {
    /// The one-sided score: the mean over the lengths that have walks.
    pub fn score(&self) -> Option<f64> {
        let (mut sum, mut lengths) = (0.0, 0u32);
        for probability in self.lengths.iter().filter_map(|l| l.probability) {
            sum += probability;
            lengths += 1;
        }
        (lengths > 0).then(|| sum / f64::from(lengths))
    }
}

/// Reason why the expectation was not computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExactError {
    /// It does not fit: more pairs of states than allowed.
    Pairs {
        /// The limit on pairs.
        limit: usize,
        /// The walk length at which it was passed.
        length: u32,
    },
    /// The budget ended the work.
    Stopped(StopReason),
}

impl From<StopReason> for ExactError {
    fn from(reason: StopReason) -> Self {
        ExactError::Stopped(reason)
    }
}

impl fmt::Display for ExactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExactError::Pairs { limit, length } => {
                write!(f, "walks of {length} steps reach more than {limit} pairs of states")
            }
            ExactError::Stopped(reason) => write!(f, "{reason} was reached"),
        }
    }
}

impl std::error::Error for ExactError {}

/// Computes the one-sided score of Definition 1 for walks uniform over applicable actions, lengths 1 to
/// `t_max`. `Ok(None)` if the source has no applicable action initially.
///
/// Under [`DeadEnds::Condition`] a walk of exactly T steps has as its probability the product of
/// 1/(applicable actions) over its states, divided by the sum of that over all walks of exactly T steps: the
/// distribution of rejection sampling. The failing mass is summed and subtracted from 1, so that a model
/// compared with itself scores exactly 1.
///
/// # Errors
/// More than `max_pairs` pairs, or the resource limit that was reached.
pub fn exact_direction(
    source: &Model,
    target: &Model,
    t_max: u32,
    dead_ends: DeadEnds,
    max_pairs: usize,
    resources: &mut dyn ResourceLimits,
) -> Result<Option<ExactDirection>, ExactError> {
    let resources = &mut ScopedLimits::new(resources);
    let mut run = Run::new(source, target, matches!(dead_ends, DeadEnds::Condition { .. }));
    let start = (run.source.initial(resources)?, run.target.initial(resources)?);
    if run.source.successors(start.0, resources)?.is_empty() {
        return Ok(None);
    }
    let mut layer = Layer::default();
    layer.add(start, 1.0, resources)?;
    let mut lengths = Vec::new();
    let (mut pairs, mut failed) = (0, 0.0);
    for length in 1..=t_max.max(1) {
        let mut next = Layer::default();
        for (i, &(pair, mass)) in layer.pairs.iter().enumerate() {
            if pairs + i >= max_pairs {
                return Err(ExactError::Pairs { limit: max_pairs, length });
            }
            failed += run.expand(pair, mass, &mut next, resources)?;
        }
        pairs += layer.pairs.len();
        layer = next;
        let probability = match dead_ends {
            DeadEnds::Truncate => Some((1.0 - failed).max(0.0)),
            DeadEnds::Condition { .. } => layer.executable_share(),
        };
        lengths.push(ExactLength { length, probability });
    }
    let names = source.schema_names().iter().zip(run.tried.into_iter().zip(run.refused));
    let schemas =
        names.map(|(name, (tried, refused))| SchemaShare { name: name.clone(), tried, refused }).collect();
    Ok(Some(ExactDirection { lengths, schemas, pairs }))
}

/// Estimated bytes of a state in its lists and index, apart from its facts and numbers.
const STATE_BYTES: u64 = 208;
/// Estimated bytes of the result of an action in a state.
const STEP_BYTES: u64 = 40;
/// Estimated bytes of a pair in its list and index.
pub(super) const PAIR_BYTES: u64 = 64;

/// Pairs that walks of one length end in, with their probability, in the order they were met.
#[derive(Default)]
pub(super) struct Layer {
    index: FxHashMap<(StateId, StateId), usize>,
    pub(super) pairs: Vec<((StateId, StateId), f64)>,
}

impl Layer {
    pub(super) fn add(
        &mut self,
        pair: (StateId, StateId),
        mass: f64,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let fresh = self.pairs.len();
        let at = *self.index.entry(pair).or_insert(fresh);
        if at == fresh {
            check(resources.charge(PAIR_BYTES))?;
            self.pairs.push((pair, 0.0));
        }
        self.pairs[at].1 += mass;
        Ok(())
    }

    /// Returns the share of the walks of this length that the target executes; `None` if there is no walk.
    fn executable_share(&self) -> Option<f64> {
        let (mut refused, mut all) = (0.0, 0.0);
        for &((_, target), mass) in &self.pairs {
            all += mass;
            if target == REFUSED {
                refused += mass;
            }
        }
        (all > 0.0).then(|| (1.0 - refused / all).max(0.0))
    }
}

/// Execution of walks of a source on a target, by pairs of states.
pub(super) struct Run<'m> {
    pub(super) source: Space<'m>,
    pub(super) target: Space<'m>,
    pub(super) link: Link<'m>,
    tried: Vec<f64>,
    refused: Vec<f64>,
    /// True if walks continue after a refusal, because their length counts.
    follow_refused: bool,
}

impl<'m> Run<'m> {
    pub(super) fn new(source: &'m Model, target: &'m Model, follow_refused: bool) -> Self {
        Run {
            source: Space::new(source),
            target: Space::new(target),
            link: Link::new(source, target),
            tried: vec![0.0; source.schema_names().len()],
            refused: vec![0.0; source.schema_names().len()],
            follow_refused,
        }
    }

    /// Moves the mass of a pair one step on; what the target refuses in this step is returned.
    pub(super) fn expand(
        &mut self,
        (source, target): (StateId, StateId),
        mass: f64,
        next: &mut Layer,
        resources: &mut dyn ResourceLimits,
    ) -> Result<f64, StopReason> {
        let successors = self.source.successors(source, resources)?;
        let share = mass / successors.len() as f64;
        let (mut refused, all) = (0usize, successors.len());
        for &(action, successor) in successors {
            if target == REFUSED {
                next.add((successor, REFUSED), share, resources)?;
                continue;
            }
            let schema = self.link.source.schema_of(action);
            self.tried[schema] += share;
            let reached = match self.link.action(action) {
                Some(own) => self.target.step(target, own, resources)?,
                None => None,
            };
            match reached {
                Some(reached) => next.add((successor, reached), share, resources)?,
                None => {
                    self.refused[schema] += share;
                    refused += 1;
                    if self.follow_refused {
                        next.add((successor, REFUSED), share, resources)?;
                    }
                }
            }
        }
        Ok(if all == 0 { 0.0 } else { mass * (refused as f64 / all as f64) })
    }
}

/// A state by number.
pub(crate) type StateId = u32;

/// Legal actions and where they lead.
type Successors = Box<[(ActionId, StateId)]>;

/// The states of one model met so far.
pub(crate) struct Space<'m> {
    pub(crate) model: &'m Model,
    ids: FxHashMap<Box<[u64]>, StateId>,
    states: Vec<State>,
    /// Successors of each state, computed on demand.
    expanded: Vec<Option<Successors>>,
    /// Results of single actions, computed on demand.
    steps: FxHashMap<(StateId, ActionId), Option<StateId>>,
}

impl<'m> Space<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        Space {
            model,
            ids: FxHashMap::default(),
            states: Vec::new(),
            expanded: Vec::new(),
            steps: FxHashMap::default(),
        }
    }

    pub(crate) fn initial(&mut self, resources: &mut dyn ResourceLimits) -> Result<StateId, StopReason> {
        self.intern(self.model.initial(), resources)
    }

    pub(crate) fn state(&self, id: StateId) -> &State {
        &self.states[id as usize]
    }

    /// The number of a state.
    pub(crate) fn intern(
        &mut self,
        state: State,
        resources: &mut dyn ResourceLimits,
    ) -> Result<StateId, StopReason> {
        // States of a model that is not grounded differ in length.
        let length = [state.facts.len() as u64];
        let numbers = state.numbers.iter().flat_map(|n| n.to_words());
        let key: Box<[u64]> = length.into_iter().chain(state.facts.iter().copied()).chain(numbers).collect();
        if let Some(&id) = self.ids.get(&key) {
            return Ok(id);
        }
        check(resources.charge(STATE_BYTES + 16 * key.len() as u64))?;
        let id = self.states.len() as StateId;
        self.ids.insert(key, id);
        self.states.push(state);
        self.expanded.push(None);
        Ok(id)
    }

    /// The legal actions of a state and where they lead.
    pub(crate) fn successors(
        &mut self,
        id: StateId,
        resources: &mut dyn ResourceLimits,
    ) -> Result<&[(ActionId, StateId)], StopReason> {
        if self.expanded[id as usize].is_none() {
            check(resources.poll())?;
            let mut actions = Vec::new();
            self.model.applicable_into(&self.states[id as usize], &mut actions, resources)?;
            let mut list = Vec::with_capacity(actions.len());
            for action in actions {
                let mut next = self.states[id as usize].clone();
                self.model.apply(&mut next, action, resources)?;
                list.push((action, self.intern(next, resources)?));
            }
            check(resources.charge(8 * list.len() as u64))?;
            self.expanded[id as usize] = Some(list.into());
        }
        Ok(self.expanded[id as usize].as_deref().unwrap_or_default())
    }

    /// Returns the state after an action; `None` if it is not legal.
    pub(crate) fn step(
        &mut self,
        id: StateId,
        action: ActionId,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Option<StateId>, StopReason> {
        if let Some(&known) = self.steps.get(&(id, action)) {
            return Ok(known);
        }
        let mut next = self.states[id as usize].clone();
        let applied = self.model.apply(&mut next, action, resources)?;
        let found = if applied { Some(self.intern(next, resources)?) } else { None };
        check(resources.charge(STEP_BYTES))?;
        self.steps.insert((id, action), found);
        Ok(found)
    }
}
