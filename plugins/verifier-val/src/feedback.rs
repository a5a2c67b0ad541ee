//! What the model is told: one voice for every text, each with the place, the line and a way out.

use crate::check::Checked;
use planforge_contract::{ReportedDiagnostic, ReportedSeverity};
use planforge_diagnostics::SourceId;
use planforge_planning::{FailedCondition, ValidationReport};
use std::fmt::Write as _;

/// Most errors told at a time: a model corrects a few better than a hundred, and the rest are mostly consequences.
const MOST: usize = 10;

/// The errors of a text (`domain` or `problem`), or `None` where it has none.
pub(crate) fn pddl(checked: &Checked, what: &str) -> Option<String> {
    let mut errors: Vec<&ReportedDiagnostic> = checked
        .diagnostics
        .iter()
        .filter(|d| d.severity == ReportedSeverity::Error && d.file == what)
        .collect();
    if errors.is_empty() {
        return None;
    }
    errors.sort_by_key(|e| e.start);
    let mut out = match errors.len() {
        1 => format!("The {what} has 1 error."),
        n => format!("The {what} has {n} errors."),
    };
    for error in errors.iter().take(MOST) {
        let _ = write!(out, "\n\nLine {}: {}.", error.line, error.message);
        let source = if what == "problem" { SourceId(1) } else { SourceId(0) };
        if let Some(line) = line_at(checked, source, error.line) {
            let _ = write!(out, "\n    {line}");
        }
        for help in &error.help {
            let _ = write!(out, "\n{}", sentence(help));
        }
    }
    if errors.len() > MOST {
        let _ = write!(out, "\n\nThere are {} more.", errors.len() - MOST);
    }
    Some(out)
}

/// A way out as a sentence of its own.
fn sentence(help: &str) -> String {
    let mut letters = help.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let stop = if help.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

/// A line of a text, without its indentation.
fn line_at(checked: &Checked, source: SourceId, line: u32) -> Option<String> {
    let text = checked.sources.get(source)?.text.as_str();
    let line = text.lines().nth(line.checked_sub(1)? as usize)?.trim();
    (!line.is_empty()).then(|| line.chars().take(200).collect())
}

/// What is wrong with a plan, by the candidate's own domain and problem. `found` are the report's diagnostics with places.
pub(crate) fn plan(checked: &Checked, report: &ValidationReport, found: &[ReportedDiagnostic]) -> String {
    let Some(failing) = &report.failing_step else {
        return match report.missing_goals.is_empty() {
            true => unreadable("The plan has lines that are no steps.".to_owned(), found),
            false => missing_goals(checked, report),
        };
    };
    let number = failing.index + 1;
    if failing.conditions.is_empty() {
        return unreadable(
            format!("Step {number} of the plan, {}, cannot be executed.", failing.text),
            found,
        );
    }
    let mut out =
        format!("Step {number} of the plan, {}, cannot be executed in the state before it.", failing.text);
    failing.conditions.iter().for_each(|c| condition(checked, c, &mut out));
    out
}

/// A step of the plan is refused by the environment. The withheld model is not told. `written` says whether there is PDDL
/// that may be at fault.
pub(crate) fn refused(number: usize, step: &str, written: bool) -> String {
    let what = format!("Step {number}, {step}, cannot be executed there.");
    tried(&what, written)
}

/// The plan ends in the environment without its goal.
pub(crate) fn goal_missed(steps: usize, written: bool) -> String {
    let plan = match steps {
        0 => "It has no steps".to_owned(),
        1 => "Its step was executed".to_owned(),
        n => format!("All {n} steps were executed"),
    };
    tried(&format!("{plan}, and the goal of the task does not hold in the end."), written)
}

fn tried(what: &str, written: bool) -> String {
    let fault = if written { " So the domain, the problem or the plan does not fit the task." } else { "" };
    format!("The plan was tried in the environment of the task. {what}{fault}")
}

fn missing_goals(checked: &Checked, report: &ValidationReport) -> String {
    let mut out = "The plan can be executed, and the goal does not hold at its end.".to_owned();
    for goal in report.missing_goals.iter().take(MOST) {
        condition(checked, goal, &mut out);
    }
    if report.missing_goals.len() > MOST {
        let _ = write!(out, "\n\nThere are {} more.", report.missing_goals.len() - MOST);
    }
    out
}

/// A condition that did not hold: what was the case, what would make it true, where it stands.
fn condition(checked: &Checked, failed: &FailedCondition, out: &mut String) {
    let _ = write!(out, "\n\nIt needs {}. Instead {}.", failed.remedy, failed.why);
    let source = failed.place.text.source();
    let Some(file) = checked.sources.get(source) else { return };
    let at = file.line_column(failed.place.span.start);
    if let Some(line) = line_at(checked, source, at.line) {
        let _ = write!(out, "\nThis is asked for in line {} of the {}:\n    {line}", at.line, file.name);
    }
}

/// Lines of the plan that are not steps of the domain.
fn unreadable(opening: String, found: &[ReportedDiagnostic]) -> String {
    let mut out = opening;
    let errors = found.iter().filter(|d| d.severity == ReportedSeverity::Error && d.file == "plan");
    for error in errors.take(MOST) {
        let _ = write!(out, "\n\nLine {}: {}.", error.line, error.message);
        for help in &error.help {
            let _ = write!(out, "\n{}", sentence(help));
        }
    }
    out
}
