//! Action reconstruction error (Oswald et al. 2024, section 3): the number of literals that two action
//! schemas do not share.
//!
//! ARE(a, a') = |pre(a) △ pre(a')| + |add(a) △ add(a')| + |del(a) △ del(a')|, where a negative precondition
//! counts as an element. The paper does not define which parameters of two schemas correspond. Three readings
//! are computed: by the variables' names (the definition read literally), by their positions (the paper's
//! code), and the minimum over all bijections between parameters of the same type.
//!
//! Beyond STRIPS: nested conjunctions are flattened, and each other part (a disjunction, a quantified,
//! conditional or numeric part) is one element, compared by its text. Names compare without regard to case;
//! repetition makes no difference.
//!
//! `Bijections` searches the best bijection between the parameters of two actions: depth first, one parameter of the original
//! after the other, cut off where what is still open cannot make it better than the best so far.

use planforge_pddl::ast::{Action, Condition, Domain, Effect, TypeRef, TypedName};
use planforge_pddl::{Name, print_condition, print_effect, rename_parameters};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Most partial bijections tried for one pair of actions by default; parameters of one type are rarely more than six, which is 720 at
/// the very most.
pub const MAX_CHOICES: u64 = 1_000_000;

/// The error of one action, in each reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionError {
    /// A variable is the one of the same name.
    pub by_name: usize,
    /// A parameter is the one at the same place; those beyond the other's keep their names, as in the paper's code.
    pub by_position: usize,
    /// Minimum over the bijections between parameters of the same type; `None` if there is no bijection.
    pub least: Option<LeastError>,
}

/// Minimum error over bijections of parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeastError {
    /// Number of elements that are not shared.
    pub error: usize,
    /// By parameter of the original, the place of the reconstructed action's.
    pub parameters: Vec<usize>,
    /// True if all bijections were compared. Otherwise the minimum is at most this.
    pub exact: bool,
}

/// The errors of a domain's actions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DomainError {
    /// By action of the original, in its order; `None` where the other domain has no action of that name.
    pub actions: Vec<(String, Option<ActionError>)>,
    /// Actions that only the other domain has.
    pub extra: Vec<String>,
    /// Sum over all actions by name. An action of only one domain counts with all of its elements.
    pub by_name: usize,
    /// The sum by position.
    pub by_position: usize,
    /// Sum of the minimum errors; `None` if an action has none.
    pub least: Option<usize>,
}

/// Compares an action with its reconstruction.
pub fn action_error(original: &Action, reconstructed: &Action) -> ActionError {
    let (a, b) = (Shape::of(original), Shape::of(reconstructed));
    let type_of = |action: &Action, i: usize| type_names(action.parameters[i].ty.as_ref());
    let same_type = |i: usize, j: usize| type_of(original, i) == type_of(reconstructed, j);
    let least = Bijections::new(&a, &b, &same_type, &|_, _| 0).best(MAX_CHOICES);
    let least = least.map(|Best { error, parameters, exact, .. }| LeastError { error, parameters, exact });
    ActionError { by_name: by_name(&a, &b), by_position: by_position(&a, &b), least }
}

/// Compares the actions of two domains by name. Of several definitions of one name the first counts.
pub fn domain_error(original: &Domain, reconstructed: &Domain) -> DomainError {
    let mut total = DomainError { least: Some(0), ..DomainError::default() };
    let firsts = |domain: &'_ Domain| -> Vec<Action> {
        let mut seen = BTreeSet::new();
        domain.actions.iter().filter(|a| seen.insert(a.name.key().to_owned())).cloned().collect()
    };
    let (own, other) = (firsts(original), firsts(reconstructed));
    for action in &own {
        let error = other.iter().find(|b| b.name == action.name).map(|b| action_error(action, b));
        let alone = || Shape::of(action).elements.len();
        let (name, position, least) = match &error {
            Some(e) => (e.by_name, e.by_position, e.least.as_ref().map(|l| l.error)),
            None => (alone(), alone(), Some(alone())),
        };
        total.add(name, position, least);
        total.actions.push((action.name.to_string(), error));
    }
    for action in other.iter().filter(|b| !own.iter().any(|a| a.name == b.name)) {
        let alone = Shape::of(action).elements.len();
        total.add(alone, alone, Some(alone));
        total.extra.push(action.name.to_string());
    }
    total
}

