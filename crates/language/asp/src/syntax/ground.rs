//! The terms and atoms of a reasoner's answer: no variables, no operators, read in one pass over the bytes.

use super::ast::{Atom, Term};
use super::lexer::MAX_NUMBER;
use super::parser::MAX_DEPTH;
use planforge_diagnostics::Span;

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
