//! A state that satisfies one goal and not the other, under a renaming that makes all but the goals equal.

use super::closure::{Closure, Sample, is_conjunctive};
use crate::bits;
use crate::equivalence::ComparedSide;
use crate::task::{Fact, GroundTask};
use rustc_hash::{FxHashMap, FxHashSet};

/// A reachable state that satisfies one goal and not the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// The side whose goal it satisfies. The other fields use that problem's names.
    pub satisfies: ComparedSide,
    /// Steps that lead to it from the initial state.
    pub steps: Vec<String>,
    /// The facts that hold in it, without those that hold in every reachable state.
    pub facts: Vec<String>,
    /// The renaming under which it does not satisfy the other goal: (object of the first, object of the second). No other renaming
    /// makes the goals equal either.
    pub renaming: Vec<(String, String)>,
}

/// A state, as the facts that hold in it.
type Facts = Vec<Fact>;

/// The witness among the goal states that were kept. Where both goals were known in full and differ, there is one.
pub(super) fn find(closures: [&Closure; 2], renaming: &[(String, String)]) -> Option<Witness> {
    for (from, satisfies) in [(0, ComparedSide::First), (1, ComparedSide::Second)] {
        let map = Mapping::new(closures, from, renaming);
        let (own, other) = (closures[from], closures[1 - from]);
        let kept = own.all.as_ref().unwrap_or(&own.samples);
        let there: Option<FxHashSet<Facts>> =
            other.all.as_ref().map(|all| all.iter().map(|s| visible(&other.task, &s.state)).collect());
        let satisfied = |sample: &&Sample| {
            let Some(state) = map.state(&own.task, &sample.state) else { return false };
            match &there {
                _ if other.reachable == Some(false) => false,
                Some(there) => there.contains(&state),
                None => holds(&other.task, &state),
            }
        };
        if let Some(sample) = kept.iter().find(|s| !satisfied(s)) {
            let task = &own.task;
            return Some(Witness {
                satisfies,
                steps: sample.steps.iter().map(|&a| task.symbols.step(&task.actions[a as usize])).collect(),
                facts: visible(task, &sample.state)
                    .into_iter()
                    .map(|f| task.symbols.atom(&task.facts[f as usize]))
                    .collect(),
                renaming: renaming.to_vec(),
            });
        }
    }
    None
}

/// Returns true if each goal, a conjunction, is among the literals proved of the other's goal states. They
/// are then the same under the renaming, even if more literals hold.
pub(super) fn includes(closures: [&Closure; 2], renaming: &[(String, String)]) -> bool {
    [0, 1].into_iter().all(|from| {
        let (own, other) = (closures[from], closures[1 - from]);
        let map = Mapping::new(closures, from, renaming);
        let proved = |facts: &[Fact], there: &[u64]| {
            facts.iter().all(|f| map.fact(*f).is_some_and(|f| bits::get(there, f)))
        };
        is_conjunctive(&own.task)
            && !own.task.goal_unreachable
            && proved(&own.task.goal.positive, &other.always)
            && proved(&own.task.goal.negative, &other.never)
    })
}

/// Returns the facts of a state that are atoms of the problem, ascending.
fn visible(task: &GroundTask, state: &[u64]) -> Facts {
    bits::ones(state).filter(|&f| Closure::is_visible(task, f)).collect()
}

/// Returns true if a conjunctive goal holds in a state.
fn holds(task: &GroundTask, state: &[Fact]) -> bool {
    task.goal.positive.iter().all(|f| state.binary_search(f).is_ok())
        && task.goal.negative.iter().all(|f| state.binary_search(f).is_err())
}

/// Facts of one task as facts of the other.
struct Mapping {
    facts: Vec<Option<Fact>>,
}

impl Mapping {
    fn new(closures: [&Closure; 2], from: usize, renaming: &[(String, String)]) -> Self {
        let (own, other) = (&closures[from].task, &closures[1 - from].task);
        let names: FxHashMap<String, String> = renaming
            .iter()
            .map(|(a, b)| if from == 0 { (a, b) } else { (b, a) })
            .map(|(a, b)| (a.to_lowercase(), b.to_lowercase()))
            .collect();
        let key = |task: &GroundTask, fact: usize, rename: bool| -> Vec<String> {
            let atom = &task.facts[fact];
            let object = |o: &u32| {
                let name = task.symbols.objects[*o as usize].to_lowercase();
                if rename { names.get(&name).cloned().unwrap_or(name) } else { name }
            };
            let predicate = task.symbols.predicates[atom.predicate as usize].to_lowercase();
            std::iter::once(predicate).chain(atom.args.iter().map(object)).collect()
        };
        let theirs: FxHashMap<Vec<String>, Fact> =
            (0..other.facts.len()).map(|f| (key(other, f, false), f as Fact)).collect();
        let facts = (0..own.facts.len()).map(|f| theirs.get(&key(own, f, true)).copied()).collect();
        Self { facts }
    }

    fn fact(&self, fact: Fact) -> Option<Fact> {
        self.facts[fact as usize]
    }

    /// A state of the one task as a state of the other, ascending.
    fn state(&self, task: &GroundTask, state: &[u64]) -> Option<Facts> {
        let mut facts: Facts =
            visible(task, state).into_iter().map(|f| self.fact(f)).collect::<Option<_>>()?;
        facts.sort_unstable();
        Some(facts)
    }
}
