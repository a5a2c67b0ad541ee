//! Judges one renaming: by the ground tasks, or by a search over pairs of states.
//!
//! Ground actions of both sides get common keys. Two ground tasks are the same if every key has the same conditions on both sides,
//! where facts are told by how they change: by their initial value and the keys that make them true and false. Otherwise pairs of
//! states are searched breadth first, as in [`super::super::domains`], but for one shortest difference in each direction.

use super::Mapping;
use super::side::{Side, packed};
use crate::equivalence::domains::SearchEnd;
use crate::resources::{ResourceLimits, ScopedLimits, StopReason, check};
use crate::search::{NodeTable, StateId};
use crate::simulate::State;
use crate::task::{Condition, Fact};
use planforge_pddl::Number;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Pairs expanded between two polls of the resource limits.
const POLL: usize = 32;
/// Most further pairs that are searched for the second direction once the first difference is known.
const FURTHER_PAIRS: u64 = 100_000;
/// Marks a ground action without a key, and the initial state's action.
const NONE: u32 = u32::MAX;

/// Schema and arguments in the numbers of the first side; what only the second has is numbered after them.
type Key = (u32, SmallVec<[u32; 4]>);

/// Common numbers of the ground actions of both sides.
pub(super) struct Keys {
    /// By side and ground action.
    pub(super) of: [Vec<u32>; 2],
    /// How many there are.
    pub(super) count: usize,
}

impl Keys {
    pub(super) fn new(sides: [&Side; 2], mapping: &Mapping) -> Self {
        let objects = sides[0].objects().len() as u32;
        let mut back: Vec<u32> = (0..sides[1].objects().len() as u32).map(|o| objects + o).collect();
        for (first, second) in mapping.objects.iter().enumerate() {
            if let Some(second) = second {
                back[*second as usize] = first as u32;
            }
        }
        let mut all: [Vec<(u32, Key)>; 2] = [Vec::new(), Vec::new()];
        let mut partner = vec![None; sides[1].by_schema.len()];
        for (schema, pair) in mapping.schemas.iter().enumerate() {
            if let Some(pair) = pair {
                partner[pair.second] = Some((schema as u32, &pair.parameters));
            }
            for &action in &sides[0].by_schema[schema] {
                let args = &sides[0].action(action).args;
                let key = match pair {
                    Some(pair) => pair.parameters.iter().map(|&(first, _)| args[first]).collect(),
                    None => args.iter().copied().collect(),
                };
                all[0].push((action, (schema as u32, key)));
            }
        }
        for (schema, list) in sides[1].by_schema.iter().enumerate() {
            for &action in list {
                let args = &sides[1].action(action).args;
                let key = match partner[schema] {
                    Some((first, parameters)) => {
                        (first, parameters.iter().map(|&(_, place)| back[args[place] as usize]).collect())
                    }
                    None => (
                        (sides[0].by_schema.len() + schema) as u32,
                        args.iter().map(|&o| back[o as usize]).collect(),
                    ),
                };
                all[1].push((action, key));
            }
        }
        let mut sorted: Vec<&Key> = all.iter().flatten().map(|(_, key)| key).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let numbers: FxHashMap<&Key, u32> = sorted.iter().copied().zip(0..).collect();
        let of = [0, 1].map(|side: usize| {
            let mut of = vec![NONE; sides[side].task().actions.len()];
            all[side].iter().for_each(|(action, key)| of[*action as usize] = numbers[key]);
            of
        });
        Keys { of, count: sorted.len() }
    }

    /// Ground actions of the first side whose key the second has, and those that have equal features as well.
    pub(super) fn shared(&self, features: [&[u64]; 2]) -> (usize, usize) {
        let mut second: FxHashMap<u32, u64> = FxHashMap::default();
        for (&key, &feature) in self.of[1].iter().zip(features[1]) {
            if key != NONE {
                second.insert(key, feature);
            }
        }
        let mut shared = (0, 0);
        for (&key, &feature) in self.of[0].iter().zip(features[0]) {
            if let Some(&other) = second.get(&key) {
                shared.0 += 1;
                shared.1 += usize::from(other == feature);
            }
        }
        shared
    }

