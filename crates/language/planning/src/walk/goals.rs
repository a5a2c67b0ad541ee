//! Goal agreement: similarity of the goals of two models of one task, on walks that reach a goal.
//!
//! Exploration walks seldom reach a goal, so their ends cannot tell two goals apart. A *goal walk* of a model is its plan
//! ([`goal_plan`]: one plan, the same each time) followed by N uniform steps, with N uniform in 0 to `t_max`; at a dead end it
//! ends early. A goal holds for a model at the end of a walk if the model executes the walk and its own goal holds there.
//!
//! The agreement of a direction is the share of the source's goal walks for which both goals hold at the end, among
//! those for which at least one holds: from 0 to 1. It is always defined, because the goal walks without further steps end in the
//! source's goal. It is 1 if and only if no goal walk ends where one goal holds and the other does not. A goal of the target that
//! is too strong shows in the source's goal walks, one that is too weak in the target's, so both directions are needed;
//! [`goal_agreement`] is their harmonic mean.

use super::exact::{ExactError, Layer, PAIR_BYTES, REFUSED, Run};
use super::model::{Link, Model};
use super::{ActionId, NamedStep, harmonic_mean};
use crate::plan::{PlanOptions, PlanResult, SearchOutcome};
use crate::resources::{ResourceLimits, ScopedLimits, StopReason, check};
use crate::search::Algorithm;
use crate::simulate::State;
use crate::solve::plan_ground;
use planforge_pddl::random::Random;

/// Plans for a prepared model with its own grounding; see [`plan`](crate::plan). Returns `None` if the model is not
/// grounded. Actions that the model's semantics dropped are not used.
pub fn plan_model(
    model: &Model,
    options: &PlanOptions,
    resources: &mut dyn ResourceLimits,
) -> Option<PlanResult> {
    let task = model.simulator()?.task();
    Some(plan_ground(model.lifted(), task, options, resources, &mut |_, _| ()))
}

/// The plan that a model's goal walks begin with, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoalPlan {
    /// A plan to the model's goal.
    Plan(Vec<NamedStep>),
    /// The goal cannot be reached.
    Unsolvable,
    /// No plan was found, for this reason.
    NotFound(String),
}

/// Searches the plan of a model: greedily, with at most `max_nodes` search nodes.
///
/// # Errors
/// The caller's limit that was reached. The limit on nodes is not an error.
pub fn goal_plan(
    model: &Model,
    max_nodes: u64,
    resources: &mut dyn ResourceLimits,
) -> Result<GoalPlan, StopReason> {
    let options = PlanOptions { algorithm: Algorithm::Greedy, max_nodes, ..PlanOptions::default() };
    let Some(found) = plan_model(model, &options, resources) else {
        return Ok(GoalPlan::NotFound(
            "the task has too many ground actions to search for a plan".to_owned(),
        ));
    };
    Ok(match found.outcome {
        SearchOutcome::Plan(plan) => {
            let symbols = &plan.symbols;
            let step = |step: &crate::task::GroundAction| NamedStep {
                name: symbols.actions[step.action as usize].clone(),
                args: step.args.iter().map(|&o| symbols.objects[o as usize].clone()).collect(),
            };
            GoalPlan::Plan(plan.steps.iter().map(step).collect())
        }
        SearchOutcome::ProvenUnsolvable(_) => GoalPlan::Unsolvable,
        SearchOutcome::Exhausted => GoalPlan::NotFound("no plan was found".to_owned()),
        SearchOutcome::LimitReached(StopReason::Nodes) => {
            GoalPlan::NotFound(format!("no plan was found within {max_nodes} search nodes"))
        }
        SearchOutcome::LimitReached(reason) => return Err(reason),
        SearchOutcome::Unsupported(constructs) => {
            let what: Vec<&str> = constructs.iter().map(|c| c.what.as_str()).collect();
            GoalPlan::NotFound(format!("the search for a plan does not handle {}", what.join(", ")))
        }
    })
}

/// A walk after which one goal holds and the other does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalDifference {
    /// The walk; the source executes all of it.
    pub steps: Vec<NamedStep>,
    /// True if the source's goal holds at its end, and the target's does not; otherwise the other way round.
    pub source_holds: bool,
    /// Number of steps that the target executes; fewer than there are if it refuses one.
    pub executed: usize,
}

/// The agreement of the goals in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectionGoals {
    /// The share of goal walks on which both goals hold, among those on which one does: 0 to 1.
    pub agreement: f64,
    /// Drawn walks that count: at least one goal holds. `None` if the share was computed.
    pub counted: Option<u64>,
    /// Those on which both goals hold. `None` if the share was computed.
    pub both: Option<u64>,
    /// A walk on which the goals differ: the shortest one if the share was computed, else the shortest one drawn.
    pub difference: Option<GoalDifference>,
}

