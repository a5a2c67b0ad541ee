//! The parts of a task that a translator may see.

use crate::Materials;
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
