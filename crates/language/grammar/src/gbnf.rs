//! Grammars in GBNF, the notation of llama.cpp, which vLLM and SGLang read as EBNF.

use crate::tree::{Expr, Grammar};
use std::fmt::Write as _;

impl Grammar {
    /// The grammar in GBNF. Its start is the rule `root`.
    pub fn to_gbnf(&self) -> String {
        let mut out = String::new();
        for rule in &self.rules {
            let _ = write!(out, "{} ::= ", rule.name);
            self.print_gbnf(&rule.expr, Place::Alone, &mut out);
            out.push('\n');
        }
        out
    }

    fn print_gbnf(&self, expr: &Expr, place: Place, out: &mut String) {
        match expr {
            Expr::Literal(text) => print_literal(text, out),
            Expr::Class { ranges, negated } => print_class(ranges, *negated, out),
            Expr::Rule(id) => out.push_str(&self.rule(*id).name),
            Expr::Sequence(parts) if parts.is_empty() => out.push_str("\"\""),
            Expr::Sequence(parts) => {
                let bracketed = place == Place::Repeated && parts.len() > 1;
                let inner = if parts.len() > 1 && !bracketed { Place::InSequence } else { place };
                print_list(
                    self,
                    parts,
                    " ",
                    bracketed,
                    if bracketed { Place::InSequence } else { inner },
                    out,
                );
            }
            Expr::Choice(parts) => {
                print_list(self, parts, " | ", place != Place::Alone, Place::InChoice, out);
            }
            Expr::Repeat { inner, min, max } => {
                self.print_gbnf(inner, Place::Repeated, out);
                out.push_str(&repetition(*min, *max));
            }
        }
    }
}

/// Surroundings of a printed expression, which decide about brackets.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Alone,
    InChoice,
    InSequence,
    Repeated,
}

fn print_list(
    grammar: &Grammar,
    parts: &[Expr],
    between: &str,
    bracketed: bool,
    place: Place,
    out: &mut String,
) {
    out.push_str(if bracketed { "(" } else { "" });
    for (n, part) in parts.iter().enumerate() {
        out.push_str(if n > 0 { between } else { "" });
        grammar.print_gbnf(part, place, out);
    }
    out.push_str(if bracketed { ")" } else { "" });
}

/// The suffix of a repetition: `?`, `*`, `+` or `{m,n}`.
pub(crate) fn repetition(min: u32, max: Option<u32>) -> String {
    match (min, max) {
        (0, Some(1)) => "?".into(),
        (0, None) => "*".into(),
        (1, None) => "+".into(),
        (min, None) => format!("{{{min},}}"),
        (min, Some(max)) => format!("{{{min},{max}}}"),
    }
}

fn print_literal(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn print_class(ranges: &[(char, char)], negated: bool, out: &mut String) {
    out.push_str(if negated { "[^" } else { "[" });
    // A hyphen at the end needs no escape, which not every reader of the notation has.
    let is_hyphen = |range: &&(char, char)| **range == ('-', '-');
    for (from, to) in ranges.iter().filter(|range| !is_hyphen(range)) {
        print_class_char(*from, out);
        if from != to {
            out.push('-');
            print_class_char(*to, out);
        }
    }
    out.push_str(if ranges.iter().any(|range| is_hyphen(&range)) { "-]" } else { "]" });
}

fn print_class_char(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '[' | ']' | '\\' | '^' => {
            out.push('\\');
            out.push(c);
        }
        c => out.push(c),
    }
}
