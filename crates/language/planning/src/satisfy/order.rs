//! Chooses the order in which a search binds variables, and splits formulas into parts that share none.

use super::{Goal, Interpretation, Substitute};
use crate::lifted::{Formula, LiftedAtom, Term, Variable};
use crate::task::ObjectId;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Literals that are compared to find the next choice.
const WINDOW: usize = 64;

/// Source of a level's bindings.
pub(super) enum Source<'f> {
    /// The atoms of a literal.
    Rows { atom: &'f LiftedAtom, part: usize },
    /// The objects of one variable.
    Objects,
}

/// One choice of the search.
pub(super) struct Level<'f> {
    pub(super) source: Source<'f>,
    /// Variables that it binds.
    pub(super) binds: Vec<&'f Variable>,
    /// Columns of the atom that are bound before.
    pub(super) key: Vec<usize>,
    /// Parts to test then, by index.
    pub(super) tests: Vec<usize>,
    /// Earlier levels on which its failures depend.
    pub(super) parents: Vec<usize>,
}

/// The choices of a search, in order.
pub(super) struct Order<'f> {
    pub(super) levels: Vec<Level<'f>>,
    /// Parts without open variables.
    pub(super) closed: Vec<usize>,
    /// Level that binds each open variable.
    pub(super) level_of: Vec<Option<usize>>,
}

/// Orders the choices of a search over open variables, which are sorted by slot.
pub(super) fn order_levels<'f, I: Interpretation + ?Sized>(
    open: &[&'f Variable],
    parts: &[Goal<'f>],
    substitute: Option<Substitute<'_>>,
    facts: &I,
    binding: &[ObjectId],
) -> Order<'f> {
    let mut by_size: Vec<u32> = (0..open.len() as u32).rev().collect();
    by_size.sort_by_key(|&v| std::cmp::Reverse(open[v as usize].objects.len()));
    let mut planner = SearchPlanner {
        by_size,
        waiting: parts.iter().map(|(formula, _)| occurring(formula, open)).collect(),
        users: vec![Vec::new(); open.len()],
        open,
        order: Order { levels: Vec::new(), closed: Vec::new(), level_of: vec![None; open.len()] },
    };
    planner.plan(parts, substitute, facts, binding);
    planner.order
}

struct SearchPlanner<'o, 'f> {
    open: &'o [&'f Variable],
    order: Order<'f>,
    /// Open variables of each part.
    waiting: Vec<Vec<u32>>,
    /// Parts that each open variable occurs in.
    users: Vec<Vec<u32>>,
    /// Open variables, those with the fewest objects last.
    by_size: Vec<u32>,
}

impl<'f> SearchPlanner<'_, 'f> {
    fn plan<I: Interpretation + ?Sized>(
        &mut self,
        parts: &[Goal<'f>],
        substitute: Option<Substitute<'_>>,
        facts: &I,
        binding: &[ObjectId],
    ) {
        // Open variables of each part that no level binds yet.
        let mut missing: Vec<usize> = self.waiting.iter().map(Vec::len).collect();
        for (part, variables) in self.waiting.iter().enumerate() {
            variables.iter().for_each(|&v| self.users[v as usize].push(part as u32));
            if variables.is_empty() {
                self.order.closed.push(part);
            }
        }
        // Literals that bind their variables to atoms, with the number of these.
        let mut sources: Vec<(usize, &'f LiftedAtom, usize)> = Vec::new();
        for (part, (formula, wanted)) in parts.iter().enumerate() {
            if let Formula::Literal { atom, negated, .. } = formula
                && *negated != *wanted
                && missing[part] > 0
            {
                // The new atoms first: a join with them is what a substitute is for.
                if substitute.is_some_and(|s| s.part == part) {
                    sources.insert(0, (part, atom, 0));
                } else {
                    sources.push((part, atom, facts.row_count(atom.predicate)));
                }
            }
        }
        while let Some(next) = self.next_source(&mut sources, &missing, binding) {
            let level = self.order.levels.len();
            let variables: Vec<u32> = match next {
                Ok((part, _)) => {
                    let open = |v: &u32| self.order.level_of[*v as usize].is_none();
                    self.waiting[part].iter().copied().filter(open).collect()
                }
                Err(variable) => vec![variable],
            };
            let mut tests = Vec::new();
            let mut parents = BTreeSet::new();
            let earlier = |v: u32, parents: &mut BTreeSet<usize>, level_of: &[Option<usize>]| {
                parents.extend(level_of[v as usize]);
            };
            let mut key = Vec::new();
            let source = match next {
                Ok((part, atom)) => {
                    let is_open = |term: &Term| match term {
                        Term::Slot(slot) => {
                            let at = self.open.binary_search_by_key(slot, |v| v.slot);
                            at.is_ok_and(|at| self.order.level_of[at].is_none())
                        }
                        Term::Object(_) => false,
                    };
                    key = (0..atom.args.len()).filter(|&c| !is_open(&atom.args[c])).collect();
                    self.waiting[part].iter().for_each(|&v| earlier(v, &mut parents, &self.order.level_of));
                    Source::Rows { atom, part }
                }
                Err(_) => Source::Objects,
            };
            for &variable in &variables {
                for &part in &self.users[variable as usize] {
                    missing[part as usize] -= 1;
                    let part = part as usize;
                    if missing[part] == 0 && !matches!(source, Source::Rows { part: own, .. } if own == part)
                    {
                        tests.push(part);
                        self.waiting[part]
                            .iter()
                            .for_each(|&v| earlier(v, &mut parents, &self.order.level_of));
                    }
                }
            }
            for &variable in &variables {
                self.order.level_of[variable as usize] = Some(level);
            }
            let binds = variables.iter().map(|&v| self.open[v as usize]).collect();
            self.order.levels.push(Level {
                source,
                binds,
                key,
                tests,
                parents: parents.into_iter().collect(),
            });
        }
    }

    /// The literal with the fewest atoms to try, or else the open variable with the fewest objects.
    fn next_source(
        &mut self,
        sources: &mut Vec<(usize, &'f LiftedAtom, usize)>,
        missing: &[usize],
        binding: &[ObjectId],
    ) -> Option<Result<(usize, &'f LiftedAtom), u32>> {
        // Literals whose variables other levels bind have become tests.
        let mut at = 0;
        while at < sources.len().min(WINDOW) {
            if missing[sources[at].0] > 0 {
                at += 1;
            } else {
                sources.swap_remove(at);
            }
        }
        let cost = |&(part, atom, rows): &(usize, &LiftedAtom, usize)| {
            let arity = atom.args.len().max(1) as f64;
            let bound = |t: &&Term| match t {
                Term::Slot(slot) => match self.open.binary_search_by_key(slot, |v| v.slot) {
                    Ok(at) => self.order.level_of[at].is_some(),
                    Err(_) => binding[*slot as usize] != ObjectId::MAX,
                },
                Term::Object(_) => true,
            };
            let bound = atom.args.iter().filter(bound).count() as f64;
            ((rows as f64).powf(1.0 - bound / arity), part)
        };
        let costs = sources.iter().take(WINDOW).map(cost).enumerate();
        let best = costs.min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(at, _)| at);
        if let Some(best) = best {
            let (part, atom, _) = sources.swap_remove(best);
            return Some(Ok((part, atom)));
        }
        while let Some(variable) = self.by_size.pop() {
            if self.order.level_of[variable as usize].is_none() {
                return Some(Err(variable));
            }
        }
        None
    }
}

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
