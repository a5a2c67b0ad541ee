//! Parses tokens to statements. After a mistake, reading continues behind the next dot.

use super::ast::{Atom, ChoiceElement, Head, Relation, Rule, Statement, StatementKind, Term};
use super::lexer::{Kind, Token};
use crate::codes as code;
use crate::steps::count_steps;
use planforge_diagnostics::{Diagnostic, SourceId, Span};

/// The deepest nesting of terms. Chains of operators count, since their tree is as deep.
pub const MAX_DEPTH: usize = 100;

/// A mistake that ends a statement; `None` if a finding of the lexer already describes it.
pub(crate) type ParseError = Option<Box<Diagnostic>>;
pub(super) type ParseResult<T> = Result<T, ParseError>;

/// The functions of aggregates.
pub(super) const AGGREGATES: [&str; 5] = ["count", "sum", "sum+", "min", "max"];

/// Reads statements from tokens. The tokens may differ from the text, where repairs were made.
pub(crate) struct Parser<'a> {
    text: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
    source: SourceId,
    /// Nesting depth of the current term.
    pub(super) depth: usize,
    /// The height of the tree of the term read last.
    pub(super) height: usize,
}

impl<'a> Parser<'a> {
    /// A parser of these tokens of `text`, which is `source` in diagnostics.
    pub(crate) fn new(text: &'a str, tokens: &'a [Token], source: SourceId) -> Self {
        Self { text, tokens, at: 0, source, depth: 0, height: 0 }
    }

    /// True if every token is read.
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Reads the next statement. After a mistake the position is behind the next dot.
    pub(crate) fn statement(&mut self) -> ParseResult<Statement> {
        let (start, first) = (self.span(), self.at);
        self.depth = 0;
        let read = self.statement_kind().and_then(|kind| {
            let end = self.expect_dot(start)?;
            Ok(Statement { kind, span: start.to(end) })
        });
        if read.is_err() {
            self.skip(first);
        }
        read.map(|statement| self.with_text(statement))
    }

