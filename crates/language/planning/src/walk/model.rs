//! A model to walk in: a domain and a problem, grounded once or joined on demand, under one of two readings of a ground no-op.
//!
//! A [`Link`] finds the ground actions of one model in another: by name and object names, or refused with the reason.

use super::lifted::Lifted;
use super::{ActionId, NamedStep, Semantics};
use crate::ground::{GroundLimits, ground};
use crate::lifted::LiftedTask;
use crate::normalize::normalize;
use crate::resources::{ResourceLimits, StopReason};
use crate::simulate::{Simulator, State};
use crate::task::{Atom, Condition, GroundAction, ObjectId, Operator, SourcePlace, TaskText, Unsupported};
use planforge_diagnostics::Diagnostic;
use planforge_pddl::ast::{Domain, Problem};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// Method of finding the applicable ground actions of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GroundingMethod {
    /// [`GroundingMethod::Ground`] up to 20,000 instances, beyond them [`GroundingMethod::Lifted`] where it applies: from about there on a hundred walks
    /// cost less than grounding (`cargo xtask measure-walks --growth`).
    #[default]
    Auto,
    /// All ground actions that delete relaxation reaches are listed once.
    Ground,
    /// Actions are joined from the facts of each state: no preparation, but steps are about ten times slower.
    /// Not for actions with PDDL 1.2's `:vars`. [`Semantics::GroundNoOpsDropped`] is decided without
    /// reachability: an atom is constant only if no effect changes its predicate accordingly.
    Lifted,
}

/// Instances beyond which [`GroundingMethod::Auto`] stops grounding.
const AUTO_INSTANCES: usize = 20_000;

/// Options for building a [`Model`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelOptions {
    /// Definition of the legal ground actions.
    pub semantics: Semantics,
    /// Method of finding them.
    pub method: GroundingMethod,
    /// Caps on grounding; without grounding `instances` caps the applicable actions of a state and `formula_parts` the
    /// rows tried for them.
    pub ground: GroundLimits,
}

/// Reason why a model could not be built.
#[derive(Debug, Clone)]
pub enum ModelError {
    /// The texts have errors. Labels use [`TaskText::source`].
    Invalid(Vec<Diagnostic>),
    /// The texts use constructs that are not executed.
    Unsupported(Vec<Unsupported>),
    /// A limit ended grounding.
    Limit(StopReason),
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ModelError::Invalid(found) => match found.iter().find(|d| d.is_error()) {
                Some(first) => write!(f, "{}", first.message),
                None => f.write_str("the texts have errors"),
            },
            ModelError::Unsupported(list) => match list.first() {
                Some(first) => write!(f, "{} is not executed", first.what),
                None => f.write_str("a construct is not executed"),
            },
            ModelError::Limit(reason) => write!(f, "{reason} was reached while grounding"),
        }
    }
}

impl std::error::Error for ModelError {}

/// A domain and a problem, ready to walk in. Every method takes `&self`; states are values.
#[derive(Debug)]
pub struct Model {
    lifted: Arc<LiftedTask>,
    backend: Backend,
    actions_by_name: FxHashMap<String, u32>,
    objects_by_name: FxHashMap<String, u32>,
}

#[derive(Debug)]
enum Backend {
    Ground {
        simulator: Box<Simulator>,
        /// Preconditions of the operators that the semantics drops, by action.
        dropped: FxHashMap<ActionId, Vec<Condition>>,
    },
    Lifted(Box<Lifted>),
}

