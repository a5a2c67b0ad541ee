//! Costs of valid plans of tasks that ask for the smallest one, beside the cost of the cheapest plan that the planner finds. They are a metric
//! of their own: a plan that costs more is as valid as another.

use super::cell::CellResult;
use super::task::{PlanCost, TaskOutcome, TaskResult};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, MetricDirection, Problem};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_pipeline::{Suite, SuiteTask};
use planforge_planning::{
    Algorithm, CountingLimits, GroundLimits, PlanOptions, SearchOutcome, ValidationDecision, Validator,
    normalize, parse_plan, plan,
};

/// Most search nodes, and ground actions and atoms, for the cheapest plan of a task.
const MAX_NODES: u64 = 100_000;
const MAX_GROUND: usize = 20_000;
/// Most bytes and polls of a search or a validation, so that the figures do not depend on the machine.
const LIMITS: CountingLimits = CountingLimits { polls: 3_000_000, bytes: 1 << 28 };

/// A task whose metric is to be minimised.
struct Priced {
    domain: Domain,
    problem: Problem,
    validator: Validator,
}

impl Priced {
    fn of(suite: &Suite, task: &SuiteTask) -> Option<Self> {
        let problem = parse_problem(task.reference_problem.as_deref()?, SourceId(0)).value;
        let metric = problem.metric.as_ref()?;
        if metric.direction != MetricDirection::Minimize {
            return None;
        }
        let domain = task.reference_domain.as_deref().or(suite.reference_domain.as_deref())?;
        let domain = parse_domain(domain, SourceId(0)).value;
        let validator = Validator::new(normalize(&domain, &problem).ok()?);
        Some(Self { domain, problem, validator })
    }

    /// The metric after a plan; absent if the plan is not valid under the reference's names.
    fn cost(&self, plan: &str) -> Option<f64> {
        let report = self.validator.validate(&parse_plan(plan, SourceId(0)), &mut LIMITS.clone());
        report.cost.filter(|_| report.decision == ValidationDecision::Valid)
    }

    /// The cost of the cheapest plan that is found, and whether that is proven.
    fn best(&self) -> (Option<f64>, bool) {
        let ground = GroundLimits { instances: MAX_GROUND, atoms: MAX_GROUND, ..GroundLimits::default() };
        let options = PlanOptions { algorithm: Algorithm::Anytime, max_nodes: MAX_NODES, ground };
        match plan(&self.domain, &self.problem, &options, &mut LIMITS.clone()).map(|found| found.outcome) {
            Ok(SearchOutcome::Plan(plan)) => {
                let cost = self.cost(&plan.lines().join("\n"));
                (cost, plan.optimal && cost.is_some())
            }
            _ => (None, false),
        }
    }
}

/// Adds the costs of the valid plans to the tasks of a suite's cells.
pub(super) fn add_plan_costs(suite: &Suite, cells: &mut [CellResult]) {
    for task in &suite.tasks {
        let plans: Vec<(&mut TaskResult, String)> = cells
            .iter_mut()
            .filter(|cell| cell.key.suite == suite.name)
            .flat_map(|cell| &mut cell.tasks)
            .filter(|result| result.task == task.stem && result.outcome == TaskOutcome::Solved)
            .filter_map(|result| result.plan.take().map(|plan| (result, plan)))
            .collect();
        if plans.is_empty() {
            continue;
        }
        let Some(priced) = Priced::of(suite, task) else { continue };
        let costs: Vec<(&mut TaskResult, f64)> =
            plans.into_iter().filter_map(|(result, plan)| Some((result, priced.cost(&plan)?))).collect();
        if costs.is_empty() {
            continue;
        }
        let (best, proven) = priced.best();
        // A plan of a model can be cheaper than the best one of a search that a limit ended.
        let cheapest = costs.iter().map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
        let best = best.map(|best| if proven { best } else { best.min(cheapest) });
        for (result, cost) in costs {
            result.plan_cost = Some(PlanCost { cost, best, proven });
        }
    }
}
