//! Breadth-first search over pairs of states that the same sequence of ground actions leads to.
//!
//! The two models are made ready before ([`Both`]): facts that nothing depends on are left out, because no condition, rule or goal that
//! matters reads them, and ground actions are numbered alike. Equality of the two ground tasks up to the order of their parts
//! ([`same`]) makes a search unnecessary.

use super::{ComparedSide, EquivalenceLimits, SearchEnd};
use crate::lifted::Metric;
use crate::resources::{ResourceLimits, ScopedLimits, StopReason, check};
use crate::search::{NodeTable, StateId};
use crate::simulate::{Simulator, State};
use crate::task::{Condition, Fact, GroundTask, NumExpr, NumVar};
use crate::walk::{Model, NamedStep};
use planforge_pddl::Number;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pairs expanded between two polls of the resource limits.
const POLL: usize = 64;

/// Result of the search, with actions by common index.
pub(super) struct ProductResult {
    pub(super) end: End,
    pub(super) cost: Option<Vec<u32>>,
    pub(super) pairs: u64,
}

/// Reason why the search ended.
pub(super) enum End {
    /// Every pair was expanded.
    Whole,
    /// All sequences of this many steps were executed.
    Limit(u32, SearchEnd),
    /// The sequence's last step is refused.
    Refused(Vec<u32>, ComparedSide),
    /// The goal holds after the sequence on this side only.
    Goal(Vec<u32>, ComparedSide),
}

/// A difference at the pair being expanded.
enum PairDifference {
    Refused(u32, ComparedSide),
    Goal(StateId, ComparedSide),
}

/// State of the search.
struct Product<'b> {
    both: &'b Both,
    /// Cost of each common action on either side; empty if costs are not compared.
    costs: [Vec<Number>; 2],
    table: NodeTable,
    /// Words of the two states in a packed pair.
    widths: [usize; 2],
    now: [State; 2],
    next: [State; 2],
    packed: Vec<u64>,
    own: Vec<u32>,
    applicable: [Vec<u32>; 2],
    /// The first pair and action whose costs differ.
    cost: Option<(StateId, u32)>,
}

/// Searches until a difference is found, all pairs were visited, or a limit is reached.
pub(super) fn search(
    both: &Both,
    priced: bool,
    limits: &EquivalenceLimits,
    resources: &mut dyn ResourceLimits,
) -> ProductResult {
    let mut product = Product::new(both, priced);
    let mut compared = 0;
    let end = product.run(limits, &mut compared, resources);
    let end = end.unwrap_or_else(|reason| End::Limit(compared, SearchEnd::Stopped(reason)));
    let cost = product.cost.map(|(node, action)| product.sequence(node, action));
    ProductResult { end, cost, pairs: product.table.len() as u64 }
}

impl<'b> Product<'b> {
    fn new(both: &'b Both, priced: bool) -> Self {
        let sides = &both.sides;
        let initial = || [sides[0].simulator.initial(), sides[1].simulator.initial()];
        let now = initial();
        let widths = [0, 1].map(|i: usize| now[i].facts.len() + 4 * now[i].numbers.len());
        let costs = sides.each_ref().map(|side| {
            let cost = |&a: &u32| if a == NONE { Number::ZERO } else { side.simulator.cost(a) };
            if priced { side.action.iter().map(cost).collect() } else { Vec::new() }
        });
        Product {
            both,
            costs,
            table: NodeTable::new(widths[0] + widths[1]),
            widths,
            now,
            next: initial(),
            packed: Vec::new(),
            own: Vec::new(),
            applicable: [Vec::new(), Vec::new()],
            cost: None,
        }
    }

