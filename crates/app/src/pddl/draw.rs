//! Pictures of states, and the graph of the states around a plan (test-time-scaling paper, Fig. 6).

use super::steps::states_along;
use crate::context::Context;
use crate::error::Error;
use crate::events::Notice;
use crate::files::refuse_part_of_run;
use crate::inputs::{Findings, Inputs, Source};
use crate::limits::{RequestLimits, WorkLimits};
use crate::progress::WorkProgress;
use crate::status::{Status, of_stop};
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::render::escape;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_evaluate::state_graph::{dot, svg};
use planforge_pipeline::read_picture;
use planforge_planning::graph::{GraphOptions, StateGraph, state_graph};
use planforge_planning::task::{Atom, Symbols};
use planforge_planning::{
    GroundLimits, Phase, Poll, ResourceLimits, Simulator, StopReason, TraceStep, ValidationDecision,
    ValidationOptions, ValidationReport, Validator, ground, normalize, parse_plan,
};
pub use planforge_plugin_common::judging::reports::StateGraphReport;
use planforge_plugin_common::judging::reports::{StateGraphEdge, StateGraphPlan, StateGraphState};
pub use planforge_report::picture::{png, standalone};
pub use planforge_report::states::{PlanStates, PlanVerdict, StatePicture, StatesLimits};
use planforge_report::states::{PlanTexts, plan_states};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// States to draw: as a template draws them, or as the domain's types and predicates do.
#[derive(Debug, Clone)]
pub struct PictureRequest {
    /// The domain.
    pub domain: Source,
    /// The problem.
    pub problem: Source,
    /// The plan; without it the initial state is drawn.
    pub plan: Option<Source>,
    /// The template; without it `picture.toml` beside the domain's file, if there is one.
    pub template: Option<Source>,
    /// The .svg or .png file to write, for one state; or a folder, for every state.
    pub out: Option<PathBuf>,
    /// The state after so many steps, if one is to be written.
    pub step: Option<usize>,
    /// Most of everything that is kept and drawn.
    pub limits: StatesLimits,
    /// Limits on executing the plan.
    pub work: RequestLimits,
}

/// Limits of the pictures that a person looks at.
pub const PICTURE_LIMITS: StatesLimits =
    StatesLimits { steps: 10_000, atoms: 1_000_000, pictures: 10_000, picture_bytes: 512 << 20 };

/// The plan with its states and their pictures. Its JSON form is [`PlanStates`].
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct PictureResult {
    /// The states.
    pub states: PlanStates,
    /// Files that were written, if a place was named and anything is drawn.
    #[serde(skip)]
    pub written: Option<WrittenPictures>,
    /// Findings about the texts and the template, which were sent as an event too.
    #[serde(skip)]
    pub findings: Findings,
    /// The verdict about the plan.
    #[serde(skip)]
    pub status: Status,
}

/// Files of pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPictures {
    /// Number of states.
    pub states: usize,
    /// Names that are in none of the pictures, sorted.
    pub undrawn: Vec<String>,
    /// Things that are left out because there are too many.
    pub left_out: usize,
}

/// Draws states.
///
/// # Errors
/// Texts that cannot be used, a step that the plan does not reach, files that cannot be written.
pub fn picture(context: &Context, request: &PictureRequest) -> Result<PictureResult, Error> {
    let mut work = request.work.start(context);
    let PictureTexts { inputs, plan, template } = read(context, request);
    let read = inputs.status();
    let (Ok(template), Status::Good) = (template, read) else {
        let findings = inputs.into_findings();
        let status = if read == Status::Good { Status::Input } else { read };
        return Err(Error::findings(status, findings.diagnostics, findings.sources));
    };
    context.findings(&inputs.texts.diagnostics, &inputs.texts.sources);
    let states = execute(&inputs, plan.as_deref(), template.as_deref(), &request.limits, &mut work);
    let findings = inputs.into_findings();
    let drawn = !states.pictures.is_empty();
    if !drawn || plan.is_some() {
        states.findings.iter().for_each(|finding| context.note(Notice::Remark(escape(finding))));
    }
    let out = request.out.as_deref().filter(|_| drawn);
    let written = out.map(|out| write_pictures(context, request, out, &states)).transpose()?;
    let status = match (states.verdict, plan.is_some()) {
        (PlanVerdict::LimitReached, _) => states.stopped.map_or(Status::Undecided, of_stop),
        (PlanVerdict::Unsupported, _) => Status::Undecided,
        (PlanVerdict::Unreadable, _) | (PlanVerdict::Invalid, true) => Status::Negative,
        (PlanVerdict::Valid, _) | (PlanVerdict::Invalid, false) => Status::Good,
    };
    Ok(PictureResult { states, written, findings, status })
}

