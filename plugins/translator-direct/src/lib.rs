//! `translator-direct`: asks a language model (role `writer`) for a problem, a domain, or both, and takes the PDDL out of
//! its replies.
//!
//! | mode | writes | from | with `template = true` the question holds |
//! |---|---|---|---|
//! | `problem` | a problem | the task's text; the domain (the candidate's, else the given one), else the domain's text | the problem's objects |
//! | `domain` | a domain | the domain's text; the candidate's problem, if there is one | the names and parameters of the actions |
//! | `both` | a domain, then a problem for it in the same conversation | both texts | both |
//! | `edit` | changes to the candidate's domain, as calls of two functions | the domain's text; the candidate's problem | the domain as it stands: always |
//! | `update` | the domain or the problem anew (`artefact`), with its thought | what the first question had; the last thought and PDDL; the critique | as for `domain` and `problem` |
//!
//! With `form = "thought"` a domain or problem comes with a thought: what each predicate and action means, a line each
//! (test-time-scaling paper, Appendix D). The thought goes with the candidate, and the log-likelihood is that of both. An update is
//! that paper's f_update (Eq. 4): a question without the conversation before it, whose answer replaces what stood. Where there is no text
//! about the domain, a domain is worked out from the problem alone (Prob2Domain).
//!
//! One request asks for all `n` samples of a question; in mode `both` each domain then gets a question of its own. A reply
//! without PDDL of the kind asked for, or one that was cut off, is that sample's failure, and the other samples go on. Where a
//! candidate has a conversation, the question is its next turn; feedback is asked about in a turn that shows what stands now.
//! In mode `edit` each call that holds is applied, and each other is a diagnostic of the patch: the domain stays sound, and a reply
//! without a call leaves it as it was.
//! The texts of the questions lie in `templates/`; the option `system` replaces the first of them.

mod calls;
mod codes;
mod edit;
mod example;
mod options;
mod prompt;
mod skeleton;
mod translate;

pub use codes::CODES;
pub use options::{Artefact, Example, Form, MadeExample, Mode, Options};

use planforge_contract::RequestCount::{ForAllSamples, Samples};
use planforge_plugin_sdk::prelude::*;

/// The plugin.
#[derive(Debug)]
pub struct DirectTranslator {
    options: Options,
    prompts: prompt::Prompts,
}

impl Plugin for DirectTranslator {
    type Options = Options;

    fn about() -> About {
        About::new("Asks a language model for a problem, a domain, both, or changes to a domain")
            .role(translate::ROLE, "writes the PDDL")
            .requests_where("mode", &["problem", "domain", "edit", "update"], ForAllSamples(1))
            .requests(ForAllSamples(1) + Samples)
    }

    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        options.check()?;
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

impl Translator for DirectTranslator {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        translate::Call { host, options: &self.options, prompts: &self.prompts, request }.run()
    }
}

planforge_plugin_sdk::export_plugin!(Translator, DirectTranslator);

#[cfg(test)]
mod tests;
