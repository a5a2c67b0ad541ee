//! A ground task with further facts and operators.

use super::automata::{Automata, Change, NewFacts};
use super::formula::{
    Literals, all, any, before, disjuncts, for_each_fact, merge, negation, of_condition, under, with_literals,
};
use crate::ground::Ground;
use crate::resources::{ResourceLimits, StopReason, check};
use crate::task::{Atom, Axiom, Condition, ConditionalEffect, Fact, GroundAction, GroundTask, Operator};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most disjuncts of a condition that become operators or effects. A condition with more becomes a derived fact.
const MAX_DISJUNCTS: usize = 12;
/// Most steps for one decision, which is a condition that holds or not.
const MAX_STEPS: usize = 64;
/// Most operators for the preferred conditions of one operator. With more, the conditions are decided in a series of steps.
const MAX_VARIANTS: usize = 16;
/// Most operators without conditional effects for one with such effects.
const MAX_SPLIT: usize = 8;
/// Estimated bytes of an operator.
const OPERATOR_BYTES: u64 = 320;
/// Estimated bytes of a conditional effect.
const EFFECT_BYTES: u64 = 160;

/// Most preference instances that one operator pays for when it breaks them. Others are paid for at the end.
const MAX_BROKEN: usize = 4;

/// A condition before an operator, and what the operator costs more without it.
#[derive(Clone)]
pub(super) struct Payment {
    pub(super) condition: Ground,
    pub(super) cost: u64,
    /// The fact that the operator then adds.
    pub(super) broken: Option<Fact>,
}

/// A ground task in construction.
pub(super) struct TaskBuilder {
    task: GroundTask,
    facts: NewFacts,
    stratum: u32,
    /// The action of steps that are not part of a plan.
    auxiliary: u32,
    /// True while the steps of a plan are applicable.
    open: Fact,
    /// Facts that count the preferred conditions of a step which are decided.
    counters: Vec<Fact>,
    /// Facts that remember violations until the end of the plan, with their costs.
    unpaid: BTreeMap<Fact, u64>,
    operators: Vec<Operator>,
}

impl TaskBuilder {
    /// Starts with a task. `facts` are its new facts so far.
    pub(super) fn new(mut task: GroundTask, mut facts: NewFacts) -> Self {
        let auxiliary = task.actions.len() as u32;
        let symbols = Arc::make_mut(&mut task.symbols);
        task.actions.push(GroundAction { action: symbols.actions.len() as u32, args: Box::default() });
        symbols.actions.push("@wish".to_owned());
        let stratum = task.axioms.last().map_or(0, |axiom| axiom.stratum + 1);
        task.axioms.extend(facts.rules(stratum));
        TaskBuilder {
            stratum: stratum + 1,
            task,
            open: facts.basic(true),
            facts,
            auxiliary,
            counters: Vec::new(),
            unpaid: BTreeMap::new(),
            operators: Vec::new(),
        }
    }

    /// Literals that hold together where the formula does. A disjunction becomes a derived fact.
    fn condense(&mut self, formula: &Ground) -> Option<Literals> {
        match formula {
            Ground::True => Some(Vec::new()),
            Ground::False | Ground::Number(_) => None,
            Ground::Literal(fact, negated) => Some(vec![(*fact, *negated)]),
            Ground::And(parts) => parts.iter().try_fold(Vec::new(), |literals, part| {
                let own = self.condense(part)?;
                merge(&literals, &own)
            }),
            Ground::Or(parts) => {
                let head = self.facts.derived();
                for part in parts {
                    let literals = self.condense(part);
                    let condition = literals.and_then(|own| with_literals(&Condition::default(), &own));
                    let stratum = self.stratum;
                    self.task.axioms.extend(condition.map(|condition| Axiom { head, condition, stratum }));
                }
                Some(vec![(head, false)])
            }
        }
    }

    /// Lists of literals of which one holds where the formula does, at most `most`.
    fn choices(&mut self, formula: &Ground, most: usize) -> Vec<Literals> {
        match disjuncts(formula, most) {
            Some(found) => found,
            None => self.condense(formula).into_iter().collect(),
        }
    }

