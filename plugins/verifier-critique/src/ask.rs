//! The flow for one candidate: question, reply, assessment.

use crate::options::{CritiqueOptions, Of};
use crate::prompt::{Prompts, Subject, subject};
use crate::read::{Against, CritiqueReader, ReadCritique};
use crate::{ROLE, codes, critique_text};
use planforge_contract::api::Host;
use planforge_contract::{
    Assessment, Candidate, CompletionRequest, Decision, Failure, FailureClass, FindingSeverity, FinishReason,
    Message, Reply, Sampling, Speaker, Tags, TaskView, UndecidedReason,
};
use planforge_diagnostics::SourceId;
use planforge_plugin_sdk::checked::Texts;

/// One call of the verifier.
pub(crate) struct CritiqueCall<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) options: &'a CritiqueOptions,
    pub(crate) prompts: &'a Prompts,
    pub(crate) reader: &'a CritiqueReader,
    pub(crate) task: &'a TaskView,
}

impl CritiqueCall<'_> {
    /// Criticises one candidate. `told`: findings of other stages; `before`: this stage's conversation so
    /// far.
    pub(crate) fn criticise(
        &self,
        candidate: &Candidate,
        told: &[String],
        before: &[Message],
    ) -> Result<Assessment, Failure> {
        if self.host.cancelled() {
            return Err(Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted"));
        }
        let of = self.options.of;
        let Some(subject) = subject(of, candidate, self.task) else {
            let message = format!("there is no {} to criticise", of.name());
            return Ok(undecided_assessment(UndecidedReason::MissingInput, message));
        };
        let earlier = if self.options.history { before } else { &[] };
        let mut turns = Vec::new();
        if earlier.is_empty() {
            let system = self.prompts.system(self.options)?;
            turns.extend((!system.is_empty()).then(|| Message::system(system)));
        }
        let question =
            self.prompts.question(self.options, self.task, candidate, &subject, told, !earlier.is_empty())?;
        turns.push(Message::user(question));
        let reply = self.reply([earlier, &turns].concat())?;
        let last = before.iter().rev().find(|m| m.role == Speaker::Assistant);
        let read = self.reader.read(
            &reply.content,
            reply.finish,
            &Against {
                of,
                actions: self.actions(candidate, &subject),
                last: last.map(|m| m.content.as_str()).unwrap_or_default(),
            },
        );
        let mut assessment = assess(of, &reply, read)?;
        // The last reply is kept without a history too, to find repetitions in the next one.
        if !self.options.history {
            turns.clear();
        }
        if !reply.content.trim().is_empty() {
            turns.push(Message::assistant(critique_text::cut_to_bytes(
                &reply.content,
                crate::read::MOST_BYTES,
            )));
            assessment.messages = turns;
        }
        Ok(assessment)
    }

    fn reply(&self, messages: Vec<Message>) -> Result<Reply, Failure> {
        let completion = CompletionRequest {
            messages,
            sampling: Sampling { n: Some(1), ..Sampling::default() },
            tags: Tags::of(self.task, "critique"),
            ..CompletionRequest::default()
        };
        let replies = self.host.complete(ROLE, completion)?.replies;
        replies.into_iter().next().ok_or_else(|| {
            Failure::new(FailureClass::Provider, codes::NO_REPLY, "the host answered without a reply")
        })
    }

    /// The names of the existing actions, in lower case; `None` if they are unknown.
    fn actions(&self, candidate: &Candidate, subject: &Subject<'_>) -> Option<Vec<String>> {
        let texts = Texts::of(candidate, &self.task.given);
        let mut names: Vec<String> = Vec::new();
        if let Some(domain) = texts.domain {
            let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
            names.extend(domain.actions.iter().map(|a| a.name.key().to_owned()));
        }
        // An action of the interface that the domain lacks exists: a finding about it is to the point.
        let interface = self.task.action_interface.iter().flat_map(|i| &i.actions);
        names.extend(interface.map(|a| a.name.to_lowercase()));
        if let Subject::Plan(plan) = subject {
            let name = |step: &String| {
                step.trim_start_matches('(')
                    .split_whitespace()
                    .next()
                    .map(|n| n.trim_end_matches(')').to_lowercase())
            };
            names.extend(plan.steps.iter().filter_map(name));
        }
        names.sort();
        names.dedup();
        (!names.is_empty()).then_some(names)
    }
}

/// The assessment of a read reply.
fn assess(of: Of, reply: &Reply, read: ReadCritique) -> Result<Assessment, Failure> {
    let ReadCritique { critique, diagnostics, repeated } = read;
    let errors = critique.findings.iter().filter(|f| f.severity == FindingSeverity::Error).count();
    let warnings = critique.findings.len() - errors;
    let mut assessment = match critique.approves {
        Some(true) => {
            Assessment::new(Decision::Accepted, critique_text::summary("approves of", of, errors, warnings))
        }
        Some(false) => {
            Assessment::new(Decision::Rejected, critique_text::summary("objects to", of, errors, warnings))
        }
        None => {
            let (reason, why) = match reply.finish {
                FinishReason::Length => {
                    (UndecidedReason::Limit, "was cut off at its token limit before it said")
                }
                FinishReason::ContentFilter => {
                    (UndecidedReason::MissingInput, "was held back before it said")
                }
                FinishReason::Stop | FinishReason::Other => (UndecidedReason::MissingInput, "does not say"),
            };
            undecided_assessment(
                reason,
                format!("the critic's reply {why} whether the {} is right", of.name()),
            )
        }
    };
    assessment.feedback = critique_text::feedback(of, &critique);
    assessment.metrics.insert("findings".into(), critique.findings.len() as f64);
    assessment.metrics.insert("errors".into(), errors as f64);
    assessment.metrics.insert("repeated".into(), repeated as f64);
    if let Some(approves) = critique.approves {
        assessment.metrics.insert("approves".into(), f64::from(u8::from(approves)));
    }
    assessment.diagnostics = diagnostics;
    assessment.evidence = serde_json::to_value(&critique).map_err(|e| {
        Failure::new(
            FailureClass::Plugin,
            codes::TEMPLATE,
            format!("the critique cannot be written down: {e}"),
        )
    })?;
    Ok(assessment)
}

fn undecided_assessment(reason: UndecidedReason, message: String) -> Assessment {
    Assessment::new(Decision::Undecided { reason, message: message.clone() }, message)
}
