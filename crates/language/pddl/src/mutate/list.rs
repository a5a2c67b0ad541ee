//! All mutations of a kind, and random ones of several kinds.
//!
//! A [`Scope`] has the terms that an action may use where a predicate requires a type.

use super::terms::{action_name, list_sites, part_at, sites, sites_of};
use super::{Edit, Mutation, MutationKind, MutationPlace, Part, Site, TermList, quantity};
use crate::ast::{Action, Atom, Condition, Domain, Effect, PredicateDecl, Term, TypedName};
use crate::hierarchy::{TypeFit, TypeHierarchy, TypeId};
use crate::name::Name;
use crate::print;
use crate::random::Random;
use planforge_diagnostics::Span;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Draws of a random addition before the action counts as having no room for one.
const ADDITION_TRIES: u32 = 200;

/// Lists every mistake of that kind in the domain's actions, in the order of the text. Durative actions have omissions and mistakes in
/// numbers and times only.
///
/// Mistakes in literals are made in terms that are literals, not inside quantifiers or disjunctions. A
/// literal that would repeat or contradict another one of its list is left out, and every new literal is well
/// typed. For a widened type, [`Mutation::ill_typed`] lists the literals that become ill typed. Negative
/// preconditions are added only if the domain's requirements allow them. The number of additions grows with
/// the number of variables to the power of a predicate's arguments; use [`random_mutations`] to draw a few.
pub fn all_mutations(domain: &Domain, kind: MutationKind) -> Vec<Mutation> {
    let signatures = Signatures::of(domain);
    let edits = match kind {
        MutationKind::Omission => sites(domain).into_iter().map(Edit::Remove).collect(),
        MutationKind::Addition => all_additions(domain, &signatures),
        MutationKind::PredicateArgument => argument_drops(&signatures),
        MutationKind::SwappedParameters => super::parameter_swaps(domain),
        MutationKind::WidenedType => super::parameter_widenings(domain),
        MutationKind::Number | MutationKind::Time | MutationKind::Weight => quantity::edits(domain, kind),
        _ => {
            sites(domain).into_iter().flat_map(|site| replacements(domain, &signatures, site, kind)).collect()
        }
    };
    edits.into_iter().filter_map(|edit| describe(domain, kind, edit)).collect()
}

/// `k` mistakes to be made together with [`super::apply_mutations`], no two in one term; fewer where the domain has no more.
///
/// Each is drawn in two steps: a kind with its weight (0 or less: never) among those that still have a mutation left, then one of
/// that kind uniformly; an addition draws its list, predicate and arguments one after the other. An omission never takes the last term
/// of a list, predicates lose one argument at most, and the parameters of an action are exchanged once at most.
pub fn random_mutations(
    domain: &Domain,
    kinds: &[(MutationKind, f64)],
    k: usize,
    random: &mut Random,
) -> Vec<Mutation> {
    let signatures = Signatures::of(domain);
    let mut kinds: Vec<(MutationKind, f64)> =
        kinds.iter().copied().filter(|(_, weight)| *weight > 0.0).collect();
    let mut chosen: Vec<Mutation> = Vec::new();
    while chosen.len() < k {
        let Some(index) = draw_weighted(&kinds, random) else { break };
        let kind = kinds[index].0;
        let edit = draw(domain, &signatures, kind, &chosen, random);
        match edit.and_then(|edit| describe(domain, kind, edit)) {
            Some(mutation) => chosen.push(mutation),
            None => {
                kinds.remove(index);
            }
        }
    }
    chosen
}

fn draw_weighted(kinds: &[(MutationKind, f64)], random: &mut Random) -> Option<usize> {
    let total: f64 = kinds.iter().map(|(_, weight)| weight).sum();
    let mut rest = random.unit() * total;
    for (index, (_, weight)) in kinds.iter().enumerate() {
        rest -= weight;
        if rest < 0.0 {
            return Some(index);
        }
    }
    kinds.len().checked_sub(1)
}