    /// Replaces the operators by ones that move the automata and pay for preferred conditions, given by operator.
    pub(super) fn operators(
        &mut self,
        automata: &Automata,
        preferred: &[Vec<Payment>],
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        for operator in &self.task.operators {
            check(resources.poll())?;
            let broken = changes(operator, automata).into_iter().filter_map(|(_, change)| match change {
                Change::Break(fact, cost) => Some((fact, cost)),
                _ => None,
            });
            let broken: BTreeMap<Fact, u64> = broken.collect();
            if broken.len() > MAX_BROKEN {
                self.unpaid.extend(broken);
            }
        }
        for (operator, preferred) in std::mem::take(&mut self.task.operators).into_iter().zip(preferred) {
            let built = self.operators.len();
            self.moved(&operator, automata, preferred, resources)?;
            let new: u64 = self.operators[built..].iter().map(bytes_of).sum();
            check(resources.charge(new))?;
            check(resources.poll())?;
        }
        Ok(())
    }

    /// Adds the operator with the changes of the automata, one for each way to be allowed and to pay.
    fn moved(
        &mut self,
        operator: &Operator,
        automata: &Automata,
        preferred: &[Payment],
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let (mut allowed, mut effects) = (Vec::new(), Vec::new());
        let mut broken: BTreeMap<Fact, (u64, Vec<Ground>)> = BTreeMap::new();
        for (condition, change) in changes(operator, automata) {
            match change {
                Change::Forbid => allowed.push(negation(&condition)),
                Change::Break(fact, _) if self.unpaid.contains_key(&fact) => {
                    effects.push((condition, [Some(fact), None]));
                }
                Change::Break(fact, cost) => {
                    broken.entry(fact).or_insert((cost, Vec::new())).1.push(negation(&condition));
                }
                Change::Add(fact) => effects.push((condition, [Some(fact), None])),
                Change::Delete(fact) => effects.push((condition, [None, Some(fact)])),
            }
        }
        let moved = self.with_effects(operator, effects, resources)?;
        let mut payments = preferred.to_vec();
        payments.extend(broken.into_iter().map(|(fact, (cost, kept))| Payment {
            condition: any([all(kept), Ground::Literal(fact, false)]),
            cost,
            broken: Some(fact),
        }));
        for literals in self.choices(&all(allowed), MAX_DISJUNCTS) {
            if let Some(precondition) = with_literals(&moved.precondition, &literals) {
                self.paying(Operator { precondition, ..moved.clone() }, &payments);
            }
        }
        Ok(())
    }

