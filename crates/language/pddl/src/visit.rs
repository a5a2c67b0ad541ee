//! Passes over the trees: every name with what it is the name of, and removal of spans for comparison.

use crate::ast::*;
use crate::name::Name;
use planforge_diagnostics::Span;

/// Kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameKind {
    /// The domain, in `(domain NAME)` and `(:domain NAME)`.
    Domain,
    /// The problem, in `(problem NAME)` and `(:situation NAME)`.
    Problem,
    /// Name of a type.
    Type,
    /// A predicate, also a derived one.
    Predicate,
    /// Name of a numeric function.
    Function,
    /// Name of an action.
    Action,
    /// A constant of the domain, where it is declared.
    Constant,
    /// Name of an object: declared in a problem, or an argument that is not a variable.
    Object,
    /// A variable, with its question mark.
    Variable,
    /// Name of a preference.
    Preference,
}

/// A definition whose names can be changed.
pub trait VisitNames {
    /// Shows every name to `f`, which may change it. Keywords, requirements and the built-in `object`, `number` and `?duration` are none.
    fn visit_names(&mut self, f: &mut dyn FnMut(NameKind, &mut Name));
}

type Visit<'a> = dyn FnMut(NameKind, &mut Name) + 'a;

impl VisitNames for Domain {
    fn visit_names(&mut self, f: &mut Visit<'_>) {
        self.name.iter_mut().for_each(|name| f(NameKind::Domain, name));
        for declared in &mut self.types {
            type_name(&mut declared.name, f);
            type_ref(&mut declared.ty, f);
        }
        visit_typed(&mut self.constants, NameKind::Constant, f);
        for predicate in &mut self.predicates {
            f(NameKind::Predicate, &mut predicate.name);
            visit_typed(&mut predicate.parameters, NameKind::Variable, f);
        }
        for function in &mut self.functions {
            f(NameKind::Function, &mut function.name);
            visit_typed(&mut function.parameters, NameKind::Variable, f);
            type_ref(&mut function.ty, f);
        }
        self.actions.iter_mut().for_each(|action| action.visit_names(f));
        for action in &mut self.durative_actions {
            f(NameKind::Action, &mut action.name);
            visit_typed(&mut action.parameters, NameKind::Variable, f);
            action.duration.iter_mut().chain(&mut action.condition).for_each(|c| condition(c, f));
            action.effect.iter_mut().for_each(|e| effect(e, f));
        }
        for rule in &mut self.derived {
            f(NameKind::Predicate, &mut rule.predicate);
            visit_typed(&mut rule.parameters, NameKind::Variable, f);
            rule.condition.iter_mut().for_each(|c| condition(c, f));
        }
        self.constraints.iter_mut().for_each(|c| condition(c, f));
    }
}

impl VisitNames for Action {
    fn visit_names(&mut self, f: &mut Visit<'_>) {
        f(NameKind::Action, &mut self.name);
        visit_typed(&mut self.parameters, NameKind::Variable, f);
        visit_typed(&mut self.vars, NameKind::Variable, f);
        self.precondition.iter_mut().for_each(|c| condition(c, f));
        self.effect.iter_mut().for_each(|e| effect(e, f));
    }
}

impl VisitNames for Problem {
    fn visit_names(&mut self, f: &mut Visit<'_>) {
        self.name.iter_mut().chain(&mut self.situation).for_each(|name| f(NameKind::Problem, name));
        self.domain_name.iter_mut().for_each(|name| f(NameKind::Domain, name));
        visit_typed(&mut self.objects, NameKind::Object, f);
        self.init.iter_mut().for_each(|element| init(element, f));
        self.goal.iter_mut().chain(&mut self.constraints).for_each(|c| condition(c, f));
        self.metric.iter_mut().for_each(|metric| numeric(&mut metric.expr, f));
    }
}

fn type_name(name: &mut Name, f: &mut Visit<'_>) {
    if !name.is("object") && !name.is("number") {
        f(NameKind::Type, name);
    }
}

fn type_ref(ty: &mut Option<TypeRef>, f: &mut Visit<'_>) {
    ty.iter_mut().flat_map(|ty| &mut ty.alternatives).for_each(|name| type_name(name, f));
}

