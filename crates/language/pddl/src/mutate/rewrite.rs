//! Rewrites of a domain that preserve its meaning.
//!
//! Each kind is sound for every problem of the domain: additions are implied by the other parts, and only
//! parts whose order is irrelevant are moved. Names of actions, predicates, types and constants are kept, and
//! so is the order of parameters, so that the domain's problem files and plans remain usable.

use super::list::{Literal, Signatures, draw_arguments};
use super::{Part, TermList};
use crate::ast::{Action, Atom, Condition, Domain, Effect, PredicateDecl, Quantified, Term, TypedName};
use crate::check::allows;
use crate::name::Name;
use crate::print;
use crate::random::Random;
use crate::rename::rename_parameters;
use planforge_diagnostics::Span;
use std::fmt;

/// Kind of rewrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RewriteKind {
    /// The conjuncts of a precondition in another order.
    ReorderedPrecondition,
    /// The conjuncts of an effect in another order; not where two of them change numbers.
    ReorderedEffect,
    /// The actions in another order.
    ReorderedActions,
    /// The predicates declared in another order.
    ReorderedPredicates,
    /// The parameters of an action called otherwise.
    RenamedVariables,
    /// An action's name and its predicates in capitals.
    Capitals,
    /// Some conjuncts of a list in a conjunction of their own.
    NestedConjunction,
    /// A literal is repeated.
    RepeatedLiteral,
    /// `(not (not A))` for a precondition A.
    DoubleNegation,
    /// `(or A B)` is added to a precondition A.
    ImpliedDisjunction,
    /// `(imply A B)` replaces a precondition B next to a precondition A.
    Implication,
    /// `(exists (?any - t) (p ?any))` is added to a precondition `(p ?x)` with `?x - t`.
    ImpliedExistence,
    /// `(= ?x ?x)` as a precondition.
    ReflexiveEquality,
    /// A precondition stated as an effect, where nothing in the effect contradicts it.
    IdleEffect,
    /// `(when A E)` replaces an effect E under a precondition A.
    GuardedEffect,
    /// A predicate declared that nothing uses.
    UnusedPredicate,
}

impl RewriteKind {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 16] = [
        Self::ReorderedPrecondition,
        Self::ReorderedEffect,
        Self::ReorderedActions,
        Self::ReorderedPredicates,
        Self::RenamedVariables,
        Self::Capitals,
        Self::NestedConjunction,
        Self::RepeatedLiteral,
        Self::DoubleNegation,
        Self::ImpliedDisjunction,
        Self::Implication,
        Self::ImpliedExistence,
        Self::ReflexiveEquality,
        Self::IdleEffect,
        Self::GuardedEffect,
        Self::UnusedPredicate,
    ];

    /// The kind's name in tables and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReorderedPrecondition => "reordered-precondition",
            Self::ReorderedEffect => "reordered-effect",
            Self::ReorderedActions => "reordered-actions",
            Self::ReorderedPredicates => "reordered-predicates",
            Self::RenamedVariables => "renamed-variables",
            Self::Capitals => "capitals",
            Self::NestedConjunction => "nested-conjunction",
            Self::RepeatedLiteral => "repeated-literal",
            Self::DoubleNegation => "double-negation",
            Self::ImpliedDisjunction => "implied-disjunction",
            Self::Implication => "implication",
            Self::ImpliedExistence => "implied-existence",
            Self::ReflexiveEquality => "reflexive-equality",
            Self::IdleEffect => "idle-effect",
            Self::GuardedEffect => "guarded-effect",
            Self::UnusedPredicate => "unused-predicate",
        }
    }

    /// The requirement that the form needs, where it is beyond `:strips`.
    fn requirement(self) -> Option<&'static str> {
        match self {
            Self::DoubleNegation => Some(":negative-preconditions"),
            Self::ImpliedDisjunction | Self::Implication => Some(":disjunctive-preconditions"),
            Self::ImpliedExistence => Some(":existential-preconditions"),
            Self::ReflexiveEquality => Some(":equality"),
            Self::GuardedEffect => Some(":conditional-effects"),
            _ => None,
        }
    }
}

impl fmt::Display for RewriteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A domain in other words.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewrite {
    /// Kind of the rewrite.
    pub kind: RewriteKind,
    /// The action rewritten; `None` where it concerns the whole domain.
    pub action: Option<Name>,
    /// Description of the change, as a clause.
    pub change: String,
    /// A requirement that the domain declares now because the new form needs it.
    pub declared: Option<&'static str>,
    /// The rewritten domain. Its spans are those of the original; print it to obtain a text.
    pub domain: Domain,
}

