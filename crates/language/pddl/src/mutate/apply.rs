//! Application of mutations to a domain or problem, and mistakes in the parameters of an action: their order, and how wide their types
//! are.

use super::{Edit, Mutation, Part, TermList};
use crate::ast::{Action, Atom, Condition, Domain, Effect, InitElement, Problem, Term, TypeRef, TypedName};
use crate::check::{TypeFit, TypeHierarchy};
use crate::name::Name;
use crate::print;
use crate::rename::{Renaming, rename_condition, rename_effect};
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
            edit_parameters(action, &of_action);
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
        mutated.init.iter_mut().for_each(|element| visit_init_atoms(element, &mut drop));
        mutated.goal.iter_mut().for_each(|goal| visit_condition_atoms(goal, &mut drop));
        mutated.constraints.iter_mut().for_each(|c| visit_condition_atoms(c, &mut drop));
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
        action.precondition.iter_mut().for_each(|c| visit_condition_atoms(c, &mut drop));
        action.effect.iter_mut().for_each(|e| visit_effect_atoms(e, &mut drop));
    }
    for action in &mut domain.durative_actions {
        action.condition.iter_mut().for_each(|c| visit_condition_atoms(c, &mut drop));
        action.effect.iter_mut().for_each(|e| visit_effect_atoms(e, &mut drop));
    }
    domain
        .derived
        .iter_mut()
        .flat_map(|rule| &mut rule.condition)
        .for_each(|c| visit_condition_atoms(c, &mut drop));
    domain.constraints.iter_mut().for_each(|c| visit_condition_atoms(c, &mut drop));
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