fn visit_typed(list: &mut [TypedName], kind: NameKind, f: &mut Visit<'_>) {
    for entry in list {
        f(kind, &mut entry.name);
        type_ref(&mut entry.ty, f);
    }
}

fn terms(terms: &mut [Term], f: &mut Visit<'_>) {
    for term in terms {
        match term {
            Term::Variable(name) => f(NameKind::Variable, name),
            Term::Constant(name) => f(NameKind::Object, name),
        }
    }
}

fn atom(atom: &mut Atom, f: &mut Visit<'_>) {
    f(NameKind::Predicate, &mut atom.predicate);
    terms(&mut atom.args, f);
}

fn fluent(fluent: &mut Fluent, f: &mut Visit<'_>) {
    f(NameKind::Function, &mut fluent.function);
    terms(&mut fluent.args, f);
}

fn numeric(expr: &mut NumericExpr, f: &mut Visit<'_>) {
    match expr {
        NumericExpr::Fluent(term) => fluent(term, f),
        NumericExpr::Arithmetic(_, args, _) => args.iter_mut().for_each(|arg| numeric(arg, f)),
        NumericExpr::IsViolated(name, _) => f(NameKind::Preference, name),
        NumericExpr::Number(..)
        | NumericExpr::Duration(_)
        | NumericExpr::ElapsedTime(_)
        | NumericExpr::TotalTime(_) => {}
    }
}

fn condition(it: &mut Condition, f: &mut Visit<'_>) {
    match it {
        Condition::And(parts, _) | Condition::Or(parts, _) => parts.iter_mut().for_each(|c| condition(c, f)),
        Condition::Not(inner, _) | Condition::Timed(_, inner, _) => condition(inner, f),
        Condition::Imply(a, b, _) => {
            condition(a, f);
            condition(b, f);
        }
        Condition::Exists(q) | Condition::Forall(q) => {
            visit_typed(&mut q.parameters, NameKind::Variable, f);
            condition(&mut q.body, f);
        }
        Condition::Atom(a) => atom(a, f),
        Condition::Equal(a, b, _) => {
            terms(std::slice::from_mut(a), f);
            terms(std::slice::from_mut(b), f);
        }
        Condition::Compare(c) => {
            numeric(&mut c.left, f);
            numeric(&mut c.right, f);
        }
        Condition::Preference(p) => {
            p.name.iter_mut().for_each(|name| f(NameKind::Preference, name));
            condition(&mut p.condition, f);
        }
        Condition::Trajectory(t) => t.conditions.iter_mut().for_each(|c| condition(c, f)),
    }
}

fn effect(it: &mut Effect, f: &mut Visit<'_>) {
    match it {
        Effect::And(parts, _) => parts.iter_mut().for_each(|e| effect(e, f)),
        Effect::Forall(q) => {
            visit_typed(&mut q.parameters, NameKind::Variable, f);
            effect(&mut q.body, f);
        }
        Effect::When(when, inner, _) => {
            condition(when, f);
            effect(inner, f);
        }
        Effect::Add(a) | Effect::Delete(a, _) => atom(a, f),
        Effect::Assign(a) => {
            fluent(&mut a.fluent, f);
            numeric(&mut a.value, f);
        }
        Effect::Timed(_, inner, _) => effect(inner, f),
    }
}

fn init(element: &mut InitElement, f: &mut Visit<'_>) {
    match element {
        InitElement::Atom(a) | InitElement::Not(a, _) => atom(a, f),
        InitElement::Value(term, ..) => fluent(term, f),
        InitElement::Timed { element, .. } => init(element, f),
    }
}

/// Trees that can forget where they were read.
pub trait StripSpans {
    /// Sets every span to the empty default and clears the list of sections.
    fn strip_spans(&mut self);

    /// Returns true if both have the same content, regardless of spans. Names compare without regard to case.
    fn eq_ignoring_spans(&self, other: &Self) -> bool
    where
        Self: Clone + PartialEq,
    {
        let (mut a, mut b) = (self.clone(), other.clone());
        a.strip_spans();
        b.strip_spans();
        a == b
    }
}

