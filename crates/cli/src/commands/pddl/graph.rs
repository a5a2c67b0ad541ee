//! `planforge pddl graph`: the states of a plan and those around it, as a figure (test-time-scaling paper, Fig. 6).

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::{Exit, of_stop};
use crate::files::refuse_part_of_run;
use crate::inputs::Inputs;
use crate::limits::WorkLimits;
use clap::Args;
use indicatif::ProgressBar;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::Diagnostic;
use planforge_evaluate::state_graph::{dot, svg};
use planforge_planning::graph::{GraphOptions, StateGraph, state_graph};
use planforge_planning::task::{Atom, Symbols};
use planforge_planning::{
    GroundLimits, Poll, ResourceLimits, Simulator, StopReason, ValidationDecision, ValidationReport,
    Validator, ground, normalize, parse_plan,
};
use planforge_plugin_common::judging::reports::{
    StateGraphEdge, StateGraphPlan, StateGraphReport, StateGraphState,
};
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// Print the graph as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The file format.
#[derive(Clone, Copy)]
enum Form {
    Svg,
    Dot,
    Json,
}

pub(crate) fn run(context: &Context, args: &GraphArgs) -> Exit {
    let form = match args.out.as_deref().map(form_of) {
        Some(None) => {
            let message = "the file name of --out does not end in .svg, .dot or .json";
            return context.usage_error(message, None);
        }
        found => found.flatten(),
    };
    let mut inputs = Inputs::read(&args.domain, Some(&args.problem));
    let plan = args.plan.as_deref().map(|path| inputs.load_plan(path));
    let mut watch = GraphLimits::new(context, args.time_limit);
    let drawn = draw(args, &mut inputs, plan, &mut watch);
    watch.bar.finish_and_clear();
    context.output.diagnostics(&inputs.texts.diagnostics, &inputs.texts.sources);
    let graph = match drawn {
        Ok(graph) => graph,
        Err(exit) => {
            if let Some(reason) = watch.stopped {
                context.output.note(&format!("{reason} ended the work; nothing was drawn"));
            }
            return exit;
        }
    };
    if let (Some(path), Some(form)) = (&args.out, form)
        && let Err(exit) = write(context, path, form, &graph)
    {
        return exit;
    }
    if args.json {
        context.output.json(&graph);
    } else if let Some(path) = &args.out {
        context.output.result(&format!("{}\n", summary(&graph, path)));
    }
    match graph.plan.as_ref().is_some_and(|plan| !plan.valid) {
        true => Exit::Negative,
        false => Exit::Good,
    }
}

fn form_of(path: &Path) -> Option<Form> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "svg" => Some(Form::Svg),
        "dot" | "gv" => Some(Form::Dot),
        "json" => Some(Form::Json),
        _ => None,
    }
}