    fn run(
        &mut self,
        limits: &EquivalenceLimits,
        compared: &mut u32,
        resources: &mut dyn ResourceLimits,
    ) -> Result<End, StopReason> {
        let resources = &mut ScopedLimits::new(resources);
        let (start, _) = self.insert(crate::search::NONE, NONE);
        if let Some(PairDifference::Goal(_, side)) = self.goal(start) {
            return Ok(End::Goal(Vec::new(), side));
        }
        let (mut open, mut layer_end, mut charged) = (0, 1, 0);
        while open < self.table.len() {
            if open == layer_end {
                *compared += 1;
                layer_end = self.table.len();
            }
            if limits.max_depth == Some(*compared) {
                return Ok(End::Limit(*compared, SearchEnd::Depth));
            }
            if self.table.len() as u64
                > limits.max_pairs.min(u64::from(NONE - 1 - self.both.steps.len() as u32))
            {
                return Ok(End::Limit(*compared, SearchEnd::Pairs));
            }
            if open.is_multiple_of(POLL) {
                check(resources.poll())?;
                let fresh = (self.table.len() - charged) as u64;
                check(resources.charge(fresh * self.table.bytes_per_state()))?;
                charged = self.table.len();
            }
            match self.expand(open as StateId) {
                None => open += 1,
                Some(PairDifference::Refused(action, by)) => {
                    return Ok(End::Refused(self.sequence(open as StateId, action), by));
                }
                Some(PairDifference::Goal(node, side)) => return Ok(End::Goal(self.table.path(node), side)),
            }
        }
        Ok(End::Whole)
    }

    fn sequence(&self, node: StateId, action: u32) -> Vec<u32> {
        let mut path = self.table.path(node);
        path.push(action);
        path
    }

    /// Tries every action of either side, in their common order.
    fn expand(&mut self, node: StateId) -> Option<PairDifference> {
        self.load(node);
        for (i, side) in self.both.sides.iter().enumerate() {
            side.simulator.applicable_into(&self.now[i], &mut self.own);
            let list = &mut self.applicable[i];
            list.clear();
            list.extend(self.own.iter().map(|&a| side.rank[a as usize]).filter(|&r| r != NONE));
            list.sort_unstable();
        }
        for at in 0.. {
            let pair = [0, 1].map(|i: usize| self.applicable[i].get(at).copied());
            match pair {
                [Some(a), Some(b)] if a == b => {
                    if let Some(found) = self.step(node, a) {
                        return Some(found);
                    }
                }
                [None, None] => break,
                // The lists are sorted: what is smaller here is not in the other.
                [a, b] => {
                    let (a, b) = (a.unwrap_or(NONE), b.unwrap_or(NONE));
                    let by = if a < b { ComparedSide::Second } else { ComparedSide::First };
                    return Some(PairDifference::Refused(a.min(b), by));
                }
            }
        }
        None
    }

    /// Executes an action that both allow.
    fn step(&mut self, node: StateId, action: u32) -> Option<PairDifference> {
        for (i, side) in self.both.sides.iter().enumerate() {
            self.next[i].clone_from(&self.now[i]);
            side.simulator.apply(&mut self.next[i], side.action[action as usize]);
        }
        if self.cost.is_none() && !self.costs[0].is_empty() {
            let [a, b] = [0, 1].map(|i: usize| self.costs[i][action as usize]);
            if a != b {
                self.cost = Some((node, action));
            }
        }
        let (reached, fresh) = self.insert(node, action);
        if fresh { self.goal(reached) } else { None }
    }

    /// Returns the difference if exactly one goal holds in the pair inserted last.
    fn goal(&self, node: StateId) -> Option<PairDifference> {
        let [a, b] = [0, 1].map(|i: usize| self.both.sides[i].simulator.is_goal(&self.next[i]));
        (a != b)
            .then_some(PairDifference::Goal(node, if a { ComparedSide::First } else { ComparedSide::Second }))
    }

