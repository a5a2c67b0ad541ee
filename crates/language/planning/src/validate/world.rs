//! A state that is executed without grounding: atoms by predicate, numbers by function term, derived atoms on demand.

pub(crate) use crate::satisfy::Args;

use super::derive;
use super::derive::{Demand, View, args_of};
use crate::lifted::{ActionSchema, EffectChange, EffectGroup, Formula, LiftedExpr, LiftedTask, Term};
use crate::satisfy::{Cut, Work, holds, project};
use crate::task::{Atom, ObjectId};
use planforge_diagnostics::Span;
use planforge_pddl::Number;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Deref;

/// A state of a task that is borrowed or shared.
#[derive(Debug, Clone)]
pub(crate) struct World<T> {
    task: T,
    facts: Vec<FxHashSet<Args>>,
    numbers: FxHashMap<(u32, Args), Number>,
    /// Number of steps executed so far, or time of the last happening of a plan with times.
    pub(crate) time: Number,
    /// `?duration` of the action that is evaluated.
    pub(super) duration: Number,
    /// Violations by the name of preferences.
    pub(super) violations: Vec<u64>,
    /// Predicates whose atoms changed since the derived atoms were computed.
    changed: Vec<bool>,
    /// True if a number changed since then.
    numbers_changed: bool,
    /// Derived predicates of which only the atoms that were asked for are known.
    partial: Vec<u32>,
}

/// A numeric effect that keeps its step from being applicable.
pub(crate) struct BadChange {
    pub(crate) target: Atom,
    pub(crate) span: Span,
    /// True if it contradicts another effect, false if it has no value.
    pub(crate) conflict: bool,
}

/// Changes that a step makes to a state.
#[derive(Default)]
pub(crate) struct StepChanges {
    pub(crate) added: Vec<(u32, Args)>,
    pub(crate) deleted: Vec<(u32, Args)>,
    /// Function terms with the values after each effect, in the order of the effects.
    pub(crate) numbers: Vec<(u32, Args, Number)>,
    /// Effects for which the step is not applicable.
    pub(crate) bad: Vec<BadChange>,
    /// Function terms that something else than an amount changed.
    pub(crate) replaced: FxHashSet<(u32, Args)>,
}

impl<T: Deref<Target = LiftedTask>> World<T> {
    /// The initial state, without derived atoms.
    pub(crate) fn initial(task: T) -> Self {
        let mut facts = vec![FxHashSet::default(); task.predicates.len()];
        for atom in &task.init {
            facts[atom.predicate as usize].insert(Args::from_slice(&atom.args));
        }
        let numbers =
            task.init_numbers.iter().map(|(t, v)| ((t.predicate, Args::from_slice(&t.args)), *v)).collect();
        let changed = vec![true; task.predicates.len()];
        let violations = vec![0; task.extension.preference_names.len()];
        World {
            facts,
            numbers,
            time: Number::ZERO,
            duration: Number::UNDEFINED,
            violations,
            changed,
            numbers_changed: true,
            partial: Vec::new(),
            task,
        }
    }

