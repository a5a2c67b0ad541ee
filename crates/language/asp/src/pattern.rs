//! Terms with variables, matched against ground terms and evaluated: what the reasoner does with a rule, done again for one instance.

use crate::names::Naming;
use crate::syntax::ast::Term;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The most values of one term; an interval has one for each number.
const MOST_VALUES: usize = 1 << 17;

/// The values of a rule's variables, by slot.
pub(crate) type Slots = SmallVec<[Option<Id>; 8]>;

/// A term whose variables are slots.
#[derive(Debug)]
pub(crate) enum Pattern {
    Known(Id),
    Slot(usize),
    Any,
    Function(u32, Vec<Pattern>),
    Minus(Box<Pattern>),
    Binary(Box<str>, Box<Pattern>, Box<Pattern>),
    Interval(Box<Pattern>, Box<Pattern>),
    External(Box<str>, Vec<Pattern>),
}

impl Pattern {
    /// Compiles a term; a variable that `variables` does not have is matched by anything and has no value.
    pub(crate) fn of(term: &Term, variables: &[String], store: &mut Store) -> Self {
        if let Some(id) = store.intern(term) {
            return Self::Known(id);
        }
        let many = |terms: &[Term], store: &mut Store| {
            terms.iter().map(|t| Self::of(t, variables, store)).collect::<Vec<_>>()
        };
        let one = |term: &Term, store: &mut Store| Box::new(Self::of(term, variables, store));
        match term {
            Term::Variable(name) => variables.iter().position(|v| v == name).map_or(Self::Any, Self::Slot),
            Term::Function { name, arguments } => {
                let arguments = many(arguments, store);
                Self::Function(store.name(name), arguments)
            }
            Term::External { name, arguments } => {
                Self::External(name.as_str().into(), many(arguments, store))
            }
            Term::Minus(term) => Self::Minus(one(term, store)),
            Term::Binary { operator, left, right } => {
                let (left, right) = (one(left, store), one(right, store));
                Self::Binary(operator.as_str().into(), left, right)
            }
            Term::Interval(from, to) => Self::Interval(one(from, store), one(to, store)),
            Term::Anonymous | Term::Number(_) | Term::Text(_) => Self::Any,
        }
    }

