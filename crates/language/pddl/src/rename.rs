//! Giving a schema's variables, or a problem's objects, other names.

use crate::ast::{Action, Condition, Domain, Effect, InitElement, NumericExpr, Problem, Term, TypedName};
use crate::name::Name;
use rustc_hash::FxHashMap;

/// Returns the action with its parameters renamed to `names`, by position, in all occurrences. Parameters
/// beyond the list keep their names. A quantifier's variable that shadows a renamed one keeps its name too.
pub fn rename_parameters(action: &Action, names: &[TypedName]) -> Action {
    let renaming = Renaming::new(&action.parameters, names);
    let mut renamed = action.clone();
    renamed.parameters.iter_mut().for_each(|p| renaming.name(&mut p.name));
    renamed.precondition.iter_mut().for_each(|c| rename_condition(c, &renaming));
    renamed.effect.iter_mut().for_each(|e| rename_effect(e, &renaming));
    renamed
}

/// Returns the problem with its objects renamed in all occurrences: each pair is a name and its replacement.
/// All are replaced at once, so that names may be exchanged.
pub fn rename_objects(problem: &Problem, names: &[(Name, Name)]) -> Problem {
    let renaming = Renaming { names: names.iter().cloned().collect() };
    let mut renamed = problem.clone();
    renamed.objects.iter_mut().for_each(|object| renaming.name(&mut object.name));
    renamed.init.iter_mut().for_each(|element| rename_init(element, &renaming));
    renamed.goal.iter_mut().chain(&mut renamed.constraints).for_each(|c| rename_condition(c, &renaming));
    renamed.metric.iter_mut().for_each(|metric| rename_numeric(&mut metric.expr, &renaming));
    renamed
}

/// Returns the domain with its types renamed in all occurrences: each pair is a name and its replacement. All
/// are replaced at once.
pub fn rename_types(domain: &Domain, names: &[(Name, Name)]) -> Domain {
    let renaming = Renaming { names: names.iter().cloned().collect() };
    let mut renamed = domain.clone();
    for declared in &mut renamed.types {
        renaming.name(&mut declared.name);
        renaming.type_of(declared);
    }
    renaming.types_of(&mut renamed.constants);
    renamed.predicates.iter_mut().for_each(|p| renaming.types_of(&mut p.parameters));
    renamed.functions.iter_mut().for_each(|f| renaming.types_of(&mut f.parameters));
    for action in &mut renamed.actions {
        renaming.types_of(&mut action.parameters);
        renaming.types_of(&mut action.vars);
        action.precondition.iter_mut().for_each(|c| types_in_condition(c, &renaming));
        action.effect.iter_mut().for_each(|e| types_in_effect(e, &renaming));
    }
    for action in &mut renamed.durative_actions {
        renaming.types_of(&mut action.parameters);
        action.condition.iter_mut().for_each(|c| types_in_condition(c, &renaming));
        action.effect.iter_mut().for_each(|e| types_in_effect(e, &renaming));
    }
    for rule in &mut renamed.derived {
        renaming.types_of(&mut rule.parameters);
        rule.condition.iter_mut().for_each(|c| types_in_condition(c, &renaming));
    }
    renamed.constraints.iter_mut().for_each(|c| types_in_condition(c, &renaming));
    renamed
}

fn types_in_condition(condition: &mut Condition, renaming: &Renaming) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter_mut().for_each(|part| types_in_condition(part, renaming));
        }
        Condition::Not(inner, _) | Condition::Timed(_, inner, _) => types_in_condition(inner, renaming),
        Condition::Imply(a, b, _) => {
            types_in_condition(a, renaming);
            types_in_condition(b, renaming);
        }
        Condition::Exists(q) | Condition::Forall(q) => {
            renaming.types_of(&mut q.parameters);
            types_in_condition(&mut q.body, renaming);
        }
        Condition::Preference(p) => types_in_condition(&mut p.condition, renaming),
        Condition::Trajectory(t) => {
            t.conditions.iter_mut().for_each(|part| types_in_condition(part, renaming))
        }
        Condition::Atom(_) | Condition::Equal(..) | Condition::Compare(_) => {}
    }
}

