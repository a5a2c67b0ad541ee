//! `planforge pddl graph`: the states of a plan and those around it, as a figure (test-time-scaling paper, Fig. 6).

use crate::args::{MemoryArgs, positive_seconds};
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::pddl::draw::{GraphRequest, StateGraphReport, graph};
use std::path::{Path, PathBuf};

/// Draw the states of a plan with their neighbours, or those around the initial state.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl graph domain.pddl p01.pddl p01.plan --out p01.svg
  planforge pddl graph domain.pddl p01.pddl p01.plan --around 2 --max-states 80 --out p01.dot
  planforge pddl graph domain.pddl p01.pddl --depth 3 --json")]
pub(crate) struct GraphArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// The problem file.
    pub(crate) problem: PathBuf,
    /// The plan file; without it the states around the initial state are shown.
    pub(crate) plan: Option<PathBuf>,
    /// The file to write: .svg, .dot (Graphviz) or .json.
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    pub(crate) out: Option<PathBuf>,
    /// Without a plan: states up to this many actions away from the initial state (default: 2).
    #[arg(long, value_name = "D", conflicts_with = "plan", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) depth: Option<u32>,
    /// With a plan: states up to this many actions away from its states (default: 1).
    #[arg(long, value_name = "N", requires = "plan", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) around: Option<u32>,
    /// Most states; those of the plan are shown in any case, and what is left out is counted.
    #[arg(long, value_name = "M", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) max_states: u32,
    /// Give up after this many seconds.
    #[arg(long, value_name = "S", value_parser = positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Print the graph as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &GraphArgs) -> Exit {
    let request = GraphRequest {
        domain: args.domain.clone().into(),
        problem: args.problem.clone().into(),
        plan: args.plan.clone().map(Into::into),
        // Each belongs to one of the two forms of the command.
        distance: args.around.or(args.depth),
        max_states: args.max_states,
        out: args.out.clone(),
        limits: args.memory.with_seconds(args.time_limit),
    };
    context.show(graph(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
        } else if let Some(path) = &args.out {
            context.output.result(&format!("{}\n", summary(&result.graph, path)));
        }
        result.status()
    })
}

/// One line: what was drawn, and where it is.
fn summary(graph: &StateGraphReport, path: &Path) -> String {
    let goals = graph.states.iter().filter(|s| s.goal).count();
    let cut = match graph.left_out {
        0 => String::new(),
        // A plan with times is drawn without the states around it.
        n if graph.max_states == 0 => format!(", cut: {n} later states of the plan are not shown"),
        n => format!(", cut: {n} more actions lead to states that are not shown (--max-states)"),
    };
    format!(
        "{} states ({goals} where the goal holds) and {} actions in {}{cut}",
        graph.states.len(),
        graph.edges.len(),
        path.display()
    )
}