/// The harmonic mean of both directions' agreement, 0 to 1. It is also 0 if one direction is 0 and the other is not
/// defined, for lack of a plan; otherwise it needs both.
pub fn goal_agreement(directions: [Option<f64>; 2]) -> Option<f64> {
    match directions {
        [Some(a), Some(b)] => Some(harmonic_mean(a, b)),
        [Some(only), None] | [None, Some(only)] => (only <= 0.0).then_some(0.0),
        [None, None] => None,
    }
}

/// Execution of a plan of the source on both sides.
struct PlanEnd {
    source: State,
    /// The target's state, unless it refuses a step.
    target: Option<State>,
    /// Steps that the target executes.
    executed: usize,
}

/// Executes a plan of `source` on both; `None` if it is not a plan of `source`.
fn execute_plan(
    source: &Model,
    target: &Model,
    plan: &[NamedStep],
    resources: &mut dyn ResourceLimits,
) -> Result<Option<PlanEnd>, StopReason> {
    let own = super::execute_steps(source, plan, resources)?;
    if own.refusal.is_some() || !source.is_goal(&own.state, resources)? {
        return Ok(None);
    }
    let other = super::execute_steps(target, plan, resources)?;
    Ok(Some(PlanEnd {
        source: own.state,
        target: other.refusal.is_none().then_some(other.state),
        executed: other.executed,
    }))
}

impl PlanEnd {
    /// The result if the target refuses the plan: no goal walk is executed by both.
    fn refused(&self, plan: &[NamedStep]) -> DirectionGoals {
        let difference = GoalDifference { steps: plan.to_vec(), source_holds: true, executed: self.executed };
        DirectionGoals { agreement: 0.0, counted: None, both: None, difference: Some(difference) }
    }
}

/// Computes the agreement over all goal walks of `source`. `Ok(None)` if `plan` is not a plan of `source`.
///
/// # Errors
/// More than `max_pairs` pairs of states, or the resource limit that was reached.
pub fn exact_goals(
    source: &Model,
    target: &Model,
    plan: &[NamedStep],
    t_max: u32,
    max_pairs: usize,
    resources: &mut dyn ResourceLimits,
) -> Result<Option<DirectionGoals>, ExactError> {
    let Some(end) = execute_plan(source, target, plan, resources)? else { return Ok(None) };
    let Some(target_state) = &end.target else { return Ok(Some(end.refused(plan))) };
    let resources = &mut ScopedLimits::new(resources);
    let mut run = Run::new(source, target, true);
    let start = (
        run.source.intern(end.source.clone(), resources)?,
        run.target.intern(target_state.clone(), resources)?,
    );
    let mut layer = Layer::default();
    layer.add(start, 1.0, resources)?;
    let mut pairs = 0;
    let (mut either, mut differ) = (0.0, 0.0);
    let mut different_after = None;
    for length in 0..=t_max {
        for &(pair, mass) in &layer.pairs {
            let (own, other) = goals_hold(&run, pair, resources)?;
            either += if own || other { mass } else { 0.0 };
            if own != other {
                differ += mass;
                different_after.get_or_insert(length);
            }
        }
        if length == t_max {
            break;
        }
        let mut next = Layer::default();
        for (i, &(pair, mass)) in layer.pairs.iter().enumerate() {
            if pairs + i >= max_pairs {
                return Err(ExactError::Pairs { limit: max_pairs, length });
            }
            if run.source.successors(pair.0, resources)?.is_empty() {
                next.add(pair, mass, resources)?;
            } else {
                run.expand(pair, mass, &mut next, resources)?;
            }
        }
        pairs += layer.pairs.len();
        layer = next;
    }
    let difference = match different_after {
        Some(length) => shortest_difference(&mut run, start, plan, length, resources)?,
        None => None,
    };
    // What differs is summed and subtracted from 1, so that equal goals agree exactly.
    let agreement = (1.0 - differ / either).max(0.0);
    Ok(Some(DirectionGoals { agreement, counted: None, both: None, difference }))
}

/// True for each side whose goal holds in its state of a pair.
fn goals_hold(
    run: &Run<'_>,
    (source, target): (u32, u32),
    resources: &mut dyn ResourceLimits,
) -> Result<(bool, bool), StopReason> {
    let own = run.link.source.is_goal(run.source.state(source), resources)?;
    let other = target != REFUSED && run.link.target.is_goal(run.target.state(target), resources)?;
    Ok((own, other))
}

