//! Preferences beside numbers and time, where they are not compiled away.
//!
//! Wishes are chosen and become a part of the goal. The first choice has none. Wishes are added one by one, the dearest first, and stay if a
//! short search finds a better plan. Then each of them is dropped in turn, and others take its place. At last the search improves the rest of the
//! metric under the chosen wishes. The metric of each plan is that of the whole task, as validation computes it, and only valid plans count. That
//! finds good plans and proves nothing, unless no wish is violated and only wishes cost.
//!
//! A chosen preference over the trajectory becomes a constraint. Preferences of preconditions change the metric and guide nothing.

use crate::ground::for_each_binding;
use crate::lifted::{
    Constraint, Formula, LiftedExpr, LiftedTask, Metric, SoftCondition, SoftPlace, Variable,
};
use crate::plan::{Plan, PlanOptions, PlanResult, SearchOutcome};
use crate::plan_file::parse_plan;
use crate::resources::{ResourceLimits, ScopedLimits, StopReason, Unlimited};
use crate::search::{Algorithm, SearchStatistics};
use crate::task::ObjectId;
use crate::validate::{ValidationOptions, ValidationReport, Validator};
use crate::weights::Weights;
use planforge_diagnostics::{SourceId, Span};
use planforge_pddl::Number;
use planforge_pddl::ast::CompareOp;

/// Most wishes that are searched for one by one: those that weigh most.
const MAX_WISHES: usize = 100;
/// Most search nodes for one wish.
const WISH_NODES: u64 = 20_000;
/// Most times that a wish is dropped in favour of others.
const MAX_TRIES: usize = 20;

/// An instance of a preference.
enum Wish {
    /// A condition of the goal, and its slots.
    Goal(Formula, usize),
    Trajectory(Constraint),
}

