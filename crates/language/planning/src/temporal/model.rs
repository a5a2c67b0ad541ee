//! The ground task of the temporal search: the ends of durative actions and timed literals as events with what they read and write, and the
//! moves of the search, each of which is one event or the two ends of an action at once.

use super::snap::{Part, SnapTask};
use crate::lifted::{Formula, Term};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::search::NONE;
use crate::task::{
    Atom, Axiom, Condition, ConditionalEffect, Fact, GroundAction, GroundTask, NumCondition, NumEffect,
    NumExpr, NumVar, ObjectId, Operator,
};
use planforge_pddl::Number;
use planforge_pddl::ast::CompareOp;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Time in millionths of a unit.
pub(super) type Ticks = i64;
/// Ticks in a unit of time.
pub(super) const SCALE: i128 = 1_000_000;
/// Latest time: sums of two times do not overflow.
pub(super) const LAST: Ticks = i64::MAX / 4;

/// The time nearest to a number; `None` where it is negative, too large or not exact.
pub(super) fn to_ticks(value: Number) -> Option<Ticks> {
    let (numerator, denominator) = value.parts()?;
    let (whole, rest) = (numerator.div_euclid(denominator), numerator.rem_euclid(denominator));
    let rest = rest.checked_mul(SCALE)?.checked_add(denominator / 2)? / denominator;
    let ticks = Ticks::try_from(whole.checked_mul(SCALE)?.checked_add(rest)?).ok()?;
    (0..=LAST).contains(&ticks).then_some(ticks)
}

/// The number of a time.
pub(super) fn to_number(ticks: Ticks) -> Number {
    Number::fraction(i128::from(ticks), SCALE)
}

/// Part of a step that an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    /// An instantaneous action.
    Whole,
    /// The start of a durative action.
    Start,
    /// The end of a durative action.
    End,
    /// The timed literals with the time of this index.
    Timed(usize),
}

/// Something that happens at one time.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) kind: EventKind,
    /// Conditions and effects; bounds of the duration are not among them.
    pub(super) operator: Operator,
    /// Comparisons of the duration that are tested here.
    pub(super) bounds: Vec<(CompareOp, NumExpr)>,
    /// Index of the durative action, or [`NONE`].
    pub(super) instance: u32,
    /// Resources that conditions and amounts depend on.
    pub(super) reads: Vec<u32>,
    /// Other resources that the condition over all depends on.
    pub(super) lasting: Vec<u32>,
    /// Resources that effects change.
    pub(super) writes: Vec<u32>,
    /// True if an effect or condition depends on the duration, which is then fixed at the start.
    pub(super) uses_duration: bool,
    /// Facts beyond the conditions of the text that decide what the event does.
    observed: Vec<Fact>,
}

/// A ground durative action.
#[derive(Debug, Default)]
pub(super) struct Instance {
    /// The action in the numbering of the timed task.
    pub(super) action: Option<GroundAction>,
    pub(super) starts: Vec<u32>,
    pub(super) ends: Vec<u32>,
    /// The condition over all holds where one of these does; empty if it has none.
    pub(super) invariants: Vec<Condition>,
}

/// A step of the search: an event, or the start and the end of an action.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    pub(super) first: u32,
    /// The end, or [`NONE`].
    pub(super) second: u32,
    /// True if the action takes as long as its bounds allow, not as short.
    pub(super) longest: bool,
}

/// The ground task of the temporal search.
pub(super) struct Model {
    /// Operators are the moves, without numbers: for the heuristic and the generator of moves.
    pub(super) moves_task: GroundTask,
    pub(super) moves: Vec<Move>,
    /// Moves from here on are timed literals, in order of their times.
    pub(super) first_timed: usize,
    pub(super) events: Vec<Event>,
    pub(super) instances: Vec<Instance>,
    pub(super) times: Vec<Ticks>,
    /// Resources of events: facts, numbers, predicates that derived facts depend on.
    pub(super) resources: usize,
    pub(super) duration: Option<NumVar>,
    /// True if numbers decide what is applicable.
    pub(super) has_numbers: bool,
    pub(super) goal: Condition,
    /// Fact to the instance that it says is running, else [`NONE`].
    pub(super) running: Vec<u32>,
    /// Timed literals that write a resource, ascending.
    pub(super) timed_writers: Vec<Vec<u32>>,
    /// Timed literals that read a resource, ascending: constraints can depend on the state before them.
    pub(super) timed_readers: Vec<Vec<u32>>,
}

