//! Pairs of literals: those that can hold together in a reachable state (h², forward), and those that can hold
//! together in a reachable state that still leads to the goal (backward). Operators that need an impossible
//! pair are useless. A state with a pair that cannot lead to the goal is a dead end. Delete relaxation
//! detects no such dead ends.
//!
//! The literals are the facts by their numbers, then the negations of the facts that some condition needs to be false.

use super::packing::Packing;
use crate::bits;
use crate::resources::{LimitWatch, StopReason};
use crate::task::{Condition, Fact, GroundTask, Operator};
use std::sync::Arc;

/// Word operations that computing the pairs may cost, about.
const MAX_WORK: u64 = 300_000_000;
/// Conditional effects of an operator that are compared with each other.
const MAX_CONDITIONAL: usize = 64;
/// Rounds assumed for that estimate.
const ROUNDS: u64 = 12;

/// The number of a negation that no condition needs.
const NONE: u32 = u32::MAX;

/// Numbers of literals.
struct Literals {
    facts: usize,
    /// Facts with a negation, in the order of its number.
    negated: Vec<Fact>,
    /// By fact: the number of its negation, or [`NONE`].
    negation: Vec<u32>,
}

impl Literals {
    /// Negations are left out if the pairs would take too long with them. `None` where the task has axioms or pairs of facts alone
    /// take too long.
    fn new(task: &GroundTask) -> Option<Self> {
        let facts = task.facts.len();
        let mut literals = Literals { facts, negated: Vec::new(), negation: vec![NONE; facts] };
        if !task.axioms.is_empty() || literals.work(task) > MAX_WORK {
            return None;
        }
        let of_operator = |o: &'_ Operator| {
            let conditional = o.conditional.iter().flat_map(|c| c.condition.negative.iter());
            o.precondition.negative.iter().chain(conditional).copied().collect::<Vec<_>>()
        };
        let mut negated: Vec<Fact> = task.operators.iter().flat_map(of_operator).collect();
        negated.extend(task.goal.negative.iter());
        negated.sort_unstable();
        negated.dedup();
        literals.negated = negated;
        if literals.work(task) > MAX_WORK {
            literals.negated.clear();
        }
        for (n, &fact) in literals.negated.iter().enumerate() {
            literals.negation[fact as usize] = (facts + n) as u32;
        }
        Some(literals)
    }

    fn count(&self) -> usize {
        self.facts + self.negated.len()
    }

    /// Word operations that the pairs cost, about.
    fn work(&self, task: &GroundTask) -> u64 {
        let of = |c: &Condition| 4 + c.positive.len() + c.negative.len();
        let size = |o: &Operator| {
            of(&o.precondition)
                + o.conditional.iter().map(|c| of(&c.condition) + of(&o.precondition)).sum::<usize>()
        };
        let literals: u64 = task.operators.iter().map(|o| size(o) as u64).sum();
        literals * bits::words_for(self.count()) as u64 * ROUNDS
    }

    /// The numbers of the negations of facts, where they have one.
    fn negations<'a>(&'a self, facts: &'a [Fact]) -> impl Iterator<Item = u32> + 'a {
        facts.iter().map(|&f| self.negation[f as usize]).filter(|&n| n != NONE)
    }

    /// The literals of a condition.
    fn of<'a>(&'a self, condition: &'a Condition) -> impl Iterator<Item = u32> + 'a {
        condition.positive.iter().copied().chain(self.negations(&condition.negative))
    }

    /// The literals that hold in a state.
    fn of_state(&self, state: &[u64]) -> Vec<u64> {
        let mut literals = state.to_vec();
        literals.resize(bits::words_for(self.count()), 0);
        for (n, &fact) in self.negated.iter().enumerate() {
            if !bits::get(state, fact) {
                bits::set(&mut literals, (self.facts + n) as u32);
            }
        }
        literals
    }
}

/// A symmetric relation on literals, as bit rows.
#[derive(Clone)]
struct Pairs {
    words: usize,
    rows: Vec<u64>,
}

impl Pairs {
    fn new(facts: usize) -> Self {
        let words = bits::words_for(facts);
        Pairs { words, rows: vec![0; words * facts] }
    }

    fn count(&self) -> u32 {
        (self.rows.len() / self.words) as u32
    }

