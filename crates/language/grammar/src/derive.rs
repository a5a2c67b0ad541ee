//! Random texts of a grammar, for tests and studies.

use crate::tree::{Expr, Grammar};
use planforge_pddl::random::Random;

/// Most repetitions drawn where a grammar allows any number.
const MOST_REPETITIONS: u32 = 5;

impl Grammar {
    /// A random text of the grammar. Deeper than `depth` rules, the shortest alternatives are taken.
    pub fn derive(&self, random: &mut Random, depth: u32) -> String {
        let heights = self.heights();
        let mut out = String::new();
        let start = Expr::Rule(self.start);
        Derivation { grammar: self, heights: &heights, random }.expr(&start, depth, &mut out);
        out
    }

    /// For each rule, the least nesting of rules in a text of it.
    fn heights(&self) -> Vec<u32> {
        let mut heights = vec![u32::MAX; self.rules.len()];
        loop {
            let mut changed = false;
            for (n, rule) in self.rules.iter().enumerate() {
                let height = height(&rule.expr, &heights).saturating_add(1);
                if height < heights[n] {
                    heights[n] = height;
                    changed = true;
                }
            }
            if !changed {
                return heights;
            }
        }
    }
}

fn height(expr: &Expr, heights: &[u32]) -> u32 {
    match expr {
        Expr::Literal(_) | Expr::Class { .. } => 0,
        Expr::Sequence(parts) => parts.iter().map(|part| height(part, heights)).max().unwrap_or(0),
        Expr::Choice(parts) => parts.iter().map(|part| height(part, heights)).min().unwrap_or(u32::MAX),
        Expr::Repeat { min: 0, .. } => 0,
        Expr::Repeat { inner, .. } => height(inner, heights),
        Expr::Rule(id) => heights[id.0],
    }
}

struct Derivation<'a> {
    grammar: &'a Grammar,
    heights: &'a [u32],
    random: &'a mut Random,
}

impl Derivation<'_> {
    fn expr(&mut self, expr: &Expr, depth: u32, out: &mut String) {
        match expr {
            Expr::Literal(text) => out.push_str(text),
            Expr::Class { ranges, negated } => out.push(self.character(ranges, *negated)),
            Expr::Sequence(parts) => parts.iter().for_each(|part| self.expr(part, depth, out)),
            Expr::Choice(parts) => {
                let lowest = parts.iter().map(|part| height(part, self.heights)).min().unwrap_or(0);
                let fits = |part: &&Expr| height(part, self.heights) <= lowest.max(depth);
                let fitting: Vec<&Expr> = parts.iter().filter(fits).collect();
                if let Some(part) = self.random.pick(&fitting).copied() {
                    self.expr(part, depth, out);
                }
            }
            Expr::Repeat { inner, min, max } => {
                let is_deep = height(inner, self.heights) > depth;
                // Runs of blanks are kept short.
                let most = max.unwrap_or(min + MOST_REPETITIONS).min(min + MOST_REPETITIONS);
                let extra = if is_deep { 0 } else { self.random.below(u64::from(most - min) + 1) as u32 };
                (0..min + extra).for_each(|_| self.expr(inner, depth, out));
            }
            Expr::Rule(id) => {
                let grammar = self.grammar;
                self.expr(&grammar.rule(*id).expr, depth.saturating_sub(1), out);
            }
        }
    }

    fn character(&mut self, ranges: &[(char, char)], negated: bool) -> char {
        if negated {
            let allowed: Vec<char> =
                (' '..='~').filter(|c| !ranges.iter().any(|(from, to)| (*from..=*to).contains(c))).collect();
            return self.random.pick(&allowed).copied().unwrap_or('x');
        }
        let size = |(from, to): &(char, char)| u64::from(*to as u32 - *from as u32 + 1);
        let mut n = self.random.below(ranges.iter().map(size).sum());
        for range in ranges {
            if n < size(range) {
                return char::from_u32(range.0 as u32 + n as u32).unwrap_or(range.0);
            }
            n -= size(range);
        }
        'x'
    }
}
