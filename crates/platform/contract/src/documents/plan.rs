//! Asking a planner, and the six ways in which it may answer.

use crate::{ReportedDiagnostic, TaskView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits of one planner call. What is absent is not limited by the request (the host's deadline still holds).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PlanLimits {
    /// Milliseconds of wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Bytes of memory, as the planner accounts for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Expanded nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
}

/// A request for plans.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanRequest {
    /// The domain, as PDDL.
    pub domain: String,
    /// The problem, as PDDL.
    pub problem: String,
    /// Limits of the search.
    #[serde(default)]
    pub limits: PlanLimits,
    /// Number of plans; at least 1.
    pub k: u32,
    /// For planners that sample.
    #[serde(default)]
    pub seed: u64,
    /// The visible part of the task, in plain language; for planners that ask a model.
    #[serde(default)]
    pub task: TaskView,
    /// The plan to rewrite, in a stage with `feedback`; for planners that ask a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<PlanDocument>,
    /// Feedback of earlier stages on that plan, ready for a prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
}

/// A sequence of ground actions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDocument {
    /// Ground actions as `(name object ...)`, in order.
    pub steps: Vec<String>,
    /// Times of the steps, one for each; empty in a plan without times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<StepTimes>,
    /// The plan's cost, if the planner computes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The proven bound on the cost: no plan costs less (or more, where the metric is maximised).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// Claims about the plan by the model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<PlanClaims>,
}

/// Times of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepTimes {
    /// Time of its start, from the start of the plan.
    pub start: f64,
    /// Its duration; absent for an instantaneous action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
}

/// Claims of a model about a plan that it wrote (test-time-scaling paper, section 4.6 and Appendix F). They
/// are not trusted: a validator checks them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PlanClaims {
    /// Claimed states after steps, in the order of the reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<ClaimedState>,
    /// True if the model claims that the goal is reached at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_reached: Option<bool>,
    /// The claimed cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// True if the model, on review, calls the plan right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<bool>,
}

/// A claim about the state after a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClaimedState {
    /// After how many steps; 0 is the initial state.
    pub after: u32,
    /// Literals that are claimed to hold then, as `(at a b)` and `(not (at a b))`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub literals: Vec<String>,
    /// Sentences that are claimed to hold then, as written, for models that do not see the predicates. A
    /// validator compares them with the suite's own sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<String>,
}

impl PlanDocument {
    /// The plan as an IPC plan file. Steps with times are `0.001: (mend f1) [5.000]`.
    pub fn to_ipc(&self) -> String {
        let mut text: String = self.timed_steps().iter().map(|step| format!("{step}\n")).collect();
        if let Some(cost) = self.cost {
            text.push_str(&format!("; cost = {cost}\n"));
        }
        text
    }
}

impl PlanDocument {
    /// The steps with their times, as a plan file has them.
    pub fn timed_steps(&self) -> Vec<String> {
        let text = |(index, step): (usize, &String)| match self.times.get(index) {
            None => step.clone(),
            Some(StepTimes { start, duration: None }) => format!("{}: {step}", time_text(*start)),
            Some(StepTimes { start, duration: Some(duration) }) => {
                format!("{}: {step} [{}]", time_text(*start), time_text(*duration))
            }
        };
        self.steps.iter().enumerate().map(text).collect()
    }

    /// End of the last step; `None` for a plan without times.
    pub fn makespan(&self) -> Option<f64> {
        let ends = self.times.iter().map(|times| times.start + times.duration.unwrap_or(0.0));
        ends.map(|end| (end * 1e6).round() / 1e6).reduce(f64::max)
    }
}

/// A time with three digits after the point, or all that it has.
fn time_text(time: f64) -> String {
    let short = format!("{time:.3}");
    if short.parse() == Ok(time) { short } else { time.to_string() }
}

/// The limit that ended the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitKind {
    /// Wall or CPU time.
    Time,
    /// Memory.
    Memory,
    /// Expanded nodes.
    Nodes,
    /// Size of the ground task.
    Grounding,
    /// The run was interrupted.
    Cancelled,
}

/// Statistics of a search. Numbers that a planner does not report are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SearchStatistics {
    /// Nodes expanded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expanded: Option<u64>,
    /// Nodes evaluated by a heuristic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluated: Option<u64>,
    /// Nodes generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<u64>,
    /// Ground actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ground_actions: Option<u64>,
    /// The search and heuristic that were really used, for example `astar(lmcut)` or `astar(blind)`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub search: String,
}

/// A planner's answer. None of these ever reads as another; a broken planner is a [`crate::Failure`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum PlanOutcome {
    /// At least one plan.
    Plan {
        /// Plans, best first.
        plans: Vec<PlanDocument>,
        /// True if the first plan is proven cheapest.
        optimal: bool,
        /// Statistics of the search.
        #[serde(default)]
        statistics: SearchStatistics,
    },
    /// Shown to have no plan.
    ProvenUnsolvable {
        /// Explanation for a person: goal atoms that are never reachable, the first missing achiever.
        explanation: Vec<String>,
        /// Statistics of the search.
        #[serde(default)]
        statistics: SearchStatistics,
    },
    /// The planner exhausted its search without a plan; this is not a proof.
    Exhausted {
        /// Explanation for a person.
        explanation: Vec<String>,
        /// Statistics of the search.
        #[serde(default)]
        statistics: SearchStatistics,
    },
    /// A limit was reached.
    LimitReached {
        /// The limit.
        limit: LimitKind,
        /// Message for a person.
        message: String,
        /// Plans found before, best first; fewer than requested.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        plans: Vec<PlanDocument>,
        /// Statistics of the search.
        #[serde(default)]
        statistics: SearchStatistics,
    },
    /// The task uses something that this planner does not plan for.
    Unsupported {
        /// The construct and its place.
        diagnostics: Vec<ReportedDiagnostic>,
    },
    /// The task cannot be read: there is nothing to plan for.
    Unreadable {
        /// Errors with their places.
        diagnostics: Vec<ReportedDiagnostic>,
    },
}

impl PlanOutcome {
    /// The word used in JSON and tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Plan { .. } => "plan",
            Self::ProvenUnsolvable { .. } => "proven-unsolvable",
            Self::Exhausted { .. } => "exhausted",
            Self::LimitReached { .. } => "limit-reached",
            Self::Unsupported { .. } => "unsupported",
            Self::Unreadable { .. } => "unreadable",
        }
    }
    /// The best plan, where there is one.
    pub fn best(&self) -> Option<&PlanDocument> {
        match self {
            Self::Plan { plans, .. } => plans.first(),
            _ => None,
        }
    }
}
