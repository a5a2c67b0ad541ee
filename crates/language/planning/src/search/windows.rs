//! Parts of a plan, replaced by cheaper ones: steps without use are left out, and windows of the plan are planned anew.
//!
//! A window is a part of the plan between two of its states. Its replacement leads from the first of them to the facts that the rest of
//! the plan needs, which is less than the second state. A* searches it below the cost of the window, with a limit on its work. Lengths
//! go from short to long; when no length helps, the limit grows.

use super::astar::{self, Bound, Cost, EVALUATION, Exploration, Target, Total};
use super::greedy::{self, Greedy, Guidance};
use super::space::{SearchStatistics, Space};
use crate::bits;
use crate::resources::{LimitWatch, ResourceLimits, ScopedLimits, StopReason, check};
use crate::task::{Condition, Fact};
use rustc_hash::FxHashSet;
use std::hash::{Hash, Hasher};

/// Most steps applied to find those without use.
const ELIMINATION_STEPS: usize = 4_000_000;

/// Leaves out steps without use: each step in turn, with the later steps that it makes inapplicable, if the goal is still reached.
/// Plans that are too long for this are returned as they are.
pub(super) fn eliminate(
    space: &Space<'_>,
    plan: &mut Vec<u32>,
    resources: &mut dyn ResourceLimits,
) -> Result<(), StopReason> {
    if plan.len().saturating_mul(plan.len()) > ELIMINATION_STEPS {
        return Ok(());
    }
    let mut before = space.initial();
    let (mut state, mut next) = (Vec::new(), Vec::new());
    let mut i = 0;
    while i < plan.len() {
        check(resources.poll())?;
        state.clone_from(&before);
        let mut rest = Vec::new();
        for &operator in &plan[i + 1..] {
            if space.task.operators[operator as usize].precondition.holds(&state, &[]) {
                space.apply(&state, operator, &mut next);
                std::mem::swap(&mut state, &mut next);
                rest.push(operator);
            }
        }
        if space.is_goal(&state) {
            plan.truncate(i);
            plan.extend(rest);
        } else {
            space.apply(&before, plan[i], &mut next);
            std::mem::swap(&mut before, &mut next);
            i += 1;
        }
    }
    Ok(())
}

/// Facts that must hold, and facts that must not.
#[derive(Clone)]
struct Needs {
    positive: Vec<u64>,
    negative: Vec<u64>,
}

impl Needs {
    fn of(condition: &Condition, words: usize) -> Self {
        let mut needs = Needs { positive: vec![0; words], negative: vec![0; words] };
        needs.add(condition);
        needs
    }

    fn add(&mut self, condition: &Condition) {
        condition.positive.iter().for_each(|&f| bits::set(&mut self.positive, f));
        condition.negative.iter().for_each(|&f| bits::set(&mut self.negative, f));
    }

    fn effects(&mut self, add: &[Fact], delete: &[Fact]) {
        add.iter().for_each(|&f| bits::clear(&mut self.positive, f));
        delete.iter().for_each(|&f| bits::clear(&mut self.negative, f));
    }

    fn condition(&self) -> Condition {
        Condition {
            positive: bits::ones(&self.positive).collect(),
            negative: bits::ones(&self.negative).collect(),
            numeric: Box::default(),
        }
    }
}

/// The search for cheaper windows, in passes over the plan.
pub(super) struct Windows {
    /// Index into the lengths.
    level: usize,
    /// Most work on a window.
    effort: u64,
    /// Windows for which it is proven that they cannot be cheaper.
    proven: FxHashSet<u64>,
    /// True if the window of this pass is the whole plan.
    is_whole: bool,
    /// True if the whole plan is proven optimal.
    is_optimal: bool,
    /// True if LM-cut applies to the task.
    additive: bool,
    /// Limit on the generated states of the statistics.
    max_generated: u64,
    pub(super) work: u64,
}

