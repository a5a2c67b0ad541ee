//! Checks that every variable is bound by a condition.

use super::report::Report;
use super::signature::Signature;
use crate::codes::reader as code;
use crate::syntax::ast::{Aggregate, Atom, Head, Literal, Relation, Rule, Term};
use crate::syntax::count_steps;
use planforge_diagnostics::Span;
use std::collections::{BTreeMap, BTreeSet};

type Names<'a> = BTreeSet<&'a str>;

/// Refuses a rule with unbound variables; whether it has none.
pub(super) fn check_safety(rule: &Rule, report: &mut Report) -> bool {
    let bound = bound(&rule.body, &Names::new());
    let mut unbound: Vec<(&str, Span)> = Vec::new();
    if let Head::Atom(atom) = &rule.head {
        missing(atom.arguments.iter(), &bound, atom.span, &mut unbound);
        if atom.arguments.iter().any(has_anonymous) {
            unbound.push(("_", atom.span));
        }
    }
    for literal in &rule.body {
        of_literal(literal, &bound, &mut unbound);
    }
    let mut told = BTreeSet::new();
    for (name, span) in &unbound {
        if told.insert(*name) {
            let message = format!("nothing says what `{name}` ranges over");
            let help = if rule.body.is_empty() {
                format!(
                    "for all objects of a type write `:- object({name}, TYPE)`; the name of one object begins with a lower-case letter"
                )
            } else {
                format!(
                    "add a condition without `not` in which `{name}` stands, such as `object({name}, TYPE)`"
                )
            };
            report.refuse(code::UNSAFE, message, *span, help.replace("object(_,", "object(X,"));
        }
    }
    unbound.is_empty()
}

/// Every variable of a term.
pub(super) fn variables<'a>(term: &'a Term, out: &mut Names<'a>) {
    count_steps(1);
    match term {
        Term::Variable(name) => {
            out.insert(name);
        }
        Term::Minus(inner) => variables(inner, out),
        Term::Binary { left, right, .. } | Term::Interval(left, right) => {
            variables(left, out);
            variables(right, out);
        }
        Term::Function { arguments, .. } | Term::External { arguments, .. } => {
            arguments.iter().for_each(|argument| variables(argument, out));
        }
        Term::Number(_) | Term::Text(_) | Term::Anonymous => {}
    }
}

fn has_anonymous(term: &Term) -> bool {
    match term {
        Term::Anonymous => true,
        Term::Function { arguments, .. } => arguments.iter().any(has_anonymous),
        _ => false,
    }
}

/// The variables that an atom binds: those that are whole arguments, or have a number added or subtracted.
pub(super) fn binds<'a>(term: &'a Term, out: &mut Names<'a>) {
    count_steps(1);
    match term {
        Term::Variable(name) => {
            out.insert(name);
        }
        Term::Function { arguments, .. } => arguments.iter().for_each(|argument| binds(argument, out)),
        Term::Binary { operator, left, right } if operator == "+" || operator == "-" => {
            match (&**left, &**right) {
                (Term::Variable(name), Term::Number(_)) | (Term::Number(_), Term::Variable(name)) => {
                    out.insert(name);
                }
                _ => {}
            }
        }
        _ => {}
    }
}

fn all_bound(term: &Term, bound: &Names<'_>) -> bool {
    let mut used = Names::new();
    variables(term, &mut used);
    used.is_subset(bound)
}

