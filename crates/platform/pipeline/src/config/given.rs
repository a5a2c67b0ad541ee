//! `[given]`: the parts of a suite that the method may see.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parts of the suite that the method is given. Texts are by default; parts of the reference are withheld
/// unless they are set to true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GivenSpec {
    /// The texts in plain language: of the domain, of the task, and of the in-context example. With `false` none of them is given,
    /// and suites need not have any (Prob2Domain of the test-time-scaling paper, section 4.1).
    #[serde(skip_serializing_if = "is_true")]
    pub text: bool,
    /// The whole domain, as PDDL.
    pub domain: bool,
    /// The whole problem, as PDDL. A domain that is written is then judged and planned with this problem.
    pub problem: bool,
    /// The names and parameters of the actions, and the suite's domain template where it has one.
    pub interface: bool,
    /// The objects of the task, and the suite's object template where it has one.
    pub objects: bool,
    /// The in-context example. Left out, the suite's own is given where the domain is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<GivenExample>,
    /// Each action in words, and the domain without its actions: types, predicates, and their meaning (see
    /// `predicates`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<DescriptionClass>,
    /// With `actions`: give the predicates and their meaning too. With `false` only the domain's types and
    /// constants are given, and the method invents its predicates.
    #[serde(skip_serializing_if = "is_true")]
    pub predicates: bool,
    /// Folders of suites, or folders that hold suites, relative to the pipeline file, whose actions are in-context examples for
    /// actions. The suite whose tasks are run is left out where it is among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub action_examples: Vec<String>,
}

/// The amount of detail in an action's description (domain-generators paper, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DescriptionClass {
    /// The purpose and the parameters of the action.
    Base,
    /// The same, and what it needs and makes false.
    Flipped,
    /// The same as base, and as many conditions and effects as in flipped, drawn from all of them.
    Random,
}

impl Default for GivenSpec {
    fn default() -> Self {
        Self {
            text: true,
            domain: false,
            problem: false,
            interface: false,
            objects: false,
            example: None,
            actions: None,
            predicates: true,
            action_examples: Vec::new(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_true(flag: &bool) -> bool {
    *flag
}

/// The in-context example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum GivenExample {
    /// `true`: the suite's own, which is its text and plan, and its problem where the domain is given, for a problem shows the
    /// domain's predicates. `false`: none.
    Own(bool),
    /// The folder of another suite, relative to the pipeline file: its domain's text, its domain, and one task of it with
    /// text, problem and plan, whole.
    Suite(String),
}

impl GivenSpec {
    /// True if the suite's own in-context example is given.
    pub fn gives_own_example(&self) -> bool {
        match &self.example {
            None => self.domain,
            Some(GivenExample::Own(given)) => *given,
            Some(GivenExample::Suite(_)) => false,
        }
    }

    /// The need for texts in suites: required, unless none is given.
    pub const fn texts(&self) -> Texts {
        if self.text { Texts::Required } else { Texts::Optional }
    }

    /// The suite whose task is the in-context example, as the file names it.
    pub fn example_suite(&self) -> Option<&str> {
        match &self.example {
            Some(GivenExample::Suite(path)) => Some(path),
            _ => None,
        }
    }
}

/// The need for texts in plain language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// The domain and each task has one; a problem without a text is not a task.
    Required,
    /// Texts are not needed: every problem is a task.
    Optional,
}
