//! Goal agreement of a candidate and the environment's model (see [`planforge_planning::walk::goal_agreement`]).

use crate::measure::{Capped, DIRECTIONS, seed_of};
use crate::options::{Mode, Settings};
use planforge_planning::walk::{
    DirectionGoals, ExactError, GoalPlan, GoalSampleSpec, Model, NamedStep, ScoreInterval, WalkScore,
    exact_goals, execute_steps, goal_agreement, goal_plan, interval, sample_goals,
};
use planforge_planning::{ResourceLimits, StopReason};
use std::collections::BTreeSet;

/// Stands for the problem in the seeds of goal walks, so that they differ from those of the score's walks.
const GOAL_WALKS: usize = 1 << 20;

/// The comparison of both goals.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalsMeasured {
    /// By direction, reference to candidate first; `None` if the source has no plan.
    pub directions: [Option<DirectionGoals>; 2],
    /// The goal agreement; `None` if it is not defined, as `missing` says.
    pub agreement: Option<f64>,
    /// Its interval at the confidence of the settings.
    pub interval: Option<ScoreInterval>,
    /// Why a direction, or the agreement, is not defined.
    pub missing: Option<MissingGoals>,
}

/// The reason why goals were not compared in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingGoals {
    /// The problems have different objects.
    Objects(String),
    /// No plan reaches the goal of this side.
    Unsolvable(&'static str),
    /// A limit of the options.
    Limit(String),
}

impl std::fmt::Display for MissingGoals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Objects(which) => write!(f, "the problems have different objects: {which}"),
            Self::Unsolvable(side) => write!(f, "no plan reaches the goal of the {side}"),
            Self::Limit(what) => f.write_str(what),
        }
    }
}

impl GoalsMeasured {
    fn missing(why: MissingGoals) -> Self {
        Self { directions: [None, None], agreement: None, interval: None, missing: Some(why) }
    }

    /// True if a walk was found on which the goals differ.
    pub fn differ(&self) -> bool {
        self.directions.iter().flatten().any(|d| d.difference.is_some())
    }
}

/// The plan of a model within the limits of the settings.
///
/// # Errors
/// The limit of the call that was reached.
pub fn plan(
    model: &Model,
    settings: &Settings,
    budget: &mut dyn ResourceLimits,
) -> Result<GoalPlan, StopReason> {
    let mut capped = Capped::new(budget, settings.exact_bytes);
    match goal_plan(model, settings.exact_pairs as u64, &mut capped) {
        Err(StopReason::Memory) if capped.full => {
            Ok(GoalPlan::NotFound(format!("no plan was found within {} MB", settings.exact_bytes >> 20)))
        }
        other => other,
    }
}

/// Compares the goals of two models. `reference_plan` is the reference's, found by [`plan`].
///
/// # Errors
/// The limit of the call that was reached.
pub fn compare(
    reference: &Model,
    candidate: &Model,
    reference_plan: &GoalPlan,
    settings: &Settings,
    seed: u64,
    budget: &mut dyn ResourceLimits,
) -> Result<GoalsMeasured, StopReason> {
    if let Some(which) = different_objects(reference, candidate) {
        return Ok(GoalsMeasured::missing(MissingGoals::Objects(which)));
    }
    let found = [reference_plan.clone(), plan(candidate, settings, budget)?];
    let sides = [reference, candidate];
    let mut plans = [None; 2];
    for (side, own) in plans.iter_mut().enumerate() {
        *own = match (&found[side], &found[1 - side]) {
            (GoalPlan::Plan(own), _) => Some(own),
            // A plan that was not found may be the other side's.
            (GoalPlan::NotFound(_), GoalPlan::Plan(other)) => {
                is_plan(sides[side], other, budget)?.then_some(other)
            }
            _ => None,
        };
    }
    let exact = match settings.mode {
        Mode::Sampled => None,
        Mode::Auto | Mode::Exact => match exact(sides, plans, settings, budget) {
            Ok(directions) => Some(directions),
            Err(ExactError::Stopped(reason)) => return Err(reason),
            Err(error) if settings.mode == Mode::Exact => {
                return Ok(GoalsMeasured::missing(MissingGoals::Limit(error.to_string())));
            }
            Err(ExactError::Pairs { .. }) => None,
        },
    };
    let directions = match exact {
        Some(directions) => directions,
        None => sampled(sides, plans, settings, seed, budget)?,
    };
    let missing = ["reference", "candidate"].into_iter().zip(&found).zip(&directions);
    let mut missing =
        missing.filter(|(_, direction)| direction.is_none()).map(|((side, plan), _)| match plan {
            GoalPlan::NotFound(why) => MissingGoals::Limit(format!("of the {side}, {why}")),
            GoalPlan::Unsolvable | GoalPlan::Plan(_) => MissingGoals::Unsolvable(side),
        });
    let missing = missing.next();
    let agreement =
        goal_agreement([0, 1].map(|d| directions[d].as_ref().map(|d: &DirectionGoals| d.agreement)));
    let interval = agreement.map(|agreement| interval_of(agreement, &directions, settings));
    Ok(GoalsMeasured { directions, agreement, interval, missing })
}