/// The plan with its states. Texts that cannot be used have the verdict `unreadable`, and a template that cannot be used draws nothing.
/// There are pictures if the request has a template or a step; no file is written.
pub fn states(context: &Context, request: &PictureRequest) -> (PlanStates, Findings) {
    let mut work = request.work.start(context);
    let PictureTexts { inputs, plan, template } = read(context, request);
    let template = template.unwrap_or_default();
    let limits = match template.is_some() || request.step.is_some() {
        true => request.limits,
        false => request.limits.without_pictures(),
    };
    let states = execute(&inputs, plan.as_deref(), template.as_deref(), &limits, &mut work);
    (states, inputs.into_findings())
}

/// The texts of a picture.
struct PictureTexts {
    inputs: Inputs,
    plan: Option<String>,
    /// `Err` if it cannot be used.
    template: Result<Option<String>, ()>,
}

fn read(context: &Context, request: &PictureRequest) -> PictureTexts {
    let mut inputs = Inputs::read(context, &request.domain, Some(&request.problem));
    let plan = request.plan.as_ref().map(|plan| inputs.load_plan(context, plan).1.unwrap_or_default());
    let template = template(context, &mut inputs, request);
    PictureTexts { inputs, plan, template }
}

fn execute(
    inputs: &Inputs,
    plan: Option<&str>,
    template: Option<&str>,
    limits: &StatesLimits,
    work: &mut WorkLimits,
) -> PlanStates {
    let texts = PlanTexts {
        domain: inputs.text(0),
        problem: inputs.text(1),
        plan: plan.unwrap_or_default(),
        picture: template,
        wording: None,
    };
    plan_states(texts, limits, work)
}

/// The template's text, held against the domain; none without a file. What is wrong is added to the inputs' diagnostics.
fn template(context: &Context, inputs: &mut Inputs, request: &PictureRequest) -> Result<Option<String>, ()> {
    let beside = || request.domain.beside(context, "picture.toml");
    let Some(template) = request.template.clone().or_else(beside) else { return Ok(None) };
    let (source, text) = inputs.load_text(context, &template);
    let text = text.ok_or(())?;
    let read = read_picture(&text, source, inputs.texts.domain.as_ref(), &mut inputs.texts.diagnostics);
    read.map(|_| Some(text)).ok_or(())
}

/// Writes one state into a file, or all into a folder.
fn write_pictures(
    context: &Context,
    request: &PictureRequest,
    out: &Path,
    states: &PlanStates,
) -> Result<WrittenPictures, Error> {
    let last = states.steps.len();
    let after = |step: usize| states.pictures.iter().rev().find(|picture| picture.step <= step);
    let one = has_extension(out, "svg") || has_extension(out, "png");
    let wanted: Vec<usize> = match (request.step, one) {
        (Some(step), _) if step > last => {
            let message =
                format!("the plan reaches the states after 0 to {last} steps, and --step is {step}");
            return Err(Error::usage(message, None));
        }
        (Some(step), _) => vec![step],
        (None, true) => vec![last],
        (None, false) => (0..=last).collect(),
    };
    if !one {
        std::fs::create_dir_all(context.path(out)).map_err(|error| unwritable(out, &error))?;
    }
    let digits = last.to_string().len().max(2);
    let mut undrawn: Vec<String> = Vec::new();
    let mut left_out = 0;
    for step in &wanted {
        let Some(picture) = after(*step) else { continue };
        let path = if one { out.to_owned() } else { out.join(format!("{step:0digits$}.svg")) };
        write_picture(context, &path, picture)?;
        undrawn.extend(picture.undrawn.iter().filter_map(|id| states.names.get(*id as usize)).cloned());
        left_out += picture.left_out;
    }
    undrawn.sort_unstable();
    undrawn.dedup();
    Ok(WrittenPictures { states: wanted.len(), undrawn, left_out })
}

fn write_picture(context: &Context, path: &Path, picture: &StatePicture) -> Result<(), Error> {
    let to = context.path(path);
    refuse_part_of_run(&to)?;
    let bytes = if has_extension(path, "png") {
        png(&picture.svg).map_err(|why| unwritable(path, &why))?
    } else {
        standalone(&picture.svg).into_bytes()
    };
    Ok(std::fs::write(to, bytes).map_err(|error| unwritable(path, &error))?)
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let message = format!("{} cannot be written: {error}", path.display());
    Failure::new(FailureClass::System, "cli.unwritable-file", message)
}

/// States to draw as a graph.
#[derive(Debug, Clone)]
pub struct GraphRequest {
    /// The domain.
    pub domain: Source,
    /// The problem.
    pub problem: Source,
    /// The plan; without it the states around the initial state are drawn.
    pub plan: Option<Source>,
    /// States up to this many actions away from those of the plan [default: 1], or from the initial state [default: 2].
    pub distance: Option<u32>,
    /// Most states; those of the plan count in any case.
    pub max_states: u32,
    /// The file to write: .svg, .dot (Graphviz) or .json.
    pub out: Option<PathBuf>,
    /// Limits on the work.
    pub limits: RequestLimits,
}

