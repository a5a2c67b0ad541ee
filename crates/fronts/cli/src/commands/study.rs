//! `planforge study`: experiments without a language model, over suites of PDDL files.

mod calibrate;
mod ew_correlation;
mod omissions;
mod scaling;
mod search;
mod strategy;

use crate::context::Context;
use crate::exit::Exit;
use crate::interrupt::interrupt_flag;
use crate::progress::StudyBar;
use clap::{Args, Subcommand};
use planforge_contract::{Failure, FailureClass};
use planforge_evaluate::Artefact;
use planforge_evaluate::study::{StudySuite, Watch, load_suites};
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

/// Run experiments without a language model: CSV, tables and figures.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge study omissions --suites examples/suites --out study/omissions --quick
  planforge study ew-correlation --suites suites/classical examples/suites --out study/ew-correlation")]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    Omissions(omissions::OmissionsArgs),
    EwCorrelation(ew_correlation::EwCorrelationArgs),
    Search(search::SearchArgs),
    Scaling(scaling::ScalingArgs),
    Calibrate(Box<calibrate::CalibrateArgs>),
}

/// Arguments of every study.
#[derive(Debug, Args)]
pub(crate) struct StudyFiles {
    /// Suites: folders with domain.pddl and problems, or folders of such folders.
    #[arg(long, value_name = "DIR", num_args = 1.., required = true)]
    pub(crate) suites: Vec<PathBuf>,
    /// Only the suites of these names.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Folder for the files; created if missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A smaller study, under two minutes; explicit options take precedence.
    #[arg(long)]
    pub(crate) quick: bool,
    /// The seed of all random choices.
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Threads; all cores where it is not given. It changes the time and nothing else.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// Print the study as one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &StudyArgs) -> Exit {
    let outcome = match &args.command {
        StudyCommand::Omissions(args) => omissions::run(context, args),
        StudyCommand::EwCorrelation(args) => ew_correlation::run(context, args),
        StudyCommand::Search(args) => search::run(context, args),
        StudyCommand::Scaling(args) => scaling::run(context, args),
        StudyCommand::Calibrate(args) => return calibrate::run(context, args),
    };
    outcome.err().unwrap_or(Exit::Good)
}

/// Reads the suites and runs a study over them.
fn run_on_suites<T>(
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
    let known: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    check_suite_names(context, "--only", &files.only, &known)?;
    check_suite_names(context, "--shown", shown, &known)?;
    suites.retain(|suite| files.only.is_empty() || files.only.contains(&suite.name));
    run_with_progress(context, files, |threads, watch| study(&suites, threads, watch))
}

/// Runs a study with a bar, on all cores, until Ctrl-C.
pub(crate) fn run_with_progress<T>(
    context: &Context,
    files: &StudyFiles,
    study: impl FnOnce(usize, &Watch) -> Result<T, Failure>,
) -> Result<T, Exit> {
    run_on_threads(context, files.jobs, study)
}

/// [`run_with_progress`] on so many threads.
pub(crate) fn run_on_threads<T>(
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
    ended.map_err(|failure| context.print_failure(&failure))
}

/// Prints an error if an option names a suite that does not exist.
pub(crate) fn check_suite_names(
    context: &Context,
    option: &str,
    names: &[String],
    known: &[&str],
) -> Result<(), Exit> {
    let unknown: Vec<String> =
        names.iter().filter(|name| !known.contains(&name.as_str())).map(|name| format!("`{name}`")).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let message = format!("{option}: there is no suite {}", unknown.join(", "));
    Err(context.usage_error(message, Some(&format!("the suites are {}", known.join(", ")))))
}

pub(crate) fn write_artefacts(context: &Context, folder: &Path, files: &[Artefact]) -> Result<(), Exit> {
    let failed = |path: &Path, error: std::io::Error| {
        let message = format!("{} cannot be written: {error}", path.display());
        context.print_failure(&Failure::new(FailureClass::System, "record.io", message))
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