fn draw(
    domain: &Domain,
    signatures: &Signatures<'_>,
    kind: MutationKind,
    chosen: &[Mutation],
    random: &mut Random,
) -> Option<Edit> {
    let free = |site: &Site| !chosen.iter().any(|m| m.edit.site() == Some(*site));
    let options: Vec<Edit> = match kind {
        MutationKind::Addition => return draw_addition(domain, signatures, chosen, random),
        MutationKind::PredicateArgument => argument_drops(signatures)
            .into_iter()
            .filter(|edit| !chosen.iter().any(|m| same_predicate(&m.edit, edit)))
            .collect(),
        MutationKind::SwappedParameters => {
            let swapped = |edit: &&Edit| matches!(edit, Edit::SwapParameters { .. });
            let swapped: Vec<Option<usize>> =
                chosen.iter().map(|m| &m.edit).filter(swapped).map(Edit::action).collect();
            super::parameter_swaps(domain)
                .into_iter()
                .filter(|edit| !swapped.contains(&edit.action()))
                .collect()
        }
        MutationKind::WidenedType => {
            let widened = |edit: &Edit| chosen.iter().any(|m| super::same_parameter(&m.edit, edit));
            super::parameter_widenings(domain).into_iter().filter(|edit| !widened(edit)).collect()
        }
        MutationKind::Omission => {
            let removable = |site: &Site| free(site) && would_leave_one(domain, chosen, *site);
            sites(domain).into_iter().filter(removable).map(Edit::Remove).collect()
        }
        MutationKind::Number | MutationKind::Time | MutationKind::Weight => {
            let is_free = |edit: &Edit| edit.site().is_none_or(|site| free(&site));
            quantity::edits(domain, kind).into_iter().filter(is_free).collect()
        }
        _ => sites(domain)
            .into_iter()
            .filter(free)
            .flat_map(|site| replacements(domain, signatures, site, kind))
            .collect(),
    };
    random.pick(&options).cloned()
}

fn same_predicate(a: &Edit, b: &Edit) -> bool {
    match (a, b) {
        (Edit::DropArgument { predicate: a, .. }, Edit::DropArgument { predicate: b, .. }) => a == b,
        _ => false,
    }
}

/// Returns true if the list keeps a term after this one is removed as well.
fn would_leave_one(domain: &Domain, chosen: &[Mutation], site: Site) -> bool {
    let gone = chosen.iter().filter(
        |m| matches!(&m.edit, Edit::Remove(other) if other.action == site.action && other.list == site.list),
    );
    sites_of(domain, site.action, site.list).len() > gone.count() + 1
}

fn describe(domain: &Domain, kind: MutationKind, edit: Edit) -> Option<Mutation> {
    let mut ill_typed = Vec::new();
    let (action, place, before, after) = match &edit {
        Edit::Remove(site) => (Some(site.action), of_site(*site), Some(part_at(domain, *site)?.text()), None),
        Edit::Replace(site, part) => {
            (Some(site.action), of_site(*site), Some(part_at(domain, *site)?.text()), Some(part.text()))
        }
        Edit::Insert { action, part } => {
            (Some(*action), MutationPlace::Term { list: part.list(), index: None }, None, Some(part.text()))
        }
        Edit::DropArgument { predicate, position } => {
            let decl = domain.predicates.iter().find(|p| p.name == *predicate)?;
            let mut rest = decl.parameters.clone();
            let before = print::print_typed_list(&rest);
            rest.remove(*position);
            let after = print::print_typed_list(&rest);
            let place = MutationPlace::Argument { predicate: predicate.clone(), position: *position };
            (None, place, Some(format!("({predicate} {before})")), Some(format!("({predicate} {after})")))
        }
        Edit::SwapParameters { action, first, second } => {
            let before = domain.actions.get(*action)?.parameters.clone();
            let after = super::swap_entries(&before, *first, *second);
            let list = |list: &[_]| Some(format!("({})", print::print_typed_list(list)));
            (Some(*action), MutationPlace::Parameters(vec![*first, *second]), list(&before), list(&after))
        }
        Edit::WidenType { action, position, ty } => {
            let before = domain.actions.get(*action)?.parameters.get(*position)?.clone();
            let after = TypedName { ty: ty.clone(), ..before.clone() };
            ill_typed = super::ill_typed(domain, *action, &before, &after);
            let text = |entry| Some(print::print_typed_list(std::slice::from_ref(entry)));
            (Some(*action), MutationPlace::Parameters(vec![*position]), text(&before), text(&after))
        }
    };
    let action = match action {
        Some(index) => Some(action_name(domain, index)?.clone()),
        None => None,
    };
    Some(Mutation { kind, action, place, before, after, ill_typed, edit })
}

fn of_site(site: Site) -> MutationPlace {
    MutationPlace::Term { list: site.list, index: Some(site.index) }
}

