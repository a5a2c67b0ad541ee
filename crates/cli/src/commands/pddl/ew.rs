//! `planforge pddl ew`: how alike two models of one task behave, by exploration walks. What `verifier-ew` measures in a pipeline,
//! measured here on files.

use crate::args::positive_seconds;
use crate::args::words;
use crate::context::Context;
use crate::exit::{Exit, of_stop};
use crate::inputs::Inputs;
use crate::limits::WorkLimits;
use crate::walk_comparison::{NoComparison, WalkComparison, compare_walks};
use clap::Args;
use planforge_contract::ReportedDiagnostic;
use planforge_diagnostics::render::escape;
use planforge_evaluate::{Align, Table};
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::equivalence::interface::{
    DomainWithProblems, Interface, NoInterface, match_interface,
};
use planforge_planning::walk::{Counterexample, Model, ModelError, NamedStep, WalkDirection};
use planforge_planning::{Poll, ResourceLimits, StopReason, ValidationDecision, Validator, parse_plan};
use planforge_plugin_common::judging::Semantics;
use planforge_plugin_common::judging::domains::interface;
use planforge_plugin_common::judging::reports::EwReport;
use planforge_verifier_ew::measure::{Measured, NoScore};
use planforge_verifier_ew::report::summary;
use planforge_verifier_ew::{DeadEnds, Form, Mode, Policy, Settings, WalkVerifierOptions};
use std::fmt::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

/// Compare two models of a task by exploration walks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl ew domain.pddl p01.pddl written.pddl written-p01.pddl
  planforge pddl ew domain.pddl p01.pddl written.pddl p01.pddl --also p02.pddl p02.pddl --json
  planforge pddl ew domain.pddl p01.pddl written.pddl p01.pddl --form reference-code --seed 42")]
