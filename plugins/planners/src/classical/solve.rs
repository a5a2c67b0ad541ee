//! One call: reads the task, searches, and reports the outcome.

use crate::classical::budget::CallBudget;
use crate::classical::options::{ClassicalPlannerOptions, Search};
use crate::classical::report::{explain, limit_kind, report, unsupported_diagnostic};
use crate::classical::top_k;
use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{PlanDocument, PlanLimits, PlanOutcome, PlanRequest, SearchStatistics};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::read_task;
use planforge_planning::{Algorithm, PlanOptions, PlanResult};

/// Reads the task and searches for a plan.
pub(crate) fn run(host: &dyn Host, options: &ClassicalPlannerOptions, request: &PlanRequest) -> PlanOutcome {
    let mut sources = SourceMap::default();
    sources.add("domain", request.domain.as_str());
    sources.add("problem", request.problem.as_str());
    let (domain, problem) = match read_task(&request.domain, &request.problem) {
        Ok(task) => task,
        Err(errors) => return PlanOutcome::Unreadable { diagnostics: report(&errors, &sources) },
    };
    let limits = limits(options, request.limits);
    let Some(algorithm) = algorithm(options.search).filter(|_| request.k <= 1) else {
        let mut budget = CallBudget::new(host, &limits);
        return top_k::run(&domain, &problem, options, (request.k, limits.nodes), &mut budget, &sources);
    };
    let plan_options = PlanOptions {
        algorithm,
        max_nodes: limits.nodes.unwrap_or(PlanOptions::default().max_nodes),
        ..PlanOptions::default()
    };
    let mut budget = CallBudget::new(host, &limits);
    match planforge_planning::plan(&domain, &problem, &plan_options, &mut budget) {
        Ok(result) => {
            if let Some(note) = &result.note {
                host.log(LogLevel::Info, note);
            }
            // Breadth-first search finds the fewest steps, which is the least cost only if steps are the cost.
            let steps_count = options.search != Search::Bfs || problem.metric.is_none();
            outcome(result, steps_count, &sources)
        }
        Err(errors) => PlanOutcome::Unreadable { diagnostics: report(&errors, &sources) },
    }
}

/// The lower limits of the request and the options.
fn limits(options: &ClassicalPlannerOptions, request: PlanLimits) -> PlanLimits {
    fn lower(a: Option<u64>, b: Option<u64>) -> Option<u64> {
        a.into_iter().chain(b).min()
    }
    PlanLimits {
        time_ms: lower(request.time_ms, options.time_limit_s.map(|s| u64::from(s) * 1000)),
        memory_bytes: lower(request.memory_bytes, options.memory_limit_mb.map(|m| u64::from(m) << 20)),
        nodes: lower(request.nodes, options.node_limit),
    }
}

/// The search for one plan; `None` for the search for several.
const fn algorithm(search: Search) -> Option<Algorithm> {
    match search {
        Search::Greedy => Some(Algorithm::Greedy),
        Search::Astar => Some(Algorithm::AStar),
        Search::Bfs => Some(Algorithm::BreadthFirst),
        Search::TopK => None,
    }
}

fn outcome(result: PlanResult, steps_count: bool, sources: &SourceMap) -> PlanOutcome {
    let statistics = statistics(&result);
    match result.outcome {
        planforge_planning::SearchOutcome::Plan(plan) => PlanOutcome::Plan {
            optimal: plan.optimal && steps_count,
            plans: vec![PlanDocument {
                steps: plan.step_texts(),
                cost: plan.cost,
                ..PlanDocument::default()
            }],
            statistics,
        },
        planforge_planning::SearchOutcome::ProvenUnsolvable(why) => {
            let explanation = explain(&why, sources);
            PlanOutcome::ProvenUnsolvable { explanation, statistics }
        }
        planforge_planning::SearchOutcome::Exhausted => PlanOutcome::Exhausted {
            explanation: vec![
                "The search left out states that it took for hopeless, and found no plan in the rest."
                    .to_owned(),
            ],
            statistics,
        },
        planforge_planning::SearchOutcome::LimitReached(reason) => PlanOutcome::LimitReached {
            limit: limit_kind(reason),
            message: format!("{reason} was reached before a plan was found"),
            plans: Vec::new(),
            statistics,
        },
        planforge_planning::SearchOutcome::Unsupported(constructs) => {
            let diagnostics: Vec<Diagnostic> = constructs.iter().map(unsupported_diagnostic).collect();
            PlanOutcome::Unsupported { diagnostics: report(&diagnostics, sources) }
        }
    }
}

fn statistics(result: &PlanResult) -> SearchStatistics {
    let counts = result.statistics;
    SearchStatistics {
        expanded: Some(counts.expanded),
        evaluated: Some(counts.evaluated),
        generated: Some(counts.generated),
        ground_actions: Some(result.ground_size.0 as u64),
        search: match &result.note {
            Some(note) => format!("{} ({note})", result.method),
            None => result.method.to_owned(),
        },
    }
}
