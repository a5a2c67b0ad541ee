//! A candidate in the reference's names, and steps in the candidate's.

use super::super::are::{MAX_CHOICES, Shape, action_error, bijection::Bijections};
use super::{ActionMatch, Interface, firsts};
use crate::walk::NamedStep;
use planforge_pddl::Name;
use planforge_pddl::ast::{Action, Domain};
use planforge_pddl::{rename_parameters, rename_types};

impl Interface {
    /// Every action as the one of its name, parameters by position.
    pub(super) fn as_it_stands(reference: &Domain, candidate: &Domain) -> Self {
        let other = firsts(candidate);
        let matched = firsts(reference).into_iter().filter_map(|a| {
            let b = other.iter().find(|b| b.name == a.name)?;
            let keep = |i: usize, j: usize| i == j;
            let (own, theirs) = (Shape::of(a), Shape::of(b));
            let kept = Bijections::new(&own, &theirs, &keep, &|_, _| 0).best(MAX_CHOICES);
            let error = kept.map_or_else(|| action_error(a, b).by_position, |k| k.error);
            Some(ActionMatch {
                reference: a.name.to_string(),
                candidate: b.name.to_string(),
                parameters: (0..a.parameters.len()).collect(),
                error,
            })
        });
        let actions: Vec<ActionMatch> = matched.collect();
        let error = actions.iter().map(|a| a.error).sum();
        Interface { actions, types: Vec::new(), error, types_agree: false, exact: true }
    }

    /// Returns true if ground actions have the same names and argument orders in both domains.
    pub fn is_identity(&self) -> bool {
        self.types.is_empty() && self.actions.iter().all(ActionMatch::is_identity)
    }

    /// The candidate in the reference's names: its types, actions and the order of their parameters; these also get the
    /// reference's names, unless a quantifier of the action would catch one of them.
    pub fn rewrite(&self, reference: &Domain, candidate: &Domain) -> Domain {
        let types: Vec<(Name, Name)> =
            self.types.iter().map(|(to, from)| (Name::synthetic(from), Name::synthetic(to))).collect();
        let mut domain = rename_types(candidate, &types);
        for action in &mut domain.actions {
            let Some(matched) = self.actions.iter().find(|m| action.name.is(&m.candidate.to_lowercase()))
            else {
                continue;
            };
            let original = reference.actions.iter().find(|a| a.name.is(&matched.reference.to_lowercase()));
            if let Some(original) = original
                && let Some(renamed) = rename_action(action, original, &matched.parameters)
            {
                *action = renamed;
            }
        }
        domain
    }

    /// Number of actions with another name or order of parameters.
    pub fn renamed_actions(&self) -> usize {
        self.actions.iter().filter(|action| !action.is_identity()).count()
    }

    /// A ground action of the candidate under the reference's names; `None` if the candidate has no such action.
    pub fn reference_step(&self, step: &NamedStep) -> Option<NamedStep> {
        let matched = self.actions.iter().find(|m| m.candidate.eq_ignore_ascii_case(&step.name))?;
        if matched.parameters.len() != step.args.len() {
            return None;
        }
        let args = matched.parameters.iter().map(|&place| step.args.get(place).cloned());
        Some(NamedStep { name: matched.reference.clone(), args: args.collect::<Option<_>>()? })
    }

    /// A ground action of the reference as the candidate calls it; `None` where the reference has no such action.
    pub fn candidate_step(&self, step: &NamedStep) -> Option<NamedStep> {
        let matched = self.actions.iter().find(|m| m.reference.eq_ignore_ascii_case(&step.name))?;
        if matched.parameters.len() != step.args.len() {
            return None;
        }
        let mut args = vec![String::new(); step.args.len()];
        for (arg, &place) in step.args.iter().zip(&matched.parameters) {
            args.get_mut(place)?.clone_from(arg);
        }
        Some(NamedStep { name: matched.candidate.clone(), args })
    }
}

impl ActionMatch {
    /// True if the action has the same name and order of parameters in both domains.
    fn is_identity(&self) -> bool {
        self.reference.eq_ignore_ascii_case(&self.candidate)
            && self.parameters.iter().copied().eq(0..self.parameters.len())
    }
}

/// The action under the original's name, its parameters in the original's order.
fn rename_action(action: &Action, original: &Action, parameters: &[usize]) -> Option<Action> {
    let mut named = action.clone();
    named.name = original.name.at(action.name.span);
    // By place in the candidate, the reference's parameter.
    let mut names = action.parameters.clone();
    for (i, &place) in parameters.iter().enumerate() {
        names.get_mut(place)?.name = original.parameters.get(i)?.name.clone();
    }
    let free = rename_parameters(&named, &names);
    if Shape::of(&free).same_elements(&Shape::of(&named)) {
        named = free;
    }
    let list = named.parameters;
    named.parameters = parameters.iter().map(|&place| list.get(place).cloned()).collect::<Option<_>>()?;
    Some(named)
}
