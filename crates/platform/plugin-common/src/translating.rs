//! Shared parts of the translators that write PDDL: requests to the writer model, the texts a task must have, in-context examples,
//! templates to complete, and the question that asks for a correction.

mod constraint;
mod features;
mod template;
pub mod testing;

pub use codes::{CODES, NO_EXAMPLE, PROMPT_TEMPLATE};
pub use constraint::{GrammarUse, reply_as_pddl};
pub use features::TaskFeatures;
pub use template::{
    TemplatePart, domain_name, domain_of_problem, domain_template, no_template, problem_template,
    problem_with_objects, suite_name, with_holes,
};

use planforge_contract::api::Host;
use planforge_contract::{
    CandidatePatch, CompletionRequest, Constraint, Failure, FailureClass, Message, Outcome, Reply,
    ReportedDiagnostic, Sampling, Tags, TaskView, TranslateResponse,
};
use planforge_diagnostics::{Diagnostic, SourceMap};
use serde::Serialize;

/// The role of the model that writes.
pub const ROLE: &str = "writer";

/// The writer model, asked about one task.
pub struct Writer<'a> {
    /// Forwards the requests.
    pub host: &'a dyn Host,
    /// Named in the tags of each request.
    pub task: &'a TaskView,
    /// True if token log-probabilities are requested.
    pub logprobs: bool,
}

impl Writer<'_> {
    /// Requests `n` replies to a conversation. `artefact` is the tag of the request.
    ///
    /// # Errors
    /// The failure of the host.
    pub fn ask(&self, messages: Vec<Message>, artefact: &str, n: u32) -> Result<Vec<Reply>, Failure> {
        self.ask_within(messages, artefact, n, None)
    }

    /// As [`Writer::ask`], for replies that follow a grammar.
    ///
    /// # Errors
    /// The failure of the host.
    pub fn ask_within(
        &self,
        messages: Vec<Message>,
        artefact: &str,
        n: u32,
        constraint: Option<Constraint>,
    ) -> Result<Vec<Reply>, Failure> {
        let request = CompletionRequest {
            messages,
            sampling: Sampling { n: Some(n), logprobs: self.logprobs.then_some(true), ..Sampling::default() },
            tags: Tags::of(self.task, artefact),
            constraint,
            ..CompletionRequest::default()
        };
        Ok(self.host.complete(ROLE, request)?.replies)
    }
}

/// The turns that a question adds to a conversation. The system text comes first in a new conversation, unless it is empty.
pub fn new_turns(conversation: &[Message], system: String, question: String) -> Vec<Message> {
    let system = (conversation.is_empty() && !system.is_empty()).then(|| Message::system(system));
    system.into_iter().chain([Message::user(question)]).collect()
}

/// New turns with the reply to them.
pub fn answered_turns(new_turns: &[Message], reply: &Reply) -> Vec<Message> {
    let mut messages = new_turns.to_vec();
    messages.push(Message::assistant(reply.content.clone()));
    messages
}

/// A response of exactly `n` samples. Missing replies are failures; replies beyond `n` are dropped.
pub fn response(mut samples: Vec<Outcome<CandidatePatch>>, n: u32) -> TranslateResponse {
    let replies = samples.len();
    samples.resize_with(n as usize, || Outcome::Failure(too_few_replies(replies, n)));
    TranslateResponse { samples }
}

/// The failure of a sample that has no reply.
pub fn too_few_replies(replies: usize, wanted: u32) -> Failure {
    let message = format!("{wanted} replies were asked for, and {replies} came back");
    Failure::new(FailureClass::Provider, codes::FEW_REPLIES, message)
}

const NO_TASK_TEXT_HELP: &str = "put the task's text beside its problem, as `p01.nl` beside `p01.pddl`";
const NO_DOMAIN_HELP: &str =
    "give the domain in the pipeline file, or put a text about it into the suite, as `domain.nl`";

/// Checks that a problem can be written: from the task's text and, without a domain in PDDL, the domain's text.
///
/// # Errors
/// Class `Request`: a text is missing.
pub fn need_problem_text(task: &TaskView, domain: Option<&str>) -> Result<(), Failure> {
    need(&task.task_text, "the task has no text to translate", NO_TASK_TEXT_HELP)?;
    match domain {
        Some(_) => Ok(()),
        None => need(&task.domain_text, "neither a domain nor a text about it is given", NO_DOMAIN_HELP),
    }
}

/// Checks that a domain can be written: from its text or from a problem in PDDL.
///
/// # Errors
/// Class `Request`: both are missing.
pub fn need_domain_source(task: &TaskView, problem: Option<&str>) -> Result<(), Failure> {
    match problem {
        Some(_) => Ok(()),
        None => need(
            &task.domain_text,
            "there is neither a text about the domain to translate nor a problem to work it out from",
            NO_DOMAIN_HELP,
        ),
    }
}

