//! Types that the rules of a program count or put in order, and types that must be complete before the
//! missing objects of another type are known.

use super::TableRule;
use super::walk::{body_atoms, head_atoms};
use crate::syntax::ast::{Atom, Term};
use std::collections::{BTreeMap, BTreeSet};

/// Words that put the objects of the type that is their first argument in order.
const ORDERED: [(&str, usize); 5] = [("index", 3), ("amount", 2), ("first", 2), ("last", 2), ("follows", 3)];

#[derive(Default)]
pub(super) struct Ranks {
    /// Types whose objects rules put in order.
    pub(super) types: BTreeSet<String>,
    /// A rule puts the objects of a variable type in order.
    pub(super) all: bool,
    /// For each type those whose objects bring objects of it.
    pub(super) feeds: BTreeMap<String, BTreeSet<String>>,
}

fn constant(term: Option<&Term>) -> Option<&str> {
    match term {
        Some(Term::Function { name, arguments }) if arguments.is_empty() => Some(name),
        _ => None,
    }
}

/// The type that an atom is about: `Some(None)` where it is a variable.
fn ordered_type(atom: &Atom) -> Option<Option<&str>> {
    ORDERED.contains(&(atom.name.as_str(), atom.arguments.len())).then(|| constant(atom.arguments.first()))
}

fn member_of(atom: &Atom) -> Option<&str> {
    match (atom.name.as_str(), atom.arguments.as_slice()) {
        ("object", [_, ty]) => constant(Some(ty)),
        _ => None,
    }
}

impl Ranks {
    pub(super) fn of(rules: &[TableRule]) -> Self {
        let mut found = Self::default();
        for entry in rules.iter().filter(|entry| entry.origin != super::Origin::Library) {
            for atom in body_atoms(&entry.rule) {
                match ordered_type(atom) {
                    Some(Some(ty)) => drop(found.types.insert(ty.to_owned())),
                    Some(None) => found.all = true,
                    None => {}
                }
            }
            for head in head_atoms(&entry.rule) {
                let counted =
                    (head.name == "cardinality" && head.arguments.len() == 2).then(|| head.arguments.first());
                if let Some(fed) = member_of(head).or_else(|| counted.and_then(constant)) {
                    let sources = body_atoms(&entry.rule)
                        .filter_map(|atom| member_of(atom).or_else(|| ordered_type(atom).flatten()));
                    let sources: Vec<String> = sources.filter(|ty| *ty != fed).map(str::to_owned).collect();
                    if !sources.is_empty() {
                        found.feeds.entry(fed.to_owned()).or_default().extend(sources);
                    }
                }
            }
        }
        found
    }

    pub(super) fn any(&self) -> bool {
        self.all || !self.types.is_empty()
    }
}
