//! Planning with time: durative actions and timed initial literals.
//!
//! Where nothing happens by the clock, each durative action is first one classical action ([`model`]) without numbers, the classical search
//! finds a sequence, and its ends get the earliest times that their conflicts allow ([`timeline`]). Else, and where that finds no plan, a forward search over the ends of actions keeps the times of its path in a simple temporal
//! network ([`search`]). That finds plans with required concurrency and deadlines. Every plan is validated before it is given out.

mod model;
mod search;
mod snap;
mod timeline;

use crate::axioms::AxiomEvaluator;
use crate::lifted::{LiftedExpr, LiftedTask, Metric};
use crate::plan::{Plan, PlanOptions, PlanResult, SearchOutcome, StepTimes};
use crate::plan_file::parse_plan;
use crate::resources::{Charged, LimitWatch, ResourceLimits, StopReason};
use crate::search::{Algorithm, Outcome, run_search, run_search_with};
use crate::task::{Fact, GroundAction, GroundTask, Unsupported};
use crate::unsolvable::{Explanation, ReasonKind, why_unsolvable};
use crate::validate::{ValidationDecision, ValidationOptions, Validator};
use crate::wishes::ground_constrained;
use model::{Model, to_number};
use planforge_diagnostics::SourceId;
use planforge_pddl::Number;
use planforge_pddl::ast::ArithmeticOp;
use search::{Improvement, Search, SearchEnd, TimedStep};
use snap::SnapTask;
use std::sync::Arc;

/// States that the classical search generates at most before the search with time, if that could find more plans.
const FIRST_NODES: u64 = 200_000;
/// Evaluations between two checks of the limits on work.
const TURN: u64 = 5_000;
/// Evaluations before the first restart of the search for better plans.
const FIRST_WORK: u64 = 20_000;
/// Weights of the heuristic in turn.
const WEIGHTS: [u32; 4] = [5, 3, 2, 1];
const CLASSICAL: &str = "classical search, then a schedule";
const WITH_TIME: &str = "forward search with time";

/// Constructs of a task that planning with time does not handle.
fn unsupported(lifted: &LiftedTask, algorithm: Algorithm) -> Vec<Unsupported> {
    if !lifted.unexecuted.is_empty() {
        return lifted.unexecuted.clone();
    }
    if matches!(algorithm, Algorithm::AStar | Algorithm::BreadthFirst) {
        return lifted.unsupported.clone();
    }
    Vec::new()
}