impl DomainError {
    fn add(&mut self, name: usize, position: usize, least: Option<usize>) {
        self.by_name += name;
        self.by_position += position;
        self.least = self.least.zip(least).map(|(a, b)| a + b);
    }
}

/// The alternatives of a type, in an order of their own; `object` where there is none.
pub(super) fn type_names(ty: Option<&TypeRef>) -> Vec<String> {
    let mut names: Vec<String> = match ty {
        Some(ty) => ty.alternatives.iter().map(|n| n.key().to_owned()).collect(),
        None => vec!["object".to_owned()],
    };
    names.sort_unstable();
    names.dedup();
    names
}

/// Part of an action that contains an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Part {
    Precondition,
    Add,
    Delete,
    /// An effect that is not a literal.
    Other,
}

/// One element of an action, with holes in place of its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Element {
    part: Part,
    /// The text in lower case, one space between words, [`HOLE`] for each parameter.
    text: String,
    /// The parameters in the order of their places in the text.
    holes: Vec<usize>,
}

/// Placeholder of a parameter. It cannot occur in a name.
const HOLE: &str = "\u{0}";

/// An action as sets of elements.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// Names of the parameters.
    names: Vec<String>,
    elements: BTreeSet<Element>,
}

impl Shape {
    /// Takes an action apart.
    pub(super) fn of(action: &Action) -> Self {
        // Names that no text has: what is left of the old ones is bound by a quantifier.
        let hole = |i: usize| TypedName { name: Name::synthetic(&format!("?{HOLE}{i}")), ty: None };
        let holes: Vec<TypedName> = (0..action.parameters.len()).map(hole).collect();
        let renamed = rename_parameters(action, &holes);
        let mut elements = BTreeSet::new();
        if let Some(condition) = &renamed.precondition {
            conditions(condition, &mut elements);
        }
        if let Some(effect) = &renamed.effect {
            effects(effect, &mut elements);
        }
        let names = action.parameters.iter().map(|p| p.name.key().to_owned()).collect();
        Shape { names, elements }
    }

    /// Returns true if both have the same elements, with parameters matched by position.
    pub(super) fn same_elements(&self, other: &Self) -> bool {
        self.elements == other.elements
    }

    /// The elements as text, under names for the parameters.
    fn texts<'s>(&self, name: &dyn Fn(usize) -> &'s str) -> BTreeSet<(Part, String)> {
        let text = |element: &Element| {
            let mut parts = element.text.split(HOLE);
            let mut text = parts.next().unwrap_or_default().to_owned();
            for (&hole, part) in element.holes.iter().zip(parts) {
                text.push_str(name(hole));
                text.push_str(part);
            }
            (element.part, text)
        };
        self.elements.iter().map(text).collect()
    }
}

fn conditions(condition: &Condition, out: &mut BTreeSet<Element>) {
    match condition {
        Condition::And(parts, _) => parts.iter().for_each(|part| conditions(part, out)),
        other => {
            out.insert(element(Part::Precondition, &print_condition(other)));
        }
    }
}

fn effects(effect: &Effect, out: &mut BTreeSet<Element>) {
    let (part, text) = match effect {
        Effect::And(parts, _) => return parts.iter().for_each(|part| effects(part, out)),
        Effect::Add(atom) => (Part::Add, planforge_pddl::print_atom(atom)),
        Effect::Delete(atom, _) => (Part::Delete, planforge_pddl::print_atom(atom)),
        other => (Part::Other, print_effect(other)),
    };
    out.insert(element(part, &text));
}

/// An element from its text, in which a parameter is [`HOLE`] and its number.
fn element(part: Part, text: &str) -> Element {
    let mut holes = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for word in text.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
        match word.strip_prefix('?').and_then(|w| w.strip_prefix(HOLE)).and_then(|n| n.parse().ok()) {
            Some(number) => {
                holes.push(number);
                words.push(HOLE.to_owned());
            }
            None => words.push(word.to_lowercase()),
        }
    }
    Element { part, text: words.join(" "), holes }
}

