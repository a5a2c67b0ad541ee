//! `translator-describe`: the way back, from PDDL to plain language (exploration-walk paper, Appendix C). Asks a language model
//! (role `writer`) and writes texts, never PDDL.
//!
//! | mode | writes | from | in-context examples |
//! |---|---|---|---|
//! | `domain-text` | what the domain is about (`domain.nl`) | the given domain; a problem, to understand the objects | `example.N.domain` with `example.N.domain-text` |
//! | `task-text` | a task (`pNN.nl`) | the given problem, the domain and its text | `lead.problem` with `lead.text`, of the same suite; where there is none, `example.N.problem` with `example.N.text` |
//! | `types` | what the objects of each type are (`[types]` of `sentences.toml`) | the types of the given domain, the domain's text | `example.N.domain` with `example.N.types` |
//! | `sentences` | how each fact is told (`sentences.toml`) | the predicates of the given domain, the domain's text | `example.N.domain` with `example.N.sentences` |
//!
//! What the task has already is not written again: no question is asked for a text that is there, so a pipeline of the four modes
//! writes what is missing. Sentences and types are read strictly: a reply that is no JSON object, leaves a predicate or a type out, or has a
//! slot that the predicate has no argument for is that sample's failure, with every mistake in its message. Where no sample can be
//! used, the candidate goes on without this text and with an error among its diagnostics: other texts do not depend on it.

mod codes;
mod options;
mod prompt;
mod read;
mod write;

pub use codes::CODES;
pub use options::{Mode, Options};

use planforge_contract::RequestCount::ForAllSamples;
use planforge_plugin_sdk::prelude::*;

#[derive(Debug)]
pub struct Describer {
    options: Options,
    prompts: prompt::Prompts,
}

impl Plugin for Describer {
    type Options = Options;

    fn about() -> About {
        About::new(
            "Asks a language model to tell PDDL in plain language: a domain, a task, its facts, or its types",
        )
        .role(write::ROLE, "writes the texts")
        .requests(ForAllSamples(1))
    }

    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

impl Translator for Describer {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        write::Call { host, options: &self.options, prompts: &self.prompts, request }.run()
    }
}

planforge_plugin_sdk::export_plugin!(Translator, Describer);

#[cfg(test)]
mod tests;
