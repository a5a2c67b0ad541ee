//! Parts of a plan, replaced by cheaper ones: steps without use are left out, and windows of the plan are planned anew.
//!
//! A window is a part of the plan between two of its states. Its replacement leads from the first of them to the facts that the rest of
//! the plan needs, which is less than the second state. A* searches it below the cost of the window, with a limit on its work. Lengths
//! go from short to long; when no length helps, the limit grows. In between, the neighbourhood of the whole plan is searched
//! ([`super::neighbourhood`]): at the start of a round, with less work than the round has, and again with more when rounds have grown.

use super::astar::{self, Bound, Cost, EVALUATION, Exploration, Target, Total};
use super::greedy::{self, Greedy, Guidance};
use super::neighbourhood;
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
    /// The best plan that is known.
    plan: Vec<u32>,
    /// True if it was made better since it was last taken.
    is_better: bool,
    /// The method that made it better.
    pub(super) method: &'static str,
    /// Generated states of the largest neighbourhood of this plan that was searched; 0 for a new plan.
    around: u64,
    /// Most generated states of a neighbourhood.
    most_around: u64,
    /// Work before which no neighbourhood is searched.
    around_at: u64,
    /// The pass that continues.
    pass: Option<Pass>,
    /// Index into the lengths.
    level: usize,
    /// Most work on a window.
    effort: u64,
    /// Windows for which it is proven that they cannot be cheaper.
    proven: FxHashSet<u64>,
    /// True if the window of this pass is the whole plan.
    is_whole: bool,
    /// True if the whole plan is proven optimal.
    pub(super) is_optimal: bool,
    /// True if LM-cut applies to the task.
    additive: bool,
    /// Limit on the generated states of the statistics.
    max_generated: u64,
    /// Counts since they were last taken.
    pub(super) statistics: SearchStatistics,
    work: u64,
}

/// A pass over a plan with windows of one length.
struct Pass {
    plan: Vec<u32>,
    length: usize,
    stride: usize,
    /// The needs at each multiple of the stride and at the plan's end.
    ends: Vec<Needs>,
    /// What replaces the first `done` steps, and the state after it.
    out: Vec<u32>,
    state: Vec<u64>,
    done: usize,
    /// Start of the next window.
    start: usize,
    is_better: bool,
}

/// Name of the method.
const METHOD: &str = "windows";
/// Length of the shortest windows; each longer one has twice the length.
const SHORTEST: usize = 4;
/// Work on a window of the first round.
const FIRST_EFFORT: u64 = 10_000;
/// Weight of the heuristic in weighted A* for a window.
const WINDOW_WEIGHT: u32 = 2;
/// Efforts in a round, so that the last window of a round is a small part of it.
const ROUND_EFFORTS: u64 = 8;
/// Most generated states of a neighbourhood.
const MOST_AROUND: u64 = 400_000;
/// Work on windows between two neighbourhoods, in terms of the work on the first of them.
const WORK_BETWEEN: u64 = 3;
/// A neighbourhood takes at most the free memory divided by this.
const MEMORY_AROUND: u64 = 8;
/// Most bytes of needs that are kept in a pass.
const NEEDS_BYTES: usize = 64 << 20;

impl Windows {
    pub(super) fn new(additive: bool, plan: Vec<u32>) -> Self {
        Windows {
            plan,
            is_better: false,
            method: METHOD,
            around: 0,
            most_around: MOST_AROUND,
            around_at: FIRST_EFFORT * ROUND_EFFORTS,
            pass: None,
            additive,
            max_generated: 0,
            level: 0,
            effort: FIRST_EFFORT,
            proven: FxHashSet::default(),
            is_whole: false,
            is_optimal: false,
            statistics: SearchStatistics::default(),
            work: 0,
        }
    }

    /// Work of a round: at least the length of the plan, because each round may report the plan.
    pub(super) fn round(&self) -> u64 {
        self.effort.saturating_mul(ROUND_EFFORTS).max(self.plan.len() as u64)
    }

    /// The plan, if it is better than when it was last taken.
    pub(super) fn take_better(&mut self) -> Option<Vec<u32>> {
        std::mem::take(&mut self.is_better).then(|| self.plan.clone())
    }

    /// Continues with this plan; with the shortest windows, if it is another one.
    pub(super) fn set_plan(&mut self, plan: &[u32]) {
        if self.plan != plan {
            self.plan = plan.to_vec();
            self.pass = None;
            self.level = 0;
            self.around = 0;
        }
    }