    /// Moves behind the next dot. Consumes at least one token of the statement, which begins at `first`.
    fn skip(&mut self, first: usize) {
        // The dot may be the token just read.
        if self.at > first && self.tokens.get(self.at - 1).is_some_and(|t| t.kind == Kind::Dot) {
            return;
        }
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|t| t.kind == Kind::Dot).map_or(rest.len(), |n| n + 1);
        count_steps(length);
        self.at += length;
    }

    /// A directive's text is known with its dot.
    fn with_text(&self, mut statement: Statement) -> Statement {
        let written = self.text.get(statement.span.range()).unwrap_or_default().to_owned();
        if let StatementKind::Directive { text, .. } = &mut statement.kind {
            *text = written;
        }
        statement
    }

    pub(super) fn peek(&self) -> Option<&'a Kind> {
        count_steps(1);
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    /// The next token's place, or the end of the last one.
    pub(super) fn span(&self) -> Span {
        match (self.tokens.get(self.at), self.tokens.last()) {
            (Some(token), _) => token.span,
            (None, Some(last)) => Span::empty(last.span.end),
            (None, None) => Span::default(),
        }
    }

    pub(super) fn last_span(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or_else(Span::default, |t| t.span)
    }

    pub(super) fn eat(&mut self, kind: &Kind) -> bool {
        let found = self.peek() == Some(kind);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, kind: &Kind, what: &str) -> ParseResult<()> {
        if self.eat(kind) { Ok(()) } else { Err(self.unexpected_error(what)) }
    }

    fn expect_dot(&mut self, start: Span) -> ParseResult<Span> {
        if self.eat(&Kind::Dot) {
            return Ok(self.last_span());
        }
        if self.is_done() {
            let found = Diagnostic::error(code::MISSING_DOT, "this statement has no dot at its end")
                .at(self.source, start.to(self.last_span()), "")
                .help("end every statement with `.`");
            return Err(Some(Box::new(found)));
        }
        Err(self.unexpected_error("`.` at the end of the statement"))
    }

    /// The error for a token that the grammar does not allow here.
    pub(super) fn unexpected_error(&self, wanted: &str) -> ParseError {
        let found = match self.peek() {
            Some(Kind::Odd(_)) => return None,
            Some(kind) => format!("`{}`", kind.show()),
            None => "the end of the text".to_owned(),
        };
        let message = format!("expected {wanted}, found {found}");
        let diagnostic = Diagnostic::error(code::UNEXPECTED, message).at(self.source, self.span(), "");
        Some(Box::new(match self.peek() {
            Some(Kind::Variable(name)) => diagnostic.help(format!(
                "`{name}` is a variable, since it begins with an upper-case letter; names begin with a lower-case one"
            )),
            _ => diagnostic.help("a statement is `head.` or `head :- condition, condition.`"),
        }))
    }

    pub(super) fn unsupported_error(&self, span: Span, message: &str, help: &str) -> ParseError {
        Some(Box::new(
            Diagnostic::error(code::UNSUPPORTED, message).at(self.source, span, "").help(help.to_owned()),
        ))
    }

    fn statement_kind(&mut self) -> ParseResult<StatementKind> {
        match self.peek() {
            Some(Kind::Hash(name)) if !AGGREGATES.contains(&name.as_str()) => self.directive(name),
            Some(Kind::If) => {
                self.at += 1;
                Ok(StatementKind::Rule(Rule { head: Head::Constraint, body: self.body()? }))
            }
            _ => {
                let head = self.head()?;
                let body = if self.eat(&Kind::If) { self.body()? } else { Vec::new() };
                Ok(StatementKind::Rule(Rule { head, body }))
            }
        }
    }

    fn directive(&mut self, name: &str) -> ParseResult<StatementKind> {
        let rest = &self.tokens[self.at..];
        let length = rest.iter().position(|t| t.kind == Kind::Dot).unwrap_or(rest.len());
        self.at += length;
        if rest[..length].iter().any(|token| matches!(token.kind, Kind::Odd(_))) {
            return Err(None);
        }
        Ok(StatementKind::Directive { name: name.to_owned(), text: String::new() })
    }

    fn head(&mut self) -> ParseResult<Head> {
        if self.peek() == Some(&Kind::OpenBrace) {
            return self.choice(None);
        }
        let start = self.span();
        let term = self.term()?;
        let span = start.to(self.last_span());
        match self.peek() {
            Some(Kind::OpenBrace) => return self.choice(Some((term, Relation::LessEqual))),
            Some(Kind::Relation(relation)) => {
                let relation = *relation;
                self.at += 1;
                if self.peek() == Some(&Kind::OpenBrace) {
                    return self.choice(Some((term, relation)));
                }
                return Err(self.unsupported_error(
                    span,
                    "a comparison cannot be the head of a rule",
                    "state what must not hold as a constraint, `:- X = Y.`",
                ));
            }
            Some(Kind::Semicolon | Kind::Comma | Kind::Colon) => {
                return Err(self.unsupported_error(
                    self.span(),
                    "a rule has one atom as its head",
                    "write one statement for each atom",
                ));
            }
            _ => {}
        }
        Ok(Head::Atom(self.atom_of(term, span)?))
    }

    /// Reads `{ ... }` with its left bound; the right bound is read here.
    fn choice(&mut self, left: Option<(Term, Relation)>) -> ParseResult<Head> {
        let span = self.span();
        self.expect(&Kind::OpenBrace, "`{`")?;
        let mut elements = Vec::new();
        while self.peek() != Some(&Kind::CloseBrace) {
            elements.push(ChoiceElement { atom: self.atom()?, condition: self.condition()? });
            if !self.eat(&Kind::Semicolon) {
                break;
            }
        }
        self.expect(&Kind::CloseBrace, "`;` or `}` in the choice")?;
        let (mut lower, mut upper) = (None, None);
        let mut bound = |relation: Relation, term: Term| {
            match relation {
                Relation::LessEqual => upper = Some(term),
                Relation::GreaterEqual => lower = Some(term),
                Relation::Equal => (lower, upper) = (Some(term.clone()), Some(term)),
                _ => return false,
            }
            true
        };
        let mut known = true;
        if let Some((term, relation)) = left {
            known &= bound(mirrored(relation), term);
        }
        if let Some(Kind::Relation(relation)) = self.peek() {
            let relation = *relation;
            self.at += 1;
            known &= bound(relation, self.term()?);
        } else if !matches!(self.peek(), Some(Kind::Dot | Kind::If) | None) {
            known &= bound(Relation::LessEqual, self.term()?);
        }
        if !known {
            return Err(self.unsupported_error(
                span,
                "a choice is bounded by `=`, `<=` or `>=`",
                "write the bounds as `1 { ... } 2`",
            ));
        }
        Ok(Head::Choice { lower, elements, upper })
    }

    pub(super) fn atom(&mut self) -> ParseResult<Atom> {
        let start = self.span();
        let term = self.term()?;
        self.atom_of(term, start.to(self.last_span()))
    }

    /// The atom that was read as a term.
    pub(super) fn atom_of(&self, term: Term, span: Span) -> ParseResult<Atom> {
        match term {
            Term::Function { name, arguments } if !name.is_empty() => Ok(Atom { name, arguments, span }),
            Term::Minus(inner) if matches!(&*inner, Term::Function { name, .. } if !name.is_empty()) => {
                Err(Some(Box::new(
                    Diagnostic::error(code::CLASSICAL_NEGATION, "classical negation is not read")
                        .at(self.source, span, "")
                        .help("write `not` before the atom in a body, or use a predicate of its own"),
                )))
            }
            other => {
                let message = format!("expected an atom, found the term `{}`", shorten(&other.to_string()));
                Err(Some(Box::new(
                    Diagnostic::error(code::UNEXPECTED, message).at(self.source, span, "").help(
                        "an atom is a name, with arguments in parentheses where it has any: `clear(b1)`",
                    ),
                )))
            }
        }
    }

    pub(super) fn too_deep_error(&self) -> ParseError {
        let message = format!("terms are nested deeper than {MAX_DEPTH}");
        Some(Box::new(
            Diagnostic::error(code::TOO_DEEP, message)
                .at(self.source, self.span(), "")
                .help("break the term up, or look for parentheses that are never closed"),
        ))
    }
}

/// `X < Y` is `Y > X`.
fn mirrored(relation: Relation) -> Relation {
    match relation {
        Relation::Less => Relation::Greater,
        Relation::LessEqual => Relation::GreaterEqual,
        Relation::Greater => Relation::Less,
        Relation::GreaterEqual => Relation::LessEqual,
        other => other,
    }
}

/// The first characters of a long text.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
