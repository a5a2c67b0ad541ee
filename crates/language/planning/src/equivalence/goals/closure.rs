//! Literals that hold in every reachable goal state, between two converging bounds: literals that are proved
//! to hold in all of them, and literals that hold in all found so far. Where the bounds meet, the closure is
//! exact.
//!
//! Some literals follow from a goal by invariants of the task ([`prove`]), without a look at its states: pairs of facts that never
//! hold together, and sets of facts of which one always holds.

use super::GoalLimits;
use crate::bits;
use crate::resources::{LimitWatch, ResourceLimits, StopReason};
use crate::search::{Algorithm, NONE, NodeTable, Outcome, ReachablePairs, Space, run_search};
use crate::simulate::Simulator;
use crate::task::{Fact, GroundTask};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// States explored first. Small tasks need no more.
const FIRST_STATES: u64 = 2_000;
/// States explored around a goal state that was found.
const NEARBY_STATES: u64 = 300;
/// Searches that may end at their limit before no more are started.
const OPEN_QUESTIONS: u32 = 10;

/// A reachable state that satisfies the goal.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) state: Vec<u64>,
    /// Actions that lead to it, by number.
    pub(super) steps: Vec<u32>,
}

/// Knowledge about the goal states of a task.
pub(super) struct Closure {
    pub(super) task: Arc<GroundTask>,
    /// Facts that hold in all of them, and facts that hold in none; both proved.
    pub(super) always: Vec<u64>,
    pub(super) never: Vec<u64>,
    /// True if no other literal holds in all of them.
    pub(super) exact: bool,
    /// True if a goal state is reachable; `None` if that is open.
    pub(super) reachable: Option<bool>,
    /// Goal states that distinguish every fact that is neither in all nor in none of them.
    pub(super) samples: Vec<Sample>,
    /// All goal states; `None` unless they were requested and every reachable state was visited.
    pub(super) all: Option<Vec<Sample>>,
}

/// Returns true if the goal is a conjunction of literals over the task's own predicates.
pub(super) fn is_conjunctive(task: &GroundTask) -> bool {
    let goal = &task.goal;
    goal.numeric.is_empty()
        && goal.positive.iter().chain(goal.negative.iter()).all(|&f| Closure::is_visible(task, f))
}

impl Closure {
    /// Computes the closure as far as the limits allow; with `list`, all goal states too.
    pub(super) fn find(
        task: Arc<GroundTask>,
        list: bool,
        limits: &GoalLimits,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, StopReason> {
        let mut finder = Finder::new(task, list, limits, resources);
        finder.run()?;
        Ok(finder.closure())
    }

    /// Returns true if a fact is an atom of the problem, not an auxiliary fact for a part of a formula.
    pub(super) fn is_visible(task: &GroundTask, fact: Fact) -> bool {
        let predicate = task.facts[fact as usize].predicate as usize;
        !task.symbols.predicates[predicate].starts_with('@')
    }

    /// The literals that are proved, positive ones first; without those of the goal itself where `added` is set.
    pub(super) fn literals(&self, added: bool) -> Vec<(Fact, bool)> {
        let goal = |fact: &Fact, sign: bool| match sign {
            true => self.task.goal.positive.contains(fact),
            false => self.task.goal.negative.contains(fact),
        };
        let list = |facts: &[u64], sign: bool| -> Vec<(Fact, bool)> {
            (0..self.task.facts.len() as Fact)
                .filter(|&f| bits::get(facts, f) && Self::is_visible(&self.task, f))
                .filter(|f| !added || !goal(f, sign))
                .map(|f| (f, sign))
                .collect()
        };
        [list(&self.always, true), list(&self.never, false)].concat()
    }
}

/// Common facts of the goal states found so far.
struct SeenStates {
    /// In all of them, in none of them.
    in_all: Vec<u64>,
    in_none: Vec<u64>,
    samples: Vec<Sample>,
    /// True if a goal state was found.
    any: bool,
}

impl SeenStates {
    /// Notes a goal state; it is kept where it rules out anything.
    fn note(&mut self, state: &[u64], sample: impl FnOnce() -> Sample) {
        let mut new = !std::mem::replace(&mut self.any, true);
        for ((all, none), word) in self.in_all.iter_mut().zip(&mut self.in_none).zip(state) {
            new |= (*all & !word) != 0 || (*none & word) != 0;
            *all &= word;
            *none &= !word;
        }
        if new {
            self.samples.push(sample());
        }
    }
}

struct Finder<'l, 'b> {
    limits: &'l GoalLimits,
    resources: &'b mut dyn ResourceLimits,
    task: Arc<GroundTask>,
    /// Proved: in all goal states, in none.
    always: Vec<u64>,
    never: Vec<u64>,
    seen: SeenStates,
    /// Proved: there is none.
    unreachable: bool,
    all: Option<Vec<Sample>>,
    /// True if all goal states are requested.
    list: bool,
}

impl<'l, 'b> Finder<'l, 'b> {
    fn new(
        task: Arc<GroundTask>,
        list: bool,
        limits: &'l GoalLimits,
        resources: &'b mut dyn ResourceLimits,
    ) -> Self {
        let words = task.words();
        let mut visible = vec![0; words];
        (0..task.facts.len() as Fact)
            .filter(|&f| Closure::is_visible(&task, f))
            .for_each(|f| bits::set(&mut visible, f));
        let (mut always, mut never) = (vec![0; words], vec![0; words]);
        let goal = &task.goal;
        goal.positive.iter().for_each(|&f| bits::set(&mut always, f));
        goal.negative.iter().for_each(|&f| bits::set(&mut never, f));
        let seen = SeenStates { in_all: visible.clone(), in_none: visible, samples: Vec::new(), any: false };
        let unreachable = task.goal_unreachable;
        Self { limits, resources, always, never, seen, unreachable, all: None, list, task }
    }

