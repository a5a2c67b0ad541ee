//! Seeded mistakes in a domain: omitted, added and confused parts.
//!
//! [`all_mutations`] lists every mistake of a kind, [`random_mutations`] draws some of several kinds,
//! [`apply_mutations`] applies them. [`Omissions`] draws uniformly among the ways to omit exactly k terms, or
//! among pairs of damaged domains that differ in exactly d terms, as in the studies behind Figure 2 of the
//! exploration-walk paper. A *term* is a top-level conjunct of an action's precondition or effect, whatever its
//! form.
//!
//! A mistake need not matter: an omitted precondition may be implied by the others. Only a comparison decides
//! whether a mutated domain still has the same meaning, never the kind of the mistake.
//!
//! [`action::action_mutants`] generates alternatives to one action, unreadable texts included.
//!
//! [`problem_mutants`] lists single mistakes in a problem's initial state or goal, [`quantity_mistakes`] those in its numbers, times and
//! weights.
//!
//! [`random_rewrite`] rewrites a domain without changing its meaning. Tests of the exact comparison use it.

pub mod action;
mod list;
mod omit;
mod problem;
mod quantity;
mod rewrite;
mod terms;

pub use list::{all_mutations, random_mutations};
pub use omit::{DamagedDomain, KeepPolicy, Omissions, PairSampler};
pub use problem::{ProblemMutant, ProblemPart, problem_mutants};
pub use quantity::{QuantityMistake, quantity_mistakes};
pub use rewrite::{Rewrite, RewriteKind, random_rewrite};
pub use terms::{ListedTerm, differing_terms, terms};

use crate::ast::{
    Action, Atom, Condition, Domain, DurativeAction, Effect, InitElement, Problem, Term, TypeRef, TypedName,
};
use crate::hierarchy::{TypeFit, TypeHierarchy};
use crate::name::Name;
use crate::print;
use crate::rename::{Renaming, rename_condition, rename_effect};
use planforge_diagnostics::Span;
use rustc_hash::FxHashSet;
use std::fmt;

/// Kind of mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MutationKind {
    /// A term is left out.
    Omission,
    /// A well-typed literal that does not belong there is added.
    Addition,
    /// Two arguments of a literal have changed places; it is still well typed.
    SwappedArguments,
    /// A variable of a literal is replaced by another whose type fits the place.
    ReplacedArgument,
    /// A literal is negated.
    Negation,
    /// A literal has another predicate that takes the same arguments.
    Retarget,
    /// A predicate has lost one of its arguments, in its declaration and wherever it is used, the problem included: the
    /// criticality of predicate design in the exploration-walk paper's Appendix A.2 (`(free ?g)` for `(free ?r ?g)`).
    PredicateArgument,
    /// Two parameters of an action have changed places in its list, each with its type: plans name them in another order.
    SwappedParameters,
    /// The type of an action's parameter is replaced by a wider one: its parent, or `object`.
    WidenedType,
    /// A number, function, comparison or change of a number is replaced by another: in a condition, in an effect, or as a value of the initial
    /// state.
    Number,
    /// A duration, the time of a timed initial literal or of a constraint, or the moment of a condition or effect is replaced by another.
    Time,
    /// A number in the metric of a problem with preferences is replaced by another.
    Weight,
}

impl MutationKind {
    /// The kinds that a domain without numbers and times has, in the order of tables.
    pub const CLASSICAL: [Self; 9] = [
        Self::Omission,
        Self::Addition,
        Self::SwappedArguments,
        Self::ReplacedArgument,
        Self::Negation,
        Self::Retarget,
        Self::PredicateArgument,
        Self::SwappedParameters,
        Self::WidenedType,
    ];

    /// The kind's name in tables and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Omission => "omission",
            Self::Addition => "addition",
            Self::SwappedArguments => "swapped-arguments",
            Self::ReplacedArgument => "replaced-argument",
            Self::Negation => "negation",
            Self::Retarget => "retarget",
            Self::PredicateArgument => "predicate-argument",
            Self::SwappedParameters => "swapped-parameters",
            Self::WidenedType => "widened-type",
            Self::Number => "number",
            Self::Time => "time",
            Self::Weight => "weight",
        }
    }
}