/// The first walk of `length` steps after the plan at whose end the goals differ.
fn shortest_difference(
    run: &mut Run<'_>,
    start: (u32, u32),
    plan: &[NamedStep],
    length: u32,
    resources: &mut dyn ResourceLimits,
) -> Result<Option<GoalDifference>, StopReason> {
    // Pairs with the index of the pair before and the action in between.
    let mut met: Vec<((u32, u32), usize, Option<ActionId>)> = vec![(start, 0, None)];
    let mut layer = 0..1;
    for _ in 0..length {
        let mut seen = rustc_hash::FxHashSet::default();
        let begin = met.len();
        for at in layer {
            let (source, target) = met[at].0;
            for (action, successor) in run.source.successors(source, resources)?.to_vec() {
                let reached = match (target, run.link.action(action)) {
                    (REFUSED, _) | (_, None) => REFUSED,
                    (state, Some(own)) => run.target.step(state, own, resources)?.unwrap_or(REFUSED),
                };
                if seen.insert((successor, reached)) {
                    check(resources.charge(PAIR_BYTES))?;
                    met.push(((successor, reached), at, Some(action)));
                }
            }
        }
        layer = begin..met.len();
    }
    let mut found = None;
    for at in layer {
        let (own, other) = goals_hold(run, met[at].0, resources)?;
        if own != other {
            found = Some((at, own));
            break;
        }
    }
    let Some((mut at, source_holds)) = found else { return Ok(None) };
    let mut more = Vec::new();
    while let Some(action) = met[at].2 {
        more.push(run.link.source.step(action));
        at = met[at].1;
    }
    let steps: Vec<NamedStep> = plan.iter().cloned().chain(more.into_iter().rev()).collect();
    let executed = super::execute_steps(run.link.target, &steps, resources)?.executed;
    Ok(Some(GoalDifference { steps, source_holds, executed }))
}

/// Options of sampling goal walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoalSampleSpec {
    /// Most steps after the plan.
    pub t_max: u32,
    /// Number of walks drawn.
    pub walks: u64,
    /// Seed of every walk's random choices, together with its number. Use a different one for each direction.
    pub seed: u64,
}

/// Draws goal walks of `source` and executes them on `target`. Walks are independent and a walk counts or not by itself, so among
/// the walks that count, agreement is a binomial share. `Ok(None)` if `plan` is not a plan of `source`.
///
/// # Errors
/// The resource limit that was reached; limits are polled before every walk.
pub fn sample_goals(
    source: &Model,
    target: &Model,
    plan: &[NamedStep],
    spec: &GoalSampleSpec,
    resources: &mut dyn ResourceLimits,
) -> Result<Option<DirectionGoals>, StopReason> {
    let Some(end) = execute_plan(source, target, plan, resources)? else { return Ok(None) };
    let Some(target_state) = &end.target else { return Ok(Some(end.refused(plan))) };
    let mut link = Link::new(source, target);
    let (mut counted, mut both) = (0u64, 0u64);
    let mut shortest: Option<(Vec<ActionId>, bool, usize)> = None;
    let mut applicable = Vec::new();
    for k in 0..spec.walks {
        check(resources.poll())?;
        let mut random = Random::stream(spec.seed, k);
        let (mut state, mut other) = (end.source.clone(), Some(target_state.clone()));
        let mut walk = Vec::new();
        let mut executed = 0;
        for _ in 0..random.below(u64::from(spec.t_max) + 1) {
            source.applicable_into(&state, &mut applicable, resources)?;
            let Some(&action) = random.pick(&applicable) else { break };
            source.apply(&mut state, action, resources)?;
            walk.push(action);
            other = match (other, link.action(action)) {
                (Some(mut next), Some(own)) => target.apply(&mut next, own, resources)?.then_some(next),
                _ => None,
            };
            executed += usize::from(other.is_some());
        }
        let own = source.is_goal(&state, resources)?;
        let theirs = match other {
            Some(state) => target.is_goal(&state, resources)?,
            None => false,
        };
        counted += u64::from(own || theirs);
        both += u64::from(own && theirs);
        if own != theirs && shortest.as_ref().is_none_or(|(s, ..)| walk.len() < s.len()) {
            shortest = Some((walk, own, executed));
        }
    }
    if counted == 0 {
        // No drawn walk ends in a goal: the plan itself is one that does.
        let agree = target.is_goal(target_state, resources)?;
        (counted, both) = (1, u64::from(agree));
        shortest = (!agree).then(|| (Vec::new(), true, 0));
    }
    let difference = shortest.map(|(walk, source_holds, executed)| GoalDifference {
        steps: plan.iter().cloned().chain(walk.into_iter().map(|a| source.step(a))).collect(),
        source_holds,
        executed: plan.len() + executed,
    });
    Ok(Some(DirectionGoals {
        agreement: both as f64 / counted as f64,
        counted: Some(counted),
        both: Some(both),
        difference,
    }))
}