/// The variables that conditions bind, with those of `outer`.
pub(super) fn bound<'a>(literals: &'a [Literal], outer: &Names<'a>) -> Names<'a> {
    let mut found = outer.clone();
    for literal in literals {
        if let Literal::Atom { negated: false, atom } = literal {
            atom.arguments.iter().for_each(|argument| binds(argument, &mut found));
        }
    }
    // An equation binds one side by the other, and may wait for another equation.
    loop {
        let before = found.len();
        for literal in literals {
            for (variable, term) in equations(literal) {
                if let Term::Variable(name) = variable
                    && term.is_none_or(|term| all_bound(term, &found))
                {
                    found.insert(name);
                }
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The equated sides of a literal: two terms, or a term and a count.
fn equations(literal: &Literal) -> Vec<(&Term, Option<&Term>)> {
    match literal {
        Literal::Comparison { left, relation: Relation::Equal, right, .. } => {
            vec![(left, Some(right)), (right, Some(left))]
        }
        Literal::Aggregate(Aggregate { negated: false, left, right, .. }) => {
            let left = left
                .iter()
                .filter(|(_, relation)| *relation == Relation::Equal)
                .map(|(term, _)| (term, None));
            let right = right
                .iter()
                .filter(|(relation, _)| *relation == Relation::Equal)
                .map(|(_, term)| (term, None));
            left.chain(right).collect()
        }
        _ => Vec::new(),
    }
}

fn missing<'a>(
    terms: impl Iterator<Item = &'a Term>,
    bound: &Names<'_>,
    span: Span,
    out: &mut Vec<(&'a str, Span)>,
) {
    let mut used = Names::new();
    terms.for_each(|term| variables(term, &mut used));
    out.extend(used.into_iter().filter(|name| !bound.contains(name)).map(|name| (name, span)));
}

fn of_literal<'a>(literal: &'a Literal, bound_here: &Names<'a>, out: &mut Vec<(&'a str, Span)>) {
    match literal {
        Literal::Atom { atom: Atom { arguments, span, .. }, .. } => {
            missing(arguments.iter(), bound_here, *span, out);
        }
        Literal::Comparison { left, right, span, .. } => {
            missing([left, right].into_iter(), bound_here, *span, out)
        }
        Literal::Aggregate(aggregate) => {
            let left = aggregate.left.iter().map(|(term, _)| term);
            let guards = left.chain(aggregate.right.iter().map(|(_, term)| term));
            missing(guards, bound_here, aggregate.span, out);
            for element in &aggregate.elements {
                let inner = bound(&element.condition, bound_here);
                missing(element.terms.iter(), &inner, aggregate.span, out);
                element.condition.iter().for_each(|literal| of_literal(literal, &inner, out));
            }
        }
        Literal::Conditional { .. } => {}
    }
}

// The graph of dependencies between facts. Rules that compute new numbers from their own results, and rules
// that depend on their own absence, are refused before solving.

/// Key of a fact: `init p`, `goal p`, `object t`, `cardinality`.
pub(super) type Key = (String, String);

/// Key of all types.
const ANY: &str = "*";

/// The key of an atom that passed the fragment's check.
pub(super) fn key(atom: &Atom) -> Key {
    let name_of = |term: Option<&Term>| match term {
        Some(Term::Function { name, .. }) => name.clone(),
        _ => ANY.to_owned(),
    };
    match atom.name.as_str() {
        "object" => ("object".to_owned(), name_of(atom.arguments.get(1))),
        state @ ("init" | "goal") => match atom.arguments.first() {
            Some(Term::Function { name, arguments }) if name == "neg" => {
                (format!("not {state}"), name_of(arguments.first()))
            }
            // A map is a fact of its predicate as well, but for rules it is one by itself.
            fact => (state.to_owned(), name_of(fact)),
        },
        other => (other.to_owned(), String::new()),
    }
}

/// The rules of a text as a graph over their keys.
pub(super) struct Graph {
    nodes: BTreeMap<Key, usize>,
    /// For each node what it depends on.
    needs: Vec<Vec<usize>>,
    /// For each node the number of its component; what a component needs has a lower number.
    pub(super) components: Vec<usize>,
    /// True for components with a circle.
    pub(super) circular: Vec<bool>,
}

impl Graph {
    pub(super) fn of<'a>(rules: impl Iterator<Item = &'a Rule> + Clone) -> Self {
        let mut graph =
            Self { nodes: BTreeMap::new(), needs: Vec::new(), components: Vec::new(), circular: Vec::new() };
        let any = graph.node(("object".to_owned(), ANY.to_owned()));
        for rule in rules {
            let Head::Atom(head) = &rule.head else { continue };
            let head = graph.node(key(head));
            for (_, needed) in condition_keys(&rule.body) {
                let needed = graph.node(needed);
                graph.needs[head].push(needed);
            }
        }
        // Whoever asks for objects of any type asks for those of each.
        let types: Vec<usize> = graph
            .nodes
            .iter()
            .filter(|(key, node)| key.0 == "object" && **node != any)
            .map(|(_, node)| *node)
            .collect();
        graph.needs[any].extend(types);
        for needs in &mut graph.needs {
            needs.sort_unstable();
            needs.dedup();
        }
        graph.find_components();
        graph
    }

    fn node(&mut self, key: Key) -> usize {
        let next = self.needs.len();
        let node = *self.nodes.entry(key).or_insert(next);
        if node == next {
            self.needs.push(Vec::new());
        }
        node
    }

    /// The component of a key; `None` for one that no rule has.
    pub(super) fn component(&self, key: &Key) -> Option<usize> {
        self.nodes.get(key).map(|node| self.components[*node])
    }

    /// Strongly connected components without recursion: the order in which nodes are left, then backwards along the edges.
    fn find_components(&mut self) {
        let count = self.needs.len();
        let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (node, needs) in self.needs.iter().enumerate() {
            for needed in needs {
                needed_by[*needed].push(node);
            }
        }
        // Left last in the reversed graph are the nodes that nothing else needs first.
        let order = left_order(&needed_by);
        self.components = vec![usize::MAX; count];
        for start in order.into_iter().rev() {
            if self.components[start] != usize::MAX {
                continue;
            }
            let component = self.circular.len();
            let mut members = vec![start];
            self.components[start] = component;
            let mut at = 0;
            while let Some(node) = members.get(at).copied() {
                at += 1;
                for needed in &self.needs[node] {
                    if self.components[*needed] == usize::MAX {
                        self.components[*needed] = component;
                        members.push(*needed);
                    }
                }
            }
            self.circular.push(members.len() > 1 || self.needs[start].contains(&start));
        }
    }
}

/// Nodes in the order in which a depth-first walk leaves them.
fn left_order(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; edges.len()];
    let mut order = Vec::with_capacity(edges.len());
    for start in 0..edges.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut stack = vec![(start, 0usize)];
        while let Some((node, next)) = stack.last_mut() {
            match edges[*node].get(*next) {
                Some(&target) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[target], true) {
                        stack.push((target, 0));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
    }
    order
}

/// The keys of conditions; true for a negated or counted condition.
fn condition_keys(literals: &[Literal]) -> Vec<(bool, Key)> {
    let mut found = Vec::new();
    for literal in literals {
        match literal {
            Literal::Atom { negated, atom } => found.push((*negated, key(atom))),
            Literal::Aggregate(aggregate) => {
                for element in &aggregate.elements {
                    found.extend(condition_keys(&element.condition).into_iter().map(|(_, key)| (true, key)));
                }
            }
            Literal::Comparison { .. } | Literal::Conditional { .. } => {}
        }
    }
    found
}

/// Refuses a rule in a forbidden circle. True if the rule is accepted.
pub(super) fn check_recursion(rule: &Rule, span: Span, graph: &Graph, report: &mut Report) -> bool {
    let Head::Atom(head) = &rule.head else { return true };
    let own = graph.component(&key(head));
    let needed = condition_keys(&rule.body);
    let in_circle = |negative: bool| {
        needed.iter().any(|(is_negative, key)| *is_negative == negative && graph.component(key) == own)
    };
    if in_circle(true) {
        let message = format!("`{head}` depends on the absence or number of what depends on it");
        report.refuse(code::UNSTRATIFIED, message, span, "base the rule on facts that the text states");
        return false;
    }
    if in_circle(false) && computes(rule, head) {
        let message = format!("`{head}` makes ever new numbers out of its own results");
        report.refuse(
            code::GROWTH,
            message,
            span,
            "say with an interval which numbers there are: `N = 1..5`",
        );
        return false;
    }
    true
}

/// True if a rule concludes numbers that its conditions do not have.
fn computes(rule: &Rule, head: &Atom) -> bool {
    let mut copied: BTreeSet<&str> = BTreeSet::new();
    for literal in &rule.body {
        if let Literal::Atom { negated: false, atom } = literal {
            atom.arguments.iter().for_each(|argument| plain(argument, &mut copied));
        }
    }
    loop {
        let before = copied.len();
        for literal in &rule.body {
            let Literal::Comparison { left, relation: Relation::Equal, right, .. } = literal else {
                continue;
            };
            for (one, other) in [(left, right), (right, left)] {
                if let Term::Variable(name) = one
                    && is_copy(other, &copied)
                {
                    copied.insert(name);
                }
            }
        }
        if copied.len() == before {
            break;
        }
    }
    let mut used = BTreeSet::new();
    head.arguments.iter().for_each(|argument| variables(argument, &mut used));
    used.iter().any(|name| !copied.contains(name)) || head.arguments.iter().any(calculates)
}

/// Variables that are whole arguments.
fn plain<'a>(term: &'a Term, out: &mut BTreeSet<&'a str>) {
    match term {
        Term::Variable(name) => {
            out.insert(name);
        }
        Term::Function { arguments, .. } => arguments.iter().for_each(|argument| plain(argument, out)),
        _ => {}
    }
}

fn is_copy(term: &Term, copied: &BTreeSet<&str>) -> bool {
    match term {
        Term::Variable(name) => copied.contains(name.as_str()),
        // Between fixed numbers there are only so many.
        term => {
            let mut used = BTreeSet::new();
            variables(term, &mut used);
            used.is_empty()
        }
    }
}

/// True if a term has arithmetic over variables.
fn calculates(term: &Term) -> bool {
    match term {
        Term::Function { arguments, .. } => arguments.iter().any(calculates),
        Term::Binary { .. } | Term::Minus(_) | Term::Interval(..) => {
            let mut used = BTreeSet::new();
            variables(term, &mut used);
            !used.is_empty()
        }
        _ => false,
    }
}

// Estimates the number of facts that a text gives before a reasoner runs: 10^9 atoms in one line must not
// reach it.
//
// The estimate multiplies, for each rule, the possibilities that each condition leaves. It uses the facts
// and counts of the text, and a few facts per object for predicates that only a knowledge file concludes.
// Programs that are larger than estimated run into the limits of the reasoner's process.

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
