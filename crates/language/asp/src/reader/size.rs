//! Estimates the number of facts that a text gives before a reasoner runs: 10^9 atoms in one line must not
//! reach it.
//!
//! The estimate multiplies, for each rule, the possibilities that each condition leaves. It uses the facts
//! and counts of the text, and a few facts per object for predicates that only a knowledge file concludes.
//! Programs that are larger than estimated run into the limits of the reasoner's process.

use super::graph::{Graph, Key, key};
use super::report::Report;
use super::safety::{binds, bound, variables};
use super::signature::Signature;
use crate::codes::reader as code;
use crate::syntax::ast::{Atom, Head, Literal, Rule, Term};
use planforge_diagnostics::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Length of the longest interval.
pub const MAX_INTERVAL: i64 = 10_000;
/// The most objects of one type.
pub const MAX_OBJECTS: i64 = 10_000;
/// The most facts, and ways to satisfy conditions, that a text may give by estimate.
pub const MAX_INSTANCES: u64 = 250_000;
/// Facts for each object that a knowledge file may conclude of a predicate, by estimate.
const CONCLUDED: u64 = 4;

/// Refuses intervals and counts beyond the limits; whether the rule has none.
pub(super) fn check_intervals(rule: &Rule, span: Span, report: &mut Report) -> bool {
    let refused = report.refusals.count();
    if let Head::Atom(atom) = &rule.head {
        atom.arguments.iter().for_each(|term| intervals(term, atom.span, report));
        if let ("cardinality", [_, count]) = (atom.name.as_str(), atom.arguments.as_slice())
            && let Some(number) = value(count)
            && number > MAX_OBJECTS
        {
            let message = format!("a type has at most {MAX_OBJECTS} objects, not {number}");
            report.refuse(code::TOO_MANY_ATOMS, message, atom.span, "write the number that the task has");
        }
    }
    for literal in &rule.body {
        visit_terms(literal, &mut |term| intervals(term, span, report));
    }
    report.refusals.count() == refused
}

fn visit_terms<'a>(literal: &'a Literal, visit: &mut dyn FnMut(&'a Term)) {
    match literal {
        Literal::Atom { atom, .. } => atom.arguments.iter().for_each(visit),
        Literal::Comparison { left, right, .. } => {
            visit(left);
            visit(right);
        }
        Literal::Aggregate(aggregate) => {
            aggregate.left.iter().for_each(|(term, _)| visit(term));
            aggregate.right.iter().for_each(|(_, term)| visit(term));
            for element in &aggregate.elements {
                element.terms.iter().for_each(&mut *visit);
                element.condition.iter().for_each(|literal| visit_terms(literal, visit));
            }
        }
        Literal::Conditional { .. } => {}
    }
}

fn intervals(term: &Term, span: Span, report: &mut Report) {
    match term {
        Term::Interval(from, to) => {
            if let (Some(low), Some(high)) = (value(from), value(to))
                && high.saturating_sub(low) >= MAX_INTERVAL
            {
                let message = format!("the interval `{term}` has more than {MAX_INTERVAL} numbers");
                report.refuse(code::INTERVAL, message, span, "use the numbers that the task has");
            }
        }
        Term::Function { arguments, .. } => arguments.iter().for_each(|term| intervals(term, span, report)),
        Term::Binary { left, right, .. } => {
            intervals(left, span, report);
            intervals(right, span, report);
        }
        Term::Minus(inner) => intervals(inner, span, report),
        _ => {}
    }
}

/// The value of arithmetic without variables.
fn value(term: &Term) -> Option<i64> {
    match term {
        Term::Number(number) => Some(*number),
        Term::Minus(inner) => value(inner)?.checked_neg(),
        Term::Binary { operator, left, right } => {
            let (left, right) = (value(left)?, value(right)?);
            match operator.as_str() {
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                "/" => left.checked_div(right),
                "\\" => left.checked_rem(right),
                _ => left.checked_pow(u32::try_from(right).ok()?),
            }
        }
        _ => None,
    }
}

