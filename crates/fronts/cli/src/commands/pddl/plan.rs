//! `planforge pddl plan`: the bundled classical planner on two files, over the same plugin boundary as in
//! pipelines.

use super::preferences;
use crate::args::{MemoryArgs, at_least_one, positive_seconds};
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::pddl::plan::{MetricDirection, PlanDocument, PlanOutcome, PlanRequest, PlanSearch, plan};
use planforge_app::pddl::validate::{ValidateRequest, validate, write_gantt};
use planforge_app::{Error, RequestLimits, Source};
use std::path::{Path, PathBuf};

/// Find a good plan and print it in IPC form: the best until the limit, or a cheapest one.
///
/// The first plan is improved: each better one is a line with its steps or cost, the seconds and the method, and the last line says what no plan
/// can be below. It ends when the plan is proven cheapest, at the limit on time or nodes, or ten seconds after the first plan if
/// there is neither. Ctrl-C and the limit on memory end it too; the best plan so far is the answer. Which plans are found, and in which
/// order, is the same in every run and with one thread or two: with --max-nodes the last one is the same too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl plan domain.pddl p01.pddl > p01.plan
  planforge pddl plan domain.pddl p01.pddl --first
  planforge pddl plan domain.pddl p01.pddl --optimal --time-limit 60 --json
  planforge pddl plan domain.pddl p01.pddl --top-k 10 --json
  planforge pddl plan domain.pddl p01.pddl --top-k 1000 --quality 1.2

A plan with times is drawn as a Gantt chart, as SVG or in text:
  planforge pddl plan examples/extended/bakery/domain.pddl examples/extended/bakery/p01.pddl --gantt p01.svg")]
pub(crate) struct PlanArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// The problem file.
    pub(crate) problem: PathBuf,
    /// Print the first plan that is found, however long.
    #[arg(long, conflicts_with_all = ["optimal", "top_k"])]
    pub(crate) first: bool,
    /// Print only a plan that is proven cheapest (A* with LM-cut): at a limit there is none.
    #[arg(long)]
    pub(crate) optimal: bool,
    /// Find the K cheapest distinct plans, in order. Loops and plans through goal states count. There are
    /// fewer only if no others exist, or if a limit is reached (exit code 21 to 23).
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top_k: Option<u32>,
    /// With --top-k: only plans that cost at most this many times the lowest cost, from 1 up.
    #[arg(long, value_name = "Q", requires = "top_k", value_parser = at_least_one)]
    pub(crate) quality: Option<f64>,
    /// With --top-k: whether ground actions that change nothing may be steps.
    #[arg(long, value_name = "WHAT", requires = "top_k", value_parser = ["strips", "ground-no-ops-dropped"])]
    pub(crate) semantics: Option<String>,
    /// End after this many seconds of wall time.
    #[arg(long, value_name = "S", value_parser = positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Most threads, 1 or 2; without it two. Two searches work side by side once a task takes long, in rounds of counted work, and
    /// exchange plans only between rounds: the plans and their order do not depend on the number of threads.
    #[arg(long, value_name = "N", conflicts_with_all = ["optimal", "top_k"], value_parser = clap::value_parser!(u32).range(1..=2))]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// End at this many search nodes, before the first plan or after it: a limit that is the same on every machine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_nodes: Option<u64>,
    /// Write the Gantt chart of a plan with times: .svg, or text into any other file.
    #[arg(long, value_name = "FILE", conflicts_with = "top_k")]
    pub(crate) gantt: Option<PathBuf>,
    /// Print one JSON object instead of the plan.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &PlanArgs) -> Exit {
    let search = match args.top_k {
        Some(k) => PlanSearch::TopK { k, quality: args.quality, semantics: args.semantics.clone() },
        None if args.optimal => PlanSearch::Optimal,
        None if args.first => PlanSearch::First,
        None => PlanSearch::Best,
    };
    let best = search == PlanSearch::Best;
    let request = PlanRequest {
        domain: args.domain.clone().into(),
        problem: args.problem.clone().into(),
        search,
        in_words: None,
        limits: args.memory.with_seconds(args.time_limit),
        nodes: args.max_nodes,
        threads: args.threads,
        report_plans: false,
    };
    context.show(plan(&context.app, &request), |result| {
        let drawn = args.gantt.as_ref().zip(result.plans().first());
        let drawn = drawn.map(|(path, plan)| draw(context, &request, plan, path));
        let status = match drawn {
            Some(Err(error)) => result.status.max(context.print_error(&error)),
            Some(Ok(())) | None => result.status,
        };
        if args.json {
            context.output.json(&result);
            return status;
        }
        if let Some(outcome) = &result.outcome {
            print(context, outcome);
            if best
                && let PlanOutcome::Plan { plans, optimal, .. } = outcome
                && let Some(plan) = plans.first()
            {
                context.output.note(&quality(plan, *optimal, result.metric));
            }
            preferences(&result.preferences).iter().for_each(|line| context.output.note(line));
        }
        context.output.diagnostics(&result.findings.diagnostics, &result.findings.sources);
        status
    })
}

