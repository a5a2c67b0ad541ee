//! A change made for one PDDL, applied to a PDDL that has other changes of it.

use super::change::{NOTHING_CHANGES, ReadChange, apply, print_predicate, same_subject};
use super::comments::{
    CommentedText, Comments, comments_of_action, comments_of_goal, print_commented_action,
    print_commented_goal, read_domain, read_problem,
};
use super::points::PointChange;
use planforge_diagnostics::Span;
use planforge_pddl::ast::{Action, Condition, Domain, Effect, InitElement, Problem, TypedName};
use planforge_pddl::{
    print_action, print_condition, print_effect, print_init, print_typed_list, rename_parameters,
};
use std::collections::BTreeSet;

/// Applies a change that was made for `base` to `current`, which is `base` with other changes. Actions and goals are merged literal by
/// literal. A change that `current` has already returns it unchanged.
///
/// # Errors
/// A clause that says why the change cannot be used: both change the same literal, parameters or declaration, or [`apply`] refuses it.
pub fn apply_after(
    base: (&str, &str),
    current: (&str, &str),
    change: &PointChange,
) -> Result<(String, String), String> {
    let rival = apply(base.0, base.1, change)?;
    if (base.0, base.1) == (current.0, current.1) {
        return Ok(rival);
    }
    let trees = Trees { base: read_pair(base.0, base.1), current: read_pair(current.0, current.1) };
    let merged = trees.merge(current, &ReadChange::new(change)?)?;
    match apply(current.0, current.1, &merged) {
        Err(clause) if clause == NOTHING_CHANGES => Ok((current.0.to_owned(), current.1.to_owned())),
        result => result,
    }
}

fn read_pair(domain: &str, problem: &str) -> (Domain, Problem) {
    (read_domain(domain), read_problem(problem))
}

struct Trees {
    base: (Domain, Problem),
    current: (Domain, Problem),
}

impl Trees {
    /// The change as one of `current`.
    fn merge(&self, current: (&str, &str), change: &ReadChange) -> Result<PointChange, String> {
        let ((base, base_problem), (now, now_problem)) = (&self.base, &self.current);
        let mut merged = PointChange::default();
        for predicate in &change.predicates {
            let text = |domain: &Domain| {
                domain.predicates.iter().find(|p| p.name == predicate.name).map(print_predicate)
            };
            let new = Some(print_predicate(predicate));
            merged.predicates.extend(choose(text(base), text(now), new, &predicate.name)?.flatten());
        }
        for entry in &change.types {
            let new = Some(print_entry(entry));
            let texts = (find_entry(&base.types, entry), find_entry(&now.types, entry));
            merged.types.extend(choose(texts.0, texts.1, new, &entry.name)?.flatten());
        }
        for entry in &change.objects {
            let find = |domain: &Domain, problem: &Problem| {
                find_entry(&problem.objects, entry).or_else(|| find_entry(&domain.constants, entry))
            };
            let texts = (find(base, base_problem), find(now, now_problem));
            merged.objects.extend(choose(texts.0, texts.1, Some(print_entry(entry)), &entry.name)?.flatten());
        }
        for name in &change.remove_objects {
            let has = |list: &[TypedName]| list.iter().any(|object| object.name == *name);
            if has(&now_problem.objects) || has(&now.constants) {
                merged.remove_objects.push(name.to_string());
            }
        }
        for name in &change.remove_actions {
            let text =
                |domain: &Domain| domain.actions.iter().find(|a| a.name == *name).map(canonical_action);
            if choose(text(base), text(now), None, name)?.is_some() {
                merged.remove_actions.push(name.to_string());
            }
        }
        for (action, source) in &change.actions {
            merged.actions.extend(self.merge_action(current.0, action, source)?);
        }
        for fact in &change.add {
            // Names are the same in any case.
            let shown = |fact: &InitElement| print_init(fact).to_lowercase();
            let find = |problem: &Problem| problem.init.iter().find(|old| same_subject(old, fact)).map(shown);
            let (before, new) = (find(base_problem), Some(shown(fact)));
            // A fact that the base has is restated and not changed.
            if before == new {
                continue;
            }
            if matches!(fact, InitElement::Value(..)) {
                choose(before, find(now_problem), new, &print_init(fact))?;
            }
            merged.add.push(print_init(fact));
        }
        let is_in_base = |fact: &&InitElement| {
            let is_it = |old: &InitElement| !matches!(old, InitElement::Not(..)) && same_subject(old, fact);
            base_problem.init.iter().any(is_it)
        };
        merged.remove.extend(change.remove.iter().filter(is_in_base).map(print_init));
        if let Some((goal, source)) = &change.goal {
            merged.goal = self.merge_goal(current.1, goal, source)?;
        }
        Ok(merged)
    }