impl StripSpans for Span {
    fn strip_spans(&mut self) {
        *self = Span::default();
    }
}
impl StripSpans for Name {
    fn strip_spans(&mut self) {
        self.span = Span::default();
    }
}
impl<T: StripSpans> StripSpans for Box<T> {
    fn strip_spans(&mut self) {
        (**self).strip_spans();
    }
}
impl<T: StripSpans> StripSpans for Vec<T> {
    fn strip_spans(&mut self) {
        self.iter_mut().for_each(T::strip_spans);
    }
}
impl<T: StripSpans> StripSpans for Option<T> {
    fn strip_spans(&mut self) {
        self.iter_mut().for_each(T::strip_spans);
    }
}
impl<A: smallvec::Array> StripSpans for smallvec::SmallVec<A>
where
    A::Item: StripSpans,
{
    fn strip_spans(&mut self) {
        self.iter_mut().for_each(StripSpans::strip_spans);
    }
}

/// Implements the trait for a struct by its fields that hold spans.
macro_rules! strip_fields {
    ($($ty:ty { $($field:ident),* })*) => {
        $(impl StripSpans for $ty {
            fn strip_spans(&mut self) {
                $(self.$field.strip_spans();)*
            }
        })*
    };
}

strip_fields! {
    TypeRef { alternatives, span }
    TypedName { name, ty }
    PredicateDecl { name, parameters, span }
    FunctionDecl { name, parameters, ty, span }
    Action { name, parameters, vars, precondition, effect, span }
    DurativeAction { name, parameters, duration, condition, effect, span }
    Derived { predicate, parameters, condition, span }
    Atom { predicate, args, span }
    Fluent { function, args, span }
    Comparison { left, right, span }
    Preference { name, condition, span }
    Trajectory { conditions, span }
    Assignment { fluent, value, span }
    Metric { expr, span }
}

impl<T: StripSpans> StripSpans for Quantified<T> {
    fn strip_spans(&mut self) {
        self.parameters.strip_spans();
        self.body.strip_spans();
        self.span.strip_spans();
    }
}

impl StripSpans for Term {
    fn strip_spans(&mut self) {
        match self {
            Term::Variable(name) | Term::Constant(name) => name.strip_spans(),
        }
    }
}

impl StripSpans for Condition {
    fn strip_spans(&mut self) {
        match self {
            Condition::And(parts, span) | Condition::Or(parts, span) => {
                parts.strip_spans();
                span.strip_spans();
            }
            Condition::Not(inner, span) | Condition::Timed(_, inner, span) => {
                inner.strip_spans();
                span.strip_spans();
            }
            Condition::Imply(a, b, span) => {
                a.strip_spans();
                b.strip_spans();
                span.strip_spans();
            }
            Condition::Exists(q) | Condition::Forall(q) => q.strip_spans(),
            Condition::Atom(atom) => atom.strip_spans(),
            Condition::Equal(a, b, span) => {
                a.strip_spans();
                b.strip_spans();
                span.strip_spans();
            }
            Condition::Compare(c) => c.strip_spans(),
            Condition::Preference(p) => p.strip_spans(),
            Condition::Trajectory(t) => t.strip_spans(),
        }
    }
}

impl StripSpans for NumericExpr {
    fn strip_spans(&mut self) {
        match self {
            NumericExpr::Fluent(f) => f.strip_spans(),
            NumericExpr::Arithmetic(_, args, span) => {
                args.strip_spans();
                span.strip_spans();
            }
            NumericExpr::IsViolated(name, span) => {
                name.strip_spans();
                span.strip_spans();
            }
            NumericExpr::Number(_, span)
            | NumericExpr::Duration(span)
            | NumericExpr::ElapsedTime(span)
            | NumericExpr::TotalTime(span) => span.strip_spans(),
        }
    }
}

impl StripSpans for Effect {
    fn strip_spans(&mut self) {
        match self {
            Effect::And(parts, span) => {
                parts.strip_spans();
                span.strip_spans();
            }
            Effect::Forall(q) => q.strip_spans(),
            Effect::When(condition, effect, span) => {
                condition.strip_spans();
                effect.strip_spans();
                span.strip_spans();
            }
            Effect::Add(atom) => atom.strip_spans(),
            Effect::Delete(atom, span) => {
                atom.strip_spans();
                span.strip_spans();
            }
            Effect::Assign(a) => a.strip_spans(),
            Effect::Timed(_, inner, span) => {
                inner.strip_spans();
                span.strip_spans();
            }
        }
    }
}

