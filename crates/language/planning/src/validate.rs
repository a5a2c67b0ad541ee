//! Plan validation: the plan is executed step by step on the lifted task, without grounding more than the plan names.
//!
//! Semantics are VAL's for instantaneous actions: all of a step's conditions are tested in the state before it, what it
//! deletes is deleted first, what it adds is added last, so an atom both deleted and added holds afterwards. A step is not
//! applicable if one of its numeric effects has no value (an undefined fluent, a division by zero), or if two of them
//! contradict each other: only increases and decreases may change one fluent together. Arithmetic is exact
//! ([`planforge_pddl::Number`]).
//!
//! A task with time, preferences or trajectory constraints, and a plan with several steps at one time, is executed by happenings
//! ([`timed`]). A step of any other plan is a happening on its own.

mod derive;
mod names;
mod render;
mod schedule;
mod timed;
mod trajectory;
pub(crate) mod world;

pub(crate) use derive::args_of;
pub use render::FailedCondition;
pub use schedule::{Phase, Schedule, ScheduledStep, TimedLiteral};

use crate::lifted::{ActionSchema, Formula, LiftedTask, Metric};
use crate::normalize::normalize;
use crate::plan_file::{MAX_PLAN_STEPS, PlanFile};
use crate::resources::{ResourceLimits, StopReason};
use crate::satisfy::{Cut, Work, conjuncts, first, holds};
use crate::task::{Atom, GroundAction, ObjectId, SourcePlace, Symbols, TaskText, Unsupported};
use derive::Demand;
use names::Names;
use planforge_diagnostics::Diagnostic;
use planforge_pddl::Number;
use planforge_pddl::ast::{Domain, Problem};
use render::{Cause, Explainer, bind_last};
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
    /// Time and part of the action, in a plan that is executed by its times.
    pub moment: Option<(Number, Phase)>,
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
    /// The metric's value after the steps executed; without a metric their number, or the makespan if there are durative
    /// actions or timed literals. `None` where it is undefined.
    pub cost: Option<f64>,
    /// Times of the steps, in a plan that is executed by its times.
    pub schedule: Option<Schedule>,
    /// Preferences of the task with their violations; empty unless all steps were executed.
    pub preferences: Vec<PreferenceResult>,
    /// Steps in the plan.
    pub steps: usize,
    /// Names of the objects, predicates, functions and actions.
    pub symbols: Arc<Symbols>,
}

/// Violations of a preference by a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreferenceResult {
    /// Name of the preference, if it has one.
    pub name: Option<String>,
    /// The preference in the domain or problem.
    pub place: SourcePlace,
    /// Number of its instances that are violated: a preference in a precondition has one for each execution.
    pub violations: u64,
    /// Amount that the violations add to the metric. `None` without a metric, and for one that is not linear in them.
    pub cost: Option<Number>,
}

/// Settings of a validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidationOptions {
    /// Least time between two happenings of which one changes what the other needs or changes. Durations may differ from their
    /// bounds by as much, as plan files round them.
    pub epsilon: Number,
    /// True if a task with durative actions or timed literals is executed. The trace then has an entry for each end of a durative
    /// action, and the changes of timed literals are in [`Schedule::timed`]; a caller that cannot handle this leaves it false.
    pub time: bool,
}

