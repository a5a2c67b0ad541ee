//! Forward search over moves: events, and actions as a whole.
//!
//! Lazy greedy best-first search with the relaxed plan of the moves as the heuristic and its applicable moves preferred, as the classical
//! search has it. A state is the facts, the numbers and the running actions. Times are not part of it: the timeline of its path has
//! the earliest ones, and a path whose timeline is impossible is left. Numbers count in conditions and effects, not in the heuristic.
//! A state is searched again if its path is earlier and running actions or timed literals make time matter.

use super::model::{Event, EventKind, LAST, Model, Move, Ticks, to_number, to_ticks};
use super::timeline::{Bounds, EPSILON, Impossible, Running, Timeline};
use crate::axioms::AxiomEvaluator;
use crate::resources::{LimitWatch, StopReason};
use crate::search::{FfHeuristic, NONE, Relaxed, SearchStatistics};
use crate::simulate::{State, SuccessorGenerator, apply_facts, next_numbers};
use crate::task::{GroundAction, GroundTask};
use planforge_pddl::Number;
use planforge_pddl::ast::CompareOp;
use rustc_hash::{FxHashMap, FxHasher};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;
use std::hash::Hasher;

/// A step of a plan with its times.
#[derive(Debug, Clone)]
pub(super) struct TimedStep {
    pub(super) action: GroundAction,
    pub(super) start: Ticks,
    pub(super) duration: Option<Ticks>,
}

/// A state and the timeline of the path to it.
pub(super) struct Execution<'m> {
    model: &'m Model,
    axioms: &'m AxiomEvaluator,
    pub(super) timeline: Timeline<'m>,
    state: State,
    running: Vec<Running>,
    next_timed: usize,
}

impl<'m> Execution<'m> {
    pub(super) fn new(model: &'m Model, axioms: &'m AxiomEvaluator, is_total: bool) -> Self {
        let state = State { facts: Box::default(), numbers: Box::default() };
        let timeline = Timeline::new(model, is_total);
        let mut execution = Execution { model, axioms, timeline, state, running: Vec::new(), next_timed: 0 };
        execution.reset();
        execution
    }

    fn reset(&mut self) {
        let task = &self.model.moves_task;
        let mut facts = vec![0; task.words()];
        task.init.iter().for_each(|&f| crate::bits::set(&mut facts, f));
        let numbers: Box<[Number]> = task.init_numbers.as_slice().into();
        self.axioms.close(&mut facts, &numbers);
        self.state = State { facts: facts.into(), numbers };
        self.timeline.clear();
        self.running.clear();
        self.next_timed = 0;
    }

    /// Executes a move; false if it is not applicable or cannot be scheduled. The state is then useless.
    pub(super) fn execute(&mut self, step: Move) -> bool {
        self.happen(step.first, step.longest) && (step.second == NONE || self.happen(step.second, false))
    }

    fn happen(&mut self, number: u32, longest: bool) -> bool {
        let model = self.model;
        let event = &model.events[number as usize];
        let mut running = None;
        match event.kind {
            EventKind::Whole => {}
            EventKind::Timed(index) => {
                if index != self.next_timed {
                    return false;
                }
                self.next_timed += 1;
            }
            EventKind::Start => {
                let any = Bounds { least: 0, most: LAST };
                let Some(mut bounds) = self.bounds(event, any) else { return false };
                let ends = model.instances[event.instance as usize].ends.iter();
                let uses = ends.map(|&end| &model.events[end as usize]).any(|end| end.uses_duration);
                if uses || event.uses_duration {
                    let least = bounds.least.max(EPSILON).min(bounds.most);
                    let chosen = if longest { bounds.most } else { least };
                    bounds = Bounds { least: chosen, most: chosen };
                }
                running = Some(Running { instance: event.instance, start: 0, bounds });
            }
            EventKind::End => {
                let Some(at) = self.running.iter().position(|r| r.instance == event.instance) else {
                    return false;
                };
                let mut own = self.running.swap_remove(at);
                let Some(bounds) = self.bounds(event, own.bounds) else { return false };
                own.bounds = bounds;
                running = Some(own);
            }
        }
        let duration = running.map(|r| r.bounds.least);
        self.set_duration(duration);
        let operator = &event.operator;
        if !operator.precondition.holds(&self.state.facts, &self.state.numbers) {
            return false;
        }
        let numbers = if operator.numeric.is_empty() {
            None
        } else {
            let Some(numbers) = next_numbers(operator, &self.state) else { return false };
            Some(numbers)
        };
        apply_facts(operator, &mut self.state.facts, &self.state.numbers);
        if let Some(numbers) = numbers {
            self.state.numbers = numbers;
        }
        self.axioms.close(&mut self.state.facts, &self.state.numbers);
        let ended = running.filter(|_| event.kind == EventKind::End);
        let Ok(index) = self.timeline.push(number, ended, self.next_timed) else { return false };
        if let Some(started) = running.filter(|_| event.kind == EventKind::Start) {
            self.running.push(Running { start: index, ..started });
        }
        let kept = (0..self.running.len()).all(|r| self.invariant_holds(r));
        self.set_duration(None);
        kept
    }

