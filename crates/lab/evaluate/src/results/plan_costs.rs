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
    /// Steps of the cheapest plan that was found, and whether that is proven; computed when it is first needed.
    best: Option<(Option<f64>, bool)>,
}

impl Priced {
    fn of(suite: &Suite, task: &SuiteTask) -> Option<Self> {
        let problem = parse_problem(task.reference_problem.as_deref()?, SourceId(0)).value;
        let metric = problem.metric.as_ref()?;
        if metric.direction != MetricDirection::Minimize {
            return None;
        }
        let domain = task.reference_domain.as_deref().or(suite.reference_domain.as_deref())?;
        Some(Self { domain: parse_domain(domain, SourceId(0)).value, problem, best: None })
    }

    /// The metric after a plan; absent if the plan is not valid under the reference's names.
    fn cost(&self, plan: &str) -> Option<f64> {
        let task = normalize(&self.domain, &self.problem).ok()?;
        let plan = parse_plan(plan, SourceId(0));
        let report = Validator::new(task).validate(&plan, &mut LIMITS.clone());
        report.cost.filter(|_| report.decision == ValidationDecision::Valid)
    }

    fn best(&mut self) -> (Option<f64>, bool) {
        if let Some(best) = self.best {
            return best;
        }
        let ground = GroundLimits { instances: MAX_GROUND, atoms: MAX_GROUND, ..GroundLimits::default() };
        let options = PlanOptions { algorithm: Algorithm::Anytime, max_nodes: MAX_NODES, ground };
        let found =
            plan(&self.domain, &self.problem, &options, &mut LIMITS.clone()).map(|found| found.outcome);
        let best = match found {
            Ok(SearchOutcome::Plan(plan)) => {
                let cost = self.cost(&plan.lines().join("\n"));
                (cost, plan.optimal && cost.is_some())
            }
            _ => (None, false),
        };
        self.best = Some(best);
        best
    }
}

/// Adds the costs of the valid plans to the tasks of a suite's cells.
pub(super) fn add_plan_costs(suite: &Suite, cells: &mut [CellResult]) {
    for task in &suite.tasks {
        let own = cells
            .iter_mut()
            .filter(|cell| cell.key.suite == suite.name)
            .flat_map(|cell| &mut cell.tasks)
            .filter(|result| result.task == task.stem && result.outcome == TaskOutcome::Solved);
        let mut priced = None;
        let mut costs: Vec<(&mut TaskResult, f64)> = Vec::new();
        for result in own {
            let Some(plan) = result.plan.take() else { continue };
            let priced: &mut Option<Priced> = priced.get_or_insert_with(|| Priced::of(suite, task));
            let Some(priced) = priced else { break };
            let Some(cost) = priced.cost(&plan) else { continue };
            costs.push((result, cost));
        }
        let Some(Some(priced)) = &mut priced else { continue };
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
