//! `translator-direct`: asks a language model (role `writer`) for a problem, a domain, or both, and extracts the PDDL from its replies.
//!
//! | mode | writes | from | with `template = true` the question holds |
//! |---|---|---|---|
//! | `problem` | a problem | the task's text; the domain (the candidate's, else the given one), else the domain's text | the problem's objects |
//! | `domain` | a domain | the domain's text; the candidate's problem, if it has one | the names and parameters of the actions |
//! | `both` | a domain, then a problem for it in the same conversation | both texts | both |
//!
//! One request asks for all `n` samples of a question. In mode `both` a further question is asked for each domain. With a grammar, and without
//! given objects, a question asks for the objects first, and a further one for a problem over those of each sample. A reply that lacks the
//! PDDL or was cut off fails its sample only. If the candidate has a conversation, the question is its next turn; feedback is asked about in
//! a turn that shows the current PDDL.
//! The texts of the questions are in `templates/` and, as far as other translators share them, in `planforge_plugin_common::translating`.
//!
//! `translator-edit` changes a domain by function calls; `translator-thought` writes an explanation with the PDDL and updates both from a
//! critique.

mod example;
mod grammar;
mod options;
mod prompt;
pub mod thought;
mod translate;

pub use options::{DirectOptions, Example, MadeExample, Mode};

use planforge_contract::RequestCount::{ForAllSamples, Samples};
use planforge_plugin_sdk::prelude::*;

#[derive(Debug)]
pub struct DirectTranslator {
    options: DirectOptions,
    prompts: prompt::Prompts,
}

impl Plugin for DirectTranslator {
    type Options = DirectOptions;

    fn about() -> About {
        About::new("Asks a language model for a problem, a domain, or both")
            .role(planforge_plugin_common::translating::ROLE, "writes the PDDL")
            .logprobs_where("logprobs", "true")
            .requires_grammar_where("grammar", "require")
            .requests_where("mode", &["domain"], ForAllSamples(1))
            .requests_if(
                OptionCondition::new("mode", &["both"]).and(with_grammar()),
                ForAllSamples(1) + Samples + Samples,
            )
            .requests_if(with_grammar(), ForAllSamples(1) + Samples)
            .requests_where("mode", &["problem"], ForAllSamples(1))
            .requests(ForAllSamples(1) + Samples)
    }

    fn create(options: DirectOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

/// Objects that are not given are asked for first.
fn with_grammar() -> OptionCondition {
    OptionCondition::new("grammar", &["prefer", "require"])
}

impl Translator for DirectTranslator {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        translate::DirectCall::new(host, &self.options, &self.prompts, request).run()
    }
}

planforge_plugin_sdk::bundle_plugin!(Translator, DirectTranslator);

#[cfg(test)]
mod tests;
