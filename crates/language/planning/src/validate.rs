//! Plan validation: the plan is executed step by step on the lifted task, without grounding more than the plan names.
//!
//! Semantics are VAL's for instantaneous actions: all of a step's conditions are tested in the state before it, what it
//! deletes is deleted first, what it adds is added last, so an atom both deleted and added holds afterwards.

mod goal_along;
mod render;
mod resolve;
pub(crate) mod world;

pub use goal_along::GoalAlong;
pub use render::FailedCondition;

use crate::lifted::{EffectChange, LiftedTask, Metric};
use crate::normalize::normalize;
use crate::plan_file::PlanFile;
use crate::task::{Atom, GroundAction, ObjectId, Symbols, TaskText, Unsupported};
use planforge_diagnostics::Diagnostic;
use planforge_pddl::ast::{AssignOp, Domain, Problem};
use render::Explainer;
use rustc_hash::FxHashMap;
use std::sync::Arc;
pub(crate) use world::any_binding;
use world::{Args, World, args_of};

/// The verdict on a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValidationDecision {
    /// Every step is applicable and the goal holds at the end.
    Valid,
    /// A step is not applicable or cannot be read, or the goal does not hold at the end.
    Invalid,
    /// The task or the plan has constructs that are not executed here.
    Unsupported(Vec<Unsupported>),
}

/// Changes of the state by one step.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceStep {
    /// The ground action of the step.
    pub action: GroundAction,
    /// Its number in the plan file, from 0.
    pub index: usize,
    /// Atoms that became true, derived ones not included.
    pub added: Vec<Atom>,
    /// Atoms that became false, derived ones not included.
    pub deleted: Vec<Atom>,
    /// Numeric function terms that changed, with their new values.
    pub numbers: Vec<(Atom, f64)>,
}

/// The first step that could not be executed.
#[derive(Debug, Clone, PartialEq)]
pub struct FailingStep {
    /// Its number in the plan, from 0.
    pub index: usize,
    /// The step as text.
    pub text: String,
    /// Every condition that did not hold; empty if the step itself could not be read (see the diagnostics).
    pub conditions: Vec<FailedCondition>,
}

/// Result of validating a plan.
#[derive(Debug, Clone)]
pub struct ValidationReport {
    /// Decision on the plan.
    pub decision: ValidationDecision,
    /// The findings, `plan.*`; errors exactly where the verdict is invalid.
    pub diagnostics: Vec<Diagnostic>,
    /// The initial state, sorted, derived atoms not included.
    pub initial: Vec<Atom>,
    /// The executed steps, in order.
    pub trace: Vec<TraceStep>,
    /// The first step that could not be executed; `None` if all were.
    pub failing_step: Option<FailingStep>,
    /// Goal conditions that do not hold after the last step; empty where a step failed.
    pub missing_goals: Vec<FailedCondition>,
    /// The metric's value after the steps executed, their number without a metric; `None` where it is undefined.
    pub cost: Option<f64>,
    /// Steps in the plan.
    pub steps: usize,
    /// Names of the objects, predicates, functions and actions.
    pub symbols: Arc<Symbols>,
}

impl ValidationReport {
    /// Returns true if the plan is valid.
    pub fn is_valid(&self) -> bool {
        self.decision == ValidationDecision::Valid
    }

    /// The atoms that hold after the first `steps` steps of the trace, sorted.
    pub fn state_after(&self, steps: usize) -> Vec<Atom> {
        let mut state: std::collections::BTreeSet<&Atom> = self.initial.iter().collect();
        for step in self.trace.iter().take(steps) {
            for atom in &step.deleted {
                state.remove(atom);
            }
            state.extend(&step.added);
        }
        state.into_iter().cloned().collect()
    }
}

/// Validates a plan.
///
/// # Errors
/// The errors of [`normalize`] in the domain and problem. The plan cannot be judged then.
pub fn validate(
    domain: &Domain,
    problem: &Problem,
    plan: &PlanFile,
) -> Result<ValidationReport, Vec<Diagnostic>> {
    Ok(Validator::new(normalize(domain, problem)?).validate(plan))
}

/// Validates many plans of one task.
pub struct Validator {
    task: LiftedTask,
    names: resolve::Names,
}

/// One validation under way.
struct Execution<'t> {
    task: &'t LiftedTask,
    world: World<&'t LiftedTask>,
    changed_by: FxHashMap<Atom, usize>,
    texts: Vec<String>,
    trace: Vec<TraceStep>,
}

impl Validator {
    /// Prepares a task for validation.
    pub fn new(task: LiftedTask) -> Self {
        Validator { names: resolve::Names::new(&task), task }
    }

    /// Returns the task.
    pub fn task(&self) -> &LiftedTask {
        &self.task
    }

    /// The object of a name in any case.
    pub fn object(&self, name: &str) -> Option<ObjectId> {
        self.names.object(name)
    }