/// Result of a pass over the plan.
pub(super) struct Pass {
    /// The plan with what was replaced so far.
    pub(super) plan: Vec<u32>,
    pub(super) stopped: Option<StopReason>,
}

/// Length of the shortest windows; each longer one has twice the length.
const SHORTEST: usize = 4;
/// Work on a window of the first round.
const FIRST_EFFORT: u64 = 10_000;
/// Weight of the heuristic in weighted A* for a window.
const WINDOW_WEIGHT: u32 = 2;
/// Most bytes of needs that are kept in a pass.
const NEEDS_BYTES: usize = 64 << 20;

impl Windows {
    pub(super) fn new(additive: bool, max_generated: u64) -> Self {
        Windows {
            additive,
            max_generated,
            level: 0,
            effort: FIRST_EFFORT,
            proven: FxHashSet::default(),
            is_whole: false,
            is_optimal: false,
            work: 0,
        }
    }

    /// True if a round over all lengths has found nothing.
    pub(super) fn is_in_later_round(&self) -> bool {
        self.effort > FIRST_EFFORT
    }

    /// Starts with the shortest windows again, because the plan is another.
    pub(super) fn restart(&mut self) {
        self.level = 0;
    }

    /// Replaces windows of one length all along the plan. `None` if the plan is proven optimal.
    pub(super) fn pass<C: Cost>(
        &mut self,
        space: &Space<'_>,
        plan: &[u32],
        resources: &mut dyn ResourceLimits,
        statistics: &mut SearchStatistics,
    ) -> Option<Pass> {
        let length = (SHORTEST << self.level.min(40)).min(plan.len());
        self.is_whole = length == plan.len();
        let mut pass = self.replace::<C>(space, plan, length, resources, statistics);
        if pass.plan != plan {
            self.restart();
        } else if self.is_optimal {
            return None;
        } else if !self.is_whole {
            self.level += 1;
        } else {
            self.effort = self.effort.saturating_mul(4);
            self.restart();
        }
        pass.plan.shrink_to_fit();
        Some(pass)
    }

    fn replace<C: Cost>(
        &mut self,
        space: &Space<'_>,
        plan: &[u32],
        length: usize,
        resources: &mut dyn ResourceLimits,
        statistics: &mut SearchStatistics,
    ) -> Pass {
        let words = space.task.words();
        let stride = (length / 2).max(plan.len() * words * 16 / NEEDS_BYTES).max(1);
        let ends = needs_at(space, plan, stride);
        let mut out = Vec::with_capacity(plan.len());
        let mut state = space.initial();
        let mut next = Vec::new();
        let mut done = 0;
        let mut start = 0;
        let mut stopped = None;
        let step = |state: &mut Vec<u64>, next: &mut Vec<u64>, operator| {
            space.apply(state, operator, next);
            std::mem::swap(state, next);
        };
        self.work += plan.len() as u64;
        while start < plan.len() {
            for &operator in &plan[done..start] {
                step(&mut state, &mut next, operator);
                out.push(operator);
            }
            done = start;
            let end = (start + length.next_multiple_of(stride)).min(plan.len());
            let window = &plan[start..end];
            let needs = &ends[end.div_ceil(stride)];
            let found = check(resources.poll())
                .and_then(|()| self.cheaper::<C>(space, &state, needs, window, resources, statistics));
            match found {
                Ok(Some(better)) => {
                    better.iter().for_each(|&operator| step(&mut state, &mut next, operator));
                    out.extend(better);
                    done = end;
                    start = end;
                }
                Ok(None) => start += stride,
                Err(reason) => {
                    stopped = Some(reason);
                    break;
                }
            }
            if end == plan.len() {
                break;
            }
        }
        out.extend(&plan[done..]);
        Pass { plan: out, stopped }
    }