    /// The state for formulas.
    pub(crate) fn view(&self) -> View<'_> {
        View {
            facts: &self.facts,
            numbers: &self.numbers,
            time: self.time,
            duration: self.duration,
            violations: &self.violations,
            exact: true,
        }
    }

    /// The state for samples, in which inexact numbers are as good as others.
    pub(crate) fn view_of_samples(&self) -> View<'_> {
        View { exact: false, ..self.view() }
    }

    /// The atoms of a predicate that hold.
    pub(crate) fn rows(&self, predicate: u32) -> &FxHashSet<Args> {
        &self.facts[predicate as usize]
    }

    pub(crate) fn contains(&self, predicate: u32, args: &Args) -> bool {
        self.facts[predicate as usize].contains(args)
    }

    pub(crate) fn insert(&mut self, predicate: u32, args: Args) -> bool {
        let fresh = self.facts[predicate as usize].insert(args);
        self.changed[predicate as usize] |= fresh;
        fresh
    }

    pub(crate) fn remove(&mut self, predicate: u32, args: &Args) -> bool {
        let known = self.facts[predicate as usize].remove(args);
        self.changed[predicate as usize] |= known;
        known
    }

    pub(crate) fn set_number(&mut self, function: u32, args: Args, value: Number) {
        self.numbers_changed = true;
        self.numbers.insert((function, args), value);
    }

    /// Sets the cost counter to 0 if neither the problem nor a step has set it.
    pub(crate) fn start_cost_counter(&mut self) {
        let functions = 0..self.task.symbols.functions.len() as u32;
        for function in functions.filter(|&f| self.task.counts_from_zero(f)) {
            self.numbers.entry((function, Args::default())).or_insert(Number::ZERO);
        }
    }

    /// Returns true if a condition holds. Derived atoms must be up to date if it mentions any.
    pub(crate) fn holds(
        &self,
        formula: &Formula,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
    ) -> Result<bool, Cut> {
        holds(&self.view(), formula, binding, work)
    }

    /// The value of an expression.
    pub(crate) fn value(&self, expr: &LiftedExpr, binding: &[ObjectId]) -> Number {
        self.view().value(expr, binding)
    }

    /// Brings the derived atoms up to date.
    pub(crate) fn close(&mut self, work: &mut Work<'_>) -> Result<(), Cut> {
        if self.task.rules.is_empty() {
            return Ok(());
        }
        for predicate in self.partial.drain(..) {
            self.facts[predicate as usize].clear();
            self.changed[predicate as usize] = true;
        }
        self.derive(&[], work)
    }

    /// Brings the derived atoms up to date that a step's conditions ask for; all of them if nothing changed that rules read, as the
    /// next steps may then use them again.
    pub(super) fn close_for<'f>(
        &mut self,
        demand: &Demand<'_>,
        conditions: impl Iterator<Item = &'f Formula>,
        binding: &[ObjectId],
        work: &mut Work<'_>,
    ) -> Result<(), Cut> {
        let unchanged = !demand.reads(&self.changed, self.numbers_changed);
        let mut questions = Vec::new();
        for condition in conditions {
            if unchanged || !demand.questions(condition, binding, &mut questions) {
                return self.close(work);
            }
        }
        let on_demand = demand.on_demand();
        self.partial = (0..).zip(on_demand).filter(|(_, asked)| **asked).map(|(number, _)| number).collect();
        for &predicate in &self.partial {
            self.facts[predicate as usize].clear();
        }
        self.derive(on_demand, work)?;
        for (predicate, args) in demand.answers(questions, &self.view(), work)? {
            self.facts[predicate as usize].insert(args);
        }
        Ok(())
    }

    /// Brings the derived atoms up to date, those of predicates in `skip` aside.
    pub(super) fn derive(&mut self, skip: &[bool], work: &mut Work<'_>) -> Result<(), Cut> {
        let World { task, facts, numbers, changed, numbers_changed, .. } = self;
        // Rules read neither times nor violations.
        let view = View {
            facts: &[],
            numbers,
            time: Number::UNDEFINED,
            duration: Number::UNDEFINED,
            violations: &[],
            exact: true,
        };
        derive::close(&task.rules, skip, facts, &view, changed, *numbers_changed, work)?;
        self.changed.fill(false);
        self.numbers_changed = false;
        Ok(())
    }

    /// The effects of an action in this state, all conditions and amounts computed before the step.
    pub(crate) fn changes(
        &self,
        schema: &ActionSchema,
        view: &View<'_>,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
    ) -> Result<StepChanges, Cut> {
        let mut found = ChangesFound::default();
        for group in &schema.effects {
            work.evaluate(group.changes.first().map(|(_, span)| *span));
            if group.variables.is_empty() {
                if holds(view, &group.condition, binding, work)? {
                    for (change, span) in &group.changes {
                        work.tick()?;
                        self.record(change, *span, view, binding, &mut found);
                    }
                }
                continue;
            }
            for (wanted, own) in changes_by_variables(group) {
                let held = work.held();
                let matches = project(view, &group.variables, &wanted, &group.condition, binding, work)?;
                for values in &matches {
                    for (&slot, &object) in wanted.iter().zip(values) {
                        binding[slot as usize] = object;
                    }
                    for (change, span) in &own {
                        work.tick()?;
                        self.record(change, *span, view, binding, &mut found);
                    }
                }
                let count = (matches.len() as u64).saturating_mul(own.len() as u64);
                work.release_to(held);
                work.charge(count.saturating_mul(CHANGE_BYTES))?;
            }
        }
        work.evaluate(None);
        Ok(found.changes)
    }

    /// Records a change under a binding.
    fn record(
        &self,
        change: &EffectChange,
        span: Span,
        view: &View<'_>,
        binding: &[ObjectId],
        found: &mut ChangesFound,
    ) {
        match change {
            EffectChange::Add(atom) => found.changes.added.push((atom.predicate, args_of(atom, binding))),
            EffectChange::Delete(atom) => {
                found.changes.deleted.push((atom.predicate, args_of(atom, binding)))
            }
            EffectChange::Numeric(op, target, amount) => {
                let args = args_of(target, binding);
                let earlier = found.present.get(&(target.predicate, args.clone())).copied();
                let additive = op.is_additive();
                let mut old = earlier.map_or_else(|| view.number(target.predicate, &args), |e| e.0);
                if old.is_undefined() && additive && self.task.counts_from_zero(target.predicate) {
                    old = Number::ZERO;
                }
                let new = op.apply(old, view.value(amount, binding));
                let conflict = earlier.is_some_and(|e| !(e.1 && additive));
                if conflict || new.is_undefined() {
                    let target = target.instantiate(binding);
                    found.changes.bad.push(BadChange { target, span, conflict });
                }
                if !additive {
                    found.changes.replaced.insert((target.predicate, args.clone()));
                }
                found.present.insert((target.predicate, args.clone()), (new, additive));
                found.changes.numbers.push((target.predicate, args, new));
            }
        }
    }
}

