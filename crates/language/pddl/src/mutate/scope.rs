//! Type compatibility between the predicates of a domain and the terms that an action may use.

use super::{Part, TermList};
use crate::ast::{Action, Atom, Condition, Domain, Effect, PredicateDecl, Term, TypedName};
use crate::check::{TypeFit, TypeHierarchy, TypeId};
use crate::name::Name;
use planforge_diagnostics::Span;
use smallvec::SmallVec;

type Types = SmallVec<[TypeId; 1]>;

/// The declared predicates with their types.
pub(super) struct Signatures<'a> {
    types: TypeHierarchy,
    pub(super) predicates: Vec<Signature<'a>>,
    /// The domain's constants, which every action may use.
    constants: Vec<(Term, Types)>,
}

pub(super) struct Signature<'a> {
    pub(super) decl: &'a PredicateDecl,
    parameters: Vec<Types>,
    /// Defined by rules, so no effect may change it.
    pub(super) derived: bool,
}

impl<'a> Signatures<'a> {
    pub(super) fn of(domain: &'a Domain) -> Self {
        let types = TypeHierarchy::of(domain);
        // An unknown type is reported by the checks; here it takes everything, like `object`.
        let resolve = |entry: &TypedName| {
            types.resolve(entry.ty.as_ref()).unwrap_or_else(|| SmallVec::from_slice(&[TypeHierarchy::OBJECT]))
        };
        let predicates = domain
            .predicates
            .iter()
            .map(|decl| Signature {
                decl,
                parameters: decl.parameters.iter().map(resolve).collect(),
                derived: domain.derived.iter().any(|rule| rule.predicate == decl.name),
            })
            .collect();
        let constants =
            domain.constants.iter().map(|c| (Term::Constant(c.name.clone()), resolve(c))).collect();
        Self { types, predicates, constants }
    }

    pub(super) fn get(&self, predicate: &Name) -> Option<&Signature<'a>> {
        self.predicates.iter().find(|s| s.decl.name == *predicate)
    }

    /// The terms in the scope of an action's lists: its variables first.
    pub(super) fn scope(&self, action: &Action) -> Scope {
        let variables = action.parameters.iter().chain(&action.vars).map(|variable| {
            let types = self.types.resolve(variable.ty.as_ref());
            let types = types.unwrap_or_else(|| SmallVec::from_slice(&[TypeHierarchy::OBJECT]));
            (Term::Variable(variable.name.clone()), types)
        });
        Scope { terms: variables.chain(self.constants.iter().cloned()).collect() }
    }

    /// Returns true if the term may be the argument at that position of the predicate: every object it can
    /// denote has the type.
    pub(super) fn fits(
        &self,
        scope: &Scope,
        term: &Term,
        signature: &Signature<'_>,
        position: usize,
    ) -> bool {
        let given = scope.terms.iter().find(|(known, _)| known == term).map(|(_, types)| types);
        match (given, signature.parameters.get(position)) {
            (Some(given), Some(wanted)) => self.types.fit(given, wanted) == TypeFit::Always,
            _ => false,
        }
    }

    /// Returns true if all arguments fit.
    pub(super) fn takes(&self, scope: &Scope, signature: &Signature<'_>, args: &[Term]) -> bool {
        args.len() == signature.parameters.len()
            && args.iter().enumerate().all(|(position, arg)| self.fits(scope, arg, signature, position))
    }
}

/// The variables of an action and the domain's constants, with their types.
pub(super) struct Scope {
    terms: Vec<(Term, Types)>,
}

impl Scope {
    pub(super) fn terms(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().map(|(term, _)| term)
    }
}

/// A literal as a term of a list.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    pub(super) positive: bool,
    pub(super) atom: Atom,
}

impl Literal {
    /// The literal that a term is; other forms have none.
    pub(super) fn of(part: &Part) -> Option<Self> {
        let (positive, atom) = match part {
            Part::Condition(Condition::Atom(atom)) | Part::Effect(Effect::Add(atom)) => (true, atom),
            Part::Condition(Condition::Not(inner, _)) => match &**inner {
                Condition::Atom(atom) => (false, atom),
                _ => return None,
            },
            Part::Effect(Effect::Delete(atom, _)) => (false, atom),
            _ => return None,
        };
        Some(Self { positive, atom: atom.clone() })
    }

    /// The literal as a term of that list.
    pub(super) fn part(self, list: TermList) -> Part {
        let span = Span::default();
        match (list, self.positive) {
            (TermList::Precondition, true) => Part::Condition(Condition::Atom(self.atom)),
            (TermList::Precondition, false) => {
                Part::Condition(Condition::Not(Box::new(Condition::Atom(self.atom)), span))
            }
            (TermList::Effect, true) => Part::Effect(Effect::Add(self.atom)),
            (TermList::Effect, false) => Part::Effect(Effect::Delete(self.atom, span)),
        }
    }

    pub(super) fn same_atom(&self, other: &Atom) -> bool {
        self.atom.predicate == other.predicate && self.atom.args == other.args
    }
}
