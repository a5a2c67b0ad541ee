//! Executing a ground task: states, applicable ground actions, successors, derived facts, the goal.
//!
//! [`SuccessorGenerator`] finds applicable operators through a tree over preconditions instead of trying each.

use crate::axioms::AxiomEvaluator;
use crate::bits;
use crate::csr::Csr;
use crate::task::{Atom, Condition, Fact, GroundAction, GroundTask, NumCondition, Operator};
use planforge_pddl::Number;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A state: which facts hold and what the numeric variables are.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) facts: Box<[u64]>,
    pub(crate) numbers: Box<[Number]>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        State { facts: self.facts.clone(), numbers: self.numbers.clone() }
    }

    /// Reuses the memory of a state of the same task.
    fn clone_from(&mut self, source: &Self) {
        self.facts.clone_from(&source.facts);
        self.numbers.clone_from(&source.numbers);
    }
}

impl State {
    /// The facts as bits, by number.
    pub fn bits(&self) -> &[u64] {
        &self.facts
    }

    /// The numeric variables' values.
    pub fn numbers(&self) -> &[Number] {
        &self.numbers
    }
}

/// Executes a ground task. Cheap to share; every method takes `&self`.
#[derive(Debug, Clone)]
pub struct Simulator {
    task: Arc<GroundTask>,
    axioms: AxiomEvaluator,
    generator: SuccessorGenerator,
    /// Action to its operators.
    operators_of: Csr,
    actions: FxHashMap<GroundAction, u32>,
    /// True if an action has several operators, so that one state may list it twice.
    several: bool,
    /// True if an operator's numeric effects may keep it from being applicable.
    partial: bool,
}

impl Simulator {
    /// Prepares a task for simulation.
    pub fn new(task: Arc<GroundTask>) -> Self {
        let rows: Vec<[u32; 1]> = task.operators.iter().map(|o| [o.action]).collect();
        let operators_of =
            Csr::from_rows(rows.iter().map(<[u32; 1]>::as_slice)).transpose(task.actions.len());
        let several = (0..task.actions.len()).any(|a| operators_of.row(a).len() > 1);
        Simulator {
            axioms: AxiomEvaluator::new(&task),
            generator: SuccessorGenerator::new(
                task.operators.iter().map(|o| &o.precondition),
                task.facts.len(),
            ),
            operators_of,
            actions: task.actions.iter().cloned().enumerate().map(|(i, a)| (a, i as u32)).collect(),
            several,
            partial: task.operators.iter().any(|o| o.partial),
            task,
        }
    }

    /// Returns the task.
    pub fn task(&self) -> &Arc<GroundTask> {
        &self.task
    }

    /// Returns the initial state.
    pub fn initial(&self) -> State {
        let mut facts = vec![0; self.task.words()];
        self.task.init.iter().for_each(|&f| bits::set(&mut facts, f));
        let numbers: Box<[Number]> = self.task.init_numbers.as_slice().into();
        self.axioms.close(&mut facts, &numbers);
        State { facts: facts.into(), numbers }
    }

    /// Writes the indices of the applicable ground actions (see [`GroundTask::actions`]) to `out`, each once.
    /// Replaces its contents.
    pub fn applicable_into(&self, state: &State, out: &mut Vec<u32>) {
        out.clear();
        let operators = &self.task.operators;
        self.generator.for_each(&state.facts, &state.numbers, &mut |o| {
            let operator = &operators[o as usize];
            if !self.partial || !operator.partial || next_numbers(operator, state).is_some() {
                out.push(operator.action);
            }
        });
        if self.several {
            out.sort_unstable();
            out.dedup();
        }
    }

    /// The numbers of the applicable ground actions, each once.
    pub fn applicable(&self, state: &State) -> Vec<u32> {
        let mut out = Vec::new();
        self.applicable_into(state, &mut out);
        out
    }

    /// The number of a ground action; `None` where no reachable state allows it, or it does not exist.
    pub fn find_action(&self, action: &GroundAction) -> Option<u32> {
        self.actions.get(action).copied()
    }

    /// Returns true if a ground action is applicable.
    pub fn is_applicable(&self, state: &State, action: u32) -> bool {
        self.operator(state, action).is_some()
    }

    fn operator(&self, state: &State, action: u32) -> Option<&Operator> {
        self.operators_of.row(action as usize).iter().map(|&o| &self.task.operators[o as usize]).find(|o| {
            o.precondition.holds(&state.facts, &state.numbers)
                && (!o.partial || next_numbers(o, state).is_some())
        })
    }