    /// The ground actions of a plan's steps, `None` where a step has a fault, and the faults.
    pub fn resolve(&self, plan: &PlanFile) -> (Vec<Option<GroundAction>>, Vec<Diagnostic>) {
        let mut diagnostics = plan.diagnostics.clone();
        let steps = self.names.resolve(&self.task, plan, TaskText::Plan.source(), &mut diagnostics);
        (steps, diagnostics)
    }

    /// Executes a plan step by step and reports the first failing step, or the missing goals.
    pub fn validate(&self, plan: &PlanFile) -> ValidationReport {
        let mut report = ValidationReport {
            decision: ValidationDecision::Invalid,
            diagnostics: Vec::new(),
            initial: self.task.init.clone(),
            trace: Vec::new(),
            failing_step: None,
            missing_goals: Vec::new(),
            cost: None,
            steps: plan.steps.len(),
            symbols: Arc::clone(&self.task.symbols),
        };
        let mut unsupported = self.task.unsupported.clone();
        unsupported.extend(concurrent(plan));
        if !unsupported.is_empty() {
            report.diagnostics = unsupported.iter().map(unsupported_diagnostic).collect();
            report.decision = ValidationDecision::Unsupported(unsupported);
            return report;
        }
        let (steps, diagnostics) = self.resolve(plan);
        report.diagnostics = diagnostics;
        if let Some(step) = plan.steps.iter().find(|s| s.duration.is_some()) {
            report.diagnostics.push(
                Diagnostic::warning("plan.duration-ignored", "the plan gives durations, the domain has none")
                    .at(TaskText::Plan.source(), step.span, "")
                    .help("the steps are executed one after the other"),
            );
        }
        let mut execution = Execution {
            task: &self.task,
            world: World::initial(&self.task),
            changed_by: FxHashMap::default(),
            texts: plan.steps.iter().map(step_text).collect(),
            trace: Vec::with_capacity(steps.len()),
        };
        report.failing_step = execution.run(&steps);
        execution.conclude(plan, &mut report);
        report
    }
}

/// Steps at the same time: their order is not given, so sequential execution would be a guess.
fn concurrent(plan: &PlanFile) -> Option<Unsupported> {
    if plan.steps.iter().any(|s| s.time.is_none()) {
        return None;
    }
    let pair = plan.steps.windows(2).find(|w| w[0].time == w[1].time)?;
    let place = crate::task::SourcePlace { text: TaskText::Plan, span: pair[1].span };
    Some(Unsupported { what: "steps at the same time".to_owned(), place })
}

/// The diagnostic for a construct that is read but not executed.
pub(crate) fn unsupported_diagnostic(unsupported: &Unsupported) -> Diagnostic {
    Diagnostic::warning("planning.unsupported", format!("{} is read, but not executed", unsupported.what)).at(
        unsupported.place.text.source(),
        unsupported.place.span,
        "",
    )
}

fn step_text(step: &crate::plan_file::FileStep) -> String {
    let mut text = format!("({}", step.name.text);
    for arg in &step.args {
        text.push(' ');
        text.push_str(&arg.text);
    }
    text.push(')');
    text
}