    #[inline]
    fn row(&self, fact: Fact) -> &[u64] {
        let start = fact as usize * self.words;
        &self.rows[start..start + self.words]
    }

    fn has(&self, a: Fact, b: Fact) -> bool {
        bits::get(self.row(a), b)
    }

    fn all(&self, facts: &[Fact]) -> bool {
        facts.iter().enumerate().all(|(i, &a)| facts[i..].iter().all(|&b| self.has(a, b)))
    }

    /// Relates `fact` to every fact of `set`; whether anything was new.
    fn add(&mut self, fact: Fact, set: &[u64]) -> bool {
        let start = fact as usize * self.words;
        let mut changed = false;
        for (w, wanted) in set.iter().enumerate().take(self.words) {
            let mut fresh = wanted & !self.rows[start + w];
            if fresh == 0 {
                continue;
            }
            changed = true;
            self.rows[start + w] |= fresh;
            while fresh != 0 {
                let other = (w as u32) << 6 | fresh.trailing_zeros();
                fresh &= fresh - 1;
                let row = other as usize * self.words;
                bits::set(&mut self.rows[row..row + self.words], fact);
            }
        }
        changed
    }
}

/// What a conditional effect adds.
struct Guarded {
    /// The precondition and the condition.
    condition: Box<[u32]>,
    add: Box<[u32]>,
    /// Facts that are certainly deleted where the effect takes place.
    delete: Box<[u32]>,
}

/// An operator's part that both passes use.
struct Shape {
    pre: Box<[Fact]>,
    /// Facts that are certainly added.
    add: Box<[Fact]>,
    /// Added under some condition.
    may_add: Vec<Guarded>,
    /// Facts that are certainly deleted.
    delete: Box<[Fact]>,
    /// Facts that may be deleted.
    may_delete: Box<[Fact]>,
    /// Facts that certainly hold afterwards.
    after: Box<[Fact]>,
}

/// The pairs of literals that can hold together in a reachable state, as far as pairs tell (forward only).
pub(crate) struct ReachablePairs {
    pairs: Pairs,
    literals: Literals,
}

impl ReachablePairs {
    /// Computes the pairs; `None` where the task has axioms or is too large.
    pub(crate) fn find(
        task: &GroundTask,
        initial: &[u64],
        watch: &mut LimitWatch<'_>,
    ) -> Result<Option<Self>, StopReason> {
        let Some(literals) = Literals::new(task) else { return Ok(None) };
        watch.charge(8 * (bits::words_for(literals.count()) * literals.count()) as u64)?;
        let shapes: Vec<Shape> = task.operators.iter().map(|o| Shape::new(o, &literals)).collect();
        let pairs = forward(&literals, &shapes, initial, watch)?;
        Ok(Some(Self { pairs, literals }))
    }

    /// Returns false if the pairs prove that the literals cannot hold together.
    pub(crate) fn together(&self, literals: &[u32]) -> bool {
        self.pairs.all(literals)
    }

    /// Returns the literals that can hold together with a fact, as bits.
    pub(crate) fn beside(&self, fact: Fact) -> &[u64] {
        self.pairs.row(fact)
    }

    /// The literals of a condition.
    pub(crate) fn literals(&self, condition: &Condition) -> Vec<u32> {
        self.literals.of(condition).collect()
    }

    /// The fact of a literal, and true if the literal is its negation.
    pub(crate) fn fact(&self, literal: u32) -> (Fact, bool) {
        match (literal as usize).checked_sub(self.literals.facts) {
            Some(n) => (self.literals.negated[n], true),
            None => (literal, false),
        }
    }

    /// The number of the negation of a fact, if some condition needs it.
    pub(crate) fn negation(&self, fact: Fact) -> Option<u32> {
        Some(self.literals.negation[fact as usize]).filter(|&n| n != NONE)
    }

    /// Number of literals.
    pub(crate) fn count(&self) -> usize {
        self.literals.count()
    }
}

/// The pairs of a task without axioms.
pub(crate) struct Mutexes {
    /// Pairs of reachable states that lead to the goal.
    useful: Pairs,
    /// True for each operator that can be part of a plan.
    is_useful: Vec<bool>,
    literals: Literals,
    /// False if the goal needs a pair that no reachable state has.
    goal_is_possible: bool,
    /// Places of facts in packed states, where that makes them smaller.
    packing: Option<Arc<Packing>>,
}