impl fmt::Display for MutationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One of an action's lists of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TermList {
    /// Conjuncts of the precondition.
    Precondition,
    /// Conjuncts of the effect.
    Effect,
    /// Constraints on a durative action's duration.
    Duration,
}

impl fmt::Display for TermList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Precondition => "precondition",
            Self::Effect => "effect",
            Self::Duration => "duration",
        })
    }
}

/// Place of a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutationPlace {
    /// A term of an action.
    Term {
        /// The list that contains the term.
        list: TermList,
        /// The term's position in it from 0; an addition has none.
        index: Option<usize>,
    },
    /// A predicate's argument, everywhere.
    Argument {
        /// Name of the predicate.
        predicate: Name,
        /// The argument's position from 0.
        position: usize,
    },
    /// Parameters of an action, by position from 0.
    Parameters(Vec<usize>),
}

/// One mistake in one domain: what it is, and how to make it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutation {
    /// Kind of the mistake.
    pub kind: MutationKind,
    /// The action it is made in; `None` for one that concerns the whole domain.
    pub action: Option<Name>,
    /// Place of the mistake.
    pub place: MutationPlace,
    /// The replaced part, as PDDL on one line; `None` for an addition.
    pub before: Option<String>,
    /// The new part, as PDDL on one line; `None` for an omission.
    pub after: Option<String>,
    /// Atoms whose declared argument types are narrower than the new type. Only a widened type has any; the
    /// other kinds keep every literal well typed.
    pub ill_typed: Vec<String>,
    edit: Edit,
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.action, &self.place) {
            (Some(action), MutationPlace::Term { list, .. }) => write!(f, "action {action}: {list} ")?,
            (Some(action), MutationPlace::Parameters(positions)) => {
                let plural = if positions.len() == 1 { "" } else { "s" };
                write!(f, "action {action}: parameter{plural} ")?;
            }
            _ => f.write_str("predicate ")?,
        }
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "{before} became {after} ({})", self.kind),
            (Some(before), None) => write!(f, "{before} omitted"),
            (None, Some(after)) => write!(f, "{after} added"),
            (None, None) => Ok(()),
        }?;
        match self.ill_typed.as_slice() {
            [] => Ok(()),
            atoms => write!(f, ", wider than {} may be given", atoms.join(", ")),
        }
    }
}

/// A term by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Site {
    /// Index in `Domain.actions`, followed by `Domain.durative_actions`.
    action: usize,
    list: TermList,
    /// Index among the list's conjuncts.
    index: usize,
}

/// A term of either list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Condition(Condition),
    Effect(Effect),
}

impl Part {
    fn list(&self) -> TermList {
        match self {
            Self::Condition(_) => TermList::Precondition,
            Self::Effect(_) => TermList::Effect,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Condition(condition) => print::print_condition(condition),
            Self::Effect(effect) => print::print_effect(effect),
        }
    }
}

/// Edit of the tree that makes the mistake.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Edit {
    Remove(Site),
    Replace(Site, Part),
    Insert { action: usize, part: Part },
    DropArgument { predicate: Name, position: usize },
    SwapParameters { action: usize, first: usize, second: usize },
    WidenType { action: usize, position: usize, ty: Option<TypeRef> },
}

impl Edit {
    /// The term that it changes.
    fn site(&self) -> Option<Site> {
        match self {
            Self::Remove(site) | Self::Replace(site, _) => Some(*site),
            _ => None,
        }
    }

    /// The action that it changes; `None` for one that concerns the whole domain.
    fn action(&self) -> Option<usize> {
        match self {
            Self::Remove(site) | Self::Replace(site, _) => Some(site.action),
            Self::Insert { action, .. }
            | Self::SwapParameters { action, .. }
            | Self::WidenType { action, .. } => Some(*action),
            Self::DropArgument { .. } => None,
        }
    }
}

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
    for (number, action) in (domain.actions.len()..).zip(&mut mutated.durative_actions) {
        let of_action: Vec<&Edit> =
            mutations.iter().map(|m| &m.edit).filter(|edit| edit.action() == Some(number)).collect();
        edit_durative(action, &of_action);
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
    edit_conditions(&mut action.precondition, TermList::Precondition, edits);
    edit_effects(&mut action.effect, edits);
}

