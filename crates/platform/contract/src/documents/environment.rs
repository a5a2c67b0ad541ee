//! Environments execute actions. Calls are batched, so that a thousand walks cost one crossing.

use crate::{ActionInterface, ReportedDiagnostic, Sentences};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Opens an environment on a task. The host fills it from the suite; a pipeline file never names a reference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EnvironmentOpen {
    /// The suite's name.
    pub suite: String,
    /// The task's stem.
    pub task: String,
    /// The reference domain, for environments that simulate one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The reference problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Further reference problems of the suite, for verifiers that compare over several: as many as `problems` of `[environment]` asks for
    /// beside the task's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Sentences for facts and numbers, by predicate or function.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sentences: BTreeMap<String, Sentences>,
}

/// Actions and objects of an environment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EnvironmentInfo {
    /// Actions and objects.
    pub interface: ActionInterface,
    /// The reference model, for verifiers that compute exactly; never shown to a translator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<EnvironmentOpen>,
}

/// Request for walks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WalkSpec {
    /// Walk lengths; one walk for each entry.
    pub lengths: Vec<u32>,
    /// Every walk's random choices derive from this and its index.
    pub seed: u64,
    /// Rule for the choice of a step.
    #[serde(skip_serializing_if = "WalkPolicy::is_uniform")]
    pub policy: WalkPolicy,
}

/// Rule by which a walk chooses among the applicable ground actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WalkPolicy {
    /// Each with the same probability (paper, section 4.3).
    #[default]
    Uniform,
    /// Those that the walks so far have executed least are likelier; none is impossible.
    CoverageGuided,
}

impl WalkPolicy {
    /// True for the paper's rule.
    pub const fn is_uniform(&self) -> bool {
        matches!(self, Self::Uniform)
    }
}

/// Walks taken in the environment; a walk that met a dead end is shorter than asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Walks {
    /// Ground actions as `(name object ...)`, one list a walk, in the order of the spec.
    pub walks: Vec<Vec<String>>,
}

/// Sequences of ground actions to try, each from the initial state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sequences {
    /// Ground actions as `(name object ...)`.
    pub sequences: Vec<Vec<String>>,
}

/// Result of executing one sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    /// Steps executed before the first refusal; the sequence's length where none was refused.
    pub executed: u32,
    /// Reason why the next step was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// One entry a sequence, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionReport {
    /// As many as sequences.
    pub executions: Vec<Execution>,
}

/// A plan to judge in the environment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentPlan {
    /// Ground actions as `(name object ...)`, those of a plan with times as `0.001: (name object ...) [5.000]`.
    pub steps: Vec<String>,
}

/// Validation of a plan against the environment's task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentVerdict {
    /// Executable to the end, the goal holds there, and no constraint is violated.
    pub valid: bool,
    /// Steps executed.
    pub executed: u32,
    /// Reasons for a person; empty if `valid`.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Trajectory constraints that the plan violates, a clause each. Empty unless all steps are executed and the goal holds:
    /// otherwise the plan fails before they matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
    /// The same as diagnostics into `plan`, where there are places.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
}

/// Asks for the state after a sequence of actions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateQuery {
    /// Ground actions from the initial state; all must be executable.
    pub actions: Vec<String>,
    /// The ground action that comes next. If given, the description also contains facts that do not hold, for
    /// the action's objects and without arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
}

/// A state in words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateDescription {
    /// One sentence a fact.
    pub sentences: Vec<String>,
    /// The same as atoms, where the environment has them.
    #[serde(default)]
    pub atoms: Vec<String>,
}
