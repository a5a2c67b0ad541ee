//! Preferences and trajectory constraints, compiled into a ground task without them.
//!
//! A plan of the compiled task is one of the original followed by auxiliary steps that do not change the world: one ends the plan, then each
//! preference instance in a fixed order has a step that costs nothing where it is satisfied, and one that costs its weight where it is not
//! (Keyder and Geffner, Soft goals can be compiled away, 2009). The fixed order leaves one way through these steps, and both conditions make
//! the cost of a plan exactly the metric of its steps. A preferred precondition splits its operators into one that satisfies it and one
//! that pays; operators with many become a series of steps. The step that violates a trajectory preference for ever pays in the same way.
//!
//! A trajectory constraint is an automaton ([`automata`]) whose states are facts. An operator that changes what the constraint is about also
//! changes these facts, under the condition on the state before it that makes the constraint's condition true after it. This is decided on the
//! ground task: most operators do not touch most constraints, and no derived facts are needed, which the bounds of costs do not handle. Such
//! effects are split into operators without conditions where these are few.
//!
//! Beside numbers or time, the constraints that a plan has to satisfy become automata in the same way ([`ground_constrained`]), without further
//! steps; comparisons are derived facts there. Preferences are chosen instead of paid for ([`selection`]).

mod automata;
mod formula;
mod selection;
mod task_builder;

use crate::ground::{Ground, GroundLimits, Wanted, for_each_binding, ground, ground_with};
use crate::lifted::{Constraint, Formula, LiftedTask, Metric, SoftPlace, TrajectoryKind, TrajectoryPart};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::search::initial_state;
use crate::task::{Fact, GroundAction, GroundTask, ObjectId, SourcePlace, Unsupported};
use crate::unsolvable::{Explanation, Reason, ReasonKind, why_unsolvable};
use crate::weights::Weights;
use automata::{Automata, NewFacts, Part};
use planforge_pddl::Number;
use planforge_pddl::ast::TrajectoryOp;
pub(crate) use selection::plan_with_wishes;
use task_builder::{Payment, TaskBuilder};

/// Estimated bytes of a condition under a binding.
const CONDITION_BYTES: u64 = 200;

/// Constructs of a task that the compilation does not remove and grounding does not handle.
pub(crate) fn unsupported(task: &LiftedTask) -> Vec<Unsupported> {
    task.unsupported.iter().filter(|u| !u.is_wish() || task.unexecuted.contains(u)).cloned().collect()
}

/// Place of the first preference or constraint.
fn place(task: &LiftedTask) -> SourcePlace {
    let preference = task.extension.preferences.first().map(|preference| preference.place);
    let constraint = || task.extension.constraints.first()?.parts.first().map(|part| part.place);
    preference.or_else(constraint).unwrap_or(SourcePlace::problem(planforge_diagnostics::Span::default()))
}

/// The reason why preferences and constraints are not compiled away.
pub(crate) enum NotCompiled {
    Unsupported(Unsupported),
    /// Numeric conditions stand beside them.
    Numeric(Unsupported),
}

/// True for a step of a plan that is not one of the task's.
pub(crate) fn is_auxiliary(task: &LiftedTask, step: &GroundAction) -> bool {
    step.action as usize >= task.symbols.actions.len()
}

/// A preference instance, or a constraint that a valid plan satisfies.
struct Instance {
    preference: Option<u32>,
    parts: Vec<ConditionPart>,
}

/// A trajectory operator with the indices of its conditions among those to expand.
struct ConditionPart {
    kind: TrajectoryKind,
    first: usize,
    second: usize,
}

/// Wishes of a task before grounding.
struct Wishes<'t> {
    wanted: Wanted<'t>,
    instances: Vec<Instance>,
}