/// Checks that the domain has a text.
///
/// # Errors
/// Class `Request`: it has none.
pub fn need_domain_text(task: &TaskView) -> Result<(), Failure> {
    need(&task.domain_text, "there is no text about the domain to work out", NO_DOMAIN_HELP)
}

fn need(text: &str, message: &str, help: &str) -> Result<(), Failure> {
    match text.trim().is_empty() {
        true => Err(Failure::new(FailureClass::Request, codes::NO_TEXT, message).help(help)),
        false => Ok(()),
    }
}

/// Adds a note to a written domain if the task has no text about the domain.
pub fn note_without_text(task: &TaskView, patch: &mut CandidatePatch) {
    if task.domain_text.trim().is_empty() {
        let note = Diagnostic::advice(
            codes::FROM_PROBLEM,
            "there is no text about the domain: it was worked out from the problem",
        );
        patch.diagnostics.push(ReportedDiagnostic::of(&note, &SourceMap::default()));
    }
}

/// Notes in a patch that the question had no in-context example.
pub fn note_without_example(patch: &mut CandidatePatch) {
    let note = Diagnostic::advice(codes::ZERO_SHOT, "the request had no in-context example (zero-shot)");
    patch.diagnostics.push(ReportedDiagnostic::of(&note, &SourceMap::default()));
}

/// A material with the name that messages have for it.
pub type NamedMaterial<'a> = (&'static str, &'a Option<String>);

/// A material without blanks around it; `None` if it is absent or blank.
pub fn material(text: &Option<String>) -> Option<&str> {
    text.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

/// The two halves of an example. `wanted`: `false` returns none, `true` requires one, left out returns what the task has.
///
/// # Errors
/// Class `Request`: a required half is missing, or the suite has an answer without its question.
pub fn example_pair<'a>(
    task: &TaskView,
    (question, question_text): NamedMaterial<'a>,
    (answer, answer_text): NamedMaterial<'a>,
    wanted: Option<bool>,
) -> Result<Option<(&'a str, &'a str)>, Failure> {
    if wanted == Some(false) {
        return Ok(None);
    }
    match (material(question_text), material(answer_text)) {
        (Some(question), Some(answer)) => Ok(Some((question, answer))),
        // A text alone is not a mistake in the suite: other methods show other answers to it.
        (_, None) if wanted.is_none() => Ok(None),
        (found, _) => {
            let lost = if found.is_none() { question } else { answer };
            let help = format!("add `{question}` and `{answer}` to the suite, or set `example = false`");
            Err(missing_example(task, lost).help(help))
        }
    }
}

/// The failure of an example without the material `lost`.
pub fn missing_example(task: &TaskView, lost: &str) -> Failure {
    let message = format!("suite `{}` has no material `{lost}` for the in-context example", task.suite);
    Failure::new(FailureClass::Request, NO_EXAMPLE, message)
}

/// The system text of plain questions, which takes no values.
pub const SYSTEM_TEMPLATE: (&str, &str) = ("system", include_str!("../templates/system.txt"));

/// Asks for PDDL again after a check; rendered with [`Revision`].
pub const REVISE_TEMPLATE: (&str, &str) = ("revise", include_str!("../templates/revise.txt"));

/// The values of [`REVISE_TEMPLATE`].
#[derive(Debug, Serialize)]
pub struct Revision<'a> {
    /// The current domain, if the question shows it.
    pub domain: Option<&'a str>,
    /// The current problem, if the question shows it.
    pub problem: Option<&'a str>,
    /// The findings, one an entry.
    pub feedback: Vec<&'a str>,
    /// `domain`, `problem` or `domain and problem`.
    pub what: &'static str,
    /// True if the model is asked to reason first.
    pub reason: bool,
    /// The required form of the answer, if it has one.
    pub form: Option<String>,
}

/// The codes of the failures that the translators share.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const FROM_PROBLEM: &str = "translate.from-problem";
    pub(crate) const NO_TEXT: &str = "translate.no-text";
    pub(crate) const ZERO_SHOT: &str = "translate.zero-shot";
    /// The code of a missing or unusable in-context example.
    pub const NO_EXAMPLE: &str = "translate.no-example";
    pub(crate) const NO_TEMPLATE: &str = "translate.no-template";
    /// The code of a prompt template that cannot be rendered.
    pub const PROMPT_TEMPLATE: &str = "translate.prompt-template";
    pub(crate) const FEW_REPLIES: &str = "translate.too-few-replies";
    pub(crate) const NO_GRAMMAR: &str = "translate.no-grammar";
    pub(crate) const JSON_REPLY: &str = "translate.json-reply";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("translating/codes.md");
}
