//! `translator-edit`: asks a language model (role `writer`) for changes of the candidate's domain, as calls of two functions: one declares
//! predicates, the other fills in an action (exploration-walk paper, Appendix B.3). With `problem = true` three more functions change the
//! problem's objects, initial state and goal (joint repair, which the paper does not have).
//!
//! The question shows the domain's text, the candidate's problem and its current domain, which without one is made from the action
//! interface. The calls in a reply are parsed and never executed. Each valid call is applied; each other call is a diagnostic of the patch.
//! The domain stays valid, and a reply without a call does not change it.

mod apply;
mod base;
mod calls;
mod prompt;

pub use codes::CODES;

use base::Base;
use planforge_plugin_common::translating::{GrammarUse, ROLE, Writer, answered_turns, new_turns, response};
use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug)]
pub struct EditTranslator {
    options: EditOptions,
    prompts: prompt::Prompts,
}

impl Plugin for EditTranslator {
    type Options = EditOptions;

    fn about() -> About {
        About::new(
            "Asks a language model for changes of a domain, as calls of two functions, and of a problem",
        )
        .role(ROLE, "writes the calls")
        .logprobs_where("logprobs", "true")
        .requires_grammar_where("grammar", "require")
        .domain_only_where("problem", "false")
        .requests(RequestCount::ForAllSamples(1))
    }

    fn create(options: EditOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

impl Translator for EditTranslator {
    /// Asks one question, and applies the calls of each reply to the domain that the question shows.
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        let base = Base::new(request, self.options.problem)?;
        let conversation = &request.candidate.conversation;
        let system = self.prompts.system(&self.options)?;
        let turns = new_turns(conversation, system, self.question(request, &base)?);
        let n = request.n.max(1);
        let writer = Writer { host, task: &request.task, logprobs: self.options.logprobs };
        let constraint = base.constraint(&self.options);
        let messages = [conversation.as_slice(), &turns].concat();
        let replies = writer.ask_within(messages, "edit", n, constraint.clone())?;
        let patch = |reply: &Reply| {
            let patch = base.patch(&base.as_calls(reply, constraint.as_ref()), request.fixes)?;
            let raw_reply = reply.content.clone();
            Ok::<_, Failure>(CandidatePatch { messages: answered_turns(&turns, reply), raw_reply, ..patch })
        };
        let samples = replies.iter().take(n as usize).map(|reply| patch(reply).into()).collect();
        Ok(response(samples, n))
    }
}

impl EditTranslator {
    fn question(&self, request: &TranslateRequest, base: &Base) -> Result<String, Failure> {
        let (options, prompts) = (&self.options, &self.prompts);
        let revising = !request.feedback.is_empty();
        match (revising, request.candidate.conversation.is_empty()) {
            (true, false) => prompts.edit_again(options, request, base, true),
            (true, true) => {
                let first = prompts.edit(options, request, base, true)?;
                Ok(format!("{first}\n\n{}", prompts.edit_again(options, request, base, false)?))
            }
            (false, _) => prompts.edit(options, request, base, false),
        }
    }
}

planforge_plugin_sdk::bundle_plugin!(Translator, EditTranslator);

/// Options of `translator-edit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EditOptions {
    /// The in-context example: the texts `example.domain-text` and `example.domain`, with the domain written as calls. Left out: shown if the
    /// task has one. `true`: required. `false`: none.
    pub example: Option<bool>,
    /// Joint repair: the model may edit the problem as well (objects, initial state, goal), and sees it and the task's text. Without it a
    /// problem that no domain repairs (unreadable, an undeclared object, an empty goal) does not enter the rounds of a refine stage.
    pub problem: bool,
    /// Asks the model to reason before it calls the functions.
    pub reason: bool,
    /// Requests token log-probabilities. Their sum is the candidate's log-likelihood.
    pub logprobs: bool,
    /// Grammars in the requests.
    #[serde(skip_serializing_if = "GrammarUse::is_off")]
    pub grammar: GrammarUse,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}

impl Default for EditOptions {
    fn default() -> Self {
        Self {
            example: None,
            problem: false,
            reason: true,
            logprobs: false,
            grammar: GrammarUse::Off,
            system: None,
        }
    }
}

/// The codes of this plugin's failures and of the diagnostics about edits.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const NO_DOMAIN: &str = "translate.no-domain-to-edit";
    pub(crate) const NO_EDIT: &str = "translate.no-edit";
    pub(crate) const EDIT_CUT_OFF: &str = "translate.edits-cut-off";
    pub(crate) const EDIT_FORM: &str = "translate.edit-form";
    pub(crate) const EDIT_FUNCTION: &str = "translate.edit-unknown-function";
    pub(crate) const EDIT_LIMIT: &str = "translate.edit-limit";
    pub(crate) const EDIT_OUTSIDE: &str = "translate.edit-outside-code";
    pub(crate) const EDIT_PARENTHESES: &str = "translate.edit-parentheses";
    pub(crate) const EDIT_TYPED: &str = "translate.edit-typed-atom";
    pub(crate) const EDIT_ACTION: &str = "translate.edit-unknown-action";
    pub(crate) const EDIT_SIGNATURE: &str = "translate.edit-signature";
    pub(crate) const EDIT_NAME: &str = "translate.edit-unknown-name";
    pub(crate) const EDIT_BREAKS: &str = "translate.edit-breaks-domain";
    pub(crate) const EDIT_BREAKS_PROBLEM: &str = "translate.edit-breaks-problem";
    pub(crate) const EDIT_NOT_THERE: &str = "translate.edit-not-there";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("codes.md");
}

#[cfg(test)]
mod tests;