/// Two parameters of an action exchanged, for every two.
pub(super) fn parameter_swaps(domain: &Domain) -> Vec<Edit> {
    let of_action = |(action, of): (usize, &Action)| -> Vec<Edit> {
        let count = of.parameters.len();
        let pairs = (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
        pairs.map(|(first, second)| Edit::SwapParameters { action, first, second }).collect()
    };
    domain.actions.iter().enumerate().flat_map(of_action).collect()
}

/// Each parameter with each type directly above its own.
pub(super) fn parameter_widenings(domain: &Domain) -> Vec<Edit> {
    let types = TypeHierarchy::of(domain);
    let mut made = Vec::new();
    for (action, of) in domain.actions.iter().enumerate() {
        for (position, parameter) in of.parameters.iter().enumerate() {
            let wider = wider(&types, parameter.ty.as_ref()).into_iter();
            made.extend(wider.map(|ty| Edit::WidenType { action, position, ty }));
        }
    }
    made
}

/// Returns the types directly above one; `None` stands for `object`. Alternatives have only `object` above
/// them.
fn wider(types: &TypeHierarchy, ty: Option<&TypeRef>) -> Vec<Option<TypeRef>> {
    let Some(ty) = ty else { return Vec::new() };
    if ty.is_either() {
        return vec![None];
    }
    let own = ty.alternatives.first().and_then(|name| types.get(name.key()));
    match own {
        None | Some(TypeHierarchy::OBJECT) => Vec::new(),
        Some(own) if types.parents(own).is_empty() => vec![None],
        Some(own) => {
            let above = types.parents(own).iter().map(|&parent| match parent {
                TypeHierarchy::OBJECT => None,
                named => Some(TypeRef::single(Name::synthetic(types.name(named).as_str()))),
            });
            above.collect()
        }
    }
}

/// Returns true if both edits widen the same parameter.
pub(super) fn same_parameter(a: &Edit, b: &Edit) -> bool {
    let parameter = |edit: &Edit| match edit {
        Edit::WidenType { action, position, .. } => Some((*action, *position)),
        _ => None,
    };
    parameter(a).is_some() && parameter(a) == parameter(b)
}

/// The list with two entries exchanged.
pub(super) fn swap_entries(list: &[TypedName], first: usize, second: usize) -> Vec<TypedName> {
    let mut list = list.to_vec();
    if first.max(second) < list.len() {
        list.swap(first, second);
    }
    list
}

/// Makes the edits of an action's parameters. Types first: positions are those of the list as it was.
fn edit_parameters(action: &mut Action, edits: &[&Edit]) {
    for edit in edits {
        if let Edit::WidenType { position, ty, .. } = edit
            && let Some(parameter) = action.parameters.get_mut(*position)
        {
            parameter.ty.clone_from(ty);
        }
    }
    for edit in edits {
        if let Edit::SwapParameters { first, second, .. } = edit {
            action.parameters = swap_entries(&action.parameters, *first, *second);
        }
    }
}

/// Atoms of the action that a parameter fits and, with its other type, fits no more.
pub(super) fn ill_typed(
    domain: &Domain,
    action: usize,
    before: &TypedName,
    after: &TypedName,
) -> Vec<String> {
    let types = TypeHierarchy::of(domain);
    let (Some(action), Some(old), Some(new)) =
        (domain.actions.get(action), types.resolve(before.ty.as_ref()), types.resolve(after.ty.as_ref()))
    else {
        return Vec::new();
    };
    // A name that no text can contain distinguishes a parameter from a quantifier's variable of the same name.
    let marked = TypedName { name: Name::synthetic("?"), ty: None };
    let marking = Renaming::new(std::slice::from_ref(before), std::slice::from_ref(&marked));
    let mut found: Vec<String> = Vec::new();
    let mut look = |atom: &mut Atom| {
        let Some(decl) = domain.predicates.iter().find(|p| p.name == atom.predicate) else { return };
        let lost = atom.args.iter().zip(&decl.parameters).any(|(arg, declared)| {
            let wanted = types.resolve(declared.ty.as_ref());
            *arg == Term::Variable(marked.name.clone())
                && wanted.is_some_and(|w| {
                    types.fit(&old, &w) == TypeFit::Always && types.fit(&new, &w) != TypeFit::Always
                })
        });
        if lost {
            for arg in atom.args.iter_mut().filter(|arg| *arg.name() == marked.name) {
                *arg = Term::Variable(before.name.clone());
            }
            let text = print::print_atom(atom);
            if !found.contains(&text) {
                found.push(text);
            }
        }
    };
    for mut condition in action.precondition.iter().cloned() {
        rename_condition(&mut condition, &marking);
        visit_condition_atoms(&mut condition, &mut look);
    }
    for mut effect in action.effect.iter().cloned() {
        rename_effect(&mut effect, &marking);
        visit_effect_atoms(&mut effect, &mut look);
    }
    found
}

pub(super) fn visit_condition_atoms(condition: &mut Condition, change: &mut impl FnMut(&mut Atom)) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter_mut().for_each(|part| visit_condition_atoms(part, change));
        }
        Condition::Not(inner, _) | Condition::Timed(_, inner, _) => visit_condition_atoms(inner, change),
        Condition::Imply(a, b, _) => {
            visit_condition_atoms(a, change);
            visit_condition_atoms(b, change);
        }
        Condition::Exists(q) | Condition::Forall(q) => visit_condition_atoms(&mut q.body, change),
        Condition::Preference(p) => visit_condition_atoms(&mut p.condition, change),
        Condition::Trajectory(t) => {
            t.conditions.iter_mut().for_each(|part| visit_condition_atoms(part, change))
        }
        Condition::Atom(atom) => change(atom),
        Condition::Equal(..) | Condition::Compare(_) => {}
    }
}

pub(super) fn visit_effect_atoms(effect: &mut Effect, change: &mut impl FnMut(&mut Atom)) {
    match effect {
        Effect::And(parts, _) => parts.iter_mut().for_each(|part| visit_effect_atoms(part, change)),
        Effect::Forall(q) => visit_effect_atoms(&mut q.body, change),
        Effect::When(condition, inner, _) => {
            visit_condition_atoms(condition, change);
            visit_effect_atoms(inner, change);
        }
        Effect::Timed(_, inner, _) => visit_effect_atoms(inner, change),
        Effect::Add(atom) | Effect::Delete(atom, _) => change(atom),
        Effect::Assign(_) => {}
    }
}

fn visit_init_atoms(element: &mut InitElement, change: &mut impl FnMut(&mut Atom)) {
    match element {
        InitElement::Atom(atom) | InitElement::Not(atom, _) => change(atom),
        InitElement::Timed { element, .. } => visit_init_atoms(element, change),
        InitElement::Value(..) => {}
    }
}
