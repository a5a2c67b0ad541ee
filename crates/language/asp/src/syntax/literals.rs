//! Bodies of rules: literals, comparisons, aggregates and their conditions.

use super::ast::{Aggregate, AggregateElement, Literal, Relation, Term};
use super::lexer::Kind;
use super::parser::{AGGREGATES, MAX_DEPTH, ParseResult, Parser};
use planforge_diagnostics::Span;

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
