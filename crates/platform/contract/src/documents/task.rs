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
    /// [`Sentences`](crate::Sentences)); where actions are given in words `actions` ([`ActionDescription`]s), `predicates.declared`
    /// ([`PredicateDescription`]s), `domain.header` (the domain without its actions) and `example.actions`
    /// ([`ActionExample`]s of other suites); and whatever the suite's manifest adds.
    #[serde(default)]
    pub materials: BTreeMap<String, String>,
}

/// A predicate of a domain, as it is declared and in words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PredicateDescription {
    /// For example `(at ?b - ball ?r - room)`.
    pub declaration: String,
    /// What it says of its arguments, for example `ball b is in room r`.
    pub text: String,
}

/// An action in words (material `actions`, a JSON array).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionDescription {
    /// The action's name.
    pub name: String,
    /// What it does, in the words of the description class that the pipeline gives.
    pub text: String,
}

/// An action of another domain, solved: an in-context example (material `example.actions`, a JSON array).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionExample {
    /// The suite that it comes from.
    pub suite: String,
    /// The action in words.
    pub action: ActionDescription,
    /// The predicates that it may use.
    pub predicates: Vec<PredicateDescription>,
    /// The action, as PDDL.
    pub pddl: String,
}
