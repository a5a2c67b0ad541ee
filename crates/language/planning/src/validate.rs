//! Plan validation: the plan is executed step by step on the lifted task, without grounding more than the plan names.
//!
//! Semantics are VAL's for instantaneous actions: all of a step's conditions are tested in the state before it, what it
//! deletes is deleted first, what it adds is added last, so an atom both deleted and added holds afterwards. A step is not
//! applicable if one of its numeric effects has no value (an undefined fluent, a division by zero), or if two of them
//! contradict each other: only increases and decreases may change one fluent together. Arithmetic is exact
//! ([`planforge_pddl::Number`]).

mod derive;
mod render;
pub(crate) mod world;

pub(crate) use derive::args_of;
pub use render::FailedCondition;

use crate::lifted::{Formula, LiftedTask, Metric};
use crate::normalize::normalize;
use crate::plan_file::{FileStep, MAX_PLAN_STEPS, PlanFile, PlanToken};
use crate::resources::{ResourceLimits, StopReason};
use crate::satisfy::{Cut, Work, conjuncts, first, holds};
use crate::task::{Atom, GroundAction, ObjectId, Symbols, TaskText, Unsupported};
use derive::Demand;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::Number;
use planforge_pddl::ast::{Domain, Problem};
use render::{Explainer, bind_last};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use world::{Args, BadChange, StepChanges, World};

/// The verdict on a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValidationDecision {
    /// Every step is applicable and the goal holds at the end.
    Valid,
    /// A step is not applicable or cannot be read, or the goal does not hold at the end.
    Invalid,
    /// The task or the plan has constructs that are not executed here.
    Unsupported(Vec<Unsupported>),
    /// A limit ended the validation before it was decided.
    LimitReached(StopReason),
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
    pub numbers: Vec<(Atom, Number)>,
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

/// Most parts of a goal, or faulty steps, that are reported one by one.
const MAX_REPORTED: usize = 200;

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

    /// Records that the validation was not completed.
    fn cut(&mut self, cut: Cut, plan: &PlanFile, work: &Work<'_>) {
        self.failing_step = None;
        self.missing_goals.clear();
        self.cost = None;
        match cut {
            Cut::Limit(reason) => {
                self.diagnostics = vec![limit_diagnostic(reason, plan, self.trace.len(), work)];
                self.decision = ValidationDecision::LimitReached(reason);
            }
            Cut::Inexact => {
                let what = "a condition on a number beyond exact arithmetic".to_owned();
                let place = crate::task::SourcePlace::domain(planforge_diagnostics::Span::default());
                let unsupported = Unsupported { what, place };
                self.diagnostics = vec![unsupported_diagnostic(&unsupported)];
                self.decision = ValidationDecision::Unsupported(vec![unsupported]);
            }
        }
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
    resources: &mut dyn ResourceLimits,
) -> Result<ValidationReport, Vec<Diagnostic>> {
    Ok(Validator::new(normalize(domain, problem)?).validate(plan, resources))
}

/// Validates many plans of one task.
pub struct Validator {
    task: LiftedTask,
    names: Names,
    /// For each action schema, true if a condition of it mentions derived atoms.
    derives: Vec<bool>,
}

/// Estimated bytes of a change while it is applied: in the state, in the trace and in the list of the changes.
const APPLY_BYTES: u64 = 320;
/// Estimated bytes of a step: its text, its ground action and its place in the trace.
const STEP_BYTES: u64 = 320;
/// Estimated bytes of a change that is kept in the trace and in the state.
const KEPT_BYTES: u64 = 160;

/// One validation under way.
struct Execution<'t> {
    task: &'t LiftedTask,
    world: World<&'t LiftedTask>,
    changed_by: FxHashMap<Atom, usize>,
    texts: Vec<String>,
    trace: Vec<TraceStep>,
    derives: &'t [bool],
    demand: Demand<'t>,
}

/// Returns true if a condition mentions derived atoms.
fn mentions_derived(task: &LiftedTask, condition: &Formula) -> bool {
    let mut found = false;
    condition.for_each_literal(&mut |atom, _, _| found |= task.predicates[atom.predicate as usize].derived);
    found
}