    /// The action for `current`. `None` if it has that already.
    fn merge_action(&self, current: &str, new: &Action, source: &str) -> Result<Option<String>, String> {
        let find = |domain: &Domain| domain.actions.iter().find(|a| a.name == new.name).cloned();
        let (base, now) = (find(&self.base.0), find(&self.current.0));
        let texts = CommentedText::new(source);
        let written = || print_commented_action(new, &[comments_of_action(new, &texts)]);
        let shown = |action: &Option<Action>| action.as_ref().map(canonical_action);
        if shown(&now) == Some(canonical_action(new)) {
            return Ok(None);
        }
        let (Some(base), Some(now)) = (&base, &now) else {
            return match (base, now) {
                (None, None) => Ok(Some(written())),
                _ => Err(format!("both change the action `{}`", new.name)),
            };
        };
        if canonical_action(base) == canonical_action(now) {
            return Ok(Some(written()));
        }
        let new = with_names(new, base);
        let now_renamed = with_names(now, base);
        let (before, theirs, ours) = (
            print_typed_list(&base.parameters),
            print_typed_list(&now_renamed.parameters),
            print_typed_list(&new.parameters),
        );
        let parameters = match (before == theirs, before == ours) {
            (_, true) => now_renamed.parameters.clone(),
            (true, false) => new.parameters.clone(),
            (false, false) if theirs == ours => new.parameters.clone(),
            (false, false) => return Err(format!("both change the parameters of `{}`", new.name)),
        };
        let conflict = |literal: String| format!("both change `{literal}` in the action `{}`", new.name);
        let precondition =
            merge_parts(&conditions(base), &conditions(&now_renamed), &conditions(&new)).map_err(conflict)?;
        let effect = merge_parts(&effects(base), &effects(&now_renamed), &effects(&new)).map_err(conflict)?;
        let merged = Action {
            parameters,
            precondition: Some(Condition::And(
                precondition.into_iter().map(|part| part.value).collect(),
                Span::default(),
            )),
            effect: Some(Effect::And(effect.into_iter().map(|part| part.value).collect(), Span::default())),
            ..new.clone()
        };
        // Comments are kept by the names of the parameters that they were read with.
        let current = CommentedText::new(current);
        let comments: [Comments<'_>; 2] =
            [comments_of_action(&now_renamed, &current), comments_of_action(&new, &texts)];
        Ok(Some(print_commented_action(&merged, &comments)))
    }

    fn merge_goal(&self, current: &str, new: &Condition, source: &str) -> Result<Option<String>, String> {
        let (base, now) = (goal_parts(self.base.1.goal.as_ref()), goal_parts(self.current.1.goal.as_ref()));
        let parts = merge_parts(&base, &now, &goal_parts(Some(new)))
            .map_err(|literal| format!("both change `{literal}` in the goal"))?;
        let goal = Condition::And(parts.into_iter().map(|part| part.value).collect(), Span::default());
        let (current, source) = (CommentedText::new(current), CommentedText::new(source));
        let mut comments: Vec<Comments<'_>> = Vec::new();
        comments.extend(self.current.1.goal.as_ref().map(|goal| comments_of_goal(goal, &current)));
        comments.push(comments_of_goal(new, &source));
        Ok(Some(print_commented_goal(&goal, &comments)))
    }
}

/// The declaration to write: `None` if `current` has it or the change restates that of `base`. The inner option is the declaration, absent
/// for a removal.
fn choose(
    base: Option<String>,
    current: Option<String>,
    new: Option<String>,
    name: &impl std::fmt::Display,
) -> Result<Option<Option<String>>, String> {
    match current == new || base == new {
        true => Ok(None),
        false if current == base => Ok(Some(new)),
        false => Err(format!("both change `{name}`")),
    }
}

fn print_entry(entry: &TypedName) -> String {
    print_typed_list(std::slice::from_ref(entry))
}

fn find_entry(list: &[TypedName], entry: &TypedName) -> Option<String> {
    list.iter().find(|old| old.name == entry.name).map(print_entry)
}

/// The action without regard to the order of its literals.
fn canonical_action(action: &Action) -> String {
    let conditions: BTreeSet<String> = conditions(action).into_iter().map(|part| part.text).collect();
    let effects: BTreeSet<String> = effects(action).into_iter().map(|part| part.text).collect();
    let head = Action { precondition: None, effect: None, ..action.clone() };
    format!("{} {conditions:?} {effects:?}", print_action(&head))
}

/// The action with the names of the base's parameters, where their types are the same.
fn with_names(action: &Action, base: &Action) -> Action {
    let types = |list: &[TypedName]| {
        list.iter()
            .map(|p| {
                p.ty.as_ref().map(|ty| ty.alternatives.iter().map(|n| n.key().to_owned()).collect::<Vec<_>>())
            })
            .collect::<Vec<_>>()
    };
    match types(&action.parameters) == types(&base.parameters) {
        true => rename_parameters(action, &base.parameters),
        false => action.clone(),
    }
}

/// A top-level part of a condition or an effect.
#[derive(Debug, Clone)]
struct Part<T> {
    /// The printed part.
    text: String,
    /// The printed part without a negation around it.
    key: String,
    is_literal: bool,
    value: T,
}

fn goal_parts(goal: Option<&Condition>) -> Vec<Part<Condition>> {
    let part = |condition: &Condition| {
        let text = print_condition(condition);
        let (key, is_literal) = match condition {
            Condition::Not(inner, _) => {
                (print_condition(inner), matches!(**inner, Condition::Atom(_) | Condition::Equal(..)))
            }
            other => (text.clone(), matches!(other, Condition::Atom(_) | Condition::Equal(..))),
        };
        Part { text, key, is_literal, value: condition.clone() }
    };
    goal.iter().flat_map(|goal| goal.conjuncts()).map(part).collect()
}

fn conditions(action: &Action) -> Vec<Part<Condition>> {
    goal_parts(action.precondition.as_ref())
}

fn effects(action: &Action) -> Vec<Part<Effect>> {
    let part = |effect: &Effect| {
        let text = print_effect(effect);
        let (key, is_literal) = match effect {
            Effect::Delete(atom, _) => (planforge_pddl::print_atom(atom), true),
            Effect::Add(_) => (text.clone(), true),
            _ => (text.clone(), false),
        };
        Part { text, key, is_literal, value: effect.clone() }
    };
    action.effect.iter().flat_map(|effect| effect.conjuncts()).map(part).collect()
}

/// The parts of `theirs` with the changes from `base` to `ours`.
///
/// # Errors
/// A part that both change, in different ways.
fn merge_parts<T: Clone>(
    base: &[Part<T>],
    theirs: &[Part<T>],
    ours: &[Part<T>],
) -> Result<Vec<Part<T>>, String> {
    let has = |list: &[Part<T>], part: &Part<T>| list.iter().any(|other| other.text == part.text);
    let changes = |side: &[Part<T>]| -> Vec<(bool, Part<T>)> {
        let removed = base.iter().filter(|part| !has(side, part)).map(|part| (false, part.clone()));
        let added = side.iter().filter(|part| !has(base, part)).map(|part| (true, part.clone()));
        removed.chain(added).collect()
    };
    let (of_theirs, of_ours) = (changes(theirs), changes(ours));
    let of_key = |list: &[(bool, Part<T>)], key: &str| -> BTreeSet<(bool, String)> {
        list.iter()
            .filter(|(_, part)| part.key == key)
            .map(|(added, part)| (*added, part.text.clone()))
            .collect()
    };
    let compounds = |list: &[(bool, Part<T>)]| -> BTreeSet<(bool, String)> {
        list.iter()
            .filter(|(_, part)| !part.is_literal)
            .map(|(added, part)| (*added, part.text.clone()))
            .collect()
    };
    for (added, part) in &of_ours {
        let other = of_key(&of_theirs, &part.key);
        if !other.is_empty() && other != of_key(&of_ours, &part.key) {
            return Err(part.text.clone());
        }
        // Two rewritings of one compound part would both remain.
        let both_remove = !added && !part.is_literal && !other.is_empty();
        if both_remove && compounds(&of_theirs) != compounds(&of_ours) {
            return Err(part.text.clone());
        }
    }
    let removed = |part: &Part<T>| of_ours.iter().any(|(added, other)| !added && other.text == part.text);
    let mut merged: Vec<Part<T>> = theirs.iter().filter(|part| !removed(part)).cloned().collect();
    for (_, part) in of_ours.iter().filter(|(added, _)| *added) {
        if !has(&merged, part) {
            merged.push(part.clone());
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: &str = "(define (domain d)
  (:requirements :strips :typing :negative-preconditions)
  (:types robot box)
  (:predicates (free ?r - robot) (wet ?b - box) (holds ?r - robot ?b - box) (clean ?b - box))
  (:action take
    :parameters (?r - robot ?b - box)
    :precondition (and
      (free ?r) ; [1]
      (clean ?b) ; [2]
    )
    :effect (and
      (holds ?r ?b) ; [3]
    ))
)
";
    const PROBLEM: &str = "(define (problem p) (:domain d) (:objects r - robot b - box)
  (:init (free r) (clean b)) (:goal (holds r b)))";
    const BASE: (&str, &str) = (DOMAIN, PROBLEM);

    fn take(precondition: &str, effect: &str) -> PointChange {
        let text = format!(
            "(:action take :parameters (?r - robot ?b - box) :precondition (and {precondition}) :effect (and {effect}))"
        );
        PointChange { actions: vec![text], ..PointChange::default() }
    }

    fn then(first: &PointChange, second: &PointChange) -> Result<(String, String), String> {
        let current = apply(DOMAIN, PROBLEM, first)?;
        apply_after(BASE, (&current.0, &current.1), second)
    }

    #[test]
    fn two_changes_of_an_action_are_merged_literal_by_literal() {
        let capacity = take("(free ?r) (clean ?b)", "(holds ?r ?b) (not (free ?r))");
        let mut dry = take("(free ?r) (not (wet ?b))", "(holds ?r ?b)");
        dry.goal = Some("(and (holds r b) (free r))".into());
        let (domain, problem) = then(&capacity, &dry).unwrap();
        assert!(
            domain.contains(
                "    :precondition (and
      (free ?r) ; [1]
      (not (wet ?b))
    )
    :effect (and
      (holds ?r ?b) ; [3]
      (not (free ?r))
    )"
            ),
            "{domain}"
        );
        assert!(problem.contains("(free r)\n  ))"), "{problem}");
        let trees = |pair: &(String, String)| {
            let (domain, problem) = read_pair(&pair.0, &pair.1);
            (canonical_action(&domain.actions[0]), goal_parts(problem.goal.as_ref()).len())
        };
        assert_eq!(trees(&then(&dry, &capacity).unwrap()), trees(&(domain, problem)));
    }

