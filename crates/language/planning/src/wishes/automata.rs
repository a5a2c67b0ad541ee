//! Trajectory constraints as automata: facts that remember what held on the way, and how steps change them.

use super::formula::{all, any, bytes, for_each_fact, holds, negation};
use crate::ground::Ground;
use crate::lifted::TrajectoryKind;
use crate::resources::{ResourceLimits, StopReason, check};
use crate::task::{Axiom, Condition, Fact, GroundTask, NumCondition, NumVar, Operator};
use planforge_pddl::ast::TrajectoryOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// Facts that a task gets beside its own. Their numbers follow those of the task.
pub(super) struct NewFacts {
    /// Facts of the task, and those of them that are basic.
    task: (usize, usize),
    /// For each new fact, true if operators change it.
    pub(super) are_basic: Vec<bool>,
    /// Those that hold initially.
    pub(super) init: Vec<Fact>,
    /// Derived facts that stand for comparisons.
    comparisons: Vec<(Fact, NumCondition)>,
    /// Facts that an effect with a comparison in its condition changes.
    changed_by_numbers: FxHashSet<Fact>,
}

impl NewFacts {
    pub(super) fn new(task: &GroundTask) -> Self {
        let effects = task.operators.iter().flat_map(|operator| &operator.conditional);
        let by_numbers = effects.filter(|effect| !effect.condition.numeric.is_empty());
        NewFacts {
            task: (task.facts.len(), task.basic_facts),
            are_basic: Vec::new(),
            init: Vec::new(),
            comparisons: Vec::new(),
            changed_by_numbers: by_numbers.flat_map(|e| e.add.iter().chain(&e.delete)).copied().collect(),
        }
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

    /// The formula with a derived fact for each comparison. Negation is then that of a literal.
    pub(super) fn without_comparisons(&mut self, formula: &Ground) -> Ground {
        match formula {
            Ground::Number(comparison) => {
                let known =
                    self.comparisons.iter().find(|(_, other)| other == comparison).map(|known| known.0);
                let fact = known.unwrap_or_else(|| {
                    let fact = self.derived();
                    self.comparisons.push((fact, comparison.clone()));
                    fact
                });
                Ground::Literal(fact, false)
            }
            Ground::And(parts) => {
                all(parts.iter().map(|part| self.without_comparisons(part)).collect::<Vec<_>>())
            }
            Ground::Or(parts) => {
                any(parts.iter().map(|part| self.without_comparisons(part)).collect::<Vec<_>>())
            }
            Ground::True | Ground::False | Ground::Literal(..) => formula.clone(),
        }
    }

    /// Rules of the facts that stand for comparisons.
    pub(super) fn rules(&self, stratum: u32) -> impl Iterator<Item = Axiom> + '_ {
        self.comparisons.iter().map(move |(head, comparison)| Axiom {
            head: *head,
            condition: Condition { numeric: [comparison.clone()].into(), ..Condition::default() },
            stratum,
        })
    }

    fn comparison(&self, fact: Fact) -> Option<&NumCondition> {
        self.comparisons.iter().find(|(known, _)| *known == fact).map(|(_, comparison)| comparison)
    }

    /// Returns true if numbers decide the truth of the formula after some step.
    fn depends_on_numbers(&self, formula: &Ground) -> bool {
        let mut found = false;
        for_each_fact(formula, &mut |fact| {
            found |= self.changed_by_numbers.contains(&fact) || self.comparison(fact).is_some();
        });
        found
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
    /// True if the condition is about the state before the step: one with derived facts, which operators do not change directly. The condition
    /// on the last state is that of [`Automata::add`].
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
        let is_derived = |formula| facts.are_derived_in(formula) || facts.depends_on_numbers(formula);
        is_derived(self.first) || is_derived(self.second)
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
    /// Updates by the variables that their conditions compare.
    compared_by: FxHashMap<NumVar, Vec<usize>>,
    /// Updates about derived facts of the task, which each step may change.
    late: Vec<usize>,
    /// Bytes of updates and conditions that are not charged yet.
    uncharged: u64,
}

/// Estimated bytes of an update at one of the facts or variables that it is observed by.
const OBSERVED_BYTES: u64 = 16;

impl Automata {
    /// Charges the limits for what was added since the last call.
    pub(super) fn charge(&mut self, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        check(resources.charge(std::mem::take(&mut self.uncharged)))
    }