/// Searches a plan of a task with durative actions or timed literals.
pub(crate) fn plan_with_time(
    lifted: LiftedTask,
    options: &PlanOptions,
    resources: &mut dyn ResourceLimits,
    on_plan: &mut dyn FnMut(&Plan, &'static str),
) -> PlanResult {
    let unsupported = unsupported(&lifted, options.algorithm);
    let is_supported = unsupported.is_empty();
    let mut result = PlanResult::unsearched("grounding", SearchOutcome::Unsupported(unsupported), (0, 0));
    if !is_supported {
        return result;
    }
    let snap = SnapTask::new(&lifted);
    let is_timed = |action: &GroundAction| matches!(snap.parts[action.action as usize], snap::Part::Timed(_));
    let constraints = &snap.constraints;
    let grounded = ground_constrained(&snap.lifted, constraints, &is_timed, options.ground, resources);
    let (task, observed) = match grounded {
        Ok(task) => task,
        Err(reason) => return PlanResult { outcome: SearchOutcome::LimitReached(reason), ..result },
    };
    result.ground_size = (task.actions.len(), task.facts.len());
    if task.goal_unreachable {
        let tests_all = lifted.extension.durative.iter().all(|schema| snap::tests_invariant(&lifted, schema));
        let outcome = if tests_all && snap.constraints.is_empty() {
            SearchOutcome::ProvenUnsolvable(explain(&snap, resources))
        } else {
            SearchOutcome::Exhausted
        };
        return PlanResult { outcome, method: "delete relaxation", ..result };
    }
    let (base, per_tick) = time_weight(&lifted.metric);
    let objective = (!task.maximize && task.cost_unsupported.is_none()).then(|| search::Objective {
        base: base + task.metric_start.to_f64(),
        per_tick: per_tick.unwrap_or(0.0) / model::SCALE as f64,
        per_cost: 1.0 / task.cost_scale as f64,
    });
    let objective = objective.filter(|o| per_tick.is_some() && o.base.is_finite());
    let maximize = task.maximize;
    let mut planner = Planner {
        validator: Validator::new(lifted),
        task: &task,
        options,
        resources,
        on_plan,
        maximize,
        objective,
        best: None,
        refused: None,
    };
    let end = planner.run(&snap, &observed, &mut result);
    result.note = planner.refused;
    match (planner.best, end) {
        (Some((plan, method)), end) => {
            result.method = method;
            result.stopped = end.err();
            result.outcome = SearchOutcome::Plan(plan);
        }
        (None, Ok(())) => result.outcome = SearchOutcome::Exhausted,
        (None, Err(reason)) => result.outcome = SearchOutcome::LimitReached(reason),
    }
    result
}

/// The constant of a metric, and its weight of the time; no weight if it is not linear in the time.
fn time_weight(metric: &Metric) -> (f64, Option<f64>) {
    match metric {
        Metric::Steps => (0.0, Some(1.0)),
        Metric::Value { expr, .. } => (0.0, time_coefficient(expr).map(Number::to_f64).filter(|w| *w >= 0.0)),
    }
}

/// The factor of `total-time` in an expression.
fn time_coefficient(expr: &LiftedExpr) -> Option<Number> {
    Some(match expr {
        LiftedExpr::Steps => Number::ONE,
        LiftedExpr::Binary(op, sides) => {
            let (left, right) = (time_coefficient(&sides.0)?, time_coefficient(&sides.1)?);
            match (op, &sides.0, &sides.1) {
                (ArithmeticOp::Add, ..) => left + right,
                (ArithmeticOp::Subtract, ..) => left - right,
                (ArithmeticOp::Multiply, LiftedExpr::Constant(c), _) => *c * right,
                (ArithmeticOp::Multiply, _, LiftedExpr::Constant(c)) => left * *c,
                (ArithmeticOp::Divide, _, LiftedExpr::Constant(c)) if !c.is_zero() => left / *c,
                _ if left.is_zero() && right.is_zero() => Number::ZERO,
                _ => return None,
            }
        }
        LiftedExpr::Constant(_)
        | LiftedExpr::Duration
        | LiftedExpr::Violations(_)
        | LiftedExpr::Function(_) => Number::ZERO,
    })
}

/// Reasons from the delete relaxation of the task without time. Those about invented facts are left out.
fn explain(snap: &SnapTask, resources: &mut dyn ResourceLimits) -> Explanation {
    let mut explanation = why_unsolvable(&snap.lifted, resources);
    explanation
        .reasons
        .retain(|reason| reason.kind == ReasonKind::UnreachableGoal || !reason.message.contains('@'));
    explanation
}

struct Planner<'a> {
    validator: Validator,
    task: &'a GroundTask,
    options: &'a PlanOptions,
    resources: &'a mut dyn ResourceLimits,
    on_plan: &'a mut dyn FnMut(&Plan, &'static str),
    maximize: bool,
    /// `None` if a bound on the metric is not known during the search.
    objective: Option<search::Objective>,
    best: Option<(Plan, &'static str)>,
    /// Why the first schedule that was not valid is not.
    refused: Option<String>,
}

