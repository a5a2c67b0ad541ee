//! Rewrites of one action.

use super::super::list::draw_arguments;
use super::super::scope::{Literal, Signatures};
use super::super::{Part, TermList, atoms};
use super::{RewriteKind, fresh, reorder};
use crate::ast::{Action, Atom, Condition, Domain, Effect, Quantified, Term, TypedName};
use crate::name::Name;
use crate::print;
use crate::random::Random;
use crate::rename::rename_parameters;
use planforge_diagnostics::Span;

/// An action rewritten, and what was written otherwise.
type RewrittenAction = (Action, String);

/// Every action rewritten in each place where that can be done: its number, the action, and what is written otherwise.
pub(super) fn rewrites(
    domain: &Domain,
    signatures: &Signatures<'_>,
    kind: RewriteKind,
    random: &mut Random,
) -> Vec<(usize, Action, String)> {
    let mut all = Vec::new();
    for (number, action) in domain.actions.iter().enumerate() {
        let made = match kind {
            RewriteKind::ReorderedPrecondition => reordered_precondition(action, random),
            RewriteKind::ReorderedEffect => reordered_effect(action, random),
            RewriteKind::RenamedVariables => renamed_variables(action),
            RewriteKind::Capitals => vec![capitals(action)],
            RewriteKind::NestedConjunction => nested(action, random),
            RewriteKind::RepeatedLiteral => repeat_literals(action),
            RewriteKind::DoubleNegation => double_negations(action),
            RewriteKind::ImpliedDisjunction => disjunctions(action, signatures, random),
            RewriteKind::Implication => implications(action),
            RewriteKind::ImpliedExistence => existences(action),
            RewriteKind::ReflexiveEquality => equalities(action),
            RewriteKind::IdleEffect => idle_effects(action, signatures),
            RewriteKind::GuardedEffect => guarded_effects(action),
            RewriteKind::ReorderedActions
            | RewriteKind::ReorderedPredicates
            | RewriteKind::UnusedPredicate => Vec::new(),
        };
        all.extend(made.into_iter().map(|(action, change)| (number, action, change)));
    }
    all
}

fn conditions(action: &Action) -> &[Condition] {
    action.precondition.as_ref().map_or(&[], Condition::conjuncts)
}

fn effects(action: &Action) -> &[Effect] {
    action.effect.as_ref().map_or(&[], Effect::conjuncts)
}

fn with_conditions(action: &Action, conditions: Vec<Condition>) -> Action {
    Action { precondition: Some(Condition::And(conditions, Span::default())), ..action.clone() }
}

fn with_effects(action: &Action, effects: Vec<Effect>) -> Action {
    Action { effect: Some(Effect::And(effects, Span::default())), ..action.clone() }
}

/// The action with one more conjunct in its precondition.
fn with_condition(action: &Action, more: Condition) -> RewrittenAction {
    let change = format!("precondition {} added", print::print_condition(&more));
    (with_conditions(action, conditions(action).iter().cloned().chain([more]).collect()), change)
}

/// The literals of a precondition with their positions.
fn literals(action: &Action) -> Vec<(usize, Literal)> {
    let of = |(i, c): (usize, &Condition)| Some((i, Literal::of(&Part::Condition(c.clone()))?));
    conditions(action).iter().enumerate().filter_map(of).collect()
}

fn reordered_precondition(action: &Action, random: &mut Random) -> Vec<RewrittenAction> {
    let same = |a: &Condition, b: &Condition| print::print_condition(a) == print::print_condition(b);
    let other = reorder(conditions(action), same, random).into_iter();
    other.map(|c| (with_conditions(action, c), "the precondition in another order".to_owned())).collect()
}

fn reordered_effect(action: &Action, random: &mut Random) -> Vec<RewrittenAction> {
    // Changes of numbers take place in their order.
    if effects(action).iter().map(assignments).sum::<usize>() > 1 {
        return Vec::new();
    }
    let same = |a: &Effect, b: &Effect| print::print_effect(a) == print::print_effect(b);
    let other = reorder(effects(action), same, random).into_iter();
    other.map(|e| (with_effects(action, e), "the effect in another order".to_owned())).collect()
}

fn assignments(effect: &Effect) -> usize {
    match effect {
        Effect::And(parts, _) => parts.iter().map(assignments).sum(),
        Effect::Forall(q) => assignments(&q.body),
        Effect::When(_, inner, _) | Effect::Timed(_, inner, _) => assignments(inner),
        Effect::Assign(_) => 1,
        Effect::Add(_) | Effect::Delete(..) => 0,
    }
}

