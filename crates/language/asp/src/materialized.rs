//! The materialized representation (paper, section 3.2): the atoms of the reasoner's answer, sorted by the
//! parts of a problem. [`crate::compile`] checks them against a domain.

use crate::syntax::ast::Term;

/// The atoms of one answer set that make the problem.
///
/// Terms are ground: numbers, texts and functions. Other types refer to an atom by its index in
/// [`Materialized::atoms`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Materialized {
    /// Every atom of the answer that was read, in its order.
    pub atoms: Vec<Term>,
    /// `object(shot5, shot)`.
    pub objects: Vec<Membership>,
    /// `init(clean(shot5))`.
    pub init: Vec<Fact>,
    /// `goal(contains(shot1, cocktail1))`, `goal(neg(clean(shot1)))`.
    pub goal: Vec<Fact>,
    /// `init(value(total_cost, 0))`.
    pub values: Vec<Value>,
    /// `goal(compare("<=", fuel(truck1), 3))`.
    pub comparisons: Vec<Comparison>,
    /// `metric(minimize, total_cost)`.
    pub metrics: Vec<Metric>,
}

/// An object and one of its types, of the domain or of the intermediate representation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The object.
    pub object: Term,
    /// The type.
    pub ty: Term,
    /// Index in [`Materialized::atoms`].
    pub atom: u32,
}

/// A fact of the initial state or of the goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The predicate with its arguments, without `init`, `goal` or `neg` around it.
    pub fact: Term,
    /// True for a negative literal.
    pub negated: bool,
    /// Index in [`Materialized::atoms`].
    pub atom: u32,
}

/// An initial value of a numeric function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The function with its arguments.
    pub function: Term,
    /// A number, or a text that holds a decimal one.
    pub value: Term,
    /// Index in [`Materialized::atoms`].
    pub atom: u32,
}

/// A number that the goal bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// `<`, `<=`, `=`, `>=` or `>` as text.
    pub relation: Term,
    /// A function with its arguments, or a number.
    pub left: Term,
    pub right: Term,
    /// Index in [`Materialized::atoms`].
    pub atom: u32,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// `minimize` or `maximize`.
    pub direction: Term,
    /// The function with its arguments, or `total_time`.
    pub quantity: Term,
    /// Index in [`Materialized::atoms`].
    pub atom: u32,
}

impl Materialized {
    /// Sorts the atoms of an answer. Atoms other than `object/2`, `init/1`, `goal/1` and `metric/2` are left
    /// out.
    pub fn of(atoms: impl IntoIterator<Item = Term>) -> Self {
        let mut sorted = Self::default();
        for atom in atoms {
            sorted.add(atom);
        }
        sorted
    }

    fn add(&mut self, term: Term) {
        let atom = self.atoms.len() as u32;
        let Term::Function { name, arguments } = &term else { return };
        match (name.as_str(), arguments.as_slice()) {
            ("object", [object, ty]) => {
                self.objects.push(Membership { object: object.clone(), ty: ty.clone(), atom });
            }
            ("init", [content]) => match call(content) {
                Some(("value", [function, value])) => {
                    self.values.push(Value { function: function.clone(), value: value.clone(), atom });
                }
                _ => self.init.push(fact(content, atom)),
            },
            ("goal", [content]) => match call(content) {
                Some(("compare", [relation, left, right])) => self.comparisons.push(Comparison {
                    relation: relation.clone(),
                    left: left.clone(),
                    right: right.clone(),
                    atom,
                }),
                _ => self.goal.push(fact(content, atom)),
            },
            ("metric", [direction, quantity]) => {
                self.metrics.push(Metric { direction: direction.clone(), quantity: quantity.clone(), atom });
            }
            _ => return,
        }
        self.atoms.push(term);
    }
}

/// A function's name and arguments.
pub(crate) fn call(term: &Term) -> Option<(&str, &[Term])> {
    match term {
        Term::Function { name, arguments } => Some((name, arguments)),
        _ => None,
    }
}

fn fact(content: &Term, atom: u32) -> Fact {
    match call(content) {
        Some(("neg", [inner])) => Fact { fact: inner.clone(), negated: true, atom },
        _ => Fact { fact: content.clone(), negated: false, atom },
    }
}
