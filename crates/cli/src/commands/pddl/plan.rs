//! `planforge pddl plan`: the bundled classical planner on two files, over the same plugin boundary as in
//! pipelines.

use crate::args::at_least_one;
use crate::args::positive_seconds;
use crate::catalogue::registry;
use crate::context::Context;
use crate::exit::{Exit, of_limit};
use crate::inputs::Inputs;
use crate::interrupt::interrupt_flag;
use clap::Args;
use planforge_contract::{
    CreateRequest, Failure, FailureClass, JsonObject, PlanDocument, PlanLimits, PlanOutcome, PlanRequest,
    ReportedDiagnostic,
};
use planforge_diagnostics::SourceId;
use planforge_diagnostics::render::escape;
use planforge_plugin_common::judging::limit_outcome;
use planforge_plugin_common::judging::reports::PlanReport;
use planforge_plugin_host::Instance;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Find a plan and print it in IPC form.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl plan domain.pddl p01.pddl > p01.plan
  planforge pddl plan domain.pddl p01.pddl --optimal --time-limit 60 --json
  planforge pddl plan domain.pddl p01.pddl --top-k 10 --json
  planforge pddl plan domain.pddl p01.pddl --top-k 1000 --quality 1.2")]
pub(crate) struct PlanArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// The problem file.
    pub(crate) problem: PathBuf,
    /// Find a cheapest plan and prove it (A* with LM-cut).
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
    /// Give up after this many seconds.
    #[arg(long, value_name = "S", value_parser = positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Give up at this many megabytes.
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    pub(crate) memory_limit: u64,
    /// Give up at this many search nodes: a limit that is the same on every machine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_nodes: Option<u64>,
    /// Print one JSON object instead of the plan.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The plugin behind the command.
const PLANNER: &str = "planner-classical";

pub(crate) fn run(context: &Context, args: &PlanArgs) -> Exit {
    let inputs = Inputs::read(&args.domain, Some(&args.problem));
    let exit = inputs.exit();
    if !args.json {
        context.output.diagnostics(&inputs.texts.diagnostics, &inputs.texts.sources);
    }
    let found: Vec<_> =
        inputs.texts.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &inputs.texts.sources)).collect();
    if exit != Exit::Good {
        if args.json {
            context.output.json(&PlanReport::new(PlanOutcome::Unreadable { diagnostics: found }, Vec::new()));
        }
        return exit;
    }
    match call_planner(context, args, &inputs) {
        Ok(outcome) => {
            let exit = exit_of(&outcome);
            if args.json {
                context.output.json(&PlanReport::new(outcome, found));
            } else {
                print(context, &outcome);
            }
            exit
        }
        Err(exit) => exit,
    }
}

/// Calls the planner with the texts that were checked.
fn call_planner(context: &Context, args: &PlanArgs, inputs: &Inputs) -> Result<PlanOutcome, Exit> {
    let text = |id| inputs.texts.sources.get(SourceId(id)).map(|file| file.text.clone()).ok_or(Exit::Input);
    let request = PlanRequest {
        domain: text(0)?,
        problem: text(1)?,
        limits: PlanLimits {
            time_ms: args.time_limit.map(|s| (s * 1000.0).ceil() as u64),
            memory_bytes: Some(args.memory_limit.saturating_mul(1 << 20)),
            nodes: args.max_nodes,
        },
        k: args.top_k.unwrap_or(1),
        ..PlanRequest::default()
    };
    let options = options(args);
    let registry = registry(context);
    let created = registry.create(PLANNER, CreateRequest { options, ..CreateRequest::default() });
    let planner = match created {
        Ok(Instance::Planner(planner)) => planner,
        Ok(_) => {
            let message = format!("`{PLANNER}` on the search path is not a planner");
            return Err(context.print_failure(&Failure::new(FailureClass::Plugin, "plugin.kind", message)));
        }
        Err(failure) => return Err(context.print_failure(&failure)),
    };
    let host = PlanHost::new(context, args.time_limit);
    let outcome = planner.plan(&host, &request);
    host.bar.finish_and_clear();
    outcome.or_else(|failure| limit_outcome(failure).map_err(|failure| context.print_failure(&failure)))
}

/// The options of the planner.
fn options(args: &PlanArgs) -> JsonObject {
    let search = match args.top_k {
        Some(_) => "top-k",
        None if args.optimal => "astar",
        None => "greedy",
    };
    let mut options = JsonObject::from_iter([("search".to_owned(), search.into())]);
    if let Some(quality) = args.quality {
        options.insert("quality".to_owned(), quality.into());
    }
    if let Some(semantics) = &args.semantics {
        options.insert("semantics".to_owned(), semantics.as_str().into());
    }
    options
}

/// The planner's host: progress, interruption, time.
struct PlanHost {
    bar: indicatif::ProgressBar,
    interrupted: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

/// Time that the planner gets to answer after its own limit, also on a busy machine.
const HOST_MARGIN: Duration = Duration::from_secs(10);

impl PlanHost {
    fn new(context: &Context, seconds: Option<f64>) -> Self {
        let target = if context.output.terminal {
            indicatif::ProgressDrawTarget::stderr()
        } else {
            indicatif::ProgressDrawTarget::hidden()
        };
        let bar = indicatif::ProgressBar::with_draw_target(None, target);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            bar,
            interrupted: interrupt_flag(),
            deadline: seconds
                .and_then(|s| Instant::now().checked_add(Duration::from_secs_f64(s) + HOST_MARGIN)),
        }
    }
}

impl planforge_contract::api::Host for PlanHost {
    fn log(&self, _level: planforge_contract::api::LogLevel, message: &str) {
        self.bar.set_message(escape(message));
    }
    fn progress(&self, done: u64, _total: u64, what: &str) {
        self.bar.set_message(format!("{}: {done}", escape(what)));
    }
    fn cancelled(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
    fn remaining_ms(&self) -> Option<u64> {
        self.deadline.map(|d| d.saturating_duration_since(Instant::now()).as_millis() as u64)
    }
}

fn exit_of(outcome: &PlanOutcome) -> Exit {
    match outcome {
        PlanOutcome::Plan { .. } => Exit::Good,
        PlanOutcome::ProvenUnsolvable { .. } | PlanOutcome::Unreadable { .. } => Exit::Negative,
        PlanOutcome::Exhausted { .. } => Exit::Exhausted,
        PlanOutcome::LimitReached { limit, .. } => of_limit(*limit),
        PlanOutcome::Unsupported { .. } => Exit::Undecided,
    }
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

/// Separates plans by a blank line.
fn print_plans(context: &Context, plans: &[PlanDocument]) {
    if !plans.is_empty() {
        let texts: Vec<String> = plans.iter().map(PlanDocument::to_ipc).collect();
        context.output.result(&texts.join("\n"));
    }
}
