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

mod ask;
mod codes;
mod prompt;
pub mod read;

pub use codes::CODES;

use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// The artefact to criticise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// The domain and its thought, compared with the domain's text and the given problem (test-time-scaling
    /// paper, Eq. 3).
    #[default]
    Domain,
    /// The problem and its thought, compared with the task's text and the domain.
    Problem,
    /// The plan: its rules repeated, each step checked, then the goal and the cost (Appendix F).
    Plan,
}

impl Of {
    /// The word for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Domain => "domain",
            Self::Problem => "problem",
            Self::Plan => "plan",
        }
    }
}

/// The requested form of a reply. Replies in the other form are read too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// JSON: each finding with its place, severity and a suggested change.
    #[default]
    Structured,
    /// Plain language, as in the paper.
    Prose,
}

/// Findings that the critic is shown with the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Findings of the PDDL checks on domain and problem.
    Diagnostics,
}

/// Options of `verifier-critique`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CritiqueOptions {
    /// The artefact to criticise: `domain`, `problem` or `plan`.
    pub of: Of,
    /// The requested form: `structured` (findings with place, severity and change) or `prose`.
    pub form: Form,
    /// Makes the rounds of a refine stage one conversation with the critic. Otherwise each round asks anew;
    /// repetitions are found by comparing replies.
    pub history: bool,
    /// Findings that the plugin adds to the request: `["diagnostics"]` for those of the PDDL checks on
    /// domain and problem. The stage's `feedback = ["LABEL"]` adds the findings of other stages.
    pub evidence: Vec<Evidence>,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}

#[cfg(test)]
mod tests;