pub(crate) struct EwArgs {
    /// The reference domain.
    #[arg(value_name = "DOMAIN")]
    pub(crate) domain: PathBuf,
    /// The reference problem.
    #[arg(value_name = "PROBLEM")]
    pub(crate) problem: PathBuf,
    /// The candidate's domain.
    #[arg(value_name = "DOMAIN2")]
    pub(crate) domain2: PathBuf,
    /// The candidate's problem.
    #[arg(value_name = "PROBLEM2")]
    pub(crate) problem2: PathBuf,
    /// Two more problems, the reference's and the candidate's. May be given several times: each direction is averaged over all
    /// problems first (Eq. 2).
    #[arg(long, num_args = 2, value_names = ["PROBLEM", "PROBLEM2"])]
    pub(crate) also: Vec<PathBuf>,
    /// Compute the score exactly, or fail if it does not fit the limits [default: exact if it fits, else
    /// sampled].
    #[arg(long, conflicts_with = "sampled")]
    pub(crate) exact: bool,
    /// Sample the score even where it could be computed.
    #[arg(long)]
    pub(crate) sampled: bool,
    /// Walks of each length and direction, where the score is sampled (default: 50, for the reference code 5).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) walks: Option<u32>,
    /// The longest walk.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) t_max: u32,
    /// The legal ground actions [default: those of the form].
    #[arg(long, value_name = "WHAT", value_parser = words::<Semantics>(&["strips", "ground-no-ops-dropped"]))]
    pub(crate) semantics: Option<Semantics>,
    /// The treatment of a walk that meets a dead end [default: that of the form].
    #[arg(long, value_name = "WHAT", value_parser = words::<DeadEnds>(&["condition", "truncate"]))]
    pub(crate) dead_ends: Option<DeadEnds>,
    /// The choice of steps.
    #[arg(long, value_name = "WHAT", default_value = "uniform", value_parser = words::<Policy>(&["uniform", "coverage-guided"]))]
    pub(crate) policy: Policy,
    /// The definition for options that are not given: the paper's Definition 1 and Eq. 2, or its code's.
    #[arg(long, value_name = "FORM", default_value = "definition", value_parser = words::<Form>(&["definition", "reference-code"]))]
    pub(crate) form: Form,
    /// Search a renaming of the candidate's actions, parameters and types, and walk in it under the reference's names.
    #[arg(long)]
    pub(crate) match_interface: bool,
    /// The seed of sampled walks.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Confidence of the interval around a sampled score.
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    pub(crate) confidence: f64,
    /// Limit: pairs of states of the exact computation [default: 50,000, with --exact two million].
    #[arg(long, value_name = "N")]
    pub(crate) exact_pairs: Option<usize>,
    /// Limit: megabytes of the exact computation [default: 48, with --exact 2048].
    #[arg(long, value_name = "MB")]
    pub(crate) exact_memory: Option<u64>,
    /// Give up after this many seconds.
    #[arg(long, value_name = "S", value_parser = positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Most choices that are tried for a renaming of actions.
const MAX_CHOICES: u64 = 1_000_000;

/// The reason why there is no score, and the exit code.
struct NotCompared {
    exit: Exit,
    message: String,
    diagnostics: Vec<ReportedDiagnostic>,
}

/// A comparison, and the renaming of the candidate's actions, if requested.
struct EwComparison {
    walks: WalkComparison,
    renaming: Option<Interface>,
}

pub(crate) fn run(context: &Context, args: &EwArgs) -> Exit {
    let settings = match settings(args) {
        Ok(settings) => settings,
        Err(failure) => {
            context.print_failure(&failure);
            return Exit::Usage;
        }
    };
    let mut budget = EwLimits::new(context, args.time_limit);
    let outcome = compare(context, args, &settings, &mut budget);
    budget.bar.finish_and_clear();
    match outcome {
        Ok((compared, pairs)) => {
            let exit = exit_of(&compared);
            if args.json {
                let mut report = compared.walks.report(&settings, args.seed);
                if let Some(renaming) = &compared.renaming {
                    report.details["interface"] = serde_json::json!(interface(renaming));
                }
                context.output.json(&report);
            } else {
                context.output.result(&text(&compared, &settings, &pairs, &mut budget));
            }
            exit
        }
        Err(not) => {
            if args.json {
                context.output.json(&undecided_report(&not, &settings));
            } else {
                context.output.note(&not.message);
            }
            not.exit
        }
    }
}

fn settings(args: &EwArgs) -> Result<Settings, planforge_contract::Failure> {
    let defaults = WalkVerifierOptions::default();
    WalkVerifierOptions {
        form: args.form,
        t_max: args.t_max,
        walks: args.walks,
        semantics: args.semantics,
        dead_ends: args.dead_ends,
        policy: args.policy,
        mode: match (args.exact, args.sampled) {
            (true, _) => Some(Mode::Exact),
            (_, true) => Some(Mode::Sampled),
            _ => None,
        },
        // Who asks for an exact score gets more room than an attempt at one.
        exact_pairs: args.exact_pairs.unwrap_or(if args.exact { 2_000_000 } else { defaults.exact_pairs }),
        exact_memory_mb: args.exact_memory.unwrap_or(if args.exact {
            2048
        } else {
            defaults.exact_memory_mb
        }),
        confidence: args.confidence,
        ..defaults
    }
    .settings()
}

type Pairs = Vec<(Model, Model)>;

fn compare(
    context: &Context,
    args: &EwArgs,
    settings: &Settings,
    budget: &mut EwLimits,
) -> Result<(EwComparison, Pairs), NotCompared> {
    let mut problems = vec![(args.problem.as_path(), args.problem2.as_path())];
    problems.extend(args.also.chunks_exact(2).map(|two| (two[0].as_path(), two[1].as_path())));
    let renamed = if args.match_interface { match_interfaces(args, &problems)? } else { None };
    let other = renamed.as_ref().map(|(domain, _)| domain);
    let mut pairs: Pairs = Vec::with_capacity(problems.len());
    for (problem, problem2) in problems {
        let reference = read_model(context, args, &args.domain, problem, settings, budget, None)?;
        let candidate = read_model(context, args, &args.domain2, problem2, settings, budget, Some(other))?;
        pairs.push((reference, candidate));
    }
    let borrowed: Vec<(&Model, &Model)> = pairs.iter().map(|(r, c)| (r, c)).collect();
    let walks = compare_walks(&borrowed, settings, args.seed, budget).map_err(|error| match error {
        NoComparison::Score(NoScore::Stopped(reason)) => limit_reached(reason, "the walks"),
        NoComparison::Search(reason) => limit_reached(reason, "the search"),
        NoComparison::Score(error @ NoScore::TooLarge(_)) => NotCompared {
            exit: Exit::NodeLimit,
            message: format!(
                "{error}; raise --exact-pairs or --exact-memory, or leave out --exact to sample"
            ),
            diagnostics: Vec::new(),
        },
    })?;
    Ok((EwComparison { walks, renaming: renamed.map(|r| r.1) }, pairs))
}

/// The candidate's domain under the reference's names. `None` if a text has errors, which are reported when
/// it is read for its model.
fn match_interfaces(
    args: &EwArgs,
    problems: &[(&Path, &Path)],
) -> Result<Option<(Domain, Interface)>, NotCompared> {
    let read: Vec<[Inputs; 2]> = problems
        .iter()
        .map(|(a, b)| [Inputs::read(&args.domain, Some(a)), Inputs::read(&args.domain2, Some(b))])
        .collect();
    if read.iter().flatten().any(|r| r.unreadable || r.has_errors()) {
        return Ok(None);
    }
    let of =
        |side: usize| read.iter().filter_map(|r| r[side].texts.problem.as_ref()).collect::<Vec<&Problem>>();
    let domains = read.first().and_then(|[a, b]| Some((a.texts.domain.as_ref()?, b.texts.domain.as_ref()?)));
    let Some((reference, candidate)) = domains else { return Ok(None) };
    let sides = DomainWithProblems { domain: reference, problems: &of(0) };
    let found =
        match_interface(sides, DomainWithProblems { domain: candidate, problems: &of(1) }, MAX_CHOICES);
    match found {
        Ok(found) => Ok(Some((found.rewrite(reference, candidate), found))),
        Err(not) => Err(NotCompared {
            exit: if matches!(not, NoInterface::Limit { .. }) { Exit::NodeLimit } else { Exit::Undecided },
            message: format!("not comparable: {not}"),
            diagnostics: Vec::new(),
        }),
    }
}

/// Lists the renamed actions.
fn renaming_text(found: &Interface) -> String {
    if found.is_identity() {
        return String::new();
    }
    let mut out = String::from("The candidate's actions were renamed:\n");
    for action in &found.actions {
        let places: Vec<String> = action.parameters.iter().map(|p| (p + 1).to_string()).collect();
        let _ = writeln!(
            out,
            "  {} was {}{}{}",
            escape(&action.reference),
            escape(&action.candidate),
            if places.is_empty() { "" } else { ", its parameters " },
            places.join(" ")
        );
    }
    out
}

/// Reads one side, prints its diagnostics, and builds its model. For the candidate (`Some`), the renamed
/// domain is used if there is one.
fn read_model(
    context: &Context,
    args: &EwArgs,
    domain: &Path,
    problem: &Path,
    settings: &Settings,
    budget: &mut EwLimits,
    candidate: Option<Option<&Domain>>,
) -> Result<Model, NotCompared> {
    let reference = candidate.is_none();
    let mut inputs = Inputs::read(domain, Some(problem));
    if let Some(Some(renamed)) = candidate {
        inputs.texts.domain = Some(renamed.clone());
    }
    let model = match (&inputs.texts.domain, &inputs.texts.problem, inputs.unreadable || inputs.has_errors())
    {
        (Some(domain), Some(problem), false) => {
            Some(Model::new(domain, problem, &settings.model_options(), budget))
        }
        _ => None,
    };
    if let Some(Err(ModelError::Invalid(found))) = &model {
        inputs.texts.diagnostics.extend(found.iter().cloned());
    }
    if !args.json && (inputs.has_errors() || inputs.unreadable) {
        context.output.diagnostics(&inputs.texts.diagnostics, &inputs.texts.sources);
    }
    let side = if reference { "reference" } else { "candidate" };
    let diagnostics = || {
        inputs.texts.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &inputs.texts.sources)).collect()
    };
    match model {
        Some(Ok(model)) => Ok(model),
        Some(Err(ModelError::Unsupported(constructs))) => Err(NotCompared {
            exit: Exit::Undecided,
            message: format!(
                "walks do not execute {}, which the {side} uses",
                constructs.iter().map(|c| c.what.as_str()).collect::<Vec<_>>().join(", ")
            ),
            diagnostics: diagnostics(),
        }),
        Some(Err(ModelError::Limit(reason))) => Err(limit_reached(reason, &format!("grounding the {side}"))),
        // What is wrong with the candidate is a verdict about it; a reference that is wrong is a wrong input.
        Some(Err(ModelError::Invalid(_))) | None => Err(NotCompared {
            exit: if reference || inputs.unreadable { Exit::Input } else { Exit::Negative },
            message: format!("the {side} cannot be used, so no walk was taken"),
            diagnostics: diagnostics(),
        }),
    }
}

