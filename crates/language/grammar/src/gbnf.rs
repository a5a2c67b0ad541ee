//! Grammars in GBNF, the notation of llama.cpp, which vLLM and SGLang read as EBNF.

use crate::notation::{Notation, Place};
use crate::tree::{Grammar, RuleId};
use std::fmt::Write as _;

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
