//! Objects that exist and objects that are missing, with their names: the data that one stage passes to the
//! next.

use super::{Outcome, SolveJob};
use crate::build::{constant, function};
use crate::syntax::ast::Term;
use crate::syntax::parse_ground_term;
use planforge_pddl::natural;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Input of a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageInput {
    /// Objects to make: type, index, how many there are to be.
    pub(crate) generated: Vec<(String, i64, i64)>,
    /// The objects of ranked types, in order.
    pub(crate) ranks: BTreeMap<String, Vec<String>>,
}

/// Statements of an answer set about objects.
#[derive(Debug, Default)]
pub(crate) struct Census {
    /// The objects of each type.
    pub(crate) members: BTreeMap<String, Vec<String>>,
    /// Number of missing objects by type.
    pub(crate) missing: BTreeMap<String, i64>,
    pub(crate) counts: BTreeMap<String, i64>,
    /// Types that maps pair.
    pub(crate) mapped: BTreeSet<String>,
}

impl Census {
    /// True if a type has no more objects than are counted, so that every made object was needed.
    pub(super) fn bears_out(&self, ty: &str) -> bool {
        let there = self.members.get(ty).map_or(0, Vec::len);
        self.counts.get(ty).is_some_and(|count| there as i64 <= *count)
    }
}

impl StageInput {
    /// The facts that a stage is given.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = Term> {
        let generated = self.generated.iter().map(|(ty, index, count)| {
            function("generated", vec![constant(ty), Term::Number(*index), Term::Number(*count)])
        });
        let ranks = self.ranks.iter().flat_map(|(ty, names)| {
            let amount = function("amount", vec![constant(ty), Term::Number(names.len() as i64)]);
            let index = (1..).zip(names).map(|(index, name)| {
                // A row is an object by its number.
                let object = name.parse().map_or_else(|_| constant(name), Term::Number);
                function("index", vec![constant(ty), Term::Number(index), object])
            });
            std::iter::once(amount).chain(index)
        });
        generated.chain(ranks)
    }

    /// The same as a part of a program.
    pub(super) fn write(&self, program: &mut String) {
        for atom in self.atoms() {
            // Writing to a string cannot fail.
            let _ = writeln!(program, "{atom}.");
        }
    }
}

impl SolveJob {
    /// The input of the next stage after an answer.
    pub(crate) fn next(&self, given: &StageInput, census: &Census) -> Result<StageInput, Outcome> {
        let mut next = StageInput { generated: given.generated.clone(), ranks: BTreeMap::new() };
        let mut members = census.members.clone();
        let due: Vec<(&String, i64)> = census
            .missing
            .iter()
            .filter(|(ty, _)| !census.missing.keys().any(|other| self.comes_before(other, ty)))
            .map(|(ty, missing)| (ty, *missing))
            .collect();
        for (ty, missing) in due {
            if missing > i64::from(self.max_objects) - next.generated.len() as i64 {
                return Err(Outcome::TooManyObjects { ty: ty.clone(), missing });
            }
            self.make(ty, missing, census, &mut next.generated, &mut members);
        }
        let ranked = self.ranked.iter().chain(&census.mapped);
        let all: Vec<&String> = if self.ranks_all { members.keys().collect() } else { Vec::new() };
        for ty in ranked.chain(all) {
            let mut names = members.get(ty).cloned().unwrap_or_default();
            names.sort_by(|a, b| natural(a, b));
            names.dedup();
            next.ranks.insert(ty.clone(), names);
        }
        Ok(next)
    }

    /// True if the objects of the type `first` must be complete before the missing objects of `then` are
    /// known.
    fn comes_before(&self, first: &str, then: &str) -> bool {
        first != then && self.leads(first, then) && !self.leads(then, first)
    }

    fn leads(&self, from: &str, to: &str) -> bool {
        let mut reached: BTreeSet<&str> = BTreeSet::from([to]);
        let mut open = vec![to];
        while let Some(ty) = open.pop() {
            for feeder in self.feeds.get(ty).into_iter().flatten() {
                if reached.insert(feeder) {
                    open.push(feeder);
                }
            }
        }
        reached.contains(from)
    }

    /// Makes objects of a type. A name of the type's form that the text uses in a compatible way becomes the
    /// name of a counted object: a text with shot1 and three shots means one of the three. The others get the
    /// lowest free indices.
    fn make(
        &self,
        ty: &str,
        missing: i64,
        census: &Census,
        generated: &mut Vec<(String, i64, i64)>,
        members: &mut BTreeMap<String, Vec<String>>,
    ) {
        let naming = &self.naming;
        let total = census.counts.get(ty).copied().unwrap_or(missing);
        let mut types: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (of, names) in &census.members {
            names.iter().for_each(|name| types.entry(name).or_default().push(of));
        }
        let made: BTreeSet<String> = generated.iter().map(|(ty, index, _)| naming.name(ty, *index)).collect();
        let may_be = |name: &str| {
            let known = types.get(name).map(Vec::as_slice).unwrap_or_default();
            !made.contains(name) && known.iter().all(|of| self.is_above(of, ty))
        };
        let mentioned = types.keys().copied().chain(self.mentioned.iter().map(String::as_str));
        let meant: BTreeSet<i64> =
            mentioned.filter(|name| may_be(name)).filter_map(|name| naming.index(ty, name)).collect();
        let is_free = |index: &i64| {
            let name = naming.name(ty, *index);
            !types.contains_key(name.as_str()) && !made.contains(&name) && !self.taken.contains(&name)
        };
        let others = usize::try_from(missing).unwrap_or(0).saturating_sub(meant.len());
        let free: Vec<i64> = (naming.first(ty)..).filter(is_free).take(others).collect();
        for index in meant.into_iter().chain(free) {
            generated.push((ty.to_owned(), index, total));
            for above in self.above.get(ty).into_iter().flatten().map(String::as_str).chain([ty]) {
                members.entry(above.to_owned()).or_default().push(naming.name(ty, index));
            }
        }
    }

    /// True if every object of the type `below` is also of the different type `above`.
    fn is_above(&self, above: &str, below: &str) -> bool {
        above == "object"
            || self.above.get(below).is_some_and(|all| all.contains(above))
            || (above != below && self.leads(below, above))
    }
}

/// Counts the objects of an answer.
pub(super) fn census(answer: &[String]) -> Census {
    let mut census = Census::default();
    for atom in answer {
        let name = atom.split('(').next().unwrap_or_default();
        if !["object", "missing", "mapped", "cardinality"].contains(&name) {
            continue;
        }
        let Some(Term::Function { arguments, .. }) = parse_ground_term(atom) else { continue };
        match (name, arguments.as_slice()) {
            ("object", [object, ty]) => {
                census.members.entry(ty.to_string()).or_default().push(object.to_string());
            }
            ("missing", [ty, Term::Number(missing)]) => drop(census.missing.insert(ty.to_string(), *missing)),
            ("cardinality", [ty, Term::Number(count)]) => drop(census.counts.insert(ty.to_string(), *count)),
            ("mapped", [_, first, _, second]) => {
                census.mapped.extend([first.to_string(), second.to_string()])
            }
            _ => {}
        }
    }
    census
}
