//! Printed grammars: GBNF, the notation of llama.cpp, which vLLM and SGLang read as EBNF, and Lark's notation, as llguidance and OpenAI's
//! custom tools read it.

use crate::tree::{Expr, Grammar, Rule, RuleId};
use std::fmt::Write as _;

/// Surroundings of a printed expression, which decide about brackets.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Alone,
    InSequence,
    Repeated,
}

/// A notation in which grammars are printed.
trait Notation {
    fn print_class(&self, ranges: &[(char, char)], negated: bool, out: &mut String);

    /// Prints the name of a rule.
    fn print_rule(&self, rule: RuleId, out: &mut String);

    fn print(&self, expr: &Expr, place: Place, out: &mut String) {
        match expr {
            Expr::Literal(text) => print_literal(text, out),
            Expr::Class { ranges, negated } => self.print_class(ranges, *negated, out),
            Expr::Rule(id) => self.print_rule(*id, out),
            Expr::Sequence(parts) if parts.is_empty() => out.push_str("\"\""),
            Expr::Sequence(parts) => {
                let several = parts.len() > 1;
                let bracketed = several && place == Place::Repeated;
                let inner = if several { Place::InSequence } else { place };
                print_list(parts, " ", bracketed, out, |part, out| self.print(part, inner, out));
            }
            Expr::Choice(parts) => {
                let bracketed = place != Place::Alone;
                print_list(parts, " | ", bracketed, out, |part, out| {
                    self.print(part, Place::InSequence, out);
                });
            }
            Expr::Repeat { inner, min, max } => {
                self.print(inner, Place::Repeated, out);
                out.push_str(&repetition(*min, *max));
            }
        }
    }
}

/// Prints parts one after the other, in brackets or not.
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

/// The suffix of a repetition: `?`, `*`, `+` or `{m,n}`.
fn repetition(min: u32, max: Option<u32>) -> String {
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

impl Grammar {
    /// The grammar in GBNF. Its start is the rule `root`.
    pub fn to_gbnf(&self) -> String {
        let mut out = String::new();
        for rule in &self.rules {
            let _ = write!(out, "{} ::= ", rule.name);
            Gbnf(self).print(&rule.expr, Place::Alone, &mut out);
            out.push('\n');
        }
        out
    }
}

struct Gbnf<'g>(&'g Grammar);

impl Notation for Gbnf<'_> {
    fn print_class(&self, ranges: &[(char, char)], negated: bool, out: &mut String) {
        print_class(ranges, negated, out);
    }

    fn print_rule(&self, rule: RuleId, out: &mut String) {
        out.push_str(&self.0.rule(rule).name);
    }
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

impl Grammar {
    /// The grammar in Lark's notation. Its start is the rule `start`; words are terminals, each one regular expression.
    pub fn to_lark(&self) -> String {
        let mut out = String::new();
        for rule in &self.rules {
            let _ = write!(out, "{}: ", lark_name(self, rule));
            if rule.is_token {
                out.push('/');
                print_regex(self, &rule.expr, Place::Alone, &mut out);
                out.push('/');
            } else {
                Lark(self).print(&rule.expr, Place::Alone, &mut out);
            }
            out.push('\n');
        }
        out
    }

    /// The rule of that name as a regular expression; it must not derive itself.
    pub(crate) fn regex_of(&self, name: &str) -> Option<String> {
        let rule = self.rules.iter().find(|rule| rule.name == name)?;
        let mut out = String::new();
        print_regex(self, &rule.expr, Place::Alone, &mut out);
        Some(out)
    }
}

struct Lark<'g>(&'g Grammar);

impl Notation for Lark<'_> {
    fn print_class(&self, ranges: &[(char, char)], negated: bool, out: &mut String) {
        out.push('/');
        print_regex_class(ranges, negated, out);
        out.push('/');
    }

    fn print_rule(&self, rule: RuleId, out: &mut String) {
        out.push_str(&lark_name(self.0, self.0.rule(rule)));
    }
}

/// Terminals are in upper case, rules in lower case; hyphens become underscores.
fn lark_name(grammar: &Grammar, rule: &Rule) -> String {
    if rule == grammar.rule(grammar.start) {
        return "start".into();
    }
    let name = rule.name.replace('-', "_");
    if rule.is_token { name.to_uppercase() } else { name }
}

/// An expression as a regular expression.
fn print_regex(grammar: &Grammar, expr: &Expr, place: Place, out: &mut String) {
    let print = |part: &Expr, out: &mut String| print_regex(grammar, part, Place::InSequence, out);
    match expr {
        Expr::Literal(text) => {
            let bracketed = place == Place::Repeated && text.chars().count() != 1;
            out.push_str(if bracketed { "(" } else { "" });
            text.chars().for_each(|c| print_regex_char(c, out));
            out.push_str(if bracketed { ")" } else { "" });
        }
        Expr::Class { ranges, negated } => print_regex_class(ranges, *negated, out),
        Expr::Sequence(parts) => {
            let bracketed = place == Place::Repeated;
            print_list(parts, "", bracketed, out, print);
        }
        Expr::Choice(parts) => {
            let bracketed = place != Place::Alone;
            print_list(parts, "|", bracketed, out, print);
        }
        Expr::Repeat { inner, min, max } => {
            let bracketed = place == Place::Repeated;
            out.push_str(if bracketed { "(" } else { "" });
            print_regex(grammar, inner, Place::Repeated, out);
            out.push_str(&repetition(*min, *max));
            out.push_str(if bracketed { ")" } else { "" });
        }
        Expr::Rule(id) => print_regex(grammar, &grammar.rule(*id).expr, place, out),
    }
}

fn print_regex_class(ranges: &[(char, char)], negated: bool, out: &mut String) {
    out.push_str(if negated { "[^" } else { "[" });
    for (from, to) in ranges {
        print_regex_char(*from, out);
        if from != to {
            out.push('-');
            print_regex_char(*to, out);
        }
    }
    out.push(']');
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