    /// True if a ground term is an instance; fills `slots` with the values of the variables. Operations match
    /// nothing.
    pub(crate) fn matches(&self, id: Id, store: &Store, slots: &mut Slots) -> bool {
        match self {
            Self::Any => true,
            Self::Known(known) => *known == id,
            Self::Slot(slot) => *slots[*slot].get_or_insert(id) == id,
            Self::Function(name, patterns) => match store.call(id) {
                Some((of, arguments)) if of == *name && arguments.len() == patterns.len() => {
                    patterns.iter().zip(arguments).all(|(p, a)| p.matches(*a, store, slots))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The values of the term: several for an interval, none where an operation is undefined or a variable has no value.
    pub(crate) fn values(&self, slots: &Slots, store: &mut Store, naming: &Naming) -> Vec<Id> {
        match self {
            Self::Known(id) => vec![*id],
            Self::Slot(slot) => slots[*slot].into_iter().collect(),
            Self::Any => Vec::new(),
            Self::Function(name, patterns) => Self::product(patterns, slots, store, naming)
                .into_iter()
                .map(|arguments| store.add(Node::Function { name: *name, arguments }))
                .collect(),
            Self::External(name, patterns) => Self::product(patterns, slots, store, naming)
                .into_iter()
                .filter_map(|arguments| {
                    let arguments: Vec<Term> = arguments.iter().map(|a| store.term(*a)).collect();
                    let term = naming.call(name, &arguments)?.ok()?;
                    store.intern(&term)
                })
                .collect(),
            Self::Minus(inner) => numbers(&inner.values(slots, store, naming), store)
                .into_iter()
                .map(|n| store.add(Node::Number(-n)))
                .collect(),
            Self::Binary(operator, left, right) => {
                let left = numbers(&left.values(slots, store, naming), store);
                let right = numbers(&right.values(slots, store, naming), store);
                let pairs = left.iter().flat_map(|l| right.iter().map(move |r| (*l, *r)));
                pairs
                    .filter_map(|(l, r)| compute(operator, l, r))
                    .map(|n| store.add(Node::Number(n)))
                    .collect()
            }
            Self::Interval(from, to) => {
                let from = numbers(&from.values(slots, store, naming), store);
                let to = numbers(&to.values(slots, store, naming), store);
                let pairs = from.iter().flat_map(|f| to.iter().map(move |t| (*f, *t)));
                pairs
                    .flat_map(|(f, t)| (f..=t).take(MOST_VALUES))
                    .map(|n| store.add(Node::Number(n)))
                    .collect()
            }
        }
    }

    fn product(
        patterns: &[Pattern],
        slots: &Slots,
        store: &mut Store,
        naming: &Naming,
    ) -> Vec<SmallVec<[Id; 4]>> {
        let mut found: Vec<SmallVec<[Id; 4]>> = vec![SmallVec::new()];
        for pattern in patterns {
            let values = pattern.values(slots, store, naming);
            if let [value] = values.as_slice() {
                found.iter_mut().for_each(|arguments| arguments.push(*value));
                continue;
            }
            found = found
                .into_iter()
                .flat_map(|arguments| {
                    values.iter().map(move |value| {
                        let mut longer = arguments.clone();
                        longer.push(*value);
                        longer
                    })
                })
                .take(MOST_VALUES)
                .collect();
        }
        found
    }
}

fn numbers(ids: &[Id], store: &Store) -> Vec<i64> {
    ids.iter()
        .filter_map(|id| match store.node(*id) {
            Node::Number(number) => Some(*number),
            _ => None,
        })
        .collect()
}

fn compute(operator: &str, left: i64, right: i64) -> Option<i64> {
    match operator {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "\\" => left.checked_rem(right),
        "**" => left.checked_pow(u32::try_from(right).ok()?),
        _ => None,
    }
}

/// True if a term has no operations, intervals or calls, so that matching finds every instance that the
/// reasoner would.
pub(crate) fn is_plain(term: &Term) -> bool {
    match term {
        Term::Number(_) | Term::Text(_) | Term::Variable(_) | Term::Anonymous => true,
        Term::Function { arguments, .. } => arguments.iter().all(is_plain),
        _ => false,
    }
}

// Ground terms by number, so that thousands of them are compared and stored cheaply.

/// A ground term of a [`Store`].
pub(crate) type Id = u32;

/// The structure of a ground term.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Number(i64),
    Text(Box<str>),
    /// A name with its arguments.
    Function {
        name: u32,
        arguments: SmallVec<[Id; 4]>,
    },
}

/// Every ground term once.
#[derive(Debug, Default)]
pub(crate) struct Store {
    names: Vec<Box<str>>,
    by_name: FxHashMap<Box<str>, u32>,
    nodes: Vec<Node>,
    by_node: FxHashMap<Node, Id>,
}

impl Store {
    pub(crate) fn name(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let id = self.names.len() as u32;
        self.names.push(name.into());
        self.by_name.insert(name.into(), id);
        id
    }

    pub(crate) fn name_text(&self, name: u32) -> &str {
        &self.names[name as usize]
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub(crate) fn add(&mut self, node: Node) -> Id {
        if let Some(&known) = self.by_node.get(&node) {
            return known;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node.clone());
        self.by_node.insert(node, id);
        id
    }

    /// The number of a ground term; `None` where it has variables or operations.
    pub(crate) fn intern(&mut self, term: &Term) -> Option<Id> {
        let node = match term {
            Term::Number(number) => Node::Number(*number),
            Term::Text(text) => Node::Text(text.as_str().into()),
            Term::Function { name, arguments } => {
                let arguments = arguments.iter().map(|a| self.intern(a)).collect::<Option<_>>()?;
                Node::Function { name: self.name(name), arguments }
            }
            _ => return None,
        };
        Some(self.add(node))
    }

    pub(crate) fn term(&self, id: Id) -> Term {
        match self.node(id) {
            Node::Number(number) => Term::Number(*number),
            Node::Text(text) => Term::Text(text.to_string()),
            Node::Function { name, arguments } => Term::Function {
                name: self.name_text(*name).to_owned(),
                arguments: arguments.iter().map(|a| self.term(*a)).collect(),
            },
        }
    }

    /// Name and arguments of a function, constant or atom.
    pub(crate) fn call(&self, id: Id) -> Option<(u32, &[Id])> {
        match self.node(id) {
            Node::Function { name, arguments } => Some((*name, arguments)),
            _ => None,
        }
    }
}