/// Predicates of two or more arguments lose one; those that rules define keep theirs, as the rules' variables hang on them.
fn argument_drops(signatures: &Signatures<'_>) -> Vec<Edit> {
    let usable = signatures.predicates.iter().filter(|s| !s.derived && s.decl.parameters.len() > 1);
    usable
        .flat_map(|s| {
            let predicate = &s.decl.name;
            (0..s.decl.parameters.len())
                .map(move |position| Edit::DropArgument { predicate: predicate.clone(), position })
        })
        .collect()
}

/// Returns the terms that a mistake of that kind can turn a term into.
fn replacements(domain: &Domain, signatures: &Signatures<'_>, site: Site, kind: MutationKind) -> Vec<Edit> {
    let (Some(action), Some(part)) = (domain.actions.get(site.action), part_at(domain, site)) else {
        return Vec::new();
    };
    let Some(literal) = Literal::of(&part) else {
        return if kind == MutationKind::Negation { negated_equality(site, &part) } else { Vec::new() };
    };
    let scope = signatures.scope(action);
    let made = match kind {
        MutationKind::Negation => vec![Literal { positive: !literal.positive, atom: literal.atom.clone() }],
        MutationKind::SwappedArguments => swaps(signatures, &scope, &literal),
        MutationKind::ReplacedArgument => argument_replacements(signatures, &scope, &literal),
        MutationKind::Retarget => retargets(signatures, &scope, &literal, site.list),
        _ => Vec::new(),
    };
    let others = literals(domain, action, site.action, site.list, Some(site.index));
    made.into_iter()
        .filter(|new| !others.iter().any(|other| other.same_atom(&new.atom)))
        .map(|new| Edit::Replace(site, new.part(site.list)))
        .collect()
}

fn negated_equality(site: Site, part: &Part) -> Vec<Edit> {
    let negated = match part {
        Part::Condition(equal @ Condition::Equal(..)) => {
            Condition::Not(Box::new(equal.clone()), Span::default())
        }
        Part::Condition(Condition::Not(inner, _)) if matches!(**inner, Condition::Equal(..)) => {
            (**inner).clone()
        }
        _ => return Vec::new(),
    };
    vec![Edit::Replace(site, Part::Condition(negated))]
}

/// The literals of a list, without the one at `except`.
fn literals(
    domain: &Domain,
    action: &Action,
    number: usize,
    list: TermList,
    except: Option<usize>,
) -> Vec<Literal> {
    let sites = list_sites(action, number, list).into_iter().filter(|site| Some(site.index) != except);
    sites.filter_map(|site| part_at(domain, site).as_ref().and_then(Literal::of)).collect()
}

fn with_args(literal: &Literal, args: Vec<Term>) -> Literal {
    let atom = Atom { predicate: literal.atom.predicate.clone(), args, span: Span::default() };
    Literal { positive: literal.positive, atom }
}

fn swaps(signatures: &Signatures<'_>, scope: &Scope, literal: &Literal) -> Vec<Literal> {
    let Some(signature) = signatures.get(&literal.atom.predicate) else { return Vec::new() };
    let args = &literal.atom.args;
    let mut made = Vec::new();
    for i in 0..args.len() {
        for j in i + 1..args.len() {
            let mut swapped = args.clone();
            swapped.swap(i, j);
            if args[i] != args[j] && signatures.takes(scope, signature, &swapped) {
                made.push(with_args(literal, swapped));
            }
        }
    }
    made
}

fn argument_replacements(signatures: &Signatures<'_>, scope: &Scope, literal: &Literal) -> Vec<Literal> {
    let Some(signature) = signatures.get(&literal.atom.predicate) else { return Vec::new() };
    let args = &literal.atom.args;
    let mut made = Vec::new();
    for (position, old) in args.iter().enumerate().filter(|(_, arg)| arg.is_variable()) {
        for new in scope.terms().filter(|term| term.is_variable() && *term != old) {
            if signatures.fits(scope, new, signature, position) {
                let mut replaced = args.clone();
                replaced[position] = new.clone();
                made.push(with_args(literal, replaced));
            }
        }
    }
    made
}

fn retargets(signatures: &Signatures<'_>, scope: &Scope, literal: &Literal, list: TermList) -> Vec<Literal> {
    let other = signatures.predicates.iter().filter(|s| {
        s.decl.name != literal.atom.predicate
            && !(s.derived && list == TermList::Effect)
            && signatures.takes(scope, s, &literal.atom.args)
    });
    other
        .map(|s| {
            let mut new = with_args(literal, literal.atom.args.clone());
            new.atom.predicate = s.decl.name.clone();
            new
        })
        .collect()
}

