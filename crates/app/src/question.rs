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
    /// Consequences of the first choices, for fronts that show them beside these; empty if nothing is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<Side>,
    /// Number of the choice after which the person writes what is true, from 1; `None` if no choice is that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_words: Option<usize>,
}

/// The consequence of a choice: steps from the start, and a statement about them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Meaning of the choice; empty if only its steps show it.
    pub clause: String,
    /// The steps in words, in order.
    pub steps: Vec<String>,
    /// The statement about the steps.
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

/// Statement of a test about its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Statement {
    /// All of them can be done, one after the other.
    Possible,
    /// They can be done, and the task is then done.
    Done,
}
