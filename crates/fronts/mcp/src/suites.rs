//! Suites under the roots of a client: copied, read, and as answers.

use crate::codes::wrong_arguments;
use crate::folders::temporary_folder;
use crate::roots::Roots;
use planforge_app::contract::{Failure, ReportedSeverity};
use planforge_app::suite::{SuiteTask, SuiteTasks, suite_tasks};
use planforge_app::{Context, Error};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

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

/// The texts of a suite under a root.
///
/// # Errors
/// As of [`copy_suite`].
pub(crate) fn suite_answer(context: &Context, roots: &Roots, path: &str) -> Result<SuiteAnswer, Failure> {
    let copies = temporary_folder()?;
    let copied = copy_suite(context, roots, path, copies.path())?;
    let SuiteTasks { name, title, domain_text, has_reference_domain, tasks } = copied.texts;
    let task = |task: SuiteTask| TaskAnswer {
        task: task.task,
        title: task.title,
        text: task.text,
        has_reference_problem: task.has_reference_problem,
    };
    let tasks = tasks.into_iter().map(task).collect();
    Ok(SuiteAnswer {
        name,
        title,
        folder: copied.place.display().to_string(),
        domain_text,
        has_reference_domain,
        tasks,
    })
}

/// A copy of a suite.
pub(crate) struct CopiedSuite {
    /// The folder under the root.
    place: PathBuf,
    /// The folder of the copy.
    pub(crate) copy: PathBuf,
    texts: SuiteTasks,
}

/// Copies a suite under a root into a folder and reads the copy.
///
/// # Errors
/// `mcp.file`: it is not under a root, or has a symbolic link. `mcp.arguments`: everything that is wrong with it.
pub(crate) fn copy_suite(
    context: &Context,
    roots: &Roots,
    path: &str,
    to: &Path,
) -> Result<CopiedSuite, Failure> {
    // A suite without a manifest has its folder's name.
    let place = roots.open(path)?.1;
    let copy = to.join(place.file_name().unwrap_or("suite".as_ref()));
    roots.copy(path, &copy)?;
    let wrong = |error: Error| {
        let mut errors = error.diagnostics();
        errors.retain(|found| found.severity == ReportedSeverity::Error);
        let errors: Vec<&str> = errors.iter().map(|found| found.message.as_str()).collect();
        let errors = errors.join("; ").replace(&copy.display().to_string(), &place.display().to_string());
        wrong_arguments(format!("the suite cannot be used: {errors}"))
    };
    let texts = suite_tasks(context, &copy).map_err(wrong)?;
    Ok(CopiedSuite { place, copy, texts })
}
