//! A scripted batch service on the loopback interface, with the shapes that OpenAI's and Anthropic's Python SDKs publish (read on
//! 2026-11-23: openai-python e43b4224, anthropic-sdk-python 009b0353).

use crate::scripted::{Scripted, ScriptedRequest, ScriptedServer};
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The end of one request of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchOutcome {
    /// The model's reply.
    Reply(String),
    /// An error of the model's interface: HTTP status, type and message.
    Error(u16, String, String),
    /// The batch expired before this request.
    Expired,
    /// The service forgets the request.
    Missing,
}

/// A response in place of the service's own.
#[derive(Debug, Clone)]
struct Fault {
    method: String,
    path: String,
    answer: Scripted,
    /// True if the service does what was asked all the same.
    is_done: bool,
}

#[derive(Debug, Default)]
struct State {
    /// Files by number: request files that were uploaded, and files of results.
    files: Vec<String>,
    batches: Vec<Batch>,
    faults: Vec<Fault>,
    key: Option<String>,
    /// Looks at a batch before it has ended.
    polls: usize,
    /// Further lines of every file of results.
    further_lines: Vec<String>,
    /// The status of batches that the service refuses as a whole.
    fails: bool,
}

#[derive(Debug)]
struct Batch {
    id: String,
    input_file: String,
    requests: Vec<Value>,
    looks: usize,
    outputs: Option<(usize, usize)>,
}

