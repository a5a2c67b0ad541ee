//! Every name of a definition with its place, and what it does there.

use planforge_pddl::Name;
use planforge_pddl::ast::*;

/// Kind of a name. Constants and objects are one kind, as a problem uses both alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameClass {
    Domain,
    Problem,
    Type,
    Predicate,
    Function,
    Action,
    Object,
    Variable,
    Preference,
}

/// What a name does at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Declared,
    Needed,
    Added,
    Deleted,
    Other,
}

/// A name at a place.
#[derive(Debug, Clone)]
pub struct Occurrence {
    pub class: NameClass,
    pub name: Name,
    pub role: Role,
    /// The binding that a variable belongs to; 0 for all other names and for unbound variables.
    pub binding: u32,
    /// The action or derived predicate around it.
    pub owner: Option<Name>,
}

impl Occurrence {
    /// True if both name the same thing, within one definition for variables and preferences.
    pub fn is_same(&self, other: &Occurrence) -> bool {
        self.class == other.class && self.binding == other.binding && self.name.key() == other.name.key()
    }
}

/// The occurrences of a domain, in the order of its sections.
pub(super) fn of_domain(domain: &Domain) -> Vec<Occurrence> {
    let mut walk = Walk::default();
    domain.name.iter().for_each(|name| walk.push(NameClass::Domain, name, Role::Declared));
    for entry in &domain.types {
        walk.type_name(&entry.name, Role::Declared);
        walk.type_ref(entry.ty.as_ref());
    }
    walk.typed(&domain.constants, NameClass::Object);
    for predicate in &domain.predicates {
        walk.push(NameClass::Predicate, &predicate.name, Role::Declared);
        walk.scope(&[&predicate.parameters], |_| {});
    }
    for function in &domain.functions {
        walk.push(NameClass::Function, &function.name, Role::Declared);
        walk.scope(&[&function.parameters], |_| {});
        walk.type_ref(function.ty.as_ref());
    }
    for action in &domain.actions {
        walk.push(NameClass::Action, &action.name, Role::Declared);
        walk.owner = Some(action.name.clone());
        walk.scope(&[&action.parameters, &action.vars], |walk| {
            action.precondition.iter().for_each(|c| walk.condition(c, Role::Needed));
            action.effect.iter().for_each(|e| walk.effect(e));
        });
        walk.owner = None;
    }
    for action in &domain.durative_actions {
        walk.push(NameClass::Action, &action.name, Role::Declared);
        walk.owner = Some(action.name.clone());
        walk.scope(&[&action.parameters], |walk| {
            action.duration.iter().chain(&action.condition).for_each(|c| walk.condition(c, Role::Needed));
            action.effect.iter().for_each(|e| walk.effect(e));
        });
        walk.owner = None;
    }
    for rule in &domain.derived {
        walk.push(NameClass::Predicate, &rule.predicate, Role::Added);
        walk.owner = Some(rule.predicate.clone());
        walk.scope(&[&rule.parameters], |walk| {
            rule.condition.iter().for_each(|c| walk.condition(c, Role::Needed));
        });
        walk.owner = None;
    }
    domain.constraints.iter().for_each(|c| walk.condition(c, Role::Other));
    walk.found
}

/// The occurrences of a problem, in the order of its sections.
pub(super) fn of_problem(problem: &Problem) -> Vec<Occurrence> {
    let mut walk = Walk::default();
    problem.name.iter().for_each(|name| walk.push(NameClass::Problem, name, Role::Declared));
    problem.domain_name.iter().for_each(|name| walk.push(NameClass::Domain, name, Role::Other));
    walk.typed(&problem.objects, NameClass::Object);
    problem.init.iter().for_each(|element| walk.init(element));
    problem.goal.iter().chain(&problem.constraints).for_each(|c| walk.condition(c, Role::Other));
    problem.metric.iter().for_each(|metric| walk.numeric(&metric.expr));
    walk.found
}

#[derive(Default)]
struct Walk {
    found: Vec<Occurrence>,
    /// Variables in scope with their bindings, the innermost last.
    variables: Vec<(Name, u32)>,
    bindings: u32,
    owner: Option<Name>,
}

impl Walk {
    fn push(&mut self, class: NameClass, name: &Name, role: Role) {
        self.push_bound(class, name, role, 0);
    }

    fn push_bound(&mut self, class: NameClass, name: &Name, role: Role, binding: u32) {
        let owner = self.owner.clone();
        self.found.push(Occurrence { class, name: name.clone(), role, binding, owner });
    }

    fn type_name(&mut self, name: &Name, role: Role) {
        if !name.is("object") && !name.is("number") {
            self.push(NameClass::Type, name, role);
        }
    }

