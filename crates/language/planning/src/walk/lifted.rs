//! Walks without grounding: the applicable ground actions of a state are computed by joins over its facts.
//! For tasks with too many ground actions to list. Facts and actions are numbered when they first occur, so
//! that states and actions have the same form as those of the ground task.

mod plan;

use super::{ActionId, Semantics};
use crate::bits;
use crate::ground::{GroundLimits, functions_deciding};
use crate::lifted::{EffectChange, LiftedTask};
use crate::resources::{Poll, ResourceLimits, StopReason, check};
use crate::satisfy::{Cut, POLL, Work, args_bytes, holds};
use crate::simulate::State;
use crate::task::{Atom, GroundAction, ObjectId};
use crate::validate::args_of;
use crate::validate::world::{Args, World};
use plan::{Plan, Tables};
use planforge_pddl::Number;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The task and what was met of it so far.
#[derive(Debug)]
pub(crate) struct Lifted {
    task: Arc<LiftedTask>,
    plans: Vec<Plan>,
    /// Functions whose changes matter to conditions, or to whether effects have values.
    read: FxHashSet<u32>,
    semantics: Semantics,
    limits: GroundLimits,
    /// For each schema, true if it has numeric effects.
    numeric: Vec<bool>,
    /// Estimated bytes of a numbered atom, term or action.
    numbered_bytes: u64,
    met: Mutex<Met>,
}

/// Numbers of atoms, function terms and actions, and the state at hand.
#[derive(Debug)]
struct Met {
    atoms: Numbered<Atom>,
    terms: Numbered<Atom>,
    actions: Numbered<GroundAction>,
    world: World<Arc<LiftedTask>>,
    tables: Tables,
    /// The state that `world` and `tables` show.
    shown: State,
    /// True if its derived atoms are not complete.
    stale: bool,
}

#[derive(Debug)]
struct Numbered<T> {
    numbers: FxHashMap<T, u32>,
    items: Vec<T>,
    /// Items that the limits were charged for.
    charged: usize,
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn new() -> Self {
        Numbered { numbers: FxHashMap::default(), items: Vec::new(), charged: 0 }
    }

    fn number(&mut self, item: T) -> u32 {
        if let Some(&number) = self.numbers.get(&item) {
            return number;
        }
        let number = self.items.len() as u32;
        self.items.push(item.clone());
        self.numbers.insert(item, number);
        number
    }

    /// Items since the last call.
    fn take_fresh(&mut self) -> u64 {
        let fresh = self.items.len() - self.charged;
        self.charged = self.items.len();
        fresh as u64
    }
}

/// The caller's limits, and a cap on the polls of one operation.
struct OperationLimits<'r> {
    resources: &'r mut dyn ResourceLimits,
    polls: u64,
}

impl<'r> OperationLimits<'r> {
    fn new(resources: &'r mut dyn ResourceLimits, limits: GroundLimits) -> Self {
        OperationLimits { resources, polls: (limits.formula_parts as u64 / u64::from(POLL)).max(1) }
    }
}

impl ResourceLimits for OperationLimits<'_> {
    fn poll(&mut self) -> Poll {
        if self.polls == 0 {
            return Poll::Stop(StopReason::Grounding);
        }
        self.polls -= 1;
        self.resources.poll()
    }

    fn charge(&mut self, bytes: u64) -> Poll {
        self.resources.charge(bytes)
    }

    fn release(&mut self, bytes: u64) {
        self.resources.release(bytes);
    }
}

/// The limit of a cut. Inexact numbers decide like others here, so a limit is the only reason for a cut.
fn reason_of(cut: Cut) -> StopReason {
    match cut {
        Cut::Limit(reason) => reason,
        Cut::Inexact => StopReason::Grounding,
    }
}

