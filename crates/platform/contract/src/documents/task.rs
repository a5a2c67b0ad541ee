//! The parts of a task that a translator may see, and the requests to translators and verifiers.

use crate::{Assessment, Candidate, CandidatePatch, Materials, Message, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// PDDL that is given to the method. Everything else of the reference is withheld.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Given {
    /// The whole domain, as PDDL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The whole problem, as PDDL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One parameter of an action, or one object, with its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TypedName {
    /// The name; parameters have no leading `?`.
    pub name: String,
    /// Its type; `object` where none was written.
    #[serde(rename = "type")]
    pub type_name: String,
}

/// The name and parameters of an action, without its conditions and effects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionSignature {
    /// The action's name.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<TypedName>,
}

impl std::fmt::Display for ActionSignature {
    /// `(drive ?from - town ?to - town)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({}", self.name)?;
        for parameter in &self.parameters {
            write!(f, " ?{} - {}", parameter.name, parameter.type_name)?;
        }
        f.write_str(")")
    }
}

/// The action interface of the paper's Assumption 1: actions with their parameters, and objects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionInterface {
    /// The actions and their parameters.
    pub actions: Vec<ActionSignature>,
    /// The objects of this task.
    #[serde(default)]
    pub objects: Vec<TypedName>,
    /// The declared types, each with its parent as its type. Present only where the suite has no template of the
    /// domain, which would show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<TypedName>,
}

/// A translator's view of a task. It has no field for anything that the pipeline does not declare as given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    /// The suite's name.
    pub suite: String,
    /// The task's stem, for example `p03`.
    pub task: String,
    /// The domain in plain language.
    pub domain_text: String,
    /// The task in plain language.
    pub task_text: String,
    /// The PDDL that is given.
    #[serde(default)]
    pub given: Given,
    /// The action interface, where the pipeline gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_interface: Option<ActionInterface>,
    /// Parts of the suite beside its texts.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub materials: Materials,
}

/// True if machine-applicable fixes are applied to a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FixPolicy {
    /// Leave the text as it came.
    #[default]
    None,
    /// Apply every safe fix and record each.
    Safe,
}

/// A request for `n` continuations of one candidate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranslateRequest {
    /// The task as the plugin may see it.
    pub task: TaskView,
    /// The candidate to continue.
    pub candidate: Candidate,
    /// Feedback of the verifiers, ready for a prompt; empty in the first round.
    #[serde(default)]
    pub feedback: Vec<String>,
    /// Number of samples; at least 1.
    pub n: u32,
    /// Policy for fixes of the written text.
    #[serde(default)]
    pub fixes: FixPolicy,
    /// For choices of the plugin's own; derived from the run's seed and the sample path.
    #[serde(default)]
    pub seed: u64,
}

/// One result a sample, in sample order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranslateResponse {
    /// One result a sample: exactly `n`.
    pub samples: Vec<Outcome<CandidatePatch>>,
}

/// A request to assess candidates of one task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyRequest {
    /// The task as the plugin may see it.
    pub task: TaskView,
    /// At least one. Several are the children of one round, or of one candidate, for a verifier with the capability `together`.
    pub candidates: Vec<Candidate>,
    /// For sampling; derived from the run's seed and the sample path.
    #[serde(default)]
    pub seed: u64,
    /// For each candidate, the feedback of the stages that the pipeline names, ready for a prompt. Empty if
    /// it names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<Vec<String>>,
    /// For each candidate, the stage's own conversation about it and what it was made from so far. Empty where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversations: Vec<Vec<Message>>,
}

/// One result a candidate, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyResponse {
    /// As many as candidates.
    pub results: Vec<Outcome<Assessment>>,
}
