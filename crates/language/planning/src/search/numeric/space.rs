//! States of a task with numbers: facts as bits, and for each variable that can change the number of its value in a table of values. Values stay
//! exact. A step whose conditions or values leave exact arithmetic is not taken, and the search is then incomplete.

use crate::axioms::AxiomEvaluator;
use crate::bits;
use crate::simulate::{SuccessorGenerator, apply_facts, apply_numbers};
use crate::task::{Condition, GroundTask, NumCondition, NumVar};
use planforge_pddl::Number;
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// The values that occur in states, by number.
#[derive(Default)]
pub(super) struct Values {
    numbers: Vec<Number>,
    ids: FxHashMap<Number, u32>,
}

impl Values {
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    fn id(&mut self, number: Number) -> u32 {
        *self.ids.entry(number).or_insert_with(|| {
            self.numbers.push(number);
            self.numbers.len() as u32 - 1
        })
    }
}

/// Bytes of a value, about.
pub(super) const VALUE_BYTES: u64 = 100;

/// A state that is not packed.
#[derive(Clone, Default)]
pub(super) struct World {
    pub(super) facts: Vec<u64>,
    /// All variables, also those that never change.
    pub(super) numbers: Vec<Number>,
}

/// A task prepared for search.
pub(super) struct NumericSpace<'t> {
    pub(super) task: &'t GroundTask,
    axioms: AxiomEvaluator,
    numeric_axioms: Vec<&'t NumCondition>,
    generator: SuccessorGenerator,
    /// Variables that are part of a state, ascending.
    tracked: Vec<NumVar>,
    /// Variables that only the metric reads: they belong to the path that leads to a state.
    side: Vec<NumVar>,
    /// True if a condition or a step was left open because arithmetic was not exact.
    inexact: Cell<bool>,
}

impl<'t> NumericSpace<'t> {
    /// `side` lists, in ascending order, the variables that do not distinguish states.
    pub(super) fn new(task: &'t GroundTask, side: &[NumVar]) -> Self {
        let facts_only: Vec<Condition> = task
            .operators
            .iter()
            .map(|o| Condition { numeric: Box::default(), ..o.precondition.clone() })
            .collect();
        let mut changed: Vec<NumVar> =
            task.operators.iter().flat_map(|o| &o.numeric).map(|e| e.variable).collect();
        changed.sort_unstable();
        changed.dedup();
        let (side, tracked) = changed.into_iter().partition(|v| side.binary_search(v).is_ok());
        NumericSpace {
            task,
            axioms: AxiomEvaluator::new(task),
            numeric_axioms: task.axioms.iter().flat_map(|a| a.condition.numeric.iter()).collect(),
            generator: SuccessorGenerator::new(facts_only.iter(), task.facts.len()),
            tracked,
            side,
            inexact: Cell::new(task.init_numbers.iter().any(|n| n.is_inexact())),
        }
    }

    /// True if a state may be missing because arithmetic was not exact.
    pub(super) fn is_incomplete(&self) -> bool {
        self.inexact.get()
    }

    pub(super) fn initial(&self) -> World {
        let mut world = World { facts: vec![0; self.task.words()], numbers: self.task.init_numbers.clone() };
        self.task.init.iter().for_each(|&f| bits::set(&mut world.facts, f));
        self.axioms.close(&mut world.facts, &world.numbers);
        self.note_inexact_axioms(&world.numbers);
        world
    }

    /// Machine words of a packed state.
    pub(super) fn words(&self) -> usize {
        self.task.words() + self.tracked.len().div_ceil(2)
    }

    /// Writes the packed state over `row`.
    pub(super) fn pack(&self, world: &World, values: &mut Values, row: &mut Vec<u64>) {
        row.clear();
        row.extend_from_slice(&world.facts);
        for pair in self.tracked.chunks(2) {
            let mut word = 0;
            for (i, &variable) in pair.iter().enumerate() {
                word |= u64::from(values.id(world.numbers[variable as usize])) << (32 * i);
            }
            row.push(word);
        }
    }

    /// Number of variables beside a packed state.
    pub(super) fn side_len(&self) -> usize {
        self.side.len()
    }