    fn invariant_holds(&mut self, running: usize) -> bool {
        let Running { instance, bounds, .. } = self.running[running];
        let invariants = &self.model.instances[instance as usize].invariants;
        if invariants.iter().any(|c| !c.numeric.is_empty()) {
            self.set_duration(Some(bounds.least));
        }
        invariants.is_empty() || invariants.iter().any(|c| c.holds(&self.state.facts, &self.state.numbers))
    }

    fn set_duration(&mut self, duration: Option<Ticks>) {
        if let Some(variable) = self.model.duration {
            self.state.numbers[variable as usize] = duration.map_or(Number::ZERO, to_number);
        }
    }

    /// The bounds with those that an event tests; `None` if no duration satisfies them.
    fn bounds(&self, event: &Event, mut bounds: Bounds) -> Option<Bounds> {
        for (comparison, value) in &event.bounds {
            let value = value.value(&self.state.numbers);
            value.parts()?;
            let is_lower = matches!(comparison, CompareOp::Greater | CompareOp::GreaterEqual);
            let ticks = match to_ticks(value) {
                Some(ticks) => ticks,
                None if is_lower && value.is_negative() => 0,
                None if !is_lower && !value.is_negative() && *comparison != CompareOp::Equal => LAST,
                None => return None,
            };
            match comparison {
                CompareOp::Equal => {
                    bounds = Bounds { least: bounds.least.max(ticks), most: bounds.most.min(ticks) };
                }
                CompareOp::GreaterEqual => bounds.least = bounds.least.max(ticks),
                CompareOp::Greater => bounds.least = bounds.least.max(ticks + 1),
                CompareOp::LessEqual => bounds.most = bounds.most.min(ticks),
                CompareOp::Less => bounds.most = bounds.most.min(ticks - 1),
            }
        }
        (bounds.least <= bounds.most).then_some(bounds)
    }

    /// Returns true if nothing is running and the goal holds after the timed literals that are still to come.
    pub(super) fn is_goal(&self) -> bool {
        if !self.running.is_empty() {
            return false;
        }
        let goal = &self.model.goal;
        if self.next_timed == self.model.times.len() {
            return goal.holds(&self.state.facts, &self.state.numbers);
        }
        let mut state = self.state.clone();
        for timed in &self.model.moves[self.model.first_timed + self.next_timed..] {
            let operator = &self.model.events[timed.first as usize].operator;
            apply_facts(operator, &mut state.facts, &state.numbers);
            if let Some(numbers) = next_numbers(operator, &state) {
                state.numbers = numbers;
            }
        }
        self.axioms.close(&mut state.facts, &state.numbers);
        goal.holds(&state.facts, &state.numbers)
    }

    /// The steps so far, ascending by their start.
    pub(super) fn steps(&self, task: &GroundTask) -> Vec<TimedStep> {
        let mut steps: Vec<TimedStep> = Vec::new();
        let mut of_start: FxHashMap<u32, usize> = FxHashMap::default();
        for (index, scheduled) in self.timeline.steps.iter().enumerate() {
            let event = &self.model.events[scheduled.event as usize];
            match event.kind {
                EventKind::Timed(_) => {}
                EventKind::Whole => {
                    let action = task.actions[event.operator.action as usize].clone();
                    steps.push(TimedStep { action, start: scheduled.time, duration: None });
                }
                EventKind::Start => {
                    of_start.insert(index as u32, steps.len());
                    let action = self.model.instances[event.instance as usize].action.clone();
                    steps.extend(action.map(|action| TimedStep {
                        action,
                        start: scheduled.time,
                        duration: Some(0),
                    }));
                }
                EventKind::End => {
                    if let Some(&step) = of_start.get(&scheduled.start) {
                        steps[step].duration = Some(scheduled.time - steps[step].start);
                    }
                }
            }
        }
        steps.sort_by_key(|step| step.start);
        steps
    }

    /// Value of the steps so far.
    fn value(&self, objective: &Objective) -> f64 {
        let events = self.timeline.steps.iter().map(|step| &self.model.events[step.event as usize]);
        let cost: u128 = events.map(|event| u128::from(event.operator.cost)).sum();
        let time = objective.per_tick * self.timeline.makespan() as f64;
        objective.base + time + objective.per_cost * cost as f64
    }

    fn hash_of_facts(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.state.facts.iter().for_each(|&word| hasher.write_u64(word));
        hasher.finish()
    }