    /// The operator with further effects, each where its condition holds: the facts that it adds and deletes.
    fn with_effects(
        &mut self,
        operator: &Operator,
        effects: Vec<(Ground, [Option<Fact>; 2])>,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Operator, StopReason> {
        let mut moved = operator.clone();
        let mut conditional = moved.conditional.to_vec();
        for (condition, [add, delete]) in effects {
            check(resources.poll())?;
            let (add, delete): (Box<[Fact]>, Box<[Fact]>) =
                (add.into_iter().collect(), delete.into_iter().collect());
            for literals in self.choices(&condition, MAX_DISJUNCTS) {
                if literals.is_empty() {
                    add_changes(&mut moved, &add, &delete);
                } else if let Some(condition) = with_literals(&Condition::default(), &literals) {
                    let (add, delete) = (add.clone(), delete.clone());
                    conditional.push(ConditionalEffect { condition, add, delete });
                }
            }
        }
        moved.conditional = conditional.into();
        Ok(moved)
    }

    /// Replaces the operators by ones that move the automata, and adds the conditions to the goal. Nothing is paid for. Operators that are
    /// timed literals happen in any case: where they violate a constraint, no later state satisfies the goal. Returns the task with, for each
    /// operator, the facts beyond its own conditions that the changes depend on.
    pub(super) fn constrained(
        mut self,
        automata: &Automata,
        conditions: Ground,
        is_timed: &dyn Fn(&GroundAction) -> bool,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(GroundTask, Vec<Vec<Fact>>), StopReason> {
        let broken = self.facts.basic(false);
        let mut observed = Vec::new();
        for operator in std::mem::take(&mut self.task.operators) {
            check(resources.poll())?;
            let is_timed = is_timed(&self.task.actions[operator.action as usize]);
            let (mut allowed, mut effects, mut facts) = (Vec::new(), Vec::new(), Vec::new());
            for (condition, change) in changes(&operator, automata) {
                for_each_fact(&condition, &mut |fact| facts.push(fact));
                match change {
                    Change::Forbid if is_timed => effects.push((condition, [Some(broken), None])),
                    Change::Forbid => allowed.push(negation(&condition)),
                    Change::Add(fact) | Change::Break(fact, _) => {
                        effects.push((condition, [Some(fact), None]))
                    }
                    Change::Delete(fact) => effects.push((condition, [None, Some(fact)])),
                }
            }
            facts.sort_unstable();
            facts.dedup();
            let moved = self.with_effects(&operator, effects, resources)?;
            for literals in self.choices(&all(allowed), MAX_DISJUNCTS) {
                if let Some(precondition) = with_literals(&moved.precondition, &literals) {
                    let bytes = bytes_of(&moved) + (facts.len() * size_of::<Fact>()) as u64;
                    check(resources.charge(bytes))?;
                    self.operators.push(Operator { precondition, ..moved.clone() });
                    observed.push(facts.clone());
                }
            }
        }
        let kept = all([conditions, Ground::Literal(broken, true)]);
        let literals = self.condense(&kept);
        match literals.and_then(|literals| with_literals(&self.task.goal, &literals)) {
            Some(goal) => self.task.goal = goal,
            None => self.task.goal_unreachable = true,
        }
        Ok((self.numbered(&mut observed), observed))
    }

    /// Adds an operator that pays for the conditions that do not hold before it.
    fn paying(&mut self, mut operator: Operator, payments: &[Payment]) {
        let open = with_literals(&operator.precondition, &[(self.open, false)]);
        operator.precondition = open.unwrap_or_default();
        let mut undecided = Vec::new();
        for payment in payments {
            match under(&payment.condition, &operator.precondition) {
                Ground::True => {}
                Ground::False => {
                    operator.cost = operator.cost.saturating_add(payment.cost);
                    add_changes(&mut operator, payment.broken.as_slice(), &[]);
                }
                condition => undecided.push(Payment { condition, ..payment.clone() }),
            }
        }
        let Some(variants) = variants(&undecided) else { return self.series(operator, &undecided) };
        for Variant { literals, cost, broken } in variants {
            if let Some(precondition) = with_literals(&operator.precondition, &literals) {
                let cost = operator.cost.saturating_add(cost);
                let mut variant = Operator { precondition, cost, ..operator.clone() };
                add_changes(&mut variant, &broken, &[]);
                self.operators.push(variant);
            }
        }
    }

    /// Adds an operator as a series of steps: one that starts it, one for each condition, and the operator itself.
    fn series(&mut self, mut operator: Operator, payments: &[Payment]) {
        let open = self.open;
        while self.counters.len() <= payments.len() {
            let counter = self.facts.basic(false);
            self.counters.push(counter);
        }
        let started = self.facts.basic(false);
        let precondition = std::mem::take(&mut operator.precondition);
        self.step(precondition, &[started, self.counters[0]], &[open], 0);
        for (index, payment) in payments.iter().enumerate() {
            let (from, to) = (self.counters[index], self.counters[index + 1]);
            self.decide(&[(started, false), (from, false)], (from, to), payment);
        }
        let last = self.counters[payments.len()];
        let own = with_literals(&Condition::default(), &[(started, false), (last, false)]);
        operator.precondition = own.unwrap_or_default();
        add_changes(&mut operator, &[open], &[started, last]);
        self.operators.push(operator);
    }

    /// Adds steps from one fact to another: one where the condition holds, and one that pays where it does not.
    fn decide(&mut self, needed: &[(Fact, bool)], (from, to): (Fact, Fact), payment: &Payment) {
        let paid = [[to].as_slice(), payment.broken.as_slice()].concat();
        self.steps(&payment.condition, needed, (from, &[to]), 0);
        self.steps(&negation(&payment.condition), needed, (from, &paid), payment.cost);
    }

    /// Adds steps from one fact to others where the condition and the literals hold.
    fn steps(&mut self, condition: &Ground, needed: &[(Fact, bool)], (from, to): (Fact, &[Fact]), cost: u64) {
        for literals in self.choices(condition, MAX_STEPS) {
            let both = merge(&literals, needed).and_then(|both| with_literals(&Condition::default(), &both));
            if let Some(precondition) = both {
                self.step(precondition, to, &[from], cost);
            }
        }
    }

    /// Adds a step that is not part of a plan.
    fn step(&mut self, precondition: Condition, add: &[Fact], delete: &[Fact], cost: u64) {
        let mut operator = Operator {
            action: self.auxiliary,
            precondition,
            add: Box::default(),
            delete: Box::default(),
            conditional: Box::default(),
            numeric: Box::default(),
            metric: Box::default(),
            partial: false,
            cost,
        };
        add_changes(&mut operator, add, delete);
        self.operators.push(operator);
    }

    /// Sets the goal: the conditions hold, and the wishes are paid for in their order where they do not hold.
    pub(super) fn goal(&mut self, conditions: Ground, wishes: &[(Ground, u64)]) {
        let goal = all([of_condition(&self.task.goal), conditions]);
        let mut phase = self.facts.basic(false);
        self.steps(&goal, &[(self.open, false)], (self.open, &[phase]), 0);
        let unpaid: Vec<(Ground, u64)> =
            self.unpaid.iter().map(|(&fact, &cost)| (Ground::Literal(fact, true), cost)).collect();
        for (condition, cost) in wishes.iter().chain(&unpaid) {
            let next = self.facts.basic(false);
            let payment = Payment { condition: condition.clone(), cost: *cost, broken: None };
            self.decide(&[(phase, false)], (phase, next), &payment);
            phase = next;
        }
        self.task.goal = Condition { positive: [phase].into(), ..Condition::default() };
    }

    /// The task, with its new facts among those of their kind.
    pub(super) fn finish(mut self) -> GroundTask {
        self.split();
        self.scale();
        self.numbered(&mut [])
    }

    /// The task with its facts in their order: basic ones, then derived ones. Those in the lists get their new numbers.
    fn numbered(self, lists: &mut [Vec<Fact>]) -> GroundTask {
        let TaskBuilder { mut task, facts: new, operators, .. } = self;
        let (original, basic) = (task.facts.len(), task.basic_facts);
        let added = new.are_basic.iter().filter(|&&is_basic| is_basic).count();
        let place = |fact: usize| (fact + if fact < basic { 0 } else { added }) as Fact;
        let mut number: Vec<Fact> = (0..original).map(place).collect();
        let (mut next_basic, mut next_derived) = (basic as Fact, (original + added) as Fact);
        let symbols = Arc::make_mut(&mut task.symbols);
        for is_basic in new.are_basic {
            let next = if is_basic { &mut next_basic } else { &mut next_derived };
            number.push(*next);
            *next += 1;
            let predicate = symbols.predicates.len() as u32;
            symbols.predicates.push(format!("@wish-{}", number.len() - original));
            task.facts.push(Atom { predicate, args: Box::default() });
        }
        task.init.extend(new.init);
        let mut facts: Vec<(Fact, Atom)> = number.iter().copied().zip(task.facts).collect();
        facts.sort_by_key(|(number, _)| *number);
        task.facts = facts.into_iter().map(|(_, atom)| atom).collect();
        task.basic_facts = basic + added;
        let map = |list: &mut Box<[Fact]>| {
            list.iter_mut().for_each(|fact| *fact = number[*fact as usize]);
            list.sort_unstable();
        };
        let condition = |condition: &mut Condition| {
            map(&mut condition.positive);
            map(&mut condition.negative);
        };
        task.operators = operators;
        lists.iter_mut().flatten().for_each(|fact| *fact = number[*fact as usize]);
        for operator in &mut task.operators {
            condition(&mut operator.precondition);
            let numeric = operator.numeric.iter_mut().chain(&mut operator.metric);
            numeric.for_each(|effect| condition(&mut effect.condition));
            map(&mut operator.add);
            map(&mut operator.delete);
            for effect in &mut operator.conditional {
                condition(&mut effect.condition);
                map(&mut effect.add);
                map(&mut effect.delete);
            }
        }
        for axiom in &mut task.axioms {
            axiom.head = number[axiom.head as usize];
            condition(&mut axiom.condition);
        }
        task.init.iter_mut().for_each(|fact| *fact = number[*fact as usize]);
        condition(&mut task.goal);
        task
    }

    /// Splits operators with conditional effects, if none is left then: bounds of costs are better without them.
    fn split(&mut self) {
        if !self.task.axioms.is_empty() {
            return;
        }
        let split: Option<Vec<Vec<Operator>>> = self.operators.iter().map(without_conditions).collect();
        if let Some(split) = split {
            self.operators = split.into_iter().flatten().collect();
        }
    }

    /// Makes the unit of costs finer, so that heuristics that count steps of cost 0 as something prefer them to the cheapest wish.
    fn scale(&mut self) {
        let most = self.operators.iter().map(|operator| operator.cost).max().unwrap_or(0);
        if !(1..FINEST).contains(&most) || self.task.cost_unsupported.is_some() {
            return;
        }
        let factor = FINEST.div_ceil(most);
        if let Some(scale) = self.task.cost_scale.checked_mul(factor) {
            self.task.cost_scale = scale;
            self.operators.iter_mut().for_each(|operator| operator.cost *= factor);
        }
    }
}

/// Estimated bytes of an operator with its lists.
fn bytes_of(operator: &Operator) -> u64 {
    let facts = |condition: &Condition| condition.positive.len() + condition.negative.len();
    let effects = operator.conditional.iter().map(|e| facts(&e.condition) + e.add.len() + e.delete.len());
    let all = facts(&operator.precondition) + operator.add.len() + operator.delete.len();
    let listed = (all + effects.sum::<usize>()) * size_of::<Fact>();
    OPERATOR_BYTES + EFFECT_BYTES * operator.conditional.len() as u64 + listed as u64
}

/// Least cost of the dearest operator.
const FINEST: u64 = 256;

fn add_changes(operator: &mut Operator, add: &[Fact], delete: &[Fact]) {
    let mut added = [&*operator.add, add].concat();
    added.sort_unstable();
    added.dedup();
    let mut deleted = [&*operator.delete, delete].concat();
    deleted.retain(|fact| added.binary_search(fact).is_err());
    deleted.sort_unstable();
    deleted.dedup();
    (operator.add, operator.delete) = (added.into(), deleted.into());
}

/// The conditions of the changes that an operator makes to automata, on the state before it.
fn changes(operator: &Operator, automata: &Automata) -> Vec<(Ground, Change)> {
    let changes = automata.updates(operator).map(|update| {
        let condition = match update.is_late {
            true => under(&update.condition, &operator.precondition),
            false => before(&update.condition, operator),
        };
        (condition, update.change)
    });
    changes.filter(|(condition, _)| !matches!(condition, Ground::False)).collect()
}

/// A way in which conditions hold or not, what it costs, and the facts that it adds.
#[derive(Default)]
struct Variant {
    literals: Literals,
    cost: u64,
    broken: Vec<Fact>,
}

/// The ways in which conditions hold or are paid for; `None` if they are too many.
fn variants(payments: &[Payment]) -> Option<Vec<Variant>> {
    let mut found = vec![Variant::default()];
    for Payment { condition, cost, broken } in payments {
        let kept = disjuncts(condition, MAX_VARIANTS)?;
        let paid = disjuncts(&negation(condition), MAX_VARIANTS)?;
        let choices = kept.iter().map(|literals| (literals, 0, None));
        let choices: Vec<_> = choices.chain(paid.iter().map(|literals| (literals, *cost, *broken))).collect();
        let mut next = Vec::new();
        for one in &found {
            for (two, cost, broken) in &choices {
                next.extend(merge(&one.literals, two).map(|literals| Variant {
                    literals,
                    cost: one.cost.saturating_add(*cost),
                    broken: one.broken.iter().chain(broken).copied().collect(),
                }));
            }
        }
        if next.len() > MAX_VARIANTS {
            return None;
        }
        found = next;
    }
    Some(found)
}

/// Operators without conditional effects that do the same; `None` if they are too many.
fn without_conditions(operator: &Operator) -> Option<Vec<Operator>> {
    let mut found = vec![Operator { conditional: Box::default(), ..operator.clone() }];
    for effect in &operator.conditional {
        let own = of_condition(&effect.condition);
        let mut next = Vec::new();
        for one in &found {
            for (condition, takes_place) in [(own.clone(), true), (negation(&own), false)] {
                for literals in disjuncts(&under(&condition, &one.precondition), MAX_SPLIT)? {
                    let Some(precondition) = with_literals(&one.precondition, &literals) else { continue };
                    let mut other = Operator { precondition, ..one.clone() };
                    if takes_place {
                        add_changes(&mut other, &effect.add, &effect.delete);
                    }
                    next.push(other);
                }
            }
        }
        if next.len() > MAX_SPLIT {
            return None;
        }
        found = next;
    }
    Some(found)
}