fn limit_reached(reason: StopReason, what: &str) -> NotCompared {
    let exit = of_stop(reason);
    NotCompared { exit, message: format!("{reason} ended {what}"), diagnostics: Vec::new() }
}

fn exit_of(compared: &EwComparison) -> Exit {
    match compared.walks.measured.score.score {
        _ if compared.walks.measured.score.reference_undefined > 0 => Exit::Undecided,
        Some(1.0) if compared.walks.failing.is_none() => Exit::Good,
        _ => Exit::Negative,
    }
}

fn undecided_report(not: &NotCompared, settings: &Settings) -> EwReport {
    EwReport {
        score: None,
        reference_to_candidate: None,
        candidate_to_reference: None,
        interval: None,
        mode: if settings.mode == Mode::Exact { "exact" } else { "sampled" }.to_owned(),
        details: serde_json::json!({ "undecided": not.message, "diagnostics": not.diagnostics }),
    }
}

/// The score, both directions, renamed actions, the table of actions and the shortest failing walk.
fn text(
    compared: &EwComparison,
    settings: &Settings,
    pairs: &[(Model, Model)],
    budget: &mut EwLimits,
) -> String {
    let measured = &compared.walks.measured;
    let mut out = summary(measured, settings, compared.walks.failing.is_some(), compared.walks.proven);
    out.push('\n');
    out += &compared.renaming.as_ref().map(renaming_text).unwrap_or_default();
    let _ = write!(out, "\n{}", action_table(measured).text());
    if let Some((number, found)) = &compared.walks.failing
        && let Some((reference, candidate)) = pairs.get(*number)
    {
        let problem = (pairs.len() > 1).then_some(number + 1);
        failing_walk(found, reference, candidate, problem, budget, &mut out);
    }
    out
}