    /// Searches the neighbourhood of the plan if it is due, and replaces windows until so much more work is done or so many more states
    /// are generated.
    pub(super) fn run<C: Cost>(
        &mut self,
        space: &Space<'_>,
        work: u64,
        generated: u64,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let end = self.work.saturating_add(work);
        self.max_generated = self.statistics.generated.saturating_add(generated);
        let mut result = Ok(());
        if self.work >= self.around_at {
            result = self.search_around::<C>(space, work, generated, resources);
        }
        while result.is_ok() && self.work < end && !self.is_optimal {
            let mut pass = self.pass.take().unwrap_or_else(|| self.start_pass(space));
            match self.replace_window::<C>(space, &mut pass, resources) {
                Ok(true) => self.end_pass(&pass),
                Ok(false) => self.pass = Some(pass),
                Err(reason) => {
                    self.pass = Some(pass);
                    result = Err(reason);
                }
            }
        }
        self.take_unfinished();
        // The states of this round are used up.
        if result == Err(StopReason::Nodes) { Ok(()) } else { result }
    }

    /// Takes the plan of a pass that has made it better. Once a round, not after each window: a long plan has many of them.
    fn take_plan(&mut self, pass: &Pass) {
        if !pass.is_better {
            return;
        }
        let plan = [&pass.out[..], &pass.plan[pass.done..]].concat();
        if plan != self.plan {
            (self.plan, self.is_better, self.method, self.around) = (plan, true, METHOD, 0);
        }
    }

    /// Takes the plan of the pass that continues.
    fn take_unfinished(&mut self) {
        if let Some(pass) = self.pass.take() {
            self.take_plan(&pass);
            self.pass = Some(pass);
        }
    }

    /// Searches the neighbourhood of the plan in a part of a round's work and generated states, unless one of at least half the size was
    /// searched.
    fn search_around<C: Cost>(
        &mut self,
        space: &Space<'_>,
        work: u64,
        generated: u64,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let steps = self.plan.len() as u64;
        let bytes = resources.bytes_left() / MEMORY_AROUND;
        let most = (work / 2)
            .min(generated / 4)
            .min(self.most_around)
            .min(neighbourhood::most_generated::<C>(space, &self.plan, bytes));
        if steps > work / 4 || most == 0 || most < 2 * self.around {
            return Ok(());
        }
        let mut resources = ScopedLimits::new(resources);
        let mut watch = LimitWatch::new(&mut resources, u64::from(u32::MAX - 1));
        let before = self.statistics;
        let found = neighbourhood::improve::<C>(space, &self.plan, most, &mut watch, &mut self.statistics);
        let expanded = self.statistics.expanded - before.expanded;
        let work = steps + expanded + (self.statistics.generated - before.generated) / 4;
        self.work += work;
        self.around_at = self.work + WORK_BETWEEN * work;
        self.around = most;
        match found {
            Ok(Some(plan)) => {
                self.set_plan(&plan);
                (self.is_better, self.method) = (true, neighbourhood::METHOD);
            }
            Ok(None) => {}
            Err(StopReason::Memory) => self.most_around = most / 2,
            Err(reason) => return Err(reason),
        }
        Ok(())
    }

    fn start_pass(&mut self, space: &Space<'_>) -> Pass {
        let plan = self.plan.clone();
        let length = (SHORTEST << self.level.min(40)).min(plan.len());
        self.is_whole = length == plan.len();
        self.work += plan.len() as u64;
        let words = space.task.words();
        let stride = (length / 2).max(plan.len() * words * 16 / NEEDS_BYTES).max(1);
        let ends = needs_at(space, &plan, stride);
        let out = Vec::with_capacity(plan.len());
        Pass { plan, length, stride, ends, out, state: space.initial(), done: 0, start: 0, is_better: false }
    }

    /// Searches one window. True at the end of the pass.
    fn replace_window<C: Cost>(
        &mut self,
        space: &Space<'_>,
        pass: &mut Pass,
        resources: &mut dyn ResourceLimits,
    ) -> Result<bool, StopReason> {
        let Pass { plan, length, stride, ends, out, state, done, start, is_better } = pass;
        let mut next = Vec::new();
        let mut step = |state: &mut Vec<u64>, operator| {
            space.apply(state, operator, &mut next);
            std::mem::swap(state, &mut next);
            out.push(operator);
        };
        plan[*done..*start].iter().for_each(|&operator| step(state, operator));
        *done = *start;
        let end = (*start + length.next_multiple_of(*stride)).min(plan.len());
        check(resources.poll())?;
        let needs = &ends[end.div_ceil(*stride)];
        match self.cheaper::<C>(space, state, needs, &plan[*start..end], resources)? {
            Some(better) => {
                better.into_iter().for_each(|operator| step(state, operator));
                (*is_better, *done, *start) = (true, end, end);
            }
            None => *start += *stride,
        }
        Ok(end == plan.len())
    }