/// The changes of a step found so far.
#[derive(Default)]
struct ChangesFound {
    changes: StepChanges,
    /// Present values of changed terms, and whether only amounts were added to them.
    present: FxHashMap<(u32, Args), (Number, bool)>,
}

/// Estimated bytes of a change in its list, apart from arguments beyond six.
const CHANGE_BYTES: u64 = 80;

/// Changes with their places.
type Changes<'g> = Vec<&'g (EffectChange, Span)>;

/// The changes of a group, those of the same variables of the group together, each with the slots of these variables. Amounts are
/// added up over all bindings, so that a group with numeric effects has all its variables.
fn changes_by_variables(group: &EffectGroup) -> Vec<(Vec<u32>, Changes<'_>)> {
    let slots = || group.variables.iter().map(|v| v.slot);
    let numeric = |(change, _): &(EffectChange, Span)| matches!(change, EffectChange::Numeric(..));
    if group.variables.len() < 2 || group.changes.iter().any(numeric) {
        return vec![(slots().collect(), group.changes.iter().collect())];
    }
    let mut lists: Vec<(Vec<u32>, Changes<'_>)> = Vec::new();
    for entry in &group.changes {
        let (EffectChange::Add(atom) | EffectChange::Delete(atom) | EffectChange::Numeric(_, atom, _)) =
            &entry.0;
        let wanted: Vec<u32> = slots().filter(|slot| atom.args.contains(&Term::Slot(*slot))).collect();
        match lists.iter_mut().find(|(known, _)| *known == wanted) {
            Some((_, own)) => own.push(entry),
            None => lists.push((wanted, vec![entry])),
        }
    }
    lists
}