/// Estimated bytes of an event or move.
const ITEM_BYTES: u64 = 500;
/// Most moves of one action: its preconditions are disjunctions.
const MAX_COMBINATIONS: usize = 256;

impl Model {
    /// Reads the ground task without time. `observed` are further facts that decide what its operators do.
    pub(super) fn new(
        snap: &SnapTask,
        task: &GroundTask,
        observed: &[Vec<Fact>],
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, StopReason> {
        let duration = task.variables.iter().position(|term| term.predicate == snap.duration);
        let mut model = Model {
            moves_task: GroundTask { operators: Vec::new(), numeric_condition: None, ..task.clone() },
            moves: Vec::new(),
            first_timed: 0,
            events: Vec::new(),
            instances: Vec::new(),
            times: Vec::new(),
            resources: task.facts.len() + task.variables.len() + snap.lifted.predicates.len(),
            duration: duration.map(|d| d as NumVar),
            has_numbers: false,
            goal: task.goal.clone(),
            running: vec![NONE; task.facts.len()],
            timed_writers: Vec::new(),
            timed_readers: Vec::new(),
        };
        model.times = snap.times.iter().map_while(|&time| to_ticks(time)).collect();
        check(resources.charge(task.operators.len() as u64 * ITEM_BYTES))?;
        model.read_events(snap, task, observed, resources)?;
        let derived = DerivedReads::new(snap, task, resources)?;
        model.read_resources(snap, task, &derived, resources)?;
        model.build_moves(resources)?;
        Ok(model)
    }

    fn read_events(
        &mut self,
        snap: &SnapTask,
        task: &GroundTask,
        observed: &[Vec<Fact>],
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let mut by_action: FxHashMap<GroundAction, u32> = FxHashMap::default();
        let offset = snap.parts.iter().position(|part| matches!(part, Part::Start(_))).unwrap_or(0) as u32;
        let mut timed = Vec::new();
        for (number, operator) in task.operators.iter().enumerate() {
            check(resources.poll())?;
            let observed = observed.get(number).cloned().unwrap_or_default();
            let named = &task.actions[operator.action as usize];
            let part = snap.parts[named.action as usize];
            let mut operator = operator.clone();
            let (kind, index) = match part {
                Part::Whole => (EventKind::Whole, None),
                Part::Start(index) => (EventKind::Start, Some(index)),
                Part::End(index) => (EventKind::End, Some(index)),
                Part::Invariant(index) => (EventKind::Whole, Some(index)),
                Part::Timed(index) => (EventKind::Timed(index), None),
            };
            let mut instance = NONE;
            if let Some(index) = index {
                let action = GroundAction { action: offset + index as u32, args: named.args.clone() };
                let fresh = self.instances.len() as u32;
                instance = *by_action.entry(action.clone()).or_insert(fresh);
                if instance == fresh {
                    self.instances.push(Instance { action: Some(action), ..Instance::default() });
                }
            }
            if matches!(part, Part::Invariant(_)) {
                self.instances[instance as usize].invariants.push(operator.precondition);
                continue;
            }
            let Some(bounds) = self.take_bounds(&mut operator.precondition) else { continue };
            let uses_duration = self.duration.is_some_and(|d| mentions(&operator, d));
            let number = self.events.len() as u32;
            match kind {
                EventKind::Start => self.instances[instance as usize].starts.push(number),
                EventKind::End => self.instances[instance as usize].ends.push(number),
                EventKind::Timed(index) if index < self.times.len() => timed.push((index, number)),
                EventKind::Timed(_) => continue,
                EventKind::Whole => {}
            }
            let (reads, lasting, writes) = (Vec::new(), Vec::new(), Vec::new());
            self.events.push(Event {
                kind,
                operator,
                bounds,
                instance,
                reads,
                lasting,
                writes,
                uses_duration,
                observed,
            });
        }
        // The facts about running actions are those that starts add, beyond what the domain has.
        for (number, instance) in self.instances.iter().enumerate() {
            let known = snap.lifted.predicates.len() - snap.times.len();
            let first = known - snap.parts.iter().filter(|p| matches!(p, Part::Start(_))).count();
            for &start in &instance.starts {
                for &fact in &self.events[start as usize].operator.add {
                    let predicate = task.facts[fact as usize].predicate as usize;
                    if (first..known).contains(&predicate) {
                        self.running[fact as usize] = number as u32;
                    }
                }
            }
        }
        let has_invariant: FxHashSet<u32> = snap.parts.iter().filter_map(invariant_of).collect();
        for instance in &mut self.instances {
            let running = &self.running;
            let is_running = |f: &Fact| running[*f as usize] != NONE;
            for condition in &mut instance.invariants {
                condition.positive = condition.positive.iter().copied().filter(|f| !is_running(f)).collect();
            }
            let durative = instance.action.as_ref().map(|action| action.action - offset);
            if instance.invariants.is_empty() && durative.is_some_and(|d| has_invariant.contains(&d)) {
                // The condition over all can never hold.
                instance.starts.clear();
                instance.ends.clear();
            }
        }
        timed.sort_unstable();
        self.first_timed = timed.len();
        self.moves =
            timed.into_iter().map(|(_, event)| Move { first: event, second: NONE, longest: false }).collect();
        Ok(())
    }

    /// Removes the comparisons of the duration; `None` if one of them can never hold.
    fn take_bounds(&self, condition: &mut Condition) -> Option<Vec<(CompareOp, NumExpr)>> {
        let Some(duration) = self.duration else { return Some(Vec::new()) };
        let mut bounds = Vec::new();
        let mut others: Vec<NumCondition> = Vec::new();
        for numeric in std::mem::take(&mut condition.numeric) {
            if numeric.left != NumExpr::Variable(duration) {
                others.push(numeric);
                continue;
            }
            if matches!(&numeric.right, NumExpr::Constant(c) if c.parts().is_none()) {
                return None;
            }
            bounds.push((numeric.comparison, numeric.right));
        }
        condition.numeric = others.into();
        Some(bounds)
    }

    fn read_resources(
        &mut self,
        snap: &SnapTask,
        task: &GroundTask,
        derived: &DerivedReads,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let mentions = Mentions::new(snap, task);
        let numbers = task.facts.len() as u32;
        let groups = numbers + task.variables.len() as u32;
        let duration = self.duration;
        let mut timed_writers = vec![Vec::new(); self.resources];
        let mut timed_readers = vec![Vec::new(); self.resources];
        for event in &mut self.events {
            let mut reads = BTreeSet::new();
            let mut lasting = BTreeSet::new();
            let mut writes = BTreeSet::new();
            let see_fact = |fact: Fact, reads: &mut BTreeSet<u32>| match derived.of(fact) {
                None => _ = reads.insert(fact),
                Some(resources) => reads.extend(resources),
            };
            let see_numbers = |condition: &Condition, reads: &mut BTreeSet<u32>| {
                for numeric in &condition.numeric {
                    for side in [&numeric.left, &numeric.right] {
                        for_each_variable(side, &mut |v| _ = reads.insert(numbers + v));
                    }
                }
            };
            let operator = &event.operator;
            check(resources.poll())?;
            event.observed.iter().for_each(|&fact| see_fact(fact, &mut reads));
            mentions.collect(&task.actions[operator.action as usize], &mut |fact| see_fact(fact, &mut reads));
            see_numbers(&operator.precondition, &mut reads);
            for effect in &operator.conditional {
                see_numbers(&effect.condition, &mut reads);
                writes.extend(effect.add.iter().chain(&effect.delete));
            }
            writes.extend(operator.add.iter().chain(&operator.delete));
            for effect in &operator.numeric {
                see_numbers(&effect.condition, &mut reads);
                for_each_variable(&effect.value, &mut |v| _ = reads.insert(numbers + v));
                writes.insert(numbers + effect.variable);
            }
            for (_, value) in &event.bounds {
                for_each_variable(value, &mut |v| _ = reads.insert(numbers + v));
            }
            if event.instance != NONE {
                for invariant in &self.instances[event.instance as usize].invariants {
                    let facts = invariant.positive.iter().chain(&invariant.negative);
                    facts.for_each(|&fact| see_fact(fact, &mut lasting));
                    see_numbers(invariant, &mut lasting);
                }
            }
            for fact in writes.iter().copied().filter(|&f| f < numbers).collect::<Vec<_>>() {
                let predicate = task.facts[fact as usize].predicate;
                if derived.is_input(predicate) {
                    writes.insert(groups + predicate);
                }
            }
            if let Some(duration) = duration {
                reads.remove(&(numbers + duration));
                lasting.remove(&(numbers + duration));
            }
            event.lasting = lasting.difference(&reads).copied().filter(|r| !writes.contains(r)).collect();
            event.reads = reads.into_iter().filter(|r| !writes.contains(r)).collect();
            event.writes = writes.into_iter().collect();
            if let EventKind::Timed(index) = event.kind {
                event.writes.iter().for_each(|&r| timed_writers[r as usize].push(index as u32));
                event.reads.iter().for_each(|&r| timed_readers[r as usize].push(index as u32));
            }
        }
        timed_writers.iter_mut().chain(&mut timed_readers).for_each(|list| list.sort_unstable());
        (self.timed_writers, self.timed_readers) = (timed_writers, timed_readers);
        self.has_numbers = self.events.iter().any(|event| {
            !event.operator.precondition.numeric.is_empty()
                || !event.operator.numeric.is_empty()
                || event.operator.conditional.iter().any(|effect| !effect.condition.numeric.is_empty())
                || event.operator.partial
        }) || !self.goal.numeric.is_empty()
            || self.instances.iter().flat_map(|i| &i.invariants).any(|c| !c.numeric.is_empty())
            || self.derives_from_numbers();
        Ok(())
    }

    fn build_moves(&mut self, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        let negated = self.facts_needed_false();
        let timed = std::mem::take(&mut self.moves);
        let mut operators = Vec::new();
        let mut moves = Vec::new();
        let mut push = |first: u32, second: u32, operator: Operator, is_flexible: bool| {
            moves.push(Move { first, second, longest: false });
            if is_flexible {
                moves.push(Move { first, second, longest: true });
                operators.push(operator.clone());
            }
            operators.push(operator);
        };
        for (number, event) in self.events.iter().enumerate() {
            if event.kind == EventKind::Whole {
                push(number as u32, NONE, event.operator.clone(), false);
            }
        }
        let none = [Condition::default()];
        for instance in &self.instances {
            check(resources.poll())?;
            let invariants: &[Condition] =
                if instance.invariants.is_empty() { &none } else { &instance.invariants };
            let event = |number: u32| &self.events[number as usize];
            let ends =
                instance.starts.iter().flat_map(|&start| instance.ends.iter().map(move |&end| (start, end)));
            let all =
                ends.flat_map(|(start, end)| invariants.iter().map(move |over_all| (start, end, over_all)));
            let is_running = |f: Fact| self.running[f as usize] != NONE;
            let mut pairs = Vec::new();
            let mut is_atomic = true;
            for (start, end, over_all) in all.take(MAX_COMBINATIONS) {
                check(resources.charge(ITEM_BYTES))?;
                let whole = compose(&event(start).operator, over_all, &event(end).operator, is_running);
                is_atomic &=
                    whole.is_some() && is_atomic_pair(event(start), event(end), invariants, &negated);
                pairs.extend(whole.map(|whole| (start, end, whole)));
            }
            is_atomic &= instance.starts.len() * instance.ends.len() * invariants.len() <= MAX_COMBINATIONS;
            // An amount that depends on the duration may need the longest one.
            let is_flexible = |start: u32, end: u32| {
                let fixed = |event: &Event| event.bounds.iter().any(|b| b.0 == CompareOp::Equal);
                let (start, end) = (event(start), event(end));
                (start.uses_duration || end.uses_duration) && !fixed(start) && !fixed(end)
            };
            for (start, end, whole) in pairs {
                push(start, end, whole, is_flexible(start, end));
            }
            if is_atomic || instance.ends.is_empty() {
                continue;
            }
            for &start in &instance.starts {
                let is_flexible = instance.ends.iter().any(|&end| is_flexible(start, end));
                let operators =
                    invariants.iter().map(|over_all| before_start(&event(start).operator, over_all));
                for operator in operators.flatten().take(MAX_COMBINATIONS) {
                    push(start, NONE, operator, is_flexible);
                }
            }
            for &end in &instance.ends {
                push(end, NONE, event(end).operator.clone(), false);
            }
        }
        self.first_timed = moves.len();
        operators.extend(timed.iter().map(|m| self.events[m.first as usize].operator.clone()));
        moves.extend(timed);
        for (number, operator) in operators.iter_mut().enumerate() {
            operator.action = number as u32;
            operator.cost = 1;
            // Comparisons with the duration are tested where it is known.
            let duration = self.duration;
            let known = |c: &NumCondition| {
                let mut found = false;
                for side in [&c.left, &c.right] {
                    for_each_variable(side, &mut |v| found |= duration == Some(v));
                }
                !found
            };
            let numeric = std::mem::take(&mut operator.precondition.numeric);
            operator.precondition.numeric = numeric.into_iter().filter(known).collect();
        }
        self.moves = moves;
        self.moves_task.operators = operators;
        Ok(())
    }

    /// For each fact, true if some condition needs it to be false.
    fn facts_needed_false(&self) -> Vec<bool> {
        let mut needed = vec![false; self.running.len()];
        let mut mark = |c: &Condition| c.negative.iter().for_each(|&f| needed[f as usize] = true);
        for event in &self.events {
            mark(&event.operator.precondition);
            event.operator.conditional.iter().for_each(|c| mark(&c.condition));
        }
        self.instances.iter().flat_map(|i| &i.invariants).for_each(&mut mark);
        self.moves_task.axioms.iter().for_each(|a| mark(&a.condition));
        mark(&self.goal);
        needed
    }

    /// Returns true if derived facts depend on numbers.
    pub(super) fn derives_from_numbers(&self) -> bool {
        self.moves_task.axioms.iter().any(|axiom| !axiom.condition.numeric.is_empty())
    }

    /// The least duration of a move in thousandths, and one; 1 where it depends on the state.
    fn duration_of(&self, step: &Move) -> u64 {
        let bounds = self.events[step.first as usize].bounds.iter();
        let least = bounds.filter(|(comparison, _)| {
            matches!(comparison, CompareOp::Equal | CompareOp::Greater | CompareOp::GreaterEqual)
        });
        let ticks = least.filter_map(|(_, value)| match value {
            NumExpr::Constant(value) => to_ticks(*value),
            _ => None,
        });
        ticks.max().unwrap_or(0) as u64 / 1000 + 1
    }

    /// The classical task of the actions that are executed as a whole. Numbers are left out, so that its plans may not be executable.
    pub(super) fn compressed(&self) -> (GroundTask, Vec<u32>) {
        let whole = |m: &Move| {
            let event = &self.events[m.first as usize];
            !m.longest && (m.second != NONE || event.kind == EventKind::Whole)
        };
        let numbers = (0..self.first_timed as u32).filter(|&m| whole(&self.moves[m as usize]));
        let (mut operators, mut moves) = (Vec::new(), Vec::new());
        for number in numbers {
            let operator = &self.moves_task.operators[number as usize];
            let cost = self.duration_of(&self.moves[number as usize]);
            operators.push(Operator {
                action: moves.len() as u32,
                cost,
                precondition: Condition { numeric: Box::default(), ..operator.precondition.clone() },
                conditional: operator.conditional.iter().map(without_numbers).collect(),
                numeric: Box::default(),
                partial: false,
                ..operator.clone()
            });
            moves.push(number);
        }
        let action = GroundAction { action: 0, args: Box::default() };
        let actions = vec![action; moves.len()];
        let goal = Condition { numeric: Box::default(), ..self.goal.clone() };
        (GroundTask { operators, actions, goal, cost_unsupported: None, ..self.moves_task.clone() }, moves)
    }
}

fn invariant_of(part: &Part) -> Option<u32> {
    if let Part::Invariant(index) = part { Some(*index as u32) } else { None }
}

/// Returns true if nothing is lost where the two ends of an action follow each other in the order of the search: what happens between them
/// in a plan can happen before or after both.
fn is_atomic_pair(start: &Event, end: &Event, invariants: &[Condition], negated: &[bool]) -> bool {
    let (start, end) = (&start.operator, &end.operator);
    if invariants.len() > 1 || !start.conditional.is_empty() || !end.conditional.is_empty() {
        return false;
    }
    let over_all = &invariants[0];
    let kept = |f: &Fact| {
        over_all.positive.contains(f) || start.precondition.positive.contains(f) || start.add.contains(f)
    };
    let end_needs_nothing_new = end.precondition.positive.iter().all(kept)
        && end.precondition.negative.iter().all(|f| {
            over_all.negative.contains(f)
                || start.delete.contains(f)
                || start.precondition.negative.contains(f)
        })
        && end.precondition.numeric.is_empty();
    // Starts add at least the fact that the action is running, and ends delete it.
    let gives = start.add.iter().any(|f| !end.add.contains(f)) && start.add.len() > 1;
    let takes = end.delete.len() > 1;
    let hides = start.delete.iter().any(|f| negated[*f as usize] && end.add.contains(f));
    let numbers = !start.numeric.is_empty() && !end.numeric.is_empty();
    let is_envelope = gives && takes;
    end_needs_nothing_new && !is_envelope && !hides && !numbers
}

/// Conditions for the start of an action whose condition over all holds right after it.
fn before_start(start: &Operator, invariant: &Condition) -> Option<Operator> {
    let clash = |a: &[Fact], b: &[Fact]| a.iter().any(|f| b.contains(f));
    if clash(&invariant.positive, &start.delete) || clash(&invariant.negative, &start.add) {
        return None;
    }
    let left = |needed: &[Fact], given: &[Fact]| -> Vec<Fact> {
        needed.iter().copied().filter(|f| !given.contains(f)).collect()
    };
    let pre = &start.precondition;
    let positive = union(&pre.positive, &left(&invariant.positive, &start.add));
    let negative = union(&pre.negative, &left(&invariant.negative, &start.delete));
    if clash(&positive, &negative) {
        return None;
    }
    let precondition =
        Condition { positive: positive.into(), negative: negative.into(), numeric: pre.numeric.clone() };
    Some(Operator { precondition, ..start.clone() })
}

/// One operator for the start and the end of an action.
fn compose(
    start: &Operator,
    invariant: &Condition,
    end: &Operator,
    is_running: impl Fn(Fact) -> bool,
) -> Option<Operator> {
    let not_running =
        |list: &[Fact]| -> Box<[Fact]> { list.iter().copied().filter(|&f| !is_running(f)).collect() };
    let needed = Condition {
        positive: union(&invariant.positive, &not_running(&end.precondition.positive)).into(),
        negative: union(&invariant.negative, &end.precondition.negative).into(),
        numeric: Box::default(),
    };
    let base = before_start(start, &needed)?;
    let add: Vec<Fact> = start.add.iter().copied().filter(|f| !end.delete.contains(f)).collect();
    let add = union(&not_running(&add), &end.add);
    let delete = union(&start.delete, &not_running(&end.delete));
    let delete: Vec<Fact> = delete.into_iter().filter(|f| add.binary_search(f).is_err()).collect();
    let mut conditional = start.conditional.to_vec();
    for effect in &end.conditional {
        let as_start = Operator { precondition: Condition::default(), ..start.clone() };
        if let Some(given) = before_start(&as_start, &effect.condition) {
            let condition =
                Condition { numeric: effect.condition.numeric.clone(), ..given.precondition.clone() };
            conditional.push(ConditionalEffect { condition, ..effect.clone() });
        }
    }
    let numeric: Vec<NumEffect> = start.numeric.iter().chain(&end.numeric).cloned().collect();
    Some(Operator {
        add: add.into(),
        delete: delete.into(),
        conditional: conditional.into(),
        numeric: numeric.into(),
        partial: start.partial || end.partial,
        ..base
    })
}

fn without_numbers(effect: &ConditionalEffect) -> ConditionalEffect {
    let condition = Condition { numeric: Box::default(), ..effect.condition.clone() };
    ConditionalEffect { condition, ..effect.clone() }
}

fn union(a: &[Fact], b: &[Fact]) -> Vec<Fact> {
    let mut all: Vec<Fact> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn for_each_variable(expr: &NumExpr, f: &mut impl FnMut(NumVar)) {
    match expr {
        NumExpr::Constant(_) | NumExpr::Steps => {}
        NumExpr::Variable(variable) => f(*variable),
        NumExpr::Binary(_, sides) => {
            for_each_variable(&sides.0, f);
            for_each_variable(&sides.1, f);
        }
    }
}

/// Returns true if a condition or an amount of an operator depends on a variable.
fn mentions(operator: &Operator, variable: NumVar) -> bool {
    let mut found = false;
    let mut see = |expr: &NumExpr| for_each_variable(expr, &mut |v| found |= v == variable);
    let conditions = operator
        .conditional
        .iter()
        .map(|effect| &effect.condition)
        .chain(operator.numeric.iter().map(|effect| &effect.condition));
    for numeric in conditions.chain([&operator.precondition]).flat_map(|c| c.numeric.iter()) {
        see(&numeric.left);
        see(&numeric.right);
    }
    operator.numeric.iter().for_each(|effect| see(&effect.value));
    found
}

/// Facts that the conditions of schemas mention. Grounding leaves some of them out, and all count where two actions interfere.
struct Mentions<'t> {
    task: &'t GroundTask,
    by_atom: FxHashMap<&'t Atom, Fact>,
    by_predicate: FxHashMap<u32, Vec<Fact>>,
    /// For each schema the literals, with the parameters that their arguments are; `None` for any object.
    literals: Vec<Vec<(u32, Vec<Option<Term>>)>>,
}

impl<'t> Mentions<'t> {
    fn new(snap: &SnapTask, task: &'t GroundTask) -> Self {
        let mut by_predicate: FxHashMap<u32, Vec<Fact>> = FxHashMap::default();
        for (fact, atom) in task.facts.iter().enumerate() {
            by_predicate.entry(atom.predicate).or_default().push(fact as Fact);
        }
        let by_atom = task.facts.iter().zip(0..).collect();
        let literals = snap.lifted.schemas.iter().zip(&snap.own).map(|(schema, own)| {
            let conditions = schema.effects.iter().map(|group| &group.condition);
            let mut found = Vec::new();
            for formula in conditions.chain([own]) {
                formula.for_each_literal(&mut |atom, _, _| {
                    let parameter = |term: &Term| match term {
                        Term::Slot(slot) if *slot as usize >= schema.parameters => None,
                        known => Some(*known),
                    };
                    found.push((atom.predicate, atom.args.iter().map(parameter).collect()));
                });
            }
            found
        });
        Mentions { task, by_atom, by_predicate, literals: literals.collect() }
    }

