//! Pairs of facts: those that can hold together in a reachable state (h², forward), and those that can hold
//! together in a reachable state that still leads to the goal (backward). Operators that need an impossible
//! pair are useless. A state with a pair that cannot lead to the goal is a dead end. Delete relaxation
//! detects no such dead ends.

use crate::bits;
use crate::resources::{LimitWatch, StopReason};
use crate::task::{Condition, Fact, GroundTask};

/// Word operations that computing the pairs may cost, about.
const MAX_WORK: u64 = 300_000_000;
/// Rounds assumed for that estimate.
const ROUNDS: u64 = 12;

/// A symmetric relation on facts, as bit rows.
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

/// A condition and what is added under it.
type Guarded = (Box<[Fact]>, Box<[Fact]>);

/// An operator's part that both passes use.
struct Shape {
    pre: Box<[Fact]>,
    /// Facts that are certainly added.
    add: Box<[Fact]>,
    /// Added under some condition: condition and facts.
    may_add: Vec<Guarded>,
    /// Facts that are certainly deleted.
    delete: Box<[Fact]>,
    /// Facts that may be deleted.
    may_delete: Box<[Fact]>,
    /// Facts that certainly hold afterwards.
    after: Box<[Fact]>,
}

/// The pairs of facts that can hold together in a reachable state, as far as pairs tell (forward only).
pub(crate) struct ReachablePairs(Pairs);

impl ReachablePairs {
    /// Computes the pairs; `None` where the task has axioms or is too large.
    pub(crate) fn find(
        task: &GroundTask,
        initial: &[u64],
        watch: &mut LimitWatch<'_>,
    ) -> Result<Option<Self>, StopReason> {
        if is_too_much(task) {
            return Ok(None);
        }
        watch.charge(8 * bits::words_for(task.facts.len()) as u64 * task.facts.len() as u64)?;
        let shapes: Vec<Shape> = task.operators.iter().map(Shape::new).collect();
        forward(task, &shapes, initial, watch).map(|pairs| Some(Self(pairs)))
    }

    /// Returns false if the pairs prove that the facts cannot hold together.
    pub(crate) fn together(&self, facts: &[Fact]) -> bool {
        self.0.all(facts)
    }

    /// Returns the facts that can hold together with a fact, as bits.
    pub(crate) fn beside(&self, fact: Fact) -> &[u64] {
        self.0.row(fact)
    }
}

/// Returns true if pairs do not apply to the task or would take too long.
fn is_too_much(task: &GroundTask) -> bool {
    let words = bits::words_for(task.facts.len()) as u64;
    let literals: u64 = task.operators.iter().map(|o| 4 + o.precondition.positive.len() as u64).sum();
    !task.axioms.is_empty() || literals * words * ROUNDS > MAX_WORK
}

/// The pairs of a task without axioms.
pub(crate) struct Mutexes {
    /// Pairs of reachable states that lead to the goal.
    useful: Pairs,
    shapes: Vec<Shape>,
}

impl Mutexes {
    /// Computes the pairs; `None` where the task has axioms or is too large.
    pub(crate) fn find(
        task: &GroundTask,
        initial: &[u64],
        watch: &mut LimitWatch<'_>,
    ) -> Result<Option<Self>, StopReason> {
        if is_too_much(task) {
            return Ok(None);
        }
        let words = bits::words_for(task.facts.len()) as u64;
        watch.charge(16 * words * task.facts.len() as u64)?;
        let shapes: Vec<Shape> = task.operators.iter().map(Shape::new).collect();
        let reachable = forward(task, &shapes, initial, watch)?;
        let useful = backward(task, &shapes, &reachable, watch)?;
        Ok(Some(Mutexes { useful, shapes }))
    }

    /// Returns true if an operator can be part of a plan.
    pub(crate) fn is_useful(&self, operator: usize) -> bool {
        let shape = &self.shapes[operator];
        self.useful.all(&shape.pre) && self.useful.all(&shape.after)
    }

    /// Returns true if a state has a pair that cannot lead to the goal.
    #[inline]
    pub(crate) fn is_dead_end(&self, state: &[u64]) -> bool {
        bits::ones(state).any(|fact| state.iter().zip(self.useful.row(fact)).any(|(s, r)| s & !r != 0))
    }
}

impl Shape {
    fn new(operator: &crate::task::Operator) -> Self {
        let mut may_delete = operator.delete.to_vec();
        may_delete.extend(operator.conditional.iter().flat_map(|c| c.delete.iter()));
        let pre = operator.precondition.positive.clone();
        let mut after: Vec<Fact> = pre.iter().copied().filter(|f| !may_delete.contains(f)).collect();
        after.extend(operator.add.iter());
        after.sort_unstable();
        after.dedup();
        let with = |c: &Condition| pre.iter().chain(c.positive.iter()).copied().collect();
        Shape {
            add: operator.add.clone(),
            may_add: operator.conditional.iter().map(|c| (with(&c.condition), c.add.clone())).collect(),
            delete: operator.delete.clone(),
            may_delete: may_delete.into(),
            after: after.into(),
            pre,
        }
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
    task: &GroundTask,
    shapes: &[Shape],
    initial: &[u64],
    watch: &mut LimitWatch<'_>,
) -> Result<Pairs, StopReason> {
    let mut pairs = Pairs::new(task.facts.len());
    bits::ones(initial).for_each(|f| {
        pairs.add(f, initial);
    });
    let mut known = vec![0u64; pairs.words];
    let mut set = vec![0u64; pairs.words];
    loop {
        let mut changed = false;
        known.fill(0);
        (0..task.facts.len() as Fact).filter(|&f| pairs.has(f, f)).for_each(|f| bits::set(&mut known, f));
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
            // A conditional effect may take place together with others: anything may hold beside what it adds.
            for (condition, add) in &shape.may_add {
                if pairs.all(condition) {
                    let mut beside = known.clone();
                    shape.add.iter().for_each(|&f| bits::set(&mut beside, f));
                    shape.may_add.iter().flat_map(|m| m.1.iter()).for_each(|&f| bits::set(&mut beside, f));
                    for &fact in add {
                        changed |= pairs.add(fact, &beside);
                    }
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
    task: &GroundTask,
    shapes: &[Shape],
    reachable: &Pairs,
    watch: &mut LimitWatch<'_>,
) -> Result<Pairs, StopReason> {
    let mut pairs = Pairs::new(task.facts.len());
    let mut set = vec![0u64; pairs.words];
    compatible(reachable, &task.goal.positive, &mut set);
    let last = task.facts.len() as u32;
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
