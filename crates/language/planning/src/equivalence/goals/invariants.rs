//! Literals that follow from a goal by invariants of the task, without looking at its states: pairs of facts that never hold
//! together, and sets of facts of which one always holds.

use crate::bits;
use crate::resources::StopReason;
use crate::search::{LimitWatch, ReachablePairs};
use crate::task::{Fact, GroundTask};
use rustc_hash::FxHashSet;

/// Operators examined to show that one fact of a set always holds.
const MAX_LOOKS: u32 = 20_000;

/// Facts known to hold in every goal state, and in none.
pub(super) struct ProvedLiterals<'k> {
    pub(super) always: &'k mut [u64],
    pub(super) never: &'k mut [u64],
}

/// Adds the consequences of the proved literals until nothing more follows. Of positive literals, those in
/// `wanted` are tried.
///
/// * A fact that never holds together with one that always does is in no goal state.
/// * One fact of a set always holds: one holds initially, and every operator that deletes one adds one, or needs one that it keeps.
///   If all others of such a set are in no goal state, the last one is in every goal state.
pub(super) fn prove(
    task: &GroundTask,
    pairs: &ReachablePairs,
    initial: &[u64],
    wanted: &[u64],
    known: &mut ProvedLiterals<'_>,
    watch: &mut LimitWatch<'_>,
) -> Result<(), StopReason> {
    let ProvedLiterals { always, never } = known;
    let last = task.facts.len() as Fact;
    let groups = Groups::new(task, pairs, initial);
    // What no reachable state has.
    (0..last).filter(|&f| !pairs.together(&[f])).for_each(|f| bits::set(never, f));
    let mut done = vec![0u64; always.len()];
    loop {
        let fresh: Vec<Fact> = bits::ones(always).filter(|&f| !bits::get(&done, f)).collect();
        for &fact in &fresh {
            bits::set(&mut done, fact);
            let beside = pairs.beside(fact);
            (0..last).filter(|&f| !bits::get(beside, f)).for_each(|f| bits::set(never, f));
        }
        watch.poll()?;
        let mut found = false;
        for fact in (0..last).filter(|&f| bits::get(wanted, f)) {
            if !bits::get(always, fact) && !bits::get(never, fact) && groups.holds_with_none_of(fact, never) {
                bits::set(always, fact);
                found = true;
            }
        }
        if !found && fresh.is_empty() {
            return Ok(());
        }
    }
}

/// Index for finding sets of facts of which one always holds.
struct Groups<'t> {
    task: &'t GroundTask,
    initial: &'t [u64],
    /// Operators that can ever be applicable, by the facts that they may delete.
    deleters: Vec<Vec<u32>>,
    /// By operator, all facts that it may delete.
    may_delete: Vec<Vec<Fact>>,
}

impl<'t> Groups<'t> {
    fn new(task: &'t GroundTask, pairs: &ReachablePairs, initial: &'t [u64]) -> Self {
        let mut deleters = vec![Vec::new(); task.facts.len()];
        let mut may_delete = Vec::with_capacity(task.operators.len());
        for (o, operator) in task.operators.iter().enumerate() {
            let mut facts = operator.delete.to_vec();
            facts.extend(operator.conditional.iter().flat_map(|c| c.delete.iter()));
            facts.sort_unstable();
            facts.dedup();
            facts.retain(|f| operator.add.binary_search(f).is_err());
            if pairs.together(&operator.precondition.positive) {
                facts.iter().for_each(|&f| deleters[f as usize].push(o as u32));
            }
            may_delete.push(facts);
        }
        Self { task, initial, deleters, may_delete }
    }

    /// Returns true if a set of the fact and of facts in `never` always contains a fact that holds.
    fn holds_with_none_of(&self, fact: Fact, never: &[u64]) -> bool {
        let mut looks = MAX_LOOKS;
        self.extend(&mut vec![fact], never, &mut FxHashSet::default(), &mut looks)
    }

    /// Extends the set depth first: the first operator that deletes the last fact requires one of the facts
    /// that it adds.
    fn extend(
        &self,
        set: &mut Vec<Fact>,
        never: &[u64],
        tried: &mut FxHashSet<Vec<Fact>>,
        looks: &mut u32,
    ) -> bool {
        let mut key = set.clone();
        key.sort_unstable();
        if !tried.insert(key) {
            return false;
        }
        let Some(operator) = self.threat(set, looks) else {
            return *looks > 0 && set.iter().any(|&f| bits::get(self.initial, f));
        };
        for &added in self.task.operators[operator as usize].add.iter() {
            if bits::get(never, added) && !set.contains(&added) {
                set.push(added);
                if self.extend(set, never, tried, looks) {
                    return true;
                }
                set.pop();
            }
        }
        false
    }

    /// An operator after which none of the set may hold, though one did.
    fn threat(&self, set: &[Fact], looks: &mut u32) -> Option<u32> {
        for &fact in set {
            for &o in &self.deleters[fact as usize] {
                if *looks == 0 {
                    return None;
                }
                *looks -= 1;
                let operator = &self.task.operators[o as usize];
                let deleted = &self.may_delete[o as usize];
                let adds = operator.add.iter().any(|f| set.contains(f));
                let keeps = || {
                    let left = |f: &&Fact| set.contains(f) && deleted.binary_search(f).is_err();
                    operator.precondition.positive.iter().any(|f| left(&f))
                };
                if !adds && !keeps() {
                    return Some(o);
                }
            }
        }
        None
    }
}
