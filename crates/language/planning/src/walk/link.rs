//! Ground actions of one model in another: resolved by name and object names, or refused with the reason.

use super::model::Model;
use super::step::{ActionId, NamedStep};
use crate::simulate::State;
use crate::task::{GroundAction, ObjectId};
use std::fmt;

/// Reason why a model does not execute a ground action of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It has no action of that name.
    UnknownAction {
        /// Name of the action.
        name: String,
    },
    /// Its action takes another number of arguments.
    Arity {
        /// Name of the action.
        name: String,
        /// Arguments that it takes.
        expected: usize,
        /// Number of arguments given.
        given: usize,
    },
    /// It has no object of that name.
    UnknownObject {
        /// Name of the object.
        name: String,
    },
    /// The object is not of the parameter's type.
    WrongType {
        /// Name of the object.
        object: String,
        /// The types it has there.
        object_type: String,
        /// The parameter with its question mark.
        parameter: String,
        /// Type of the parameter.
        expected: String,
    },
    /// The precondition does not hold in the state reached.
    NotApplicable,
    /// The precondition holds, but the ground action changes nothing and
    /// [`Semantics::GroundNoOpsDropped`](super::Semantics::GroundNoOpsDropped) has no such actions.
    NoEffect,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::UnknownAction { name } => write!(f, "there is no action {name}"),
            Refusal::Arity { name, expected, given } => {
                write!(f, "{name} takes {expected} arguments, not {given}")
            }
            Refusal::UnknownObject { name } => write!(f, "there is no object {name}"),
            Refusal::WrongType { object, object_type, parameter, expected } => {
                write!(f, "{object} is of type {object_type}, but {parameter} must be of type {expected}")
            }
            Refusal::NotApplicable => f.write_str("the precondition does not hold"),
            Refusal::NoEffect => f.write_str("the action would change nothing"),
        }
    }
}

/// A walk that one model executes to its last step and the other executes up to that step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingWalk {
    /// Steps that both execute.
    pub prefix: Vec<NamedStep>,
    /// The step that the other refuses after them.
    pub action: NamedStep,
    /// The reason for the refusal.
    pub refusal: Refusal,
}

impl FailingWalk {
    /// Returns the number of steps, the refused one included.
    pub fn len(&self) -> usize {
        self.prefix.len() + 1
    }

    /// Never: the refused step is always there.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// Execution of a sequence of steps from a model's initial state.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutedSteps {
    /// Number of executed steps.
    pub executed: usize,
    /// Why the next step was refused; `None` if all were executed.
    pub refusal: Option<Refusal>,
    /// The state after the steps executed.
    pub state: State,
}

/// Executes a sequence from the initial state.
pub fn execute_steps(model: &Model, steps: &[NamedStep]) -> ExecutedSteps {
    let mut state = model.initial();
    for (executed, step) in steps.iter().enumerate() {
        let refusal = match model.resolve(step) {
            Ok(Some(action)) if model.apply(&mut state, action) => continue,
            Ok(action) => model.refusal_of(&state, action),
            Err(refusal) => refusal,
        };
        return ExecutedSteps { executed, refusal: Some(refusal), state };
    }
    ExecutedSteps { executed: steps.len(), refusal: None, state }
}

impl Model {
    /// The ground action with these names; `Ok(None)` where it exists but no reachable state allows it.
    ///
    /// # Errors
    /// What the model lacks. Names compare without regard to case.
    pub fn resolve(&self, step: &NamedStep) -> Result<Option<ActionId>, Refusal> {
        let schema =
            self.find_schema(&step.name).ok_or_else(|| Refusal::UnknownAction { name: step.name.clone() })?;
        let objects: Vec<Option<ObjectId>> = step.args.iter().map(|a| self.find_object(a)).collect();
        self.resolve_ids(schema, &objects, step)
    }

    fn resolve_ids(
        &self,
        schema: u32,
        objects: &[Option<ObjectId>],
        step: &NamedStep,
    ) -> Result<Option<ActionId>, Refusal> {
        let lifted = self.lifted();
        let shape = &lifted.schemas[schema as usize];
        if shape.parameters != objects.len() {
            let name = step.name.clone();
            return Err(Refusal::Arity { name, expected: shape.parameters, given: objects.len() });
        }
        let mut args = Vec::with_capacity(objects.len());
        for ((object, name), variable) in objects.iter().zip(&step.args).zip(&shape.variables) {
            let Some(object) = *object else { return Err(Refusal::UnknownObject { name: name.clone() }) };
            if variable.objects.binary_search(&object).is_err() {
                return Err(Refusal::WrongType {
                    object: name.clone(),
                    object_type: lifted.object_types[object as usize].clone(),
                    parameter: variable.name.clone(),
                    expected: variable.type_name.clone(),
                });
            }
            args.push(object);
        }
        Ok(self.find_action(GroundAction { action: schema, args: args.into() }))
    }

    /// Returns why an existing ground action is not legal in a state.
    pub(crate) fn refusal_of(&self, state: &State, action: Option<ActionId>) -> Refusal {
        match action {
            Some(action) if self.is_dropped(state, action) => Refusal::NoEffect,
            _ => Refusal::NotApplicable,
        }
    }
}

/// Counterpart in the target of a ground action of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Memo {
    Unknown,
    /// No state of the target allows it.
    Never,
    Action(ActionId),
}

/// Ground actions of a source in a target, each resolved once.
#[derive(Debug)]
pub(crate) struct Link<'m> {
    pub(crate) source: &'m Model,
    pub(crate) target: &'m Model,
    memo: Vec<Memo>,
}

impl<'m> Link<'m> {
    pub(crate) fn new(source: &'m Model, target: &'m Model) -> Self {
        Link { source, target, memo: vec![Memo::Unknown; source.action_count().unwrap_or(0)] }
    }

    /// The target's action; `None` where no state of the target allows it.
    #[inline]
    pub(crate) fn action(&mut self, source_action: ActionId) -> Option<ActionId> {
        if self.memo.len() <= source_action as usize {
            self.memo.resize(source_action as usize + 1, Memo::Unknown);
        }
        match self.memo[source_action as usize] {
            Memo::Action(action) => Some(action),
            Memo::Never => None,
            Memo::Unknown => {
                let found = self.target.resolve(&self.source.step(source_action)).ok().flatten();
                self.memo[source_action as usize] = found.map_or(Memo::Never, Memo::Action);
                found
            }
        }
    }

    /// Returns why the target refuses the source's action in a state of the target.
    pub(crate) fn refusal(&self, source_action: ActionId, state: &State) -> Refusal {
        match self.target.resolve(&self.source.step(source_action)) {
            Ok(action) => self.target.refusal_of(state, action),
            Err(refusal) => refusal,
        }
    }

    /// The failing walk of a sequence of source actions whose last one the target refuses in `state`.
    pub(crate) fn failing(&self, walk: &[ActionId], state: &State) -> Option<FailingWalk> {
        let (&last, prefix) = walk.split_last()?;
        Some(FailingWalk {
            prefix: prefix.iter().map(|&a| self.source.step(a)).collect(),
            action: self.source.step(last),
            refusal: self.refusal(last, state),
        })
    }
}
