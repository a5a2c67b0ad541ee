//! Suites as answers.

use crate::codes::wrong_arguments;
use crate::roots::Roots;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::Diagnostic;
use planforge_pipeline::{LoadedSuite, Suite, load_suite};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A suite and its tasks.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SuiteAnswer {
    /// The suite's name.
    name: String,
    /// One line about it; may be empty.
    title: String,
    /// The suite's folder.
    folder: String,
    /// The domain in plain language.
    domain_text: String,
    /// True if the suite has a reference domain, `domain.pddl`.
    has_reference_domain: bool,
    /// The tasks.
    tasks: Vec<TaskAnswer>,
}

/// A task of a suite.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskAnswer {
    /// The stem of its files, such as `p03`.
    task: String,
    /// One line about it; may be empty.
    title: String,
    /// The task in plain language.
    text: String,
    /// True if it has a reference problem, `NAME.pddl`.
    has_reference_problem: bool,
}

/// Copies a suite under a root into a folder and reads the copy; returns the suite's own folder too.
///
/// # Errors
/// `mcp.file`: it is not under a root, or has a symbolic link. `mcp.arguments`: everything that is wrong with it.
pub(crate) fn load_copied_suite(roots: &Roots, path: &str, to: &Path) -> Result<(PathBuf, Suite), Failure> {
    // A suite without a manifest has its folder's name.
    let place = roots.open(path)?.1;
    let copy = to.join(place.file_name().unwrap_or("suite".as_ref()));
    roots.copy(path, &copy)?;
    let LoadedSuite { suite, diagnostics, .. } = load_suite(&copy);
    let suite = suite.ok_or_else(|| {
        let errors: Vec<&str> =
            diagnostics.iter().filter(|d| Diagnostic::is_error(d)).map(|d| d.message.as_str()).collect();
        let errors = errors.join("; ").replace(&copy.display().to_string(), &place.display().to_string());
        wrong_arguments(format!("the suite cannot be used: {errors}"))
    })?;
    Ok((place, suite))
}

/// A folder for copies.
///
/// # Errors
/// `mcp.file`: it cannot be made.
pub(crate) fn temporary_folder() -> Result<TempDir, Failure> {
    tempfile::tempdir().map_err(|error| temporary_failure(&error))
}

/// The failure of a temporary folder.
pub(crate) fn temporary_failure(error: &std::io::Error) -> Failure {
    Failure::new(FailureClass::System, "mcp.file", format!("the temporary folder: {error}"))
}

/// The texts of a suite under a root.
///
/// # Errors
/// As of [`load_copied_suite`].
pub(crate) fn suite_answer(roots: &Roots, path: &str) -> Result<SuiteAnswer, Failure> {
    let copies = temporary_folder()?;
    let (place, suite) = load_copied_suite(roots, path, copies.path())?;
    let tasks = suite.tasks.into_iter().map(|task| TaskAnswer {
        task: task.stem,
        title: task.title,
        text: task.text,
        has_reference_problem: task.reference_problem.is_some(),
    });
    Ok(SuiteAnswer {
        name: suite.name,
        title: suite.title,
        folder: place.display().to_string(),
        domain_text: suite.domain_text,
        has_reference_domain: suite.reference_domain.is_some(),
        tasks: tasks.collect(),
    })
}
