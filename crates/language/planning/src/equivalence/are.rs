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

pub(super) mod bijection;

use bijection::{Best, Bijections};
use planforge_pddl::ast::{Action, Condition, Domain, Effect, TypeRef, TypedName};
use planforge_pddl::{Name, print_condition, print_effect, rename_parameters};
use rustc_hash::FxHashMap;
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
