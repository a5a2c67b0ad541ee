//! The conditions and effects in a description (domain-generators paper, section 3), and their wording.
//!
//! pre(a) are the literals among the conjuncts of the precondition, add(a) and del(a) the atoms that effects
//! make true and false, also under a condition or for every binding. Numbers, comparisons, equalities,
//! disjunctions and quantified conditions are in none of the three.

use planforge_contract::Sentences;
use planforge_pddl::ast::{Action, Atom, Condition, Effect, TypedName};
use planforge_pddl::random::Random;
use planforge_plugin_sdk::wording::{Wording, list};
use planforge_record::sha256_hex;
use std::collections::BTreeMap;

use super::{DescriptionClass, bare};

/// A condition or effect of an action.
#[derive(Clone)]
pub(super) struct Literal<'a> {
    atom: &'a Atom,
    holds: bool,
    effect: bool,
    /// Conditions of an effect.
    when: Vec<&'a Condition>,
    /// For which bindings an effect takes place.
    every: Vec<&'a TypedName>,
}

impl Literal<'_> {
    /// The predicates that telling it takes, in lower case: its own and those of what it depends on.
    pub(super) fn predicates(&self) -> Vec<&str> {
        let when = self.when.iter().filter_map(|condition| literals_of(condition)).flatten();
        [self.atom]
            .into_iter()
            .chain(when.map(|literal| literal.atom))
            .map(|atom| atom.predicate.key())
            .collect()
    }

    /// True if both have the same predicate and arguments.
    fn same_atom(&self, other: &Literal<'_>) -> bool {
        self.atom.predicate == other.atom.predicate
            && self.atom.args == other.atom.args
            && !self.is_bound()
            && !other.is_bound()
    }

    /// True if it has a bound variable, which is not a parameter of the action even if it has the name of
    /// one.
    fn is_bound(&self) -> bool {
        self.every.iter().any(|variable| self.atom.args.iter().any(|arg| *arg.name() == variable.name))
    }
}

/// The literals in a description of the class, in the order of the action: none for base; pre(a) ∩ del(a) for
/// flipped; for random as many, drawn from the atoms of pre(a), add(a) and del(a). An atom that occurs in
/// several of them is drawn once. An atom that is both condition and effect is described as the condition, as
/// in the published descriptions: none of them describes a deletion as an effect.
pub(super) fn described_literals<'a>(
    action: &'a Action,
    class: DescriptionClass,
    draw_name: &str,
) -> Vec<Literal<'a>> {
    let mut needed = Vec::new();
    action.precondition.iter().for_each(|condition| conditions(condition, &mut needed));
    let mut caused = Vec::new();
    action.effect.iter().for_each(|effect| effects(effect, &[], &[], &mut caused));
    let deleted = |l: &Literal<'_>| caused.iter().any(|e| !e.holds && e.same_atom(l));
    let flipped: Vec<Literal<'a>> = needed.iter().filter(|l| l.holds && deleted(l)).cloned().collect();
    match class {
        DescriptionClass::Base => Vec::new(),
        DescriptionClass::Flipped => flipped,
        DescriptionClass::Random => {
            // What is made true wins over what is made false, as in the semantics of effects.
            let (added, removed): (Vec<_>, Vec<_>) = caused.into_iter().partition(|l| l.holds);
            let mut atoms: Vec<Literal<'a>> = Vec::new();
            for literal in needed.into_iter().chain(added).chain(removed) {
                let tellable = literal.when.iter().all(|c| literals_of(c).is_some());
                if tellable && !atoms.iter().any(|known| known.same_atom(&literal)) {
                    atoms.push(literal);
                }
            }
            draw(draw_name, atoms, flipped.len())
        }
    }
}

/// So many of them, each at most once, in their order. The draw belongs to the name: that of the suite and the action.
fn draw<'a>(name: &str, literals: Vec<Literal<'a>>, count: usize) -> Vec<Literal<'a>> {
    let digest = sha256_hex(name.as_bytes());
    let seed = u64::from_str_radix(digest.get(..16).unwrap_or_default(), 16).unwrap_or_default();
    let mut random = Random::new(seed);
    let mut left: Vec<usize> = (0..literals.len()).collect();
    let mut chosen = Vec::new();
    while chosen.len() < count && !left.is_empty() {
        chosen.push(left.swap_remove(random.below(left.len() as u64) as usize));
    }
    let mut literals: Vec<Option<Literal<'a>>> = literals.into_iter().map(Some).collect();
    chosen.sort_unstable();
    chosen.into_iter().filter_map(|index| literals.get_mut(index).and_then(Option::take)).collect()
}