/// Grounds a task and compiles its preferences and trajectory constraints.
///
/// # Errors
/// The limit that ended the work. The inner error is a construct that the compilation does not handle.
pub(crate) fn compile(
    task: &LiftedTask,
    limits: GroundLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<Result<GroundTask, NotCompiled>, StopReason> {
    let refuse = |unsupported| Ok(Err(NotCompiled::Unsupported(unsupported)));
    let weights = match weights(task) {
        Ok(weights) => weights,
        Err(unsupported) => return refuse(unsupported),
    };
    let timed = task.extension.constraints.iter().filter(|constraint| counts(constraint, &weights.amounts));
    if let Some(part) = timed.flat_map(|constraint| &constraint.parts).find(|part| needs_times(part)) {
        let what = format!("`{}` in a plan without times", part.operator.as_str());
        return refuse(Unsupported { what, place: part.place });
    }
    let wishes = Wishes::collect(task, weights.amounts, resources)?;
    let plain = LiftedTask { metric: weights.rest, unsupported: Vec::new(), ..task.clone() };
    let (ground, expanded) = ground_with(&plain, &wishes.wanted, limits, resources)?;
    let preferred = expanded.preferred.iter().flatten().map(|(condition, _)| condition);
    let compares = expanded.conditions.iter().chain(preferred).any(formula::has_comparison);
    if let Some(place) = ground.numeric_condition.as_ref().map(|u| u.place).or(compares.then(|| place(task)))
    {
        let what = "preferences or trajectory constraints together with numeric conditions".to_owned();
        return Ok(Err(NotCompiled::Numeric(Unsupported { what, place })));
    }
    if ground.goal_unreachable {
        return Ok(Ok(ground));
    }
    let initial = initial_state(&ground);
    let (mut facts, mut automata) = (NewFacts::new(&ground), Automata::default());
    let (mut hard, mut soft) = (Vec::new(), Vec::new());
    let mut paid = Number::ZERO;
    for instance in &wishes.instances {
        check(resources.poll())?;
        let parts: Vec<Part<'_>> = instance.parts.iter().map(|part| part.on(&expanded.conditions)).collect();
        let weight = instance.preference.map(|preference| expanded.amounts[preference as usize]);
        let kept = automata.add(&parts, weight, &initial, &mut facts);
        automata.charge(resources)?;
        match (instance.preference, kept) {
            (None, kept) => hard.push(kept),
            (Some(_), Ground::True) => {}
            // Every plan violates it.
            (Some(preference), Ground::False) => paid = paid + wishes.wanted.amounts[preference as usize],
            (Some(preference), kept) => soft.push((kept, expanded.amounts[preference as usize])),
        }
    }
    let amount = |preference: usize| u128::from(expanded.amounts[preference]);
    let preferences = wishes.instances.iter().filter_map(|instance| instance.preference);
    let soft_total: u128 = preferences.map(|preference| amount(preference as usize)).sum();
    let operators = ground.operators.iter().zip(&expanded.preferred);
    let dearest = operators.map(|(operator, own)| {
        u128::from(operator.cost) + own.iter().map(|(_, preference)| amount(*preference)).sum::<u128>()
    });
    if u64::try_from(soft_total + dearest.max().unwrap_or(0)).is_err() {
        let what = "costs that are not 64-bit integers over one denominator".to_owned();
        return refuse(Unsupported { what, place: place(task) });
    }
    let payment = |(condition, preference): (Ground, usize)| Payment {
        condition,
        cost: expanded.amounts[preference],
        broken: None,
    };
    let preferred: Vec<Vec<Payment>> =
        expanded.preferred.into_iter().map(|list| list.into_iter().map(payment).collect()).collect();
    let mut builder = TaskBuilder::new(ground, facts);
    builder.operators(&automata, &preferred, resources)?;
    builder.goal(formula::all(hard), &soft);
    let mut compiled = builder.finish();
    let start = compiled.metric_start;
    compiled.metric_start = if compiled.maximize { start - paid } else { start + paid };
    Ok(Ok(compiled))
}

/// Grounds a task whose plans satisfy the constraints, also beside numbers and time. Its steps are those of the task. Returns as well, for each
/// operator, the facts beyond its own conditions that decide what it means for the constraints; nothing if there are none.
///
/// # Errors
/// The limit that ended the work.
pub(crate) fn ground_constrained(
    task: &LiftedTask,
    constraints: &[Constraint],
    is_timed: &dyn Fn(&GroundAction) -> bool,
    limits: GroundLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<(GroundTask, Vec<Vec<Fact>>), StopReason> {
    if constraints.is_empty() {
        return Ok((ground(task, limits, resources)?, Vec::new()));
    }
    let (task, constraints) = with_last_state(task, constraints);
    let mut wishes = Wishes { wanted: Wanted::default(), instances: Vec::new() };
    for constraint in &constraints {
        wishes.constraint(constraint, resources)?;
    }
    let (mut ground, expanded) = ground_with(&task, &wishes.wanted, limits, resources)?;
    if ground.goal_unreachable {
        return Ok((ground, Vec::new()));
    }
    if expanded.conditions.iter().any(formula::has_comparison) {
        let place = constraints.iter().flat_map(|constraint| &constraint.parts).next().map(|part| part.place);
        let what = "a numeric condition".to_owned();
        let first = place.map(|place| Unsupported { what, place });
        ground.numeric_condition = ground.numeric_condition.or(first);
    }
    let mut facts = NewFacts::new(&ground);
    let conditions: Vec<Ground> =
        expanded.conditions.iter().map(|condition| facts.without_comparisons(condition)).collect();
    let initial = initial_state(&ground);
    let mut automata = Automata::default();
    let mut kept = Vec::new();
    for instance in &wishes.instances {
        check(resources.poll())?;
        let parts: Vec<Part<'_>> = instance.parts.iter().map(|part| part.on(&conditions)).collect();
        kept.push(automata.add(&parts, None, &initial, &mut facts));
        automata.charge(resources)?;
    }
    TaskBuilder::new(ground, facts).constrained(&automata, formula::all(kept), is_timed, resources)
}

/// The task with the conditions on the last state as a part of its goal, and the other constraints.
fn with_last_state(task: &LiftedTask, constraints: &[Constraint]) -> (LiftedTask, Vec<Constraint>) {
    let mut task = task.clone();
    let mut goal = vec![task.goal];
    let mut others = constraints.to_vec();
    for constraint in &mut others {
        let variables = constraint.variables.clone();
        task.goal_slots = task.goal_slots.max(constraint.slots);
        constraint.parts.retain(|part| {
            let is_last = part.operator == TrajectoryKind::AtEnd;
            if is_last {
                let variables = [variables.as_slice(), &part.variables].concat();
                let condition = Formula::And(part.conditions.clone());
                goal.push(Formula::Forall(variables, Box::new(condition), part.place.span));
            }
            !is_last
        });
    }
    task.goal = Formula::And(goal);
    (task, others)
}

impl ConditionPart {
    /// The operator on the conditions with these indices.
    fn on<'g>(&self, conditions: &'g [Ground]) -> Part<'g> {
        Part { kind: self.kind, first: &conditions[self.first], second: &conditions[self.second] }
    }
}

