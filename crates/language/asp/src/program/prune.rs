//! Selects the rules that can apply. A domain of twenty predicates gives a hundred rules of types, most of
//! them about predicates that a task never mentions, and the reasoner would take as long for them as for the
//! others.

use super::walk::{body_atoms, head_atoms, premises};
use crate::library::is_word;
use crate::syntax::ast::{Atom, Rule, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// The atoms that rules can derive, by predicate, and inside `init` and `goal` by the predicate there.
#[derive(Default)]
struct Derivable<'a> {
    plain: FxHashSet<(&'a str, usize)>,
    states: FxHashMap<&'a str, State<'a>>,
    /// The state and predicate of every map.
    maps: FxHashSet<(&'a str, &'a str)>,
}

#[derive(Default)]
struct State<'a> {
    /// Something whose predicate is a variable.
    any: bool,
    facts: FxHashSet<(bool, &'a str, usize)>,
}

/// The predicate inside a state: whether it is negated, its name and number of arguments. `None` for a variable.
fn inner(term: &Term) -> Option<(bool, &str, usize)> {
    match term {
        Term::Function { name, arguments } => match (name.as_str(), arguments.as_slice()) {
            ("neg", [Term::Function { name, arguments }]) => Some((true, name, arguments.len())),
            ("neg", [_]) => None,
            _ => Some((false, name, arguments.len())),
        },
        _ => None,
    }
}

fn state(atom: &Atom) -> Option<(&str, &Term)> {
    match atom.arguments.as_slice() {
        [content] if atom.name == "init" || atom.name == "goal" => Some((&atom.name, content)),
        _ => None,
    }
}

impl<'a> Derivable<'a> {
    /// Adds a head. True if it makes something new derivable.
    fn add(&mut self, head: &'a Atom) -> bool {
        let Some((name, content)) = state(head) else {
            return self.plain.insert((&head.name, head.arguments.len()));
        };
        let state = self.states.entry(name).or_default();
        let Some(fact) = inner(content) else { return !std::mem::replace(&mut state.any, true) };
        if let Term::Function { name: map, arguments } = content
            && let ("map", [_, Term::Function { name: predicate, .. }, _]) =
                (map.as_str(), arguments.as_slice())
        {
            self.maps.insert((name, predicate));
        }
        state.facts.insert(fact)
    }

    fn covers(&self, atom: &Atom) -> bool {
        if let Some((name, content)) = state(atom) {
            let Some(state) = self.states.get(name) else { return false };
            return state.any || inner(content).is_none_or(|fact| state.facts.contains(&fact));
        }
        if let ("pair", [Term::Function { name: state, .. }, Term::Function { name: predicate, .. }, ..]) =
            (atom.name.as_str(), atom.arguments.as_slice())
            && !self.states.get(state.as_str()).is_some_and(|state| state.any)
        {
            return self.maps.contains(&(state.as_str(), predicate.as_str()));
        }
        self.plain.contains(&(atom.name.as_str(), atom.arguments.len()))
    }
}

/// A rule, and whether it was written for this task or domain; the other rules are included only if needed.
pub(super) struct Candidate<'a> {
    pub(super) rule: &'a Rule,
    pub(super) is_written: bool,
    /// Stands for atoms that the stages pass in.
    pub(super) is_given: bool,
    /// Kept even if it never applies, so that the reasoner reports its mistakes.
    pub(super) is_kept: bool,
}

/// For each rule whether it has to be in the program. `given` are predicates that the reasoner is handed.
pub(super) fn find_needed_rules(candidates: &[Candidate<'_>], given: &[(&'static str, usize)]) -> Vec<bool> {
    let mut live = applicable(candidates, given);
    let mut used: FxHashSet<(&str, usize)> = FxHashSet::default();
    used.extend(
        [
            ("object", 2),
            ("init", 1),
            ("goal", 1),
            ("metric", 2),
            ("conflict", 1),
            ("missing", 2),
            ("mapped", 4),
        ]
        .iter(),
    );
    let mut kept = vec![false; candidates.len()];
    loop {
        let before = used.len();
        let mut changed = false;
        for (at, candidate) in candidates.iter().enumerate() {
            if kept[at] || !live[at] {
                continue;
            }
            let is_used = candidate.is_written
                || head_atoms(candidate.rule)
                    .iter()
                    .any(|h| used.contains(&(h.name.as_str(), h.arguments.len())));
            if is_used {
                kept[at] = true;
                changed = true;
                used.extend(body_atoms(candidate.rule).map(|a| (a.name.as_str(), a.arguments.len())));
            }
        }
        if !changed && used.len() == before {
            break;
        }
    }
    for (at, candidate) in candidates.iter().enumerate() {
        live[at] = kept[at] || candidate.is_kept;
    }
    live
}

/// Rules each of whose positive conditions something can derive.
fn applicable(candidates: &[Candidate<'_>], given: &[(&'static str, usize)]) -> Vec<bool> {
    let mut derivable = Derivable::default();
    derivable.plain.extend(given.iter().copied());
    debug_assert!(given.iter().all(|(name, arguments)| is_word(name, *arguments)));
    let mut live = vec![false; candidates.len()];
    loop {
        let mut changed = false;
        for (at, candidate) in candidates.iter().enumerate() {
            if !live[at] && !candidate.is_given && premises(candidate.rule).all(|atom| derivable.covers(atom))
            {
                live[at] = true;
                changed = true;
                for head in head_atoms(candidate.rule) {
                    derivable.add(head);
                }
            }
        }
        if !changed {
            return live;
        }
    }
}