    #[test]
    fn parameters_of_other_names_are_merged() {
        let capacity = take("(free ?r) (clean ?b)", "(holds ?r ?b) (not (free ?r))");
        let renamed = "(:action take :parameters (?who - robot ?what - box) :precondition (and (free ?who)) :effect (holds ?who ?what))";
        let domain =
            then(&capacity, &PointChange { actions: vec![renamed.into()], ..PointChange::default() })
                .unwrap()
                .0;
        assert!(domain.contains("(and\n      (free ?r) ; [1]\n    )"), "{domain}");
        assert!(domain.contains("(not (free ?r))"), "{domain}");
    }

    #[test]
    fn two_different_changes_of_the_same_part_are_a_conflict() {
        let negated = take("(free ?r) (not (clean ?b))", "(holds ?r ?b)");
        let dropped = take("(free ?r)", "(holds ?r ?b)");
        assert_eq!(then(&negated, &dropped).unwrap_err(), "both change `(clean ?b)` in the action `take`");
        let wider = "(:action take :parameters (?r - robot ?b - box ?c - box) :precondition (and (free ?r) (clean ?b) (clean ?c)) :effect (holds ?r ?b))";
        let narrower =
            "(:action take :parameters (?r - robot) :precondition (free ?r) :effect (not (free ?r)))";
        let action = |text: &str| PointChange { actions: vec![text.into()], ..PointChange::default() };
        assert_eq!(
            then(&action(wider), &action(narrower)).unwrap_err(),
            "both change the parameters of `take`"
        );
        let removed = PointChange { remove_actions: vec!["take".into()], ..PointChange::default() };
        assert_eq!(then(&dropped, &removed).unwrap_err(), "both change `take`");
        let declares = |text: &str| PointChange { predicates: vec![text.into()], ..PointChange::default() };
        assert_eq!(
            then(&declares("(full ?r - robot)"), &declares("(full ?b - box)")).unwrap_err(),
            "both change `full`"
        );
    }