    /// Values of the variables that only the metric reads.
    pub(super) fn side<'w>(&'w self, world: &'w World) -> impl Iterator<Item = Number> + 'w {
        self.side.iter().map(|&v| world.numbers[v as usize])
    }

    /// Writes the state over `world`.
    pub(super) fn unpack(&self, row: &[u64], side: &[Number], values: &Values, world: &mut World) {
        let words = self.task.words();
        world.facts.clear();
        world.facts.extend_from_slice(&row[..words]);
        world.numbers.clone_from(&self.task.init_numbers);
        for (i, &variable) in self.tracked.iter().enumerate() {
            let id = (row[words + i / 2] >> (32 * (i % 2))) as u32;
            world.numbers[variable as usize] = values.numbers[id as usize];
        }
        for (&variable, &value) in self.side.iter().zip(side) {
            world.numbers[variable as usize] = value;
        }
    }

    /// Returns true if a condition holds for certain.
    pub(super) fn holds(&self, condition: &Condition, world: &World) -> bool {
        condition.positive.iter().all(|&f| bits::get(&world.facts, f))
            && condition.negative.iter().all(|&f| !bits::get(&world.facts, f))
            && condition.numeric.iter().all(|c| self.compares(c, &world.numbers))
    }

    fn compares(&self, condition: &NumCondition, numbers: &[Number]) -> bool {
        let (left, right) = (condition.left.value(numbers), condition.right.value(numbers));
        if left.is_inexact() || right.is_inexact() {
            self.inexact.set(true);
            return false;
        }
        condition.comparison.holds(left, right)
    }

    fn note_inexact_axioms(&self, numbers: &[Number]) {
        self.numeric_axioms.iter().for_each(|c| {
            self.compares(c, numbers);
        });
    }

    pub(super) fn is_goal(&self, world: &World) -> bool {
        !self.task.goal_unreachable && self.holds(&self.task.goal, world)
    }

    /// Writes the operators whose preconditions hold over `out`. Those with effects that may have no value may not be applicable.
    pub(super) fn applicable(&self, world: &World, out: &mut Vec<u32>) {
        out.clear();
        self.generator.for_each(&world.facts, &[], &mut |o| {
            let numeric = &self.task.operators[o as usize].precondition.numeric;
            if numeric.iter().all(|c| self.compares(c, &world.numbers)) {
                out.push(o);
            }
        });
    }

    /// Writes the successor over `next`. Returns false if an effect has no value, or no exact one.
    pub(super) fn apply(&self, world: &World, operator: u32, next: &mut World) -> bool {
        let operator = &self.task.operators[operator as usize];
        next.facts.clone_from(&world.facts);
        next.numbers.clone_from(&world.numbers);
        let earlier = self.inexact.replace(false);
        let conditions = operator.conditional.iter().map(|c| &c.condition);
        for condition in conditions.chain(operator.numeric.iter().map(|e| &e.condition)) {
            if !condition.numeric.is_empty() {
                self.holds(condition, world);
            }
        }
        let applied = apply_numbers(operator, &world.facts, &world.numbers, &mut next.numbers);
        if operator.numeric.iter().any(|e| next.numbers[e.variable as usize].is_inexact()) {
            self.inexact.set(true);
        }
        apply_facts(operator, &mut next.facts, &world.numbers);
        if self.numeric_axioms.is_empty() {
            self.axioms.update(&world.facts, &mut next.facts);
        } else {
            self.axioms.close(&mut next.facts, &next.numbers);
            self.note_inexact_axioms(&next.numbers);
        }
        let exact = !self.inexact.get();
        self.inexact.set(earlier || !exact);
        applied && exact
    }

    /// The operators' states one after the other, up to the first that is not applicable.
    pub(super) fn replay<'s>(&'s self, operators: &'s [u32]) -> impl Iterator<Item = World> + 's {
        let first = self.initial();
        let rest = operators.iter().scan(first.clone(), |world, &operator| {
            let shape = &self.task.operators[operator as usize];
            let mut next = World::default();
            if !self.holds(&shape.precondition, world) || !self.apply(world, operator, &mut next) {
                return None;
            }
            world.clone_from(&next);
            Some(next)
        });
        std::iter::once(first).chain(rest)
    }
}
