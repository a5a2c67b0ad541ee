//! What a translator may know of a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What of the PDDL is given to the method. Everything else of the reference is withheld.
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

/// What the paper's Assumption 1 grants: the actions that can be asked for, and the objects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionInterface {
    /// The actions and their parameters.
    pub actions: Vec<ActionSignature>,
    /// The objects of this task.
    #[serde(default)]
    pub objects: Vec<TypedName>,
}

/// What a translator sees of a task. It has no field for anything that the pipeline does not declare as given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    /// The suite's name.
    pub suite: String,
    /// The task's stem, for example `p03`.
    pub task: String,
    /// What the domain is about, in plain language.
    pub domain_text: String,
    /// What this task is about, in plain language.
    pub task_text: String,
    /// The PDDL that is given.
    #[serde(default)]
    pub given: Given,
    /// The action interface, where the pipeline gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_interface: Option<ActionInterface>,
    /// Further texts by name: `example.text`, `example.problem`, `example.plan`, `example.ir`, of an example from another suite also
    /// `example.domain-text`, `example.domain` and `example.domain-template`; `objects.template`, `domain.template`; behind a
    /// fan-out `lead.text` and `lead.problem`; where the domain is given `asp.knowledge` (rules that hold in every task of it),
    /// `types` (a JSON object: type -> what its objects are) and `predicates` (a JSON object: predicate -> `{yes, no}`, see
    /// [`Sentences`](crate::Sentences)); and whatever the suite's manifest adds.
    #[serde(default)]
    pub materials: BTreeMap<String, String>,
}