    /// The state after a ground action; `None` where it is not applicable.
    pub fn successor(&self, state: &State, action: u32) -> Option<State> {
        let mut next = state.clone();
        self.apply(&mut next, action).then_some(next)
    }

    /// Executes a ground action in place; whether it was applicable.
    pub fn apply(&self, state: &mut State, action: u32) -> bool {
        let Some(operator) = self.operator(state, action) else { return false };
        let numbers = if operator.numeric.is_empty() { None } else { next_numbers(operator, state) };
        apply_facts(operator, &mut state.facts, &state.numbers);
        if let Some(numbers) = numbers {
            state.numbers = numbers;
        }
        self.axioms.close(&mut state.facts, &state.numbers);
        true
    }

    /// Returns the amount that a ground action adds to the metric (1 if steps are counted).
    pub fn cost(&self, action: u32) -> Number {
        let first = self.operators_of.row(action as usize).first();
        first.map_or(Number::ZERO, |&o| {
            let cost = i128::from(self.task.operators[o as usize].cost);
            Number::fraction(cost, i128::from(self.task.cost_scale))
        })
    }

    /// Returns true if the goal holds.
    pub fn is_goal(&self, state: &State) -> bool {
        !self.task.goal_unreachable && self.task.goal.holds(&state.facts, &state.numbers)
    }

    /// The facts that hold, as atoms; static ones are not part of a state.
    pub fn atoms<'s>(&'s self, state: &'s State) -> impl Iterator<Item = &'s Atom> + 's {
        bits::ones(&state.facts).map(|f| &self.task.facts[f as usize])
    }
}

/// Executes the effects on facts: everything deleted first, then everything added. Conditions are tested in the state
/// before.
#[inline]
pub(crate) fn apply_facts(operator: &Operator, facts: &mut [u64], numbers: &[Number]) {
    if operator.conditional.is_empty() {
        operator.delete.iter().for_each(|&f| bits::clear(facts, f));
        operator.add.iter().for_each(|&f| bits::set(facts, f));
        return;
    }
    let firing: smallvec::SmallVec<[usize; 16]> = (0..operator.conditional.len())
        .filter(|&i| operator.conditional[i].condition.holds(facts, numbers))
        .collect();
    operator.delete.iter().for_each(|&f| bits::clear(facts, f));
    for &i in &firing {
        operator.conditional[i].delete.iter().for_each(|&f| bits::clear(facts, f));
    }
    for &i in &firing {
        operator.conditional[i].add.iter().for_each(|&f| bits::set(facts, f));
    }
    operator.add.iter().for_each(|&f| bits::set(facts, f));
}

/// Returns the numeric variables after a step; `None` if it is not applicable.
pub(crate) fn next_numbers(operator: &Operator, state: &State) -> Option<Box<[Number]>> {
    let mut numbers = state.numbers.clone();
    apply_numbers(operator, &state.facts, &state.numbers, &mut numbers).then_some(numbers)
}

/// Executes the effects on `numbers`, which are those of the state before. All amounts are computed in that state. Returns false if
/// an effect has no value, or if two effects contradict each other: one step may change a variable several times by amounts only.
pub(crate) fn apply_numbers(
    operator: &Operator,
    facts: &[u64],
    before: &[Number],
    numbers: &mut [Number],
) -> bool {
    let mut changed: FxHashMap<u32, bool> = FxHashMap::default();
    for effect in &operator.numeric {
        if effect.condition.holds(facts, before) {
            let variable = effect.variable as usize;
            let value = effect.apply(numbers[variable], before);
            if operator.partial {
                let additive = effect.op.is_additive();
                let earlier = changed.insert(effect.variable, additive);
                if value.is_undefined() || earlier.is_some_and(|earlier| !(earlier && additive)) {
                    return false;
                }
            }
            numbers[variable] = value;
        }
    }
    true
}

/// A tree whose edges are facts and whose nodes list operators. An operator hangs at the path of its positive preconditions,
/// the rarest first: few true facts then lead far.
#[derive(Debug, Clone)]
pub(crate) struct SuccessorGenerator {
    /// Child of the root by fact, or `NONE`.
    roots: Vec<u32>,
    nodes: Vec<Node>,
    child_facts: Vec<Fact>,
    child_nodes: Vec<u32>,
    operators: Vec<u32>,
    /// By operator: the facts that must not hold.
    negative: Csr,
    /// Comparisons of the operators that have any.
    numeric: FxHashMap<u32, Box<[NumCondition]>>,
}

/// Ranges of a node's operators and children.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    operators: (u32, u32),
    children: (u32, u32),
}