fn action_table(measured: &Measured) -> Table {
    let sides = [measured.actions(0), measured.actions(1)];
    let mut names: Vec<&str> = sides.iter().flatten().map(|a| a.name.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    let unit = if measured.exact { "expected steps, refused" } else { "steps, refused" };
    let directions = ["reference to candidate", "candidate to reference"]
        .map(|direction| (format!("{direction}: {unit}"), Align::Right));
    let mut table = Table::new([("action".to_owned(), Align::Left)].into_iter().chain(directions));
    for name in names {
        let cells = sides.iter().map(|side| match side.iter().find(|a| a.name == name) {
            None => "-".to_owned(),
            Some(a) if measured.exact => format!("{:.3}, {:.3}", a.tried, a.refused),
            Some(a) => format!("{}, {}", a.tried, a.refused),
        });
        table.row([name.to_owned()].into_iter().chain(cells));
    }
    table
}

/// The steps of the walk, the side that refuses the last one, and the violated conditions.
fn failing_walk(
    found: &Counterexample,
    reference: &Model,
    candidate: &Model,
    problem: Option<usize>,
    budget: &mut EwLimits,
    out: &mut String,
) {
    let (source, target, refuser) = match found.direction {
        WalkDirection::ReferenceToCandidate => ("reference", candidate, "candidate"),
        WalkDirection::CandidateToReference => ("candidate", reference, "reference"),
    };
    let which = if found.shortest { "The shortest failing walk" } else { "A failing walk" };
    let place = problem.map(|n| format!(" in problem {n}")).unwrap_or_default();
    let _ = writeln!(
        out,
        "\n{which}{place}: the {source} executes all of it, the {refuser} refuses the last step."
    );
    let steps: Vec<String> =
        found.walk.prefix.iter().chain([&found.walk.action]).map(NamedStep::to_string).collect();
    for (number, step) in (1..).zip(&steps) {
        let _ = writeln!(out, "  {number}. {step}");
    }
    let _ = writeln!(out, "  In the {refuser}, {}.", found.walk.refusal);
    let validator = Validator::new(target.lifted().clone());
    let plan = parse_plan(&steps.join("\n"), planforge_diagnostics::SourceId(2));
    let report = validator.validate_within(&plan, budget);
    for condition in report.failing_step.iter().flat_map(|f| &f.conditions) {
        let _ = writeln!(out, "  It needs {}. Instead {}.", condition.remedy, condition.why);
    }
    if let ValidationDecision::LimitReached(reason) = report.decision {
        let _ = writeln!(out, "  {reason} ended the search for the conditions that do not hold.");
    }
}

/// The command line's limits: time, and the person's interruption. Shows that something is being done.
struct EwLimits {
    bar: indicatif::ProgressBar,
    limits: WorkLimits,
}

impl EwLimits {
    fn new(context: &Context, seconds: Option<f64>) -> Self {
        let target = if context.output.terminal {
            indicatif::ProgressDrawTarget::stderr()
        } else {
            indicatif::ProgressDrawTarget::hidden()
        };
        let bar = indicatif::ProgressBar::with_draw_target(None, target).with_message("walking");
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, limits: WorkLimits::new(seconds) }
    }
}

impl ResourceLimits for EwLimits {
    fn poll(&mut self) -> Poll {
        self.limits.poll()
    }

    fn charge(&mut self, bytes: u64) -> Poll {
        self.limits.charge(bytes)
    }
}
