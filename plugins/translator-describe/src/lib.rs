//! `translator-describe`: describes PDDL in plain language (exploration-walk paper, Appendix C). It asks a
//! language model (role `writer`) and writes texts, never PDDL.
//!
//! | mode | writes | from | in-context examples |
//! |---|---|---|---|
//! | `domain-text` | the domain's text (`domain.nl`) | the given domain; a problem, for the objects | `example.N.domain` with `example.N.domain-text` |
//! | `task-text` | a task's text (`pNN.nl`) | the given problem, the domain and its text | `lead.problem` with `lead.text`, of the same suite; without these, `example.N.problem` with `example.N.text` |
//! | `types` | the meaning of each type (`[types]` of `sentences.toml`) | the types of the given domain, the domain's text | `example.N.domain` with `example.N.types` |
//! | `sentences` | the sentence of each predicate (`sentences.toml`) | the predicates of the given domain, the domain's text | `example.N.domain` with `example.N.sentences` |
//!
//! Existing texts are not written again: a pipeline of the four modes writes the missing ones. Sentences and
//! types are read strictly. A reply that is not a JSON object, leaves a predicate or a type out, or has a
//! slot without an argument fails its sample, with every mistake in its message. If no sample is usable, the
//! candidate goes on without this text and with an error among its diagnostics, because other texts do not
//! depend on it.

mod prompt;
mod read;
mod write;

use planforge_contract::RequestCount::ForAllSamples;
use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use codes::CODES;

#[derive(Debug)]
pub struct Describer {
    options: DescribeOptions,
    prompts: prompt::Prompts,
}

impl Plugin for Describer {
    type Options = DescribeOptions;

    fn about() -> About {
        About::new(
            "Asks a language model to tell PDDL in plain language: a domain, a task, its facts, or its types",
        )
        .role(planforge_plugin_common::translating::ROLE, "writes the texts")
        .requests(ForAllSamples(1))
    }

    fn create(options: DescribeOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

impl Translator for Describer {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        write::DescribeCall { host, options: &self.options, prompts: &self.prompts, request }.run()
    }
}

planforge_plugin_sdk::bundle_plugin!(Translator, Describer);

/// The codes of this plugin's failures and diagnostics.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const NOT_GIVEN: &str = "describe.not-given";
    pub(crate) const TEMPLATE: &str = "describe.prompt-template";
    pub(crate) const FEW_REPLIES: &str = "describe.too-few-replies";
    pub(crate) const CUT_OFF: &str = "describe.cut-off";
    pub(crate) const NO_TEXT: &str = "describe.no-text";
    pub(crate) const SENTENCES: &str = "describe.sentences";
    pub(crate) const TYPES: &str = "describe.types";
    pub(crate) const UNNAMED: &str = "describe.unnamed";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("codes.md");
}

#[cfg(test)]
mod tests;

/// The text to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The domain's text.
    #[default]
    DomainText,
    /// The task's text.
    TaskText,
    /// The sentences of each fact, for true and for false.
    Sentences,
    /// The meaning of each type.
    Types,
}

impl Mode {
    /// The word for it: in the option, in the tags of a request, and as the name of the text that is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::DomainText => "domain-text",
            Self::TaskText => "task-text",
            Self::Sentences => "sentences",
            Self::Types => "types",
        }
    }
}

/// Options of `translator-describe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DescribeOptions {
    /// The text to write.
    pub mode: Mode,
    /// Most in-context examples of other domains that are shown. Left out: all that there are.
    pub examples: Option<u32>,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}
