//! The texts of a suite and of its tasks, without their reference.

use crate::context::Context;
use crate::error::Error;
use crate::status::Status;
use planforge_pipeline::{LoadedSuite, load_suite};
use serde::Serialize;
use std::path::Path;

/// A suite and its tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteTasks {
    /// The suite's name.
    pub name: String,
    /// One line about it; may be empty.
    pub title: String,
    /// The domain in plain language.
    pub domain_text: String,
    /// True if the suite has a reference domain, `domain.pddl`.
    pub has_reference_domain: bool,
    /// The tasks.
    pub tasks: Vec<SuiteTask>,
}

/// A task of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteTask {
    /// The stem of its files, such as `p03`.
    pub task: String,
    /// One line about it; may be empty.
    pub title: String,
    /// The task in plain language.
    pub text: String,
    /// True if it has a reference problem, `NAME.pddl`.
    pub has_reference_problem: bool,
}

/// Reads a suite's texts.
///
/// # Errors
/// Everything wrong with the suite.
pub fn suite_tasks(context: &Context, folder: &Path) -> Result<SuiteTasks, Error> {
    let LoadedSuite { suite, diagnostics, sources } = load_suite(&context.path(folder));
    let Some(suite) = suite else { return Err(Error::findings(Status::Input, diagnostics, sources)) };
    let tasks = suite.tasks.into_iter().map(|task| SuiteTask {
        task: task.stem,
        title: task.title,
        text: task.text,
        has_reference_problem: task.reference_problem.is_some(),
    });
    Ok(SuiteTasks {
        name: suite.name,
        title: suite.title,
        domain_text: suite.domain_text,
        has_reference_domain: suite.reference_domain.is_some(),
        tasks: tasks.collect(),
    })
}