    /// A cheaper way from a state to what the rest of the plan needs, if the effort finds one.
    fn cheaper<C: Cost>(
        &mut self,
        space: &Space<'_>,
        state: &[u64],
        needs: &Needs,
        window: &[u32],
        resources: &mut dyn ResourceLimits,
        statistics: &mut SearchStatistics,
    ) -> Result<Option<Vec<u32>>, StopReason> {
        let cost: u128 = window.iter().map(|&o| u128::from(space.cost(o))).sum();
        let mut hasher = rustc_hash::FxHasher::default();
        (state, &needs.positive, &needs.negative, cost).hash(&mut hasher);
        let key = hasher.finish();
        // A proof for the whole plan does not rest on a hash.
        if cost == 0 || !self.is_whole && self.proven.contains(&key) {
            return Ok(None);
        }
        let goal = needs.condition();
        let target = Target { goal: &goal, ceiling: C::Total::of(cost) };
        // Many windows are small enough for a blind search, which expands states much faster.
        let mut result =
            self.explore(space, state, &mut Bound::<C>::Blind, &target, resources, statistics)?;
        if matches!(result, Replaced::GivenUp) {
            let guidance = Guidance::between(space.task, state, &goal);
            self.work += EVALUATION;
            if let Ok(ceiling) = u64::try_from(cost) {
                result = self.descend(space, &guidance, ceiling, resources, statistics)?;
            }
            if matches!(result, Replaced::GivenUp) {
                let mut bound = Bound::<C>::for_goal(&guidance.relaxed, self.additive);
                result = self.explore(space, state, &mut bound, &target, resources, statistics)?;
            }
        }
        Ok(match result {
            Replaced::Cheaper(plan) => Some(plan),
            Replaced::Proven => {
                self.proven.insert(key);
                self.is_optimal |= self.is_whole;
                None
            }
            Replaced::GivenUp => None,
        })
    }

    /// A*, for a cheapest replacement.
    fn explore<C: Cost>(
        &mut self,
        space: &Space<'_>,
        state: &[u64],
        bound: &mut Bound<'_, C>,
        target: &Target<'_, C::Total>,
        resources: &mut dyn ResourceLimits,
        statistics: &mut SearchStatistics,
    ) -> Result<Replaced, StopReason> {
        let mut resources = ScopedLimits::new(resources);
        let mut watch = LimitWatch::new(&mut resources, u64::from(u32::MAX - 1));
        let mut search = Exploration::<C>::new(space, state);
        let result = loop {
            let Some(part) = self.part(search.work, statistics)? else { break Replaced::GivenUp };
            let before = search.work;
            let progress = search.run(space, bound, target, part, &mut watch, statistics);
            self.work += search.work - before;
            match progress? {
                astar::Progress::Goal(id) => break Replaced::Cheaper(search.table.path(id)),
                astar::Progress::Exhausted => break Replaced::Proven,
                astar::Progress::Paused => {}
            }
        };
        Ok(result)
    }

    /// Weighted A*, for any cheaper replacement.
    fn descend(
        &mut self,
        space: &Space<'_>,
        guidance: &Guidance,
        ceiling: u64,
        resources: &mut dyn ResourceLimits,
        statistics: &mut SearchStatistics,
    ) -> Result<Replaced, StopReason> {
        let mut resources = ScopedLimits::new(resources);
        let mut watch = LimitWatch::new(&mut resources, u64::from(u32::MAX - 1));
        let mut search = Greedy::new(space, guidance, Some(WINDOW_WEIGHT));
        let result = loop {
            let Some(part) = self.part(search.work, statistics)? else { break Replaced::GivenUp };
            let before = search.work;
            let progress = search.run(ceiling, part, &mut watch, statistics);
            self.work += search.work - before;
            match progress? {
                greedy::Progress::Plan(plan) => break Replaced::Cheaper(plan),
                greedy::Progress::Exhausted => break Replaced::Proven,
                greedy::Progress::Paused => {}
            }
        };
        Ok(result)
    }

