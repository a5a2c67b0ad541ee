//! Terms dropped, added, retargeted, negated: one, then two or three at a time.

use super::super::scope::Literal;
use super::super::terms::{list_sites, part_at};
use super::super::{Mutation, MutationKind, MutationPlace, TermList, all_mutations, apply_mutations};
use super::{ActionMutantKind, Draft, Flaw};
use crate::ast::{Action, Condition, Domain};
use crate::check::{allows, undeclared_requirements};
use crate::print::print_action;
use crate::random::Random;
use rustc_hash::FxHashSet;

/// Draws of one size without a new result before the next size is tried.
const TRIES: usize = 200;
/// Most mistakes of a set.
const MOST: usize = 3;

/// Mistakes of one kind in one action, drawn in sets.
pub(super) struct Sets {
    kind: ActionMutantKind,
    /// The domain with only this action.
    domain: Domain,
    /// True if a negated precondition is not an error.
    negation: bool,
    singles: Vec<Mutation>,
    /// The next single one.
    at: usize,
    size: usize,
}

impl Sets {
    pub(super) fn new(domain: &Domain, action: &Action, kind: ActionMutantKind, random: &mut Random) -> Self {
        let kinds: &[MutationKind] = match kind {
            ActionMutantKind::Drop => &[MutationKind::Omission],
            ActionMutantKind::Add => &[MutationKind::Addition],
            ActionMutantKind::Negate => &[MutationKind::Negation],
            _ => &[MutationKind::Retarget, MutationKind::SwappedArguments, MutationKind::ReplacedArgument],
        };
        let negation = negation_allowed(domain);
        let domain = Domain { actions: vec![action.clone()], ..domain.clone() };
        let mut singles: Vec<Mutation> =
            kinds.iter().flat_map(|kind| all_mutations(&domain, *kind)).collect();
        if kind == ActionMutantKind::Add && !negation {
            // A negated precondition is another kind of mistake.
            singles.retain(|m| {
                !matches!(m.place, MutationPlace::Term { list: TermList::Precondition, .. })
                    || !m.after.as_deref().is_some_and(|after| after.starts_with("(not "))
            });
        }
        let all = singles.len();
        random.shuffle_front(&mut singles, all);
        Sets { kind, domain, negation, singles, at: 0, size: 2 }
    }

    /// One that was not there yet.
    pub(super) fn next(&mut self, seen: &mut FxHashSet<String>, random: &mut Random) -> Option<Draft> {
        while let Some(single) = self.singles.get(self.at).cloned() {
            self.at += 1;
            if let Some(draft) = self.build_draft(&[single]).filter(|draft| seen.insert(draft.text.clone())) {
                return Some(draft);
            }
        }
        while self.size <= MOST.min(self.singles.len()) {
            for _ in 0..TRIES {
                let size = self.size;
                random.shuffle_front(&mut self.singles, size);
                let drawn = self.singles[..size].to_vec();
                if let Some(draft) = self.build_draft(&drawn).filter(|draft| seen.insert(draft.text.clone()))
                {
                    return Some(draft);
                }
            }
            self.size += 1;
        }
        None
    }

    /// The action with these mistakes; nothing where two are in one term, or one atom would be in a list twice.
    fn build_draft(&self, mutations: &[Mutation]) -> Option<Draft> {
        let one_place = mutations.iter().enumerate().any(|(i, a)| {
            mutations[..i]
                .iter()
                .any(|b| a.place == b.place && !matches!(a.place, MutationPlace::Term { index: None, .. }))
        });
        let mutated = apply_mutations(&self.domain, mutations);
        let action = mutated.actions.first()?;
        if one_place || repeats(&mutated, action) {
            return None;
        }
        let flaw = (self.kind == ActionMutantKind::Negate && !self.negation && negates(action))
            .then_some(Flaw::Requirement);
        let change: Vec<String> = mutations.iter().map(change).collect();
        Some(Draft { flaw, change: change.join("; "), text: print_action(action) })
    }
}

/// Returns true if the domain allows a negated precondition: it declares the requirement, or uses one itself.
fn negation_allowed(domain: &Domain) -> bool {
    const NEGATION: &str = ":negative-preconditions";
    allows(&domain.requirements, NEGATION) || undeclared_requirements(domain).contains(&NEGATION)
}

fn negates(action: &Action) -> bool {
    let conditions = action.precondition.as_ref().map_or(&[][..], Condition::conjuncts);
    conditions
        .iter()
        .any(|c| matches!(c, Condition::Not(inner, _) if !matches!(**inner, Condition::Equal(..))))
}

/// Returns true if a list has an atom twice, with either sign.
fn repeats(domain: &Domain, action: &Action) -> bool {
    [TermList::Precondition, TermList::Effect].into_iter().any(|list| {
        let sites = list_sites(action, 0, list).into_iter();
        let literals: Vec<Literal> =
            sites.filter_map(|site| part_at(domain, site).as_ref().and_then(Literal::of)).collect();
        literals.iter().enumerate().any(|(i, a)| literals[..i].iter().any(|b| b.same_atom(&a.atom)))
    })
}

/// Describes a mutation, without the action's name.
fn change(mutation: &Mutation) -> String {
    let list = match mutation.place {
        MutationPlace::Term { list, .. } => list.to_string(),
        _ => String::new(),
    };
    match (&mutation.before, &mutation.after) {
        (Some(before), Some(after)) => format!("{list} {before} became {after}"),
        (Some(before), None) => format!("{list} {before} dropped"),
        (None, Some(after)) => format!("{list} {after} added"),
        (None, None) => list,
    }
}