/// A search for a plan of a task without preferences; better plans are reported with the method that found them.
pub(crate) type PlainSearch =
    fn(LiftedTask, &PlanOptions, &mut dyn ResourceLimits, &mut dyn FnMut(&Plan, &'static str)) -> PlanResult;

/// Searches a plan of a task with preferences.
pub(crate) fn plan_with_wishes(
    lifted: &LiftedTask,
    search: PlainSearch,
    options: &PlanOptions,
    resources: &mut dyn ResourceLimits,
    on_plan: &mut dyn FnMut(&Plan, &'static str),
) -> PlanResult {
    let weights = Weights::of(lifted);
    let maximize = matches!(lifted.metric, Metric::Value { maximize: true, .. });
    let base = without_wishes(lifted, weights.as_ref().map_or(Metric::Steps, |weights| weights.rest.clone()));
    let amounts = weights.as_ref().map(|weights| weights.amounts(lifted));
    let wishes = match &amounts {
        Some(amounts) => match collect(lifted, amounts, resources) {
            Ok(wishes) => wishes,
            Err(reason) => {
                return PlanResult::unsearched("grounding", SearchOutcome::LimitReached(reason), (0, 0));
            }
        },
        None => Vec::new(),
    };
    let is_rewarded = amounts.as_ref().is_none_or(|amounts| amounts.iter().any(|one| one.is_negative()));
    let mut selection = Selection {
        is_rewarded,
        plain_search: search,
        validator: Validator::new(lifted.clone()),
        base,
        wishes,
        maximize,
        best: None,
        statistics: SearchStatistics::default(),
        on_plan,
    };
    let is_anytime = options.algorithm == Algorithm::Anytime;
    let algorithm = if is_anytime { Algorithm::Greedy } else { options.algorithm };
    let mut result = selection.search(&[], &PlanOptions { algorithm, ..*options }, resources).0;
    if selection.best.is_some() && is_anytime {
        result.stopped = selection.improve(options, resources).err();
    }
    result.statistics = selection.statistics;
    let is_free = selection.is_free();
    if let Some((mut plan, method)) = selection.best {
        plan.optimal = is_free;
        plan.bound = plan.cost.filter(|_| is_free);
        result.stopped = result.stopped.filter(|_| !is_free);
        result.outcome = SearchOutcome::Plan(plan);
        result.method = method;
    } else if matches!(result.outcome, SearchOutcome::Plan(_)) {
        result.note = Some("a plan was found that is not valid by its numbers or times".to_owned());
        result.outcome = SearchOutcome::Exhausted;
    }
    result
}

/// The task without its preferences, and with this metric.
fn without_wishes(lifted: &LiftedTask, metric: Metric) -> LiftedTask {
    let mut task = LiftedTask { metric, ..lifted.clone() };
    task.unsupported.retain(|construct| !construct.is_wish());
    task.unexecuted.retain(|construct| !construct.is_wish());
    task.extension.preferences.clear();
    task.extension.preference_names.clear();
    task.extension.soft_conditions.clear();
    task.extension.constraints.retain(|constraint| constraint.preference.is_none());
    task
}

/// A preference, whose instances are wishes.
enum Source<'t> {
    Goal(&'t SoftCondition),
    Trajectory(&'t Constraint),
}

impl Source<'_> {
    /// The variables of the enclosing `forall`s, and the number of slots.
    fn variables(&self) -> (&[Variable], usize) {
        match self {
            Source::Goal(soft) => (&soft.variables, soft.slots),
            Source::Trajectory(constraint) => (&constraint.variables, constraint.slots),
        }
    }

    /// The instance with this binding.
    fn instance(&self, binding: &[ObjectId]) -> Wish {
        match self {
            Source::Goal(soft) => {
                let body = soft.condition.clone();
                let condition = match soft.variables.as_slice() {
                    [] => body,
                    all => Formula::Forall(of_one(all, binding), Box::new(body), Span::default()),
                };
                Wish::Goal(condition, soft.slots)
            }
            Source::Trajectory(constraint) => {
                let variables = of_one(&constraint.variables, binding);
                Wish::Trajectory(Constraint { preference: None, variables, ..Constraint::clone(constraint) })
            }
        }
    }
}

/// The dearest wishes with a weight, the dearest first.
fn collect(
    lifted: &LiftedTask,
    amounts: &[Number],
    resources: &mut dyn ResourceLimits,
) -> Result<Vec<Wish>, StopReason> {
    let extension = &lifted.extension;
    let goals = extension.soft_conditions.iter().filter(|soft| soft.place == SoftPlace::Goal);
    let goals = goals.map(|soft| (soft.preference, Source::Goal(soft)));
    let constraints = extension.constraints.iter();
    let constraints = constraints.filter_map(|one| Some((one.preference?, Source::Trajectory(one))));
    let mut sources: Vec<(Number, Source<'_>)> =
        goals.chain(constraints).map(|(preference, source)| (amounts[preference as usize], source)).collect();
    sources.retain(|(amount, _)| CompareOp::Less.holds(Number::ZERO, *amount));
    sources.sort_by(|a, b| b.0.to_f64().total_cmp(&a.0.to_f64()));
    let mut found = Vec::new();
    for (_, source) in sources {
        let (variables, slots) = source.variables();
        let mut binding = vec![ObjectId::MAX; slots];
        let end = for_each_binding(variables, &mut binding, resources, &mut |binding, _| {
            found.push(source.instance(binding));
            // Ends the bindings. The reason is not used.
            if found.len() < MAX_WISHES { Ok(()) } else { Err(StopReason::Nodes) }
        });
        if found.len() >= MAX_WISHES {
            break;
        }
        end?;
    }
    Ok(found)
}

/// The variables, each with the object of the binding alone.
fn of_one(variables: &[Variable], binding: &[ObjectId]) -> Vec<Variable> {
    let one = |variable: &Variable| Variable {
        objects: [binding[variable.slot as usize]].into(),
        ..variable.clone()
    };
    variables.iter().map(one).collect()
}

/// The task whose plans satisfy wishes.
fn with_chosen<'w>(base: &LiftedTask, wishes: impl IntoIterator<Item = &'w Wish>) -> LiftedTask {
    let mut task = base.clone();
    let mut parts = vec![task.goal];
    for wish in wishes {
        match wish {
            Wish::Goal(condition, slots) => {
                parts.push(condition.clone());
                task.goal_slots = task.goal_slots.max(*slots);
            }
            Wish::Trajectory(constraint) => task.extension.constraints.push(constraint.clone()),
        }
    }
    task.goal = Formula::And(parts);
    task
}

struct Selection<'a> {
    /// True if the violation of a preference may make the metric better.
    is_rewarded: bool,
    plain_search: PlainSearch,
    /// Judges plans of the whole task.
    validator: Validator,
    base: LiftedTask,
    wishes: Vec<Wish>,
    maximize: bool,
    best: Option<(Plan, &'static str)>,
    statistics: SearchStatistics,
    on_plan: &'a mut dyn FnMut(&Plan, &'static str),
}

impl Selection<'_> {
    /// Searches plans that satisfy these wishes, and takes the better ones. Returns the value of the best one as well.
    fn search(
        &mut self,
        wishes: &[usize],
        options: &PlanOptions,
        resources: &mut dyn ResourceLimits,
    ) -> (PlanResult, f64) {
        let task = with_chosen(&self.base, wishes.iter().map(|&wish| &self.wishes[wish]));
        let mut value = f64::INFINITY;
        let mut resources = ScopedLimits::new(resources);
        let result = (self.plain_search)(task, options, &mut resources, &mut |plan, method| {
            value = value.min(self.offer(plan, method));
        });
        if let SearchOutcome::Plan(plan) = &result.outcome {
            value = value.min(self.offer(plan, result.method));
        }
        self.statistics += result.statistics;
        (result, value)
    }

    /// The value of the best plan, the lower the better.
    fn value(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |(plan, _)| self.value_of(plan.cost))
    }

    fn value_of(&self, cost: Option<f64>) -> f64 {
        cost.map_or(f64::INFINITY, |cost| if self.maximize { -cost } else { cost })
    }

    /// Takes a plan if it is valid and better than the best one. Returns its value, which is infinite if it is not valid.
    fn offer(&mut self, plan: &Plan, method: &'static str) -> f64 {
        let Some(report) = self.validated(plan) else { return f64::INFINITY };
        let value = self.value_of(report.cost);
        if self.best.is_none() || value < self.value() {
            let plan = Plan { cost: report.cost, bound: None, optimal: false, ..plan.clone() };
            (self.on_plan)(&plan, method);
            self.best = Some((plan, method));
        }
        value
    }

    fn validated(&self, plan: &Plan) -> Option<ValidationReport> {
        let file = parse_plan(&plan.to_string(), SourceId(0));
        let options = ValidationOptions { time: true, ..ValidationOptions::default() };
        Some(self.validator.validate_with(&file, &options, &mut Unlimited)).filter(ValidationReport::is_valid)
    }

    /// True if no plan is better: only wishes cost, and the best plan satisfies all of them.
    fn is_free(&self) -> bool {
        let rest_is_constant = match &self.base.metric {
            Metric::Steps => false,
            Metric::Value { expr, .. } => is_constant(expr),
        };
        let violated = |(plan, _): &(Plan, &'static str)| {
            self.validated(plan).is_none_or(|report| report.preferences.iter().any(|p| p.violations > 0))
        };
        !self.is_rewarded && rest_is_constant && self.best.as_ref().is_some_and(|best| !violated(best))
    }

    /// Improves the best plan.
    fn improve(
        &mut self,
        options: &PlanOptions,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let (mut chosen, mut value) =
            self.grow(Choice { wishes: Vec::new(), value: self.value() }, None, options, resources)?.parts();
        let mut tries = MAX_TRIES;
        // Some wishes are only satisfied in the place of another one.
        let mut next = chosen.len();
        while next > 0 && tries > 0 && !self.is_free() {
            next -= 1;
            tries -= 1;
            let dropped = chosen[next];
            let mut others = chosen.clone();
            others.remove(next);
            let of_others = self.search_for(&others, options, resources)?;
            let start = Choice { wishes: others, value: of_others };
            let (other, other_value) = self.grow(start, Some(dropped), options, resources)?.parts();
            if other_value < value {
                (chosen, value) = (other, other_value);
                next = chosen.len();
            }
        }
        if self.is_free() {
            return Ok(());
        }
        let max_nodes = self.nodes_left(options)?;
        let result = self.search(&chosen, &PlanOptions { max_nodes, ..*options }, resources).0;
        match result.outcome {
            SearchOutcome::LimitReached(reason) => Err(reason),
            _ => result.stopped.map_or(Ok(()), Err),
        }
    }

    /// Adds the wishes that make the plans of a choice better, one by one.
    fn grow(
        &mut self,
        mut choice: Choice,
        without: Option<usize>,
        options: &PlanOptions,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Choice, StopReason> {
        for wish in 0..self.wishes.len() {
            if without == Some(wish) || choice.wishes.contains(&wish) {
                continue;
            }
            choice.wishes.push(wish);
            let value = self.search_for(&choice.wishes, options, resources)?;
            if value < choice.value {
                choice.value = value;
            } else {
                choice.wishes.pop();
            }
        }
        Ok(choice)
    }

    /// The value of the best plan that a short search for these wishes finds; infinite without one.
    fn search_for(
        &mut self,
        wishes: &[usize],
        options: &PlanOptions,
        resources: &mut dyn ResourceLimits,
    ) -> Result<f64, StopReason> {
        let max_nodes = WISH_NODES.min(self.nodes_left(options)?);
        let (result, value) = self.search(wishes, &PlanOptions { max_nodes, ..*options }, resources);
        let stopped = match result.outcome {
            SearchOutcome::LimitReached(reason) => Some(reason),
            _ => result.stopped,
        };
        match stopped {
            None | Some(StopReason::Nodes) => Ok(value),
            Some(reason) => Err(reason),
        }
    }

    fn nodes_left(&self, options: &PlanOptions) -> Result<u64, StopReason> {
        match options.max_nodes.saturating_sub(self.statistics.generated) {
            0 => Err(StopReason::Nodes),
            left => Ok(left),
        }
    }
}

/// Wishes that plans satisfy, and the value of the best plan found for them.
struct Choice {
    wishes: Vec<usize>,
    value: f64,
}

impl Choice {
    fn parts(self) -> (Vec<usize>, f64) {
        (self.wishes, self.value)
    }
}

fn is_constant(expr: &LiftedExpr) -> bool {
    match expr {
        LiftedExpr::Constant(_) => true,
        LiftedExpr::Binary(_, sides) => is_constant(&sides.0) && is_constant(&sides.1),
        LiftedExpr::Steps | LiftedExpr::Duration | LiftedExpr::Violations(_) | LiftedExpr::Function(_) => {
            false
        }
    }
}