    /// The updates that an operator may need.
    pub(super) fn updates(&self, operator: &Operator) -> impl Iterator<Item = &Update> {
        let conditional = operator.conditional.iter();
        let conditional = conditional.flat_map(|effect| effect.add.iter().chain(&effect.delete));
        let changed = operator.add.iter().chain(&operator.delete).chain(conditional);
        let mut found = self.late.clone();
        found.extend(changed.filter_map(|fact| self.mentioned_by.get(fact)).flatten());
        found.extend(operator.numeric.iter().filter_map(|e| self.compared_by.get(&e.variable)).flatten());
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
        self.uncharged += kept.iter().map(bytes).sum::<u64>();
        let kept = all(kept);
        match broken {
            // What steps paid for is not paid for again.
            Some(broken) if pays_early => any([kept, Ground::Literal(broken, false)]),
            Some(broken) => all([kept, Ground::Literal(broken, true)]),
            None => kept,
        }
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
        let observed = if is_late { Observed::by(part, facts) } else { Observed::ByCondition };
        let mut on = |condition: Ground, change: Change| {
            self.update(Update { condition, change, is_late }, &observed);
        };
        let fact = |fact: Fact| Ground::Literal(fact, false);
        // No step observes the last state.
        let at_end = |condition: Ground| if is_late { condition } else { Ground::True };
        match operator {
            TrajectoryOp::Always => {
                on(negation(first), violate(facts));
                at_end(first.clone())
            }
            TrajectoryOp::Sometime => {
                if holds_first {
                    return Ground::True;
                }
                let seen = facts.basic(false);
                on(first.clone(), Change::Add(seen));
                if is_late { any([fact(seen), first.clone()]) } else { fact(seen) }
            }
            TrajectoryOp::AtMostOnce => {
                let (began, ended) = (facts.basic(holds_first), facts.basic(false));
                on(all([first.clone(), fact(ended)]), violate(facts));
                on(all([negation(first), fact(began)]), Change::Add(ended));
                on(first.clone(), Change::Add(began));
                at_end(any([negation(first), negation(&fact(ended))]))
            }
            TrajectoryOp::SometimeAfter => {
                let pending = facts.basic(holds_first && !holds_second);
                on(all([first.clone(), negation(second)]), Change::Add(pending));
                on(second.clone(), Change::Delete(pending));
                let kept = negation(&fact(pending));
                if is_late { any([second.clone(), all([kept, negation(first)])]) } else { kept }
            }
            TrajectoryOp::SometimeBefore => {
                let seen = facts.basic(holds_second);
                on(all([first.clone(), negation(&fact(seen))]), violate(facts));
                on(second.clone(), Change::Add(seen));
                at_end(any([negation(first), fact(seen)]))
            }
            // Refused before.
            TrajectoryOp::Within
            | TrajectoryOp::AlwaysWithin
            | TrajectoryOp::HoldDuring
            | TrajectoryOp::HoldAfter => Ground::False,
        }
    }

    fn update(&mut self, update: Update, observed: &Observed) {
        let number = self.updates.len();
        if matches!(update.condition, Ground::False) {
            return;
        }
        self.uncharged += size_of::<Update>() as u64 + bytes(&update.condition);
        match observed {
            Observed::ByAll => self.late.push(number),
            Observed::ByCondition => for_each_fact(&update.condition, &mut |fact| {
                self.uncharged += OBSERVED_BYTES;
                self.mentioned_by.entry(fact).or_default().push(number);
            }),
            Observed::By(facts, variables) => {
                self.uncharged += OBSERVED_BYTES * (facts.len() + variables.len()) as u64;
                facts.iter().for_each(|fact| self.mentioned_by.entry(*fact).or_default().push(number));
                variables.iter().for_each(|v| self.compared_by.entry(*v).or_default().push(number));
            }
        }
        self.updates.push(update);
    }
}

/// Steps that an update is for.
enum Observed {
    /// Those that change a fact of its condition.
    ByCondition,
    /// Those that change one of these: the state before them is the last with its values.
    By(Vec<Fact>, Vec<NumVar>),
    ByAll,
}

impl Observed {
    fn by(part: &Part<'_>, facts: &NewFacts) -> Self {
        let (mut own, mut variables) = (Vec::new(), Vec::new());
        for formula in [part.first, part.second] {
            if facts.are_derived_in(formula) {
                return Observed::ByAll;
            }
            for_each_fact(formula, &mut |fact| match facts.comparison(fact) {
                None => own.push(fact),
                Some(comparison) => {
                    comparison.left.for_each_variable(&mut |v| variables.push(v));
                    comparison.right.for_each_variable(&mut |v| variables.push(v));
                }
            });
        }
        Observed::By(own, variables)
    }
}
