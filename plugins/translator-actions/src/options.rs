//! The options of the plugin.

use crate::codes;
use planforge_contract::{Failure, FailureClass};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the predicates come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They are given with their descriptions (domain-generators paper, section 3).
    #[default]
    Given,
    /// Each action may propose new ones, which later actions may use; a last question asks which say the same and makes them one.
    Grown,
}

/// Options of `translator-actions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Where the predicates come from: `given`, or `grown` action by action.
    pub mode: Mode,
    /// In-context examples of each question, drawn from the actions of the suites in `action_examples` of `[given]`, for each sample anew.
    #[schemars(range(min = 0, max = 100))]
    pub examples: u32,
    /// Mode `grown` only: how often the domain is written, 1 or 2. In the second pass each action is written anew, and sees the predicates that
    /// all others have proposed; in the first the earlier ones cannot use what the later ones propose. Left out: 2, as LLM-DM does.
    #[schemars(range(min = 1, max = 2))]
    pub passes: Option<u32>,
    /// Whether each question shows the other actions of the sample that are written already.
    pub earlier: bool,
    /// The actions to write, by name; all of them where it is left out. The others are not in the domain then.
    pub only: Option<Vec<String>>,
    /// Whether token log-probabilities are asked for; their sum over all actions becomes the candidate's log-likelihood.
    pub logprobs: bool,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::Given,
            examples: 3,
            passes: None,
            earlier: false,
            only: None,
            logprobs: false,
            system: None,
        }
    }
}

impl Options {
    /// What the schema cannot say.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let wrong = match (self.mode, self.passes) {
            (Mode::Given, Some(_)) => "`passes` belongs to `mode = \"grown\"`: given predicates do not grow",
            (Mode::Grown, Some(passes)) if !(1..=2).contains(&passes) => "`passes` must be 1 or 2",
            _ => return Ok(()),
        };
        Err(Failure::new(FailureClass::Request, codes::OPTIONS, wrong)
            .help("leave `passes` out, or see `planforge plugins show translator-actions`"))
    }

    /// How often a sample is written.
    pub(crate) fn passes(&self) -> u32 {
        match self.mode {
            Mode::Given => 1,
            Mode::Grown => self.passes.unwrap_or(2),
        }
    }
}