    fn closure(self) -> Closure {
        Closure {
            exact: self.is_exact(),
            always: self.always,
            never: self.never,
            reachable: if self.unreachable { Some(false) } else { self.seen.any.then_some(true) },
            samples: self.seen.samples,
            all: self.all,
            task: self.task,
        }
    }

    fn run(&mut self) -> Result<(), StopReason> {
        if self.unreachable || self.explore(None, FIRST_STATES.min(self.limits.max_states))? {
            return Ok(());
        }
        self.prove_invariants()?;
        if !self.seen.any && !self.unreachable {
            self.ask(None)?;
        }
        if self.seen.any {
            self.prove_invariants()?;
            self.ask_all()?;
        }
        if (!self.is_exact() || (self.list && !self.unreachable)) && self.limits.max_states > FIRST_STATES {
            self.explore(None, self.limits.max_states)?;
        }
        Ok(())
    }

    fn is_exact(&self) -> bool {
        self.unreachable || (self.seen.any && self.open().next().is_none())
    }

    /// Literals that hold in all goal states found and are not proved.
    fn open(&self) -> impl Iterator<Item = (Fact, bool)> + '_ {
        let list = |found: &[u64], proved: &[u64], sign: bool| {
            let left: Vec<u64> = found.iter().zip(proved).map(|(f, p)| f & !p).collect();
            bits::ones(&left).map(|fact| (fact, sign)).collect::<Vec<_>>()
        };
        let positive = list(&self.seen.in_all, &self.always, true);
        positive.into_iter().chain(list(&self.seen.in_none, &self.never, false))
    }

    /// Visits at most `max_states` states reachable from a state (by default the initial one). Returns true
    /// if these are all reachable states of the task, so that all goal states are known.
    fn explore(&mut self, from: Option<&Sample>, max_states: u64) -> Result<bool, StopReason> {
        let task = Arc::clone(&self.task);
        let space = Space::new(&task, None);
        let mut table = space.table();
        let initial = from.map_or_else(|| space.initial(), |sample| sample.state.clone());
        table.insert(&initial, NONE, NONE);
        let mut watch = LimitWatch::new(&mut *self.resources, max_states);
        let (mut state, mut next, mut operators) = (Vec::new(), Vec::new(), Vec::new());
        let (mut current, mut goals) = (0, Vec::new());
        while (current as usize) < table.len() {
            match watch.tick(table.len(), table.bytes_per_state()) {
                // The limit ends the exploration only; what it found stays.
                Err(StopReason::Nodes) => return Ok(false),
                other => other?,
            }
            state.clear();
            state.extend_from_slice(table.state(current));
            if space.is_goal(&state) {
                self.seen.note(&state, || sample(&task, &table, current, from));
                goals.push(current);
            }
            space.applicable(&state, &mut operators);
            for &operator in &operators {
                space.apply(&state, operator, &mut next);
                table.insert(&next, current, operator);
            }
            current += 1;
        }
        if from.is_some() {
            return Ok(false);
        }
        if goals.is_empty() {
            self.unreachable = true;
        } else {
            self.always.clone_from(&self.seen.in_all);
            self.never.clone_from(&self.seen.in_none);
        }
        if self.list && goals.len() * task.words() <= MAX_KEPT_WORDS {
            self.all = Some(goals.into_iter().map(|id| sample(&task, &table, id, None)).collect());
        }
        Ok(true)
    }

