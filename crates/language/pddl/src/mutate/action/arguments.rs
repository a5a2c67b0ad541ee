//! Atoms with one argument more or fewer, and types that are none or do not fit.

use super::super::scope::Literal;
use super::super::terms::{list_sites, part_at};
use super::super::{Part, Site, TermList, apply::replace_term};
use super::words::slips;
use super::{Draft, Flaw};
use crate::ast::{Action, Atom, Domain, Term, TypeRef, TypedName};
use crate::check::{TypeFit, TypeHierarchy};
use crate::name::Name;
use crate::print::{print_action, print_atom, print_typed_list};

/// A literal of the action and its place.
struct Placed {
    site: Site,
    list: TermList,
    literal: Literal,
}

/// An action's literals. The domain has it as its only action.
fn literals(domain: &Domain, action: &Action) -> Vec<Placed> {
    let mut found = Vec::new();
    for list in [TermList::Precondition, TermList::Effect] {
        for site in list_sites(action, 0, list) {
            if let Some(literal) = part_at(domain, site).as_ref().and_then(Literal::of) {
                found.push(Placed { site, list, literal });
            }
        }
    }
    found
}

fn alone(domain: &Domain, action: &Action) -> Domain {
    Domain { actions: vec![action.clone()], ..domain.clone() }
}

impl Placed {
    /// The action with other arguments in this literal.
    fn with(&self, action: &Action, args: Vec<Term>, flaw: Flaw) -> Draft {
        let mut literal = self.literal.clone();
        let before = print_atom(&literal.atom);
        literal.atom = Atom { args, ..literal.atom };
        let change = format!("{} {before} became {}", self.list, print_atom(&literal.atom));
        let part: Part = literal.part(self.list);
        Draft { flaw: Some(flaw), change, text: print_action(&replace_term(action, self.site, part)) }
    }
}

/// Returns the terms that an action may use: its variables, or the domain's constants, or a new variable.
fn terms(domain: &Domain, action: &Action) -> Vec<Term> {
    let variables = action.parameters.iter().chain(&action.vars).map(|v| Term::Variable(v.name.clone()));
    let mut terms: Vec<Term> = variables.collect();
    if terms.is_empty() {
        terms.extend(domain.constants.iter().map(|c| Term::Constant(c.name.clone())));
    }
    if terms.is_empty() {
        terms.push(Term::Variable(Name::synthetic("?x")));
    }
    terms
}

/// Every literal with an argument left out, and with a further one at any place.
pub(super) fn wrong_arities(domain: &Domain, action: &Action) -> Vec<Draft> {
    let domain = alone(domain, action);
    let terms = terms(&domain, action);
    let mut made = Vec::new();
    for placed in literals(&domain, action) {
        let args = &placed.literal.atom.args;
        // The number of arguments that a predicate takes is known only of one that is declared.
        if !domain.predicates.iter().any(|p| p.name == placed.literal.atom.predicate) {
            continue;
        }
        for position in 0..args.len() {
            let mut fewer = args.clone();
            fewer.remove(position);
            made.push(placed.with(action, fewer, Flaw::Arguments));
        }
        for position in 0..=args.len() {
            for term in &terms {
                let mut more = args.clone();
                more.insert(position, term.clone());
                made.push(placed.with(action, more, Flaw::Arguments));
            }
        }
    }
    made
}

/// Generates parameters with an undeclared type, or a type that never fits one of their occurrences; and
/// literals with an argument whose type never fits.
pub(super) fn wrong_types(domain: &Domain, action: &Action) -> Vec<Draft> {
    let types = TypeHierarchy::of(domain);
    let domain = alone(domain, action);
    let literals = literals(&domain, action);
    let mut made = Vec::new();
    for (position, parameter) in action.parameters.iter().enumerate() {
        if parameter.ty.as_ref().is_some_and(TypeRef::is_either) {
            continue;
        }
        let written = parameter.ty.as_ref().and_then(|ty| ty.alternatives.first());
        let mut wrong: Vec<String> = slips(written.map_or("object", |ty| ty.as_str()));
        wrong.extend(["thing", "item-type", "string", "agent-type"].map(str::to_owned));
        wrong.extend(domain.predicates.iter().map(|p| p.name.as_str().to_owned()));
        wrong.retain(|ty| types.get(&ty.to_lowercase()).is_none());
        let unfit = types.names().map(|ty| ty.as_str().to_owned());
        wrong.extend(unfit.filter(|ty| never_fits(&domain, &types, &literals, &parameter.name, ty)));
        made.extend(wrong.iter().map(|ty| with_type(action, position, parameter, ty)));
    }
    for placed in &literals {
        for (position, old) in placed.literal.atom.args.iter().enumerate() {
            for new in action.parameters.iter().filter(|new| new.name != *old.name()) {
                if fit(&domain, &types, &placed.literal.atom.predicate, position, new.ty.as_ref())
                    == Some(TypeFit::Never)
                {
                    let mut args = placed.literal.atom.args.clone();
                    args[position] = Term::Variable(new.name.clone());
                    made.push(placed.with(action, args, Flaw::Type));
                }
            }
        }
    }
    made
}

fn with_type(action: &Action, position: usize, parameter: &TypedName, ty: &str) -> Draft {
    let typed = TypedName { ty: Some(TypeRef::single(Name::synthetic(ty))), ..parameter.clone() };
    let mut changed = action.clone();
    let list = |entry: &TypedName| print_typed_list(std::slice::from_ref(entry));
    let change = format!("parameter {} became {}", list(parameter), list(&typed));
    changed.parameters[position] = typed;
    Draft { flaw: Some(Flaw::Type), change, text: print_action(&changed) }
}

/// Returns true if a variable of that type never fits one of its occurrences.
fn never_fits(
    domain: &Domain,
    types: &TypeHierarchy,
    literals: &[Placed],
    variable: &Name,
    ty: &str,
) -> bool {
    let ty = TypeRef::single(Name::synthetic(ty));
    literals.iter().any(|placed| {
        let atom = &placed.literal.atom;
        let places = atom.args.iter().enumerate().filter(|(_, arg)| arg.name() == variable);
        let mut fits = places.map(|(position, _)| fit(domain, types, &atom.predicate, position, Some(&ty)));
        fits.any(|fit| fit == Some(TypeFit::Never))
    })
}

/// Compares a type with an argument position of a predicate; `None` if the position has no type, or a type is
/// unknown.
fn fit(
    domain: &Domain,
    types: &TypeHierarchy,
    predicate: &Name,
    position: usize,
    given: Option<&TypeRef>,
) -> Option<TypeFit> {
    let decl = domain.predicates.iter().find(|p| p.name == *predicate)?;
    let wanted = types.resolve(Some(decl.parameters.get(position)?.ty.as_ref()?))?;
    Some(types.fit(&types.resolve(given)?, &wanted))
}
