//! Layout of PDDL texts: one style for all files, with comments and order kept.
//!
//! Only white space changes. A list stays on one line if it fits; otherwise its parts go below each other. A definition and an action
//! schema are always broken. Single blank lines stay.

mod layout;
mod tokens;
mod tree;

pub use tokens::{Token, TokenKind, tokens};

use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::{StripSpans, parse_domain, parse_problem};

/// Why a text is not formatted.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The reader reports errors, so the extent of the lists is a guess.
    #[error("the text has errors")]
    Unreadable(Vec<Diagnostic>),
    /// The formatted text would not be read as the text is; a bug of this crate.
    #[error("the formatted text would be read differently")]
    Changed,
}

/// Formats the domain or problem in a text. The result ends with a line end; those of the text are kept where they are CR LF.
///
/// # Errors
/// A text with errors of form. Errors of meaning, such as an undeclared predicate, do not matter.
pub fn format_pddl(text: &str, source: SourceId) -> Result<String, FormatError> {
    let errors = errors_of_form(text, source);
    if !errors.is_empty() {
        return Err(FormatError::Unreadable(errors));
    }
    let mut formatted = layout::write(&tree::build(text));
    if text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r')) {
        formatted = formatted.replace('\n', "\r\n");
    }
    if reads_the_same(text, &formatted) { Ok(formatted) } else { Err(FormatError::Changed) }
}

/// The errors of the definitions in the text.
fn errors_of_form(text: &str, source: SourceId) -> Vec<Diagnostic> {
    let domain = parse_domain(text, source);
    let wrong_kind = |d: &Diagnostic| d.code == "pddl.wrong-kind";
    let is_problem = domain.diagnostics.iter().any(wrong_kind);
    let mut diagnostics = if is_problem { Vec::new() } else { domain.diagnostics };
    let has_problem = is_problem || diagnostics.iter().any(|d| d.code == "pddl.other-definition");
    if has_problem {
        diagnostics.extend(parse_problem(text, source).diagnostics);
    }
    diagnostics.retain(|d| d.is_error() && !wrong_kind(d));
    diagnostics
}

/// True if both texts have the same words, parentheses and comments in the same order, and the reader gives the same trees for both.
fn reads_the_same(before: &str, after: &str) -> bool {
    let source = SourceId(0);
    let content = |text| tokens(text).map(|token: Token<'_>| (token.kind, token.text.trim_end()));
    content(before).eq(content(after))
        && parse_domain(before, source).value.eq_ignoring_spans(&parse_domain(after, source).value)
        && parse_problem(before, source).value.eq_ignoring_spans(&parse_problem(after, source).value)
}

#[cfg(test)]
mod tests;
