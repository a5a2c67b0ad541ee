//! `translator-thought`: asks a language model (role `writer`) for a domain or a problem with a thought, which explains each predicate and
//! action on a line (test-time-scaling paper, Appendix D), and for both anew from a critique.
//!
//! | mode | the question shows | the reply |
//! |---|---|---|
//! | `write` | the texts, or without a text about the domain its problem (Prob2Domain); feedback as the next turn of the conversation | adds to the conversation |
//! | `update` | the texts, the last thought and PDDL, and the critique; no conversation (f_update, Eq. 4) | replaces thought and PDDL |
//!
//! No in-context example is shown. The thought is kept with the candidate, and the log-likelihood is that of thought and PDDL.

mod options;
mod prompt;

pub use options::{Artefact, Form, Mode, ThoughtOptions};

use planforge_plugin_common::translating::{
    ROLE, Writer, answered_turns, new_turns, note_without_text, response,
};
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::reply::{WantedPddl, read_reply, read_thought_reply};

#[derive(Debug)]
pub struct ThoughtTranslator {
    options: ThoughtOptions,
    prompts: prompt::Prompts,
}

impl Plugin for ThoughtTranslator {
    type Options = ThoughtOptions;

    fn about() -> About {
        About::new(
            "Asks a language model for a domain or problem with a thought, or for both anew from a critique",
        )
        .role(ROLE, "writes the thought and the PDDL")
        .logprobs_where("logprobs", "true")
        .requests(RequestCount::ForAllSamples(1))
    }

    fn create(options: ThoughtOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

impl Translator for ThoughtTranslator {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        // An update is asked without the conversation and does not add to it.
        let (conversation, tag) = match self.options.mode {
            Mode::Write => (request.candidate.conversation.as_slice(), self.options.artefact.word()),
            Mode::Update => (&[][..], "update"),
        };
        let turns = new_turns(conversation, self.prompts.system(&self.options)?, self.question(request)?);
        let n = request.n.max(1);
        let writer = Writer { host, task: &request.task, logprobs: self.options.logprobs };
        let replies = writer.ask([conversation, &turns].concat(), tag, n)?;
        let patch = |reply: &Reply| {
            let patch = self.patch(request, reply)?;
            Ok::<_, Failure>(match self.options.mode {
                Mode::Write => CandidatePatch { messages: answered_turns(&turns, reply), ..patch },
                Mode::Update => CandidatePatch { rewrite: true, messages: Vec::new(), ..patch },
            })
        };
        let samples = replies.iter().take(n as usize).map(|reply| patch(reply).into()).collect();
        Ok(response(samples, n))
    }
}

impl ThoughtTranslator {
    fn question(&self, request: &TranslateRequest) -> Result<String, Failure> {
        let (options, prompts) = (&self.options, &self.prompts);
        match (options.mode, request.feedback.is_empty(), request.candidate.conversation.is_empty()) {
            (Mode::Update, ..) => prompts.update(options, request),
            (Mode::Write, true, _) => prompts.thought(options, request),
            (Mode::Write, false, false) => prompts.revise(options, request),
            // The conversation does not contain the task yet.
            (Mode::Write, false, true) => {
                let revise = prompts.revise(options, request)?;
                Ok(format!("{}\n\n{revise}", prompts.thought(options, request)?))
            }
        }
    }

    fn patch(&self, request: &TranslateRequest, reply: &Reply) -> Result<CandidatePatch, Failure> {
        let wanted = match self.options.artefact {
            Artefact::Domain => WantedPddl::Domain,
            Artefact::Problem => WantedPddl::Problem,
        };
        let read = if self.options.has_thought() { read_thought_reply } else { read_reply };
        let mut patch = read(reply, wanted, request.fixes)?;
        if wanted == WantedPddl::Domain {
            note_without_text(&request.task, &mut patch);
        }
        Ok(patch)
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_translator_thought", Translator, ThoughtTranslator);

#[cfg(test)]
mod tests;