/// A batch service with both interfaces.
pub struct BatchServer {
    server: ScriptedServer,
    state: Arc<Mutex<State>>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BatchServer {
    /// A service that ends each request as `outcome` says. It gets the body of the request.
    ///
    /// # Errors
    /// No port is free.
    pub fn new(outcome: impl Fn(&Value) -> BatchOutcome + Send + Sync + 'static) -> io::Result<Self> {
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        let server = ScriptedServer::matching(move |request| answer(&mut lock(&shared), request, &outcome))?;
        Ok(Self { server, state })
    }

    /// The `base_url` for a pipeline file.
    pub fn base_url(&self) -> String {
        self.server.base_url()
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<ScriptedRequest> {
        self.server.requests()
    }

    /// Number of requests of that method whose path begins so.
    pub fn count(&self, method: &str, path: &str) -> usize {
        self.requests().iter().filter(|r| r.method == method && r.path.starts_with(path)).count()
    }

    /// Number of batches that were created.
    pub fn batches(&self) -> usize {
        lock(&self.state).batches.len()
    }

    /// Answers requests without this key with 401.
    pub fn require_key(&self, key: &str) {
        lock(&self.state).key = Some(key.to_owned());
    }

    /// Answers the next request of that method and path with `answer`; `is_done`: the service does what was asked all the same.
    pub fn fail_next(&self, method: &str, path: &str, answer: Scripted, is_done: bool) {
        let (method, path) = (method.to_owned(), path.to_owned());
        lock(&self.state).faults.push(Fault { method, path, answer, is_done });
    }

    /// Batches end at the look after that many.
    pub fn end_after(&self, polls: usize) {
        lock(&self.state).polls = polls;
    }

    /// Adds a line to every file of results.
    pub fn add_result(&self, line: &str) {
        lock(&self.state).further_lines.push(line.to_owned());
    }

    /// Refuses every batch as a whole (OpenAI's status `failed`), or no more.
    pub fn fail_batches(&self, fails: bool) {
        lock(&self.state).fails = fails;
    }
}

fn answer(
    state: &mut State,
    request: &ScriptedRequest,
    outcome: &dyn Fn(&Value) -> BatchOutcome,
) -> Scripted {
    let path = request.path.split('?').next().unwrap_or_default().to_owned();
    let is_hit = |fault: &Fault| fault.method == request.method && fault.path == path;
    let fault = state.faults.iter().position(is_hit).map(|at| state.faults.remove(at));
    if let Some(fault) = fault.as_ref().filter(|fault| !fault.is_done) {
        return fault.answer.clone();
    }
    let key = request
        .header("x-api-key")
        .or(request.header("authorization").and_then(|h| h.strip_prefix("Bearer ")));
    if state.key.is_some() && state.key.as_deref() != key {
        let echoed = key.unwrap_or_default();
        return Scripted::error(401, "invalid_api_key", &format!("Incorrect API key provided: {echoed}"));
    }
    let own = match (
        request.method.as_str(),
        path.trim_start_matches("/v1/").split('/').collect::<Vec<_>>().as_slice(),
    ) {
        ("POST", ["files"]) => upload(state, &request.body),
        ("POST", ["batches"]) => create(state, &request.json()),
        ("GET", ["batches"]) => list(state, openai),
        ("GET", ["batches", id]) => look(state, id, outcome, openai),
        ("GET", ["files", id, "content"]) => content(state, id),
        ("POST", ["messages", "batches"]) => {
            let requests = request.json()["requests"].as_array().cloned().unwrap_or_default();
            let batch = add(state, String::new(), requests);
            Scripted::raw(200, anthropic(state, batch).to_string())
        }
        ("GET", ["messages", "batches"]) => list(state, anthropic),
        ("GET", ["messages", "batches", id]) => look(state, id, outcome, anthropic),
        ("GET", ["messages", "batches", id, "results"]) => {
            let outputs = state.batches.iter().find(|batch| batch.id == *id).and_then(|batch| batch.outputs);
            outputs.map_or_else(not_found, |(file, _)| content(state, &format!("file-{file}")))
        }
        _ => not_found(),
    };
    fault.map_or(own, |fault| fault.answer)
}

fn not_found() -> Scripted {
    Scripted::error(404, "not_found", "no such object")
}

/// The file of a multipart body with `purpose=batch`.
fn upload(state: &mut State, body: &str) -> Scripted {
    let boundary = body.lines().next().unwrap_or_default().to_owned();
    let parts: Vec<&str> = body.split(boundary.as_str()).collect();
    let part = |name: &str| parts.iter().find(|part| part.contains(&format!("name=\"{name}\"")));
    let content =
        |part: &&str| part.split_once("\r\n\r\n").map(|(_, text)| text.trim_end_matches("\r\n").to_owned());
    if part("purpose").and_then(content).as_deref() != Some("batch") {
        return Scripted::error(400, "invalid_purpose", "purpose is not batch");
    }
    let Some(file) = part("file").and_then(content) else {
        return Scripted::error(400, "no_file", "there is no file");
    };
    state.files.push(file);
    let id = format!("file-{}", state.files.len() - 1);
    Scripted::raw(
        200,
        json!({"id": id, "object": "file", "purpose": "batch", "status": "processed"}).to_string(),
    )
}

fn create(state: &mut State, body: &Value) -> Scripted {
    let id = body["input_file_id"].as_str().unwrap_or_default();
    let file = file_number(id).and_then(|at| state.files.get(at));
    let Some(file) = file.filter(|_| body["completion_window"] == "24h") else { return not_found() };
    let requests: Vec<Value> = file.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if requests.iter().any(|request| request["url"] != body["endpoint"]) {
        return Scripted::error(400, "mismatch", "the endpoint is not that of every line");
    }
    let batch = add(state, id.to_owned(), requests);
    Scripted::raw(200, openai(state, batch).to_string())
}

fn file_number(id: &str) -> Option<usize> {
    id.strip_prefix("file-")?.parse().ok()
}

fn add(state: &mut State, input_file: String, requests: Vec<Value>) -> usize {
    let id = format!("batch_{}", state.batches.len() + 1);
    state.batches.push(Batch { id, input_file, requests, looks: 0, outputs: None });
    state.batches.len() - 1
}

fn list(state: &State, shape: fn(&State, usize) -> Value) -> Scripted {
    let batches: Vec<Value> = (0..state.batches.len()).rev().map(|at| shape(state, at)).collect();
    Scripted::raw(200, json!({"object": "list", "data": batches, "has_more": false}).to_string())
}

/// One look at a batch; it may be the one at which the batch has ended.
fn look(
    state: &mut State,
    id: &str,
    outcome: &dyn Fn(&Value) -> BatchOutcome,
    shape: fn(&State, usize) -> Value,
) -> Scripted {
    let Some(at) = state.batches.iter().position(|batch| batch.id == id) else { return not_found() };
    let polls = state.polls;
    let batch = &mut state.batches[at];
    batch.looks += 1;
    if batch.looks > polls && batch.outputs.is_none() && !state.fails {
        // In another order than the requests.
        let (mut output, mut errors) = (String::new(), String::new());
        for request in state.batches[at].requests.iter().rev() {
            let (body, is_openai) = match request.get("body") {
                Some(body) => (body, true),
                None => (&request["params"], false),
            };
            if let Some((line, is_error)) = result_line(request, body, &outcome(body), is_openai) {
                let file = if is_error && is_openai { &mut errors } else { &mut output };
                file.push_str(&format!("{line}\n"));
            }
        }
        state.further_lines.iter().for_each(|line| output.push_str(&format!("{line}\n")));
        state.files.extend([output, errors]);
        state.batches[at].outputs = Some((state.files.len() - 2, state.files.len() - 1));
    }
    Scripted::raw(200, shape(state, at).to_string())
}

/// The line of a result, and whether it is an error; none if the service forgets the request.
fn result_line(
    request: &Value,
    body: &Value,
    outcome: &BatchOutcome,
    is_openai: bool,
) -> Option<(Value, bool)> {
    let id = &request["custom_id"];
    let answered = |status: u16, body: Value| {
        json!({"id": format!("batch_req_{}", id.as_str().unwrap_or_default()), "custom_id": id,
               "response": {"status_code": status, "request_id": "r", "body": body}, "error": null})
    };
    let line = match (outcome, is_openai) {
        (BatchOutcome::Missing, _) => return None,
        (BatchOutcome::Reply(text), true) if request["url"] == "/v1/responses" => answered(
            200,
            json!({"object": "response", "model": body["model"], "status": "completed", "error": null,
                   "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}],
                   "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}),
        ),
        (BatchOutcome::Reply(text), true) => answered(
            200,
            json!({"object": "chat.completion", "model": body["model"],
                   "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                   "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}),
        ),
        (BatchOutcome::Error(status, kind, message), true) => {
            answered(*status, json!({"error": {"code": kind, "message": message}}))
        }
        (BatchOutcome::Expired, true) => {
            json!({"id": format!("batch_req_{id}"), "custom_id": id, "response": null,
                   "error": {"code": "batch_expired", "message": "This request could not be executed before the completion window expired."}})
        }
        (BatchOutcome::Reply(text), false) => {
            json!({"custom_id": id, "result": {"type": "succeeded", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 10, "output_tokens": 5}}}})
        }
        (BatchOutcome::Error(_, kind, message), false) => {
            json!({"custom_id": id, "result": {"type": "errored",
            "error": {"type": "error", "error": {"type": kind, "message": message}}}})
        }
        (BatchOutcome::Expired, false) => json!({"custom_id": id, "result": {"type": "expired"}}),
    };
    Some((line, !matches!(outcome, BatchOutcome::Reply(_))))
}

fn content(state: &State, id: &str) -> Scripted {
    let file = file_number(id).and_then(|at| state.files.get(at));
    file.map_or_else(not_found, |text| {
        Scripted::raw(200, text.clone()).header("content-type", "application/octet-stream")
    })
}

fn lines(state: &State, file: usize) -> usize {
    state.files.get(file).map_or(0, |text| text.lines().count())
}

/// OpenAI's `Batch`.
fn openai(state: &State, at: usize) -> Value {
    let batch = &state.batches[at];
    let mut value = json!({"id": batch.id, "object": "batch", "endpoint": "/v1/chat/completions", "status": "in_progress",
        "input_file_id": batch.input_file, "completion_window": "24h", "created_at": 1_795_000_000, "errors": null,
        "output_file_id": null, "error_file_id": null,
        "request_counts": {"total": batch.requests.len(), "completed": 0, "failed": 0}});
    if state.fails {
        value["status"] = "failed".into();
        value["errors"] = json!({"object": "list", "data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached", "line": null}]});
    }
    if let Some((output, errors)) = batch.outputs {
        let counts = (lines(state, output), lines(state, errors));
        value["status"] = "completed".into();
        value["request_counts"] =
            json!({"total": batch.requests.len(), "completed": counts.0, "failed": counts.1});
        let file = |number: usize, lines: usize| match lines {
            0 => Value::Null,
            _ => format!("file-{number}").into(),
        };
        value["output_file_id"] = file(output, counts.0);
        value["error_file_id"] = file(errors, counts.1);
    }
    value
}

/// Anthropic's `MessageBatch`. It names an address of its own, to which no key may go.
fn anthropic(state: &State, at: usize) -> Value {
    let batch = &state.batches[at];
    let total = batch.requests.len();
    let (status, processing, succeeded) = match batch.outputs {
        Some((output, _)) => ("ended", 0, lines(state, output)),
        None => ("in_progress", total, 0),
    };
    json!({"id": batch.id, "type": "message_batch", "processing_status": status,
        "request_counts": {"processing": processing, "succeeded": succeeded, "errored": 0, "canceled": 0, "expired": 0},
        "created_at": "2099-01-01T00:00:00.123456+00:00", "expires_at": "2099-01-02T00:00:00Z", "ended_at": null,
        "results_url": batch.outputs.map(|_| "https://elsewhere.example.org/results")})
}