fn interval_of(
    agreement: f64,
    directions: &[Option<DirectionGoals>; 2],
    settings: &Settings,
) -> ScoreInterval {
    let alpha = (1.0 - settings.confidence) / 2.0;
    let one = |direction: &DirectionGoals| match (direction.both, direction.counted) {
        (Some(both), Some(counted)) => interval::clopper_pearson(both, counted, alpha),
        _ => ScoreInterval { low: direction.agreement, high: direction.agreement },
    };
    match directions {
        [Some(a), Some(b)] => WalkScore::interval(one(a), one(b)),
        _ => ScoreInterval { low: agreement, high: agreement },
    }
}

type Directions = [Option<DirectionGoals>; 2];

fn exact(
    sides: [&Model; 2],
    plans: [Option<&Vec<NamedStep>>; 2],
    settings: &Settings,
    budget: &mut dyn ResourceLimits,
) -> Result<Directions, ExactError> {
    let mut capped = Capped::new(budget, settings.exact_bytes);
    let mut one = |side: usize| {
        let Some(plan) = plans[side] else { return Ok(None) };
        let (source, target) = DIRECTIONS[side].models(sides[0], sides[1]);
        exact_goals(source, target, plan, settings.t_max, settings.exact_pairs, &mut capped)
    };
    let found = one(0).and_then(|first| Ok([first, one(1)?]));
    match found {
        // Like too many pairs: the plugin's own cap, so that goal walks are sampled.
        Err(ExactError::Stopped(_)) if capped.full => {
            Err(ExactError::Pairs { limit: settings.exact_pairs, length: settings.t_max })
        }
        found => found,
    }
}

fn sampled(
    sides: [&Model; 2],
    plans: [Option<&Vec<NamedStep>>; 2],
    settings: &Settings,
    seed: u64,
    budget: &mut dyn ResourceLimits,
) -> Result<Directions, StopReason> {
    let mut one = |side: usize| {
        let Some(plan) = plans[side] else { return Ok(None) };
        let (source, target) = DIRECTIONS[side].models(sides[0], sides[1]);
        let spec = GoalSampleSpec {
            t_max: settings.t_max,
            walks: u64::from(settings.t_max) * u64::from(settings.walks),
            seed: seed_of(seed, GOAL_WALKS, side),
        };
        sample_goals(source, target, plan, &spec, budget)
    };
    Ok([one(0)?, one(1)?])
}

fn is_plan(model: &Model, plan: &[NamedStep], budget: &mut dyn ResourceLimits) -> Result<bool, StopReason> {
    let end = execute_steps(model, plan, budget)?;
    Ok(end.refusal.is_none() && model.is_goal(&end.state, budget)?)
}

/// The objects that one side lacks; `None` if both have the same.
fn different_objects(reference: &Model, candidate: &Model) -> Option<String> {
    let names = |model: &Model| -> BTreeSet<String> {
        model.lifted().symbols.objects.iter().map(|name| name.to_lowercase()).collect()
    };
    let (own, other) = (names(reference), names(candidate));
    let list = |a: &BTreeSet<String>, b: &BTreeSet<String>, side: &str| {
        let missing: Vec<&str> = a.difference(b).map(String::as_str).collect();
        (!missing.is_empty()).then(|| format!("the {side} lacks {}", missing.join(", ")))
    };
    let lacks: Vec<String> =
        list(&own, &other, "candidate").into_iter().chain(list(&other, &own, "environment")).collect();
    (!lacks.is_empty()).then(|| lacks.join("; "))
}