    fn collect(&self, action: &GroundAction, f: &mut impl FnMut(Fact)) {
        for (predicate, terms) in &self.literals[action.action as usize] {
            let args: Option<Box<[ObjectId]>> =
                terms.iter().map(|term| term.map(|term| term.object(&action.args))).collect();
            if let Some(args) = args {
                if let Some(&fact) = self.by_atom.get(&Atom { predicate: *predicate, args }) {
                    f(fact);
                }
                continue;
            }
            for &fact in self.by_predicate.get(predicate).into_iter().flatten() {
                let args = &self.task.facts[fact as usize].args;
                let matches = |(term, object): (&Option<Term>, &u32)| {
                    term.is_none_or(|term| term.object(&action.args) == *object)
                };
                if terms.iter().zip(args).all(matches) {
                    f(fact);
                }
            }
        }
    }
}

/// Resources that derived facts depend on. An atom of a derived predicate depends on all atoms of the predicates below it, as in
/// validation; a fact that grounding invents, on the facts of its disjunction.
struct DerivedReads {
    basic: usize,
    /// For each derived fact.
    resources: Vec<Vec<u32>>,
    /// Predicates that rules read.
    inputs: FxHashSet<u32>,
}

impl DerivedReads {
    fn new(
        snap: &SnapTask,
        task: &GroundTask,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, StopReason> {
        let numbers = task.facts.len() as u32;
        let groups = numbers + task.variables.len() as u32;
        let rules = &snap.lifted.rules;
        let mut below: FxHashMap<u32, FxHashSet<u32>> = FxHashMap::default();
        let mut compares = false;
        for rule in rules {
            let list = below.entry(rule.predicate).or_default();
            rule.body.for_each_literal(&mut |atom, _, _| _ = list.insert(atom.predicate));
            compares |= Formula::has_comparison(&rule.body);
        }
        let closure = |predicate: u32| -> FxHashSet<u32> {
            let mut all = FxHashSet::default();
            let mut open = vec![predicate];
            while let Some(next) = open.pop() {
                for &inner in below.get(&next).into_iter().flatten() {
                    if all.insert(inner) {
                        open.push(inner);
                    }
                }
            }
            all
        };
        let inputs: FxHashSet<u32> = below.keys().flat_map(|&p| closure(p)).collect();
        let invented: FxHashMap<u32, Vec<&Axiom>> = {
            let mut map: FxHashMap<u32, Vec<&Axiom>> = FxHashMap::default();
            let known = snap.lifted.predicates.len() as u32;
            for axiom in &task.axioms {
                if task.facts[axiom.head as usize].predicate >= known {
                    map.entry(axiom.head).or_default().push(axiom);
                }
            }
            map
        };
        let mut all = Vec::new();
        let mut closures: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let all_numbers = if compares { numbers..groups } else { numbers..numbers };
        for fact in task.basic_facts as u32..numbers {
            check(resources.poll())?;
            let mut read: BTreeSet<u32> = BTreeSet::new();
            let mut open = vec![fact];
            let mut seen = FxHashSet::default();
            while let Some(next) = open.pop() {
                if !seen.insert(next) {
                    continue;
                }
                let predicate = task.facts[next as usize].predicate;
                if (next as usize) < task.basic_facts {
                    read.insert(next);
                } else if let Some(axioms) = invented.get(&next) {
                    for condition in axioms.iter().map(|axiom| &axiom.condition) {
                        open.extend(condition.positive.iter().chain(&condition.negative));
                        for numeric in &condition.numeric {
                            for side in [&numeric.left, &numeric.right] {
                                for_each_variable(side, &mut |v| _ = read.insert(numbers + v));
                            }
                        }
                    }
                } else {
                    let list = closures.entry(predicate).or_insert_with(|| {
                        closure(predicate)
                            .into_iter()
                            .map(|p| groups + p)
                            .chain(all_numbers.clone())
                            .collect()
                    });
                    read.extend(list.iter());
                }
            }
            check(resources.charge(4 * read.len() as u64))?;
            all.push(read.into_iter().collect());
        }
        Ok(DerivedReads { basic: task.basic_facts, resources: all, inputs })
    }

    /// What a derived fact depends on; `None` for a basic fact.
    fn of(&self, fact: Fact) -> Option<&Vec<u32>> {
        (fact as usize).checked_sub(self.basic).map(|derived| &self.resources[derived])
    }

    fn is_input(&self, predicate: u32) -> bool {
        self.inputs.contains(&predicate)
    }
}