/// The metric without violations, and what a violation of each preference makes it worse by.
struct Amounts {
    rest: Metric,
    amounts: Vec<Number>,
}

/// The weights of the preferences, or the construct of the metric that is not handled.
fn weights(task: &LiftedTask) -> Result<Amounts, Unsupported> {
    let place = match &task.metric {
        Metric::Value { span, .. } => SourcePlace::problem(*span),
        Metric::Steps => place(task),
    };
    let refuse = |what: String| Unsupported { what, place };
    let Some(weights) = Weights::of(task) else {
        return Err(refuse("a metric that is not linear in `is-violated`".to_owned()));
    };
    let amounts = weights.amounts(task);
    let rewarded = task.extension.preferences.iter().zip(&amounts).find(|(_, amount)| amount.is_negative());
    if let Some((preference, _)) = rewarded {
        let name = preference.name.map(|name| task.extension.preference_names[name as usize].as_str());
        let name = name.unwrap_or_default();
        return Err(refuse(format!("the preference `{name}`, whose violation makes the metric better")));
    }
    Ok(Amounts { rest: weights.rest, amounts })
}

fn needs_times(part: &TrajectoryPart) -> bool {
    use TrajectoryOp::{AlwaysWithin, HoldAfter, HoldDuring, Within};
    matches!(part.operator, TrajectoryKind::Over(Within | AlwaysWithin | HoldDuring | HoldAfter))
}

