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

mod ask;
mod codes;
mod feedback;
mod flow;
mod grown;
mod materials;
mod options;
mod pddl_text;
mod prompt;
mod unify;

pub use codes::CODES;
pub use options::{ActionTranslatorOptions, Mode};

use planforge_contract::RequestCount::{Actions, Samples};
use planforge_plugin_sdk::prelude::*;

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

#[cfg(test)]
mod tests;