/// Known sizes of a text's relations.
pub(super) struct Sizes<'a> {
    signature: &'a Signature,
    /// Objects, named and counted.
    objects: u64,
    /// The largest number that may bound an interval.
    largest: u64,
    /// Number of facts by key.
    rows: BTreeMap<Key, u64>,
    /// Objects that are counted, by type.
    counts: BTreeMap<String, u64>,
    total: u64,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(signature: &'a Signature) -> Self {
        let objects = signature.objects.len() as u64;
        Self { signature, objects, largest: 1, rows: BTreeMap::new(), counts: BTreeMap::new(), total: 0 }
    }

    /// Refuses rules that give too much; `true` for each that may stay. `graph` is that of the rules.
    pub(super) fn check(mut self, rules: &[(Rule, Span)], graph: &Graph, report: &mut Report) -> Vec<bool> {
        self.survey(rules);
        // A relation is known once everything that it needs is.
        let mut order: Vec<usize> = (0..rules.len()).collect();
        order.sort_by_key(|index| component(&rules[*index].0, graph));
        let mut kept = vec![true; rules.len()];
        let mut exceeded = false;
        for index in order {
            let (rule, span) = &rules[index];
            let Head::Atom(head) = &rule.head else { continue };
            let inner = self.ways(&rule.body);
            let instances = inner.saturating_mul(self.lengths(&head.arguments));
            self.total = self.total.saturating_add(instances);
            if instances > MAX_INSTANCES || (self.total > MAX_INSTANCES && !exceeded) {
                exceeded |= self.total > MAX_INSTANCES;
                kept[index] = false;
                let message = if instances > MAX_INSTANCES {
                    format!("this statement could be true in about {} ways", approximate(instances))
                } else {
                    format!("with this statement the text gives about {} facts", approximate(self.total))
                };
                let help = format!(
                    "at most {MAX_INSTANCES} are taken; join the conditions by common variables, or use smaller numbers"
                );
                report.refuse(code::TOO_MANY_ATOMS, message, *span, help);
            }
            let circular = graph.component(&key(head)).is_some_and(|own| graph.circular[own]);
            let most = self.most(head);
            let rows = self.rows.entry(key(head)).or_default();
            *rows = if circular { most } else { rows.saturating_add(instances).min(most) };
        }
        kept
    }

    /// Counts objects and numbers.
    fn survey(&mut self, rules: &[(Rule, Span)]) {
        let mut names = BTreeSet::new();
        for (rule, _) in rules {
            let Head::Atom(head) = &rule.head else { continue };
            if let ("cardinality", [Term::Function { name, .. }, Term::Number(count)]) =
                (head.name.as_str(), head.arguments.as_slice())
            {
                let counted = self.counts.entry(name.clone()).or_default();
                *counted = (*counted).max(u64::try_from(*count).unwrap_or(0));
            }
            head.arguments.iter().for_each(|term| self.names(term, &mut names));
        }
        self.objects += names.len() as u64 + self.counts.values().sum::<u64>() + 1;
    }

    fn names<'t>(&mut self, term: &'t Term, out: &mut BTreeSet<&'t str>) {
        match term {
            Term::Function { name, arguments } if arguments.is_empty() => {
                out.insert(name);
            }
            Term::Function { arguments, .. } => arguments.iter().for_each(|term| self.names(term, out)),
            Term::Interval(left, right) | Term::Binary { left, right, .. } => {
                self.names(left, out);
                self.names(right, out);
            }
            Term::Number(number) => {
                let number = number.unsigned_abs().min(MAX_INTERVAL as u64);
                self.largest = self.largest.max(number);
            }
            _ => {}
        }
    }

    /// The most facts of an atom's relation: a value for each argument.
    fn most(&self, atom: &Atom) -> u64 {
        let arguments = match atom.arguments.as_slice() {
            [Term::Function { arguments, .. }] if !arguments.is_empty() => arguments.len(),
            [_] => 1,
            arguments => arguments.len(),
        };
        self.objects.max(self.largest).saturating_pow(arguments as u32)
    }

    /// Number of facts that may match an atom of a condition.
    fn rows(&self, atom: &Atom) -> u64 {
        let known = self.rows.get(&key(atom)).copied();
        match (atom.name.as_str(), atom.arguments.as_slice()) {
            ("object", [_, Term::Function { name, .. }]) => match self.counts.get(name) {
                Some(count) => known.unwrap_or(0).max(*count),
                // Objects of a type that is not counted are known by what is said of them.
                None => self.objects,
            },
            ("object", _) => self.objects.saturating_mul(2),
            ("cardinality", _) => (self.signature.types.len() + self.signature.ir_types.len()) as u64,
            _ => known.unwrap_or_else(|| self.objects.saturating_mul(CONCLUDED)).max(self.objects),
        }
    }

    /// In how many ways conditions may be satisfied.
    fn ways(&self, literals: &[Literal]) -> u64 {
        self.ways_beyond(literals, &BTreeSet::new())
    }

    fn ways_beyond<'t>(&self, literals: &'t [Literal], outer: &BTreeSet<&'t str>) -> u64 {
        let mut atoms: Vec<(u64, &Atom)> = literals
            .iter()
            .filter_map(|literal| match literal {
                Literal::Atom { negated: false, atom } => Some((self.rows(atom), atom)),
                _ => None,
            })
            .collect();
        atoms.sort_by_key(|(rows, _)| *rows);
        let mut known = outer.clone();
        let mut ways = 1u64;
        for (rows, atom) in atoms {
            let mut new = BTreeSet::new();
            atom.arguments.iter().for_each(|argument| binds(argument, &mut new));
            let open = new.iter().filter(|name| !known.contains(*name)).count() as u32;
            if open > 0 {
                let values = self.objects.max(self.largest).saturating_pow(open);
                ways = ways.saturating_mul(rows.min(values).max(1));
            }
            known.extend(new);
        }
        let all = bound(literals, outer);
        for literal in literals {
            match literal {
                Literal::Comparison { left, right, .. } => {
                    ways = ways.saturating_mul(self.lengths([left, right]));
                }
                Literal::Aggregate(aggregate) => {
                    let inner: u64 = aggregate
                        .elements
                        .iter()
                        .map(|element| self.ways_beyond(&element.condition, &all))
                        .fold(0, u64::saturating_add);
                    ways = ways.saturating_mul(inner.max(1));
                }
                Literal::Atom { .. } | Literal::Conditional { .. } => {}
            }
        }
        ways
    }

    /// The product of the lengths of all intervals in terms.
    fn lengths<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> u64 {
        terms.into_iter().map(|term| self.length(term)).fold(1, u64::saturating_mul)
    }

    fn length(&self, term: &Term) -> u64 {
        match term {
            Term::Interval(from, to) => {
                let between = match (value(from), value(to)) {
                    (Some(low), Some(high)) => {
                        u64::try_from(high.saturating_sub(low).saturating_add(1)).unwrap_or(0)
                    }
                    _ if is_plain(from) && is_plain(to) => self.largest + 1,
                    _ => MAX_INTERVAL as u64,
                };
                between.saturating_mul(self.length(from)).saturating_mul(self.length(to))
            }
            Term::Function { arguments, .. } => self.lengths(arguments),
            Term::Binary { left, right, .. } => self.length(left).saturating_mul(self.length(right)),
            Term::Minus(inner) => self.length(inner),
            _ => 1,
        }
    }
}

/// A number, or a variable, which has one of the text's numbers.
fn is_plain(term: &Term) -> bool {
    let mut used = BTreeSet::new();
    variables(term, &mut used);
    used.is_empty() || matches!(term, Term::Variable(_))
}

fn component(rule: &Rule, graph: &Graph) -> usize {
    match &rule.head {
        Head::Atom(head) => graph.component(&key(head)).unwrap_or(usize::MAX),
        _ => usize::MAX,
    }
}

/// A number for people: all of a small one, the power of ten of a large one.
fn approximate(number: u64) -> String {
    match number {
        u64::MAX => "10^19 or more".to_owned(),
        number if number < 10_000_000 => number.to_string(),
        number => format!("10^{}", number.ilog10()),
    }
}