fn renamed_variables(action: &Action) -> Vec<RewrittenAction> {
    if action.parameters.is_empty() {
        return Vec::new();
    }
    // No variable of the action begins so, a quantifier's neither: nothing is captured.
    let stem = fresh("?v", &print::print_action(action));
    let name = |(i, p): (usize, &TypedName)| TypedName {
        name: Name::synthetic(&format!("{stem}-{}", i + 1)),
        ty: p.ty.clone(),
    };
    let names: Vec<TypedName> = action.parameters.iter().enumerate().map(name).collect();
    let change = format!("the parameters called {}", print::print_typed_list(&names));
    vec![(rename_parameters(action, &names), change)]
}

fn capitals(action: &Action) -> RewrittenAction {
    let mut loud = action.clone();
    let upper = |name: &mut Name| *name = Name::new(&name.as_str().to_uppercase(), name.span);
    upper(&mut loud.name);
    let mut shout = |atom: &mut Atom| upper(&mut atom.predicate);
    loud.precondition.iter_mut().for_each(|c| atoms::of_condition(c, &mut shout));
    loud.effect.iter_mut().for_each(|e| atoms::of_effect(e, &mut shout));
    (loud, "its name and its predicates in capitals".to_owned())
}

/// Draws the bounds of at least two adjacent items out of `count`.
fn bounds(count: usize, random: &mut Random) -> (usize, usize) {
    let from = random.below(count as u64 - 1) as usize;
    (from, from + 2 + random.below((count - from - 1) as u64) as usize)
}

fn nested(action: &Action, random: &mut Random) -> Vec<RewrittenAction> {
    let mut made = Vec::new();
    let mut conditions = conditions(action).to_vec();
    if conditions.len() > 1 {
        let (from, to) = bounds(conditions.len(), random);
        let inner: Vec<Condition> = conditions.drain(from..to).collect();
        conditions.insert(from, Condition::And(inner, Span::default()));
        made.push((with_conditions(action, conditions), "a conjunction in the precondition's".to_owned()));
    }
    let mut effects = effects(action).to_vec();
    if effects.len() > 1 {
        let (from, to) = bounds(effects.len(), random);
        let inner: Vec<Effect> = effects.drain(from..to).collect();
        effects.insert(from, Effect::And(inner, Span::default()));
        made.push((with_effects(action, effects), "a conjunction in the effect's".to_owned()));
    }
    made
}

fn repeat_literals(action: &Action) -> Vec<RewrittenAction> {
    let conditions = conditions(action);
    let mut made: Vec<RewrittenAction> = Vec::new();
    for (i, _) in literals(action) {
        let more = conditions.iter().chain([&conditions[i]]).cloned().collect();
        let change = format!("precondition {} said twice", print::print_condition(&conditions[i]));
        made.push((with_conditions(action, more), change));
    }
    let effects = effects(action);
    for effect in effects.iter().filter(|e| matches!(e, Effect::Add(_) | Effect::Delete(..))) {
        let more = effects.iter().chain([effect]).cloned().collect();
        let change = format!("effect {} said twice", print::print_effect(effect));
        made.push((with_effects(action, more), change));
    }
    made
}

/// The action with another form of one conjunct of its precondition.
fn replace_conjunct(action: &Action, index: usize, by: Condition) -> RewrittenAction {
    let mut conditions = conditions(action).to_vec();
    let after = print::print_condition(&by);
    let before = std::mem::replace(&mut conditions[index], by);
    let change = format!("precondition {} became {after}", print::print_condition(&before));
    (with_conditions(action, conditions), change)
}

fn negate(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition), Span::default())
}

fn condition(literal: &Literal) -> Condition {
    match literal.positive {
        true => Condition::Atom(literal.atom.clone()),
        false => negate(Condition::Atom(literal.atom.clone())),
    }
}

fn double_negations(action: &Action) -> Vec<RewrittenAction> {
    let positive = literals(action).into_iter().filter(|(_, literal)| literal.positive);
    positive.map(|(i, literal)| replace_conjunct(action, i, negate(negate(condition(&literal))))).collect()
}