impl fmt::Display for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(action) = &self.action {
            write!(f, "action {action}: ")?;
        }
        write!(f, "{} ({})", self.change, self.kind)?;
        self.declared.map_or(Ok(()), |requirement| write!(f, ", {requirement} declared"))
    }
}

/// A rewrite of that kind, drawn uniformly among the places where it can be made; `None` where there is none.
///
/// Where the domain declares requirements and they do not allow the new form, it declares what the form needs in addition. A domain that
/// declares none stays so.
pub fn random_rewrite(domain: &Domain, kind: RewriteKind, random: &mut Random) -> Option<Rewrite> {
    let (action, change, mut rewritten) = match kind {
        RewriteKind::ReorderedActions => {
            (None, "the actions in another order".to_owned(), actions(domain, random)?)
        }
        RewriteKind::ReorderedPredicates => {
            let change = "the predicates in another order".to_owned();
            (None, change, predicates(domain, random)?)
        }
        RewriteKind::UnusedPredicate => {
            let (change, rewritten) = unused_predicate(domain, random);
            (None, change, rewritten)
        }
        _ => {
            let signatures = Signatures::of(domain);
            let made = rewrites(domain, &signatures, kind, random);
            let (number, action, change) = random.pick(&made)?.clone();
            let mut rewritten = domain.clone();
            let name = action.name.clone();
            *rewritten.actions.get_mut(number)? = action;
            (Some(name), change, rewritten)
        }
    };
    let missing = |needed: &&str| !domain.requirements.is_empty() && !allows(&domain.requirements, needed);
    let declared = kind.requirement().filter(missing);
    rewritten.requirements.extend(declared.map(Name::synthetic));
    Some(Rewrite { kind, action, change, declared, domain: rewritten })
}

/// Returns the items in another order; `None` if there is no other.
fn reorder<T: Clone>(items: &[T], same: impl Fn(&T, &T) -> bool, random: &mut Random) -> Option<Vec<T>> {
    let mut other = items.to_vec();
    random.shuffle_front(&mut other, items.len());
    let unchanged = |other: &[T]| items.iter().zip(other).all(|(a, b)| same(a, b));
    if unchanged(&other) && !other.is_empty() {
        other.rotate_left(1);
    }
    (!unchanged(&other)).then_some(other)
}

fn actions(domain: &Domain, random: &mut Random) -> Option<Domain> {
    // Of two definitions of one name the first counts.
    let repeated = |i: usize| domain.actions[..i].iter().any(|other| other.name == domain.actions[i].name);
    if (0..domain.actions.len()).any(repeated) {
        return None;
    }
    let actions = reorder(&domain.actions, |a, b| a.name == b.name, random)?;
    Some(Domain { actions, ..domain.clone() })
}

fn predicates(domain: &Domain, random: &mut Random) -> Option<Domain> {
    let predicates = reorder(&domain.predicates, |a, b| a.name == b.name, random)?;
    Some(Domain { predicates, ..domain.clone() })
}

fn unused_predicate(domain: &Domain, random: &mut Random) -> (String, Domain) {
    let name = Name::synthetic(&fresh("noted", &print::print_domain(domain)));
    // Of any declared type, or of none.
    let ty = random.pick(&domain.types).map(|t| crate::ast::TypeRef::single(t.name.at(Span::default())));
    let parameters = vec![TypedName { name: Name::synthetic("?x"), ty }];
    let change = format!("({name} {}) declared and not used", print::print_typed_list(&parameters));
    let mut rewritten = domain.clone();
    rewritten.predicates.push(PredicateDecl { name, parameters, span: Span::default() });
    (change, rewritten)
}

/// A name that begins with the stem and that the text nowhere has.
fn fresh(stem: &str, text: &str) -> String {
    let text = text.to_lowercase();
    let mut name = stem.to_owned();
    let mut number = 1;
    while text.contains(&name) {
        number += 1;
        name = format!("{stem}{number}");
    }
    name
}

/// An action rewritten, and what was written otherwise.
type RewrittenAction = (Action, String);

/// Every action rewritten in each place where that can be done: its number, the action, and what is written otherwise.
fn rewrites(
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
    loud.precondition.iter_mut().for_each(|c| super::visit_condition_atoms(c, &mut shout));
    loud.effect.iter_mut().for_each(|e| super::visit_effect_atoms(e, &mut shout));
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