impl Mutexes {
    /// Computes the pairs; `None` where the task has axioms or is too large.
    pub(crate) fn find(
        task: &GroundTask,
        initial: &[u64],
        watch: &mut LimitWatch<'_>,
    ) -> Result<Option<Self>, StopReason> {
        let Some(literals) = Literals::new(task) else { return Ok(None) };
        watch.charge(16 * (bits::words_for(literals.count()) * literals.count()) as u64)?;
        let shapes: Vec<Shape> = task.operators.iter().map(|o| Shape::new(o, &literals)).collect();
        let reachable = forward(&literals, &shapes, initial, watch)?;
        let goal: Vec<u32> = literals.of(&task.goal).collect();
        let useful = backward(&goal, &shapes, &reachable, watch)?;
        let is_useful = shapes.iter().map(|s| useful.all(&s.pre) && useful.all(&s.after)).collect();
        let packing = Packing::new(literals.facts, |fact| reachable.row(fact), watch)?.map(Arc::new);
        let goal_is_possible = reachable.all(&goal);
        Ok(Some(Mutexes { useful, is_useful, literals, goal_is_possible, packing }))
    }

    pub(super) fn packing(&self) -> Option<&Arc<Packing>> {
        self.packing.as_ref()
    }

    /// Returns true if an operator can be part of a plan.
    pub(crate) fn is_useful(&self, operator: usize) -> bool {
        self.is_useful[operator]
    }

    /// Returns true if no state that leads to the goal has both facts.
    pub(crate) fn excludes(&self, a: Fact, b: Fact) -> bool {
        !self.useful.has(a, b)
    }

    /// Returns true if a state has a pair that cannot lead to the goal.
    #[inline]
    pub(crate) fn is_dead_end(&self, state: &[u64]) -> bool {
        if self.literals.negated.is_empty() {
            return !self.goal_is_possible || self.has_dead_pair(state);
        }
        !self.goal_is_possible || self.has_dead_pair(&self.literals.of_state(state))
    }

    #[inline]
    fn has_dead_pair(&self, literals: &[u64]) -> bool {
        bits::ones(literals).any(|l| literals.iter().zip(self.useful.row(l)).any(|(s, r)| s & !r != 0))
    }
}

impl Shape {
    fn new(operator: &Operator, literals: &Literals) -> Self {
        let pre: Vec<u32> = literals.of(&operator.precondition).collect();
        let conditional = &operator.conditional;
        let with_negations = |made: &[Fact], unmade: &[Fact]| -> Box<[u32]> {
            made.iter().copied().chain(literals.negations(unmade)).collect()
        };
        let add = with_negations(&operator.add, &operator.delete);
        // A conditional delete is certain if its condition is known to hold, or is only that the fact holds.
        let deleted_under = |known: &[u32]| -> Box<[u32]> {
            let mut delete = with_negations(&operator.delete, &operator.add).into_vec();
            for c in conditional.iter().filter(|_| conditional.len() <= MAX_CONDITIONAL) {
                let holds = |f: &Fact| literals.of(&c.condition).all(|l| l == *f || known.contains(&l));
                let is_kept =
                    |f: &Fact| operator.add.contains(f) || conditional.iter().any(|c| c.add.contains(f));
                let has_all = c.condition.numeric.is_empty()
                    && literals.of(&c.condition).count()
                        == c.condition.positive.len() + c.condition.negative.len();
                delete.extend(c.delete.iter().filter(|f| has_all && holds(f) && !is_kept(f)));
            }
            delete.into()
        };
        let delete = deleted_under(&pre);
        let mut may_delete = delete.to_vec();
        let mut may_add = Vec::new();
        for c in conditional.iter() {
            may_delete.extend(with_negations(&c.delete, &c.add));
            let condition: Box<[u32]> = pre.iter().copied().chain(literals.of(&c.condition)).collect();
            let delete = deleted_under(&condition);
            may_add.push(Guarded { condition, add: with_negations(&c.add, &c.delete), delete });
        }
        // An unconditional add wins against every delete; that of a conditional effect may undo a certain delete.
        let is_certain = |l: u32| (l as usize) < literals.facts || !may_delete.contains(&l);
        let mut after: Vec<u32> = pre.iter().copied().filter(|l| !may_delete.contains(l)).collect();
        after.extend(add.iter().copied().filter(|&l| is_certain(l)));
        after.sort_unstable();
        after.dedup();
        Shape { pre: pre.into(), add, may_add, delete, may_delete: may_delete.into(), after: after.into() }
    }
}

