//! Grammars in Lark's notation, as llguidance and OpenAI's custom tools read it.

use crate::gbnf::repetition;
use crate::tree::{Expr, Grammar, Rule};
use std::fmt::Write as _;

impl Grammar {
    /// The grammar in Lark's notation. Its start is the rule `start`; words are terminals, each one regular expression.
    pub fn to_lark(&self) -> String {
        let mut out = String::new();
        for rule in &self.rules {
            let _ = write!(out, "{}: ", lark_name(self, rule));
            if rule.is_token {
                out.push('/');
                print_regex(&rule.expr, Place::Alone, &mut out);
                out.push('/');
            } else {
                self.print_lark(&rule.expr, Place::Alone, &mut out);
            }
            out.push('\n');
        }
        out
    }

    fn print_lark(&self, expr: &Expr, place: Place, out: &mut String) {
        match expr {
            Expr::Literal(text) => out.push_str(&quoted(text)),
            Expr::Class { .. } => {
                out.push('/');
                print_regex(expr, Place::Alone, out);
                out.push('/');
            }
            Expr::Rule(id) => out.push_str(&lark_name(self, self.rule(*id))),
            Expr::Sequence(parts) if parts.is_empty() => out.push_str("\"\""),
            Expr::Sequence(parts) => {
                let several = parts.len() > 1;
                let bracketed = several && place == Place::Repeated;
                let inner = if several { Place::InSequence } else { place };
                print_list(parts, " ", bracketed, out, |part, out| self.print_lark(part, inner, out));
            }
            Expr::Choice(parts) => {
                let bracketed = place != Place::Alone;
                print_list(parts, " | ", bracketed, out, |part, out| {
                    self.print_lark(part, Place::InSequence, out);
                });
            }
            Expr::Repeat { inner, min, max } => {
                self.print_lark(inner, Place::Repeated, out);
                out.push_str(&repetition(*min, *max));
            }
        }
    }
}

/// Surroundings of a printed expression, which decide about brackets.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Alone,
    InSequence,
    Repeated,
}

fn print_list(
    parts: &[Expr],
    between: &str,
    bracketed: bool,
    out: &mut String,
    mut print: impl FnMut(&Expr, &mut String),
) {
    out.push_str(if bracketed { "(" } else { "" });
    for (n, part) in parts.iter().enumerate() {
        out.push_str(if n > 0 { between } else { "" });
        print(part, out);
    }
    out.push_str(if bracketed { ")" } else { "" });
}

/// Terminals are in upper case, rules in lower case; hyphens become underscores.
fn lark_name(grammar: &Grammar, rule: &Rule) -> String {
    if rule == grammar.rule(grammar.start) {
        return "start".into();
    }
    let name = rule.name.replace('-', "_");
    if rule.is_token { name.to_uppercase() } else { name }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
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
    out
}

/// A word as a regular expression.
fn print_regex(expr: &Expr, place: Place, out: &mut String) {
    match expr {
        Expr::Literal(text) => {
            let bracketed = place == Place::Repeated && text.chars().count() != 1;
            out.push_str(if bracketed { "(" } else { "" });
            text.chars().for_each(|c| print_regex_char(c, out));
            out.push_str(if bracketed { ")" } else { "" });
        }
        Expr::Class { ranges, negated } => {
            out.push_str(if *negated { "[^" } else { "[" });
            for (from, to) in ranges {
                print_regex_char(*from, out);
                if from != to {
                    out.push('-');
                    print_regex_char(*to, out);
                }
            }
            out.push(']');
        }
        Expr::Sequence(parts) => {
            let bracketed = place == Place::Repeated;
            print_list(parts, "", bracketed, out, |part, out| print_regex(part, Place::InSequence, out));
        }
        Expr::Choice(parts) => {
            let bracketed = place != Place::Alone;
            print_list(parts, "|", bracketed, out, |part, out| print_regex(part, Place::InSequence, out));
        }
        Expr::Repeat { inner, min, max } => {
            print_regex(inner, Place::Repeated, out);
            out.push_str(&repetition(*min, *max));
        }
        // Words refer to no rule.
        Expr::Rule(_) => {}
    }
}

fn print_regex_char(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_alphanumeric()
            || matches!(
                c,
                ' ' | '_' | ':' | '@' | '!' | '%' | ',' | ';' | '<' | '>' | '=' | '`' | '\'' | '"'
            ) =>
        {
            out.push(c);
        }
        c if c.is_ascii() => {
            out.push('\\');
            out.push(c);
        }
        c => out.push(c),
    }
}