    #[test]
    fn two_rewritings_of_a_compound_effect_are_a_conflict() {
        let when =
            |literal: &str| take("(free ?r) (clean ?b)", &format!("(holds ?r ?b) (when (wet ?b) {literal})"));
        let base = apply(DOMAIN, PROBLEM, &when("(not (free ?r))")).unwrap();
        let pair = (base.0.as_str(), base.1.as_str());
        let current = apply(pair.0, pair.1, &when("(not (clean ?b))")).unwrap();
        let second = when("(and (not (free ?r)) (not (clean ?b)))");
        let clause = apply_after(pair, (&current.0, &current.1), &second).unwrap_err();
        assert!(clause.starts_with("both change `(when (wet ?b)"), "{clause}");
    }

    #[test]
    fn a_restated_fact_does_not_undo_another_change_of_it() {
        let first = PointChange {
            add: vec!["(wet b)".into()],
            remove: vec!["(clean b)".into()],
            ..PointChange::default()
        };
        let second = PointChange {
            add: vec!["(CLEAN b)".into()],
            remove: vec!["(wet b)".into(), "(free r)".into()],
            ..PointChange::default()
        };
        let problem = then(&first, &second).unwrap().1;
        assert!(problem.contains("(wet b)") && !problem.contains("(clean b)"), "{problem}");
        assert!(!problem.contains("(free r)"), "{problem}");
    }

    #[test]
    fn a_restated_declaration_does_not_undo_another_change_of_it() {
        let first = PointChange { predicates: vec!["(wet ?b)".into()], ..PointChange::default() };
        let second = PointChange {
            predicates: vec!["(wet ?b - box)".into(), "(full ?r - robot)".into()],
            ..PointChange::default()
        };
        let domain = then(&first, &second).unwrap().0;
        assert!(domain.contains("(wet ?b)") && domain.contains("(full ?r - robot)"), "{domain}");
    }

    #[test]
    fn a_change_that_is_made_already_changes_nothing() {
        let change = take("(free ?r)", "(holds ?r ?b)");
        let current = apply(DOMAIN, PROBLEM, &change).unwrap();
        assert_eq!(then(&change, &change).unwrap(), current);
        assert_eq!(apply_after(BASE, BASE, &change).unwrap(), current);
        let facts = PointChange {
            add: vec!["(wet b)".into()],
            remove: vec!["(free r)".into()],
            ..PointChange::default()
        };
        let problem = then(&change, &facts).unwrap().1;
        assert!(problem.contains("(wet b)") && !problem.contains("(free r)"), "{problem}");
    }
}