fn by_name(a: &Shape, b: &Shape) -> usize {
    let texts = |shape: &Shape| shape.texts(&|i| shape.names[i].as_str());
    texts(a).symmetric_difference(&texts(b)).count()
}

fn by_position(a: &Shape, b: &Shape) -> usize {
    let mut names: FxHashMap<&str, &str> =
        a.names.iter().zip(&b.names).map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let longer = if a.names.len() > b.names.len() { &a.names } else { &b.names };
    for name in &longer[a.names.len().min(b.names.len())..] {
        names.insert(name, name);
    }
    let mapped = a.texts(&|i| names.get(a.names[i].as_str()).copied().unwrap_or_default());
    mapped.symmetric_difference(&b.texts(&|i| b.names[i].as_str())).count()
}

/// Most parameters of an action for which bijections are searched: all pairs of parameters are listed.
const MOST_PARAMETERS: usize = 500;

/// The parameters of an element.
type Holes = SmallVec<[usize; 4]>;

/// The bijection with the minimum error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::equivalence) struct Best {
    /// By parameter of the original, the other's.
    pub(in crate::equivalence) parameters: Vec<usize>,
    /// The sum of the weights of the pairs.
    pub(in crate::equivalence) weight: u64,
    /// Elements that are not shared.
    pub(in crate::equivalence) error: usize,
    /// True if no bijection was left out.
    pub(in crate::equivalence) exact: bool,
    /// Number of partial bijections tried.
    pub(in crate::equivalence) choices: u64,
}

/// Bijections between the parameters of two actions: of those with the greatest weight the one that shares most elements, and of
/// those the one that keeps positions, or else the first in the order of places.
pub(in crate::equivalence) struct Bijections {
    /// By parameter of the original, the others that it may be, with the weights.
    options: Vec<Vec<(usize, u32)>>,
    /// True if both have as many parameters, at most [`MOST_PARAMETERS`].
    same_length: bool,
    /// By parameter of the original, its elements whose last parameter it is; only those whose text the other has too.
    complete: Vec<Vec<(u32, Holes)>>,
    /// Number of elements that are shared under every bijection.
    fixed: usize,
    /// Elements of the other.
    other: FxHashSet<(u32, Holes)>,
    /// Number of elements of both.
    elements: usize,
    /// By parameter, the greatest weight that it and those after it can add, and the most elements.
    ahead: Vec<(u64, usize)>,
}

/// A search under way.
struct BijectionSearch<'b> {
    bijections: &'b Bijections,
    map: Vec<usize>,
    taken: Vec<bool>,
    best: Option<((u64, usize), Vec<usize>)>,
    choices: u64,
    max_choices: u64,
}

impl Bijections {
    /// Prepares two actions: which parameters may be the same, and how much that is worth.
    pub(in crate::equivalence) fn new(
        original: &Shape,
        other: &Shape,
        allowed: &dyn Fn(usize, usize) -> bool,
        weight: &dyn Fn(usize, usize) -> u32,
    ) -> Self {
        let mut numbers: FxHashMap<(Part, &str), u32> = FxHashMap::default();
        for element in &other.elements {
            let next = numbers.len() as u32;
            numbers.entry((element.part, element.text.as_str())).or_insert(next);
        }
        let number = |e: &Element| numbers.get(&(e.part, e.text.as_str())).copied();
        let holes = |e: &Element| Holes::from_slice(&e.holes);
        let set = other.elements.iter().filter_map(|e| Some((number(e)?, holes(e)))).collect();
        let count = original.names.len();
        let same_length = count == other.names.len() && count <= MOST_PARAMETERS;
        let others = if same_length { count } else { 0 };
        let (mut complete, mut fixed) = (vec![Vec::new(); count], 0);
        for element in &original.elements {
            let Some(number) = number(element) else { continue };
            match element.holes.iter().max() {
                Some(&last) => complete[last].push((number, holes(element))),
                None => fixed += 1,
            }
        }
        let options: Vec<Vec<(usize, u32)>> = (0..count)
            .map(|i| (0..others).filter(|&j| allowed(i, j)).map(|j| (j, weight(i, j))).collect())
            .collect();
        let mut ahead = vec![(0, 0); count + 1];
        for i in (0..count).rev() {
            let most = options[i].iter().map(|o| u64::from(o.1)).max().unwrap_or(0);
            ahead[i] = (ahead[i + 1].0 + most, ahead[i + 1].1 + complete[i].len());
        }
        Bijections {
            options,
            same_length,
            complete,
            fixed,
            other: set,
            elements: original.elements.len() + other.elements.len(),
            ahead,
        }
    }