/// Writes the Gantt chart of a plan, which is executed for it.
fn draw(context: &Context, request: &PlanRequest, plan: &PlanDocument, path: &Path) -> Result<(), Error> {
    let request = ValidateRequest {
        domain: request.domain.clone(),
        problem: Some(request.problem.clone()),
        plan: Some(Source::text("plan", plan.to_ipc())),
        in_words: None,
        epsilon: None,
        limits: RequestLimits { seconds: None, ..request.limits },
    };
    write_gantt(&context.app, &validate(&context.app, &request)?, path)
}

fn print(context: &Context, outcome: &PlanOutcome) {
    let note = |text: &str| context.output.note(&escape(text));
    match outcome {
        PlanOutcome::Plan { plans, .. } => print_plans(context, plans),
        PlanOutcome::ProvenUnsolvable { explanation, .. } => {
            note("there is no plan; this is proven:");
            explanation.iter().for_each(|line| note(line));
        }
        PlanOutcome::Exhausted { explanation, .. } => {
            note("no plan was found, and that there is none is not proven:");
            explanation.iter().for_each(|line| note(line));
        }
        PlanOutcome::LimitReached { message, plans, .. } => {
            print_plans(context, plans);
            note(message);
        }
        PlanOutcome::Unsupported { diagnostics } | PlanOutcome::Unreadable { diagnostics } => {
            for d in diagnostics {
                note(&format!("{}:{}:{}: {} [{}]", d.file, d.line, d.column, d.message, d.code));
            }
        }
    }
}

/// The cost of a plan and what is proven about it, in one line.
fn quality(plan: &PlanDocument, optimal: bool, metric: Option<MetricDirection>) -> String {
    let steps = plan.steps.len();
    let count = format!("{steps} step{}", if steps == 1 { "" } else { "s" });
    let makespan = plan.makespan();
    let size = match plan.cost.filter(|_| metric.is_some()) {
        Some(cost) => format!("cost {cost}"),
        None => makespan.map_or(count.clone(), |makespan| format!("makespan {makespan}")),
    };
    let size = makespan.map_or(size.clone(), |_| format!("{size}, {count}"));
    let better = match metric {
        None if makespan.is_some() => "faster",
        None => "shorter",
        Some(MetricDirection::Minimize) => "cheaper",
        Some(MetricDirection::Maximize) => "better",
    };
    match plan.bound {
        _ if optimal => format!("{size}; no plan is {better}"),
        Some(bound) => format!("{size}; no plan is {better} than {bound}"),
        None => format!("{size}; a {better} plan is not ruled out"),
    }
}

/// Separates plans by a blank line.
fn print_plans(context: &Context, plans: &[PlanDocument]) {
    if !plans.is_empty() {
        let texts: Vec<String> = plans.iter().map(PlanDocument::to_ipc).collect();
        context.output.result(&texts.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan of `(one)` and `(two)`, which cost 2 together. Another action reaches the goal in one step and costs 3.
    fn two_steps(cost: f64, bound: Option<f64>) -> PlanDocument {
        let steps = ["(one)", "(two)"].map(str::to_owned).to_vec();
        PlanDocument { steps, cost: Some(cost), bound, ..PlanDocument::default() }
    }

    #[test]
    fn a_proof_about_costs_is_not_told_as_one_about_steps() {
        use MetricDirection::{Maximize, Minimize};
        for (cost, bound, optimal, metric, text) in [
            (2.0, Some(2.0), true, Some(Minimize), "cost 2; no plan is cheaper"),
            (2.0, Some(1.0), false, Some(Minimize), "cost 2; no plan is cheaper than 1"),
            (2.0, None, false, Some(Minimize), "cost 2; a cheaper plan is not ruled out"),
            (98.0, Some(98.0), true, Some(Maximize), "cost 98; no plan is better"),
            (98.0, Some(99.0), false, Some(Maximize), "cost 98; no plan is better than 99"),
            (2.0, Some(1.0), false, None, "2 steps; no plan is shorter than 1"),
        ] {
            assert_eq!(quality(&two_steps(cost, bound), optimal, metric), text);
        }
    }
}
