//! One PDDL text: its tree, its findings of form, and its names.

use super::occurrences::{self, NameClass, Occurrence, Role};
use super::position::LineIndex;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_format::{TokenKind, tokens};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};

/// Largest text that is analysed, in bytes. The largest files of planning competitions have a quarter of it.
pub(super) const MAX_TEXT_BYTES: usize = 16 << 20;

/// Tokens that are read to find out what a text defines.
const HEADER_TOKENS: usize = 400;

/// The definition at the beginning of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    pub is_problem: bool,
    /// The name of the domain in lower case: the own one, or that of a problem.
    pub domain: Option<String>,
}

impl Header {
    /// Reads the header without parsing the text.
    pub fn of(text: &str) -> Self {
        let mut header = Self::default();
        let mut words: Vec<&str> = Vec::new();
        for token in tokens(text).filter(|token| token.kind != TokenKind::Comment).take(HEADER_TOKENS) {
            words.push(token.text);
            let [.., "(", head, name] = words.as_slice() else { continue };
            if head.eq_ignore_ascii_case("problem") {
                header.is_problem = true;
            } else if (head.eq_ignore_ascii_case("domain") && !header.is_problem)
                || head.eq_ignore_ascii_case(":domain")
            {
                header.is_problem |= head.starts_with(':');
                header.domain = Some(name.to_lowercase());
                break;
            }
        }
        header
    }
}

/// What a text defines.
#[derive(Debug)]
pub enum Content {
    Domain(Box<Domain>),
    Problem(Box<Problem>),
}

/// A PDDL text as read.
#[derive(Debug)]
pub struct Analysis {
    pub text: String,
    pub index: LineIndex,
    pub header: Header,
    pub content: Content,
    /// Findings of form, in source 0.
    pub findings: Vec<Diagnostic>,
    pub occurrences: Vec<Occurrence>,
}

impl Analysis {
    pub fn new(text: String) -> Self {
        let header = Header::of(&text);
        let (content, findings, occurrences) = if header.is_problem {
            let parsed = parse_problem(&text, SourceId(0));
            let names = occurrences::of_problem(&parsed.value);
            (Content::Problem(Box::new(parsed.value)), parsed.diagnostics, names)
        } else {
            let parsed = parse_domain(&text, SourceId(0));
            let names = occurrences::of_domain(&parsed.value);
            (Content::Domain(Box::new(parsed.value)), parsed.diagnostics, names)
        };
        Self { index: LineIndex::new(&text), text, header, content, findings, occurrences }
    }

    pub fn domain(&self) -> Option<&Domain> {
        match &self.content {
            Content::Domain(domain) => Some(domain),
            Content::Problem(_) => None,
        }
    }

    pub fn problem(&self) -> Option<&Problem> {
        match &self.content {
            Content::Problem(problem) => Some(problem),
            Content::Domain(_) => None,
        }
    }

    /// The name at an offset; at its end counts, too.
    pub fn at(&self, offset: usize) -> Option<&Occurrence> {
        let touches = |o: &&Occurrence| {
            let range = o.name.span.range();
            range.start <= offset && offset <= range.end && range.start < range.end
        };
        // Of two that touch the offset, the one that begins there.
        self.occurrences.iter().filter(touches).max_by_key(|o| o.name.span.start)
    }

    /// The places of a name.
    pub fn places<'a>(&'a self, wanted: &Occurrence) -> impl Iterator<Item = &'a Occurrence> {
        self.occurrences.iter().filter(move |occurrence| occurrence.is_same(wanted))
    }

    /// The place where a name is declared; for a type that is only used as a parent, its first use there.
    pub fn declaration(&self, wanted: &Occurrence) -> Option<&Occurrence> {
        let is_parent = |o: &&Occurrence| o.class == NameClass::Type && self.domain().is_some();
        let declared = self.places(wanted).find(|o| o.role == Role::Declared);
        let derived = || {
            self.places(wanted)
                .find(|o| o.class == NameClass::Predicate && o.role == Role::Added && o.owner.is_none())
        };
        declared.or_else(derived).or_else(|| self.places(wanted).find(is_parent))
    }

    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_without_parsing() {
        let header = |text: &str| {
            let Header { is_problem, domain } = Header::of(text);
            (is_problem, domain)
        };
        assert_eq!(header("; (problem x)\n(define (domain Blocks)"), (false, Some("blocks".to_owned())));
        assert_eq!(header("(define (problem domain) (:domain B) (:objects"), (true, Some("b".to_owned())));
        assert_eq!(header("(define (problem p"), (true, None));
        assert_eq!(header("(((("), (false, None));
        assert_eq!(header(""), (false, None));
    }
}
