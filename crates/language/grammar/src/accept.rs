//! Membership: is a text derived by a grammar?

use crate::tree::{Expr, Grammar, RuleId};
use std::collections::{BTreeSet, HashMap};

/// Rules nested deeper than this are not followed; the text is then not accepted.
const MAX_NESTING: u32 = 400;

impl Grammar {
    /// Returns true if the grammar derives the whole text.
    pub fn accepts(&self, text: &str) -> bool {
        self.ends(text).contains(&text.len())
    }

    /// The greatest place up to which the text is the beginning of a derived text, in bytes.
    pub fn accepted_prefix(&self, text: &str) -> usize {
        let mut run = Run { grammar: self, text, ends: HashMap::new(), farthest: 0, depth: 0 };
        run.rule(self.start, 0);
        run.farthest
    }

    fn ends(&self, text: &str) -> BTreeSet<usize> {
        let mut run = Run { grammar: self, text, ends: HashMap::new(), farthest: 0, depth: 0 };
        run.rule(self.start, 0)
    }
}

/// Recursive descent over sets of places: every rule is tried once at each place, so the time is polynomial.
struct Run<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    ends: HashMap<(RuleId, usize), BTreeSet<usize>>,
    farthest: usize,
    depth: u32,
}

impl Run<'_> {
    fn rule(&mut self, id: RuleId, at: usize) -> BTreeSet<usize> {
        if let Some(ends) = self.ends.get(&(id, at)) {
            return ends.clone();
        }
        if self.depth == MAX_NESTING {
            return BTreeSet::new();
        }
        self.depth += 1;
        let grammar = self.grammar;
        let ends = self.expr(&grammar.rule(id).expr, at);
        self.depth -= 1;
        self.ends.insert((id, at), ends.clone());
        ends
    }

    fn expr(&mut self, expr: &Expr, at: usize) -> BTreeSet<usize> {
        match expr {
            Expr::Literal(literal) => {
                let rest = &self.text.as_bytes()[at..];
                let same = rest.iter().zip(literal.as_bytes()).take_while(|(a, b)| a == b).count();
                self.farthest = self.farthest.max(at + same);
                if same == literal.len() { BTreeSet::from([at + same]) } else { BTreeSet::new() }
            }
            Expr::Class { ranges, negated } => match self.text[at..].chars().next() {
                Some(c) if ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated => {
                    self.farthest = self.farthest.max(at + c.len_utf8());
                    BTreeSet::from([at + c.len_utf8()])
                }
                _ => BTreeSet::new(),
            },
            Expr::Sequence(parts) => parts.iter().fold(BTreeSet::from([at]), |places, part| {
                places.into_iter().flat_map(|place| self.expr(part, place)).collect()
            }),
            Expr::Choice(parts) => parts.iter().flat_map(|part| self.expr(part, at)).collect(),
            Expr::Repeat { inner, min, max } => self.repeat(inner, *min, *max, at),
            Expr::Rule(id) => self.rule(*id, at),
        }
    }

    fn repeat(&mut self, inner: &Expr, min: u32, max: Option<u32>, at: usize) -> BTreeSet<usize> {
        let mut ends = BTreeSet::new();
        let mut places = BTreeSet::from([at]);
        let mut count = 0;
        while !places.is_empty() {
            if count >= min {
                // A place that was reached with fewer repetitions leads nowhere new, unless repetitions are counted.
                if max.is_none() {
                    places.retain(|place| !ends.contains(place));
                }
                ends.extend(&places);
            }
            if max == Some(count) {
                break;
            }
            places = places
                .into_iter()
                .flat_map(|place| {
                    let mut next = self.expr(inner, place);
                    next.remove(&place);
                    next
                })
                .collect();
            count += 1;
        }
        ends
    }
}