fn types_in_effect(effect: &mut Effect, renaming: &Renaming) {
    match effect {
        Effect::And(parts, _) => parts.iter_mut().for_each(|part| types_in_effect(part, renaming)),
        Effect::Forall(q) => {
            renaming.types_of(&mut q.parameters);
            types_in_effect(&mut q.body, renaming);
        }
        Effect::When(condition, inner, _) => {
            types_in_condition(condition, renaming);
            types_in_effect(inner, renaming);
        }
        Effect::Timed(_, inner, _) => types_in_effect(inner, renaming),
        Effect::Add(_) | Effect::Delete(..) | Effect::Assign(_) => {}
    }
}

fn rename_init(element: &mut InitElement, renaming: &Renaming) {
    match element {
        InitElement::Atom(atom) | InitElement::Not(atom, _) => rename_terms(&mut atom.args, renaming),
        InitElement::Value(fluent, ..) => rename_terms(&mut fluent.args, renaming),
        InitElement::Timed { element, .. } => rename_init(element, renaming),
    }
}

/// Variables (with their question marks), objects or types, and the names they get instead.
pub(crate) struct Renaming {
    names: FxHashMap<Name, Name>,
}

impl Renaming {
    /// Parameters correspond by position.
    pub(crate) fn new(from: &[TypedName], to: &[TypedName]) -> Self {
        Self { names: from.iter().zip(to).map(|(a, b)| (a.name.clone(), b.name.clone())).collect() }
    }

    fn name(&self, name: &mut Name) {
        if let Some(new) = self.names.get(name.key()) {
            *name = new.at(name.span);
        }
    }

    fn type_of(&self, typed: &mut TypedName) {
        typed.ty.iter_mut().flat_map(|ty| &mut ty.alternatives).for_each(|name| self.name(name));
    }

    fn types_of(&self, list: &mut [TypedName]) {
        list.iter_mut().for_each(|typed| self.type_of(typed));
    }

    /// This renaming where a quantifier hides some of the names.
    fn without(&self, hidden: &[TypedName]) -> Self {
        let names = self.names.iter().filter(|(from, _)| !hidden.iter().any(|h| h.name == **from));
        Self { names: names.map(|(a, b)| (a.clone(), b.clone())).collect() }
    }
}

fn rename_terms(terms: &mut [Term], renaming: &Renaming) {
    for term in terms {
        match term {
            Term::Variable(name) | Term::Constant(name) => renaming.name(name),
        }
    }
}

pub(crate) fn rename_condition(condition: &mut Condition, renaming: &Renaming) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter_mut().for_each(|part| rename_condition(part, renaming));
        }
        Condition::Not(inner, _) | Condition::Timed(_, inner, _) => rename_condition(inner, renaming),
        Condition::Imply(a, b, _) => {
            rename_condition(a, renaming);
            rename_condition(b, renaming);
        }
        Condition::Exists(q) | Condition::Forall(q) => {
            let inner = renaming.without(&q.parameters);
            rename_condition(&mut q.body, &inner);
        }
        Condition::Atom(atom) => rename_terms(&mut atom.args, renaming),
        Condition::Equal(a, b, _) => {
            rename_terms(std::slice::from_mut(a), renaming);
            rename_terms(std::slice::from_mut(b), renaming);
        }
        Condition::Compare(c) => {
            rename_numeric(&mut c.left, renaming);
            rename_numeric(&mut c.right, renaming);
        }
        Condition::Preference(p) => rename_condition(&mut p.condition, renaming),
        Condition::Trajectory(t) => t.conditions.iter_mut().for_each(|part| rename_condition(part, renaming)),
    }
}

fn rename_numeric(expr: &mut NumericExpr, renaming: &Renaming) {
    match expr {
        NumericExpr::Fluent(fluent) => rename_terms(&mut fluent.args, renaming),
        NumericExpr::Arithmetic(_, args, _) => args.iter_mut().for_each(|arg| rename_numeric(arg, renaming)),
        _ => {}
    }
}

