//! The relations of the examples: every predicate, type and order with its tuples.

use crate::declarations::GRID;
use crate::materialized;
use crate::syntax::ast::Term;
use planforge_pddl::natural;
use std::collections::{BTreeMap, BTreeSet};

/// The type that every object has.
pub(super) const OBJECT: &str = "object";

/// The form of a relation's atoms.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// `object(X, type)`.
    Object(String),
    /// `init(p(X))`.
    Init(String),
    /// `goal(p(X))`.
    Goal(String),
    /// `goal(neg(p(X)))`.
    NegatedGoal(String),
    /// A library predicate whose first argument is a type or a grid: `first(level, X)`, `next_row(floor, X, Y)`.
    Library(&'static str, String),
}

impl Form {
    /// An atom with these arguments.
    pub(super) fn write<S: AsRef<str>>(&self, arguments: &[S]) -> String {
        let list = arguments.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
        let call =
            |name: &str| if arguments.is_empty() { name.to_owned() } else { format!("{name}({list})") };
        match self {
            Self::Object(ty) => format!("object({list}, {ty})"),
            Self::Init(name) => format!("init({})", call(name)),
            Self::Goal(name) => format!("goal({})", call(name)),
            Self::NegatedGoal(name) => format!("goal(neg({}))", call(name)),
            Self::Library(name, of) => format!("{name}({of}, {list})"),
        }
    }

    /// The form and the arguments of an atom; `None` if rules say nothing about such atoms.
    fn of(atom: &Term) -> Option<(Self, Vec<String>)> {
        let (name, arguments) = call(atom)?;
        let texts = |terms: &[Term]| terms.iter().map(Term::to_string).collect::<Vec<_>>();
        match (name, arguments) {
            ("object", [object, ty]) => {
                Some((Self::Object(ty.as_constant()?.to_owned()), vec![object.to_string()]))
            }
            ("init", [fact]) => {
                let (name, arguments) = call(fact).filter(|(name, _)| !is_special(name))?;
                Some((Self::Init(name.to_owned()), texts(arguments)))
            }
            ("goal", [fact]) => match call(fact)? {
                ("neg", [fact]) => {
                    let (name, arguments) = call(fact)?;
                    Some((Self::NegatedGoal(name.to_owned()), texts(arguments)))
                }
                (name, _) if is_special(name) => None,
                (name, arguments) => Some((Self::Goal(name.to_owned()), texts(arguments))),
            },
            _ => None,
        }
    }
}

/// The content of a state that is not a fact of a predicate.
fn is_special(name: &str) -> bool {
    matches!(name, "map" | "value" | "compare" | "neg")
}

/// The name and arguments of a term that is not a tuple.
fn call(term: &Term) -> Option<(&str, &[Term])> {
    materialized::call(term).filter(|(name, _)| !name.is_empty())
}

pub(super) type Tuple = Vec<String>;

/// One relation with its tuples in each example.
#[derive(Debug, Clone)]
struct Relation {
    form: Form,
    arity: usize,
    /// The tuples that should hold, by example.
    wanted: Vec<BTreeSet<Tuple>>,
    /// The tuples that hold without rules, by example.
    given: Vec<BTreeSet<Tuple>>,
    /// All wanted tuples are given or concluded by rules.
    complete: bool,
}

/// A relation with the facts that rules should conclude.
#[derive(Debug, Clone)]
pub(super) struct Conclusion {
    pub(super) relation: usize,
    /// Missing tuples with the index of their example.
    pub(super) missing: Vec<(usize, Tuple)>,
    /// For each argument the relation of its type, where it has one.
    pub(super) types: Vec<Option<usize>>,
}

/// All relations of the examples.
#[derive(Debug, Clone)]
pub(super) struct Relations {
    all: Vec<Relation>,
    pub(super) examples: usize,
}