    /// Work of the next part of a search that has done `done`: up to the effort, in parts that do not pass the limit on
    /// generated states by more than an expansion. `None` if the effort is used up.
    fn part(&self, done: u64, statistics: &SearchStatistics) -> Result<Option<u64>, StopReason> {
        let effort = self.effort.saturating_sub(done);
        if effort == 0 {
            return Ok(None);
        }
        let left = self.max_generated.saturating_sub(statistics.generated);
        if left == 0 { Err(StopReason::Nodes) } else { Ok(Some(effort.min(least_work(left)))) }
    }
}

/// Least work that generates so many states.
pub(super) fn least_work(generated: u64) -> u64 {
    generated.div_ceil(4)
}

/// Result of a search for a cheaper window.
enum Replaced {
    Cheaper(Vec<u32>),
    /// There is none.
    Proven,
    GivenUp,
}

/// What the rest of the plan needs at each multiple of the stride and at the plan's end.
fn needs_at(space: &Space<'_>, plan: &[u32], stride: usize) -> Vec<Needs> {
    let words = space.task.words();
    // Derived facts depend on many others: after a window the basic facts must be as they were.
    let exact = !space.task.axioms.is_empty();
    let guards = guards(space, plan);
    let mut needs = Needs::of(&space.task.goal, words);
    let mut ends = vec![needs.clone()];
    for (i, &operator) in plan.iter().enumerate().rev() {
        if !exact {
            let shape = &space.task.operators[operator as usize];
            needs.effects(&shape.add, &shape.delete);
            if let Some((fired, condition)) = guards.get(&i) {
                for &effect in fired {
                    let effect = &shape.conditional[effect];
                    needs.effects(&effect.add, &effect.delete);
                }
                needs.add(condition);
            }
            needs.add(&shape.precondition);
        }
        if i % stride == 0 {
            ends.push(needs.clone());
        }
    }
    ends.reverse();
    if exact {
        let mut state = space.initial();
        let mut next = Vec::new();
        let basic = space.task.basic_facts as Fact;
        for (i, &operator) in plan.iter().enumerate() {
            if i % stride == 0 {
                let needs = &mut ends[i / stride];
                *needs = Needs::of(&Condition::default(), words);
                for fact in 0..basic {
                    let side =
                        if bits::get(&state, fact) { &mut needs.positive } else { &mut needs.negative };
                    bits::set(side, fact);
                }
            }
            space.apply(&state, operator, &mut next);
            std::mem::swap(&mut state, &mut next);
        }
    }
    ends
}

/// For steps with conditional effects: the effects that take place, and literals under which these and no others do.
fn guards(space: &Space<'_>, plan: &[u32]) -> rustc_hash::FxHashMap<usize, (Vec<usize>, Condition)> {
    let mut guards = rustc_hash::FxHashMap::default();
    if !space.task.has_conditional_effects() {
        return guards;
    }
    let mut state = space.initial();
    let mut next = Vec::new();
    for (i, &operator) in plan.iter().enumerate() {
        let effects = &space.task.operators[operator as usize].conditional;
        let (mut fired, mut positive, mut negative) = (Vec::new(), Vec::new(), Vec::new());
        for (e, effect) in effects.iter().enumerate() {
            let condition = &effect.condition;
            if condition.holds(&state, &[]) {
                fired.push(e);
                positive.extend(condition.positive.iter());
                negative.extend(condition.negative.iter());
            } else if let Some(&fact) = condition.positive.iter().find(|f| !bits::get(&state, **f)) {
                negative.push(fact);
            } else {
                positive.extend(condition.negative.iter().find(|f| bits::get(&state, **f)));
            }
        }
        if !effects.is_empty() {
            let condition =
                Condition { positive: positive.into(), negative: negative.into(), numeric: Box::default() };
            guards.insert(i, (fired, condition));
        }
        space.apply(&state, operator, &mut next);
        std::mem::swap(&mut state, &mut next);
    }
    guards
}