    /// Puts the pair in `next` into the table.
    fn insert(&mut self, parent: StateId, action: u32) -> (StateId, bool) {
        self.packed.clear();
        for state in &self.next {
            self.packed.extend_from_slice(&state.facts);
            self.packed.extend(state.numbers.iter().flat_map(|n| n.to_words()));
        }
        self.table.insert(&self.packed, parent, action)
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

/// Marks an action that one side does not have.
pub(super) const NONE: u32 = u32::MAX;

/// One side's model with the projections that the comparison needs.
pub(super) struct Ready {
    pub(super) simulator: Simulator,
    /// By fact, whether it matters.
    pub(super) relevant: Vec<bool>,
    /// By action of the model, its common number.
    pub(super) rank: Vec<u32>,
    /// By common number, the model's action.
    pub(super) action: Vec<u32>,
    /// True if the problem has a metric.
    pub(super) priced: bool,
    /// Why the cost of an action is not a constant, as a noun phrase.
    pub(super) cost_unsupported: Option<String>,
}

/// Both models, and the ground actions of either in the order in which they are tried: by name, then by arguments.
pub(super) struct Both {
    pub(super) sides: [Ready; 2],
    pub(super) steps: Vec<NamedStep>,
}

impl Both {
    /// `None` where a model is not grounded.
    pub(super) fn new(models: [&Model; 2]) -> Option<Self> {
        let [first, second] = [models[0].simulator()?, models[1].simulator()?];
        let keys = [keys(models[0], first), keys(models[1], second)];
        let mut steps: Vec<NamedStep> = keys.iter().flatten().flatten().cloned().collect();
        steps.sort_unstable();
        steps.dedup();
        let numbers: FxHashMap<&NamedStep, u32> = steps.iter().zip(0..).collect();
        let sides =
            [(models[0], first, &keys[0]), (models[1], second, &keys[1])].map(|(model, simulator, keys)| {
                let rank: Vec<u32> = keys.iter().map(|k| k.as_ref().map_or(NONE, |k| numbers[k])).collect();
                let mut action = vec![NONE; steps.len()];
                rank.iter().zip(0..).filter(|(r, _)| **r != NONE).for_each(|(&r, a)| action[r as usize] = a);
                let (task, relevant) = reduce_task(simulator.task());
                let cost_unsupported = task.cost_unsupported.as_ref().map(|u| u.what.clone());
                let priced = matches!(model.lifted().metric, Metric::Value { .. });
                Ready {
                    simulator: Simulator::new(Arc::new(task)),
                    relevant,
                    rank,
                    action,
                    priced,
                    cost_unsupported,
                }
            });
        Some(Both { sides, steps })
    }
}

/// The names of a model's ground actions in lower case; none for those of a definition that an earlier one of the same name hides.
fn keys(model: &Model, simulator: &Simulator) -> Vec<Option<NamedStep>> {
    let lower = |name: &String| name.to_lowercase();
    let schemas = model.schema_names().iter().zip(0u32..);
    let hidden: Vec<bool> = schemas.map(|(name, number)| model.find_schema(name) != Some(number)).collect();
    (0..simulator.task().actions.len() as u32)
        .map(|action| {
            let step = || model.step(action);
            (!hidden[model.schema_of(action)]).then(step).map(|step| NamedStep {
                name: lower(&step.name),
                args: step.args.iter().map(lower).collect(),
            })
        })
        .collect()
}

/// The task with the same applicable actions after every sequence and the same goal, whose states differ in fewer facts. Facts keep
/// their numbers; those that do not matter never change and do not hold initially.
pub(super) fn reduce_task(task: &GroundTask) -> (GroundTask, Vec<bool>) {
    let relevant = relevant(task);
    let keeps = |f: &Fact| relevant[*f as usize];
    let kept = |list: &[Fact]| -> Box<[Fact]> { list.iter().copied().filter(keeps).collect() };
    let mut task = task.clone();
    for operator in &mut task.operators {
        operator.add = kept(&operator.add);
        operator.delete = kept(&operator.delete);
        let mut conditional = std::mem::take(&mut operator.conditional).into_vec();
        for effect in &mut conditional {
            effect.add = kept(&effect.add);
            effect.delete = kept(&effect.delete);
        }
        conditional.retain(|e| !e.add.is_empty() || !e.delete.is_empty());
        operator.conditional = conditional.into();
    }
    task.axioms.retain(|a| relevant[a.head as usize]);
    task.init.retain(keeps);
    (task, relevant)
}

/// By fact, whether what is applicable, or the goal, can depend on it.
fn relevant(task: &GroundTask) -> Vec<bool> {
    let mut marks = vec![false; task.facts.len()];
    let mut changed = false;
    if !task.goal_unreachable {
        mark(&mut marks, &task.goal, &mut changed);
    }
    for operator in &task.operators {
        mark(&mut marks, &operator.precondition, &mut changed);
        // The task has only numeric effects whose value is read.
        for effect in &operator.numeric {
            mark(&mut marks, &effect.condition, &mut changed);
        }
    }
    while std::mem::take(&mut changed) {
        for effect in task.operators.iter().flat_map(|o| &o.conditional) {
            if effect.add.iter().chain(&effect.delete).any(|&f| marks[f as usize]) {
                mark(&mut marks, &effect.condition, &mut changed);
            }
        }
        for axiom in &task.axioms {
            if marks[axiom.head as usize] {
                mark(&mut marks, &axiom.condition, &mut changed);
            }
        }
    }
    marks
}

fn mark(marks: &mut [bool], condition: &Condition, changed: &mut bool) {
    for &fact in condition.positive.iter().chain(&condition.negative) {
        let known = std::mem::replace(&mut marks[fact as usize], true);
        *changed |= !known;
    }
}

/// Returns true if both have the same relevant facts, by name, and the same operators, rules, goal and
/// initial values over them. Sound and cheap, but incomplete: models that differ and still behave alike are
/// not recognised.
pub(super) fn same(first: &Ready, second: &Ready, priced: bool) -> bool {
    let Some(numbers) = numbers_by_name(first) else { return false };
    match (form(first, &numbers, priced), form(second, &numbers, priced)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// A fact's name to its number in the first task; `None` where two facts have one name.
fn numbers_by_name(ready: &Ready) -> Option<FxHashMap<String, u32>> {
    let mut numbers = FxHashMap::default();
    for (fact, name) in named_facts(ready) {
        if numbers.insert(name, fact).is_some() {
            return None;
        }
    }
    Some(numbers)
}

fn named_facts(ready: &Ready) -> impl Iterator<Item = (Fact, String)> {
    let task = ready.simulator.task();
    let of = move |(f, atom)| (f as Fact, task.symbols.atom(atom).to_lowercase());
    task.facts.iter().enumerate().filter(|(f, _)| ready.relevant[*f]).map(of)
}

/// A condition over common numbers.
type Literals = (Vec<u32>, Vec<u32>, Vec<String>);

/// One operator over common numbers.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NamedRule {
    action: u32,
    when: Literals,
    add: Vec<u32>,
    delete: Vec<u32>,
    conditional: Vec<(Literals, Vec<u32>, Vec<u32>)>,
    /// In the order written, for that is how they take place.
    numeric: Vec<String>,
    /// Numerator and denominator.
    cost: (i128, i128),
}

/// A task over common indices, in canonical order.
#[derive(PartialEq, Eq)]
struct Form {
    rules: Vec<NamedRule>,
    axioms: Vec<(u32, u32, Literals)>,
    init: Vec<u32>,
    numbers: BTreeMap<String, Number>,
    /// `None` where the goal cannot be reached.
    goal: Option<Literals>,
}

struct Names<'t> {
    task: &'t GroundTask,
    /// By fact; `u32::MAX` for those that do not matter.
    common: Vec<u32>,
}

/// `None` where the task has a fact that matters and that the first task does not have, or two of one name.
fn form(ready: &Ready, numbers: &FxHashMap<String, u32>, priced: bool) -> Option<Form> {
    let task: &GroundTask = ready.simulator.task();
    let mut common = vec![u32::MAX; task.facts.len()];
    let mut met = vec![false; common.len().max(numbers.len())];
    for (fact, name) in named_facts(ready) {
        let number = *numbers.get(&name)?;
        if met.len() <= number as usize {
            met.resize(number as usize + 1, false);
        }
        if std::mem::replace(&mut met[number as usize], true) {
            return None;
        }
        common[fact as usize] = number;
    }
    let names = Names { task, common };
    let mut rules = Vec::with_capacity(task.operators.len());
    for (number, operator) in task.operators.iter().enumerate() {
        let action = ready.rank[operator.action as usize];
        if action != NONE {
            rules.push(names.rule(number, action, priced));
        }
    }
    rules.sort_unstable();
    rules.dedup();
    let axioms = task.axioms.iter();
    let mut axioms: Vec<_> =
        axioms.map(|a| (a.stratum, names.common[a.head as usize], names.literals(&a.condition))).collect();
    axioms.sort_unstable();
    axioms.dedup();
    let defined = |(v, n): (usize, &Number)| (names.variable(v as NumVar), *n);
    Some(Form {
        rules,
        axioms,
        init: names.list(&task.init),
        numbers: task
            .init_numbers
            .iter()
            .enumerate()
            .filter(|(_, n)| !n.is_undefined())
            .map(defined)
            .collect(),
        goal: (!task.goal_unreachable).then(|| names.literals(&task.goal)),
    })
}

impl Names<'_> {
    fn list(&self, facts: &[Fact]) -> Vec<u32> {
        let mut list: Vec<u32> = facts.iter().map(|&f| self.common[f as usize]).collect();
        list.sort_unstable();
        list.dedup();
        list
    }

    fn rule(&self, number: usize, action: u32, priced: bool) -> NamedRule {
        let operator = &self.task.operators[number];
        let own = &operator.precondition;
        // An atom that holds already is not an effect, unless another effect of the step could undo it.
        let plain = operator.conditional.is_empty();
        let new = |list: &[Fact], held: &[Fact]| -> Vec<Fact> {
            list.iter().copied().filter(|f| !plain || held.binary_search(f).is_err()).collect()
        };
        let effects = operator.conditional.iter();
        let mut conditional: Vec<_> =
            effects.map(|e| (self.literals(&e.condition), self.list(&e.add), self.list(&e.delete))).collect();
        conditional.sort_unstable();
        conditional.dedup();
        let numeric = operator.numeric.iter().map(|e| {
            let (positive, negative, numbers) = self.literals(&e.condition);
            let value = self.expression(&e.value);
            let how = e.op.as_str();
            format!("{positive:?} {negative:?} {numbers:?} {how} {} {value}", self.variable(e.variable))
        });
        NamedRule {
            action,
            when: self.literals(own),
            add: self.list(&new(&operator.add, &own.positive)),
            delete: self.list(&new(&operator.delete, &own.negative)),
            conditional,
            numeric: numeric.collect(),
            cost: match priced {
                true => Number::fraction(i128::from(operator.cost), i128::from(self.task.cost_scale))
                    .parts()
                    .unwrap_or_default(),
                false => (0, 1),
            },
        }
    }

    fn literals(&self, condition: &Condition) -> Literals {
        let compared = condition.numeric.iter().map(|c| {
            format!("{} {} {}", self.expression(&c.left), c.comparison.as_str(), self.expression(&c.right))
        });
        let mut numeric: Vec<String> = compared.collect();
        numeric.sort_unstable();
        numeric.dedup();
        (self.list(&condition.positive), self.list(&condition.negative), numeric)
    }

    fn variable(&self, variable: NumVar) -> String {
        self.task.symbols.function_term(&self.task.variables[variable as usize]).to_lowercase()
    }

    fn expression(&self, expression: &NumExpr) -> String {
        match expression {
            NumExpr::Constant(c) => format!("{c:?}"),
            NumExpr::Variable(v) => self.variable(*v),
            NumExpr::Steps => "steps".to_owned(),
            NumExpr::Binary(op, sides) => {
                format!("({} {} {})", op.as_str(), self.expression(&sides.0), self.expression(&sides.1))
            }
        }
    }
}
