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
//! `translator-edit` changes a domain by function calls; `translator-reading` writes domain and problem from numbered sentences in one reply;
//! `translator-thought` writes an explanation with the PDDL and updates both from a critique.

mod prompt;
pub mod reading;
pub mod thought;
mod translate;

use planforge_contract::RequestCount::{ForAllSamples, Samples};
use planforge_plugin_common::translating::GrammarUse;
use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// The PDDL to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A problem for the candidate's domain or the given one.
    #[default]
    Problem,
    /// A domain. If the candidate has a problem, the domain fits it.
    Domain,
    /// A domain, then a problem in the same conversation. Each sample has its own conversation.
    Both,
}

/// The in-context example of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Example {
    /// `true`: the example of the suite, or of the suite that the pipeline names. `false`: none.
    Shown(bool),
    /// An example that the run makes.
    Made(MadeExample),
}

/// Examples that a run makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MadeExample {
    /// The lead task of a `fan_out` stage, `lead.text` and `lead.problem`, is the example of a problem.
    Lead,
}

impl Example {
    /// The lead task of a `fan_out` stage.
    pub const LEAD: Self = Self::Made(MadeExample::Lead);
}

/// Options of `translator-direct`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DirectOptions {
    /// The PDDL to write.
    pub mode: Mode,
    /// The in-context example. Left out: shown if the task has one. `true`: required. `false`: none. The example of a problem is
    /// `example.text` and `example.problem`, with the text of their domain if no domain is given. The example of a domain is
    /// `example.domain-text` and `example.domain`.
    pub example: Option<Example>,
    /// Shows a template to complete: for a problem its objects, for a domain the names and parameters of its actions. Templates are the
    /// suite's texts `objects.template` and `domain.template` or, without these, the action interface that the pipeline gives. A task that has
    /// neither is asked about without a template.
    pub template: bool,
    /// Asks the model to reason before it answers.
    pub reason: bool,
    /// Requests token log-probabilities. Their sum is the candidate's log-likelihood.
    pub logprobs: bool,
    /// Grammars in the requests. The grammar of a problem is made from its domain and objects. If no objects are given, they are named
    /// first, in another request; a correction has one request and a grammar of the domain alone. The grammar of a domain is its syntax.
    #[serde(skip_serializing_if = "GrammarUse::is_off")]
    pub grammar: GrammarUse,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}

#[cfg(test)]
mod tests;
