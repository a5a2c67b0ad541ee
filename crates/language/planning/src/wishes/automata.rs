//! Trajectory constraints as automata: facts that remember what held on the way, and how steps change them.

use super::formula::{all, for_each_fact, holds, negation};
use crate::ground::Ground;
use crate::lifted::TrajectoryKind;
use crate::task::Fact;
use planforge_pddl::ast::TrajectoryOp;
use rustc_hash::FxHashMap;

/// Facts that a task gets beside its own. Their numbers follow those of the task.
pub(super) struct NewFacts {
    /// Facts of the task, and those of them that are basic.
    task: (usize, usize),
    /// For each new fact, true if operators change it.
    pub(super) are_basic: Vec<bool>,
    /// Those that hold initially.
    pub(super) init: Vec<Fact>,
}

impl NewFacts {
    pub(super) fn new(facts: usize, basic: usize) -> Self {
        NewFacts { task: (facts, basic), are_basic: Vec::new(), init: Vec::new() }
    }

    /// A fact that operators change.
    pub(super) fn basic(&mut self, initially: bool) -> Fact {
        let fact = self.push(true);
        self.init.extend(initially.then_some(fact));
        fact
    }

    /// A fact that axioms derive.
    pub(super) fn derived(&mut self) -> Fact {
        self.push(false)
    }

    fn push(&mut self, is_basic: bool) -> Fact {
        self.are_basic.push(is_basic);
        (self.task.0 + self.are_basic.len() - 1) as Fact
    }

    /// Returns true if the formula mentions derived facts of the task.
    fn are_derived_in(&self, formula: &Ground) -> bool {
        let mut found = false;
        for_each_fact(formula, &mut |fact| found |= (self.task.1..self.task.0).contains(&(fact as usize)));
        found
    }
}

/// Result of a step for an automaton.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    Add(Fact),
    Delete(Fact),
    /// The step is not allowed.
    Forbid,
    /// The step violates a preference instance for ever, at a cost. The fact remembers that it is paid.
    Break(Fact, u64),
}

/// A change where a condition holds.
pub(super) struct Update {
    /// Facts of the task have their value after the step, and facts of the automaton that before it.
    pub(super) condition: Ground,
    pub(super) change: Change,
    /// True if the condition is about the state before the step: one with derived facts, which operators do not change directly. The last state
    /// is observed by the operator that ends the plan.
    pub(super) is_late: bool,
}

/// A trajectory operator with its conditions.
pub(super) struct Part<'g> {
    pub(super) kind: TrajectoryKind,
    pub(super) first: &'g Ground,
    /// True if the operator has one condition.
    pub(super) second: &'g Ground,
}

impl Part<'_> {
    /// Returns true if only steps violate the operator, and no later step repairs it.
    fn is_decided_by_steps(&self) -> bool {
        use TrajectoryOp::{Always, AtMostOnce, SometimeBefore};
        matches!(self.kind, TrajectoryKind::Over(Always | AtMostOnce | SometimeBefore))
    }

    /// Returns true if a condition mentions derived facts. The automaton observes the initial state with the first step then.
    fn is_late(&self, facts: &NewFacts) -> bool {
        facts.are_derived_in(self.first) || facts.are_derived_in(self.second)
    }

    /// Returns true if the initial state violates the operator for ever.
    fn is_violated_by(&self, initial: &[u64], facts: &NewFacts) -> bool {
        if self.is_late(facts) {
            return false;
        }
        match self.kind {
            TrajectoryKind::Over(TrajectoryOp::Always) => !holds(self.first, initial),
            TrajectoryKind::Over(TrajectoryOp::SometimeBefore) => holds(self.first, initial),
            _ => false,
        }
    }
}

/// The automata of a task.
#[derive(Default)]
pub(super) struct Automata {
    updates: Vec<Update>,
    /// Updates by the facts that their conditions mention.
    mentioned_by: FxHashMap<Fact, Vec<usize>>,
    late: Vec<usize>,
}

impl Automata {
    /// Returns true if the last state has to be observed.
    pub(super) fn has_late_updates(&self) -> bool {
        !self.late.is_empty()
    }

