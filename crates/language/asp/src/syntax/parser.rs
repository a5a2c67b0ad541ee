//! Parses tokens to statements. After a mistake, reading continues behind the next dot.

use super::ast::{
    Aggregate, AggregateElement, Atom, ChoiceElement, Head, Literal, Relation, Rule, Statement,
    StatementKind, Term,
};
use super::count_steps;
use super::lexer::{Kind, Token};
use crate::codes as code;
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

// Bodies of rules: literals, comparisons, aggregates and their conditions.

impl Parser<'_> {
    /// ` : a, b`, or nothing.
    pub(super) fn condition(&mut self) -> ParseResult<Vec<Literal>> {
        let mut literals = Vec::new();
        if !self.eat(&Kind::Colon) {
            return Ok(literals);
        }
        if matches!(self.peek(), Some(Kind::Semicolon | Kind::CloseBrace | Kind::Dot) | None) {
            return Ok(literals);
        }
        loop {
            self.simple_literal(&mut literals)?;
            if !self.eat(&Kind::Comma) {
                return Ok(literals);
            }
        }
    }

    pub(super) fn body(&mut self) -> ParseResult<Vec<Literal>> {
        let mut literals = Vec::new();
        // `p :- .` is what clingo's own texts have for facts.
        if self.peek() == Some(&Kind::Dot) {
            return Ok(literals);
        }
        loop {
            self.body_literal(&mut literals)?;
            if !self.eat(&Kind::Comma) && !self.eat(&Kind::Semicolon) {
                return Ok(literals);
            }
        }
    }

    fn body_literal(&mut self, out: &mut Vec<Literal>) -> ParseResult<()> {
        let start = self.span();
        let negated = self.peek() == Some(&Kind::Not);
        let begin = self.at + usize::from(negated);
        match self.tokens.get(begin).map(|t| &t.kind) {
            Some(Kind::Hash(_)) => {
                self.at = begin;
                out.push(self.aggregate(negated, None, start)?);
                return Ok(());
            }
            Some(Kind::OpenBrace) => {
                let help = "count with `#count { X : p(X) } = 1`";
                return Err(self.unsupported_error(start, "a set in a body is not read", help));
            }
            _ => {}
        }
        let first = out.len();
        self.literal(out, true)?;
        if self.peek() == Some(&Kind::Colon) {
            let condition = self.condition()?;
            if out.len() != first + 1 || matches!(out.last(), Some(Literal::Aggregate(_))) {
                let help = "write one atom before the colon";
                return Err(self.unsupported_error(start, "only one literal may have a condition", help));
            }
            if let Some(literal) = out.pop() {
                out.push(Literal::Conditional { literal: Box::new(literal), condition });
            }
            if self.peek() == Some(&Kind::Comma) {
                return Err(self.unexpected_error("`;` or `.` behind the condition"));
            }
        }
        Ok(())
    }

    /// An atom or comparison, with `not` or without.
    fn simple_literal(&mut self, out: &mut Vec<Literal>) -> ParseResult<()> {
        self.literal(out, false)
    }

    /// A literal; several for a chain of comparisons. Aggregates with a guard on their left are read where allowed.
    fn literal(&mut self, out: &mut Vec<Literal>, aggregates: bool) -> ParseResult<()> {
        let start = self.span();
        let negated = self.eat(&Kind::Not);
        if self.peek() == Some(&Kind::Not) {
            let help = "write the literal without `not not`";
            return Err(self.unsupported_error(start, "double negation is not read", help));
        }
        let term_start = self.span();
        let left = self.term()?;
        let left_span = term_start.to(self.last_span());
        let relation = match self.peek() {
            Some(Kind::Relation(relation)) => *relation,
            Some(Kind::Hash(_)) if aggregates => {
                out.push(self.aggregate(negated, Some((left, Relation::LessEqual)), start)?);
                return Ok(());
            }
            _ => {
                let atom = self.atom_of(left, left_span)?;
                out.push(Literal::Atom { negated, atom });
                return Ok(());
            }
        };
        self.at += 1;
        if aggregates && matches!(self.peek(), Some(Kind::Hash(_))) {
            out.push(self.aggregate(negated, Some((left, relation)), start)?);
            return Ok(());
        }
        self.comparisons(out, left, relation, negated, start)
    }

    /// `left relation ...`, where the next term is to come; `1 < X < 5` is two comparisons.
    fn comparisons(
        &mut self,
        out: &mut Vec<Literal>,
        mut left: Term,
        mut relation: Relation,
        negated: bool,
        start: Span,
    ) -> ParseResult<()> {
        let first = out.len();
        loop {
            let right = self.term()?;
            let span = start.to(self.last_span());
            let next = match self.peek() {
                Some(Kind::Relation(next)) => Some(*next),
                _ => None,
            };
            let stored = if negated { opposite(relation) } else { relation };
            let has_interval = has_interval(&left) || has_interval(&right);
            if negated && (next.is_some() || has_interval) {
                let help = "write the opposite relation without `not`";
                return Err(self.unsupported_error(span, "`not` before this comparison is not read", help));
            }
            let again = next.map(|_| right.clone());
            out.push(Literal::Comparison { left, relation: stored, right, span });
            let (Some(next), Some(again)) = (next, again) else { return Ok(()) };
            if out.len() - first > MAX_DEPTH {
                return Err(self.too_deep_error());
            }
            self.at += 1;
            (left, relation) = (again, next);
        }
    }

    fn aggregate(
        &mut self,
        negated: bool,
        left: Option<(Term, Relation)>,
        start: Span,
    ) -> ParseResult<Literal> {
        let function = match self.peek() {
            Some(Kind::Hash(name)) if AGGREGATES.contains(&name.as_str()) => name.clone(),
            Some(Kind::Hash(name)) => {
                let message = format!("`#{name}` is not an aggregate");
                let help = "the aggregates are #count, #sum, #sum+, #min and #max";
                return Err(self.unsupported_error(self.span(), &message, help));
            }
            _ => return Err(self.unexpected_error("an aggregate")),
        };
        self.at += 1;
        self.expect(&Kind::OpenBrace, &format!("`{{` behind `#{function}`"))?;
        let mut elements = Vec::new();
        while self.peek() != Some(&Kind::CloseBrace) {
            let mut terms = Vec::new();
            if self.peek() != Some(&Kind::Colon) {
                terms.push(self.term()?);
                while self.eat(&Kind::Comma) {
                    terms.push(self.term()?);
                }
            }
            elements.push(AggregateElement { terms, condition: self.condition()? });
            if !self.eat(&Kind::Semicolon) {
                break;
            }
        }
        self.expect(&Kind::CloseBrace, "`;` or `}` in the aggregate")?;
        let right = match self.peek() {
            Some(Kind::Relation(relation)) => {
                let relation = *relation;
                self.at += 1;
                Some((relation, self.term()?))
            }
            Some(kind) if begins_term(kind) => Some((Relation::LessEqual, self.term()?)),
            _ => None,
        };
        let span = start.to(self.last_span());
        Ok(Literal::Aggregate(Aggregate { negated, function, elements, left, right, span }))
    }
}

