//! Records of the rule instances that applied.
//!
//! A conclusion does not identify its rule: two rules may conclude the same. So each rule gets a twin, a
//! predicate of the rule's variables that the reasoner derives together with the conclusion; `_by7(shot5)`
//! means that rule 7 applied to shot5. Facts need none, and the instances of a rule with one plain condition
//! are the atoms that match it.

use super::walk::{visit_term, visit_terms};
use crate::build::{atom, variable};
use crate::pattern::is_plain;
use crate::syntax::ast::{Atom, ChoiceElement, Head, Literal, Relation, Rule, Term};
use std::fmt::Write as _;

/// The way in which the instances of one rule are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// The rule is left out: nothing derives one of its conditions.
    LeftOut,
    /// The stages pass its conclusions in.
    Given,
    /// A fact applies once.
    Fact,
    /// A rule with one plain condition: by the atoms that match it.
    Matched,
    /// By the atoms of a twin.
    Twin(Twin),
    /// A constraint, by the atoms of a twin.
    Constraint(Twin),
    /// A choice: for each element, by the atoms of a twin.
    Choice(Vec<Twin>),
}

/// The twin of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twin {
    /// Name of its predicate.
    pub name: String,
    /// The variables that are its arguments.
    pub variables: Vec<String>,
    /// The rule in its recorded form: every unnamed argument and every interval of a condition has a
    /// variable.
    pub rule: Rule,
}

/// Decides how a rule is recorded.
pub(super) fn record(rule: &Rule, number: usize) -> Record {
    match &rule.head {
        Head::Atom(_) if rule.body.is_empty() => Record::Fact,
        Head::Atom(_) if is_matched(rule) => Record::Matched,
        Head::Atom(_) => Record::Twin(twin(rule, format!("_by{number}"), None)),
        Head::Constraint => Record::Constraint(twin(rule, format!("_bad{number}"), None)),
        Head::Choice { elements, .. } => Record::Choice(
            elements
                .iter()
                .enumerate()
                .map(|(at, element)| twin(rule, format!("_by{number}e{at}"), Some(element)))
                .collect(),
        ),
    }
}

fn is_matched(rule: &Rule) -> bool {
    match rule.body.as_slice() {
        [Literal::Atom { negated: false, atom }] => atom.arguments.iter().all(is_plain),
        _ => false,
    }
}

/// A rule whose conditions name everything; of a choice, one element with its condition as a part of the body.
fn twin(rule: &Rule, name: String, element: Option<&ChoiceElement>) -> Twin {
    let mut rule = rule.clone();
    if let Some(element) = element {
        rule.body.extend(element.condition.iter().cloned());
        rule.head = Head::Atom(element.atom.clone());
    }
    name_everything(&mut rule);
    let variables = global_variables(&rule.body);
    Twin { name, variables, rule }
}

/// Gives a variable to every `_` and every interval of a positive condition.
fn name_everything(rule: &mut Rule) {
    let mut taken = Vec::new();
    visit_terms(rule, &mut |term| {
        if let Term::Variable(name) = term {
            taken.push(name.clone());
        }
    });
    let mut next = 0;
    let mut fresh = || {
        loop {
            next += 1;
            let name = format!("V{next}");
            if !taken.contains(&name) {
                return name;
            }
        }
    };
    let mut ranges = Vec::new();
    for literal in &mut rule.body {
        if let Literal::Atom { negated: false, atom } = literal {
            for argument in &mut atom.arguments {
                name_term(argument, &mut fresh, &mut ranges);
            }
        }
    }
    rule.body.extend(ranges);
}

fn name_term(term: &mut Term, fresh: &mut dyn FnMut() -> String, ranges: &mut Vec<Literal>) {
    match term {
        Term::Anonymous => *term = Term::Variable(fresh()),
        Term::Interval(..) => {
            let name = variable(&fresh());
            let right = std::mem::replace(term, name.clone());
            let (relation, span) = (Relation::Equal, planforge_diagnostics::Span::default());
            ranges.push(Literal::Comparison { left: name, relation, right, span });
        }
        Term::Function { arguments, .. } => {
            arguments.iter_mut().for_each(|argument| name_term(argument, fresh, ranges));
        }
        _ => {}
    }
}

/// The variables that have one value in an instance of the rule, in the order of the text.
fn global_variables(body: &[Literal]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |term: &Term| {
        visit_term(term, &mut |term| {
            if let Term::Variable(name) = term
                && !found.contains(name)
            {
                found.push(name.clone());
            }
        });
    };
    for literal in body {
        match literal {
            Literal::Atom { negated: false, atom } => atom.arguments.iter().for_each(&mut add),
            Literal::Comparison { left, right, .. } => {
                add(left);
                add(right);
            }
            Literal::Aggregate(aggregate) => {
                aggregate.left.iter().for_each(|(term, _)| add(term));
                aggregate.right.iter().for_each(|(_, term)| add(term));
            }
            // Their variables are bound by the conditions above.
            Literal::Atom { negated: true, .. } | Literal::Conditional { .. } => {}
        }
    }
    found
}

impl Twin {
    /// The variables as terms.
    pub(super) fn arguments(&self) -> Vec<Term> {
        self.variables.iter().map(|name| variable(name)).collect()
    }

    /// The atom for an instance.
    pub(super) fn atom(&self) -> Atom {
        atom(&self.name, self.arguments(), Default::default())
    }

    fn rule(&self) -> Rule {
        Rule { head: Head::Atom(self.atom()), body: self.rule.body.clone() }
    }

    /// `_bad7(_, _)`: any instance.
    pub(super) fn any(&self) -> Atom {
        atom(&self.name, vec![Term::Anonymous; self.variables.len()], Default::default())
    }
}

/// Writes a rule for the reasoner, with its twin where it has one. Without `recorded` only constraints have twins.
pub(super) fn write(rule: &Rule, record: &Record, recorded: bool, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match record {
        Record::LeftOut | Record::Given => Ok(()),
        Record::Constraint(twin) => writeln!(out, "{}", twin.rule()),
        Record::Twin(twin) if recorded => {
            let head = Rule {
                head: rule.head.clone(),
                body: vec![Literal::Atom { negated: false, atom: twin.atom() }],
            };
            writeln!(out, "{}\n{head}", twin.rule())
        }
        Record::Choice(twins) if recorded => twins
            .iter()
            .try_for_each(|twin| {
                let mut chosen = twin.rule();
                if let Head::Atom(atom) = &twin.rule.head {
                    chosen.body.push(Literal::Atom { negated: false, atom: atom.clone() });
                }
                writeln!(out, "{chosen}")
            })
            .and_then(|()| writeln!(out, "{rule}")),
        _ => writeln!(out, "{rule}"),
    };
}
