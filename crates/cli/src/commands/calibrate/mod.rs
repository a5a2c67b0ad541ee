//! `planforge calibrate`: verifiers against labelled mutants of reference domains.

mod critic;

use super::Context;
use crate::args::CalibrateArgs;
use crate::commands::study::{are_there, watched_by, write};
use crate::exit::Exit;
use crate::session::broke;
use critic::Critic;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::calibration::{
    Calibration, CalibrationSpec, MutantKind, judge_all, labelled_sample, mutants, references,
};
use planforge_evaluate::study::{StudySuite, load_suites};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Problems of a suite where none are named.
const PROBLEMS: usize = 2;

pub(crate) fn run(context: &Context, args: &CalibrateArgs) -> Exit {
    match calibrate(context, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn calibrate(context: &Context, args: &CalibrateArgs) -> Result<Exit, Exit> {
    let spec = spec(args);
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
    let judged = watched_by(context, args.jobs, |threads, watch| {
        let references = references(&suites, &spec, threads, watch)?;
        judge_all(&references, &made, &spec, threads, watch, &clock)
    })?;
    let chosen = labelled_sample(&judged, args.critic_mutants, spec.seed);
    let said = critic.as_ref().map(|critic| critic.ask(context, args, &made, &chosen)).transpose()?;
    let (others, asked): (Vec<_>, Vec<Exit>) =
        said.into_iter().map(|said| (said.judgements, said.exit)).unzip();
    let calibration = Calibration::new(&suites, &made, &judged, &others, &spec);
    let files = calibration.artefacts().map_err(|failure| broke(context, &failure))?;
    if args.json {
        context.output.json(&calibration);
    } else {
        context.output.result(&calibration.text());
    }
    if let Some(out) = &args.out {
        write(context, out, &files)?;
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
    Ok(asked.first().copied().unwrap_or(Exit::Good))
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

/// The suites with the problems that are wanted of them.
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
    if !are_there(context, "--only", &args.only, &suites) {
        return Err(Exit::Usage);
    }
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
