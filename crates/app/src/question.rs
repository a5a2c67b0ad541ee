//! Questions about a task, and what follows from their choices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A question about the task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Question {
    /// The question in plain language.
    pub text: String,
    /// Answers to choose from; empty for a free answer.
    pub choices: Vec<String>,
    /// What follows from the first choices, for fronts that show it beside them; empty if nothing is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<Side>,
}

/// What follows from a choice: steps from the start, and what is true about them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// What the choice means; empty if only its steps tell it.
    pub clause: String,
    /// The steps in words, in order.
    pub steps: Vec<String>,
    /// What is stated about the steps.
    pub states: Statement,
    /// True if the statement is true under this choice.
    pub holds: bool,
}

/// Answers of the user.
pub trait Questions: Send + Sync {
    /// The answer, or `None` if there is none. May wait for a person; the use case stays cancellable meanwhile.
    fn answer(&self, question: &Question) -> Option<String>;
}

impl<F: Fn(&Question) -> Option<String> + Send + Sync> Questions for F {
    fn answer(&self, question: &Question) -> Option<String> {
        self(question)
    }
}

/// What a test states about its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Statement {
    /// All of them can be done, one after the other.
    Possible,
    /// They can be done, and the task is then done.
    Done,
}