impl Validator {
    /// Prepares a task for validation.
    pub fn new(task: LiftedTask) -> Self {
        let derives = task.schemas.iter().map(|schema| {
            let groups = schema.effects.iter().map(|group| &group.condition);
            groups.chain([&schema.precondition]).any(|condition| mentions_derived(&task, condition))
        });
        Validator { names: Names::new(&task), derives: derives.collect(), task }
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

    /// Executes a plan step by step and reports the first failing step, or the missing goals, or the limit that ended the
    /// validation.
    pub fn validate(&self, plan: &PlanFile, resources: &mut dyn ResourceLimits) -> ValidationReport {
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
        if plan.omitted > 0 {
            let steps = plan.steps.len() + plan.omitted;
            let message = format!(
                "the plan has {steps} steps; at most {MAX_PLAN_STEPS} are read: the plan is neither valid nor invalid"
            );
            report.diagnostics = vec![Diagnostic::warning("plan.limit", message)];
            report.decision = ValidationDecision::LimitReached(StopReason::Nodes);
            return report;
        }
        let mut work = Work::new(resources);
        if let Err(reason) = work.charge(plan.steps.len() as u64 * STEP_BYTES) {
            let message =
                format!("{reason} was reached while the plan of {} steps was read", plan.steps.len());
            report.diagnostics = vec![Diagnostic::warning("plan.limit", message).help("raise the limit")];
            report.decision = ValidationDecision::LimitReached(reason);
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
            derives: &self.derives,
            demand: Demand::new(&self.task),
        };
        let result = execution.run(&steps, &mut work).and_then(|failing| {
            report.failing_step = failing;
            execution.conclude(plan, &mut report, &mut work)
        });
        report.trace = execution.trace;
        if let Err(cut) = result {
            report.cut(cut, plan, &work);
        }
        report
    }
}

/// The finding for a limit: the step that was executed, and the effect with the number of its matches where they are the reason.
fn limit_diagnostic(reason: StopReason, plan: &PlanFile, executed: usize, work: &Work<'_>) -> Diagnostic {
    let step = plan.steps.get(executed);
    let mut message = format!("{reason} ended the validation");
    match step {
        Some(step) => message += &format!(" in step {} {}", executed + 1, step_text(step)),
        None => message += " at the goal",
    }
    message += ": the plan is neither valid nor invalid";
    if let Some(matches) = work.matches_without_room() {
        message += &format!("; an effect takes place for {matches} combinations of objects");
    }
    let mut diagnostic = Diagnostic::warning("plan.limit", message);
    if let Some(step) = step {
        diagnostic = diagnostic.at(TaskText::Plan.source(), step.span, "");
    }
    if let Some(place) = work.place() {
        diagnostic = diagnostic.also(TaskText::Domain.source(), place, "the effect that was evaluated");
    }
    match reason {
        StopReason::Cancelled => diagnostic,
        _ => diagnostic.help("raise the limit, or write conditions that fewer objects satisfy"),
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
fn unsupported_diagnostic(unsupported: &Unsupported) -> Diagnostic {
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
    fn run(
        &mut self,
        steps: &[Option<GroundAction>],
        work: &mut Work<'_>,
    ) -> Result<Option<FailingStep>, Cut> {
        for (index, step) in steps.iter().enumerate() {
            let conditions = match step {
                None => Vec::new(),
                Some(action) => match self.step(index, action, work)? {
                    Some(conditions) => conditions,
                    None => continue,
                },
            };
            return Ok(Some(FailingStep { index, text: self.texts[index].clone(), conditions }));
        }
        Ok(None)
    }

    fn explainer_failures(
        &self,
        formula: &Formula,
        text: TaskText,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
    ) -> Result<Vec<FailedCondition>, Cut> {
        let changed_by = |atom: &Atom| self.changed_by.get(atom).copied();
        let steps = |index: usize| self.texts.get(index).cloned().unwrap_or_default();
        let explainer =
            Explainer { task: self.task, world: &self.world, text, changed_by: &changed_by, steps: &steps };
        let mut failures = Vec::new();
        explainer.failures(formula, binding, &mut failures, work)?;
        Ok(failures)
    }

    /// Executes one step, or returns the conditions that do not hold.
    fn step(
        &mut self,
        index: usize,
        action: &GroundAction,
        work: &mut Work<'_>,
    ) -> Result<Option<Vec<FailedCondition>>, Cut> {
        work.tick()?;
        let held = work.held();
        let schema = &self.task.schemas[action.action as usize];
        let mut binding = vec![ObjectId::MAX; schema.slots];
        for (variable, &object) in schema.variables.iter().zip(&action.args) {
            binding[variable.slot as usize] = object;
        }
        if self.derives[action.action as usize] {
            let effects = schema.effects.iter().map(|group| &group.condition);
            let conditions = effects.chain([&schema.precondition]);
            self.world.close_for(&self.demand, conditions, &binding, work)?;
        }
        let hidden = &schema.variables[schema.parameters..];
        let view = self.world.view();
        let mut applicable = false;
        first(&view, hidden, (&schema.precondition, true), &mut binding, work, &mut |_, _| {
            applicable = true;
            Ok(false)
        })?;
        if !applicable {
            bind_last(hidden, &mut binding);
            if self.derives[action.action as usize] {
                self.world.close(work)?;
            }
            let failures =
                self.explainer_failures(&schema.precondition, TaskText::Domain, &mut binding, work)?;
            return Ok(Some(failures));
        }
        let changes = self.world.changes(schema, &view, &mut binding, work)?;
        if !changes.bad.is_empty() {
            return Ok(Some(changes.bad.iter().map(|bad| self.bad_change(bad)).collect()));
        }
        let changed = changes.added.len() + changes.deleted.len() + changes.numbers.len();
        work.charge(changed as u64 * APPLY_BYTES)?;
        self.apply(index, action, changes);
        work.release_to(held);
        let trace = self.trace.last();
        let kept = trace.map_or(0, |t| t.added.len() + t.deleted.len() + t.numbers.len());
        work.charge(kept as u64 * KEPT_BYTES)?;
        Ok(None)
    }

    fn bad_change(&self, bad: &BadChange) -> FailedCondition {
        let text = self.task.symbols.function_term(&bad.target);
        let (why, remedy) = if bad.conflict {
            let why = format!("the step changes {text} twice, and not only by amounts");
            (why, "one change of the function in a step".to_owned())
        } else {
            let why = format!("the change of {text} has no value");
            (why, "initial values for the functions it uses".to_owned())
        };
        FailedCondition {
            why,
            remedy,
            text,
            place: crate::task::SourcePlace::domain(bad.span),
            atom: None,
            negated: false,
            changed_by: None,
        }
    }

    fn apply(&mut self, index: usize, action: &GroundAction, changes: StepChanges) {
        let mut step = TraceStep {
            action: action.clone(),
            index,
            added: Vec::new(),
            deleted: Vec::new(),
            numbers: Vec::new(),
        };
        let kept: FxHashSet<&(u32, Args)> = changes.added.iter().collect();
        for fact in &changes.deleted {
            let (predicate, args) = fact;
            if !kept.contains(fact) && self.world.remove(*predicate, args) {
                step.deleted.push(Atom { predicate: *predicate, args: args.as_slice().into() });
            }
        }
        for (predicate, args) in changes.added {
            let atom = Atom { predicate, args: args.as_slice().into() };
            if self.world.insert(predicate, args) {
                step.added.push(atom);
            }
        }
        for (function, args, value) in changes.numbers {
            step.numbers.push((Atom { predicate: function, args: args.as_slice().into() }, value));
            self.world.set_number(function, args, value);
        }
        for atom in step.added.iter().chain(&step.deleted) {
            self.changed_by.insert(atom.clone(), index);
        }
        self.world.steps += 1;
        self.trace.push(step);
    }

    /// The verdict after the last step executed.
    fn conclude(
        &mut self,
        plan: &PlanFile,
        report: &mut ValidationReport,
        work: &mut Work<'_>,
    ) -> Result<(), Cut> {
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
            let goal = &self.task.goal;
            if mentions_derived(self.task, goal) {
                self.world.close_for(&self.demand, std::iter::once(goal), &binding, work)?;
                if !self.world.holds(goal, &mut binding, work)? {
                    // The explanation looks at atoms that the goal does not name.
                    self.world.close(work)?;
                }
            }
            report.missing_goals =
                self.explainer_failures(&self.task.goal, TaskText::Problem, &mut binding, work)?;
            for condition in report.missing_goals.iter().take(MAX_REPORTED) {
                let message = format!("the goal does not hold at the end: {}", condition.why);
                report.diagnostics.push(
                    Diagnostic::error("plan.goal", message)
                        .at(condition.place.text.source(), condition.place.span, condition.text.clone())
                        .help(format!("it needs {}", condition.remedy)),
                );
            }
            let more = report.missing_goals.len().saturating_sub(MAX_REPORTED);
            if more > 0 {
                let message = format!("{more} more parts of the goal do not hold at the end");
                report.diagnostics.push(
                    Diagnostic::error("plan.goal", message).help("the first ones are listed before this one"),
                );
            }
        }
        let cost = match &self.task.metric {
            Metric::Steps => Number::integer(self.trace.len() as i128),
            Metric::Value { expr, .. } => {
                self.world.start_cost_counter();
                self.world.value(expr, &[])
            }
        };
        report.cost = (!cost.is_undefined() && !cost.is_inexact()).then(|| cost.to_f64());
        let faults = report.diagnostics.iter().any(Diagnostic::is_error);
        report.decision = if faults { ValidationDecision::Invalid } else { ValidationDecision::Valid };
        Ok(())
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

/// The parts of a goal, and which of them hold along a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalAlong {
    /// The parts of the goal's outermost conjunction as PDDL; any other goal is one part.
    pub parts: Vec<String>,
    /// After 0, 1, 2, ... steps, for each part whether it holds.
    pub holds: Vec<Vec<bool>>,
}

impl Validator {
    /// Evaluates the goal in each state along executed steps (see [`ValidationReport::trace`]), the
    /// initial state first.
    ///
    /// # Errors
    /// The limit that ended the evaluation.
    pub fn goal_along(
        &self,
        trace: &[TraceStep],
        resources: &mut dyn ResourceLimits,
    ) -> Result<GoalAlong, StopReason> {
        let mut work = Work::new(resources);
        let task = self.task();
        let parts = conjuncts(&task.goal);
        let mut world = World::initial(task);
        let mut binding = vec![ObjectId::MAX; task.goal_slots];
        let derives = mentions_derived(task, &task.goal);
        let mut look = |world: &mut World<_>| -> Result<Vec<bool>, Cut> {
            let held = work.held();
            if derives {
                world.close(&mut work)?;
            }
            let view = world.view_of_samples();
            let found = parts.iter().map(|part| holds(&view, part, &mut binding, &mut work)).collect();
            work.release_to(held);
            work.charge(parts.len() as u64)?;
            found
        };
        // Inexact numbers are compared as they are, so that only a limit cuts.
        let reason = |cut| match cut {
            Cut::Limit(reason) => reason,
            Cut::Inexact => StopReason::Nodes,
        };
        let mut held = vec![look(&mut world).map_err(reason)?];
        for step in trace {
            for atom in &step.deleted {
                world.remove(atom.predicate, &Args::from_slice(&atom.args));
            }
            for atom in &step.added {
                world.insert(atom.predicate, Args::from_slice(&atom.args));
            }
            for (term, value) in &step.numbers {
                world.set_number(term.predicate, Args::from_slice(&term.args), *value);
            }
            world.steps += 1;
            held.push(look(&mut world).map_err(reason)?);
        }
        let (changed_by, steps) = (|_: &Atom| None, |_: usize| String::new());
        let explainer = Explainer {
            task,
            world: &world,
            text: TaskText::Problem,
            changed_by: &changed_by,
            steps: &steps,
        };
        let binding = vec![ObjectId::MAX; task.goal_slots];
        let parts = parts.iter().map(|part| explainer.formula(part, &binding)).collect();
        Ok(GoalAlong { parts, holds: held })
    }
}

/// Names of a task by their lower-case text.
pub(crate) struct Names {
    actions: FxHashMap<String, u32>,
    objects: FxHashMap<String, ObjectId>,
}

impl Names {
    pub(crate) fn new(task: &LiftedTask) -> Self {
        let index = |names: &[String]| {
            names.iter().enumerate().rev().map(|(i, n)| (n.to_lowercase(), i as u32)).collect()
        };
        Names { actions: index(&task.symbols.actions), objects: index(&task.symbols.objects) }
    }

    pub(crate) fn object(&self, name: &str) -> Option<ObjectId> {
        find(&self.objects, name).copied()
    }

    /// The ground action of each step, `None` where the step has a fault.
    pub(crate) fn resolve(
        &self,
        task: &LiftedTask,
        file: &PlanFile,
        source: SourceId,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<Option<GroundAction>> {
        let mut faulty = 0;
        let mut omitted = None;
        let steps = file.steps.iter().map(|step| {
            let before = diagnostics.len();
            let action = self.step(task, step, source, diagnostics);
            faulty += usize::from(action.is_none());
            if action.is_none() && faulty > MAX_REPORTED {
                omitted = omitted.take().or_else(|| diagnostics.get(before).map(|first| first.code.clone()));
                diagnostics.truncate(before);
            }
            action
        });
        let steps = steps.collect();
        let more = faulty.saturating_sub(MAX_REPORTED);
        if more > 0 {
            let message = format!("{more} more steps are not steps of the task");
            let mut rest = Diagnostic::error("plan.garbage", message).help("correct the first ones");
            // The code of the findings that are left out.
            rest.code = omitted.unwrap_or(rest.code);
            diagnostics.push(rest);
        }
        steps
    }

    fn step(
        &self,
        task: &LiftedTask,
        step: &FileStep,
        source: SourceId,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<GroundAction> {
        let name = &step.name.text;
        let Some(&action) = find(&self.actions, name) else {
            if step.bare && !step.args.iter().any(|a| find(&self.objects, &a.text).is_some()) {
                let fault = Diagnostic::error("plan.garbage", "this line is not a plan step");
                let fault = fault.at(source, step.span, "no action of the domain has this name");
                diagnostics.push(fault.help("write one step a line: (action argument ...)"));
            } else {
                let fault =
                    Diagnostic::error("plan.unknown-action", format!("the domain has no action {name}"));
                diagnostics.push(with_nearest(
                    fault.at(source, step.name.span, ""),
                    name,
                    &task.symbols.actions,
                ));
            }
            return None;
        };
        let schema = &task.schemas[action as usize];
        if schema.parameters != step.args.len() {
            let parameters: Vec<&str> =
                schema.variables[..schema.parameters].iter().map(|v| v.name.as_str()).collect();
            diagnostics.push(
                Diagnostic::error(
                    "plan.arity",
                    format!(
                        "{name} takes {} arguments, this step has {}",
                        schema.parameters,
                        step.args.len()
                    ),
                )
                .at(source, step.span, "")
                .also(crate::task::TaskText::Domain.source(), schema.span, "the action's definition")
                .help(format!("its parameters are {}", parameters.join(" "))),
            );
            return None;
        }
        let args: Vec<Option<ObjectId>> = step
            .args
            .iter()
            .zip(&schema.variables)
            .map(|(word, variable)| self.argument(task, word, variable, source, diagnostics))
            .collect();
        let args = args.into_iter().collect::<Option<Box<[ObjectId]>>>()?;
        Some(GroundAction { action, args })
    }

    fn argument(
        &self,
        task: &LiftedTask,
        word: &PlanToken,
        variable: &crate::lifted::Variable,
        source: SourceId,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<ObjectId> {
        let Some(&object) = find(&self.objects, &word.text) else {
            let fault = Diagnostic::error("plan.unknown-object", format!("there is no object {}", word.text));
            diagnostics.push(with_nearest(
                fault.at(source, word.span, ""),
                &word.text,
                &task.symbols.objects,
            ));
            return None;
        };
        if variable.objects.binary_search(&object).is_err() {
            diagnostics.push(
                Diagnostic::error(
                    "plan.type-mismatch",
                    format!(
                        "{} is of type {}, but {} must be of type {}",
                        word.text, task.object_types[object as usize], variable.name, variable.type_name
                    ),
                )
                .at(source, word.span, ""),
            );
            return None;
        }
        Some(object)
    }
}

/// Looks up a name without regard to case.
fn find<'m>(names: &'m FxHashMap<String, u32>, name: &str) -> Option<&'m u32> {
    if name.bytes().any(|b| b.is_ascii_uppercase() || !b.is_ascii()) {
        return names.get(&name.to_lowercase());
    }
    names.get(name)
}

/// Longest name, in bytes, for which a near one is searched.
const NEAR_NAME_BYTES: usize = 64;

/// Adds the nearest name, where one is near.
fn with_nearest(diagnostic: Diagnostic, name: &str, names: &[String]) -> Diagnostic {
    if name.len() > NEAR_NAME_BYTES {
        return diagnostic;
    }
    let name = name.to_lowercase();
    let most = 1 + name.chars().count() / 4;
    let near = names.iter().filter(|n| n.len() <= 2 * NEAR_NAME_BYTES);
    let nearest = near.map(|n| (distance(&name, &n.to_lowercase()), n)).min_by_key(|(d, _)| *d);
    match nearest {
        Some((d, candidate)) if d <= most => diagnostic.help(format!("did you mean {candidate}?")),
        _ => diagnostic,
    }
}

/// Edit distance; two letters swapped count as one edit.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: [Vec<usize>; 3] = [Vec::new(), (0..=b.len()).collect(), vec![0; b.len() + 1]];
    rows[0].resize(b.len() + 1, 0);
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let substituted = rows[1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = best;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use crate::{normalize, parse_plan};
    use planforge_diagnostics::SourceId;
    use planforge_pddl::{parse_domain, parse_problem};

    #[test]
    fn parts_of_the_goal_are_reported_after_each_step() {
        let domain = "(define (domain lamps) (:requirements :typing :negative-preconditions :derived-predicates :fluents) (:types lamp)
            (:predicates (lit ?l - lamp) (dark)) (:functions (uses))
            (:derived (dark) (not (exists (?l - lamp) (lit ?l))))
            (:action toggle-on :parameters (?l - lamp) :precondition (not (lit ?l)) :effect (and (lit ?l) (increase (uses) 1)))
            (:action toggle-off :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l))))";
        let problem = "(define (problem two) (:domain lamps) (:objects a b - lamp) (:init (= (uses) 0))
            (:goal (and (lit a) (not (dark)) (>= (uses) 2))))";
        let domain = parse_domain(domain, SourceId(0)).value;
        let problem = parse_problem(problem, SourceId(1)).value;
        let validator = super::Validator::new(normalize(&domain, &problem).unwrap());
        let plan = parse_plan("(toggle-on a)\n(toggle-off a)\n(toggle-on b)\n(toggle-on a)\n", SourceId(2));
        let report = validator.validate(&plan, &mut crate::Unlimited);
        assert!(report.is_valid());
        let along = validator.goal_along(&report.trace, &mut crate::Unlimited).unwrap();
        assert_eq!(along.parts, ["(lit a)", "(not (dark))", "(>= (uses) 2)"]);
        let held: Vec<String> = along
            .holds
            .iter()
            .map(|parts| parts.iter().map(|held| if *held { '1' } else { '0' }).collect())
            .collect();
        assert_eq!(held, ["000", "110", "000", "011", "111"]);
        assert_eq!(along.holds.last().map(|parts| parts.iter().all(|held| *held)), Some(report.is_valid()));
    }
}