    /// Returns true if every ground action of either side has a partner.
    pub(super) fn all_have_partners(&self) -> bool {
        let used = self.of.each_ref().map(|keys| {
            let mut used = vec![false; self.count];
            keys.iter().filter(|&&key| key != NONE).for_each(|&key| used[key as usize] = true);
            used
        });
        used.iter().flatten().all(|used| *used)
    }
}

/// A fact that holds initially, or the opposite of one that does not: the keys that make it true and those that make it false.
type Change = (Vec<u32>, Vec<u32>);
/// Number of a change, and false where the fact is its opposite.
type Literal = (u32, bool);

/// A ground task under common keys.
#[derive(PartialEq, Eq)]
struct TaskForm {
    /// By key, the precondition.
    conditions: Vec<Option<Vec<Literal>>>,
    /// `None` if it cannot be reached.
    goal: Option<Vec<Literal>>,
}

/// Returns true if both ground tasks are the same under the keys. Sound, but incomplete; false for tasks with conditional effects,
/// axioms, numbers or disjunctions.
pub(super) fn same_task(sides: [&Side; 2], keys: &Keys) -> bool {
    let mut numbers: FxHashMap<Change, u32> = FxHashMap::default();
    let [Some(a), Some(b)] =
        [0, 1].map(|side: usize| task_form(sides[side], &keys.of[side], keys.count, &mut numbers))
    else {
        return false;
    };
    a == b
}

/// `None` for a task that is not of the simple form.
fn task_form(
    side: &Side,
    keys: &[u32],
    count: usize,
    numbers: &mut FxHashMap<Change, u32>,
) -> Option<TaskForm> {
    let task = side.task();
    if !task.axioms.is_empty() || !task.goal.numeric.is_empty() {
        return None;
    }
    let mut changes: Vec<Change> = vec![(Vec::new(), Vec::new()); task.facts.len()];
    let mut initial = vec![false; task.facts.len()];
    task.init.iter().for_each(|&f| initial[f as usize] = true);
    let mut seen = vec![false; count];
    for operator in &task.operators {
        let key = keys[operator.action as usize];
        if key == NONE {
            continue;
        }
        let simple = operator.conditional.is_empty()
            && operator.numeric.is_empty()
            && operator.precondition.numeric.is_empty()
            && !operator.partial;
        if !simple || std::mem::replace(&mut seen[key as usize], true) {
            return None;
        }
        let holds = |list: &[Fact], fact: &Fact| list.binary_search(fact).is_ok();
        for fact in operator.add.iter().filter(|f| !holds(&operator.precondition.positive, f)) {
            changes[*fact as usize].0.push(key);
        }
        for fact in operator.delete.iter().filter(|f| !holds(&operator.precondition.negative, f)) {
            changes[*fact as usize].1.push(key);
        }
    }
    let constant = (Vec::new(), Vec::new());
    let literals: Vec<Literal> = changes
        .into_iter()
        .zip(&initial)
        .map(|((mut add, mut delete), &holds)| {
            add.sort_unstable();
            delete.sort_unstable();
            let change = if holds { (add, delete) } else { (delete, add) };
            let fresh = numbers.len() as u32;
            (*numbers.entry(change).or_insert(fresh), holds)
        })
        .collect();
    let always = numbers.get(&constant).map(|&number| (number, true));
    let form = |condition: &Condition| {
        let positive = condition.positive.iter().map(|&f| literals[f as usize]);
        let negative = condition.negative.iter().map(|&f| literals[f as usize]).map(|(n, p)| (n, !p));
        let mut list: Vec<Literal> =
            positive.chain(negative).filter(|literal| Some(*literal) != always).collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    let mut conditions = vec![None; count];
    for operator in &task.operators {
        let key = keys[operator.action as usize];
        if key != NONE {
            conditions[key as usize] = Some(form(&operator.precondition));
        }
    }
    Some(TaskForm { conditions, goal: (!task.goal_unreachable).then(|| form(&task.goal)) })
}

/// A sequence that only one side allows, or after which only one goal holds.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Steps that both execute, as ground actions of each.
    pub(super) steps: Vec<[u32; 2]>,
    /// The ground action that only one side allows after them; `None` if the goal holds on one side only.
    pub(super) last: Option<u32>,
}

