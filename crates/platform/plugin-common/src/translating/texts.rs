//! The texts that a translation needs.

use crate::translating::codes;
use planforge_contract::{CandidatePatch, Failure, FailureClass, ReportedDiagnostic, TaskView};
use planforge_diagnostics::{Diagnostic, SourceMap};

const NO_TASK_TEXT_HELP: &str = "put the task's text beside its problem, as `p01.nl` beside `p01.pddl`";
const NO_DOMAIN_HELP: &str =
    "give the domain in the pipeline file, or put a text about it into the suite, as `domain.nl`";

/// Checks that a problem can be written: from the task's text and, without a domain in PDDL, the domain's text.
///
/// # Errors
/// Class `Request`: a text is missing.
pub fn need_problem_text(task: &TaskView, domain: Option<&str>) -> Result<(), Failure> {
    need(&task.task_text, "the task has no text to translate", NO_TASK_TEXT_HELP)?;
    match domain {
        Some(_) => Ok(()),
        None => need(&task.domain_text, "neither a domain nor a text about it is given", NO_DOMAIN_HELP),
    }
}

/// Checks that a domain can be written: from its text or from a problem in PDDL.
///
/// # Errors
/// Class `Request`: both are missing.
pub fn need_domain_source(task: &TaskView, problem: Option<&str>) -> Result<(), Failure> {
    match problem {
        Some(_) => Ok(()),
        None => need(
            &task.domain_text,
            "there is neither a text about the domain to translate nor a problem to work it out from",
            NO_DOMAIN_HELP,
        ),
    }
}

/// Checks that the domain has a text.
///
/// # Errors
/// Class `Request`: it has none.
pub fn need_domain_text(task: &TaskView) -> Result<(), Failure> {
    need(&task.domain_text, "there is no text about the domain to work out", NO_DOMAIN_HELP)
}

fn need(text: &str, message: &str, help: &str) -> Result<(), Failure> {
    match text.trim().is_empty() {
        true => Err(Failure::new(FailureClass::Request, codes::NO_TEXT, message).help(help)),
        false => Ok(()),
    }
}

/// Adds a note to a written domain if the task has no text about the domain.
pub fn note_without_text(task: &TaskView, patch: &mut CandidatePatch) {
    if task.domain_text.trim().is_empty() {
        let note = Diagnostic::advice(
            codes::FROM_PROBLEM,
            "there is no text about the domain: it was worked out from the problem",
        );
        patch.diagnostics.push(ReportedDiagnostic::of(&note, &SourceMap::default()));
    }
}

/// Notes in a patch that the question had no in-context example.
pub fn note_without_example(patch: &mut CandidatePatch) {
    let note = Diagnostic::advice(codes::ZERO_SHOT, "the request had no in-context example (zero-shot)");
    patch.diagnostics.push(ReportedDiagnostic::of(&note, &SourceMap::default()));
}
