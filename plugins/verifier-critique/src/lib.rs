//! `verifier-critique`: a language model (role `critic`) criticises the output of another (test-time-scaling
//! paper, Eq. 3, f_opt; for plans Appendix F).
//!
//! | `of` | criticised | compared with |
//! |---|---|---|
//! | `domain` | the domain and its thought | the domain's text, the problem, the action interface, as far as given |
//! | `problem` | the problem and its thought | the task's text; the domain, else its text |
//! | `plan` | the plan | the domain, else its text; the task's text and the problem, as far as given |
//!
//! The critic accepts or rejects; a candidate is undecided if the reply does neither. A reply is read in any
//! form (see `read`), so no reply is a failure. The metrics are `findings`, `errors`, `repeated` (findings
//! that the critic's last reply about the candidate or its ancestor already had) and, if known, `approves` (1
//! or 0). The feedback is the critique for the next writer: findings in words if the reply had a form, else
//! the reply itself.
//!
//! The evidence of an assessment is a [`Critique`]: findings, the unchanged reply, and remarks about it (cut
//! off, contradicts itself, repeats itself or the last critique, names unknown actions), which are
//! diagnostics too. A run folder has it in the blob that the event `assessed` names, in its field `evidence`.
//!
//! `verifier-points` asks what the task's text leaves open.

mod ask;
mod codes;
mod critique_text;
mod options;
pub mod points;
mod prompt;
pub mod read;

pub use codes::CODES;
pub use options::{CritiqueOptions, Evidence, Form, Of};

use planforge_plugin_sdk::prelude::*;

/// The role that criticises.
pub(crate) const ROLE: &str = "critic";

#[derive(Debug)]
pub struct CritiqueVerifier {
    options: CritiqueOptions,
    prompts: prompt::Prompts,
    reader: read::CritiqueReader,
}

impl Plugin for CritiqueVerifier {
    type Options = CritiqueOptions;

    fn about() -> About {
        About::new("A language model criticises a domain, a problem or a plan")
            .role(ROLE, "criticises what was written")
            .requests(1)
            .metric("findings", "findings of the critic, warnings included")
            .metric("errors", "findings that are errors")
            .metric("approves", "1 if the critic approves, 0 if it objects; absent if neither is known")
            .metric("repeated", "findings that its last critique had already")
    }

    fn create(options: CritiqueOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: prompt::Prompts::new()?, reader: read::CritiqueReader::new()? })
    }
}

impl Verifier for CritiqueVerifier {
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let call = ask::CritiqueCall {
            host,
            options: &self.options,
            prompts: &self.prompts,
            reader: &self.reader,
            task: &request.task,
        };
        let total = request.candidates.len() as u64;
        let mut results = Vec::with_capacity(request.candidates.len());
        for (index, candidate) in request.candidates.iter().enumerate() {
            let told = request.feedback.get(index).map(Vec::as_slice).unwrap_or_default();
            let before = request.conversations.get(index).map(Vec::as_slice).unwrap_or_default();
            results.push(call.criticise(candidate, told, before).into());
            host.progress(results.len() as u64, total, "candidates");
        }
        Ok(VerifyResponse { results })
    }
}

planforge_plugin_sdk::bundle_plugin!(Verifier, CritiqueVerifier);

#[cfg(test)]
mod tests;