fn disjunctions(action: &Action, signatures: &Signatures<'_>, random: &mut Random) -> Vec<RewrittenAction> {
    let scope = signatures.scope(action);
    let mut made = Vec::new();
    for (_, literal) in literals(action) {
        let Some(signature) = random.pick(&signatures.predicates) else { continue };
        let Some(args) = draw_arguments(signatures, &scope, signature, random) else { continue };
        let other = Atom { predicate: signature.decl.name.clone(), args, span: Span::default() };
        let either = vec![condition(&literal), Condition::Atom(other)];
        made.push(with_condition(action, Condition::Or(either, Span::default())));
    }
    made
}

fn implications(action: &Action) -> Vec<RewrittenAction> {
    let literals = literals(action);
    let mut made = Vec::new();
    for (i, a) in &literals {
        for (j, b) in literals.iter().filter(|(j, _)| i != j) {
            let (a, b) = (Box::new(condition(a)), Box::new(condition(b)));
            made.push(replace_conjunct(action, *j, Condition::Imply(a, b, Span::default())));
        }
    }
    made
}

fn existences(action: &Action) -> Vec<RewrittenAction> {
    let any = Name::synthetic(&fresh("?any", &print::print_action(action)));
    let mut made = Vec::new();
    for (_, literal) in literals(action).into_iter().filter(|(_, literal)| literal.positive) {
        for (position, arg) in literal.atom.args.iter().enumerate().filter(|(_, arg)| arg.is_variable()) {
            let mut variables = action.parameters.iter().chain(&action.vars);
            let Some(own) = variables.find(|p| p.name == *arg.name()) else { continue };
            let mut atom = literal.atom.clone();
            atom.args[position] = Term::Variable(any.clone());
            // The type of the replaced variable, so that its object is a witness.
            let parameters = vec![TypedName { name: any.clone(), ty: own.ty.clone() }];
            let body = Box::new(Condition::Atom(atom));
            let exists = Condition::Exists(Quantified { parameters, body, span: Span::default() });
            made.push(with_condition(action, exists));
        }
    }
    made
}

fn equalities(action: &Action) -> Vec<RewrittenAction> {
    let same = |p: &TypedName| {
        let term = || Term::Variable(p.name.clone());
        with_condition(action, Condition::Equal(term(), term(), Span::default()))
    };
    action.parameters.iter().map(same).collect()
}

/// Returns true if the effect may change the truth of an atom of that predicate.
fn changes(action: &Action, literal: &Literal) -> bool {
    fn any(effect: &Effect, literal: &Literal) -> bool {
        match effect {
            Effect::And(parts, _) => parts.iter().any(|part| any(part, literal)),
            Effect::Forall(q) => any(&q.body, literal),
            Effect::When(_, inner, _) | Effect::Timed(_, inner, _) => any(inner, literal),
            // The opposite of the literal.
            Effect::Add(atom) => !literal.positive && atom.predicate == literal.atom.predicate,
            Effect::Delete(atom, _) => literal.positive && atom.predicate == literal.atom.predicate,
            Effect::Assign(_) => false,
        }
    }
    effects(action).iter().any(|effect| any(effect, literal))
}

fn idle_effects(action: &Action, signatures: &Signatures<'_>) -> Vec<RewrittenAction> {
    let mut made = Vec::new();
    for (_, literal) in literals(action) {
        // What rules define, no effect may name.
        let derived = signatures.get(&literal.atom.predicate).is_none_or(|s| s.derived);
        if derived || changes(action, &literal) {
            continue;
        }
        let Part::Effect(effect) = literal.part(TermList::Effect) else { continue };
        let change = format!("effect {} added", print::print_effect(&effect));
        let more = effects(action).iter().cloned().chain([effect]).collect();
        made.push((with_effects(action, more), change));
    }
    made
}

fn guarded_effects(action: &Action) -> Vec<RewrittenAction> {
    let mut made = Vec::new();
    for (_, literal) in literals(action) {
        for (i, effect) in effects(action).iter().enumerate() {
            if !matches!(effect, Effect::Add(_) | Effect::Delete(..)) {
                continue;
            }
            let (when, inner) = (Box::new(condition(&literal)), Box::new(effect.clone()));
            let guarded = Effect::When(when, inner, Span::default());
            let (before, after) = (print::print_effect(effect), print::print_effect(&guarded));
            let mut effects = effects(action).to_vec();
            effects[i] = guarded;
            made.push((with_effects(action, effects), format!("effect {before} became {after}")));
        }
    }
    made
}
