//! `planforge study`: experiments without a language model, over suites of PDDL files.

use super::Context;
use crate::args::{EwCorrelationArgs, OmissionsArgs, StudyArgs, StudyCommand, StudyFiles, StudyMetric};
use crate::exit::Exit;
use crate::progress::StudyBar;
use crate::session::{broke, interrupt_flag};
use planforge_contract::{Failure, FailureClass};
use planforge_evaluate::study::ew_correlation::{CorrelationSpec, WalkMetric, ew_correlation};
use planforge_evaluate::study::omissions::{OmissionsSpec, omissions};
use planforge_evaluate::study::{Artefact, StudySuite, Watch, load_suites};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(context: &Context, args: &StudyArgs) -> Exit {
    let outcome = match &args.command {
        StudyCommand::Omissions(args) => run_omissions(context, args),
        StudyCommand::EwCorrelation(args) => run_correlation(context, args),
        StudyCommand::Search(args) => super::study_search::run(context, args),
        StudyCommand::Scaling(args) => super::study_scaling::run(context, args),
    };
    match outcome {
        Ok(()) => Exit::Good,
        Err(exit) => exit,
    }
}

fn run_omissions(context: &Context, args: &OmissionsArgs) -> Result<(), Exit> {
    let full = OmissionsSpec::default();
    let (draws, tasks) = if args.files.quick { (10, 2) } else { (full.draws, full.tasks) };
    let spec = OmissionsSpec {
        seed: args.files.seed,
        most: args.most.unwrap_or(full.most),
        draws: args.draws.unwrap_or(draws),
        tasks: args.tasks.unwrap_or(tasks),
        keep_one: !args.empty_lists,
        max_nodes: args.max_nodes.unwrap_or(full.max_nodes),
        max_instances: args.max_instances.unwrap_or(full.max_instances),
        max_bytes: full.max_bytes,
    };
    let study = studied(context, &args.files, &[], spec.tasks, |suites, threads, watch| {
        omissions(suites, &spec, threads, watch)
    })?;
    let files = study.artefacts().map_err(|failure| broke(context, &failure))?;
    if args.files.json {
        context.output.json(&study);
    } else {
        context.output.result(&study.table().text());
    }
    write(context, &args.files.out, &files)
}

fn run_correlation(context: &Context, args: &EwCorrelationArgs) -> Result<(), Exit> {
    let full = CorrelationSpec::default();
    let (pairs, tasks) = if args.files.quick { (10, 1) } else { (full.pairs, full.tasks) };
    let spec = CorrelationSpec {
        seed: args.files.seed,
        most: args.most.unwrap_or(full.most),
        pairs: args.pairs.unwrap_or(pairs),
        tasks: args.tasks.unwrap_or(tasks),
        metric: match args.metric {
            StudyMetric::ReferenceCode => WalkMetric::ReferenceCode,
            StudyMetric::Definition => WalkMetric::Definition,
        },
        max_instances: args.max_instances.unwrap_or(full.max_instances),
        ..full
    };
    let study = studied(context, &args.files, &args.shown, spec.tasks, |suites, threads, watch| {
        ew_correlation(suites, &spec, threads, watch)
    })?;
    let files = study.artefacts(&args.shown).map_err(|failure| broke(context, &failure))?;
    if args.files.json {
        context.output.json(&study);
    } else {
        context.output.result(&study.table().text());
    }
    write(context, &args.files.out, &files)
}

/// Reads the suites and runs a study over them.
fn studied<T>(
    context: &Context,
    files: &StudyFiles,
    shown: &[String],
    tasks: usize,
    study: impl FnOnce(&[StudySuite], usize, &Watch) -> Result<T, Failure>,
) -> Result<T, Exit> {
    let mut suites = load_suites(&files.suites, tasks).map_err(|(diagnostics, sources)| {
        context.output.diagnostics(&diagnostics, &sources);
        Exit::Input
    })?;
    let chosen = [("--only", files.only.as_slice()), ("--shown", shown)];
    if chosen.map(|(option, names)| are_there(context, option, names, &suites)) != [true, true] {
        return Err(Exit::Usage);
    }
    suites.retain(|suite| files.only.is_empty() || files.only.contains(&suite.name));
    watched(context, files, |threads, watch| study(&suites, threads, watch))
}

/// Runs a study with a bar, on all cores, until Ctrl-C.
pub(crate) fn watched<T>(
    context: &Context,
    files: &StudyFiles,
    study: impl FnOnce(usize, &Watch) -> Result<T, Failure>,
) -> Result<T, Exit> {
    watched_by(context, files.jobs, study)
}

/// [`watched`] on so many threads.
pub(crate) fn watched_by<T>(
    context: &Context,
    jobs: Option<u32>,
    study: impl FnOnce(usize, &Watch) -> Result<T, Failure>,
) -> Result<T, Exit> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = jobs.map_or(cores, |jobs| jobs as usize);
    let watch = Arc::new(Watch::new(interrupt_flag()));
    let bar = StudyBar::new(&context.output, Arc::clone(&watch));
    let ended = study(threads, &watch);
    bar.finish();
    ended.map_err(|failure| broke(context, &failure))
}

/// Whether all the names that an option gives are suites'; those that are not are printed.
pub(crate) fn are_there(context: &Context, option: &str, names: &[String], suites: &[StudySuite]) -> bool {
    let unknown: Vec<&String> = names.iter().filter(|n| suites.iter().all(|s| s.name != **n)).collect();
    for name in &unknown {
        context.output.note(&format!("error: {option}: there is no suite `{name}`"));
    }
    if !unknown.is_empty() {
        let known: Vec<&str> = suites.iter().map(|s| s.name.as_str()).collect();
        context.output.note(&format!("help: the suites are {}", known.join(", ")));
    }
    unknown.is_empty()
}

pub(crate) fn write(context: &Context, folder: &Path, files: &[Artefact]) -> Result<(), Exit> {
    let failed = |path: &Path, error: std::io::Error| {
        let message = format!("{} cannot be written: {error}", path.display());
        broke(context, &Failure::new(FailureClass::System, "record.io", message))
    };
    std::fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
    for file in files {
        let path = folder.join(&file.name);
        std::fs::write(&path, &file.contents).map_err(|e| failed(&path, e))?;
    }
    let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
    context.output.note(&format!("{} are in {}", names.join(", "), folder.display()));
    Ok(())
}
