//! From a domain and a problem to a plan, or to the reason why there is none.

use crate::lifted::{LiftedTask, Metric};
use crate::normalize::normalize;
use crate::plan::{Plan, PlanOptions, PlanResult, SearchOutcome};
use crate::resources::ResourceLimits;
use crate::search::{Algorithm, metric_value, run_search_with};
use crate::task::{GroundTask, SourcePlace, TaskText, Unsupported};
use crate::unsolvable::{why_exhausted, why_unsolvable};
use crate::wishes::{self, NotCompiled};
use planforge_diagnostics::{Diagnostic, Span};
use planforge_pddl::Number;
use planforge_pddl::ast::{Domain, Problem};
use std::sync::Arc;

/// Grounds a task and searches for a plan.
///
/// # Errors
/// Errors that [`normalize`] finds: names without a declaration, wrong arities, rules that cannot be stratified.
pub fn plan(
    domain: &Domain,
    problem: &Problem,
    options: &PlanOptions,
    resources: &mut dyn ResourceLimits,
) -> Result<PlanResult, Vec<Diagnostic>> {
    plan_with_progress(domain, problem, options, resources, &mut |_, _| ())
}

/// [`plan`] that calls `on_plan` with each plan that [`Algorithm::Anytime`] finds, the first one included, and the method that
/// found it. Each is better than the one before.
///
/// # Errors
/// Those of [`plan`].
pub fn plan_with_progress(
    domain: &Domain,
    problem: &Problem,
    options: &PlanOptions,
    resources: &mut dyn ResourceLimits,
    on_plan: &mut dyn FnMut(&Plan, &'static str),
) -> Result<PlanResult, Vec<Diagnostic>> {
    let lifted = normalize(domain, problem)?;
    let unsearched = |outcome| PlanResult::unsearched("grounding", outcome, (0, 0));
    let is_satisficing = matches!(options.algorithm, Algorithm::Greedy | Algorithm::Anytime);
    let has_preferences = !lifted.extension.preferences.is_empty();
    let selects = is_satisficing && lifted.unexecuted.is_empty() && has_preferences;
    if lifted.extension.has_time() {
        return Ok(match selects {
            true => wishes::plan_with_wishes(&lifted, plan_without_wishes, options, resources, on_plan),
            false => crate::temporal::plan_with_time(lifted, options, resources, on_plan),
        });
    }
    let unsupported = wishes::unsupported(&lifted);
    if !unsupported.is_empty() {
        return Ok(unsearched(SearchOutcome::Unsupported(unsupported)));
    }
    if lifted.extension.has_wishes() {
        return Ok(match wishes::compile(&lifted, options.ground, resources) {
            Err(reason) => unsearched(SearchOutcome::LimitReached(reason)),
            Ok(Err(NotCompiled::Numeric(_))) if selects => {
                wishes::plan_with_wishes(&lifted, plan_without_wishes, options, resources, on_plan)
            }
            Ok(Err(NotCompiled::Numeric(_))) if !has_preferences => {
                plan_without_wishes(lifted, options, resources, on_plan)
            }
            Ok(Err(NotCompiled::Unsupported(what) | NotCompiled::Numeric(what))) => {
                unsearched(SearchOutcome::Unsupported(vec![what]))
            }
            Ok(Ok(task)) => plan_compiled(&lifted, &task, options, resources, on_plan),
        });
    }
    Ok(plan_without_wishes(lifted, options, resources, on_plan))
}

/// Searches a plan of a task without preferences that satisfies its trajectory constraints.
fn plan_without_wishes(
    lifted: LiftedTask,
    options: &PlanOptions,
    resources: &mut dyn ResourceLimits,
    on_plan: &mut dyn FnMut(&Plan, &'static str),
) -> PlanResult {
    if lifted.extension.has_time() {
        return crate::temporal::plan_with_time(lifted, options, resources, on_plan);
    }
    let constraints = &lifted.extension.constraints;
    match wishes::ground_constrained(&lifted, constraints, &|_| false, options.ground, resources) {
        Err(reason) => PlanResult::unsearched("grounding", SearchOutcome::LimitReached(reason), (0, 0)),
        Ok((task, _)) => plan_ground(&lifted, &task, options, resources, on_plan),
    }
}

/// Searches a task whose preferences and trajectory constraints were compiled away. Plans are without its auxiliary steps.
fn plan_compiled(
    lifted: &LiftedTask,
    task: &GroundTask,
    options: &PlanOptions,
    resources: &mut dyn ResourceLimits,
    on_plan: &mut dyn FnMut(&Plan, &'static str),
) -> PlanResult {
    let without_auxiliary = |plan: &Plan| {
        let mut plan = plan.clone();
        plan.steps.retain(|step| !wishes::is_auxiliary(lifted, step));
        // Breadth-first search counts auxiliary steps, and their number varies where preferences have weights.
        plan.optimal &=
            options.algorithm != Algorithm::BreadthFirst || matches!(lifted.metric, Metric::Steps);
        plan
    };
    let mut result = plan_ground(lifted, task, options, resources, &mut |plan, method| {
        on_plan(&without_auxiliary(plan), method);
    });
    if let SearchOutcome::Plan(plan) = &mut result.outcome {
        *plan = without_auxiliary(plan);
    }
    result
}

/// Searches a ground task.
pub(crate) fn plan_ground(
    lifted: &LiftedTask,
    task: &GroundTask,
    options: &PlanOptions,
    resources: &mut dyn ResourceLimits,
    on_plan: &mut dyn FnMut(&Plan, &'static str),
) -> PlanResult {
    let ground_size = (task.actions.len(), task.facts.len());
    let unsearched = |method, outcome| PlanResult::unsearched(method, outcome, ground_size);
    if task.goal_unreachable {
        let explanation = match lifted.extension.has_wishes() {
            true => {
                let shown =
                    "they are broken at the start, or out of reach even if nothing ever stopped holding";
                wishes::why_none(lifted, shown, resources)
            }
            false => why_unsolvable(lifted, resources),
        };
        return unsearched("delete relaxation", SearchOutcome::ProvenUnsolvable(explanation));
    }
    if let Some(unsupported) = unsupported_construct(lifted, task, options.algorithm) {
        return unsearched("grounding", SearchOutcome::Unsupported(vec![unsupported]));
    }
    let mut algorithm = options.algorithm;
    let mut note = None;
    let is_over_states = task.metric.is_some() && task.numeric_condition.is_some();
    if algorithm == Algorithm::Anytime
        && !is_over_states
        && let Some(unsupported) = &task.cost_unsupported
    {
        algorithm = Algorithm::Greedy;
        let action = action_at(lifted, unsupported.place);
        let action = action.map(|name| format!(", `{name}`")).unwrap_or_default();
        note = Some(format!("the task has {}{action}, so the first plan is not improved", unsupported.what));
    }
    if algorithm == Algorithm::Anytime && is_over_states {
        note = Some(
            "the metric is not a sum of the costs of the steps, so no plan is shown to be the best"
                .to_owned(),
        );
    }
    let to_plan = |actions: &mut dyn Iterator<Item = usize>, cost: u128, floor: u128| {
        let metric = |value: u128| task.metric_value(value).map(Number::to_f64);
        let optimal = algorithm != Algorithm::Greedy && floor >= cost && task.cost_unsupported.is_none();
        let is_bounded = floor > 0 || optimal && algorithm != Algorithm::BreadthFirst;
        let actions: Vec<u32> = actions.map(|action| action as u32).collect();
        let value =
            if is_over_states { metric_value(task, &actions).map(Number::to_f64) } else { metric(cost) };
        Plan {
            steps: actions.iter().map(|&action| task.actions[action as usize].clone()).collect(),
            times: Vec::new(),
            cost: value,
            bound: is_bounded.then(|| metric(floor)).flatten(),
            optimal,
            symbols: Arc::clone(&task.symbols),
        }
    };
    let found = run_search_with(task, algorithm, options.max_nodes, resources, &mut |better| {
        let mut actions = better.actions.iter().map(|&action| action as usize);
        on_plan(&to_plan(&mut actions, better.cost, better.floor), better.method);
    });
    let claims = match &found.outcome {
        crate::search::Outcome::Plan(_) => {
            matches!(algorithm, Algorithm::AStar | Algorithm::BreadthFirst)
        }
        crate::search::Outcome::Unsolvable => true,
        crate::search::Outcome::Stopped(_) => false,
    };
    if let Some(condition) = task.numeric_condition.as_ref().filter(|_| claims && found.is_inexact) {
        let what = "numbers beyond exact arithmetic".to_owned();
        let place = condition.place;
        return unsearched(found.method, SearchOutcome::Unsupported(vec![Unsupported { what, place }]));
    }
    let outcome = match &found.outcome {
        crate::search::Outcome::Plan(operators) => {
            let cost: u128 = operators.iter().map(|&o| u128::from(found.cost(o))).sum();
            let floor = match algorithm {
                Algorithm::AStar => cost,
                Algorithm::Greedy | Algorithm::BreadthFirst | Algorithm::Anytime => found.floor,
            };
            let plan = to_plan(&mut operators.iter().map(|&o| found.task_action(o)), cost, floor);
            let optimal = plan.optimal || algorithm == Algorithm::BreadthFirst;
            SearchOutcome::Plan(Plan { optimal, ..plan })
        }
        crate::search::Outcome::Unsolvable if lifted.extension.has_wishes() => {
            SearchOutcome::ProvenUnsolvable(wishes::why_none(
                lifted,
                "every state that they allow was searched",
                resources,
            ))
        }
        crate::search::Outcome::Unsolvable => {
            let generated = found.statistics.generated;
            SearchOutcome::ProvenUnsolvable(why_exhausted(lifted, task, generated, resources))
        }
        crate::search::Outcome::Stopped(reason) => SearchOutcome::LimitReached(*reason),
    };
    PlanResult {
        outcome,
        note: found.note.or(note),
        stopped: found.stopped,
        method: found.method,
        statistics: found.statistics,
        ground_size,
    }
}

/// The name of the action schema that contains a place of the domain.
fn action_at(lifted: &LiftedTask, place: SourcePlace) -> Option<&str> {
    let Span { start, end } = place.span;
    if place.text != TaskText::Domain || start == end {
        return None;
    }
    let mut schemas = lifted.schemas.iter().zip(&lifted.symbols.actions);
    let found = schemas.find(|(schema, _)| schema.span.start <= start && end <= schema.span.end);
    found.map(|(_, name)| name.as_str())
}

/// Returns the construct that the algorithm does not support, if the task has one.
pub(crate) fn unsupported_construct(
    lifted: &LiftedTask,
    task: &GroundTask,
    algorithm: Algorithm,
) -> Option<Unsupported> {
    if algorithm != Algorithm::AStar {
        return None;
    }
    if let Some(unsupported) = &task.cost_unsupported {
        let mut unsupported = unsupported.clone();
        if unsupported.place.span == Span::default()
            && let Metric::Value { span, .. } = &lifted.metric
        {
            unsupported.place = SourcePlace::problem(*span);
        }
        return Some(unsupported);
    }
    None
}
