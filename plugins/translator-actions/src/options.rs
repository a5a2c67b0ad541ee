//! The options of the plugin.

use crate::codes;
use planforge_contract::{Failure, FailureClass};
use planforge_plugin_common::translating::GrammarUse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of the predicates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They are given with their descriptions (domain-generators paper, section 3).
    #[default]
    Given,
    /// Each action may propose new ones, which later actions may use; a last request finds those with the
    /// same meaning and unifies them.
    Grown,
}

/// Options of `translator-actions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ActionTranslatorOptions {
    /// The source of the predicates: `given`, or `grown` action by action.
    pub mode: Mode,
    /// Number of in-context examples of each request, drawn for each sample from the actions of the suites
    /// in `action_examples` of `[given]`.
    #[schemars(range(min = 0, max = 100))]
    pub examples: u32,
    /// Mode `grown` only: number of times that the domain is written, 1 or 2. In the second pass each action
    /// is written again and sees the predicates that all others have proposed; in the first pass it sees
    /// those of earlier actions only. Left out: 2, as in LLM-DM.
    #[schemars(range(min = 1, max = 2))]
    pub passes: Option<u32>,
    /// Shows the other actions of the sample that are written already in each request.
    pub earlier: bool,
    /// The actions to write, by name. The domain lacks the others. Left out: all.
    pub only: Option<Vec<String>>,
    /// Requests token log-probabilities. Their sum over all actions is the candidate's log-likelihood.
    pub logprobs: bool,
    /// Grammars in the requests: `"off"`, `"prefer"` (where the provider enforces them) or `"require"`. An action has two requests then:
    /// its parameters, and the rest over them. In mode `given` only: new predicates have no grammar.
    #[serde(skip_serializing_if = "GrammarUse::is_off")]
    pub grammar: GrammarUse,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}

impl Default for ActionTranslatorOptions {
    fn default() -> Self {
        Self {
            mode: Mode::Given,
            examples: 3,
            passes: None,
            earlier: false,
            only: None,
            logprobs: false,
            grammar: GrammarUse::Off,
            system: None,
        }
    }
}

impl ActionTranslatorOptions {
    /// Checks what the schema cannot express.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let wrong = match (self.mode, self.passes) {
            (Mode::Given, Some(_)) => "`passes` belongs to `mode = \"grown\"`: given predicates do not grow",
            (Mode::Grown, Some(passes)) if !(1..=2).contains(&passes) => "`passes` must be 1 or 2",
            _ => return Ok(()),
        };
        Err(Failure::new(FailureClass::Request, codes::OPTIONS, wrong)
            .help("leave `passes` out, or see `planforge plugins show translator-actions`"))
    }

    /// Number of passes of a sample.
    pub(crate) fn passes(&self) -> u32 {
        match self.mode {
            Mode::Given => 1,
            Mode::Grown => self.passes.unwrap_or(2),
        }
    }
}