/// The lists of an action that literals may be added to, with the signs they may have there.
fn open_lists(domain: &Domain) -> Vec<(TermList, bool)> {
    let allows = |r: &crate::Name| r.is(":negative-preconditions") || r.is(":adl") || r.is(":ucpop");
    let negative = domain.requirements.is_empty() || domain.requirements.iter().any(allows);
    let mut open = vec![(TermList::Precondition, true), (TermList::Effect, true), (TermList::Effect, false)];
    if negative {
        open.push((TermList::Precondition, false));
    }
    open
}

fn all_additions(domain: &Domain, signatures: &Signatures<'_>) -> Vec<Edit> {
    let mut made = Vec::new();
    for (number, action) in domain.actions.iter().enumerate() {
        let scope = signatures.scope(action);
        for (list, positive) in open_lists(domain) {
            let there = literals(domain, action, number, list, None);
            for signature in signatures.predicates.iter().filter(|s| !(s.derived && list == TermList::Effect))
            {
                for args in argument_lists(signatures, &scope, signature.decl.parameters.len(), signature) {
                    let atom = Atom { predicate: signature.decl.name.clone(), args, span: Span::default() };
                    let literal = Literal { positive, atom };
                    if !there.iter().any(|other| other.same_atom(&literal.atom)) {
                        made.push(Edit::Insert { action: number, part: literal.part(list) });
                    }
                }
            }
        }
    }
    made
}

fn argument_lists(
    signatures: &Signatures<'_>,
    scope: &Scope,
    arity: usize,
    signature: &Signature<'_>,
) -> Vec<Vec<Term>> {
    let mut lists: Vec<Vec<Term>> = vec![Vec::new()];
    for position in 0..arity {
        let fitting: Vec<&Term> =
            scope.terms().filter(|term| signatures.fits(scope, term, signature, position)).collect();
        lists = lists
            .into_iter()
            .flat_map(|prefix| {
                fitting.iter().map(move |term| {
                    let mut longer = prefix.clone();
                    longer.push((*term).clone());
                    longer
                })
            })
            .collect();
    }
    lists
}

fn draw_addition(
    domain: &Domain,
    signatures: &Signatures<'_>,
    chosen: &[Mutation],
    random: &mut Random,
) -> Option<Edit> {
    let open = open_lists(domain);
    // Terms that the list has, or that a mutation adds to it, are not added again.
    let taken: FxHashSet<(usize, TermList, String)> =
        chosen.iter().filter_map(|m| made_atom(&m.edit)).collect();
    for _ in 0..ADDITION_TRIES {
        let number = random.below(domain.actions.len() as u64) as usize;
        let action = domain.actions.get(number)?;
        let (list, positive) = *random.pick(&open)?;
        let signature = random.pick(&signatures.predicates)?;
        if signature.derived && list == TermList::Effect {
            continue;
        }
        let scope = signatures.scope(action);
        let Some(args) = draw_arguments(signatures, &scope, signature, random) else { continue };
        let atom = Atom { predicate: signature.decl.name.clone(), args, span: Span::default() };
        let there = literals(domain, action, number, list, None);
        let key = (number, list, print::print_atom(&atom).to_lowercase());
        if !taken.contains(&key) && !there.iter().any(|other| other.same_atom(&atom)) {
            return Some(Edit::Insert { action: number, part: Literal { positive, atom }.part(list) });
        }
    }
    None
}

fn made_atom(edit: &Edit) -> Option<(usize, TermList, String)> {
    let (action, part) = match edit {
        Edit::Insert { action, part } => (*action, part),
        Edit::Replace(site, part) => (site.action, part),
        _ => return None,
    };
    let literal = Literal::of(part)?;
    Some((action, part.list(), print::print_atom(&literal.atom).to_lowercase()))
}

/// Terms in scope that the predicate takes, each drawn uniformly; nothing where a place has none.
pub(super) fn draw_arguments(
    signatures: &Signatures<'_>,
    scope: &Scope,
    signature: &Signature<'_>,
    random: &mut Random,
) -> Option<Vec<Term>> {
    (0..signature.decl.parameters.len())
        .map(|position| {
            let fitting: Vec<&Term> =
                scope.terms().filter(|term| signatures.fits(scope, term, signature, position)).collect();
            random.pick(&fitting).map(|term| (*term).clone())
        })
        .collect()
}

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
            (TermList::Precondition | TermList::Duration, true) => {
                Part::Condition(Condition::Atom(self.atom))
            }
            (TermList::Precondition | TermList::Duration, false) => {
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
