//! Our planner against uniform-cost search over the independent simulator.

use super::brute_force::{NoSpace, Space};
use super::context::Context;
use super::fraction::Fraction;
use super::simulator::Simulator;
use super::table::Row;
use super::tasks::{MIXES, Mix, Task};
use planforge_diagnostics::SourceId;
use planforge_planning::{
    Algorithm, CountingLimits, PlanOptions, SearchOutcome, TopKEnd, TopKOptions, TopKOutcome, parse_plan,
    plan, top_k, validate,
};
use std::num::NonZeroUsize;

/// Tasks at scale 1 for one plan and for several plans.
const TASKS: usize = 3_000;
const TOP_K_TASKS: usize = 400;

/// Larger spaces are not searched.
const MAX_STATES: usize = 600;
/// Most prefixes of plans that an enumeration visits.
const MAX_PREFIXES: usize = 20_000;

/// Far more than any task of these sizes needs.
pub(crate) const LIMITS: CountingLimits = CountingLimits { polls: 50_000_000, bytes: 2 << 30 };

/// A task whose space was searched completely.
fn searched(
    context: &Context,
    wanted: usize,
    stream: u64,
    row: &mut Row,
    mut check: impl FnMut(&mut Row, &str, &Task, &Space<'_>, &Simulator<'_>),
) {
    let mut done = 0;
    for number in 0.. {
        if done == wanted {
            break;
        }
        let mix: Mix = MIXES[number % MIXES.len()];
        let seed = context.seed.wrapping_mul(1_000_003) + stream + number as u64;
        let task = Task::random(seed, mix);
        let simulator = Simulator::new(&task.domain, &task.problem);
        match Space::build(&simulator, task.problem.metric.is_some(), MAX_STATES) {
            Ok(space) => {
                done += 1;
                if space.states() > 10 {
                    row.count("spaces of more than 10 states");
                }
                check(row, &format!("seed {seed}, {}", mix.name), &task, &space, &simulator);
            }
            Err(NoSpace::TooManyStates) => row.count("spaces too large to search, replaced"),
            Err(NoSpace::Uncomparable) => row.count("numbers too large for fractions, replaced"),
        }
    }
}

/// The row of single plans: greedy, A* and breadth-first search.
pub(crate) fn run(context: &Context) -> Row {
    let mut row = Row::default();
    searched(context, context.scaled(TASKS), 1 << 32, &mut row, |row, case, task, space, simulator| {
        let Ok(efforts) = space.efforts() else { return };
        let best = efforts[0];
        row.count(if best.is_some() { "solvable" } else { "unsolvable" });
        for algorithm in [Algorithm::Greedy, Algorithm::AStar, Algorithm::BreadthFirst] {
            let options = PlanOptions { algorithm, ..PlanOptions::default() };
            let case = format!("{case}, {algorithm:?}");
            let result = match plan(&task.domain, &task.problem, &options, &mut LIMITS.clone()) {
                Ok(result) => result,
                Err(diagnostics) => {
                    row.record(&case, &[format!("refused: {}", diagnostics[0].message)]);
                    continue;
                }
            };
            match (result.outcome, best) {
                (SearchOutcome::Plan(found), _) => {
                    let steps = found.step_texts();
                    let mut differences = check_plan(task, simulator, &steps, found.cost);
                    match (algorithm, best) {
                        (_, None) => differences.push("brute force finds no plan".to_owned()),
                        (Algorithm::AStar, Some((cost, _))) if found.cost != Some(cost.to_f64()) => {
                            differences.push(format!("cost {:?}, cheapest is {cost}", found.cost));
                        }
                        (Algorithm::BreadthFirst, _) if space.fewest_steps() != Some(steps.len()) => {
                            differences.push(format!("{} steps, not the fewest", steps.len()));
                        }
                        _ => {}
                    }
                    if algorithm == Algorithm::AStar
                        && let Some((cost, _)) = best
                        && exact_cost(simulator, &steps) != Some(cost)
                    {
                        differences.push(format!("the steps do not cost {cost}"));
                    }
                    row.record(&case, &differences);
                }
                (SearchOutcome::ProvenUnsolvable(_), None) => row.record(&case, &[]),
                (SearchOutcome::Exhausted, _) => row.explain("the search is incomplete and reports no proof"),
                (SearchOutcome::Unsupported(what), _) => {
                    row.explain(&format!("reported as not supported: {}", what[0].what));
                }
                (outcome, best) => {
                    row.record(
                        &case,
                        &[format!("{outcome:?}, brute force {best:?}").chars().take(300).collect()],
                    );
                }
            }
        }
    });
    row
}