fn conditions<'a>(condition: &'a Condition, out: &mut Vec<Literal<'a>>) {
    let mut push =
        |atom, holds| out.push(Literal { atom, holds, effect: false, when: Vec::new(), every: Vec::new() });
    match condition {
        Condition::And(parts, _) => parts.iter().for_each(|part| conditions(part, out)),
        Condition::Atom(atom) => push(atom, true),
        Condition::Not(inner, _) => {
            if let Condition::Atom(atom) = inner.as_ref() {
                push(atom, false);
            }
        }
        _ => {}
    }
}

fn effects<'a>(
    effect: &'a Effect,
    when: &[&'a Condition],
    every: &[&'a TypedName],
    out: &mut Vec<Literal<'a>>,
) {
    let mut push = |atom, holds| {
        out.push(Literal { atom, holds, effect: true, when: when.to_vec(), every: every.to_vec() });
    };
    match effect {
        Effect::And(parts, _) => parts.iter().for_each(|part| effects(part, when, every, out)),
        Effect::Add(atom) => push(atom, true),
        Effect::Delete(atom, _) => push(atom, false),
        Effect::When(condition, inner, _) => {
            let when: Vec<&Condition> = when.iter().copied().chain([condition.as_ref()]).collect();
            effects(inner, &when, every, out);
        }
        Effect::Forall(quantified) => {
            let every: Vec<&TypedName> = every.iter().copied().chain(&quantified.parameters).collect();
            effects(&quantified.body, when, &every, out);
        }
        _ => {}
    }
}

/// The literals of a condition that is nothing but a conjunction of literals.
fn literals_of(condition: &Condition) -> Option<Vec<Literal<'_>>> {
    let plain = |part: &Condition| match part {
        Condition::Atom(_) => true,
        Condition::Not(inner, _) => matches!(inner.as_ref(), Condition::Atom(_)),
        _ => false,
    };
    if !condition.conjuncts().iter().all(plain) {
        return None;
    }
    let mut literals = Vec::new();
    conditions(condition, &mut literals);
    Some(literals)
}

/// A suite's words for literals.
pub(super) struct LiteralWording<'a> {
    types: &'a BTreeMap<String, String>,
    wording: Wording,
}

impl<'a> LiteralWording<'a> {
    pub(super) fn new(sentences: &BTreeMap<String, Sentences>, types: &'a BTreeMap<String, String>) -> Self {
        Self { types, wording: Wording::new(sentences) }
    }

    /// The base and the literals: conditions after `if`, effects in a sentence of their own.
    pub(super) fn text(&self, base: &str, told: &[Literal<'_>]) -> String {
        let mut text = base.trim_end().trim_end_matches('.').to_owned();
        let say = |effect: bool| -> Vec<String> {
            told.iter().filter(|l| l.effect == effect).map(|literal| self.literal(literal)).collect()
        };
        let (before, after) = (say(false), say(true));
        if !before.is_empty() {
            text += &format!(", if {}", list(&before));
        }
        text.push('.');
        if !after.is_empty() {
            text += &format!(" After the action, {}.", list(&after));
        }
        text
    }

    /// `for every ball b, if it is red, b lies in room`; the first two parts are optional.
    fn literal(&self, literal: &Literal<'_>) -> String {
        let mut text = String::new();
        if !literal.every.is_empty() && literal.is_bound() {
            let every: Vec<String> = literal.every.iter().map(|v| self.variable(v)).collect();
            text += &format!("for every {}, ", list(&every));
        }
        let when: Vec<String> = literal
            .when
            .iter()
            .filter_map(|condition| literals_of(condition))
            .flatten()
            .map(|condition| self.fact(&condition))
            .collect();
        if !when.is_empty() {
            text += &format!("if {}, ", list(&when));
        }
        text + &self.fact(literal)
    }

    fn fact(&self, literal: &Literal<'_>) -> String {
        let predicate = literal.atom.predicate.as_str();
        let names: Vec<&str> =
            literal.atom.args.iter().map(|term| term.name().as_str().trim_start_matches('?')).collect();
        self.wording.clause(predicate, &names, literal.holds)
    }

    /// `ball b`, in the words of the suite without their article.
    fn variable(&self, variable: &TypedName) -> String {
        let what = kind(self.types, variable);
        let what = ["a ", "an "].iter().find_map(|article| what.strip_prefix(article)).unwrap_or(&what);
        format!("{what} {}", bare(variable))
    }
}

/// The description of a parameter's type, else `a TYPE`.
pub(super) fn kind(types: &BTreeMap<String, String>, parameter: &TypedName) -> String {
    let ty = parameter.ty.as_ref().and_then(|ty| ty.alternatives.first());
    let ty = ty.map_or("object", |name| name.as_str());
    types.get(&ty.to_lowercase()).cloned().unwrap_or_else(|| {
        let article = if ty.starts_with(|c: char| "aeiouAEIOU".contains(c)) { "an" } else { "a" };
        format!("{article} {ty}")
    })
}
