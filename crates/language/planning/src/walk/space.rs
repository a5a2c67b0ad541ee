//! States of a model by number, each expanded once.

use super::model::Model;
use super::step::ActionId;
use crate::resources::{ResourceLimits, StopReason, check};
use crate::simulate::State;
use rustc_hash::FxHashMap;

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
        check(resources.charge(96 + 16 * key.len() as u64))?;
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
            self.model.applicable_into(&self.states[id as usize], &mut actions)?;
            let mut list = Vec::with_capacity(actions.len());
            for action in actions {
                let mut next = self.states[id as usize].clone();
                self.model.apply(&mut next, action);
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
        let found =
            if self.model.apply(&mut next, action) { Some(self.intern(next, resources)?) } else { None };
        check(resources.charge(24))?;
        self.steps.insert((id, action), found);
        Ok(found)
    }
}