impl Relations {
    pub(super) fn of(examples: &[Example]) -> Self {
        let mut found: BTreeMap<(Form, usize), Relation> = BTreeMap::new();
        let mut add = |at: usize, (form, tuple): (Form, Tuple), given: bool| {
            let arity = tuple.len();
            let relation = found.entry((form.clone(), arity)).or_insert_with(|| Relation {
                form,
                arity,
                wanted: vec![BTreeSet::new(); examples.len()],
                given: vec![BTreeSet::new(); examples.len()],
                complete: false,
            });
            let tuples = if given { &mut relation.given } else { &mut relation.wanted };
            tuples[at].insert(tuple);
        };
        for (at, example) in examples.iter().enumerate() {
            for (given, atoms) in [(true, &example.given), (false, &example.wanted)] {
                atoms.iter().filter_map(Form::of).for_each(|atom| add(at, atom, given));
            }
            for atom in library(example) {
                add(at, atom.clone(), true);
                add(at, atom, false);
            }
        }
        let mut all: Vec<Relation> = found.into_values().collect();
        for relation in &mut all {
            relation.complete = relation.wanted.iter().zip(&relation.given).all(|(w, g)| w.is_subset(g));
        }
        Self { all, examples: examples.len() }
    }

    /// The relations with missing tuples, types first.
    pub(super) fn incomplete(&self) -> Vec<usize> {
        let is_open =
            |at: &usize| !self.all[*at].complete && !matches!(self.all[*at].form, Form::Library(..));
        (0..self.all.len()).filter(is_open).collect()
    }

    /// A relation with its missing tuples.
    pub(super) fn conclusion(&self, at: usize) -> Conclusion {
        let relation = &self.all[at];
        let missing = (0..self.examples).flat_map(|example| {
            let missing = relation.wanted[example].difference(&relation.given[example]);
            missing.map(move |tuple| (example, tuple.clone()))
        });
        let types = (0..relation.arity).map(|position| self.type_of(at, position)).collect();
        Conclusion { relation: at, missing: missing.collect(), types }
    }

    /// A rule without variables for each missing fact, if every example has all of these facts and there are several.
    pub(super) fn constant_rules(&self, conclusion: &Conclusion) -> Option<Vec<String>> {
        let at = conclusion.relation;
        let types: Vec<usize> = conclusion.types.iter().copied().collect::<Option<_>>()?;
        let tuples: BTreeSet<&Tuple> = conclusion.missing.iter().map(|(_, tuple)| tuple).collect();
        let in_all =
            |tuple: &&Tuple| (0..self.examples).all(|example| self.wanted(at, example).contains(*tuple));
        if self.examples < 2 || types.is_empty() || !tuples.iter().all(in_all) {
            return None;
        }
        let rule = |tuple: &Tuple| {
            let objects = types.iter().zip(tuple).map(|(ty, object)| self.form(*ty).write(&[object]));
            format!("{} :- {}.", self.form(at).write(tuple), objects.collect::<Vec<_>>().join(", "))
        };
        Some(tuples.into_iter().map(rule).collect())
    }

    /// Notes that rules conclude all missing tuples of a relation.
    pub(super) fn complete(&mut self, at: usize) {
        self.all[at].complete = true;
    }

    pub(super) fn form(&self, at: usize) -> &Form {
        &self.all[at].form
    }

    pub(super) fn arity(&self, at: usize) -> usize {
        self.all[at].arity
    }

    /// `init(clear)`.
    pub(super) fn name(&self, at: usize) -> String {
        match self.form(at) {
            Form::Object(ty) => format!("object({ty})"),
            form => form.write::<&str>(&[]),
        }
    }

    /// The relations that conditions may be about, with `conclusion` itself.
    pub(super) fn usable(&self, conclusion: usize) -> impl Iterator<Item = usize> {
        (0..self.all.len()).filter(move |at| self.all[*at].complete || *at == conclusion)
    }

    pub(super) fn wanted(&self, at: usize, example: usize) -> &BTreeSet<Tuple> {
        &self.all[at].wanted[example]
    }