const NONE: u32 = u32::MAX;

impl SuccessorGenerator {
    /// The generator of operators with these preconditions.
    pub(crate) fn new<'a>(conditions: impl Iterator<Item = &'a Condition> + Clone, facts: usize) -> Self {
        let mut frequency = vec![0u32; facts];
        for condition in conditions.clone() {
            condition.positive.iter().for_each(|&f| frequency[f as usize] += 1);
        }
        // Of each node the one above it and the fact between them, and of each operator its node.
        let mut above: Vec<(u32, Fact)> = vec![(NONE, 0)];
        let mut below: FxHashMap<(u32, Fact), u32> = FxHashMap::default();
        let mut node_of = Vec::new();
        let (mut negative, mut numeric) = (Csr::new(), FxHashMap::default());
        let mut path = Vec::new();
        for (number, condition) in conditions.enumerate() {
            path.clear();
            path.extend_from_slice(&condition.positive);
            path.sort_by_key(|&f| (frequency[f as usize], f));
            let mut node = 0;
            for &fact in &path {
                let fresh = above.len() as u32;
                let child = *below.entry((node, fact)).or_insert(fresh);
                if child == fresh {
                    above.push((node, fact));
                }
                node = child;
            }
            node_of.push(node);
            negative.push_row(&condition.negative);
            if !condition.numeric.is_empty() {
                numeric.insert(number as u32, condition.numeric.clone());
            }
        }
        let mut generator = SuccessorGenerator {
            roots: vec![NONE; facts],
            nodes: vec![Node::default(); above.len()],
            child_facts: vec![0; above.len() - 1],
            child_nodes: vec![0; above.len() - 1],
            operators: vec![0; node_of.len()],
            negative,
            numeric,
        };
        generator.fill(&above, &node_of);
        generator
    }

    /// Lists the operators and the children of each node, both in the order of their numbers.
    fn fill(&mut self, above: &[(u32, Fact)], node_of: &[u32]) {
        let nodes = &mut self.nodes;
        node_of.iter().for_each(|&node| nodes[node as usize].operators.1 += 1);
        above[1..].iter().for_each(|&(node, _)| nodes[node as usize].children.1 += 1);
        let (mut operators, mut children) = (0, 0);
        for node in nodes.iter_mut() {
            let counts = (node.operators.1, node.children.1);
            *node = Node { operators: (operators, operators), children: (children, children) };
            (operators, children) = (operators + counts.0, children + counts.1);
        }
        for (operator, &node) in node_of.iter().enumerate() {
            let end = &mut nodes[node as usize].operators.1;
            self.operators[*end as usize] = operator as u32;
            *end += 1;
        }
        for (child, &(node, fact)) in above.iter().enumerate().skip(1) {
            let end = &mut nodes[node as usize].children.1;
            self.child_facts[*end as usize] = fact;
            self.child_nodes[*end as usize] = child as u32;
            *end += 1;
            if node == 0 {
                self.roots[fact as usize] = child as u32;
            }
        }
        nodes[0].children = (0, 0);
    }

    /// Calls `f` with each applicable operator.
    #[inline]
    pub(crate) fn for_each(
        &self,
        facts: &[u64],
        numbers: &[planforge_pddl::Number],
        f: &mut impl FnMut(u32),
    ) {
        self.visit(0, facts, numbers, f);
        for (i, &word) in facts.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                let fact = (i as u32) << 6 | left.trailing_zeros();
                left &= left - 1;
                let node = self.roots[fact as usize];
                if node != NONE {
                    self.visit(node, facts, numbers, f);
                }
            }
        }
    }

    fn visit(&self, node: u32, facts: &[u64], numbers: &[planforge_pddl::Number], f: &mut impl FnMut(u32)) {
        let node = self.nodes[node as usize];
        for &operator in &self.operators[node.operators.0 as usize..node.operators.1 as usize] {
            if self.negative.row(operator as usize).iter().all(|&fact| !bits::get(facts, fact))
                && (self.numeric.is_empty() || self.compares(operator, numbers))
            {
                f(operator);
            }
        }
        for child in node.children.0 as usize..node.children.1 as usize {
            if bits::get(facts, self.child_facts[child]) {
                self.visit(self.child_nodes[child], facts, numbers, f);
            }
        }
    }

    /// Returns true if the comparisons of an operator hold.
    fn compares(&self, operator: u32, numbers: &[Number]) -> bool {
        let comparisons = self.numeric.get(&operator).map_or(&[][..], |comparisons| comparisons);
        comparisons.iter().all(|c| c.holds(numbers))
    }
}