impl Found {
    /// Number of steps.
    pub(super) fn len(&self) -> usize {
        self.steps.len() + usize::from(self.last.is_some())
    }
}

/// Reason why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Every pair was expanded.
    Whole,
    /// What was wanted was found.
    Found,
    /// A limit.
    Limit(SearchEnd),
    /// A state allows two ground actions of one key.
    Ambiguous,
}

/// Result of a search.
pub(super) struct Judged {
    /// Shortest sequence that only the first and only the second allows.
    pub(super) only: [Option<Found>; 2],
    pub(super) end: End,
    /// All sequences of this many steps were tried.
    pub(super) compared: u32,
    pub(super) pairs: u64,
}

impl Judged {
    /// Length of the shortest difference.
    pub(super) fn shortest(&self) -> Option<usize> {
        self.only.iter().flatten().map(Found::len).min()
    }
}

/// What a search looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The first difference.
    Any,
    /// One difference in each direction.
    Both,
}

struct Product<'s> {
    sides: [&'s Side; 2],
    keys: &'s Keys,
    table: NodeTable,
    widths: [usize; 2],
    now: [State; 2],
    /// Applicable ground actions with their keys, ascending.
    lists: [Vec<(u32, u32)>; 2],
    own: Vec<u32>,
    /// Words of the pair that is inserted.
    packed: Vec<u64>,
    only: [Option<Found>; 2],
}

/// Searches pairs of states until what is wanted was found, all were visited, or a limit is reached.
pub(super) fn judge(
    sides: [&Side; 2],
    keys: &Keys,
    wanted: Wanted,
    max_pairs: u64,
    max_depth: Option<u32>,
    resources: &mut dyn ResourceLimits,
) -> Judged {
    let now = sides.map(|s| s.simulator.initial());
    let widths = now.each_ref().map(|s| packed(s).len());
    let mut product = Product {
        sides,
        keys,
        table: NodeTable::new(widths[0] + widths[1]),
        widths,
        now,
        lists: [Vec::new(), Vec::new()],
        own: Vec::new(),
        packed: Vec::new(),
        only: [None, None],
    };
    let mut compared = 0;
    let mut scoped = ScopedLimits::new(resources);
    let end = product.run(wanted, max_pairs, max_depth, &mut compared, &mut scoped);
    let end = end.unwrap_or_else(|reason| End::Limit(SearchEnd::Stopped(reason)));
    Judged { only: product.only, end, compared, pairs: product.table.len() as u64 }
}