/// Judges the plan, grounds the task and finds the states. What is wrong is added to the inputs' diagnostics.
fn draw(
    args: &GraphArgs,
    inputs: &mut Inputs,
    plan: Option<(planforge_diagnostics::SourceId, Option<String>)>,
    watch: &mut GraphLimits,
) -> Result<StateGraphReport, Exit> {
    let (Some(domain), Some(problem), Exit::Good) =
        (&inputs.texts.domain, &inputs.texts.problem, inputs.exit())
    else {
        return Err(inputs.exit());
    };
    let lifted = match normalize(domain, problem) {
        Ok(lifted) => lifted,
        Err(found) => {
            inputs.texts.diagnostics.extend(found);
            return Err(Exit::Negative);
        }
    };
    let validator = Validator::new(lifted);
    let empty = (planforge_diagnostics::SourceId(2), Some(String::new()));
    let (source, text) = plan.clone().unwrap_or(empty);
    let file = parse_plan(&text.unwrap_or_default(), source);
    if file.diagnostics.iter().any(Diagnostic::is_error) {
        inputs.texts.diagnostics.extend(file.diagnostics);
        return Err(Exit::Negative);
    }
    let report = validator.validate_within(&file, watch);
    if let ValidationDecision::LimitReached(reason) = report.decision {
        return Err(watch.stop(reason));
    }
    if let ValidationDecision::Unsupported(_) = report.decision {
        inputs.texts.diagnostics.extend(report.diagnostics);
        return Err(Exit::Undecided);
    }
    if plan.is_some() {
        inputs.texts.diagnostics.extend(report.diagnostics.iter().cloned());
    }
    let task = ground(validator.task(), GroundLimits::default(), watch).map_err(|r| watch.stop(r))?;
    let steps: Vec<_> = report.trace.iter().map(|step| step.action.clone()).collect();
    let distance = match plan {
        Some(_) => args.around.unwrap_or(1),
        None => args.depth.unwrap_or(2),
    };
    let options = GraphOptions { distance: distance as usize, max_states: args.max_states as usize };
    let simulator = Simulator::new(Arc::new(task));
    let graph = state_graph(&simulator, &steps, &options, watch).map_err(|r| watch.stop(r))?;
    let mut drawn = document(&graph, &simulator.task().symbols);
    (drawn.distance, drawn.max_states) = (distance, args.max_states);
    drawn.plan = plan.map(|_| of_plan(&report));
    Ok(drawn)
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn of_plan(report: &ValidationReport) -> StateGraphPlan {
    let failing = report.failing_step.as_ref().map(|f| {
        let why: Vec<&str> = f.conditions.iter().map(|c| c.why.as_str()).collect();
        let why = if why.is_empty() { String::new() } else { format!(": {}", why.join("; ")) };
        format!("step {} {} is not applicable{why}", f.index + 1, f.text)
    });
    StateGraphPlan {
        steps: number(report.steps),
        executed: number(report.trace.len()),
        valid: report.is_valid(),
        failing_step: failing.unwrap_or_default(),
    }
}

fn document(graph: &StateGraph, symbols: &Symbols) -> StateGraphReport {
    let texts = |atoms: &[Atom]| -> Vec<String> { atoms.iter().map(|a| symbols.atom(a)).collect() };
    let numbers = |list: &[usize]| -> Vec<u32> { list.iter().map(|&n| number(n)).collect() };
    let states = graph.states.iter().map(|state| StateGraphState {
        after_steps: numbers(&state.after_steps),
        distance: number(state.distance),
        goal: state.goal,
        from: state.from.map(number),
        added: texts(&state.added),
        deleted: texts(&state.deleted),
        atoms: texts(&state.atoms),
        left_out: number(state.left_out),
    });
    let edges = graph.edges.iter().map(|edge| StateGraphEdge {
        from: number(edge.from),
        to: number(edge.to),
        action: symbols.step(&edge.action),
        steps: numbers(&edge.steps),
    });
    StateGraphReport {
        states: states.collect(),
        edges: edges.collect(),
        left_out: number(graph.left_out()),
        ..StateGraphReport::default()
    }
}

fn write(context: &Context, path: &Path, form: Form, graph: &StateGraphReport) -> Result<(), Exit> {
    let text = match form {
        Form::Svg => svg(graph),
        Form::Dot => dot(graph),
        Form::Json => match serde_json::to_string_pretty(graph) {
            Ok(text) => text + "\n",
            Err(error) => {
                let message = format!("the graph cannot be written as JSON: {error}");
                return Err(context.print_failure(&Failure::new(
                    FailureClass::System,
                    "cli.unwritable-file",
                    message,
                )));
            }
        },
    };
    refuse_part_of_run(path).map_err(|failure| context.print_failure(&failure))?;
    std::fs::write(path, text).map_err(|error| {
        let message = format!("{} cannot be written: {error}", path.display());
        context.print_failure(&Failure::new(FailureClass::System, "cli.unwritable-file", message))
    })
}

/// One line: what was drawn, and where it is.
fn summary(graph: &StateGraphReport, path: &Path) -> String {
    let goals = graph.states.iter().filter(|s| s.goal).count();
    let cut = match graph.left_out {
        0 => String::new(),
        n => format!(", cut: {n} more actions lead to states that are not shown (--max-states)"),
    };
    format!(
        "{} states ({goals} where the goal holds) and {} actions in {}{cut}",
        graph.states.len(),
        graph.edges.len(),
        path.display()
    )
}

/// The limits of the work, with a spinner on a terminal.
struct GraphLimits {
    limits: WorkLimits,
    bar: ProgressBar,
    stopped: Option<StopReason>,
}

impl GraphLimits {
    fn new(context: &Context, seconds: Option<f64>) -> Self {
        let bar = crate::progress::counting(&context.output, 0, "states");
        Self { limits: WorkLimits::new(seconds), bar, stopped: None }
    }

    fn stop(&mut self, reason: StopReason) -> Exit {
        self.stopped = Some(reason);
        of_stop(reason)
    }
}

impl ResourceLimits for GraphLimits {
    fn poll(&mut self) -> Poll {
        self.limits.poll()
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        self.bar.inc(1);
        self.limits.charge(bytes)
    }
}
