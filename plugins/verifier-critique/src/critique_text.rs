//! The critique in words, for the next writer and for a person.

use crate::options::Of;
use planforge_contract::{Critique, CritiqueFinding, FindingSeverity};
use std::fmt::Write as _;

/// Most findings shown to a writer; errors come first.
const MOST: usize = 10;
/// Most bytes of one finding's field.
const MOST_OF_A_FIELD: usize = 600;
/// Most bytes of a reply in prose.
const MOST_OF_PROSE: usize = 6000;

/// The critique as entries of a prompt; none if the critic finds nothing wrong.
pub(crate) fn feedback(of: Of, critique: &Critique) -> Vec<String> {
    let what = of.name();
    if critique.findings.is_empty() && critique.approves == Some(true) {
        return Vec::new();
    }
    let reply = critique.reply.trim();
    if critique.form == "prose" && !reply.is_empty() {
        return vec![format!("A critic says about the {what}:\n\n{}", cut_to_bytes(reply, MOST_OF_PROSE))];
    }
    if critique.findings.is_empty() {
        return vec![format!("A critic looked at the {what} and said nothing that could be used.")];
    }
    let of_severity = |severity| critique.findings.iter().filter(move |f| f.severity == severity);
    let sorted = of_severity(FindingSeverity::Error).chain(of_severity(FindingSeverity::Warning));
    let opening = if critique.approves == Some(true) { "A critic accepts" } else { "A critic objects to" };
    let mut out = format!("{opening} the {what} and says:");
    for (index, finding) in sorted.take(MOST).enumerate() {
        let _ = write!(out, "\n\n{}. {}", index + 1, words(finding));
    }
    if critique.findings.len() > MOST {
        let _ = write!(out, "\n\nThere are {} more.", critique.findings.len() - MOST);
    }
    vec![out]
}

/// `action move: The precondition ... To do: ...`
fn words(finding: &CritiqueFinding) -> String {
    let mut out = String::new();
    if !finding.place.is_empty() {
        let _ = write!(out, "{}: ", cut_to_bytes(&finding.place, MOST_OF_A_FIELD));
    }
    if finding.severity == FindingSeverity::Warning {
        out.push_str("(minor) ");
    }
    out.push_str(&sentence(&cut_to_bytes(&finding.finding, MOST_OF_A_FIELD)));
    if !finding.change.is_empty() {
        let _ = write!(
            out,
            "\n   Suggested change: {}",
            sentence(&cut_to_bytes(&finding.change, MOST_OF_A_FIELD))
        );
    }
    out
}

/// The text with a full stop, unless it ends in a mark or a parenthesis of PDDL.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let stop = if text.ends_with(['.', '?', '!', ')', '`', '\u{2026}']) { "" } else { "." };
    format!("{text}{stop}")
}

/// `The critic objects to the domain: 2 errors, 1 warning.`
pub(crate) fn summary(verb: &str, of: Of, errors: usize, warnings: usize) -> String {
    let count = |n: usize, what: &str| match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    let mut found = Vec::new();
    found.extend((errors > 0).then(|| count(errors, "error")));
    found.extend((warnings > 0).then(|| count(warnings, "warning")));
    let found = if found.is_empty() { String::new() } else { format!(": {}", found.join(", ")) };
    format!("The critic {verb} the {}{found}.", of.name())
}

/// At most so many bytes of a text; what is cut ends with an ellipsis.
pub(crate) fn cut_to_bytes(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\u{2026}", text[..end].trim_end())
}
