//! The output of `planforge pddl graph --json`: the states around a plan (test-time-scaling paper, Fig. 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The states of a plan and around it, and the actions between them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateGraphReport {
    /// The plan, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<StateGraphPlan>,
    /// The initial state first.
    pub states: Vec<StateGraphState>,
    /// By the state that they leave.
    pub edges: Vec<StateGraphEdge>,
    /// Greatest distance of a shown state from the plan's states, or from the initial state, in actions.
    pub distance: u32,
    /// Most states that were to be shown.
    pub max_states: u32,
    /// Actions that lead to states left out for that.
    pub left_out: u32,
}

/// Execution of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateGraphPlan {
    /// Its steps.
    pub steps: u32,
    /// Steps executed before the first that cannot be.
    pub executed: u32,
    /// True if it is valid.
    pub valid: bool,
    /// The first step that cannot be executed, and why; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failing_step: String,
}

/// A state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StateGraphState {
    /// After which steps of the plan the task is in it; 0 stands for the initial state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after_steps: Vec<u32>,
    /// Distance from the plan's states, in actions.
    pub distance: u32,
    /// True if the goal holds.
    pub goal: bool,
    /// Index of the state that it was found from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// Atoms that hold here and not there.
    pub added: Vec<String>,
    /// Atoms that hold there and not here.
    pub deleted: Vec<String>,
    /// The atoms that hold, without those that no action changes.
    pub atoms: Vec<String>,
    /// Applicable actions that lead to states left out for the limit.
    pub left_out: u32,
}

/// An action between two states.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StateGraphEdge {
    /// Index of the state before.
    pub from: u32,
    /// Index of the state after.
    pub to: u32,
    /// The ground action.
    pub action: String,
    /// The plan's steps that it is, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u32>,
}
