//! The reference as it must be written for what is shown: with predicates that have lost an argument, and with the parameter
//! names of the domain that is shown.

use crate::library::Reference;
use crate::reading::ShownTexts;
use planforge_pddl::ast::{Atom, Domain, InitElement, PredicateDecl, Problem};
use planforge_pddl::mutate::{Mutation, MutationKind, MutationPlace, all_mutations, apply_mutations};
use planforge_pddl::{Name, rename_parameters};
use std::collections::BTreeSet;

/// The arguments that the shown PDDL has lost against the reference. A domain shows more than a problem,
/// because it declares its predicates.
pub(crate) fn lost_arguments(reference: &Reference, problem: &Problem, shown: &ShownTexts) -> Vec<Mutation> {
    let all = all_mutations(&reference.domain, MutationKind::PredicateArgument);
    let mut lost = Vec::new();
    for predicate in &reference.domain.predicates {
        let declared = shown.domain.iter().flat_map(|d| &d.predicates).find(|p| p.name == predicate.name);
        let position = match (declared, &shown.problem) {
            (Some(declared), _) => lost_in_declaration(predicate, declared),
            (None, Some(written)) => lost_in_facts(predicate, problem, written),
            (None, None) => None,
        };
        let wanted = |m: &&Mutation| match &m.place {
            MutationPlace::Argument { predicate: p, position: i } => {
                *p == predicate.name && Some(*i) == position
            }
            MutationPlace::Term { .. } | MutationPlace::Parameters(_) => false,
        };
        lost.extend(all.iter().find(wanted).cloned());
    }
    lost
}

/// The position that is missing, where exactly one is.
fn lost_in_declaration(reference: &PredicateDecl, declared: &PredicateDecl) -> Option<usize> {
    let arity = reference.parameters.len();
    if declared.parameters.len() + 1 != arity {
        return None;
    }
    let rest = |position: usize| {
        let mut parameters = reference.parameters.clone();
        parameters.remove(position);
        parameters
    };
    let same = |position: &usize, names: bool| {
        rest(*position).iter().zip(&declared.parameters).all(|(a, b)| {
            let types = |p: &planforge_pddl::ast::TypedName| p.ty.as_ref().map(|t| t.alternatives.clone());
            types(a) == types(b) && (!names || a.name == b.name)
        })
    };
    // The parameters' names decide between arguments of one type.
    (0..arity).find(|p| same(p, true)).or_else(|| (0..arity).find(|p| same(p, false))).or(Some(arity - 1))
}

/// The position without which the reference's facts are most like those written.
fn lost_in_facts(predicate: &PredicateDecl, reference: &Problem, written: &Problem) -> Option<usize> {
    let arity = predicate.parameters.len();
    let facts = |problem: &Problem| -> Vec<Vec<Name>> {
        let atoms = problem.init.iter().filter_map(|element| match element {
            InitElement::Atom(atom) if atom.predicate == predicate.name => Some(arguments(atom)),
            _ => None,
        });
        atoms.collect()
    };
    let found: BTreeSet<Vec<Name>> = facts(written).into_iter().filter(|f| f.len() + 1 == arity).collect();
    if found.is_empty() {
        return None;
    }
    let expected = facts(reference);
    let agreeing = |position: usize| {
        let projected: BTreeSet<Vec<Name>> = expected
            .iter()
            .map(|fact| {
                let mut fact = fact.clone();
                if position < fact.len() {
                    fact.remove(position);
                }
                fact
            })
            .collect();
        projected.intersection(&found).count()
    };
    // The first of equally good positions.
    (0..arity).rev().max_by_key(|position| agreeing(*position))
}

fn arguments(atom: &Atom) -> Vec<Name> {
    atom.args.iter().map(|arg| arg.name().clone()).collect()
}

/// The reference's domain without the lost arguments, with the parameter names and the domain name of the
/// shown PDDL.
pub(crate) fn fit_reference(reference: &Reference, lost: &[Mutation], shown: &ShownTexts) -> Domain {
    let mut domain = apply_mutations(&reference.domain, lost);
    let name = shown.domain.as_ref().and_then(|d| d.name.clone());
    let wanted = shown.problem.as_ref().and_then(|p| p.domain_name.clone());
    if let Some(name) = name.or(wanted) {
        domain.name = Some(name);
    }
    for action in &mut domain.actions {
        let given = shown.domain.iter().flat_map(|d| &d.actions).find(|a| a.name == action.name);
        if let Some(given) = given.filter(|g| g.parameters.len() == action.parameters.len()) {
            *action = rename_parameters(action, &given.parameters);
        }
    }
    domain
}
