//! Answer set programs as trees, in the dialect of clingo: text to trees, trees to text (`Display`), and the ground atoms
//! of a reasoner's answer.

pub mod ast;
pub(crate) mod lexer;
pub(crate) mod parser;
#[cfg(test)]
mod tests;
pub(crate) mod walk;

pub use parser::MAX_DEPTH;

use crate::codes as code;
use ast::{Atom, Program, Term};
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

// The terms and atoms of a reasoner's answer: no variables, no operators, read in one pass over the bytes.

/// The term that `text` is; `None` when it is not exactly one ground term, or is nested deeper than [`MAX_DEPTH`].
pub fn parse_ground_term(text: &str) -> Option<Term> {
    let mut reader = GroundTermReader { bytes: text.as_bytes(), text, at: 0, depth: 0 };
    let term = reader.term()?;
    reader.space();
    (reader.at == text.len()).then_some(term)
}

/// The atom that `text` is; `None` when it is not exactly one ground atom. Its span covers the text.
pub fn parse_ground_atom(text: &str) -> Option<Atom> {
    match parse_ground_term(text)? {
        Term::Function { name, arguments } if !name.is_empty() => {
            Some(Atom { name, arguments, span: Span::new(0, text.len() as u32) })
        }
        _ => None,
    }
}

struct GroundTermReader<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    depth: usize,
}

impl GroundTermReader<'_> {
    fn space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn term(&mut self) -> Option<Term> {
        self.space();
        match self.bytes.get(self.at)? {
            b'0'..=b'9' | b'-' => self.number(),
            b'"' => self.string(),
            b'(' => Some(Term::Function { name: String::new(), arguments: self.arguments(true)? }),
            b'_' | b'a'..=b'z' => {
                let rest = &self.bytes[self.at..];
                let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                let name = &self.text[self.at..self.at + length];
                let first = name.bytes().find(|b| *b != b'_')?;
                if !first.is_ascii_lowercase() || name == "not" {
                    return None;
                }
                self.at += length;
                let arguments =
                    if self.bytes.get(self.at) == Some(&b'(') { self.arguments(false)? } else { Vec::new() };
                Some(Term::Function { name: name.to_owned(), arguments })
            }
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Term> {
        let start = self.at;
        self.at += usize::from(self.bytes[self.at] == b'-');
        let digits = self.bytes[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += digits;
        let number: i64 = self.text[start..self.at].parse().ok()?;
        (digits > 0 && number.abs() <= MAX_NUMBER + 1).then_some(Term::Number(number))
    }

    fn string(&mut self) -> Option<Term> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(['"', '\\'])?;
            text.push_str(&rest[..plain]);
            self.at += plain + 1;
            if rest.as_bytes()[plain] == b'"' {
                return Some(Term::Text(text));
            }
            let escaped = self.text[self.at..].chars().next()?;
            self.at += escaped.len_utf8();
            text.push(if escaped == 'n' { '\n' } else { escaped });
        }
    }

    /// From `(` to `)`. Only a tuple may end in a comma, and has to where it has one term.
    fn arguments(&mut self, is_tuple: bool) -> Option<Vec<Term>> {
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut terms = Vec::new();
        let mut comma = true;
        while !self.eat(b')') {
            if !comma {
                return None;
            }
            terms.push(self.term()?);
            comma = self.eat(b',');
        }
        self.depth -= 1;
        let closed_well = if is_tuple { terms.len() != 1 || comma } else { terms.is_empty() || !comma };
        closed_well.then_some(terms)
    }
}

// Counts the steps of reading a text, in tests only: work must grow linearly with the length.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts steps of this thread: characters, tokens or literals looked at.
#[inline]
pub(crate) fn count_steps(steps: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + steps as u64);
    #[cfg(not(test))]
    let _ = steps;
}

/// The steps that `work` takes.
#[cfg(test)]
pub(crate) fn steps_of(work: impl FnOnce()) -> u64 {
    STEPS.set(0);
    work();
    STEPS.get()
}
