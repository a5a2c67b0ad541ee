//! Types by the objects that they have, and the renamings of a candidate's types to a reference's.

use super::super::are::type_names;
use planforge_pddl::ast::{Domain, Problem, TypedName};
use planforge_pddl::{Name, TypeHierarchy};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The objects of a type: the problem's place in the list and the name in lower case.
pub(super) type Extension = BTreeSet<(usize, String)>;

/// The objects of each type.
pub(super) struct Extensions {
    by_type: FxHashMap<String, Extension>,
}

impl Extensions {
    pub(super) fn new(domain: &Domain, problems: &[&Problem]) -> Self {
        let hierarchy = TypeHierarchy::of(domain);
        let mut by_type: FxHashMap<String, Extension> = FxHashMap::default();
        for (number, problem) in problems.iter().enumerate() {
            for object in domain.constants.iter().chain(&problem.objects) {
                let direct = type_names(object.ty.as_ref());
                for above in above(&hierarchy, &direct) {
                    by_type.entry(above).or_default().insert((number, object.name.key().to_owned()));
                }
            }
        }
        Extensions { by_type }
    }

    /// The objects of any of these types.
    pub(super) fn of(&self, types: &[String]) -> Extension {
        types.iter().filter_map(|t| self.by_type.get(t)).flatten().cloned().collect()
    }
}

/// These types and all above them.
fn above(hierarchy: &TypeHierarchy, direct: &[String]) -> BTreeSet<String> {
    let mut seen: BTreeSet<String> = direct.iter().cloned().collect();
    seen.insert("object".to_owned());
    let mut open: Vec<u32> = direct.iter().filter_map(|t| hierarchy.get(t)).collect();
    while let Some(id) = open.pop() {
        for &parent in hierarchy.parents(id) {
            if seen.insert(hierarchy.name(parent).key().to_owned()) {
                open.push(parent);
            }
        }
    }
    seen
}

/// Most types of either domain that the other lacks; beyond them none is renamed.
const MOST_TYPES: usize = 100;

/// The renamings to be tried.
pub(super) struct Renamings {
    /// Each as pairs of the candidate's name and the reference's; the most similar first.
    pub(super) list: Vec<Vec<(Name, Name)>>,
    /// True if the list is complete.
    pub(super) whole: bool,
}

/// All renamings of the types that the reference does not have to those that the candidate does not have: one to one, the same
/// number of parameters of each type, and what is below a type stays below it. Types that no parameter has may keep their names.
pub(super) fn renamings(reference: &Domain, candidate: &Domain, max_choices: u64) -> Renamings {
    let (wanted, has) = (TypeHierarchy::of(reference), TypeHierarchy::of(candidate));
    let missing = |from: &TypeHierarchy, other: &TypeHierarchy| -> Vec<Name> {
        let mut names: Vec<Name> = from.names().filter(|n| other.get(n.key()).is_none()).cloned().collect();
        names.sort();
        names
    };
    let (unknown, free) = (missing(&has, &wanted), missing(&wanted, &has));
    if unknown.len() > MOST_TYPES || free.len() > MOST_TYPES {
        return Renamings { list: vec![Vec::new()], whole: false };
    }
    let mut search = RenamingSearch {
        unknown,
        free,
        uses: [uses(candidate), uses(reference)],
        hierarchies: [&has, &wanted],
        chosen: Vec::new(),
        found: Renamings { list: Vec::new(), whole: true },
        choices: 0,
        max_choices,
    };
    search.extend(0);
    search.found
}

/// Counts the parameters of actions by type.
fn uses(domain: &Domain) -> FxHashMap<String, usize> {
    let mut uses = FxHashMap::default();
    let parameters = domain.actions.iter().flat_map(|a| &a.parameters);
    for name in parameters.flat_map(|p: &TypedName| type_names(p.ty.as_ref())) {
        *uses.entry(name).or_insert(0) += 1;
    }
    uses
}

struct RenamingSearch<'h> {
    unknown: Vec<Name>,
    free: Vec<Name>,
    /// The candidate's and the reference's.
    uses: [FxHashMap<String, usize>; 2],
    hierarchies: [&'h TypeHierarchy; 2],
    chosen: Vec<(Name, Name)>,
    found: Renamings,
    choices: u64,
    max_choices: u64,
}

impl RenamingSearch<'_> {
    fn extend(&mut self, next: usize) {
        let Some(name) = self.unknown.get(next).cloned() else {
            self.found.list.push(self.chosen.clone());
            return;
        };
        let count = |uses: &FxHashMap<String, usize>, name: &Name| uses.get(name.key()).copied().unwrap_or(0);
        let used = count(&self.uses[0], &name);
        let mut targets: Vec<Name> = self
            .free
            .iter()
            .filter(|free| count(&self.uses[1], free) == used && !self.chosen.iter().any(|c| c.1 == **free))
            .filter(|free| self.keeps_order(&name, free))
            .cloned()
            .collect();
        targets.sort_by_key(|t| std::cmp::Reverse(super::similarity(name.key(), t.key())));
        for target in targets {
            if self.choices >= self.max_choices {
                self.found.whole = false;
                return;
            }
            self.choices += 1;
            self.chosen.push((name.clone(), target));
            self.extend(next + 1);
            self.chosen.pop();
        }
        if used == 0 {
            self.extend(next + 1);
        }
    }

    /// Returns true if a further pair is above and below the same types as the pairs chosen before.
    fn keeps_order(&self, name: &Name, target: &Name) -> bool {
        let below = |side: usize, a: &Name, b: &Name| {
            let hierarchy = self.hierarchies[side];
            hierarchy
                .get(a.key())
                .zip(hierarchy.get(b.key()))
                .is_some_and(|(a, b)| hierarchy.is_subtype(a, b))
        };
        self.chosen.iter().all(|(other, taken)| {
            below(0, name, other) == below(1, target, taken)
                && below(0, other, name) == below(1, taken, target)
        })
    }
}