    /// Hash of facts and numbers.
    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.hash_of_facts());
        for number in &self.state.numbers {
            number.to_words().iter().for_each(|&word| hasher.write_u64(word));
        }
        hasher.finish()
    }

    /// The later, the less can still be done: the time since running actions started and, with timed literals to come, since the beginning.
    fn lateness(&self) -> Ticks {
        let now = self.timeline.makespan();
        let running = self.running.iter().map(|r| now - self.timeline.steps[r.start as usize].time);
        let pending = if self.next_timed < self.model.times.len() { now } else { 0 };
        running.fold(pending, Ticks::saturating_add)
    }
}

/// Value of a plan that is minimised: a lower bound of the metric, exact without preferences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Objective {
    /// Value of the empty plan.
    pub(super) base: f64,
    /// Per tick of the makespan.
    pub(super) per_tick: f64,
    /// Per unit of the costs of events.
    pub(super) per_cost: f64,
}

/// Order and bound of a search for a better plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Improvement {
    pub(super) objective: Objective,
    /// Value of the best plan: others are worth less.
    pub(super) below: f64,
    /// Value that a move adds on average.
    pub(super) unit: f64,
    /// Weight of the heuristic against the value so far.
    pub(super) weight: u32,
}

impl Improvement {
    /// Parts of the average value of a move that values are compared in.
    const PARTS: f64 = 16.0;

    fn key(&self, value: f64, heuristic: u32) -> u32 {
        let own = (value / self.unit * Self::PARTS).clamp(0.0, 1e9) as u32;
        own.saturating_add(heuristic.saturating_mul(self.weight).saturating_mul(Self::PARTS as u32))
    }
}

/// End of a turn of a search.
pub(super) enum SearchEnd {
    /// A plan and its moves. The search can continue.
    Plan(Vec<TimedStep>, Vec<u32>),
    /// The turn is over. The search can continue.
    Paused,
    /// No state is left. States of a path that is later than another one were left out, so that this is not a proof.
    Exhausted,
}

/// Bytes of a node with its places in the queues and its share of the set of states.
const NODE_BYTES: u64 = 96;
/// Turns that the queue of preferred moves is ahead after progress, as in LAMA.
const BOOST: i64 = 1000;

/// An open list: by key, then first in, first out.
#[derive(Default)]
struct Open {
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    turn: i64,
}

/// A search that can be continued after each plan.
pub(super) struct Search<'m> {
    pub(super) model: &'m Model,
    pub(super) axioms: &'m AxiomEvaluator,
    relaxed: Relaxed,
    generator: SuccessorGenerator,
    /// Parent and move of each node.
    nodes: Vec<(u32, u32)>,
    open: [Open; 2],
    seen: FxHashMap<u64, Ticks>,
    /// Evaluated states with the same facts: numbers can grow without end, so that further ones wait.
    visits: FxHashMap<u64, u32>,
    best: u32,
    /// Evaluated states.
    pub(super) work: u64,
    /// Heuristic value of the initial state.
    pub(super) first_value: u32,
    /// The node of the last plan.
    last_goal: u32,
    /// The node to expand next although it satisfies the goal, or [`NONE`].
    refused: u32,
}

impl<'m> Search<'m> {
    pub(super) fn new(
        model: &'m Model,
        axioms: &'m AxiomEvaluator,
        watch: &mut LimitWatch<'_>,
    ) -> Result<Self, StopReason> {
        let task = &model.moves_task;
        let relaxed = Relaxed::new(task, &task.goal);
        watch.charge(relaxed.bytes())?;
        watch.poll()?;
        let conditions = task.operators[..model.first_timed].iter().map(|o| &o.precondition);
        let mut search = Search {
            model,
            axioms,
            relaxed,
            generator: SuccessorGenerator::new(conditions, task.facts.len()),
            nodes: Vec::new(),
            open: [Open::default(), Open::default()],
            seen: FxHashMap::default(),
            visits: FxHashMap::default(),
            best: u32::MAX,
            work: 0,
            first_value: 1,
            last_goal: NONE,
            refused: NONE,
        };
        search.restart();
        Ok(search)
    }

    /// Number of nodes since the last start.
    pub(super) fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Starts anew from the initial state.
    pub(super) fn restart(&mut self) {
        self.nodes.clear();
        self.nodes.push((NONE, NONE));
        self.seen.clear();
        self.visits.clear();
        self.open = [Open::default(), Open::default()];
        self.open[0].heap.push(Reverse((0, 0)));
        self.best = u32::MAX;
        self.work = 0;
        self.refused = NONE;
    }

    /// Says that the last plan is not valid: its last state is expanded like others.
    pub(super) fn refuse(&mut self) {
        self.refused = self.last_goal;
    }

