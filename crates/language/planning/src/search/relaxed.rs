//! The delete relaxation: operators without deletes over propositions, which are facts, negations of facts where some
//! condition needs them, and an artificial goal.

use crate::bits;
use crate::simulate::Csr;
use crate::task::{Condition, Fact, GroundTask};

/// No proposition, no operator.
pub(crate) const NONE: u32 = u32::MAX;

/// The delete-relaxed task.
pub(crate) struct Relaxed {
    pub(crate) propositions: usize,
    /// True in every state.
    pub(crate) truth: u32,
    /// Added by an operator of cost 0 whose preconditions are the goal.
    pub(crate) goal: u32,
    pub(crate) preconditions: Csr,
    pub(crate) effects: Csr,
    /// Proposition to the operators that need it.
    pub(crate) needed_by: Csr,
    /// The task's operator behind each relaxed operator; [`NONE`] for axioms and the goal.
    pub(crate) origin: Vec<u32>,
    pub(crate) cost: Vec<u64>,
    /// Fact to the proposition of its negation.
    negation: Vec<u32>,
    /// Facts that have one.
    negated: Vec<Fact>,
}

/// State of building the relaxed task.
struct Builder {
    relaxed: Relaxed,
    basic: usize,
}

impl Relaxed {
    /// Relaxes a task. Negations of derived facts count as true: optimistic, so that nothing reachable is lost.
    pub(crate) fn new(task: &GroundTask) -> Self {
        let facts = task.facts.len();
        let mut relaxed = Relaxed {
            propositions: facts,
            truth: 0,
            goal: 0,
            preconditions: Csr::new(),
            effects: Csr::new(),
            needed_by: Csr::new(),
            origin: Vec::new(),
            cost: Vec::new(),
            negation: vec![NONE; facts],
            negated: Vec::new(),
        };
        let conditions = task
            .operators
            .iter()
            .flat_map(|o| std::iter::once(&o.precondition).chain(o.conditional.iter().map(|c| &c.condition)))
            .chain(task.axioms.iter().map(|a| &a.condition))
            .chain(std::iter::once(&task.goal));
        for &fact in conditions.flat_map(|c| c.negative.iter()) {
            if (fact as usize) < task.basic_facts && relaxed.negation[fact as usize] == NONE {
                relaxed.negation[fact as usize] = relaxed.propositions as u32;
                relaxed.negated.push(fact);
                relaxed.propositions += 1;
            }
        }
        relaxed.truth = relaxed.propositions as u32;
        relaxed.goal = relaxed.truth + 1;
        relaxed.propositions += 2;
        let mut builder = Builder { relaxed, basic: task.basic_facts };
        for (o, operator) in task.operators.iter().enumerate() {
            let base = [&operator.precondition];
            builder.push(&base, &operator.add, &operator.delete, o as u32, operator.cost);
            for effect in &operator.conditional {
                let both = [&operator.precondition, &effect.condition];
                builder.push(&both, &effect.add, &effect.delete, o as u32, operator.cost);
            }
        }
        for axiom in &task.axioms {
            builder.push(&[&axiom.condition], &[axiom.head], &[], NONE, 0);
        }
        let goal = builder.relaxed.goal;
        builder.push(&[&task.goal], &[goal], &[], NONE, 0);
        let mut relaxed = builder.relaxed;
        relaxed.needed_by = relaxed.preconditions.transpose(relaxed.propositions);
        relaxed
    }

    pub(crate) fn operators(&self) -> usize {
        self.origin.len()
    }

    /// Calls `f` with each proposition that a state makes true.
    #[inline]
    pub(crate) fn for_each_true(&self, state: &[u64], mut f: impl FnMut(u32)) {
        bits::ones(state).for_each(&mut f);
        for &fact in &self.negated {
            if !bits::get(state, fact) {
                f(self.negation[fact as usize]);
            }
        }
        f(self.truth);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.preconditions.bytes()
            + self.effects.bytes()
            + self.needed_by.bytes()
            + 12 * self.origin.len() as u64
    }
}

impl Builder {
    fn push(&mut self, conditions: &[&Condition], add: &[Fact], delete: &[Fact], origin: u32, cost: u64) {
        let relaxed = &mut self.relaxed;
        let mut pre: Vec<u32> = Vec::new();
        for condition in conditions {
            pre.extend(condition.positive.iter());
            let basic = condition.negative.iter().filter(|f| (**f as usize) < self.basic);
            pre.extend(basic.map(|&f| relaxed.negation[f as usize]));
        }
        pre.sort_unstable();
        pre.dedup();
        let deleted = delete.iter().map(|&f| relaxed.negation.get(f as usize).copied().unwrap_or(NONE));
        let mut effects: Vec<u32> = add.iter().copied().chain(deleted.filter(|&p| p != NONE)).collect();
        effects.retain(|p| !pre.contains(p));
        if effects.is_empty() {
            return;
        }
        if pre.is_empty() {
            pre.push(relaxed.truth);
        }
        relaxed.preconditions.push_row(&pre);
        relaxed.effects.push_row(&effects);
        relaxed.origin.push(origin);
        relaxed.cost.push(cost);
    }
}