impl Execution<'_> {
    /// Executes the steps; the first that fails.
    fn run(&mut self, steps: &[Option<GroundAction>]) -> Option<FailingStep> {
        for (index, step) in steps.iter().enumerate() {
            let failed = match step {
                None => Some(Vec::new()),
                Some(action) => self.step(index, action).err(),
            };
            if let Some(conditions) = failed {
                return Some(FailingStep { index, text: self.texts[index].clone(), conditions });
            }
        }
        None
    }

    fn explainer_failures(
        &self,
        formula: &crate::lifted::Formula,
        text: TaskText,
        binding: &mut [ObjectId],
    ) -> Vec<FailedCondition> {
        let changed_by = |atom: &Atom| self.changed_by.get(atom).copied();
        let steps = |index: usize| self.texts.get(index).cloned().unwrap_or_default();
        let explainer =
            Explainer { task: self.task, world: &self.world, text, changed_by: &changed_by, steps: &steps };
        let mut failures = Vec::new();
        explainer.failures(formula, binding, &mut failures);
        failures
    }

    /// Executes one step, or returns the conditions that do not hold.
    fn step(&mut self, index: usize, action: &GroundAction) -> Result<(), Vec<FailedCondition>> {
        let schema = &self.task.schemas[action.action as usize];
        let mut binding = vec![ObjectId::MAX; schema.slots];
        for (variable, &object) in schema.variables.iter().zip(&action.args) {
            binding[variable.slot as usize] = object;
        }
        let hidden = &schema.variables[schema.parameters..];
        let world = &self.world;
        if !any_binding(hidden, &mut binding, &mut |b| world.holds(&schema.precondition, b)) {
            return Err(self.explainer_failures(&schema.precondition, TaskText::Domain, &mut binding));
        }
        let (mut added, mut deleted, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let mut undefined = Vec::new();
        for group in &schema.effects {
            any_binding(&group.variables, &mut binding, &mut |b| {
                if !world.holds(&group.condition, b) {
                    return false;
                }
                for (change, span) in &group.changes {
                    match change {
                        EffectChange::Add(atom) => added.push((atom.predicate, args_of(atom, b))),
                        EffectChange::Delete(atom) => deleted.push((atom.predicate, args_of(atom, b))),
                        EffectChange::Numeric(op, target, value) => {
                            let value = world.value(value, b);
                            if value.is_nan() {
                                undefined.push((target.instantiate(b), *span));
                            }
                            numbers.push((target.predicate, args_of(target, b), *op, value));
                        }
                    }
                }
                false
            });
        }
        if !undefined.is_empty() {
            return Err(undefined
                .into_iter()
                .map(|(target, span)| self.undefined_change(&target, span))
                .collect());
        }
        self.apply(index, action, added, deleted, numbers);
        Ok(())
    }

    fn undefined_change(&self, target: &Atom, span: planforge_diagnostics::Span) -> FailedCondition {
        let text = self.task.symbols.function_term(target);
        FailedCondition {
            why: format!("the change of {text} has no value"),
            remedy: "initial values for the functions it uses".to_owned(),
            text,
            place: crate::task::SourcePlace::domain(span),
            atom: None,
            negated: false,
            changed_by: None,
        }
    }

    fn apply(
        &mut self,
        index: usize,
        action: &GroundAction,
        added: Vec<(u32, Args)>,
        deleted: Vec<(u32, Args)>,
        numbers: Vec<(u32, Args, AssignOp, f64)>,
    ) {
        let mut step = TraceStep {
            action: action.clone(),
            index,
            added: Vec::new(),
            deleted: Vec::new(),
            numbers: Vec::new(),
        };
        for (predicate, args) in deleted {
            if !added.iter().any(|a| a.0 == predicate && a.1 == args) && self.world.remove(predicate, &args) {
                step.deleted.push(Atom { predicate, args: args.as_slice().into() });
            }
        }
        for (predicate, args) in added {
            let atom = Atom { predicate, args: args.as_slice().into() };
            if self.world.insert(predicate, args) {
                step.added.push(atom);
            }
        }
        for (function, args, op, value) in numbers {
            let mut old = self.world.number(function, &args);
            // A cost counter that the problem forgot to set starts at 0, as every planner takes it.
            if old.is_nan()
                && self.task.symbols.functions[function as usize].eq_ignore_ascii_case("total-cost")
            {
                old = 0.0;
            }
            let new = op.apply(old, value);
            step.numbers.push((Atom { predicate: function, args: args.as_slice().into() }, new));
            self.world.set_number(function, args, new);
        }
        for atom in step.added.iter().chain(&step.deleted) {
            self.changed_by.insert(atom.clone(), index);
        }
        self.world.steps += 1;
        self.world.close();
        self.trace.push(step);
    }

    /// The verdict after the last step executed.
    fn conclude(self, plan: &PlanFile, report: &mut ValidationReport) {
        if let Some(failing) = &report.failing_step {
            for condition in &failing.conditions {
                let step = &plan.steps[failing.index];
                let message = format!(
                    "step {} {} is not applicable: {}",
                    failing.index + 1,
                    failing.text,
                    condition.why
                );
                report.diagnostics.push(
                    Diagnostic::error("plan.precondition", message)
                        .at(TaskText::Plan.source(), step.span, format!("needs {}", condition.text))
                        .also(condition.place.text.source(), condition.place.span, "the condition")
                        .help(format!("it needs {}", condition.remedy)),
                );
            }
        } else {
            let mut binding = vec![ObjectId::MAX; self.task.goal_slots];
            report.missing_goals = self.explainer_failures(&self.task.goal, TaskText::Problem, &mut binding);
            for condition in &report.missing_goals {
                let message = format!("the goal does not hold at the end: {}", condition.why);
                report.diagnostics.push(
                    Diagnostic::error("plan.goal", message)
                        .at(condition.place.text.source(), condition.place.span, condition.text.clone())
                        .help(format!("it needs {}", condition.remedy)),
                );
            }
        }
        let cost = match &self.task.metric {
            Metric::Steps => self.trace.len() as f64,
            Metric::Value { expr, .. } => self.world.value(expr, &[]),
        };
        report.cost = (!cost.is_nan()).then_some(cost);
        report.trace = self.trace;
        let faults = report.diagnostics.iter().any(Diagnostic::is_error);
        report.decision = if faults { ValidationDecision::Invalid } else { ValidationDecision::Valid };
    }
}

/// A condition under a binding as PDDL text.
pub(crate) fn condition_text(
    task: &LiftedTask,
    formula: &crate::lifted::Formula,
    binding: &[ObjectId],
) -> String {
    let world = World::initial(task);
    let (changed_by, steps) = (|_: &Atom| None, |_: usize| String::new());
    let explainer =
        Explainer { task, world: &world, text: TaskText::Problem, changed_by: &changed_by, steps: &steps };
    explainer.formula(formula, binding)
}