/// The row of several plans.
pub(crate) fn run_top_k(context: &Context) -> Row {
    let mut row = Row::default();
    searched(context, context.scaled(TOP_K_TASKS), 1 << 33, &mut row, |row, case, task, space, simulator| {
        for k in [1, 4, 15] {
            let case = format!("{case}, k {k}");
            let Ok(Some(expected)) = space.plans(k, MAX_PREFIXES) else {
                row.count("enumerations too large");
                continue;
            };
            let mut options = TopKOptions::new(NonZeroUsize::MIN.saturating_add(k - 1));
            options.max_nodes = 10_000_000;
            let result = match top_k(&task.domain, &task.problem, &options, &mut LIMITS.clone()) {
                Ok(result) => result,
                Err(diagnostics) => {
                    row.record(&case, &[format!("refused: {}", diagnostics[0].message)]);
                    continue;
                }
            };
            let (plans, end) = match result.outcome {
                TopKOutcome::Plans { plans, end } => (plans, end),
                TopKOutcome::ProvenUnsolvable(_) => (Vec::new(), TopKEnd::NoMore),
                TopKOutcome::Unsupported(what) => {
                    row.explain(&format!("reported as not supported: {}", what[0].what));
                    continue;
                }
                TopKOutcome::LimitReached(reason) => {
                    row.record(&case, &[format!("{reason} reached")]);
                    continue;
                }
            };
            let mut differences = Vec::new();
            let found: Vec<Vec<String>> = plans.iter().map(|p| p.step_texts()).collect();
            let steps: Vec<Vec<&str>> = expected.iter().map(|(_, steps)| steps.clone()).collect();
            let lower: Vec<Vec<String>> =
                found.iter().map(|p| p.iter().map(|s| s.to_lowercase()).collect()).collect();
            if lower != steps {
                differences
                    .push(format!("plans {lower:?}, enumerated {steps:?}").chars().take(2000).collect());
            }
            if (end == TopKEnd::Enough) != (expected.len() == k) {
                differences.push(format!("{end:?} with {} plans of {k}", expected.len()));
            }
            for (plan, steps) in plans.iter().zip(&found) {
                row.count("plans compared");
                differences.extend(check_plan(task, simulator, steps, plan.cost));
            }
            row.record(&case, &differences);
        }
    });
    row
}

fn exact_cost(simulator: &Simulator<'_>, steps: &[String]) -> Option<Fraction> {
    let last = simulator.execute(steps).ok()??;
    simulator.plan_cost(&last, steps.len()).ok()?
}

/// Differences between a found plan, the simulator and our validator.
fn check_plan(task: &Task, simulator: &Simulator<'_>, steps: &[String], cost: Option<f64>) -> Vec<String> {
    let mut differences = Vec::new();
    match simulator.execute(steps) {
        Ok(Some(last)) if simulator.is_goal(&last) == Ok(true) => {
            if let Ok(exact) = simulator.plan_cost(&last, steps.len())
                && exact.map(Fraction::to_f64) != cost
            {
                differences.push(format!("cost {cost:?}, simulator {exact:?}: {steps:?}"));
            }
        }
        Err(_) => {}
        _ => differences.push(format!("the simulator refuses the plan {steps:?}")),
    }
    match validate(&task.domain, &task.problem, &parse_plan(&steps.join("\n"), SourceId(2))) {
        Ok(report) if report.is_valid() && report.cost == cost => {}
        Ok(report) => differences.push(format!(
            "our validator: {:?}, cost {:?}, the planner's is {cost:?}: {steps:?}",
            report.decision, report.cost
        )),
        Err(_) => differences.push("our validator refuses the task".to_owned()),
    }
    differences
}