/// Returns true if a violation of the constraint matters.
fn counts(constraint: &Constraint, amounts: &[Number]) -> bool {
    constraint.preference.is_none_or(|preference| !amounts[preference as usize].is_zero())
}

impl<'t> Wishes<'t> {
    /// The instances of what matters: a preference without a weight is free to violate.
    fn collect(
        task: &'t LiftedTask,
        amounts: Vec<Number>,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, StopReason> {
        let mut wishes = Wishes { wanted: Wanted { amounts, ..Wanted::default() }, instances: Vec::new() };
        for soft in &task.extension.soft_conditions {
            if wishes.wanted.amounts[soft.preference as usize].is_zero() {
                continue;
            }
            if soft.place != SoftPlace::Goal {
                wishes.wanted.preferred.push((soft, soft.preference as usize));
                continue;
            }
            let mut binding = vec![ObjectId::MAX; soft.slots];
            for_each_binding(&soft.variables, &mut binding, resources, &mut |binding, resources| {
                check(resources.charge(CONDITION_BYTES))?;
                let first = wishes.wanted.conditions.len();
                wishes.wanted.conditions.push((&soft.condition, binding.to_vec()));
                let parts = vec![ConditionPart { kind: TrajectoryKind::AtEnd, first, second: first }];
                wishes.instances.push(Instance { preference: Some(soft.preference), parts });
                Ok(())
            })?;
        }
        for constraint in &task.extension.constraints {
            if counts(constraint, &wishes.wanted.amounts) {
                wishes.constraint(constraint, resources)?;
            }
        }
        Ok(wishes)
    }

    fn constraint(
        &mut self,
        constraint: &'t Constraint,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let conditions = &mut self.wanted.conditions;
        let instances = &mut self.instances;
        let mut binding = vec![ObjectId::MAX; constraint.slots];
        for_each_binding(&constraint.variables, &mut binding, resources, &mut |binding, resources| {
            let mut parts = Vec::new();
            for part in &constraint.parts {
                for_each_binding(&part.variables, binding, resources, &mut |binding, resources| {
                    let first = conditions.len();
                    for condition in &part.conditions {
                        check(resources.charge(CONDITION_BYTES))?;
                        conditions.push((condition, binding.to_vec()));
                    }
                    let second = conditions.len() - 1;
                    parts.push(ConditionPart { kind: part.operator, first, second });
                    Ok(())
                })?;
            }
            instances.push(Instance { preference: constraint.preference, parts });
            Ok(())
        })
    }
}

/// Explains why a task has no plan. `shown` says what showed it of the compiled task.
pub(crate) fn why_none(task: &LiftedTask, shown: &str, resources: &mut dyn ResourceLimits) -> Explanation {
    let mut why = why_unsolvable(task, resources);
    let hard = task.extension.constraints.iter().filter(|constraint| constraint.preference.is_none());
    if why.headline().is_some()
        && let Some(part) = hard.flat_map(|constraint| &constraint.parts).next()
    {
        let message = format!("no plan that reaches the goal satisfies the trajectory constraints: {shown}");
        let reason = Reason { kind: ReasonKind::UnreachableGoal, message, place: part.place };
        why.reasons.insert(0, reason);
    }
    why
}