    /// Chooses the length of the next pass.
    fn end_pass(&mut self, pass: &Pass) {
        self.take_plan(pass);
        if pass.is_better {
            self.level = 0;
        } else if !self.is_whole {
            self.level += 1;
        } else if !self.is_optimal {
            self.effort = self.effort.saturating_mul(4);
            self.level = 0;
        }
    }

    /// A cheaper way from a state to what the rest of the plan needs, if the effort finds one.
    fn cheaper<C: Cost>(
        &mut self,
        space: &Space<'_>,
        state: &[u64],
        needs: &Needs,
        window: &[u32],
        resources: &mut dyn ResourceLimits,
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
        let mut result = self.explore(space, state, &mut Bound::<C>::Blind, &target, resources)?;
        if matches!(result, Replaced::GivenUp) {
            let guidance = Guidance::between(space.task, state, &goal);
            self.work += EVALUATION;
            if let Ok(ceiling) = u64::try_from(cost) {
                result = self.descend(space, &guidance, ceiling, resources)?;
            }
            if matches!(result, Replaced::GivenUp) {
                let mut bound = Bound::<C>::for_goal(&guidance.relaxed, self.additive);
                result = self.explore(space, state, &mut bound, &target, resources)?;
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
    ) -> Result<Replaced, StopReason> {
        let mut resources = ScopedLimits::new(resources);
        let mut watch = LimitWatch::new(&mut resources, u64::from(u32::MAX - 1));
        let mut search = Exploration::<C>::new(space, state);
        let result = loop {
            let Some(part) = self.part(search.work)? else { break Replaced::GivenUp };
            let before = search.work;
            let progress = search.run(space, bound, target, part, &mut watch, &mut self.statistics);
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
    ) -> Result<Replaced, StopReason> {
        let mut resources = ScopedLimits::new(resources);
        let mut watch = LimitWatch::new(&mut resources, u64::from(u32::MAX - 1));
        let mut search = Greedy::new(space, guidance, Some(WINDOW_WEIGHT));
        let result = loop {
            let Some(part) = self.part(search.work)? else { break Replaced::GivenUp };
            let before = search.work;
            let progress = search.run(ceiling, part, &mut watch, &mut self.statistics);
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
    fn part(&self, done: u64) -> Result<Option<u64>, StopReason> {
        let effort = self.effort.saturating_sub(done);
        if effort == 0 {
            return Ok(None);
        }
        let left = self.max_generated.saturating_sub(self.statistics.generated);
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::neighbourhood::tests::{plan_through, ring};
    use super::*;
    use crate::resources::{CountingLimits, Unlimited};

    #[test]
    fn the_neighbourhood_of_the_plan_is_searched_when_it_is_due() {
        let task = ring();
        let space = Space::new(&task, None);
        let long = plan_through(&space, &mut (3..10u32).rev());
        let run = |around_at: u64, limits: &mut dyn ResourceLimits| {
            let mut windows = Windows::new(true, long.clone());
            windows.around_at = around_at;
            windows.run::<u32>(&space, 40, 1_000, limits).unwrap();
            (windows.take_better().map(|plan| plan.len()), windows.method)
        };
        assert_eq!(run(0, &mut Unlimited), (Some(3), neighbourhood::METHOD));
        assert_ne!(run(u64::MAX, &mut Unlimited).1, neighbourhood::METHOD);
        // An eighth of the memory is too small for it.
        assert_ne!(run(0, &mut CountingLimits { polls: u64::MAX, bytes: 5_000 }).1, neighbourhood::METHOD);
    }

    #[test]
    fn a_plan_has_one_neighbourhood_of_a_size_and_another_plan_a_new_one() {
        let task = ring();
        let space = Space::new(&task, None);
        let short = plan_through(&space, &mut (1..4u32));
        let mut windows = Windows::new(true, short);
        let expanded = |windows: &mut Windows, work: u64| {
            let before = windows.statistics.expanded;
            windows.search_around::<u32>(&space, work, 1_000, &mut Unlimited).unwrap();
            windows.statistics.expanded - before
        };
        assert!(expanded(&mut windows, 20) > 0);
        assert_eq!(expanded(&mut windows, 20), 0);
        assert!(expanded(&mut windows, 40) > 0);
        // A plan from outside.
        windows.set_plan(&plan_through(&space, &mut [1u32, 0, 1, 2, 3].into_iter()));
        assert!(expanded(&mut windows, 40) > 0);
    }
}
