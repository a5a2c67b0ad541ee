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

mod extract;
mod infer;
mod learn;
mod prompt;
mod translate;
mod vocabulary;
mod work;

pub use codes::CODES;
pub use learn::{LearnInput, LearnPair, LearnResult, PairResult};

use planforge_contract::RequestCount::{ForAllSamples, Samples};
use planforge_plugin_common::translating::GrammarUse;
use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// The source of the intermediate representation (translate-infer-compile paper, section 4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One request with a solved example of the same domain (section 4.1).
    #[default]
    Ic,
    /// Three requests that are the same for every domain: the number of objects of each type, the named
    /// objects, and the facts and goals (section 4.2).
    G3,
    /// The three requests of `g3` as one.
    G1,
    /// No request: the candidate has it already, as its text `ir`.
    Infer,
}

/// Limits of one inference. The host's limits of a child process (time, memory, output) apply too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Seconds for one program, and for the comparison of its answers, between 0.001 and 3600.
    #[schemars(range(min = 0.001, max = 3600.0))]
    pub time_s: f64,
    /// Most megabytes that the child process may hold, itself included; it is replaced once it held more. The host's own limit
    /// of its address space is 2048.
    #[schemars(range(min = 64, max = 2048))]
    pub memory_mb: u32,
    /// Most kilobytes of one intermediate representation. The reader takes no more than 512.
    #[schemars(range(min = 1, max = 512))]
    pub program_kb: u32,
    /// Most kilobytes of the atoms that come back, all answer sets together.
    #[schemars(range(min = 1, max = 32_768))]
    pub answer_kb: u32,
    /// Most pairs of objects tried when two answers are compared up to the names of their objects.
    #[schemars(range(min = 1))]
    pub choices: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time_s: 20.0, memory_mb: 1024, program_kb: 512, answer_kb: 2048, choices: 1_000_000 }
    }
}

/// Options of `translator-asp`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AspTranslatorOptions {
    /// The source of the intermediate representation.
    pub mode: Mode,
    /// Most repair requests, which show the model the refusals of its answer in the same conversation.
    #[schemars(range(max = 10))]
    pub repair_rounds: u32,
    /// Most answer sets that are compared if a program has several. They must be equal up to the names of
    /// objects.
    #[schemars(range(min = 1, max = 1000))]
    pub models: u32,
    /// Limits of one inference: `time_s`, `memory_mb`, `program_kb`, `answer_kb` and `choices`.
    pub limits: Limits,
    /// Requests token log-probabilities. Their sum is the candidate's log-likelihood.
    pub logprobs: bool,
    /// Grammars in the requests. The requests for numbers and objects of mode `g3` have none.
    #[serde(skip_serializing_if = "GrammarUse::is_off")]
    pub grammar: GrammarUse,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}

impl Default for AspTranslatorOptions {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            repair_rounds: 0,
            models: 16,
            limits: Limits::default(),
            logprobs: false,
            grammar: GrammarUse::Off,
            system: None,
        }
    }
}

/// The codes of this plugin. Those about a program, `asp.*` and `ir.*`, are of the crate asp, those about a reply, `reply.*`, the SDK's.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const NO_TEXT: &str = "translate-asp.no-text";
    pub(crate) const NO_DOMAIN: &str = "translate-asp.no-domain";
    pub(crate) const NO_EXAMPLE: &str = "translate-asp.no-example";
    pub(crate) const NO_IR: &str = "translate-asp.no-ir";
    pub(crate) const KNOWLEDGE: &str = "translate-asp.knowledge";
    pub(crate) const DESCRIPTIONS: &str = "translate-asp.descriptions";
    pub(crate) const BEYOND: &str = "translate-asp.beyond-facts-and-numbers";
    pub(crate) const TEMPLATE: &str = "translate-asp.prompt-template";
    pub(crate) const FEW_REPLIES: &str = "translate-asp.too-few-replies";
    pub(crate) const JSON: &str = "translate-asp.json";
    pub(crate) const TYPE: &str = "translate-asp.unknown-type";
    pub(crate) const COUNT: &str = "translate-asp.count";
    pub(crate) const NAME: &str = "translate-asp.name";
    pub(crate) const REFUSED: &str = "translate-asp.refused";
    pub(crate) const CONFLICT: &str = "translate-asp.conflict";
    pub(crate) const AMBIGUOUS: &str = "translate-asp.ambiguous";
    pub(crate) const NOT_COMPILED: &str = "translate-asp.not-compiled";
    pub(crate) const REMARK: &str = "translate-asp.remark";
    pub(crate) const COMPARISON: &str = "translate-asp.comparison";
    pub(crate) const REASONER: &str = "translate-asp.reasoner";
    pub(crate) const JOB: &str = "translate-asp.job";
    pub(crate) const TIME: &str = "translate-asp.time";
    pub(crate) const SIZE: &str = "translate-asp.size";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("codes.md");
}

#[cfg(test)]
mod tests;
