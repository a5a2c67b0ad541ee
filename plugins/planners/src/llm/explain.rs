//! Requests that explain a validated plan in plain language.
//!
//! The caller (`planforge run --explain-plan`) asks a model of its pipeline and shows the reply. This is not
//! a stage: the text is for a person and changes no candidate or verdict.

use crate::llm::codes;
use crate::llm::prompt::Prompts;
use planforge_contract::{
    CompletionRequest, Failure, FailureClass, Message, PlanDocument, Reply, Sampling, Tags, TaskView,
};

/// The role of the model that explains plans.
pub const EXPLAINER: &str = "explainer";

/// The request for an explanation of a validated plan. The texts of the task may be empty.
///
/// # Errors
/// [`FailureClass::Request`] if the plan has no steps.
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
    crate::llm::read::check_finish(reply)?;
    let text = reply.content.trim();
    match text.is_empty() {
        true => Err(Failure::new(FailureClass::Reply, codes::NO_EXPLANATION, "the reply is empty")),
        false => Ok(text.to_owned()),
    }
}
