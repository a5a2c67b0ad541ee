//! Application of mutations to a domain or problem.

use super::{Edit, Mutation, Part, TermList, atoms, parameters};
use crate::ast::{Action, Atom, Condition, Domain, Effect, InitElement, Problem};
use crate::name::Name;
use crate::print;
use planforge_diagnostics::Span;
use rustc_hash::FxHashSet;

/// The domain with all of these mistakes in it, each at the place it was listed for.
///
/// The mutations must be of this domain; one whose place it does not have changes nothing. Spans stay those of the given domain; print
/// the result to have a text of it.
pub fn apply_mutations(domain: &Domain, mutations: &[Mutation]) -> Domain {
    let mut mutated = domain.clone();
    for (number, action) in mutated.actions.iter_mut().enumerate() {
        let of_action: Vec<&Edit> =
            mutations.iter().map(|m| &m.edit).filter(|edit| edit.action() == Some(number)).collect();
        if !of_action.is_empty() {
            edit_action(action, &of_action);
            parameters::edit(action, &of_action);
        }
    }
    for (predicate, position) in dropped_arguments(mutations) {
        drop_in_domain(&mut mutated, &predicate, position);
    }
    if negates_a_precondition(domain, &mutated) {
        mutated.requirements.push(Name::synthetic(":negative-preconditions"));
    }
    mutated
}

/// The problem as someone writes it for the domain with these mistakes in it: a predicate that has lost an argument has lost it in the
/// initial state and in the goal too, and facts that have become the same are one. Mistakes in actions do not show in a problem.
pub fn apply_mutations_to_problem(problem: &Problem, mutations: &[Mutation]) -> Problem {
    let mut mutated = problem.clone();
    let dropped = dropped_arguments(mutations);
    if dropped.is_empty() {
        return mutated;
    }
    for (predicate, position) in &dropped {
        let mut drop = |atom: &mut Atom| drop_argument(atom, predicate, *position);
        mutated.init.iter_mut().for_each(|element| atoms::of_init(element, &mut drop));
        mutated.goal.iter_mut().for_each(|goal| atoms::of_condition(goal, &mut drop));
        mutated.constraints.iter_mut().for_each(|c| atoms::of_condition(c, &mut drop));
    }
    let mut seen = FxHashSet::default();
    mutated.init.retain(|element| match element {
        InitElement::Value(..) => true,
        other => seen.insert(print::print_init(other).to_lowercase()),
    });
    mutated
}

impl Mutation {
    /// Returns the domain with this mistake. See [`apply_mutations`].
    pub fn apply(&self, domain: &Domain) -> Domain {
        apply_mutations(domain, std::slice::from_ref(self))
    }
}

/// Arguments to drop, the later positions of a predicate first, so that the earlier ones stay where they are.
fn dropped_arguments(mutations: &[Mutation]) -> Vec<(Name, usize)> {
    let mut all: Vec<(Name, usize)> = mutations
        .iter()
        .filter_map(|m| match &m.edit {
            Edit::DropArgument { predicate, position } => Some((predicate.clone(), *position)),
            _ => None,
        })
        .collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.dedup();
    all
}

fn edit_action(action: &mut Action, edits: &[&Edit]) {
    let conditions = action.precondition.as_ref().map_or(&[][..], Condition::conjuncts);
    let effects = action.effect.as_ref().map_or(&[][..], Effect::conjuncts);
    let mut conditions: Vec<Option<Condition>> = conditions.iter().cloned().map(Some).collect();
    let mut effects: Vec<Option<Effect>> = effects.iter().cloned().map(Some).collect();
    for edit in edits {
        match edit {
            Edit::Remove(site) if site.list == TermList::Precondition => {
                set_slot(&mut conditions, site.index, None)
            }
            Edit::Remove(site) => set_slot(&mut effects, site.index, None),
            Edit::Replace(site, Part::Condition(c)) => set_slot(&mut conditions, site.index, Some(c.clone())),
            Edit::Replace(site, Part::Effect(e)) => set_slot(&mut effects, site.index, Some(e.clone())),
            Edit::Insert { part: Part::Condition(c), .. } => conditions.push(Some(c.clone())),
            Edit::Insert { part: Part::Effect(e), .. } => effects.push(Some(e.clone())),
            Edit::DropArgument { .. } | Edit::SwapParameters { .. } | Edit::WidenType { .. } => {}
        }
    }
    // A list that no edit names stays as it was written.
    let touched = |list: TermList| {
        edits.iter().any(|edit| match edit {
            Edit::Insert { part, .. } => part.list() == list,
            other => other.site().is_some_and(|site| site.list == list),
        })
    };
    if touched(TermList::Precondition) {
        let span = action.precondition.as_ref().map_or(Span::default(), Condition::span);
        action.precondition = Some(Condition::And(conditions.into_iter().flatten().collect(), span));
    }
    if touched(TermList::Effect) {
        let span = action.effect.as_ref().map_or(Span::default(), Effect::span);
        action.effect = Some(Effect::And(effects.into_iter().flatten().collect(), span));
    }
}

/// The action with another term at that place.
pub(super) fn replace_term(action: &Action, site: super::Site, part: Part) -> Action {
    let mut changed = action.clone();
    edit_action(&mut changed, &[&Edit::Replace(site, part)]);
    changed
}

fn set_slot<T>(list: &mut [Option<T>], index: usize, value: Option<T>) {
    if let Some(slot) = list.get_mut(index) {
        *slot = value;
    }
}

fn drop_argument(atom: &mut Atom, predicate: &Name, position: usize) {
    if atom.predicate == *predicate && position < atom.args.len() {
        atom.args.remove(position);
    }
}

fn drop_in_domain(domain: &mut Domain, predicate: &Name, position: usize) {
    for declared in domain.predicates.iter_mut().filter(|p| p.name == *predicate) {
        if position < declared.parameters.len() {
            declared.parameters.remove(position);
        }
    }
    let mut drop = |atom: &mut Atom| drop_argument(atom, predicate, position);
    for action in &mut domain.actions {
        action.precondition.iter_mut().for_each(|c| atoms::of_condition(c, &mut drop));
        action.effect.iter_mut().for_each(|e| atoms::of_effect(e, &mut drop));
    }
    for action in &mut domain.durative_actions {
        action.condition.iter_mut().for_each(|c| atoms::of_condition(c, &mut drop));
        action.effect.iter_mut().for_each(|e| atoms::of_effect(e, &mut drop));
    }
    domain
        .derived
        .iter_mut()
        .flat_map(|rule| &mut rule.condition)
        .for_each(|c| atoms::of_condition(c, &mut drop));
    domain.constraints.iter_mut().for_each(|c| atoms::of_condition(c, &mut drop));
}

/// Returns true if a mutation adds the first negative precondition to a domain whose requirements do not
/// allow it. The mistake is the literal; it must not become a second one about requirements.
fn negates_a_precondition(before: &Domain, after: &Domain) -> bool {
    let negative = |domain: &Domain| {
        let conditions = domain.actions.iter().flat_map(|a| &a.precondition);
        conditions.flat_map(Condition::conjuncts).any(|c| matches!(c, Condition::Not(..)))
    };
    let declared =
        before.requirements.iter().any(|r| r.is(":negative-preconditions") || r.is(":adl") || r.is(":ucpop"));
    !declared && !before.requirements.is_empty() && !negative(before) && negative(after)
}
