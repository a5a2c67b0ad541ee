//! Experiments over suites of PDDL files: without a language model, or with a simulated one.

mod scaling;

use crate::context::Context;
use crate::error::Error;
use crate::files::unwritable;
use crate::status::Status;
use planforge_contract::Failure;
use planforge_evaluate::Artefact;
use planforge_evaluate::study::ew_correlation::CorrelationStudy;
pub use planforge_evaluate::study::ew_correlation::{CorrelationSpec, WalkMetric};
pub use planforge_evaluate::study::omissions::OmissionsSpec;
use planforge_evaluate::study::omissions::OmissionsStudy;
use planforge_evaluate::study::{StudySuite, Watch, load_suites};
pub use scaling::{ScalingRequest, scaling};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// What every study needs.
#[derive(Debug, Clone, Default)]
pub struct StudyFiles {
    /// Suites: folders with domain.pddl and problems, or folders of such folders.
    pub suites: Vec<PathBuf>,
    /// Only the suites of these names; empty for all.
    pub only: Vec<String>,
    /// Folder for the files; created if missing.
    pub out: PathBuf,
    /// The seed of all random choices.
    pub seed: u64,
    /// Threads; `None` for all cores. It changes the time and nothing else.
    pub jobs: Option<u32>,
}

/// A study, and the files that were written. Its JSON form is the study.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct StudyResult<T> {
    /// The study.
    pub study: T,
    /// The written files.
    #[serde(skip)]
    pub written: WrittenFiles,
}

/// Files in one folder.
#[derive(Debug, Clone, Default)]
pub struct WrittenFiles {
    /// The folder.
    pub folder: PathBuf,
    /// Their names.
    pub names: Vec<String>,
}

/// Measures the share of tasks without a plan after random omissions (exploration-walk paper, Fig. 2a).
///
/// # Errors
/// Suites that cannot be read, or files that cannot be written.
pub fn omissions(
    context: &Context,
    files: &StudyFiles,
    spec: &OmissionsSpec,
) -> Result<StudyResult<OmissionsStudy>, Error> {
    use planforge_evaluate::study::omissions::omissions;
    let study = run_on_suites(context, files, &[], spec.tasks, |suites, threads, watch| {
        omissions(suites, spec, threads, watch)
    })?;
    let artefacts = study.artefacts()?;
    Ok(StudyResult { study, written: write_artefacts(&context.path(&files.out), &artefacts)? })
}

/// Measures the walk score against the number of differing terms (exploration-walk paper, Fig. 2b and 4). `shown`: the suites of the
/// figure with few.
///
/// # Errors
/// Suites that cannot be read, or files that cannot be written.
pub fn ew_correlation(
    context: &Context,
    files: &StudyFiles,
    spec: &CorrelationSpec,
    shown: &[String],
) -> Result<StudyResult<CorrelationStudy>, Error> {
    use planforge_evaluate::study::ew_correlation::ew_correlation;
    let study = run_on_suites(context, files, shown, spec.tasks, |suites, threads, watch| {
        ew_correlation(suites, spec, threads, watch)
    })?;
    let artefacts = study.artefacts(shown)?;
    Ok(StudyResult { study, written: write_artefacts(&context.path(&files.out), &artefacts)? })
}

/// Reads the suites and runs a study over them.
fn run_on_suites<T>(
    context: &Context,
    files: &StudyFiles,
    shown: &[String],
    tasks: usize,
    study: impl FnOnce(&[StudySuite], usize, &Watch) -> Result<T, Failure>,
) -> Result<T, Error> {
    let paths: Vec<PathBuf> = files.suites.iter().map(|path| context.path(path)).collect();
    let mut suites = load_suites(&paths, tasks)
        .map_err(|(diagnostics, sources)| Error::findings(Status::Input, diagnostics, sources))?;
    let known: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    check_suite_names("--only", &files.only, &known)?;
    check_suite_names("--shown", shown, &known)?;
    suites.retain(|suite| files.only.is_empty() || files.only.contains(&suite.name));
    run_on_threads(context, files.jobs, |threads, watch| study(&suites, threads, watch))
}

/// Interval at which the progress of a study is sent.
const PROGRESS: Duration = Duration::from_millis(200);

/// Runs a study on so many threads, all cores if `None`, until it is cancelled.
fn run_on_threads<T>(
    context: &Context,
    jobs: Option<u32>,
    study: impl FnOnce(usize, &Watch) -> Result<T, Failure>,
) -> Result<T, Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = jobs.map_or(cores, |jobs| jobs as usize);
    let watch = Arc::new(Watch::new(context.cancellation.watch()));
    let (stop, stopped) = mpsc::channel::<()>();
    let (shown, progress) = (Arc::clone(&watch), context.start_work("", None));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while stopped.recv_timeout(PROGRESS) == Err(RecvTimeoutError::Timeout) {
                let (done, total) = shown.progress();
                progress.set(done, Some(total));
            }
        });
        let ended = study(threads, &watch);
        drop(stop);
        Ok(ended?)
    })
}

/// Refuses an option that names a suite that does not exist.
fn check_suite_names(option: &str, names: &[String], known: &[&str]) -> Result<(), Error> {
    let unknown: Vec<String> =
        names.iter().filter(|name| !known.contains(&name.as_str())).map(|name| format!("`{name}`")).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let message = format!("{option}: there is no suite {}", unknown.join(", "));
    Err(Error::usage(message, Some(&format!("the suites are {}", known.join(", ")))))
}

fn write_artefacts(folder: &Path, files: &[Artefact]) -> Result<WrittenFiles, Error> {
    std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e))?;
    for file in files {
        let path = folder.join(&file.name);
        std::fs::write(&path, &file.contents).map_err(|e| unwritable(&path, &e))?;
    }
    let names = files.iter().map(|file| file.name.clone()).collect();
    Ok(WrittenFiles { folder: folder.to_owned(), names })
}
