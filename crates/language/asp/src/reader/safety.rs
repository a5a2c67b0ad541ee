//! Checks that every variable is bound by a condition.

use super::report::Report;
use crate::codes::reader as code;
use crate::steps::count_steps;
use crate::syntax::ast::{Aggregate, Atom, Head, Literal, Relation, Rule, Term};
use planforge_diagnostics::Span;
use std::collections::BTreeSet;

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