fn begins_term(kind: &Kind) -> bool {
    use Kind::{Anonymous, At, Minus, Name, Number, Open, Text, Variable};
    matches!(kind, Name(_) | Variable(_) | Anonymous | Number(_) | Text(_) | At | Open | Minus)
}

/// `not X < Y` is `X >= Y`.
fn opposite(relation: Relation) -> Relation {
    match relation {
        Relation::Equal => Relation::NotEqual,
        Relation::NotEqual => Relation::Equal,
        Relation::Less => Relation::GreaterEqual,
        Relation::LessEqual => Relation::Greater,
        Relation::Greater => Relation::LessEqual,
        Relation::GreaterEqual => Relation::Less,
    }
}

fn has_interval(term: &Term) -> bool {
    match term {
        Term::Interval(..) => true,
        Term::Minus(inner) => has_interval(inner),
        Term::Binary { left, right, .. } => has_interval(left) || has_interval(right),
        Term::Function { arguments, .. } | Term::External { arguments, .. } => {
            arguments.iter().any(has_interval)
        }
        _ => false,
    }
}

// Parses terms: arguments and sides of comparisons and aggregates.

impl Parser<'_> {
    pub(crate) fn term(&mut self) -> ParseResult<Term> {
        self.nested(Self::interval)
    }

    fn interval(&mut self) -> ParseResult<Term> {
        let left = self.binary(1)?;
        if !self.eat(&Kind::Dots) {
            return Ok(left);
        }
        let height = self.height;
        let right = self.binary(1)?;
        if self.peek() == Some(&Kind::Dots) {
            return Err(self.unexpected_error("an interval with two ends"));
        }
        self.grow(height.max(self.height))?;
        Ok(Term::Interval(Box::new(left), Box::new(right)))
    }

    /// Records that the last term has children of that height.
    fn grow(&mut self, below: usize) -> ParseResult<()> {
        self.height = below + 1;
        if self.height > MAX_DEPTH { Err(self.too_deep_error()) } else { Ok(()) }
    }

    /// Reads what is nested in a term.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep_error());
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Reads operators with at least this precedence.
    fn binary(&mut self, least: u8) -> ParseResult<Term> {
        let mut left = self.unary()?;
        loop {
            let Some((operator, own)) = self.peek().and_then(operator) else { return Ok(left) };
            if own < least {
                return Ok(left);
            }
            self.at += 1;
            let height = self.height;
            let next = if operator == "**" { own } else { own + 1 };
            let right = self.nested(|parser| parser.binary(next))?;
            self.grow(height.max(self.height))?;
            left =
                Term::Binary { operator: operator.to_owned(), left: Box::new(left), right: Box::new(right) };
        }
    }

    fn unary(&mut self) -> ParseResult<Term> {
        if !self.eat(&Kind::Minus) {
            return self.primary();
        }
        if let Some(Kind::Number(number)) = self.peek() {
            let number = *number;
            self.at += 1;
            self.height = 1;
            return Ok(Term::Number(-number));
        }
        let inner = self.nested(Self::unary)?;
        self.grow(self.height)?;
        Ok(Term::Minus(Box::new(inner)))
    }

    fn primary(&mut self) -> ParseResult<Term> {
        let Some(kind) = self.peek() else { return Err(self.unexpected_error("a term")) };
        let term = match kind {
            Kind::Number(number) => Term::Number(*number),
            Kind::Text(text) => Term::Text(text.clone()),
            Kind::Variable(name) => Term::Variable(name.clone()),
            Kind::Anonymous => Term::Anonymous,
            Kind::Name(name) => {
                self.at += 1;
                return Ok(Term::Function { name: name.clone(), arguments: self.arguments()? });
            }
            Kind::At => {
                self.at += 1;
                let Some(Kind::Name(name)) = self.peek() else {
                    return Err(self.unexpected_error("a name behind `@`"));
                };
                self.at += 1;
                return Ok(Term::External { name: name.clone(), arguments: self.arguments()? });
            }
            Kind::Open => return self.parentheses(),
            _ => return Err(self.unexpected_error("a term")),
        };
        self.at += 1;
        self.height = 1;
        Ok(term)
    }

    /// Terms with commas between them, and the height of the tallest; whether the last comma ends the list.
    fn terms(&mut self) -> ParseResult<(Vec<Term>, bool)> {
        let (mut terms, mut tallest) = (vec![self.term()?], self.height);
        while self.eat(&Kind::Comma) {
            if self.peek() == Some(&Kind::Close) {
                self.height = tallest;
                return Ok((terms, true));
            }
            terms.push(self.term()?);
            tallest = tallest.max(self.height);
        }
        self.height = tallest;
        Ok((terms, false))
    }

    /// Reads `(a, b)` after a name, or nothing.
    fn arguments(&mut self) -> ParseResult<Vec<Term>> {
        self.height = 1;
        if !self.eat(&Kind::Open) || self.eat(&Kind::Close) {
            return Ok(Vec::new());
        }
        let (terms, dangling) = self.terms()?;
        if dangling {
            return Err(self.unexpected_error("an argument"));
        }
        self.close()?;
        self.grow(self.height)?;
        Ok(terms)
    }

    fn close(&mut self) -> ParseResult<()> {
        if self.peek() == Some(&Kind::Semicolon) {
            return Err(self.unsupported_error(
                self.span(),
                "pools, `p(a;b)`, are not read",
                "write one statement for each: `p(a). p(b).`",
            ));
        }
        self.expect(&Kind::Close, "`,` or `)`")
    }

    /// A tuple, or a term in parentheses.
    fn parentheses(&mut self) -> ParseResult<Term> {
        self.at += 1;
        self.height = 1;
        if self.eat(&Kind::Close) {
            return Ok(Term::Function { name: String::new(), arguments: Vec::new() });
        }
        let (mut terms, dangling) = self.terms()?;
        self.close()?;
        match terms.pop() {
            Some(term) if terms.is_empty() && !dangling => Ok(term),
            last => {
                terms.extend(last);
                self.grow(self.height)?;
                Ok(Term::Function { name: String::new(), arguments: terms })
            }
        }
    }
}

/// The operator and how tightly it binds.
fn operator(kind: &Kind) -> Option<(&'static str, u8)> {
    Some(match kind {
        Kind::Plus => ("+", 1),
        Kind::Minus => ("-", 1),
        Kind::Star => ("*", 2),
        Kind::Slash => ("/", 2),
        Kind::Backslash => ("\\", 2),
        Kind::Power => ("**", 3),
        _ => return None,
    })
}
