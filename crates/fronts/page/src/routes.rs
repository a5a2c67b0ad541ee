//! The calls of the page, by method and path.

use crate::answer::{Answer, json};
use crate::error::Refusal;
use crate::requests::{JobRequest, NewJob};
use crate::state::{Call, State};
use crate::{pddl, records};
use http::StatusCode;
use planforge_app::Context;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Deserialize)]
struct AnswerBody {
    question: String,
    answer: String,
}

#[derive(Deserialize)]
struct ConsentBody {
    consent: String,
    allow: bool,
}

#[derive(Deserialize)]
struct MessageBody {
    message: String,
}

/// Answers a call.
pub(crate) async fn answer(state: &State, call: Call<'_>) -> Result<Answer, Refusal> {
    let parts: Vec<&str> = call.path.split('/').collect();
    let ok = |document: Value| Ok(json(StatusCode::OK, &document));
    match (call.method.as_str(), parts.as_slice()) {
        ("POST", ["pddl", name]) => pddl::answer(state, name, &call).await,
        ("GET", ["jobs"]) => ok(json!({ "jobs": state.jobs.list() })),
        ("POST", ["jobs"]) => start_job(state, &call).await,
        ("POST", ["estimate"]) => {
            let (request, folder, replay) =
                (call.request::<JobRequest>()?, Arc::clone(&state.folder), state.replay.clone());
            let estimate = move |context: &Context| {
                let estimate = request.into_estimation(&folder, replay.as_deref())?(context)?;
                Ok(
                    json!({ "answer": estimate.answer(), "total": estimate.total, "most_seconds": estimate.most_seconds }),
                )
            };
            state.work(estimate).await
        }
        ("GET", ["jobs", id, "events"]) => state.stream(Arc::clone(&state.jobs.get(id)?.log), &call, ()),
        ("POST", ["jobs", id, "stop"]) => {
            state.jobs.stop(&state.jobs.get(id)?);
            ok(json!({}))
        }
        ("POST", ["jobs", id, "answer"]) => {
            let AnswerBody { question, answer } = call.request()?;
            state.jobs.get(id)?.answer("question", &question, answer.into())?;
            ok(json!({}))
        }
        ("POST", ["jobs", id, "consent"]) => {
            let ConsentBody { consent, allow } = call.request()?;
            state.jobs.get(id)?.answer("consent", &consent, allow.into())?;
            ok(json!({}))
        }
        ("GET", ["watch"]) => {
            let run = records::place(state, &call).await?;
            state.stream(state.watches.open(&state.context, &run)?, &call, ())
        }
        ("POST", ["lsp", "open"]) => state.editors.open(),
        ("POST", ["lsp", session]) => {
            let MessageBody { message } = call.request()?;
            state.editors.send(session, &message)
        }
        ("GET", ["lsp", session, "events"]) => {
            let (log, stream) = state.editors.stream(session)?;
            state.stream(log, &call, stream)
        }
        ("GET", name) => records::answer(state, name, &call).await?.ok_or_else(no_call),
        _ => Err(no_call()),
    }
}

async fn start_job(state: &State, call: &Call<'_>) -> Result<Answer, Refusal> {
    let (request, folder, replay) =
        (call.request::<JobRequest>()?, Arc::clone(&state.folder), state.replay.clone());
    let job = state.compute(move |_| request.into_job(&folder, replay.as_deref())).await?;
    let NewJob { what, title, folder, work } = job;
    let job = state.jobs.start(&state.context, (what, title, folder), work)?;
    Ok(json(StatusCode::OK, &json!({ "job": job.id() })))
}

fn no_call() -> Refusal {
    Refusal::missing("there is no such call")
}