impl Product<'_> {
    fn run(
        &mut self,
        wanted: Wanted,
        mut max_pairs: u64,
        max_depth: Option<u32>,
        compared: &mut u32,
        resources: &mut dyn ResourceLimits,
    ) -> Result<End, StopReason> {
        let start = [self.now[0].clone(), self.now[1].clone()];
        self.reach(&start, crate::search::NONE, NONE);
        let enough = |only: &[Option<Found>; 2]| match wanted {
            Wanted::Any => only.iter().any(Option::is_some),
            Wanted::Both => only.iter().all(Option::is_some),
        };
        let (mut open, mut layer_end, mut charged) = (0, 1, 0);
        let mut found_at = None;
        while open < self.table.len() {
            if enough(&self.only) {
                return Ok(End::Found);
            }
            if open == layer_end {
                *compared += 1;
                layer_end = self.table.len();
            }
            if max_depth == Some(*compared) {
                return Ok(End::Limit(SearchEnd::Depth));
            }
            if self.only.iter().any(Option::is_some) {
                max_pairs = max_pairs.min(*found_at.get_or_insert(self.table.len() as u64) + FURTHER_PAIRS);
            }
            if self.table.len() as u64 > max_pairs {
                return Ok(End::Limit(SearchEnd::Pairs));
            }
            if open.is_multiple_of(POLL) {
                check(resources.poll())?;
                let fresh = (self.table.len() - charged) as u64;
                check(resources.charge(fresh * self.table.bytes_per_state()))?;
                charged = self.table.len();
            }
            if !self.expand(open as StateId) {
                return Ok(End::Ambiguous);
            }
            open += 1;
        }
        Ok(if enough(&self.only) { End::Found } else { End::Whole })
    }

    /// Tries every action of either side; false if a key is not unique.
    fn expand(&mut self, node: StateId) -> bool {
        self.load(node);
        if !self.list_applicable() {
            return false;
        }
        let lists = std::mem::take(&mut self.lists);
        let (mut i, mut j) = (0, 0);
        let mut next = [self.now[0].clone(), self.now[1].clone()];
        loop {
            let (a, b) = (lists[0].get(i), lists[1].get(j));
            let (key, actions) = match (a, b) {
                (None, None) => break,
                (Some(&(key, a)), Some(&(other, b))) if key == other => (key, [Some(a), Some(b)]),
                (Some(&(key, a)), Some(&(other, _))) if key < other => (key, [Some(a), None]),
                (Some(&(key, a)), None) => (key, [Some(a), None]),
                (_, Some(&(key, b))) => (key, [None, Some(b)]),
            };
            i += usize::from(actions[0].is_some());
            j += usize::from(actions[1].is_some());
            match actions {
                [Some(a), Some(b)] => {
                    for (side, action) in [a, b].into_iter().enumerate() {
                        next[side].clone_from(&self.now[side]);
                        self.sides[side].simulator.apply(&mut next[side], action);
                    }
                    self.reach(&next, node, key);
                }
                [Some(a), None] => self.record(0, node, Some(a)),
                [None, b] => self.record(1, node, b),
            }
        }
        self.lists = lists;
        true
    }

    /// Lists what is applicable in the loaded pair; false if two have one key.
    fn list_applicable(&mut self) -> bool {
        for side in 0..2 {
            self.sides[side].simulator.applicable_into(&self.now[side], &mut self.own);
            let keys = &self.keys.of[side];
            let list = &mut self.lists[side];
            list.clear();
            list.extend(self.own.iter().map(|&a| (keys[a as usize], a)).filter(|l| l.0 != NONE));
            list.sort_unstable();
            if list.windows(2).any(|w| w[0].0 == w[1].0) {
                return false;
            }
        }
        true
    }

    /// Inserts a pair. Records a difference if it is new and one goal holds in it alone.
    fn reach(&mut self, pair: &[State; 2], parent: StateId, key: u32) {
        self.packed.clear();
        for state in pair {
            self.packed.extend_from_slice(&state.facts);
            self.packed.extend(state.numbers.iter().flat_map(|n| n.to_words()));
        }
        let (node, fresh) = self.table.insert(&self.packed, parent, key);
        if fresh {
            let goal = [0, 1].map(|i: usize| self.sides[i].simulator.is_goal(&pair[i]));
            if goal[0] != goal[1] {
                self.record(usize::from(goal[1]), node, None);
            }
        }
    }

    fn record(&mut self, side: usize, node: StateId, last: Option<u32>) {
        // Layers are searched in order, so the first is a shortest.
        if self.only[side].is_none() {
            let steps = self.replay(&self.table.path(node));
            self.only[side] = Some(Found { steps, last });
        }
    }

    /// The ground actions of both sides for a sequence of keys.
    fn replay(&self, path: &[u32]) -> Vec<[u32; 2]> {
        let mut states = self.sides.map(|s| s.simulator.initial());
        let mut steps = Vec::with_capacity(path.len());
        let mut own = Vec::new();
        for key in path {
            let mut step = [NONE; 2];
            for side in 0..2 {
                let simulator = &self.sides[side].simulator;
                simulator.applicable_into(&states[side], &mut own);
                if let Some(&action) = own.iter().find(|&&a| self.keys.of[side][a as usize] == *key) {
                    simulator.apply(&mut states[side], action);
                    step[side] = action;
                }
            }
            steps.push(step);
        }
        steps
    }

    /// Puts a pair of the table into `now`.
    fn load(&mut self, node: StateId) {
        let mut words = self.table.state(node);
        for (state, &width) in self.now.iter_mut().zip(&self.widths) {
            let (own, rest) = words.split_at(width);
            let (facts, numbers) = own.split_at(state.facts.len());
            state.facts.copy_from_slice(facts);
            let numbers = numbers.as_chunks().0;
            state.numbers.iter_mut().zip(numbers).for_each(|(n, words)| *n = Number::from_words(*words));
            words = rest;
        }
    }
}