pub(crate) fn rename_effect(effect: &mut Effect, renaming: &Renaming) {
    match effect {
        Effect::And(parts, _) => parts.iter_mut().for_each(|part| rename_effect(part, renaming)),
        Effect::Forall(q) => {
            let inner = renaming.without(&q.parameters);
            rename_effect(&mut q.body, &inner);
        }
        Effect::When(condition, inner, _) => {
            rename_condition(condition, renaming);
            rename_effect(inner, renaming);
        }
        Effect::Add(atom) | Effect::Delete(atom, _) => rename_terms(&mut atom.args, renaming),
        Effect::Assign(a) => {
            rename_terms(&mut a.fluent.args, renaming);
            rename_numeric(&mut a.value, renaming);
        }
        Effect::Timed(_, inner, _) => rename_effect(inner, renaming),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Name, parse_domain, parse_problem, print_action, print_problem};
    use planforge_diagnostics::SourceId;

    #[test]
    fn parameters_are_renamed_in_all_occurrences_and_shadowed_ones_are_not() {
        let text = "(define (domain d) (:predicates (p ?a) (q ?a ?b))
          (:action go :parameters (?x ?y) :precondition (and (p ?x) (forall (?x) (q ?x ?y)) (not (= ?x ?y)))
            :effect (and (q ?y ?x) (when (p ?y) (not (p ?x)))))
          (:action name :parameters (?y ?x)))";
        let domain = parse_domain(text, SourceId(0)).value;
        let renamed = super::rename_parameters(&domain.actions[0], &domain.actions[1].parameters);
        let words = print_action(&renamed).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words,
            "(:action go :parameters (?y ?x) :precondition (and (p ?y) (forall (?x) (q ?x ?x)) (not (= ?y ?x))) \
             :effect (and (q ?x ?y) (when (p ?x) (not (p ?y)))))"
        );
    }

    #[test]
    fn types_are_renamed_in_all_occurrences_and_objects_of_their_name_are_not() {
        let text = |a: &str, b: &str| {
            format!(
                "(define (domain d) (:types {a} - {b} {b} - object) (:constants car - {a})
                   (:predicates (p ?x - {a} ?y - (either {a} {b}))) (:functions (w ?x - {b}))
                   (:derived (q ?x - {a}) (exists (?y - {b}) (p ?x ?y)))
                   (:action go :parameters (?x - {a}) :precondition (and (p car ?x) (or (imply (p ?x ?x) (forall (?z - {b}) (p ?x ?z)))))
                     :effect (forall (?z - {a}) (when (not (exists (?u - {b}) (p ?u ?z))) (p ?x ?z)))))"
            )
        };
        let read = |text: &str| parse_domain(text, SourceId(0)).value;
        let name = Name::synthetic;
        let pairs = [(name("car"), name("thing")), (name("thing"), name("car"))];
        let renamed = super::rename_types(&read(&text("car", "thing")), &pairs);
        assert_eq!(crate::print_domain(&renamed), crate::print_domain(&read(&text("thing", "car"))));
    }

    #[test]
    fn objects_are_renamed_in_all_occurrences_and_predicates_of_their_name_are_not() {
        let text = |a: &str, b: &str| {
            format!(
                "(define (problem p) (:domain d) (:objects {a} {b}) (:init (a {a}) (not (q {b})) (= (w {a} {b}) 2))
                   (:goal (and (or (q {b} ?a) (not (= {a} {b}))) (forall (?a) (q ?a {a})) (< (w {a} {b}) 3)))
                   (:metric minimize (w {b} {a})))"
            )
        };
        let read = |text: &str| parse_problem(text, SourceId(0)).value;
        let name = Name::synthetic;
        let pairs = [(name("a"), name("b")), (name("b"), name("a"))];
        let renamed = super::rename_objects(&read(&text("a", "b")), &pairs);
        assert_eq!(print_problem(&renamed), print_problem(&read(&text("b", "a"))));
    }
}
