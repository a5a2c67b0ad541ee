//! `planforge study calibrate`: verifiers against labelled mutants of reference domains.

mod critic;

use super::{check_suite_names, run_on_threads, write_artefacts};
use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use critic::Critic;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::calibration::{
    Calibration, CalibrationSpec, MutantKind, judge_all, labelled_sample, mutants, references,
};
use planforge_evaluate::study::{StudySuite, load_suites};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Measure how often verifiers accept a wrong domain or reject a right one, on mutants.
///
/// Every mutant of a reference domain or problem has one change: a mistake of a stated kind, or a rewrite with the same
/// meaning. Its label comes from the exact comparison with the reference on stated problems, not from the way
/// it was made.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge study calibrate --suites examples/suites/* --mutants 1000 --out calibration
  planforge study calibrate --suites examples/suites/* --kinds wrong-goal,wrong-init
  planforge study calibrate --suites examples/suites/blocks --problems p01,p02 --kinds omission,negation --walks 10,100 --json
  planforge study calibrate --suites examples/suites/* --critic examples/studies/calibration/critic.toml \\
    --critic-mutants 60 --record cassettes --set llm.critic.base_url=http://127.0.0.1:8081/v1

Exits with 0 where every mutant was judged, with 10 where a rewrite that must mean the same was found to be different, which is
a fault of planforge.")]
pub(crate) struct CalibrateArgs {
    /// Suites: folders with domain.pddl and problems, or folders of such folders. Suites without a domain are
    /// skipped.
    #[arg(long, value_name = "DIR", num_args = 1.., required = true)]
    pub(crate) suites: Vec<PathBuf>,
    /// Only the suites of these names.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// The problems of every suite that labels and verifiers rest on [default: the first two of each].
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    pub(crate) problems: Vec<String>,
    /// Mutants over all suites together.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = positive)]
    pub(crate) mutants: usize,
    /// Kinds of mistakes and rewrites, such as `omission` or `double-negation`, and mistakes of problems, `wrong-goal` and
    /// `wrong-init`; a wrong name lists them [default: all of domains].
    #[arg(long, value_name = "KIND", num_args = 1.., value_delimiter = ',')]
    pub(crate) kinds: Vec<MutantKind>,
    /// Budgets of the walk verifiers: walks of each problem and direction [default: 10 100 1000].
    #[arg(long, value_name = "N", num_args = 1.., value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) walks: Vec<u32>,
    /// Length of the sequences of actions that the bounded exact comparison covers [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
    /// Plans of each problem that heuristic domain equivalence compares [default: 10].
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(crate) hde_plans: Option<usize>,
    /// Limit: pairs of states of the comparison behind the labels, on each problem [default: 500000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    pub(crate) max_states: Option<u64>,
    /// Limit: search nodes of a planner, of top-k planning too [default: 200000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_nodes: Option<u64>,
    /// Limit: ground instances of a model, and as many atoms [default: 100000].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) max_instances: Option<usize>,
    /// The seed of all random choices.
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Threads; all cores where it is not given. It changes times and nothing else.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// A pipeline that judges the domain it is given, such as examples/studies/calibration/critic.toml: one
    /// more verifier, called for some of the mutants.
    #[arg(long, value_name = "PIPELINE")]
    pub(crate) critic: Option<PathBuf>,
    /// Mutants for the critic: as many equal as different ones, if there are enough.
    #[arg(long, value_name = "N", default_value_t = 60, requires = "critic", value_parser = positive)]
    pub(crate) critic_mutants: usize,
    /// Mutants judged by the critic in parallel.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "critic", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) critic_jobs: u32,
    /// Override a key of the critic's pipeline file, as in `planforge run`.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "critic")]
    pub(crate) overrides: Vec<String>,
    /// Write the critic's replies into a cassette `PIPELINE.jsonl` in this folder; one that is there is completed.
    #[arg(long, value_name = "DIR", requires = "critic", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Take every reply to the critic from the cassette in this folder, written by --record and possibly
    /// compressed by gzip; send no request.
    #[arg(long, value_name = "DIR", requires = "critic")]
    pub(crate) replay: Option<PathBuf>,
    /// Folder for the files, and in `runs` for the critic's run folder: CSV by verifier, kind and mutant,
    /// Markdown, JSON and a figure.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the calibration as one JSON object instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Problems of a suite where none are named.
const PROBLEMS: usize = 2;

pub(crate) fn run(context: &Context, args: &CalibrateArgs) -> Exit {
    match calibrate(context, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn calibrate(context: &Context, args: &CalibrateArgs) -> Result<Exit, Exit> {
    let spec = spec(args);
    let of_problem = spec.kinds.iter().find(|kind| matches!(kind, MutantKind::Problem(_)));
    if let (Some(kind), Some(_)) = (of_problem, &args.critic) {
        let message = format!("a critic judges domains, and `{kind}` changes problems");
        let failure = Failure::new(FailureClass::Request, "calibrate.critic", message);
        context.print_failure(&failure.help("leave out --critic, or name other --kinds"));
        return Err(Exit::Usage);
    }
    let suites = suites(context, args)?;
    let critic = args.critic.as_ref().map(|path| Critic::new(context, args, path, &suites)).transpose()?;
    let made = mutants(&suites, &spec);
    if made.len() < args.mutants {
        context.output.note(&format!(
            "note: these suites have {} different mutants of these kinds, not {}",
            made.len(),
            args.mutants
        ));
    }
    let started = Instant::now();
    let clock = move || started.elapsed();
    let judged = run_on_threads(context, args.jobs, |threads, watch| {
        let references = references(&suites, &spec, threads, watch)?;
        judge_all(&references, &made, &spec, threads, watch, &clock)
    })?;
    let chosen = labelled_sample(&judged, args.critic_mutants, spec.seed);
    let asked = critic.as_ref().map(|critic| critic.ask(context, args, &made, &chosen)).transpose()?;
    let exit = asked.as_ref().map_or(Exit::Good, |result| result.exit);
    let others: Vec<_> = asked.into_iter().map(|result| result.judgements).collect();
    let calibration = Calibration::new(&suites, &made, &judged, &others, &spec);
    let files = calibration.artefacts().map_err(|failure| context.print_failure(&failure))?;
    if args.json {
        context.output.json(&calibration);
    } else {
        context.output.result(&calibration.text());
    }
    if let Some(out) = &args.out {
        write_artefacts(context, out, &files)?;
    }
    let broken = calibration.broken_rewrites();
    for mutant in &broken {
        context.output.note(&format!(
            "error: {}, mutant {}: a rewrite that must mean the same is different: {}",
            mutant.suite, mutant.number, mutant.change
        ));
    }
    if !broken.is_empty() {
        context.output.note("help: this is a fault of planforge; please report it with the domain");
        return Ok(Exit::Negative);
    }
    Ok(exit)
}

fn spec(args: &CalibrateArgs) -> CalibrationSpec {
    let full = CalibrationSpec::default();
    let or = |given: &[MutantKind], all: Vec<MutantKind>| if given.is_empty() { all } else { given.to_vec() };
    CalibrationSpec {
        seed: args.seed,
        mutants: args.mutants,
        kinds: or(&args.kinds, full.kinds),
        walks: if args.walks.is_empty() { full.walks } else { args.walks.clone() },
        depth: args.depth.unwrap_or(full.depth),
        hde_plans: args.hde_plans.unwrap_or(full.hde_plans),
        max_pairs: args.max_states.unwrap_or(full.max_pairs),
        max_nodes: args.max_nodes.unwrap_or(full.max_nodes),
        max_instances: args.max_instances.unwrap_or(full.max_instances),
        ..full
    }
}

/// The suites with the selected problems.
fn suites(context: &Context, args: &CalibrateArgs) -> Result<Vec<StudySuite>, Exit> {
    let (bare, paths): (Vec<&PathBuf>, Vec<&PathBuf>) =
        args.suites.iter().partition(|path| has_no_domain(path));
    for path in bare {
        context.output.note(&format!("note: {} has no domain.pddl and is passed over", path.display()));
    }
    let paths: Vec<PathBuf> = paths.into_iter().cloned().collect();
    let most = if args.problems.is_empty() { PROBLEMS } else { usize::MAX };
    let refused = |diagnostics: &[Diagnostic], sources: &SourceMap| {
        context.output.diagnostics(diagnostics, sources);
        Exit::Input
    };
    let mut suites = load_suites(&paths, most).map_err(|(found, sources)| refused(&found, &sources))?;
    let known: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    check_suite_names(context, "--only", &args.only, &known)?;
    suites.retain(|suite| args.only.is_empty() || args.only.contains(&suite.name));
    if suites.is_empty() {
        let missing = Diagnostic::error("study.no-suite", "there is no reference domain to make mutants of")
            .help("a suite is a folder with domain.pddl and problems beside it");
        return Err(refused(&[missing], &SourceMap::default()));
    }
    let mut missing = Vec::new();
    for suite in suites.iter_mut().filter(|_| !args.problems.is_empty()) {
        for name in args.problems.iter().filter(|name| suite.tasks.iter().all(|t| t.stem != **name)) {
            let known: Vec<&str> = suite.tasks.iter().map(|t| t.stem.as_str()).collect();
            let message = format!("{} has no problem `{name}`", suite.name);
            let help = format!("its problems are {}", known.join(", "));
            missing.push(Diagnostic::error("calibrate.problem", message).help(help));
        }
        suite.tasks.retain(|task| args.problems.contains(&task.stem));
    }
    match missing.is_empty() {
        true => Ok(suites),
        false => Err(refused(&missing, &SourceMap::default())),
    }
}

/// A suite whose environment is a program: it has nothing that mutants could be made of.
fn has_no_domain(path: &Path) -> bool {
    path.join("suite.toml").is_file() && !path.join("domain.pddl").is_file()
}