impl Planner<'_> {
    /// Searches a plan and, with [`Algorithm::Anytime`], better ones.
    fn run(
        &mut self,
        snap: &SnapTask,
        observed: &[Vec<Fact>],
        result: &mut PlanResult,
    ) -> Result<(), StopReason> {
        let task = self.task;
        let model = Model::new(snap, task, observed, self.resources)?;
        let axioms = AxiomEvaluator::new(&model.moves_task);
        let is_anytime = self.options.algorithm == Algorithm::Anytime;
        if model.times.is_empty() && !model.derives_from_numbers() {
            result.method = CLASSICAL;
            self.classical(&model, &axioms, result)?;
            if self.best.is_some() && !is_anytime {
                return Ok(());
            }
        }
        result.method = WITH_TIME;
        let mut search = {
            let mut watch = LimitWatch::new(self.resources, u64::MAX);
            Search::new(&model, &axioms, &mut watch)?
        };
        if self.best.is_none() {
            let most = self.options.max_nodes.min(u64::from(u32::MAX - 1));
            let mut turns = Turns { charged: Charged::default(), most, work: u64::MAX };
            while self.best.is_none() && self.turn(&mut search, None, &mut turns, result)? {}
            turns.charged.release(self.resources);
        }
        match self.objective.filter(|_| is_anytime && self.best.is_some()) {
            Some(objective) => self.improve(&mut search, objective, result),
            None => Ok(()),
        }
    }

    /// Searches plans below the value of the best one, with falling weights of the heuristic.
    fn improve(
        &mut self,
        search: &mut Search<'_>,
        objective: search::Objective,
        result: &mut PlanResult,
    ) -> Result<(), StopReason> {
        let most = result.statistics.generated.saturating_add(self.options.max_nodes);
        for (index, &weight) in WEIGHTS.iter().enumerate() {
            let is_last = index + 1 == WEIGHTS.len();
            search.restart();
            let mut turns = Turns { charged: Charged::default(), most, work: FIRST_WORK };
            loop {
                let Some(below) = self.best.as_ref().and_then(|(plan, _)| plan.cost) else { return Ok(()) };
                let unit = (below.abs() / f64::from(search.first_value)).max(1e-6);
                let improvement = Improvement { objective, below, unit, weight };
                let before = below;
                if !self.turn(search, Some(&improvement), &mut turns, result)? {
                    break;
                }
                let is_better = self.best.as_ref().and_then(|(plan, _)| plan.cost) != Some(before);
                if is_better {
                    turns.work = turns.work.max(2 * search.work);
                } else if search.work >= turns.work {
                    if !is_last {
                        break;
                    }
                    turns.work = turns.work.saturating_mul(2);
                }
            }
            turns.charged.release(self.resources);
        }
        Ok(())
    }

    /// A turn of the search with time; false if it has no states left.
    fn turn(
        &mut self,
        search: &mut Search<'_>,
        improvement: Option<&Improvement>,
        turns: &mut Turns,
        result: &mut PlanResult,
    ) -> Result<bool, StopReason> {
        if result.statistics.generated >= turns.most {
            return Err(StopReason::Nodes);
        }
        let work = turns.work.min(search.work.saturating_add(TURN));
        let left = turns.most - result.statistics.generated;
        let most = (search.size() as u64).saturating_add(left);
        let mut watch = turns.charged.watch(self.resources, most);
        let end = search.run(self.task, improvement, work, &mut watch, &mut result.statistics);
        turns.charged = watch.charged();
        match end? {
            SearchEnd::Plan(steps, moves) => {
                let is_valid = self.offer(&steps, WITH_TIME)?
                    || match search::schedule(search.model, search.axioms, self.task, &moves, true) {
                        Ok(steps) => self.offer(&steps, WITH_TIME)?,
                        Err(_) => false,
                    };
                if !is_valid {
                    search.refuse();
                }
                Ok(true)
            }
            SearchEnd::Paused => Ok(true),
            SearchEnd::Exhausted => Ok(false),
        }
    }

    /// Plans of the actions as a whole, one after the other, then scheduled.
    fn classical(
        &mut self,
        model: &Model,
        axioms: &AxiomEvaluator,
        result: &mut PlanResult,
    ) -> Result<(), StopReason> {
        let (compressed, moves) = model.compressed();
        let is_all = moves.len() == model.moves.len() && !model.has_numbers;
        let nodes = if is_all { self.options.max_nodes } else { self.options.max_nodes.min(FIRST_NODES) };
        let run = run_search(&compressed, Algorithm::Greedy, nodes, self.resources);
        result.statistics += run.statistics;
        let sequence: Vec<u32> = match &run.outcome {
            Outcome::Plan(operators) => operators.iter().map(|&o| moves[run.task_action(o)]).collect(),
            Outcome::Unsolvable => return Ok(()),
            Outcome::Stopped(StopReason::Nodes | StopReason::Memory) if !is_all => return Ok(()),
            Outcome::Stopped(reason) => return Err(*reason),
        };
        self.offer_sequence(model, axioms, &sequence)?;
        if self.options.algorithm != Algorithm::Anytime || self.best.is_none() {
            return Ok(());
        }
        // Plans with less work in all are often faster too.
        let nodes = self.options.max_nodes.min(FIRST_NODES);
        let mut sequences: Vec<Vec<u32>> = Vec::new();
        let run = run_search_with(&compressed, Algorithm::Anytime, nodes, self.resources, &mut |better| {
            sequences.push(better.actions.iter().map(|&action| moves[action as usize]).collect());
        });
        result.statistics += run.statistics;
        for sequence in sequences {
            self.offer_sequence(model, axioms, &sequence)?;
        }
        match run.stopped {
            Some(StopReason::Nodes | StopReason::Memory) | None => Ok(()),
            Some(reason) => Err(reason),
        }
    }

    fn offer_sequence(
        &mut self,
        model: &Model,
        axioms: &AxiomEvaluator,
        sequence: &[u32],
    ) -> Result<(), StopReason> {
        for is_total in [false, true] {
            if let Ok(steps) = search::schedule(model, axioms, self.task, sequence, is_total)
                && self.offer(&steps, CLASSICAL)?
            {
                break;
            }
        }
        Ok(())
    }

    /// Validates a plan and takes it if it is better than the best one; false if it is not valid.
    fn offer(&mut self, steps: &[TimedStep], method: &'static str) -> Result<bool, StopReason> {
        let Some(plan) = self.checked(steps)? else { return Ok(false) };
        let value =
            |plan: &Plan| plan.cost.map_or(f64::INFINITY, |cost| if self.maximize { -cost } else { cost });
        if self.best.as_ref().is_none_or(|(best, _)| value(&plan) < value(best)) {
            (self.on_plan)(&plan, method);
            self.best = Some((plan, method));
        }
        Ok(true)
    }

    /// The plan of the steps; `None` if it is not valid.
    fn checked(&mut self, steps: &[TimedStep]) -> Result<Option<Plan>, StopReason> {
        let times = steps
            .iter()
            .map(|step| StepTimes { start: to_number(step.start), duration: step.duration.map(to_number) });
        let mut plan = Plan {
            steps: steps.iter().map(|step| step.action.clone()).collect(),
            times: times.collect(),
            cost: None,
            bound: None,
            optimal: false,
            symbols: Arc::clone(&self.validator.task().symbols),
        };
        let file = parse_plan(&plan.to_string(), SourceId(0));
        let options = ValidationOptions { time: true, ..ValidationOptions::default() };
        let report = self.validator.validate_with(&file, &options, self.resources);
        plan.cost = report.cost;
        match report.decision {
            ValidationDecision::Valid => Ok(Some(plan)),
            ValidationDecision::LimitReached(reason) => Err(reason),
            ValidationDecision::Invalid | ValidationDecision::Unsupported(_) => {
                let error = report.diagnostics.iter().find(|finding| finding.is_error());
                let why = error.map_or("", |finding| &finding.message);
                self.refused.get_or_insert_with(|| format!("a schedule was not valid: {why}"));
                Ok(None)
            }
        }
    }
}

/// Limits of a search that takes turns.
struct Turns {
    charged: Charged,
    /// States that are generated at most, those of earlier searches included.
    most: u64,
    /// States that are evaluated at most.
    work: u64,
}

#[cfg(test)]
mod tests;