impl Lifted {
    /// `None` for tasks with variables that plans do not name (PDDL 1.2's `:vars`): which effects such a step has is not determined by
    /// its name.
    pub(crate) fn new(
        task: &Arc<LiftedTask>,
        semantics: Semantics,
        limits: GroundLimits,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Option<Self>, StopReason> {
        if task.schemas.iter().any(|s| s.variables.len() != s.parameters) {
            return Ok(None);
        }
        let mut world = World::initial(Arc::clone(task));
        world.close(&mut Work::new(&mut OperationLimits::new(resources, limits))).map_err(reason_of)?;
        let mut tables = Tables::new(task);
        let plans = plan::plans(task, &world, &mut tables);
        for (p, predicate) in task.predicates.iter().enumerate() {
            let rows = world.rows(p as u32).iter();
            if predicate.fluent {
                rows.for_each(|row| tables.insert(p as u32, row));
            } else {
                tables.fill(p as u32, rows);
            }
        }
        let mut met = Met {
            atoms: Numbered::new(),
            terms: Numbered::new(),
            actions: Numbered::new(),
            world,
            tables,
            shown: State { facts: Box::default(), numbers: Box::default() },
            stale: false,
        };
        let read = functions_deciding(task);
        met.shown = met.initial(task, &read);
        let numeric = task.schemas.iter().map(|schema| {
            let mut changes = schema.effects.iter().flat_map(|group| &group.changes);
            changes.any(|(change, _)| matches!(change, EffectChange::Numeric(..)))
        });
        let numeric = numeric.collect();
        let arities = task.predicates.iter().map(|p| p.arity).chain(task.function_arity.iter().copied());
        let arity = arities.chain(task.schemas.iter().map(|s| s.parameters)).max().unwrap_or(0);
        // Each is in a list and a map.
        let numbered_bytes = 160 + 8 * arity as u64;
        let (task, met) = (Arc::clone(task), Mutex::new(met));
        Ok(Some(Lifted { task, plans, read, semantics, limits, numeric, numbered_bytes, met }))
    }

    fn with<R>(&self, f: impl FnOnce(&mut Met) -> R) -> R {
        f(&mut self.met.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `f` under the limits, after the state is shown.
    fn evaluate<R>(
        &self,
        state: &State,
        resources: &mut dyn ResourceLimits,
        f: impl FnOnce(&mut Met, &mut Work<'_>) -> Result<R, Cut>,
    ) -> Result<R, StopReason> {
        self.with(|met| {
            let mut limits = OperationLimits::new(resources, self.limits);
            let mut work = Work::new(&mut limits);
            let result = met.show(state, &self.task, &mut work).and_then(|()| f(met, &mut work));
            drop(work);
            let fresh = met.atoms.take_fresh() + met.terms.take_fresh() + met.actions.take_fresh();
            let result = result.map_err(reason_of)?;
            if fresh > 0 {
                check(resources.charge(fresh * self.numbered_bytes))?;
            }
            Ok(result)
        })
    }

    pub(crate) fn initial(&self) -> State {
        self.with(|met| met.initial(&self.task, &self.read))
    }

    /// Writes the legal actions to `out`, in an order that depends on the state alone. Replaces its contents.
    ///
    /// # Errors
    /// The limit that was reached, also one on grounding: more actions, or more rows tried.
    pub(crate) fn applicable_into(
        &self,
        state: &State,
        out: &mut Vec<ActionId>,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        out.clear();
        self.evaluate(state, resources, |met, work| {
            let mut found = Vec::new();
            let mut joined = Ok(true);
            for plan in &self.plans {
                joined = plan.join(&met.tables, &met.world, work, &mut |binding, work| {
                    let legal = self.semantics == Semantics::Strips
                        || !plan.changes_nothing(self, &met.world, binding, work)?;
                    if legal && self.effects_have_values(met, plan.schema, binding, work)? {
                        let variables = &self.task.schemas[plan.schema].variables;
                        work.charge(args_bytes(variables.len()))?;
                        let args = variables.iter().map(|v| binding[v.slot as usize]).collect();
                        found.push(GroundAction { action: plan.schema as u32, args });
                    }
                    Ok(found.len() <= self.limits.instances)
                });
                if joined != Ok(true) {
                    break;
                }
            }
            if !joined? {
                return Err(Cut::Limit(StopReason::Grounding));
            }
            work.charge((found.len() as u64).saturating_mul(self.numbered_bytes))?;
            let several = self.plans.iter().any(|p| p.repeats);
            let mut seen = FxHashSet::default();
            for action in found {
                work.tick()?;
                let id = met.actions.number(action);
                if !several || seen.insert(id) {
                    out.push(id);
                }
            }
            Ok(())
        })
    }

    /// Executes an action in place; whether it was legal.
    ///
    /// # Errors
    /// The limit that was reached.
    pub(crate) fn apply(
        &self,
        state: &mut State,
        action: ActionId,
        resources: &mut dyn ResourceLimits,
    ) -> Result<bool, StopReason> {
        let next = self.evaluate(state, resources, |met, work| {
            let ground = met.actions.items[action as usize].clone();
            let mut binding = self.binding(&ground);
            if !self.is_legal(met, &ground, &mut binding, work)? {
                return Ok(None);
            }
            met.execute(self, &ground, &mut binding, state, work).map(Some)
        })?;
        Ok(next.map(|next| *state = next).is_some())
    }

    /// Returns true if the goal holds.
    ///
    /// # Errors
    /// The limit that was reached.
    pub(crate) fn is_goal(
        &self,
        state: &State,
        resources: &mut dyn ResourceLimits,
    ) -> Result<bool, StopReason> {
        self.evaluate(state, resources, |met, work| {
            let mut binding = vec![ObjectId::MAX; self.task.goal_slots];
            holds(&met.world.view_of_samples(), &self.task.goal, &mut binding, work)
        })
    }

    fn binding(&self, action: &GroundAction) -> Vec<ObjectId> {
        let schema = &self.task.schemas[action.action as usize];
        let mut binding = vec![ObjectId::MAX; schema.slots];
        for (variable, &object) in schema.variables.iter().zip(&action.args) {
            binding[variable.slot as usize] = object;
        }
        binding
    }

    fn is_legal(
        &self,
        met: &Met,
        action: &GroundAction,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
    ) -> Result<bool, Cut> {
        let number = action.action as usize;
        if !self.is_executable(met, number, binding, work)? {
            return Ok(false);
        }
        if self.semantics == Semantics::Strips {
            return Ok(true);
        }
        for plan in self.plans.iter().filter(|p| p.schema == number) {
            let changes = plan.holds(&met.world, binding, work, &mut |b, work| {
                Ok(!plan.changes_nothing(self, &met.world, b, work)?)
            })?;
            if changes {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true if the precondition holds and all effects have values.
    fn is_executable(
        &self,
        met: &Met,
        schema: usize,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
    ) -> Result<bool, Cut> {
        let precondition = &self.task.schemas[schema].precondition;
        Ok(holds(&met.world.view_of_samples(), precondition, binding, work)?
            && self.effects_have_values(met, schema, binding, work)?)
    }

    /// Returns true if no numeric effect keeps a ground action from being applicable.
    fn effects_have_values(
        &self,
        met: &Met,
        schema: usize,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
    ) -> Result<bool, Cut> {
        if !self.numeric[schema] {
            return Ok(true);
        }
        let held = work.held();
        let view = met.world.view_of_samples();
        let changes = met.world.changes(&self.task.schemas[schema], &view, binding, work)?;
        work.release_to(held);
        Ok(changes.bad.is_empty())
    }

    /// Returns true if the precondition holds and only the semantics forbids the action.
    ///
    /// # Errors
    /// The limit that was reached.
    pub(crate) fn is_dropped(
        &self,
        state: &State,
        action: ActionId,
        resources: &mut dyn ResourceLimits,
    ) -> Result<bool, StopReason> {
        self.evaluate(state, resources, |met, work| {
            let ground = met.actions.items[action as usize].clone();
            let mut binding = self.binding(&ground);
            Ok(self.is_executable(met, ground.action as usize, &mut binding, work)?
                && !self.is_legal(met, &ground, &mut binding, work)?)
        })
    }

    pub(crate) fn number(&self, action: GroundAction) -> ActionId {
        self.with(|met| met.actions.number(action))
    }

    pub(crate) fn action(&self, action: ActionId) -> GroundAction {
        self.with(|met| met.actions.items[action as usize].clone())
    }

    /// The basic facts that hold and can change.
    pub(crate) fn atoms(&self, state: &State) -> Vec<Atom> {
        self.with(|met| bits::ones(&state.facts).map(|f| met.atoms.items[f as usize].clone()).collect())
    }
}

impl Met {
    fn initial(&mut self, task: &LiftedTask, read: &FxHashSet<u32>) -> State {
        let changing = |a: &&Atom| {
            let predicate = &task.predicates[a.predicate as usize];
            predicate.fluent && !predicate.derived
        };
        let mut facts = Vec::new();
        for atom in task.init.iter().filter(changing) {
            set(&mut facts, self.atoms.number(atom.clone()));
        }
        let mut numbers = Vec::new();
        for (term, value) in task.init_numbers.iter().filter(|(t, _)| read.contains(&t.predicate)) {
            let number = self.terms.number(term.clone()) as usize;
            numbers.resize(numbers.len().max(number + 1), Number::UNDEFINED);
            numbers[number] = *value;
        }
        trim_state(facts, numbers)
    }

    /// Makes `world` and `tables` show a state, by what differs from the one they show.
    ///
    /// # Errors
    /// The limit that ended the derivation of atoms. The next call starts it again.
    fn show(&mut self, state: &State, task: &LiftedTask, work: &mut Work<'_>) -> Result<(), Cut> {
        let words = state.facts.len().max(self.shown.facts.len());
        let word = |s: &State, i: usize| s.facts.get(i).copied().unwrap_or(0);
        let mut changed = false;
        for i in 0..words {
            let mut differ = word(state, i) ^ word(&self.shown, i);
            changed |= differ != 0;
            while differ != 0 {
                let fact = (i as u32) << 6 | differ.trailing_zeros();
                differ &= differ - 1;
                let atom = &self.atoms.items[fact as usize];
                let args = Args::from_slice(&atom.args);
                if word(state, i) >> (fact & 63) & 1 != 0 {
                    self.tables.insert(atom.predicate, &args);
                    self.world.insert(atom.predicate, args);
                } else {
                    self.tables.remove(atom.predicate, &args);
                    self.world.remove(atom.predicate, &args);
                }
            }
        }
        for i in 0..state.numbers.len().max(self.shown.numbers.len()) {
            let value = |s: &State| s.numbers.get(i).copied().unwrap_or(Number::UNDEFINED);
            if value(state) != value(&self.shown) {
                changed = true;
                let term = &self.terms.items[i];
                self.world.set_number(term.predicate, Args::from_slice(&term.args), value(state));
            }
        }
        if changed {
            self.shown.clone_from(state);
            self.stale = !task.rules.is_empty();
        }
        if self.stale {
            self.world.close(work)?;
            for (p, _) in task.predicates.iter().enumerate().filter(|(_, p)| p.derived) {
                self.tables.fill(p as u32, self.world.rows(p as u32).iter());
            }
            self.stale = false;
        }
        Ok(())
    }

    /// The state after an action that is legal in the one shown.
    fn execute(
        &mut self,
        lifted: &Lifted,
        action: &GroundAction,
        binding: &mut [ObjectId],
        state: &State,
        work: &mut Work<'_>,
    ) -> Result<State, Cut> {
        let schema = &lifted.task.schemas[action.action as usize];
        let view = self.world.view_of_samples();
        let changes = self.world.changes(schema, &view, binding, work)?;
        let atom = |(predicate, args): (u32, Args)| Atom { predicate, args: args.as_slice().into() };
        let mut facts = state.facts.to_vec();
        for fact in changes.deleted {
            let fact = self.atoms.number(atom(fact));
            if (fact as usize) < 64 * facts.len() {
                bits::clear(&mut facts, fact);
            }
        }
        for fact in changes.added {
            set(&mut facts, self.atoms.number(atom(fact)));
        }
        let mut numbers = state.numbers.to_vec();
        for (function, args, value) in changes.numbers {
            if lifted.read.contains(&function) {
                let number = self.terms.number(atom((function, args))) as usize;
                numbers.resize(numbers.len().max(number + 1), Number::UNDEFINED);
                numbers[number] = value;
            }
        }
        Ok(trim_state(facts, numbers))
    }
}

fn set(facts: &mut Vec<u64>, fact: u32) {
    facts.resize(facts.len().max((fact >> 6) as usize + 1), 0);
    bits::set(facts, fact);
}

/// Returns a state in canonical form, independent of the numbering order: without trailing parts that are
/// equivalent to absent ones.
fn trim_state(mut facts: Vec<u64>, mut numbers: Vec<Number>) -> State {
    while facts.last() == Some(&0) {
        facts.pop();
    }
    while numbers.last().is_some_and(|n| n.is_undefined()) {
        numbers.pop();
    }
    State { facts: facts.into(), numbers: numbers.into() }
}

/// Returns true if the predicate's effects show that an atom always has this value.
pub(super) fn for_ever(lifted: &Lifted, atom: &Atom, value: bool) -> bool {
    let changes = lifted.task.schemas.iter().flat_map(|s| &s.effects).flat_map(|g| &g.changes);
    let mut changes = changes.map(|(c, _)| c);
    let own = |a: &crate::lifted::LiftedAtom| a.predicate == atom.predicate;
    let touched = changes.any(|c| match c {
        EffectChange::Add(a) => !value && own(a),
        EffectChange::Delete(a) => value && own(a),
        EffectChange::Numeric(..) => false,
    });
    !touched && lifted.task.init.binary_search(atom).is_ok() == value
}

/// The arguments of an atom under a binding, for tables.
pub(super) fn row(atom: &crate::lifted::LiftedAtom, binding: &[ObjectId]) -> Args {
    args_of(atom, binding)
}