    fn type_ref(&mut self, ty: Option<&TypeRef>) {
        ty.into_iter().flat_map(|ty| &ty.alternatives).for_each(|name| self.type_name(name, Role::Other));
    }

    fn typed(&mut self, list: &[TypedName], class: NameClass) {
        for entry in list {
            self.push(class, &entry.name, Role::Declared);
            self.type_ref(entry.ty.as_ref());
        }
    }

    /// Binds the variables of the lists while `inner` walks their scope.
    fn scope(&mut self, lists: &[&[TypedName]], inner: impl FnOnce(&mut Self)) {
        let outside = self.variables.len();
        for entry in lists.iter().flat_map(|list| list.iter()) {
            self.bindings += 1;
            self.variables.push((entry.name.clone(), self.bindings));
            self.push_bound(NameClass::Variable, &entry.name, Role::Declared, self.bindings);
            self.type_ref(entry.ty.as_ref());
        }
        inner(self);
        self.variables.truncate(outside);
    }

    fn terms<'a>(&mut self, terms: impl IntoIterator<Item = &'a Term>) {
        for term in terms {
            match term {
                Term::Constant(name) => self.push(NameClass::Object, name, Role::Other),
                Term::Variable(name) => {
                    let bound = self.variables.iter().rev().find(|(known, _)| known == name);
                    let binding = bound.map_or(0, |(_, binding)| *binding);
                    self.push_bound(NameClass::Variable, name, Role::Other, binding);
                }
            }
        }
    }

    fn atom(&mut self, atom: &Atom, role: Role) {
        self.push(NameClass::Predicate, &atom.predicate, role);
        self.terms(&atom.args);
    }

    fn fluent(&mut self, fluent: &Fluent, role: Role) {
        self.push(NameClass::Function, &fluent.function, role);
        self.terms(&fluent.args);
    }

    fn numeric(&mut self, expr: &NumericExpr) {
        match expr {
            NumericExpr::Fluent(fluent) => self.fluent(fluent, Role::Other),
            NumericExpr::Arithmetic(_, args, _) => args.iter().for_each(|arg| self.numeric(arg)),
            NumericExpr::IsViolated(name, _) => self.push(NameClass::Preference, name, Role::Other),
            NumericExpr::Number(..)
            | NumericExpr::Duration(_)
            | NumericExpr::ElapsedTime(_)
            | NumericExpr::TotalTime(_) => {}
        }
    }

    fn condition(&mut self, condition: &Condition, role: Role) {
        match condition {
            Condition::And(parts, _) | Condition::Or(parts, _) => {
                parts.iter().for_each(|part| self.condition(part, role));
            }
            Condition::Not(inner, _) | Condition::Timed(_, inner, _) => self.condition(inner, role),
            Condition::Imply(a, b, _) => {
                self.condition(a, role);
                self.condition(b, role);
            }
            Condition::Exists(q) | Condition::Forall(q) => {
                self.scope(&[&q.parameters], |walk| walk.condition(&q.body, role));
            }
            Condition::Atom(atom) => self.atom(atom, role),
            Condition::Equal(a, b, _) => self.terms([a, b]),
            Condition::Compare(c) => {
                self.numeric(&c.left);
                self.numeric(&c.right);
            }
            Condition::Preference(p) => {
                p.name.iter().for_each(|name| self.push(NameClass::Preference, name, Role::Declared));
                self.condition(&p.condition, role);
            }
            Condition::Trajectory(t) => t.conditions.iter().for_each(|c| self.condition(c, role)),
        }
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::And(parts, _) => parts.iter().for_each(|part| self.effect(part)),
            Effect::Forall(q) => self.scope(&[&q.parameters], |walk| walk.effect(&q.body)),
            Effect::When(condition, inner, _) => {
                self.condition(condition, Role::Needed);
                self.effect(inner);
            }
            Effect::Add(atom) => self.atom(atom, Role::Added),
            Effect::Delete(atom, _) => self.atom(atom, Role::Deleted),
            Effect::Assign(assignment) => {
                self.fluent(&assignment.fluent, Role::Added);
                self.numeric(&assignment.value);
            }
            Effect::Timed(_, inner, _) => self.effect(inner),
        }
    }

    fn init(&mut self, element: &InitElement) {
        match element {
            InitElement::Atom(atom) | InitElement::Not(atom, _) => self.atom(atom, Role::Other),
            InitElement::Value(fluent, ..) => self.fluent(fluent, Role::Other),
            InitElement::Timed { element, .. } => self.init(element),
        }
    }
}
