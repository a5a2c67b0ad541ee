//! `translator-actions`: asks a language model (role `writer`) for the actions of a domain, one question an
//! action (domain-generators paper, section 3). With a grammar, the parameters of the action have a question of their own before.
//!
//! A question holds the predicates and their meanings, the action's description, and examples: actions of
//! other suites, drawn for each action and sample from the seed of the call. The candidate's domain is the
//! given header with the actions in the order of the suite. Each written action is kept as the text
//! `action.NAME`.
//!
//! | option | effect |
//! |---|---|
//! | `mode = "given"` | types and predicates are the domain's |
//! | `mode = "grown"` | only types and constants are given; each reply may propose predicates, and a last question unifies them (LLM-DM) |
//! | `passes` | number of times that a grown domain is written: in the second pass each action sees the predicates of all |
//! | `earlier = true` | questions show the domain's other actions that are written already |
//! | `examples`, `only` | number of examples; selected actions |
//!
//! An action that the candidate has is asked for again if an entry of the feedback names it at its beginning,
//! as `` Action `NAME` ``, and stays otherwise. If no entry names an action, all actions are asked for again
//! with all entries. A reply without an action leaves the action out and adds a diagnostic: the resulting
//! domain is judged, and the sample does not fail.

mod flow;
mod grown;
mod prompt;

pub use codes::CODES;

use planforge_contract::RequestCount::{Actions, Samples};
use planforge_plugin_common::translating::GrammarUse;
use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug)]
pub struct ActionTranslator {
    options: ActionTranslatorOptions,
    prompts: prompt::Prompts,
}

impl Plugin for ActionTranslator {
    type Options = ActionTranslatorOptions;

    fn about() -> About {
        About::new("Asks a language model for the actions of a domain, one request per action")
            .role(planforge_plugin_common::translating::ROLE, "writes the actions")
            .logprobs_where("logprobs", "true")
            .requires_grammar_where("grammar", "require")
            .requests_where("passes", &["1"], Samples * Actions + Samples)
            .requests_where("mode", &["grown"], Samples * Actions * 2 + Samples)
            .requests_where("grammar", &["prefer", "require"], Samples * Actions * 2)
            .requests(Samples * Actions)
    }

    fn create(options: ActionTranslatorOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        options.check()?;
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

impl Translator for ActionTranslator {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        flow::ActionsCall { host, options: &self.options, prompts: &self.prompts, request }.run()
    }
}

planforge_plugin_sdk::bundle_plugin!(Translator, ActionTranslator);

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
    /// The source of the predicates.
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
    /// Grammars in the requests. An action has two requests then: its parameters, and the rest over them. In mode `given` only: new
    /// predicates have no grammar.
    #[serde(skip_serializing_if = "GrammarUse::is_off")]
    pub grammar: GrammarUse,
    /// Replaces the system text. An empty text omits the system turn.
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

/// The codes of this plugin's failures and diagnostics.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const NOT_GIVEN: &str = "actions.not-given";
    pub(crate) const FEW_EXAMPLES: &str = "actions.few-examples";
    pub(crate) const TEMPLATE: &str = "actions.prompt-template";
    pub(crate) const NO_REPLY: &str = "actions.no-reply";
    pub(crate) const NO_ACTION: &str = "actions.no-action";
    pub(crate) const UNKNOWN_ACTION: &str = "actions.unknown-action";
    pub(crate) const BAD_PREDICATE: &str = "actions.bad-predicate";
    pub(crate) const NOT_UNIFIED: &str = "actions.not-unified";
    pub(crate) const UNUSED_PREDICATE: &str = "actions.unused-predicate";
    pub(crate) const OPTIONS: &str = "actions.options";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("codes.md");
}

#[cfg(test)]
mod tests;
