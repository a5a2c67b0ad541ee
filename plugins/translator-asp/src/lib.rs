//! `translator-asp`: translates a text to an intermediate representation, which clingo completes and which is
//! compiled to a problem (Translate-Infer-Compile).
//!
//! | mode | source of the intermediate representation | questions a sample |
//! |---|---|---|
//! | `ic` | one question with a solved example of the same domain (paper, section 4.1) | 1 |
//! | `g3` | the number of objects of each type, the named objects, and the facts and goals (section 4.2) | 3 |
//! | `g1` | the same in one question | 1 |
//! | `infer` | the candidate's text `ir` | 0 |
//!
//! The domain is given. [`planforge_asp::reader`] reads a reply: plain mistakes are repaired and reported
//! (whatever the stage's `fixes` says, which is about PDDL), and forbidden constructs are refused. The
//! program is completed by the library's rules, those of the suite's knowledge file and those made from the
//! domain. clingo solves it in the host's child process (`work`), and the answer is compiled. Each sample is
//! independent. An unusable reply is a failure of its sample, of class `Reply`. With `repair_rounds` the
//! model is shown the refusals and asked again in the same conversation. A limit of the child process is a
//! failure of class `Limit` and says nothing about the program.
//!
//! Mode `infer` also learns the rules of a knowledge file, from a candidate with the text `pairs` ([`LearnInput`]).

mod codes;
mod extract;
mod infer;
mod learn;
mod options;
mod prompt;
mod provenance;
mod translate;
mod vocabulary;
mod work;

pub use codes::CODES;
pub use learn::{LearnInput, LearnPair, LearnResult, PairResult};
pub use options::{AspTranslatorOptions, Limits, Mode};

use planforge_contract::RequestCount::{ForAllSamples, Samples};
use planforge_plugin_sdk::prelude::*;

#[derive(Debug)]
pub struct AspTranslator {
    options: AspTranslatorOptions,
    prompts: prompt::Prompts,
}

impl Plugin for AspTranslator {
    type Options = AspTranslatorOptions;

    fn about() -> About {
        About::new("Text to an answer set program, completed by clingo and compiled to a problem (Translate-Infer-Compile)")
            .role(planforge_plugin_common::translating::ROLE, "writes the intermediate representation")
            .logprobs_where("logprobs", "true")
            .requires_grammar_where("grammar", "require")
            .worker()
            .requests_where("mode", &["infer"], 0)
            .requests_where("mode", &["g3"], ForAllSamples(2) + Samples + Samples * 3 * RequestCount::option("repair_rounds"))
            .requests(ForAllSamples(1) + Samples * RequestCount::option("repair_rounds"))
    }

    fn create(options: AspTranslatorOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

impl Translator for AspTranslator {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        if self.options.mode == Mode::Infer && learn::has_pairs(request) {
            return learn::run(host, &self.options, request);
        }
        translate::AspCall::new(host, &self.options, &self.prompts, request)?.run()
    }

    fn work(&self, input: &str) -> Result<String, Failure> {
        work::work(input)
    }
}

planforge_plugin_sdk::bundle_plugin!(Translator, AspTranslator);

#[cfg(test)]
mod tests;