impl StripSpans for InitElement {
    fn strip_spans(&mut self) {
        match self {
            InitElement::Atom(atom) => atom.strip_spans(),
            InitElement::Not(atom, span) => {
                atom.strip_spans();
                span.strip_spans();
            }
            InitElement::Value(fluent, _, span) => {
                fluent.strip_spans();
                span.strip_spans();
            }
            InitElement::Timed { element, span, .. } => {
                element.strip_spans();
                span.strip_spans();
            }
        }
    }
}

impl StripSpans for Domain {
    fn strip_spans(&mut self) {
        self.name.strip_spans();
        self.requirements.strip_spans();
        self.types.strip_spans();
        self.constants.strip_spans();
        self.predicates.strip_spans();
        self.functions.strip_spans();
        self.actions.strip_spans();
        self.durative_actions.strip_spans();
        self.derived.strip_spans();
        self.constraints.strip_spans();
        self.sections.clear();
        self.span.strip_spans();
    }
}

impl StripSpans for Problem {
    fn strip_spans(&mut self) {
        self.name.strip_spans();
        self.domain_name.strip_spans();
        self.requirements.strip_spans();
        self.objects.strip_spans();
        self.init.strip_spans();
        self.goal.strip_spans();
        self.constraints.strip_spans();
        self.metric.strip_spans();
        self.situation.strip_spans();
        self.sections.clear();
        self.span.strip_spans();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_domain, parse_problem};
    use planforge_diagnostics::SourceId;

    const DOMAIN: &str = "(define (domain d) (:requirements :adl) (:types t - object u - (either t object)) (:constants k - t)
        (:predicates (p ?x - t)) (:functions (w ?y - u) - number) (:constraints (always (p k)))
        (:derived (q ?z) (exists (?v - t) (= ?v k)))
        (:action go :parameters (?a - t) :precondition (or (imply (p ?a) (not (q ?a))) (< (w k) 2))
          :effect (and (forall (?b - t) (when (p ?b) (not (p ?b)))) (increase (w ?a) 1)))
        (:durative-action fly :parameters (?c) :duration (= ?duration (w ?c)) :condition (at start (p ?c)) :effect (at end (q ?c))))";
    const PROBLEM: &str = "(define (problem n) (:domain d) (:objects o1 - t) (:init (p o1) (= (w o1) 1) (at 3 (not (q o2))))
        (:goal (and (preference pref (p o1)) (not (= o3 ?f)))) (:metric minimize (+ (is-violated pref) (w o4))))";

    #[test]
    fn every_name_is_visited_and_nothing_else() {
        let all = |text: &str, is_domain: bool| {
            let mut seen = Vec::new();
            let mut note = |kind, name: &mut Name| {
                *name = Name::new(&format!("{name}_"), name.span);
                seen.push((kind, text[name.span.range()].to_owned()));
            };
            if is_domain {
                parse_domain(text, SourceId(0)).value.visit_names(&mut note);
            } else {
                parse_problem(text, SourceId(0)).value.visit_names(&mut note);
            }
            seen
        };
        // Words of the lexer that are not names are keywords.
        let keywords = "define domain problem either object number and or not imply exists forall when at start end always increase = < + \
                        preference minimize is-violated ?duration - 1 2 3";
        let keywords: Vec<&str> = keywords.split(' ').collect();
        for (text, is_domain) in [(DOMAIN, true), (PROBLEM, false)] {
            let mut words: Vec<String> = text
                .split(|c: char| c.is_whitespace() || "()".contains(c))
                .filter(|w| !w.is_empty() && !w.starts_with(':') && !keywords.contains(w))
                .map(str::to_owned)
                .collect();
            let mut seen: Vec<String> = all(text, is_domain).into_iter().map(|(_, name)| name).collect();
            words.sort();
            seen.sort();
            assert_eq!(seen, words);
        }
        let kinds = all(DOMAIN, true);
        for wanted in [
            (NameKind::Domain, "d"),
            (NameKind::Type, "u"),
            (NameKind::Constant, "k"),
            (NameKind::Object, "k"),
            (NameKind::Function, "w"),
            (NameKind::Predicate, "q"),
            (NameKind::Action, "fly"),
            (NameKind::Variable, "?b"),
        ] {
            assert!(kinds.iter().any(|(kind, name)| (*kind, name.as_str()) == wanted), "{wanted:?}");
        }
    }
}
