//! Plans and results of planning.

use crate::ground::GroundLimits;
use crate::resources::StopReason;
use crate::search::{Algorithm, SearchStatistics};
use crate::task::{GroundAction, Symbols, Unsupported};
use crate::unsolvable::Explanation;
use planforge_pddl::Number;
use planforge_pddl::ast::CompareOp;
use std::fmt;
use std::sync::Arc;

/// Options of [`crate::plan`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanOptions {
    /// The search algorithm.
    pub algorithm: Algorithm,
    /// Most search nodes generated.
    pub max_nodes: u64,
    /// Caps on the number of ground atoms and actions.
    pub ground: GroundLimits,
}

impl Default for PlanOptions {
    fn default() -> Self {
        PlanOptions {
            algorithm: Algorithm::Greedy,
            max_nodes: u64::from(u32::MAX - 1),
            ground: GroundLimits::default(),
        }
    }
}

/// Times of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepTimes {
    /// Time of its start.
    pub start: Number,
    /// Its duration; `None` for an instantaneous action.
    pub duration: Option<Number>,
}

impl StepTimes {
    /// Time of its end.
    pub fn end(&self) -> Number {
        self.start + self.duration.unwrap_or(Number::ZERO)
    }
}

/// A sequence of ground actions that reaches the goal.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The steps in order; ascending by their start, if they have times.
    pub steps: Vec<GroundAction>,
    /// Times of the steps; empty for a task without time.
    pub times: Vec<StepTimes>,
    /// The metric's value (the number of steps without a metric); `None` where it depends on more than the steps.
    pub cost: Option<f64>,
    /// The proven bound on the metric: no plan has a better value. `None` if nothing is proven.
    pub bound: Option<f64>,
    /// True if no plan is cheaper (for [`Algorithm::BreadthFirst`]: if none has fewer steps).
    pub optimal: bool,
    /// Names of the objects and actions.
    pub symbols: Arc<Symbols>,
}

impl Plan {
    /// Each step as planners write it: `(name arg arg)`.
    pub fn step_texts(&self) -> Vec<String> {
        self.steps.iter().map(|s| self.symbols.step(s)).collect()
    }

    /// Each step as a line of a plan file: `(name arg arg)`, or with its times `0.001: (name arg arg) [5.000]`.
    pub fn lines(&self) -> Vec<String> {
        let line = |(index, step): (usize, &GroundAction)| {
            let step = self.symbols.step(step);
            match self.times.get(index) {
                None => step,
                Some(StepTimes { start, duration: None }) => format!("{}: {step}", time_text(*start)),
                Some(StepTimes { start, duration: Some(duration) }) => {
                    format!("{}: {step} [{}]", time_text(*start), time_text(*duration))
                }
            }
        };
        self.steps.iter().enumerate().map(line).collect()
    }

    /// End of the last step; `None` for a task without time.
    pub fn makespan(&self) -> Option<Number> {
        self.times.iter().map(StepTimes::end).reduce(|a, b| if CompareOp::Less.holds(a, b) { b } else { a })
    }
}

/// A time with three digits after the point, or six if it has more.
fn time_text(time: Number) -> String {
    let digits = |scale: i128| {
        let (value, denominator) = (time * Number::integer(scale)).parts()?;
        (denominator == 1).then(|| (value / scale, value % scale))
    };
    match (digits(1000), digits(1_000_000)) {
        (Some((whole, rest)), _) => format!("{whole}.{rest:03}"),
        (None, Some((whole, rest))) => format!("{whole}.{rest:06}"),
        (None, None) => time.to_string(),
    }
}

impl fmt::Display for Plan {
    /// One step a line, then the cost as a comment, as the planning competitions write plans. Steps with times are
    /// `0.001: (mend f1) [5.000]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().iter().try_for_each(|line| writeln!(f, "{line}"))?;
        match self.cost {
            Some(cost) => writeln!(f, "; cost = {cost}"),
            None => Ok(()),
        }
    }
}

/// Result of planning. The cases exclude each other.
#[derive(Debug, Clone)]
pub enum SearchOutcome {
    /// A plan was found.
    Plan(Plan),
    /// No plan exists: the whole state space was searched, or delete relaxation or pairs of literals show it.
    ProvenUnsolvable(Explanation),
    /// The search ended without a plan, which does not prove that there is none.
    Exhausted,
    /// A limit ended the work.
    LimitReached(StopReason),
    /// The task has constructs that this search does not handle.
    Unsupported(Vec<Unsupported>),
}

/// Outcome of [`crate::plan`], with the search method and statistics.
#[derive(Debug, Clone)]
pub struct PlanResult {
    /// The plan, or the reason why there is none.
    pub outcome: SearchOutcome,
    /// The search that gave it, for example `A* with LM-cut`.
    pub method: &'static str,
    /// Why the search differs from the requested one; `None` if it does not.
    pub note: Option<String>,
    /// The limit that ended [`Algorithm::Anytime`] before a proof that no plan is cheaper.
    pub stopped: Option<StopReason>,
    /// Counts of the search.
    pub statistics: SearchStatistics,
    /// Ground actions and facts of the task; 0 where grounding was not reached.
    pub ground_size: (usize, usize),
}

impl PlanResult {
    /// A result without a search; the size is 0 where grounding was not reached.
    pub(crate) fn unsearched(
        method: &'static str,
        outcome: SearchOutcome,
        ground_size: (usize, usize),
    ) -> Self {
        let statistics = SearchStatistics::default();
        PlanResult { outcome, method, note: None, stopped: None, statistics, ground_size }
    }
}