/// Facts that can hold together with all of `facts`.
fn compatible(pairs: &Pairs, facts: &[Fact], set: &mut [u64]) {
    set.fill(u64::MAX);
    for &fact in facts {
        set.iter_mut().zip(pairs.row(fact)).for_each(|(s, r)| *s &= r);
    }
}

/// Pairs that can hold together in a reachable state, as far as pairs tell.
fn forward(
    literals: &Literals,
    shapes: &[Shape],
    initial: &[u64],
    watch: &mut LimitWatch<'_>,
) -> Result<Pairs, StopReason> {
    let mut pairs = Pairs::new(literals.count());
    let initial = literals.of_state(initial);
    bits::ones(&initial).for_each(|f| {
        pairs.add(f, &initial);
    });
    let mut known = vec![0u64; pairs.words];
    let mut set = vec![0u64; pairs.words];
    loop {
        let mut changed = false;
        known.fill(0);
        (0..literals.count() as u32).filter(|&l| pairs.has(l, l)).for_each(|l| bits::set(&mut known, l));
        for shape in shapes {
            if !pairs.all(&shape.pre) {
                continue;
            }
            compatible(&pairs, &shape.pre, &mut set);
            set.iter_mut().zip(&known).for_each(|(s, k)| *s &= k);
            shape.delete.iter().for_each(|&f| bits::clear(&mut set, f));
            shape.add.iter().for_each(|&f| bits::set(&mut set, f));
            for &fact in &shape.add {
                changed |= pairs.add(fact, &set);
            }
            // A conditional effect may take place together with all others.
            for effect in shape.may_add.iter().filter(|e| pairs.all(&e.condition)).collect::<Vec<_>>() {
                compatible(&pairs, &effect.condition, &mut set);
                set.iter_mut().zip(&known).for_each(|(s, k)| *s &= k);
                effect.delete.iter().for_each(|&f| bits::clear(&mut set, f));
                shape.add.iter().for_each(|&f| bits::set(&mut set, f));
                shape.may_add.iter().flat_map(|m| m.add.iter()).for_each(|&f| bits::set(&mut set, f));
                for &fact in &effect.add {
                    changed |= pairs.add(fact, &set);
                }
            }
        }
        watch.poll()?;
        if !changed {
            return Ok(pairs);
        }
    }
}

/// Pairs of reachable states from which the goal can be reached, as far as pairs tell.
fn backward(
    goal: &[u32],
    shapes: &[Shape],
    reachable: &Pairs,
    watch: &mut LimitWatch<'_>,
) -> Result<Pairs, StopReason> {
    let last = reachable.count();
    let mut pairs = Pairs::new(last as usize);
    let mut set = vec![0u64; pairs.words];
    if reachable.all(goal) {
        compatible(reachable, goal, &mut set);
    }
    let goal_states: Vec<Fact> = bits::ones(&set).filter(|&f| f < last).collect();
    let mut beside = vec![0u64; pairs.words];
    for &fact in &goal_states {
        beside.iter_mut().zip(&set).zip(reachable.row(fact)).for_each(|((b, s), r)| *b = s & r);
        pairs.add(fact, &beside);
    }
    loop {
        let mut changed = false;
        for shape in shapes {
            if !pairs.all(&shape.after) || !reachable.all(&shape.pre) {
                continue;
            }
            // What may stay beside the facts that hold afterwards; what the operator deletes may have been there too.
            compatible(&pairs, &shape.after, &mut set);
            shape.may_delete.iter().for_each(|&f| bits::set(&mut set, f));
            for &fact in &shape.pre {
                set.iter_mut().zip(reachable.row(fact)).for_each(|(s, r)| *s &= r);
            }
            for &fact in &shape.may_delete {
                if !bits::get(&set, fact) {
                    continue;
                }
                beside.iter_mut().zip(&set).zip(reachable.row(fact)).for_each(|((b, s), r)| *b = s & r);
                changed |= pairs.add(fact, &beside);
            }
        }
        watch.poll()?;
        if !changed {
            return Ok(pairs);
        }
    }
}