fn edit_durative(action: &mut DurativeAction, edits: &[&Edit]) {
    edit_conditions(&mut action.duration, TermList::Duration, edits);
    edit_conditions(&mut action.condition, TermList::Precondition, edits);
    edit_effects(&mut action.effect, edits);
}

/// Returns true if an edit names the list. A list that no edit names stays as it was written.
fn is_touched(list: TermList, edits: &[&Edit]) -> bool {
    edits.iter().any(|edit| match edit {
        Edit::Insert { part, .. } => part.list() == list,
        other => other.site().is_some_and(|site| site.list == list),
    })
}

fn edit_conditions(condition: &mut Option<Condition>, list: TermList, edits: &[&Edit]) {
    if !is_touched(list, edits) {
        return;
    }
    let conjuncts = condition.as_ref().map_or(&[][..], Condition::conjuncts);
    let mut conjuncts: Vec<Option<Condition>> = conjuncts.iter().cloned().map(Some).collect();
    for edit in edits {
        match edit {
            Edit::Remove(site) if site.list == list => set_slot(&mut conjuncts, site.index, None),
            Edit::Replace(site, Part::Condition(c)) if site.list == list => {
                set_slot(&mut conjuncts, site.index, Some(c.clone()))
            }
            Edit::Insert { part: Part::Condition(c), .. } => conjuncts.push(Some(c.clone())),
            _ => {}
        }
    }
    let span = condition.as_ref().map_or(Span::default(), Condition::span);
    *condition = Some(Condition::And(conjuncts.into_iter().flatten().collect(), span));
}

fn edit_effects(effect: &mut Option<Effect>, edits: &[&Edit]) {
    if !is_touched(TermList::Effect, edits) {
        return;
    }
    let conjuncts = effect.as_ref().map_or(&[][..], Effect::conjuncts);
    let mut conjuncts: Vec<Option<Effect>> = conjuncts.iter().cloned().map(Some).collect();
    for edit in edits {
        match edit {
            Edit::Remove(site) if site.list == TermList::Effect => set_slot(&mut conjuncts, site.index, None),
            Edit::Replace(site, Part::Effect(e)) => set_slot(&mut conjuncts, site.index, Some(e.clone())),
            Edit::Insert { part: Part::Effect(e), .. } => conjuncts.push(Some(e.clone())),
            _ => {}
        }
    }
    let span = effect.as_ref().map_or(Span::default(), Effect::span);
    *effect = Some(Effect::And(conjuncts.into_iter().flatten().collect(), span));
}

/// The action with another term at that place.
fn replace_term(action: &Action, site: Site, part: Part) -> Action {
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
fn parameter_swaps(domain: &Domain) -> Vec<Edit> {
    let of_action = |(action, of): (usize, &Action)| -> Vec<Edit> {
        let count = of.parameters.len();
        let pairs = (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
        pairs.map(|(first, second)| Edit::SwapParameters { action, first, second }).collect()
    };
    domain.actions.iter().enumerate().flat_map(of_action).collect()
}

/// Each parameter with each type directly above its own.
fn parameter_widenings(domain: &Domain) -> Vec<Edit> {
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
fn same_parameter(a: &Edit, b: &Edit) -> bool {
    let parameter = |edit: &Edit| match edit {
        Edit::WidenType { action, position, .. } => Some((*action, *position)),
        _ => None,
    };
    parameter(a).is_some() && parameter(a) == parameter(b)
}

/// The list with two entries exchanged.
fn swap_entries(list: &[TypedName], first: usize, second: usize) -> Vec<TypedName> {
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
fn ill_typed(domain: &Domain, action: usize, before: &TypedName, after: &TypedName) -> Vec<String> {
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

fn visit_condition_atoms(condition: &mut Condition, change: &mut impl FnMut(&mut Atom)) {
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

fn visit_effect_atoms(effect: &mut Effect, change: &mut impl FnMut(&mut Atom)) {
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