    /// Literals that invariants prove.
    fn prove_invariants(&mut self) -> Result<(), StopReason> {
        let task = Arc::clone(&self.task);
        let initial = Space::new(&task, None).initial();
        let mut watch = LimitWatch::new(&mut *self.resources, u64::MAX);
        let Some(pairs) = ReachablePairs::find(&task, &initial, &mut watch)? else { return Ok(()) };
        let mut known = ProvedLiterals { always: &mut self.always, never: &mut self.never };
        prove(&task, &pairs, &initial, &self.seen.in_all, &mut known, &mut watch)?;
        // No state has a fact and has it not.
        self.unreachable |= self.always.iter().zip(&self.never).any(|(a, n)| a & n != 0);
        Ok(())
    }

    /// Searches for a goal state in which a literal does not hold (for any, without a literal); whether the answer is known.
    fn ask(&mut self, literal: Option<(Fact, bool)>) -> Result<bool, StopReason> {
        let mut task = (*self.task).clone();
        if let Some((fact, holds)) = literal {
            let goal = &mut task.goal;
            let side = if holds { &mut goal.negative } else { &mut goal.positive };
            let mut facts = side.to_vec();
            facts.push(fact);
            facts.sort_unstable();
            *side = facts.into();
        }
        // Without any goal state nothing else is worth asking.
        let max_nodes = match literal {
            Some(_) => self.limits.max_nodes,
            None => self.limits.max_nodes.max(self.limits.max_states),
        };
        let found = run_search(&task, Algorithm::Greedy, max_nodes, self.resources);
        match &found.outcome {
            Outcome::Stopped(StopReason::Nodes) => return Ok(false),
            Outcome::Stopped(reason) => return Err(*reason),
            Outcome::Unsolvable => match literal {
                None => self.unreachable = true,
                Some((fact, true)) => bits::set(&mut self.always, fact),
                Some((fact, false)) => bits::set(&mut self.never, fact),
            },
            Outcome::Plan(plan) => {
                let simulator = Simulator::new(Arc::clone(&self.task));
                let mut state = simulator.initial();
                let steps: Vec<u32> = plan.iter().map(|&o| found.task_action(o) as u32).collect();
                // A plan that does not do what it was searched for proves nothing.
                let executed = steps.iter().all(|&step| simulator.apply(&mut state, step));
                if !executed || !simulator.is_goal(&state) {
                    return Ok(false);
                }
                let sample = Sample { state: state.bits().to_vec(), steps };
                self.seen.note(&sample.state, || sample.clone());
                self.explore(Some(&sample), NEARBY_STATES)?;
            }
        }
        Ok(true)
    }

    /// Searches for a counterexample of every open literal.
    fn ask_all(&mut self) -> Result<(), StopReason> {
        let mut unanswered = 0;
        let mut asked: Vec<(Fact, bool)> = Vec::new();
        while unanswered < OPEN_QUESTIONS && (asked.len() as u32) < self.limits.max_questions {
            let next = self.open().find(|literal| !asked.contains(literal));
            let Some(literal) = next else { return Ok(()) };
            asked.push(literal);
            unanswered += u32::from(!self.ask(Some(literal))?);
        }
        Ok(())
    }
}

/// Most machine words of goal states that are kept whole.
const MAX_KEPT_WORDS: usize = 4_000_000;

/// A state of the table with the way to it.
fn sample(task: &GroundTask, table: &NodeTable, id: u32, from: Option<&Sample>) -> Sample {
    let mut steps: Vec<u32> = from.map(|s| s.steps.clone()).unwrap_or_default();
    steps.extend(table.path(id).iter().map(|&o| task.operators[o as usize].action));
    Sample { state: table.state(id).to_vec(), steps }
}

/// Operators examined to show that one fact of a set always holds.
const MAX_LOOKS: u32 = 20_000;

/// Facts known to hold in every goal state, and in none.
struct ProvedLiterals<'k> {
    pub(super) always: &'k mut [u64],
    pub(super) never: &'k mut [u64],
}

/// Adds the consequences of the proved literals until nothing more follows. Of positive literals, those in
/// `wanted` are tried.
///
/// * A fact that never holds together with one that always does is in no goal state.
/// * One fact of a set always holds: one holds initially, and every operator that deletes one adds one, or needs one that it keeps.
///   If all others of such a set are in no goal state, the last one is in every goal state.
fn prove(
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
