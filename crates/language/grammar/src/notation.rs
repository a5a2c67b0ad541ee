//! The parts of a printed grammar that GBNF and Lark's notation have in common.

use crate::tree::{Expr, RuleId};

/// Surroundings of a printed expression, which decide about brackets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Alone,
    InSequence,
    Repeated,
}

/// A notation in which grammars are printed.
pub(crate) trait Notation {
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
pub(crate) fn print_list(
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
