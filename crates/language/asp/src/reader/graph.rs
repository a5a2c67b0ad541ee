//! The graph of dependencies between facts. Rules that compute new numbers from their own results, and rules
//! that depend on their own absence, are refused before solving.

use super::report::Report;
use super::safety::variables;
use crate::codes::reader as code;
use crate::syntax::ast::{Atom, Head, Literal, Relation, Rule, Term};
use planforge_diagnostics::Span;
use std::collections::{BTreeMap, BTreeSet};

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
