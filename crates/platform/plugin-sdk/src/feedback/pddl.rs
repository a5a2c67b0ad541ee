//! Errors of the texts themselves.

use super::{MOST, more, sentence};
use crate::checked::Checked;
use crate::wording::list;
use planforge_contract::{Edits, ReportedDiagnostic, ReportedSeverity};
use planforge_diagnostics::SourceId;
use std::fmt::Write as _;

/// The errors of a text (`domain` or `problem`), or `None` where it has none.
pub fn pddl(checked: &Checked, what: &str) -> Option<String> {
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
    let source = if what == "problem" { SourceId(1) } else { SourceId(0) };
    for error in errors.iter().take(MOST) {
        let _ = write!(out, "\n\nLine {}: {}.", error.line, error.message);
        if let Some(line) = checked.line(source, error.line) {
            let _ = write!(out, "\n    {line}");
        }
        for help in &error.help {
            let _ = write!(out, "\n{}", sentence(help));
        }
    }
    more(errors.len(), &mut out);
    Some(out)
}

/// Actions that change nothing; at least one.
pub fn no_effect(actions: &[String]) -> String {
    let names: Vec<String> = actions.iter().map(|a| format!("`{a}`")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (subject, verb) = if actions.len() == 1 { ("The action", "has") } else { ("The actions", "have") };
    format!(
        "{subject} {} {verb} no effect. An action has to change something: say which atoms it makes true and which false.",
        list(&names)
    )
}

/// Feedback on a reply to a request for edits that led to no edit. `None` if some were applied.
pub fn not_edited(edits: Edits) -> Option<String> {
    match edits {
        Edits { applied: 0, refused: 0 } => Some("The reply changed nothing in the domain.".to_owned()),
        Edits { applied: 0, refused: 1 } => {
            Some("The change that the reply asks for could not be made; the domain is as it was.".to_owned())
        }
        Edits { applied: 0, refused } => Some(format!(
            "None of the {refused} changes that the reply asks for could be made; the domain is as it was."
        )),
        _ => None,
    }
}

/// Feedback on the form of a reply, such as edits that could not be applied. `None` if there is nothing to
/// correct.
pub fn reply(diagnostics: &[ReportedDiagnostic]) -> Option<String> {
    let wrong: Vec<&ReportedDiagnostic> =
        diagnostics.iter().filter(|d| d.severity != ReportedSeverity::Advice).collect();
    if wrong.is_empty() {
        return None;
    }
    let mut out = "Something was wrong with the last reply:".to_owned();
    for one in wrong.iter().take(MOST) {
        let _ = write!(out, "\n- {}", sentence(&one.message));
        for help in &one.help {
            let _ = write!(out, " {}", sentence(help));
        }
    }
    more(wrong.len(), &mut out);
    Some(out)
}

/// Feedback if no reply to the last request was usable; `reasons` are listed once each.
pub fn unusable(reasons: &[String]) -> String {
    let mut out = "The last question got no answer that could be used:".to_owned();
    for reason in reasons.iter().take(MOST) {
        let _ = write!(out, "\n- {}", sentence(reason));
    }
    more(reasons.len(), &mut out);
    out
}

/// The candidate shares no action, or no object, with the environment: nothing can be compared. `what` is `action` or
/// `object`; `wanted` are the environment's, as it writes them.
pub fn not_shared(what: &str, wanted: &[String]) -> String {
    let text = if what == "object" { "problem" } else { "domain" };
    let mut out = format!("The {text} has no {what} of the environment. It needs these, with these names:");
    for one in wanted.iter().take(4 * MOST) {
        let _ = write!(out, "\n- {one}");
    }
    if wanted.len() > 4 * MOST {
        let _ = write!(out, "\n- and {} more.", wanted.len() - 4 * MOST);
    }
    out
}
