//! Suites as answers.

use crate::codes::wrong_arguments;
use crate::folders::refuse_links;
use planforge_contract::Failure;
use planforge_diagnostics::Diagnostic;
use planforge_pipeline::{LoadedSuite, Suite, load_suite};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

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

/// Reads a suite whose folder was checked.
///
/// # Errors
/// `mcp.file`: a symbolic link in it. `mcp.arguments`: everything that is wrong with it.
pub(crate) fn load_checked_suite(folder: &Path) -> Result<Suite, Failure> {
    refuse_links(folder)?;
    let LoadedSuite { suite, diagnostics, .. } = load_suite(folder);
    suite.ok_or_else(|| {
        let errors: Vec<&str> =
            diagnostics.iter().filter(|d| Diagnostic::is_error(d)).map(|d| d.message.as_str()).collect();
        wrong_arguments(format!("the suite cannot be used: {}", errors.join("; ")))
    })
}

/// The texts of a suite.
///
/// # Errors
/// As of [`load_checked_suite`].
pub(crate) fn suite_answer(folder: &Path) -> Result<SuiteAnswer, Failure> {
    let suite = load_checked_suite(folder)?;
    let tasks = suite.tasks.into_iter().map(|task| TaskAnswer {
        task: task.stem,
        title: task.title,
        text: task.text,
        has_reference_problem: task.reference_problem.is_some(),
    });
    Ok(SuiteAnswer {
        name: suite.name,
        title: suite.title,
        folder: folder.display().to_string(),
        domain_text: suite.domain_text,
        has_reference_domain: suite.reference_domain.is_some(),
        tasks: tasks.collect(),
    })
}
