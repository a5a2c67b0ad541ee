//! Telling a validated plan in plain language: the question for a language model.
//!
//! This is a function and no stage: the text is for a person, it changes no candidate and is no verdict. The caller
//! (`planforge run --explain-plan`) asks a role of its pipeline with the request and shows the reply.

use crate::codes;
use crate::prompt::Prompts;
use planforge_contract::{
    CompletionRequest, Failure, FailureClass, Message, PlanDocument, Reply, Sampling, Tags, TaskView,
};

/// The role that tells plans, where the caller's pipeline has one of that name.
pub const EXPLAINER: &str = "explainer";

/// The question for the role that tells plans. `plan` is one that was validated; the texts of the task may be empty.
///
/// # Errors
/// [`FailureClass::Request`] where the plan has no steps: there is nothing to tell.
pub fn explain_request(task: &TaskView, plan: &PlanDocument) -> Result<CompletionRequest, Failure> {
    if plan.steps.is_empty() {
        return Err(Failure::new(
            FailureClass::Request,
            codes::NOTHING_TO_EXPLAIN,
            "the plan has no steps: the goal holds from the start",
        ));
    }
    let prompts = Prompts::new()?;
    Ok(CompletionRequest {
        messages: vec![
            Message::system(prompts.explain_system()?),
            Message::user(prompts.explain(&task.domain_text, &task.task_text, &plan.steps)?),
        ],
        sampling: Sampling { n: Some(1), ..Sampling::default() },
        tags: Tags::of(task, "explanation"),
        ..CompletionRequest::default()
    })
}

/// The text of the explainer's reply.
///
/// # Errors
/// [`FailureClass::Reply`] where the reply is empty or was cut off.
pub fn explanation(reply: &Reply) -> Result<String, Failure> {
    crate::read::check_finish(reply)?;
    let text = reply.content.trim();
    match text.is_empty() {
        true => Err(Failure::new(FailureClass::Reply, codes::NO_EXPLANATION, "the reply is empty")),
        false => Ok(text.to_owned()),
    }
}
