//! Going through the atoms and terms of a rule.

use super::ast::{Aggregate, Atom, Head, Literal, Rule, Term};

/// Every atom of a rule's head.
pub(crate) fn head_atoms(rule: &Rule) -> Vec<&Atom> {
    match &rule.head {
        Head::Atom(atom) => vec![atom],
        Head::Choice { elements, .. } => elements.iter().map(|element| &element.atom).collect(),
        Head::Constraint => Vec::new(),
    }
}

/// Every literal that a rule's head or body is made conditional on, those inside aggregates included.
pub(crate) fn literals(rule: &Rule) -> Vec<&Literal> {
    let mut found = Vec::new();
    if let Head::Choice { elements, .. } = &rule.head {
        elements.iter().for_each(|element| add_literals(&element.condition, &mut found));
    }
    add_literals(&rule.body, &mut found);
    found
}

fn add_literals<'a>(literals: &'a [Literal], found: &mut Vec<&'a Literal>) {
    for literal in literals {
        found.push(literal);
        match literal {
            Literal::Conditional { literal, condition } => {
                add_literals(std::slice::from_ref(literal.as_ref()), found);
                add_literals(condition, found);
            }
            Literal::Aggregate(aggregate) => {
                aggregate.elements.iter().for_each(|element| add_literals(&element.condition, found));
            }
            _ => {}
        }
    }
}

/// Every atom in a condition, negated or not.
pub(crate) fn body_atoms(rule: &Rule) -> impl Iterator<Item = &Atom> {
    literals(rule).into_iter().filter_map(|literal| match literal {
        Literal::Atom { atom, .. } => Some(atom),
        _ => None,
    })
}

/// The atoms that have to hold for a rule to apply.
pub(crate) fn premises(rule: &Rule) -> impl Iterator<Item = &Atom> {
    rule.body.iter().filter_map(|literal| match literal {
        Literal::Atom { negated: false, atom } => Some(atom),
        _ => None,
    })
}

/// Changes every atom of a rule.
pub(crate) fn change_atoms(rule: &mut Rule, change: &mut dyn FnMut(&mut Atom)) {
    match &mut rule.head {
        Head::Atom(atom) => change(atom),
        Head::Choice { elements, .. } => {
            for element in elements {
                change(&mut element.atom);
                element.condition.iter_mut().for_each(|literal| change_literal(literal, change));
            }
        }
        Head::Constraint => {}
    }
    rule.body.iter_mut().for_each(|literal| change_literal(literal, change));
}

fn change_literal(literal: &mut Literal, change: &mut dyn FnMut(&mut Atom)) {
    match literal {
        Literal::Atom { atom, .. } => change(atom),
        Literal::Comparison { .. } => {}
        Literal::Conditional { literal, condition } => {
            change_literal(literal, change);
            condition.iter_mut().for_each(|literal| change_literal(literal, change));
        }
        Literal::Aggregate(Aggregate { elements, .. }) => {
            for element in elements {
                element.condition.iter_mut().for_each(|literal| change_literal(literal, change));
            }
        }
    }
}

/// Calls `visit` with a term and everything inside it.
pub(crate) fn visit_term<'a>(term: &'a Term, visit: &mut dyn FnMut(&'a Term)) {
    visit(term);
    match term {
        Term::Function { arguments, .. } | Term::External { arguments, .. } => {
            arguments.iter().for_each(|argument| visit_term(argument, visit));
        }
        Term::Minus(term) => visit_term(term, visit),
        Term::Binary { left, right, .. } | Term::Interval(left, right) => {
            visit_term(left, visit);
            visit_term(right, visit);
        }
        Term::Number(_) | Term::Text(_) | Term::Variable(_) | Term::Anonymous => {}
    }
}

/// Calls `visit` with every term of a rule.
pub(crate) fn visit_terms<'a>(rule: &'a Rule, visit: &mut dyn FnMut(&'a Term)) {
    for atom in head_atoms(rule) {
        atom.arguments.iter().for_each(|term| visit_term(term, visit));
    }
    if let Head::Choice { lower, upper, .. } = &rule.head {
        lower.iter().chain(upper).for_each(|term| visit_term(term, visit));
    }
    for literal in literals(rule) {
        match literal {
            Literal::Atom { atom, .. } => atom.arguments.iter().for_each(|term| visit_term(term, visit)),
            Literal::Comparison { left, right, .. } => {
                visit_term(left, visit);
                visit_term(right, visit);
            }
            Literal::Aggregate(aggregate) => {
                let guards =
                    aggregate.left.iter().map(|(t, _)| t).chain(aggregate.right.iter().map(|(_, t)| t));
                guards.for_each(|term| visit_term(term, visit));
                for element in &aggregate.elements {
                    element.terms.iter().for_each(|term| visit_term(term, visit));
                }
            }
            Literal::Conditional { .. } => {}
        }
    }
}

/// Replaces every variable of a term by what `value` gives for it, where it gives something.
pub(crate) fn substitute(term: &Term, value: &dyn Fn(&str) -> Option<Term>) -> Term {
    let many = |terms: &[Term]| terms.iter().map(|term| substitute(term, value)).collect();
    let one = |term: &Term| Box::new(substitute(term, value));
    match term {
        Term::Variable(name) => value(name).unwrap_or_else(|| term.clone()),
        Term::Function { name, arguments } => {
            Term::Function { name: name.clone(), arguments: many(arguments) }
        }
        Term::External { name, arguments } => {
            Term::External { name: name.clone(), arguments: many(arguments) }
        }
        Term::Minus(inner) => Term::Minus(one(inner)),
        Term::Binary { operator, left, right } => {
            Term::Binary { operator: operator.clone(), left: one(left), right: one(right) }
        }
        Term::Interval(from, to) => Term::Interval(one(from), one(to)),
        Term::Number(_) | Term::Text(_) | Term::Anonymous => term.clone(),
    }
}

/// The same for a literal.
pub(crate) fn substitute_literal(literal: &Literal, value: &dyn Fn(&str) -> Option<Term>) -> Literal {
    let terms = |terms: &[Term]| terms.iter().map(|term| substitute(term, value)).collect::<Vec<_>>();
    let literals = |literals: &[Literal]| literals.iter().map(|l| substitute_literal(l, value)).collect();
    match literal {
        Literal::Atom { negated, atom } => Literal::Atom {
            negated: *negated,
            atom: Atom { name: atom.name.clone(), arguments: terms(&atom.arguments), span: atom.span },
        },
        Literal::Comparison { left, relation, right, span } => Literal::Comparison {
            left: substitute(left, value),
            relation: *relation,
            right: substitute(right, value),
            span: *span,
        },
        Literal::Conditional { literal, condition } => Literal::Conditional {
            literal: Box::new(substitute_literal(literal, value)),
            condition: literals(condition),
        },
        Literal::Aggregate(aggregate) => {
            let mut aggregate = aggregate.clone();
            for element in &mut aggregate.elements {
                element.terms = terms(&element.terms);
                element.condition = literals(&element.condition);
            }
            aggregate.left = aggregate.left.map(|(term, relation)| (substitute(&term, value), relation));
            aggregate.right = aggregate.right.map(|(relation, term)| (relation, substitute(&term, value)));
            Literal::Aggregate(aggregate)
        }
    }
}
