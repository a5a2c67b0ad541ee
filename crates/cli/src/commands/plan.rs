//! `planforge plan`: the bundled classical planner on two files, behind the same plugin boundary that pipelines use.

use super::Context;
use crate::args::PlanArgs;
use crate::exit::{Exit, of_limit};
use crate::inputs::Inputs;
use crate::session::{broke, registry};
use planforge_contract::{
    CreateRequest, Failure, JsonObject, PlanDocument, PlanLimits, PlanOutcome, PlanReport, PlanRequest,
    ReportedDiagnostic,
};
use planforge_diagnostics::SourceId;
use planforge_diagnostics::render::escape;
use planforge_plugin_host::Instance;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The plugin that `planforge plan` asks.
const PLANNER: &str = "planner-classical";

pub(crate) fn run(context: &Context, args: &PlanArgs) -> Exit {
    let inputs = Inputs::read(&args.domain, Some(&args.problem));
    let exit = inputs.exit();
    if !args.json {
        context.output.diagnostics(&inputs.diagnostics, &inputs.sources);
    }
    let found: Vec<_> =
        inputs.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &inputs.sources)).collect();
    if exit != Exit::Good {
        if args.json {
            context.output.json(&report(PlanOutcome::Unreadable { diagnostics: found }, Vec::new()));
        }
        return exit;
    }
    match ask(context, args, &inputs) {
        Ok(outcome) => {
            let exit = exit_of(&outcome);
            if args.json {
                context.output.json(&report(outcome, found));
            } else {
                print(context, &outcome);
            }
            exit
        }
        Err(exit) => exit,
    }
}

/// Asks about the very texts that were checked.
fn ask(context: &Context, args: &PlanArgs, inputs: &Inputs) -> Result<PlanOutcome, Exit> {
    let text = |id| inputs.sources.get(SourceId(id)).map(|file| file.text.clone()).ok_or(Exit::Input);
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
            return Err(broke(
                context,
                &Failure::new(planforge_contract::FailureClass::Plugin, "plugin.kind", message),
            ));
        }
        Err(failure) => return Err(broke(context, &failure)),
    };
    let host = PlanHost::new(context, args.time_limit);
    let outcome = planner.plan(&host, &request);
    host.bar.finish_and_clear();
    outcome.map_err(|failure| broke(context, &failure))
}

/// What the planner is told beside the request.
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

/// What the planner may ask of the command line: progress, interruption, time.
struct PlanHost {
    bar: indicatif::ProgressBar,
    interrupted: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

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
            interrupted: crate::session::interrupt_flag(),
            deadline: seconds.and_then(|s| Instant::now().checked_add(Duration::from_secs_f64(s))),
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

/// A blank line stands between two plans.
fn print_plans(context: &Context, plans: &[PlanDocument]) {
    if !plans.is_empty() {
        let texts: Vec<String> = plans.iter().map(PlanDocument::to_ipc).collect();
        context.output.result(&texts.join("\n"));
    }
}

fn report(outcome: PlanOutcome, mut found: Vec<ReportedDiagnostic>) -> PlanReport {
    let name = outcome.name().to_owned();
    let mut report = PlanReport {
        outcome: name,
        plans: Vec::new(),
        explanation: Vec::new(),
        diagnostics: Vec::new(),
        optimal: false,
        statistics: Default::default(),
    };
    match outcome {
        PlanOutcome::Plan { plans, optimal, statistics } => {
            report.plans = plans;
            report.optimal = optimal;
            report.statistics = statistics;
        }
        PlanOutcome::ProvenUnsolvable { explanation, statistics }
        | PlanOutcome::Exhausted { explanation, statistics } => {
            report.explanation = explanation;
            report.statistics = statistics;
        }
        PlanOutcome::LimitReached { message, plans, statistics, .. } => {
            report.explanation = vec![message];
            report.plans = plans;
            report.statistics = statistics;
        }
        PlanOutcome::Unsupported { diagnostics } | PlanOutcome::Unreadable { diagnostics } => {
            found.extend(diagnostics);
        }
    }
    report.diagnostics = found;
    report
}