impl Backend {
    fn ground(
        task: &LiftedTask,
        semantics: Semantics,
        limits: GroundLimits,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, StopReason> {
        let mut task = ground(task, limits, resources)?;
        let mut dropped: FxHashMap<ActionId, Vec<Condition>> = FxHashMap::default();
        if semantics == Semantics::GroundNoOpsDropped {
            task.operators.retain_mut(|operator| {
                let drop = changes_nothing(operator);
                if drop {
                    let conditions = dropped.entry(operator.action).or_default();
                    conditions.push(std::mem::take(&mut operator.precondition));
                }
                !drop
            });
        }
        Ok(Backend::Ground { simulator: Box::new(Simulator::new(Arc::new(task))), dropped })
    }

    fn new(
        task: &Arc<LiftedTask>,
        options: &ModelOptions,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, ModelError> {
        let &ModelOptions { semantics, method, ground: limits } = options;
        let lifted = |resources: &mut dyn ResourceLimits| {
            let built = Lifted::new(task, semantics, limits, resources).map_err(ModelError::Limit)?;
            Ok(built.map(|lifted| Backend::Lifted(Box::new(lifted))))
        };
        let grounded = |limits, resources: &mut dyn ResourceLimits| {
            Backend::ground(task, semantics, limits, resources).map_err(ModelError::Limit)
        };
        match method {
            GroundingMethod::Ground => grounded(limits, resources),
            GroundingMethod::Lifted => lifted(resources)?.ok_or_else(|| {
                let hidden = task.schemas.iter().find(|s| s.variables.len() != s.parameters);
                let place = SourcePlace::domain(hidden.map(|s| s.span).unwrap_or_default());
                let what = "an action with :vars, without grounding".to_owned();
                ModelError::Unsupported(vec![Unsupported { what, place }])
            }),
            GroundingMethod::Auto => {
                let few = GroundLimits { instances: limits.instances.min(AUTO_INSTANCES), ..limits };
                match grounded(few, resources) {
                    Err(ModelError::Limit(StopReason::Grounding)) => match lifted(resources)? {
                        Some(lifted) => Ok(lifted),
                        None => grounded(limits, resources),
                    },
                    other => other,
                }
            }
        }
    }
}

impl Model {
    /// Builds a model from parsed texts.
    ///
    /// # Errors
    /// See [`ModelError`].
    pub fn new(
        domain: &Domain,
        problem: &Problem,
        options: &ModelOptions,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, ModelError> {
        let lifted = normalize(domain, problem).map_err(ModelError::Invalid)?;
        Model::from_lifted(lifted, options, resources)
    }

    /// Builds a model from a normalised task.
    ///
    /// # Errors
    /// See [`ModelError`].
    pub fn from_lifted(
        lifted: LiftedTask,
        options: &ModelOptions,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, ModelError> {
        if !lifted.unsupported.is_empty() {
            return Err(ModelError::Unsupported(lifted.unsupported));
        }
        // The first of two definitions of one name counts, as in validation.
        let index =
            |names: &[String]| names.iter().enumerate().rev().map(|(i, n)| (lower(n), i as u32)).collect();
        let lifted = Arc::new(lifted);
        Ok(Model {
            actions_by_name: index(&lifted.symbols.actions),
            objects_by_name: index(&lifted.symbols.objects),
            backend: Backend::new(&lifted, options, resources)?,
            lifted,
        })
    }

    /// Builds a model from two texts.
    ///
    /// # Errors
    /// See [`ModelError`]; every error of both texts is in [`ModelError::Invalid`].
    pub fn from_texts(
        domain: &str,
        problem: &str,
        options: &ModelOptions,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, ModelError> {
        let domain = planforge_pddl::parse_domain(domain, TaskText::Domain.source());
        let problem = planforge_pddl::parse_problem(problem, TaskText::Problem.source());
        let found = [domain.diagnostics, problem.diagnostics].concat();
        if found.iter().any(Diagnostic::is_error) {
            return Err(ModelError::Invalid(found));
        }
        Model::new(&domain.value, &problem.value, options, resources)
    }

    /// Returns the normalised task.
    pub fn lifted(&self) -> &LiftedTask {
        &self.lifted
    }

    /// Returns the simulator of the ground task, if there is one (see [`GroundingMethod`]). Ground actions
    /// that the semantics drops are never applicable in it.
    pub fn simulator(&self) -> Option<&Simulator> {
        match &self.backend {
            Backend::Ground { simulator, .. } => Some(simulator),
            Backend::Lifted(_) => None,
        }
    }

    /// Returns the initial state.
    pub fn initial(&self) -> State {
        match &self.backend {
            Backend::Ground { simulator, .. } => simulator.initial(),
            Backend::Lifted(lifted) => lifted.initial(),
        }
    }

    /// Returns the legal ground actions of a state, each once, in an order that depends on the state alone.
    ///
    /// # Errors
    /// The limit that was reached. Without grounding there may be more actions than [`GroundLimits::instances`].
    pub fn applicable(
        &self,
        state: &State,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Vec<ActionId>, StopReason> {
        let mut out = Vec::new();
        self.applicable_into(state, &mut out, resources)?;
        Ok(out)
    }

    /// Writes the legal ground actions of a state over `out`. The limits bound the work without grounding; that of a ground task is
    /// at most its size.
    ///
    /// # Errors
    /// The limit that was reached.
    pub(crate) fn applicable_into(
        &self,
        state: &State,
        out: &mut Vec<ActionId>,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        match &self.backend {
            Backend::Ground { simulator, .. } => {
                simulator.applicable_into(state, out);
                Ok(())
            }
            Backend::Lifted(lifted) => lifted.applicable_into(state, out, resources),
        }
    }

    /// Executes a ground action in place; whether it was legal.
    ///
    /// # Errors
    /// The limit that was reached.
    pub fn apply(
        &self,
        state: &mut State,
        action: ActionId,
        resources: &mut dyn ResourceLimits,
    ) -> Result<bool, StopReason> {
        match &self.backend {
            Backend::Ground { simulator, .. } => Ok(simulator.apply(state, action)),
            Backend::Lifted(lifted) => lifted.apply(state, action, resources),
        }
    }

    /// Returns true if the problem's goal holds in a state.
    ///
    /// # Errors
    /// The limit that was reached.
    pub fn is_goal(&self, state: &State, resources: &mut dyn ResourceLimits) -> Result<bool, StopReason> {
        match &self.backend {
            Backend::Ground { simulator, .. } => Ok(simulator.is_goal(state)),
            Backend::Lifted(lifted) => lifted.is_goal(state, resources),
        }
    }

    /// The basic facts of a state that can change, in no particular order.
    pub fn atoms(&self, state: &State) -> Vec<Atom> {
        match &self.backend {
            Backend::Ground { simulator, .. } => {
                let basic = simulator.task().basic_facts;
                let facts = &simulator.task().facts;
                let basic = crate::bits::ones(state.bits()).filter(|&f| (f as usize) < basic);
                basic.map(|f| facts[f as usize].clone()).collect()
            }
            Backend::Lifted(lifted) => lifted.atoms(state),
        }
    }

    /// The basic facts that can change in a ground task, by delete relaxation; `None` if they were not listed (see [`GroundingMethod`]).
    pub fn facts(&self) -> Option<&[Atom]> {
        self.simulator().map(|simulator| &simulator.task().facts[..simulator.task().basic_facts])
    }

    /// A ground action by the names it has in the texts.
    pub fn step(&self, action: ActionId) -> NamedStep {
        let symbols = &self.lifted.symbols;
        let ground = self.ground_action(action);
        NamedStep {
            name: symbols.actions[ground.action as usize].clone(),
            args: ground.args.iter().map(|&o| symbols.objects[o as usize].clone()).collect(),
        }
    }

    fn ground_action(&self, action: ActionId) -> GroundAction {
        match &self.backend {
            Backend::Ground { simulator, .. } => simulator.task().actions[action as usize].clone(),
            Backend::Lifted(lifted) => lifted.action(action),
        }
    }

    /// The action schema of a ground action, by its place in the domain.
    pub fn schema_of(&self, action: ActionId) -> usize {
        match &self.backend {
            Backend::Ground { simulator, .. } => simulator.task().actions[action as usize].action as usize,
            Backend::Lifted(lifted) => lifted.action(action).action as usize,
        }
    }

    /// The names of the action schemas in the domain's order.
    pub fn schema_names(&self) -> &[String] {
        &self.lifted.symbols.actions
    }

    /// Returns the number of ground actions that delete relaxation reaches; `None` if they were not listed
    /// (see [`GroundingMethod`]).
    pub fn action_count(&self) -> Option<usize> {
        self.simulator().map(|s| s.task().actions.len())
    }

    /// The number of a ground action; `None` where no reachable state allows it.
    pub(crate) fn find_action(&self, action: GroundAction) -> Option<ActionId> {
        match &self.backend {
            Backend::Ground { simulator, .. } => simulator.find_action(&action),
            Backend::Lifted(lifted) => Some(lifted.number(action)),
        }
    }

    /// Returns true if a ground action is illegal only because it changes nothing: its precondition holds.
    pub(crate) fn is_dropped(
        &self,
        state: &State,
        action: ActionId,
        resources: &mut dyn ResourceLimits,
    ) -> Result<bool, StopReason> {
        match &self.backend {
            Backend::Ground { dropped, .. } => Ok(dropped
                .get(&action)
                .is_some_and(|all| all.iter().any(|c| c.holds(state.bits(), state.numbers())))),
            Backend::Lifted(lifted) => lifted.is_dropped(state, action, resources),
        }
    }

    pub(crate) fn find_schema(&self, name: &str) -> Option<u32> {
        self.actions_by_name.get(&lower(name)).copied()
    }

    fn find_object(&self, name: &str) -> Option<u32> {
        self.objects_by_name.get(&lower(name)).copied()
    }
}

/// Names compare without regard to case.
fn lower(name: &str) -> String {
    name.to_lowercase()
}

/// Returns true if the operator's own precondition shows that it changes no state in which it is applicable.
pub(crate) fn changes_nothing(operator: &Operator) -> bool {
    let pre = &operator.precondition;
    let held = |list: &[u32], by: &[u32]| list.iter().all(|f| by.binary_search(f).is_ok());
    if !operator.numeric.is_empty()
        || !held(&operator.add, &pre.positive)
        || !held(&operator.delete, &pre.negative)
    {
        return false;
    }
    operator.conditional.iter().all(|effect| {
        let condition = &effect.condition;
        let known =
            |fact: &u32, own: &[u32], more: &[u32]| own.contains(fact) || more.binary_search(fact).is_ok();
        effect.add.iter().all(|f| known(f, &condition.positive, &pre.positive))
            && effect
                .delete
                .iter()
                .all(|f| known(f, &condition.negative, &pre.negative) || effect.add.contains(f))
    })
}

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
    /// [`Semantics::GroundNoOpsDropped`] has no such actions.
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
///
/// # Errors
/// The limit that was reached.
pub fn execute_steps(
    model: &Model,
    steps: &[NamedStep],
    resources: &mut dyn ResourceLimits,
) -> Result<ExecutedSteps, StopReason> {
    let mut state = model.initial();
    for (executed, step) in steps.iter().enumerate() {
        let refusal = match model.resolve(step) {
            Ok(action) => {
                if let Some(action) = action
                    && model.apply(&mut state, action, resources)?
                {
                    continue;
                }
                model.refusal_of(&state, action, resources)?
            }
            Err(refusal) => refusal,
        };
        return Ok(ExecutedSteps { executed, refusal: Some(refusal), state });
    }
    Ok(ExecutedSteps { executed: steps.len(), refusal: None, state })
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
    fn refusal_of(
        &self,
        state: &State,
        action: Option<ActionId>,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Refusal, StopReason> {
        Ok(match action {
            Some(action) if self.is_dropped(state, action, resources)? => Refusal::NoEffect,
            _ => Refusal::NotApplicable,
        })
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
    pub(crate) fn refusal(
        &self,
        source_action: ActionId,
        state: &State,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Refusal, StopReason> {
        match self.target.resolve(&self.source.step(source_action)) {
            Ok(action) => self.target.refusal_of(state, action, resources),
            Err(refusal) => Ok(refusal),
        }
    }

    /// The failing walk of a sequence of source actions whose last one the target refuses in `state`.
    pub(crate) fn failing(
        &self,
        walk: &[ActionId],
        state: &State,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Option<FailingWalk>, StopReason> {
        let Some((&last, prefix)) = walk.split_last() else { return Ok(None) };
        Ok(Some(FailingWalk {
            prefix: prefix.iter().map(|&a| self.source.step(a)).collect(),
            action: self.source.step(last),
            refusal: self.refusal(last, state, resources)?,
        }))
    }
}
