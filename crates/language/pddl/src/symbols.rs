//! Every name of a definition in one pass, with what it is the name of.

use crate::ast::*;
use crate::name::Name;

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