/// The graph. Its JSON form is the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct GraphResult {
    /// The graph.
    pub graph: StateGraphReport,
}

impl GraphResult {
    /// The graph as a picture.
    pub fn svg(&self) -> String {
        svg(&self.graph)
    }

    /// Negative if the plan is invalid.
    pub fn status(&self) -> Status {
        match self.graph.plan.as_ref().is_some_and(|plan| !plan.valid) {
            true => Status::Negative,
            false => Status::Good,
        }
    }
}

/// The file format.
#[derive(Clone, Copy)]
enum GraphForm {
    Svg,
    Dot,
    Json,
}

/// Finds the states of a plan and those around it.
///
/// # Errors
/// Texts that cannot be used, a limit, a file that cannot be written.
pub fn graph(context: &Context, request: &GraphRequest) -> Result<GraphResult, Error> {
    let form = match request.out.as_deref().map(form_of) {
        Some(None) => {
            return Err(Error::usage("the file name of --out does not end in .svg, .dot or .json", None));
        }
        found => found.flatten(),
    };
    let mut inputs = Inputs::read(context, &request.domain, Some(&request.problem));
    let plan = request.plan.as_ref().map(|plan| inputs.load_plan(context, plan));
    let mut limits = GraphLimits::new(context, &request.limits);
    let drawn = states_around(request, &mut inputs, plan, &mut limits);
    let stopped = limits.stopped;
    drop(limits);
    let findings = inputs.into_findings();
    let graph = match drawn {
        Ok(graph) => graph,
        Err(status) => {
            let error = Error::findings(status, findings.diagnostics, findings.sources);
            return Err(match stopped {
                Some(reason) => error.hint(format!("{reason} ended the work; nothing was drawn")),
                None => error,
            });
        }
    };
    context.findings(&findings.diagnostics, &findings.sources);
    if let (Some(path), Some(form)) = (&request.out, form) {
        write_graph(context, path, form, &graph)?;
    }
    Ok(GraphResult { graph })
}

fn form_of(path: &Path) -> Option<GraphForm> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "svg" => Some(GraphForm::Svg),
        "dot" | "gv" => Some(GraphForm::Dot),
        "json" => Some(GraphForm::Json),
        _ => None,
    }
}

/// Judges the plan, grounds the task and finds the states. What is wrong is added to the inputs' diagnostics.
fn states_around(
    request: &GraphRequest,
    inputs: &mut Inputs,
    plan: Option<(SourceId, Option<String>)>,
    limits: &mut GraphLimits,
) -> Result<StateGraphReport, Status> {
    let (Some(domain), Some(problem), Status::Good) =
        (&inputs.texts.domain, &inputs.texts.problem, inputs.status())
    else {
        return Err(inputs.status());
    };
    let lifted = match normalize(domain, problem) {
        Ok(lifted) => lifted,
        Err(found) => {
            inputs.texts.diagnostics.extend(found);
            return Err(Status::Negative);
        }
    };
    let validator = Validator::new(lifted);
    let empty = (SourceId(2), Some(String::new()));
    let (source, text) = plan.clone().unwrap_or(empty);
    let file = parse_plan(&text.unwrap_or_default(), source);
    if file.diagnostics.iter().any(Diagnostic::is_error) {
        inputs.texts.diagnostics.extend(file.diagnostics);
        return Err(Status::Negative);
    }
    let has_time = validator.task().extension.has_time();
    let options = ValidationOptions { time: has_time, ..ValidationOptions::default() };
    let report = validator.validate_with(&file, &options, limits);
    if let ValidationDecision::LimitReached(reason) = report.decision {
        return Err(limits.stop(reason));
    }
    if let ValidationDecision::Unsupported(_) = report.decision {
        inputs.texts.diagnostics.extend(report.diagnostics);
        return Err(Status::Undecided);
    }
    if plan.is_some() {
        inputs.texts.diagnostics.extend(report.diagnostics.iter().cloned());
    }
    if has_time {
        return graph_by_time(request, inputs, plan.map(|_| &report));
    }
    let task = ground(validator.task(), GroundLimits::default(), limits).map_err(|r| limits.stop(r))?;
    let steps: Vec<_> = report.trace.iter().map(|step| step.action.clone()).collect();
    let distance = request.distance.unwrap_or(if plan.is_some() { 1 } else { 2 });
    let options = GraphOptions { distance: distance as usize, max_states: request.max_states as usize };
    let simulator = Simulator::new(Arc::new(task));
    let graph = state_graph(&simulator, &steps, &options, limits).map_err(|r| limits.stop(r))?;
    let mut drawn = document(&graph, &simulator.task().symbols);
    (drawn.distance, drawn.max_states) = (distance, request.max_states);
    drawn.plan = plan.map(|_| of_plan(&report));
    Ok(drawn)
}

