//! Parses terms: arguments and sides of comparisons and aggregates.

use super::ast::Term;
use super::lexer::Kind;
use super::parser::{MAX_DEPTH, ParseResult, Parser};

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
