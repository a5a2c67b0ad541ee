//! Variables of formulas, and parts that share none.

use crate::lifted::{Formula, Term, Variable};
use rustc_hash::FxHashMap;

/// The parts of a conjunction; any other formula is one part.
pub(crate) fn conjuncts(formula: &Formula) -> &[Formula] {
    match formula {
        Formula::And(parts) => parts,
        single => std::slice::from_ref(single),
    }
}

/// Calls `f` with every slot of a formula, those of its own quantifiers included.
pub(crate) fn for_each_slot(formula: &Formula, f: &mut impl FnMut(u32)) {
    let mut term = |t: &Term| {
        if let Term::Slot(slot) = t {
            f(*slot);
        }
    };
    match formula {
        Formula::And(parts) | Formula::Or(parts, _) => parts.iter().for_each(|p| for_each_slot(p, f)),
        Formula::Literal { atom, .. } => atom.args.iter().for_each(term),
        Formula::Equal { left, right, .. } => {
            term(left);
            term(right);
        }
        Formula::Compare { left, right, .. } => {
            left.for_each_function(&mut |atom| atom.args.iter().for_each(&mut term));
            right.for_each_function(&mut |atom| atom.args.iter().for_each(&mut term));
        }
        Formula::Exists(_, body, _) | Formula::Forall(_, body, _) => for_each_slot(body, f),
    }
}

/// The open variables of a formula, as indices into `open`, which is sorted by slot.
pub(crate) fn occurring(formula: &Formula, open: &[&Variable]) -> Vec<u32> {
    let mut list = Vec::new();
    for_each_slot(formula, &mut |slot| {
        if let Ok(at) = open.binary_search_by_key(&slot, |v| v.slot) {
            list.push(at as u32);
        }
    });
    list.sort_unstable();
    list.dedup();
    list
}

/// Parts of a formula that share variables.
pub(crate) struct Group<T> {
    /// Their variables, ascending.
    pub(crate) variables: Vec<u32>,
    pub(crate) parts: Vec<T>,
}

/// Groups parts by shared variables, in the order of their first parts. Each part comes with its variables, at least one,
/// which are below `count`.
pub(crate) fn group_by_variables<T>(parts: Vec<(T, Vec<u32>)>, count: usize) -> Vec<Group<T>> {
    let mut sets = DisjointSets::new(count);
    parts.iter().for_each(|(_, variables)| sets.join(variables));
    let mut groups: Vec<Group<T>> = Vec::new();
    let mut group_of: FxHashMap<u32, usize> = FxHashMap::default();
    for (part, variables) in parts {
        let group = *group_of.entry(sets.find(variables[0])).or_insert_with(|| {
            groups.push(Group { variables: Vec::new(), parts: Vec::new() });
            groups.len() - 1
        });
        groups[group].parts.push(part);
    }
    for variable in 0..count as u32 {
        if let Some(&group) = group_of.get(&sets.find(variable)) {
            groups[group].variables.push(variable);
        }
    }
    groups
}

/// Sets of variables that parts connect.
struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    fn new(count: usize) -> Self {
        DisjointSets { parent: (0..count as u32).collect() }
    }

    fn find(&mut self, mut of: u32) -> u32 {
        while self.parent[of as usize] != of {
            let next = self.parent[of as usize];
            self.parent[of as usize] = self.parent[next as usize];
            of = next;
        }
        of
    }

    fn join(&mut self, all: &[u32]) {
        for pair in all.windows(2) {
            let (a, b) = (self.find(pair[0]), self.find(pair[1]));
            self.parent[a as usize] = b;
        }
    }
}
