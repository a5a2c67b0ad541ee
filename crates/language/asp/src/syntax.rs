//! Answer set programs as trees, in the dialect of clingo: text to trees, trees to text (`Display`), and the ground atoms
//! of a reasoner's answer.

pub mod ast;
mod ground;
pub(crate) mod lexer;
mod literals;
pub(crate) mod parser;
mod print;
mod terms;
#[cfg(test)]
mod tests;

pub use ground::{parse_ground_atom, parse_ground_term};
pub use parser::MAX_DEPTH;

use crate::codes as code;
use ast::Program;
use lexer::{Finding, MAX_NUMBER};
use planforge_diagnostics::{Diagnostic, SourceId, Span};

/// The longest program that [`parse`] reads, in bytes.
pub const MAX_BYTES: usize = 4 << 20;

/// Diagnostics of one text; the rest is counted.
pub const MAX_DIAGNOSTICS: usize = 200;

/// Findings kept until they are sorted; the others are counted, since a hostile text has hundreds of thousands.
pub(crate) const MOST_KEPT: usize = 10 * MAX_DIAGNOSTICS;

/// The statements of a text, and all mistakes in the rest.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The statements without a mistake.
    pub program: Program,
    /// Mistakes in statements that were not read.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a program: every statement that has no mistake, and a diagnostic for each of the others. Spans are in `text`,
/// which is `source` in diagnostics. A text over [`MAX_BYTES`] is refused unread.
pub fn parse(text: &str, source: SourceId) -> Parsed {
    let mut parsed = Parsed::default();
    if text.len() > MAX_BYTES {
        parsed.diagnostics.push(too_large(text.len(), MAX_BYTES, source));
        return parsed;
    }
    let lexed = lexer::lex(text, 0..text.len(), false);
    let of_finding = |(finding, span): &(Finding, Span)| of_finding(*finding, *span, text, source);
    let mut found: Vec<Diagnostic> = lexed.findings.iter().take(MOST_KEPT).map(of_finding).collect();
    let mut left_out = lexed.findings.len() - found.len();
    let mut parser = parser::Parser::new(text, &lexed.tokens, source);
    while !parser.is_done() {
        match parser.statement() {
            Ok(statement) => parsed.program.statements.push(statement),
            Err(Some(_)) if found.len() >= 2 * MOST_KEPT => left_out += 1,
            Err(stop) => found.extend(stop.map(|diagnostic| *diagnostic)),
        }
    }
    parsed.diagnostics = sort_and_limit(found, left_out, source);
    parsed
}

/// The refusal of a text of that many bytes.
pub(crate) fn too_large(bytes: usize, most: usize, source: SourceId) -> Diagnostic {
    let message = format!("the program has {bytes} bytes; at most {most} are read");
    Diagnostic::error(code::TOO_LARGE, message)
        .at(source, Span::empty(0), "")
        .help("write one rule for many facts, or check where the text comes from")
}

/// In the order of the text, and not more than anybody reads. `left_out` findings are missing already.
pub(crate) fn sort_and_limit(
    mut found: Vec<Diagnostic>,
    left_out: usize,
    source: SourceId,
) -> Vec<Diagnostic> {
    found.sort_by_key(|diagnostic| diagnostic.primary().map(|label| label.span.start));
    let left_out = left_out + found.len().saturating_sub(MAX_DIAGNOSTICS);
    if left_out > 0 {
        let errors = found.iter().skip(MAX_DIAGNOSTICS).any(Diagnostic::is_error);
        found.truncate(MAX_DIAGNOSTICS);
        let message = format!("{left_out} more findings are left out");
        let last = if errors { Diagnostic::error } else { Diagnostic::advice };
        found.push(
            last(code::TOO_MANY_FINDINGS, message)
                .at(source, Span::empty(0), "")
                .help("repair the first ones: most of the others follow from them"),
        );
    }
    found
}

/// The diagnostic for a piece of text that is not a token.
pub(crate) fn of_finding(finding: Finding, span: Span, text: &str, source: SourceId) -> Diagnostic {
    let piece: String = text.get(span.range()).unwrap_or_default().chars().take(40).collect();
    let (code, message, help) = match finding {
        Finding::OpenText => {
            (code::UNCLOSED, "this text is never closed".to_owned(), "end it with `\"` on the same line")
        }
        Finding::OpenComment => {
            (code::UNCLOSED, "this comment is never closed".to_owned(), "end it with `*%`")
        }
        Finding::LargeNumber => (
            code::NUMBER,
            format!("the number {piece} is too large"),
            "numbers go up to 2147483647, which is all that the reasoner holds",
        ),
        Finding::ForeignName => (
            code::FOREIGN_NAME,
            format!("the name `{piece}` has letters that names cannot have"),
            "names are made of a-z, A-Z, 0-9 and `_`",
        ),
        Finding::Character => (
            code::CHARACTER,
            format!("`{piece}` means nothing here"),
            "write names, numbers, `not` and the signs of rules: `( ) , . :- = < >`",
        ),
        Finding::Typography => (
            code::TYPOGRAPHY,
            format!("`{piece}` is read as the plain character"),
            "write plain ASCII quotes, dashes and spaces",
        ),
    };
    let build = if finding == Finding::Typography { Diagnostic::advice } else { Diagnostic::error };
    const { assert!(MAX_NUMBER == 2_147_483_647, "the help says so") };
    build(code, message).at(source, span, "").help(help)
}