    /// Continues until a plan, or until so many states were evaluated since the start.
    pub(super) fn run(
        &mut self,
        task: &GroundTask,
        improvement: Option<&Improvement>,
        work: u64,
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<SearchEnd, StopReason> {
        let (model, nodes) = (self.model, &mut self.nodes);
        let mut heuristic = FfHeuristic::new(&self.relaxed, model.moves.len(), None);
        let mut execution = Execution::new(model, self.axioms, false);
        // The node that the execution is at; the initial one at first.
        let mut current = 0;
        let (mut preferred, mut applicable) = (Vec::new(), Vec::new());
        while self.work < work {
            let is_refused = self.refused != NONE;
            let next = if is_refused { Some(self.refused) } else { pop(&mut self.open) };
            self.refused = NONE;
            let Some(node) = next else { return Ok(SearchEnd::Exhausted) };
            watch.tick(nodes.len(), NODE_BYTES)?;
            let (parent, step) = nodes[node as usize];
            if node == 0 {
                execution.reset();
            } else if parent == current {
                if !execution.execute(model.moves[step as usize]) {
                    current = NONE;
                    continue;
                }
            } else {
                execution.reset();
                current = NONE;
                if !path_to(nodes, node).iter().all(|&step| execution.execute(model.moves[step as usize])) {
                    continue;
                }
            }
            current = node;
            let (mut rank, mut value) = (execution.lateness(), 0.0);
            if let Some(improvement) = improvement {
                value = execution.value(&improvement.objective);
                if value >= improvement.below {
                    continue;
                }
                rank = (value / improvement.unit * 1e6) as Ticks;
            }
            match self.seen.entry(execution.hash()) {
                Entry::Occupied(known) if *known.get() <= rank && !is_refused => continue,
                Entry::Occupied(mut known) => _ = known.insert(rank),
                Entry::Vacant(place) => _ = place.insert(rank),
            }
            if !is_refused && execution.is_goal() {
                self.last_goal = node;
                return Ok(SearchEnd::Plan(execution.steps(task), path_to(nodes, node)));
            }
            self.work += 1;
            statistics.evaluated += 1;
            let found = heuristic.evaluate(&execution.state.facts, &mut preferred);
            let Some(distance) = found else { continue };
            statistics.expanded += 1;
            if node == 0 {
                self.first_value = distance.max(1);
            }
            if distance < self.best {
                self.best = distance;
                self.open[1].turn -= BOOST;
            }
            applicable.clear();
            let State { facts, numbers } = &execution.state;
            self.generator.for_each(facts, numbers, &mut |step| applicable.push(step));
            if execution.next_timed < model.times.len() {
                applicable.push((model.first_timed + execution.next_timed) as u32);
            }
            let visits = self.visits.entry(execution.hash_of_facts()).or_insert(0);
            let distance = distance.saturating_add(*visits);
            *visits += 1;
            let key = improvement.map_or(distance, |improvement| improvement.key(value, distance));
            let waits = preferred.iter().any(|&step| step as usize >= model.first_timed);
            preferred.sort_unstable();
            for &step in &applicable {
                statistics.generated += 1;
                let child = nodes.len() as u32;
                nodes.push((node, step));
                self.open[0].heap.push(Reverse((key, child)));
                let is_timed = step as usize >= model.first_timed;
                if preferred.binary_search(&step).is_ok() || is_timed && waits {
                    self.open[1].heap.push(Reverse((key, child)));
                }
            }
        }
        Ok(SearchEnd::Paused)
    }
}

/// The moves that lead to a node.
fn path_to(nodes: &[(u32, u32)], node: u32) -> Vec<u32> {
    let mut path = Vec::new();
    let mut at = node;
    while at != 0 {
        let (parent, step) = nodes[at as usize];
        path.push(step);
        at = parent;
    }
    path.reverse();
    path
}

/// The next node of the open list whose turn it is.
fn pop(open: &mut [Open; 2]) -> Option<u32> {
    let mut list = usize::from(open[1].turn <= open[0].turn);
    if open[list].heap.is_empty() {
        list = 1 - list;
    }
    open[list].turn += 1;
    open[list].heap.pop().map(|Reverse((_, node))| node)
}

/// The steps of a sequence of moves; `is_total` keeps the order of all their ends.
pub(super) fn schedule(
    model: &Model,
    axioms: &AxiomEvaluator,
    task: &GroundTask,
    moves: &[u32],
    is_total: bool,
) -> Result<Vec<TimedStep>, Impossible> {
    let mut execution = Execution::new(model, axioms, is_total);
    for &step in moves {
        if !execution.execute(model.moves[step as usize]) {
            return Err(Impossible);
        }
    }
    if execution.is_goal() { Ok(execution.steps(task)) } else { Err(Impossible) }
}