    /// The updates that a step may need which changes these facts.
    pub(super) fn updates(&self, changed: impl Iterator<Item = Fact>) -> impl Iterator<Item = &Update> {
        let mut found = self.late.clone();
        found.extend(changed.filter_map(|fact| self.mentioned_by.get(&fact)).flatten());
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|update| &self.updates[update])
    }

    /// Adds the automaton of an instance of a constraint, with its weight if it is preferred. Returns the condition on the last state under
    /// which the instance is satisfied, but for violations that steps pay for. Steps that violate a hard instance for ever are forbidden.
    /// Those of a soft one pay if nothing else violates it: what is paid early does not count as a goal that remains.
    pub(super) fn add(
        &mut self,
        parts: &[Part<'_>],
        weight: Option<u64>,
        initial: &[u64],
        facts: &mut NewFacts,
    ) -> Ground {
        if parts.iter().any(|part| part.is_violated_by(initial, facts)) {
            return Ground::False;
        }
        let pays_early = parts.iter().all(Part::is_decided_by_steps);
        let mut broken = None;
        let mut kept = Vec::new();
        for part in parts {
            let mut violate = |facts: &mut NewFacts| {
                let Some(weight) = weight else { return Change::Forbid };
                let broken = *broken.get_or_insert_with(|| facts.basic(false));
                if pays_early { Change::Break(broken, weight) } else { Change::Add(broken) }
            };
            kept.push(self.part(part, &mut violate, initial, facts));
        }
        kept.extend(broken.filter(|_| !pays_early).map(|fact| Ground::Literal(fact, true)));
        all(kept)
    }

    /// Returns the condition on the last state, but for violations on the way.
    fn part(
        &mut self,
        part: &Part<'_>,
        violate: &mut dyn FnMut(&mut NewFacts) -> Change,
        initial: &[u64],
        facts: &mut NewFacts,
    ) -> Ground {
        let (first, second) = (part.first, part.second);
        let TrajectoryKind::Over(operator) = part.kind else { return first.clone() };
        let is_late = part.is_late(facts);
        let holds_first = !is_late && holds(first, initial);
        let holds_second = !is_late && holds(second, initial);
        let mut on = |condition: Ground, change: Change| self.update(Update { condition, change, is_late });
        let fact = |fact: Fact| Ground::Literal(fact, false);
        match operator {
            TrajectoryOp::Always => {
                on(negation(first), violate(facts));
                Ground::True
            }
            TrajectoryOp::Sometime => {
                if holds_first {
                    return Ground::True;
                }
                let seen = facts.basic(false);
                on(first.clone(), Change::Add(seen));
                fact(seen)
            }
            TrajectoryOp::AtMostOnce => {
                let (began, ended) = (facts.basic(holds_first), facts.basic(false));
                on(all([first.clone(), fact(ended)]), violate(facts));
                on(all([negation(first), fact(began)]), Change::Add(ended));
                on(first.clone(), Change::Add(began));
                Ground::True
            }
            TrajectoryOp::SometimeAfter => {
                let pending = facts.basic(holds_first && !holds_second);
                on(all([first.clone(), negation(second)]), Change::Add(pending));
                on(second.clone(), Change::Delete(pending));
                negation(&fact(pending))
            }
            TrajectoryOp::SometimeBefore => {
                let seen = facts.basic(holds_second);
                on(all([first.clone(), negation(&fact(seen))]), violate(facts));
                on(second.clone(), Change::Add(seen));
                Ground::True
            }
            // Refused before.
            TrajectoryOp::Within
            | TrajectoryOp::AlwaysWithin
            | TrajectoryOp::HoldDuring
            | TrajectoryOp::HoldAfter => Ground::False,
        }
    }

    fn update(&mut self, update: Update) {
        let number = self.updates.len();
        if matches!(update.condition, Ground::False) {
            return;
        }
        if update.is_late {
            self.late.push(number);
        } else {
            for_each_fact(&update.condition, &mut |fact| {
                self.mentioned_by.entry(fact).or_default().push(number);
            });
        }
        self.updates.push(update);
    }
}