    /// The best bijection; `None` where there is none. After `max_choices` the best so far, once there is one.
    pub(in crate::equivalence) fn best(&self, max_choices: u64) -> Option<Best> {
        if !self.same_length || !self.is_possible() {
            return None;
        }
        let count = self.options.len();
        let taken = vec![false; count];
        let mut search = BijectionSearch {
            bijections: self,
            map: Vec::with_capacity(count),
            taken,
            best: None,
            choices: 0,
            max_choices,
        };
        search.positions();
        let exact = search.extend((0, self.fixed));
        let ((weight, shared), parameters) = search.best?;
        let error = self.elements - 2 * shared;
        Some(Best { parameters, weight, error, exact, choices: search.choices })
    }

    /// Returns true if a bijection exists. Without one a search would try every prefix, and the limit on
    /// choices applies only after the first bijection.
    fn is_possible(&self) -> bool {
        let count = self.options.len();
        let mut holders = vec![None; count];
        (0..count).all(|i| self.place(i, &mut holders, &mut vec![false; count]))
    }

    /// Gives a parameter one of the others, which may make the one that holds it move on to another.
    fn place(&self, i: usize, holders: &mut [Option<usize>], tried: &mut [bool]) -> bool {
        let options = self.options[i].iter().map(|option| option.0);
        if let Some(free) = options.clone().find(|&j| holders[j].is_none()) {
            holders[free] = Some(i);
            return true;
        }
        for j in options {
            if std::mem::replace(&mut tried[j], true) {
                continue;
            }
            if holders[j].is_none_or(|holder| self.place(holder, holders, tried)) {
                holders[j] = Some(i);
                return true;
            }
        }
        false
    }

    /// Elements of the original that a parameter completes and that the other has.
    fn count_shared(&self, parameter: usize, map: &[usize]) -> usize {
        let is_shared = |(number, holes): &&(u32, Holes)| {
            let mapped: Holes = holes.iter().map(|&i| map[i]).collect();
            self.other.contains(&(*number, mapped))
        };
        self.complete[parameter].iter().filter(is_shared).count()
    }
}

impl BijectionSearch<'_> {
    /// Takes the bijection that keeps positions for the best so far, where it is one.
    fn positions(&mut self) {
        let mut value = (0, self.bijections.fixed);
        let map: Vec<usize> = (0..self.bijections.options.len()).collect();
        for i in 0..map.len() {
            let Some((_, weight)) = self.bijections.options[i].iter().find(|o| o.0 == i) else { return };
            value = (value.0 + u64::from(*weight), value.1 + self.bijections.count_shared(i, &map));
        }
        self.best = Some((value, map));
    }

    /// Tries everything for the next parameter; whether nothing was left out.
    fn extend(&mut self, value: (u64, usize)) -> bool {
        let next = self.map.len();
        let (weight, shared) = self.bijections.ahead[next];
        let bound = (value.0 + weight, value.1 + shared);
        if self.best.as_ref().is_some_and(|(best, _)| bound <= *best) {
            return true;
        }
        if next == self.bijections.options.len() {
            self.best = Some((value, self.map.clone()));
            return true;
        }
        for &(other, weight) in &self.bijections.options[next] {
            if self.taken[other] {
                continue;
            }
            if self.choices >= self.max_choices && self.best.is_some() {
                return false;
            }
            self.choices += 1;
            self.taken[other] = true;
            self.map.push(other);
            let shared = self.bijections.count_shared(next, &self.map);
            let whole = self.extend((value.0 + u64::from(weight), value.1 + shared));
            self.map.pop();
            self.taken[other] = false;
            if !whole {
                return false;
            }
        }
        true
    }
}