/// The states of a plan of a task with times: one after each start and end of a step and after the timed literals of each moment.
fn graph_by_time(
    request: &GraphRequest,
    inputs: &mut Inputs,
    report: Option<&ValidationReport>,
) -> Result<StateGraphReport, Status> {
    let mut refuse = |message: &str| {
        let finding = Diagnostic::warning("planning.unsupported", message)
            .help("give a plan, for example of `planforge pddl plan`, and leave out --around and --depth");
        inputs.texts.diagnostics.push(finding);
        Err(Status::Undecided)
    };
    let Some(report) = report else {
        return refuse("the states of a task with times are drawn along a plan only");
    };
    if request.distance.is_some_and(|distance| distance > 0) {
        return refuse("the states around a plan with times are not drawn");
    }
    let (states, left_out) = states_along(inputs, report);
    // Facts that nothing changes are left out.
    let changes = states.iter().flat_map(|state| state.added.iter().chain(&state.removed));
    let changed: BTreeSet<&String> = changes.collect();
    let last = states.len() - 1;
    // Between the first and the last state, steps overlap.
    let is_end = |step: &&TraceStep| step.moment.as_ref().is_none_or(|(_, phase)| *phase != Phase::Start);
    let executed = report.trace.iter().filter(is_end).count();
    let mut ends = vec![(0, 0)];
    if left_out == 0 && last > 0 {
        ends.push((last, executed));
    }
    let mut drawn = StateGraphReport { left_out: number(left_out), ..StateGraphReport::default() };
    for (at, state) in states.iter().enumerate() {
        drawn.states.push(StateGraphState {
            after_steps: ends.iter().filter(|end| end.0 == at).map(|end| number(end.1)).collect(),
            goal: at == last && left_out == 0 && report.is_valid(),
            from: at.checked_sub(1).map(number),
            added: state.added.clone(),
            deleted: state.removed.clone(),
            atoms: state.facts.iter().filter(|fact| changed.contains(fact)).cloned().collect(),
            ..StateGraphState::default()
        });
        let Some(from) = at.checked_sub(1) else { continue };
        let time = state.time.unwrap_or_default();
        let action = match (&state.step, state.part) {
            (Some(step), Some(part)) => format!("{time}: {part} of {step}"),
            (Some(step), None) => format!("{time}: {step}"),
            (None, _) => format!("{time}: timed literals"),
        };
        let (from, to, steps) = (number(from), number(at), state.number.map(number).into_iter().collect());
        drawn.edges.push(StateGraphEdge { from, to, action, steps });
    }
    drawn.plan = Some(StateGraphPlan { executed: number(executed), ..of_plan(report) });
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

fn write_graph(
    context: &Context,
    path: &Path,
    form: GraphForm,
    graph: &StateGraphReport,
) -> Result<(), Failure> {
    let text = match form {
        GraphForm::Svg => svg(graph),
        GraphForm::Dot => dot(graph),
        GraphForm::Json => match serde_json::to_string_pretty(graph) {
            Ok(text) => text + "\n",
            Err(error) => {
                let message = format!("the graph cannot be written as JSON: {error}");
                return Err(Failure::new(FailureClass::System, "cli.unwritable-file", message));
            }
        },
    };
    let to = context.path(path);
    refuse_part_of_run(&to)?;
    std::fs::write(to, text).map_err(|error| unwritable(path, &error))
}

/// The limits of the work, which sends its progress.
struct GraphLimits {
    limits: WorkLimits,
    progress: WorkProgress,
    charges: u64,
    stopped: Option<StopReason>,
}

/// Charges between two events: an event costs more than a state.
const CHARGES_PER_EVENT: u64 = 1024;

impl GraphLimits {
    fn new(context: &Context, limits: &RequestLimits) -> Self {
        let progress = context.start_work("states", None);
        Self { limits: limits.start(context), progress, charges: 0, stopped: None }
    }

    fn stop(&mut self, reason: StopReason) -> Status {
        self.stopped = Some(reason);
        of_stop(reason)
    }
}

impl ResourceLimits for GraphLimits {
    fn poll(&mut self) -> Poll {
        self.limits.poll()
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        self.charges += 1;
        if self.charges.is_multiple_of(CHARGES_PER_EVENT) {
            self.progress.set(self.charges, None);
        }
        self.limits.charge(bytes)
    }
    fn release(&mut self, bytes: u64) {
        self.limits.release(bytes);
    }
}