    pub(super) fn given(&self, at: usize, example: usize) -> &BTreeSet<Tuple> {
        &self.all[at].given[example]
    }

    /// True if a position of a relation and another one have an object in common.
    pub(super) fn overlap(&self, (a, i): (usize, usize), (b, j): (usize, usize)) -> bool {
        (0..self.examples).any(|example| {
            let of_a: BTreeSet<&String> = self.wanted(a, example).iter().filter_map(|t| t.get(i)).collect();
            self.wanted(b, example).iter().filter_map(|t| t.get(j)).any(|object| of_a.contains(object))
        })
    }

    /// The complete type with the fewest objects that has all objects of a position; `None` for positions with numbers.
    fn type_of(&self, at: usize, position: usize) -> Option<usize> {
        let is_type = |other: &usize| {
            let relation = &self.all[*other];
            matches!(relation.form, Form::Object(_)) && relation.complete && *other != at
        };
        let size =
            |ty: &usize| (0..self.examples).map(|example| self.wanted(*ty, example).len()).sum::<usize>();
        let has_all = |ty: &usize| {
            (0..self.examples).all(|example| {
                let objects = self.wanted(*ty, example);
                self.wanted(at, example).iter().all(|t| objects.contains(&t[position..=position]))
            })
        };
        let is_general = |ty: &usize| *self.form(*ty) == Form::Object(OBJECT.to_owned());
        (0..self.all.len()).filter(is_type).filter(has_all).min_by_key(|ty| (size(ty), is_general(ty)))
    }
}

/// The order of counted objects and the neighbours in grids, as the library derives them.
fn library(example: &Example) -> Vec<(Form, Tuple)> {
    let mut found = Vec::new();
    let forms: Vec<(Form, Tuple)> = example.wanted.iter().filter_map(Form::of).collect();
    for ty in &example.counted {
        let of_type = forms.iter().filter(|(form, _)| *form == Form::Object(ty.clone()));
        let mut objects: Vec<&String> = of_type.filter_map(|(_, tuple)| tuple.first()).collect();
        objects.sort_by(|a, b| natural(a, b));
        let mut add = |word, tuple: &[&String]| {
            found.push((Form::Library(word, ty.clone()), tuple.iter().map(|o| (*o).clone()).collect()));
        };
        if let (Some(first), Some(last)) = (objects.first(), objects.last()) {
            add("first", &[first]);
            add("last", &[last]);
        }
        objects.windows(2).for_each(|pair| add("follows", pair));
    }
    let mut grids: BTreeMap<&str, BTreeMap<(i64, i64), &String>> = BTreeMap::new();
    for (form, tuple) in &forms {
        if let (Form::Init(name), [row, column, object]) = (form, tuple.as_slice())
            && let Some(grid) = name.strip_suffix(GRID)
            && let (Ok(row), Ok(column)) = (row.parse(), column.parse())
        {
            grids.entry(grid).or_default().insert((row, column), object);
        }
    }
    for (grid, places) in grids {
        let mut add = |word, from: &str, to: &str| {
            found.push((Form::Library(word, grid.to_owned()), vec![from.to_owned(), to.to_owned()]));
        };
        for ((row, column), from) in &places {
            for (word, next) in [("next_row", (row + 1, *column)), ("next_column", (*row, column + 1))] {
                let Some(to) = places.get(&next) else { continue };
                add(word, from, to);
                add("adjacent", from, to);
                add("adjacent", to, from);
            }
        }
    }
    found
}

// The examples that rules are learned from.

/// A representation and its reference problem, as atoms about objects with the same names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Example {
    /// The atoms that hold without rules: `object(b1, block)`, `init(on(b1, b2))`, `goal(neg(held(b1)))`.
    pub given: BTreeSet<Term>,
    /// The atoms that should hold. Includes atoms of the representation's own types and predicates.
    pub wanted: BTreeSet<Term>,
    /// Types whose objects the representation counts and does not name. Their order may be a condition.
    pub counted: BTreeSet<String>,
}
