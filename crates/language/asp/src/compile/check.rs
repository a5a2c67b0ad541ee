//! The compiled text goes through the front end like any other problem.

use super::Input;
use planforge_diagnostics::Diagnostic;
use planforge_pddl::{check_problem, parse_problem};

/// Adds the findings of the problem's own checks. After an error, warnings and advice are left out as likely
/// consequences.
pub(super) fn add_problem_checks(input: &Input<'_>, text: &str, diagnostics: &mut Vec<Diagnostic>) {
    let parsed = parse_problem(text, input.sources.problem);
    let mut found = parsed.diagnostics;
    found.extend(check_problem(input.domain, &parsed.value, input.sources));
    let faulty = diagnostics.iter().any(Diagnostic::is_error);
    diagnostics.extend(found.into_iter().filter(|diagnostic| !faulty || diagnostic.is_error()));
}
