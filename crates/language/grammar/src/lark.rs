//! Grammars in Lark's notation, as llguidance and OpenAI's custom tools read it.

use crate::notation::{Notation, Place, print_list, repetition};
use crate::tree::{Expr, Grammar, Rule, RuleId};
use std::fmt::Write as _;

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