impl Default for ValidationOptions {
    /// Planners print times with three digits, so that a thousandth is the least difference that their plans can have.
    fn default() -> Self {
        ValidationOptions { epsilon: Number::fraction(1, 1000), time: false }
    }
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
        self.preferences.clear();
        self.cost = None;
        match cut {
            Cut::Limit(reason) => {
                self.diagnostics = vec![limit_diagnostic(reason, plan, self.trace.len(), work)];
                self.decision = ValidationDecision::LimitReached(reason);
            }
            Cut::Inexact => {
                let what = "a number beyond exact arithmetic".to_owned();
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
    /// The change that gave an atom its present truth: an index into `causes`, or the number of the step if there are no times.
    changed_by: FxHashMap<Atom, usize>,
    causes: Vec<Cause>,
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
    /// validation. Tasks with durative actions or timed literals are unsupported.
    pub fn validate(&self, plan: &PlanFile, resources: &mut dyn ResourceLimits) -> ValidationReport {
        self.validate_with(plan, &ValidationOptions::default(), resources)
    }

    /// Executes a plan as [`Validator::validate`] does, by its times if the options allow that.
    pub fn validate_with(
        &self,
        plan: &PlanFile,
        options: &ValidationOptions,
        resources: &mut dyn ResourceLimits,
    ) -> ValidationReport {
        let mut report = ValidationReport {
            decision: ValidationDecision::Invalid,
            diagnostics: Vec::new(),
            initial: self.task.init.clone(),
            trace: Vec::new(),
            failing_step: None,
            missing_goals: Vec::new(),
            cost: None,
            schedule: None,
            preferences: Vec::new(),
            steps: plan.steps.len(),
            symbols: Arc::clone(&self.task.symbols),
        };
        let with_time = self.task.extension.has_time();
        let refused = if with_time && !options.time { &self.task.unsupported } else { &self.task.unexecuted };
        if !refused.is_empty() {
            let unsupported = refused.clone();
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
        if let Some(step) = plan.steps.iter().find(|s| s.duration.is_some())
            && !with_time
        {
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
            causes: Vec::new(),
            texts: plan.steps.iter().map(step_text).collect(),
            trace: Vec::with_capacity(steps.len()),
            derives: &self.derives,
            demand: Demand::new(&self.task),
        };
        let result = if self.task.extension.is_empty() && !schedule::is_concurrent(plan) {
            execution.run(&steps, &mut work).and_then(|failing| {
                report.failing_step = failing;
                execution.conclude(plan, &mut report, &mut work)
            })
        } else {
            execution.run_timed(plan, &steps, options.epsilon, &mut report, &mut work)
        };
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
        let changed_by = |atom: &Atom| self.changed_by.get(atom).map(|&index| self.cause(index));
        let explainer = Explainer { task: self.task, world: &self.world, text, changed_by: &changed_by };
        let mut failures = Vec::new();
        explainer.failures(formula, binding, &mut failures, work)?;
        Ok(failures)
    }

    /// The change with an index.
    fn cause(&self, index: usize) -> Cause {
        self.causes.get(index).cloned().unwrap_or_else(|| {
            let text = self.texts.get(index).map(String::as_str).unwrap_or_default();
            Cause { step: Some(index), text: format!("step {} {text}", index + 1) }
        })
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
        let mut binding = bind(schema, action);
        let derives = self.derives[action.action as usize];
        if derives {
            let effects = schema.effects.iter().map(|group| &group.condition);
            let conditions = effects.chain([&schema.precondition]);
            self.world.close_for(&self.demand, conditions, &binding, work)?;
        }
        if let Some(failures) = self.unmet_precondition(schema, derives, &mut binding, work)? {
            return Ok(Some(failures));
        }
        let changes = self.world.changes(schema, &self.world.view(), &mut binding, work)?;
        if !changes.bad.is_empty() {
            return Ok(Some(changes.bad.iter().map(|bad| self.bad_change(bad)).collect()));
        }
        let changed = changes.added.len() + changes.deleted.len() + changes.numbers.len();
        work.charge(changed as u64 * APPLY_BYTES)?;
        let applied = self.apply(index, changes);
        self.trace.push(applied.by(action, index, None));
        self.world.time = self.world.time + Number::ONE;
        work.release_to(held);
        self.charge_trace(self.trace.len() - 1, work)?;
        Ok(None)
    }

    /// Counts the bytes of the entries of the trace from one on.
    fn charge_trace(&self, from: usize, work: &mut Work<'_>) -> Result<(), Cut> {
        let kept = |t: &TraceStep| t.added.len() + t.deleted.len() + t.numbers.len();
        let kept: usize = self.trace[from..].iter().map(kept).sum();
        Ok(work.charge(kept as u64 * KEPT_BYTES)?)
    }

    /// The parts of an action's precondition that do not hold; `None` if it holds. Variables that plans do not name are then bound.
    fn unmet_precondition(
        &mut self,
        schema: &ActionSchema,
        derives: bool,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
    ) -> Result<Option<Vec<FailedCondition>>, Cut> {
        let hidden = &schema.variables[schema.parameters..];
        let mut applicable = false;
        first(&self.world.view(), hidden, (&schema.precondition, true), binding, work, &mut |_, _| {
            applicable = true;
            Ok(false)
        })?;
        if applicable {
            return Ok(None);
        }
        bind_last(hidden, binding);
        if derives {
            self.world.close(work)?;
        }
        self.explainer_failures(&schema.precondition, TaskText::Domain, binding, work).map(Some)
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

    /// Changes the state. `cause` is what [`Execution::cause`] takes.
    fn apply(&mut self, cause: usize, changes: StepChanges) -> Applied {
        let mut applied = Applied::default();
        let kept: FxHashSet<&(u32, Args)> = changes.added.iter().collect();
        for fact in &changes.deleted {
            let (predicate, args) = fact;
            if !kept.contains(fact) && self.world.remove(*predicate, args) {
                applied.deleted.push(Atom { predicate: *predicate, args: args.as_slice().into() });
            }
        }
        for (predicate, args) in changes.added {
            let atom = Atom { predicate, args: args.as_slice().into() };
            if self.world.insert(predicate, args) {
                applied.added.push(atom);
            }
        }
        for (function, args, value) in changes.numbers {
            applied.numbers.push((Atom { predicate: function, args: args.as_slice().into() }, value));
            self.world.set_number(function, args, value);
        }
        for atom in applied.added.iter().chain(&applied.deleted) {
            self.changed_by.insert(atom.clone(), cause);
        }
        applied
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
            self.check_goal(report, work)?;
        }
        self.finish(report);
        Ok(())
    }

    /// Reports the parts of the goal that do not hold.
    fn check_goal(&mut self, report: &mut ValidationReport, work: &mut Work<'_>) -> Result<(), Cut> {
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
        Ok(())
    }

    /// Sets cost and decision.
    fn finish(&mut self, report: &mut ValidationReport) {
        let cost = match &self.task.metric {
            Metric::Steps if self.task.extension.has_time() => self.world.time,
            Metric::Steps => Number::integer(self.trace.len() as i128),
            Metric::Value { expr, .. } => {
                self.world.start_cost_counter();
                self.world.value(expr, &[])
            }
        };
        report.cost = (!cost.is_undefined() && !cost.is_inexact()).then(|| cost.to_f64());
        let faults = report.diagnostics.iter().any(Diagnostic::is_error);
        report.decision = if faults { ValidationDecision::Invalid } else { ValidationDecision::Valid };
    }
}

/// What truly changed in the state.
#[derive(Default)]
struct Applied {
    added: Vec<Atom>,
    deleted: Vec<Atom>,
    numbers: Vec<(Atom, Number)>,
}

impl Applied {
    /// The entry of the trace for changes by an action.
    fn by(self, action: &GroundAction, index: usize, moment: Option<(Number, Phase)>) -> TraceStep {
        let Applied { added, deleted, numbers } = self;
        TraceStep { action: action.clone(), index, added, deleted, numbers, moment }
    }
}

/// The binding of a schema's slots to the arguments of an action.
fn bind(schema: &ActionSchema, action: &GroundAction) -> Vec<ObjectId> {
    let mut binding = vec![ObjectId::MAX; schema.slots];
    for (variable, &object) in schema.variables.iter().zip(&action.args) {
        binding[variable.slot as usize] = object;
    }
    binding
}

/// A condition under a binding as PDDL text.
pub(crate) fn condition_text(task: &LiftedTask, formula: &Formula, binding: &[ObjectId]) -> String {
    let world = World::initial(task);
    let explainer = Explainer { task, world: &world, text: TaskText::Problem, changed_by: &|_| None };
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
            world.time = world.time + Number::ONE;
            held.push(look(&mut world).map_err(reason)?);
        }
        let explainer = Explainer { task, world: &world, text: TaskText::Problem, changed_by: &|_| None };
        let binding = vec![ObjectId::MAX; task.goal_slots];
        let parts = parts.iter().map(|part| explainer.formula(part, &binding)).collect();
        Ok(GoalAlong { parts, holds: held })
    }
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
