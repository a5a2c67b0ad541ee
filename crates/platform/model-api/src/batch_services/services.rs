//! The calls of OpenAI's files and batches, and of Anthropic's Message Batches.

use crate::batch_services::calls::{Calls, is_plain};
use crate::batch_services::{BatchProgress, ServiceBatch};
use jiff::{SignedDuration, Timestamp};
use planforge_contract::{Failure, FailureClass, ProviderFailure};
use reqwest::header::CONTENT_TYPE;
use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Most pages of the list of batches that are searched, of 100 batches each.
const MAX_PAGES: usize = 20;

/// Uploads a request file; returns the service's identifier of it.
pub(crate) fn upload_openai_file(calls: &Calls<'_>, name: &str, bytes: &[u8]) -> Result<String, Failure> {
    let response = calls.transfer(|calls| {
        let part = Part::bytes(bytes.to_vec()).file_name(name.to_owned());
        calls.post("/files").multipart(Form::new().text("purpose", "batch").part("file", part))
    })?;
    calls.id(&response, "id")
}

/// Creates a batch of an uploaded file, with one request.
pub(crate) fn create_openai_batch(
    calls: &Calls<'_>,
    input_file: &str,
    url: &str,
) -> Result<Result<Value, ProviderFailure>, Failure> {
    let body = json!({"input_file_id": input_file, "endpoint": url, "completion_window": "24h"});
    calls.once(calls.post("/batches").header(CONTENT_TYPE, "application/json").body(body.to_string()))
}

/// The batch of an uploaded file, if there is one.
pub(crate) fn find_openai_batch(
    calls: &Calls<'_>,
    input_file: &str,
) -> Result<Option<ServiceBatch>, Failure> {
    let mut after = String::new();
    for _ in 0..MAX_PAGES {
        let page = calls.json(|calls| calls.get(&format!("/batches?limit=100{after}")))?;
        let batches = page.get("data").and_then(Value::as_array);
        let batches = batches.ok_or_else(|| calls.malformed("list `data`", &page))?;
        let of_file = |batch: &&Value| batch.get("input_file_id").is_some_and(|id| id == input_file);
        if let Some(found) = batches.iter().find(of_file) {
            return read_openai_batch(calls, found).map(Some);
        }
        match (page.get("has_more").and_then(Value::as_bool), batches.last()) {
            (Some(true), Some(last)) => after = format!("&after={}", calls.id(last, "id")?),
            _ => break,
        }
    }
    Ok(None)
}

/// Reads a batch of a response.
pub(crate) fn read_openai_batch(calls: &Calls<'_>, batch: &Value) -> Result<ServiceBatch, Failure> {
    let id = calls.id(batch, "id")?;
    let status = batch.get("status").and_then(Value::as_str);
    let status = status.ok_or_else(|| calls.malformed("`status`", batch))?.to_owned();
    let counts: BTreeMap<String, u64> = match batch.get("request_counts") {
        Some(Value::Object(counts)) => {
            counts.iter().filter_map(|(name, count)| Some((name.clone(), count.as_u64()?))).collect()
        }
        _ => BTreeMap::new(),
    };
    let errors = batch.pointer("/errors/data").and_then(Value::as_array).into_iter().flatten();
    let errors = errors.map(|error| error_line(calls, error)).collect();
    let file = |field: &str| batch.get(field).and_then(Value::as_str).filter(|id| is_plain(id));
    let files = [file("output_file_id"), file("error_file_id")];
    let ended = matches!(status.as_str(), "completed" | "failed" | "expired" | "cancelled");
    Ok(ServiceBatch {
        id,
        least_lines: counts.get("completed").copied().unwrap_or(0),
        results: files.into_iter().flatten().map(|id| format!("/files/{id}/content")).collect(),
        progress: BatchProgress { status, ended, counts, errors },
    })
}

fn error_line(calls: &Calls<'_>, error: &Value) -> String {
    let text = |field: &str| error.get(field).and_then(Value::as_str).unwrap_or_default();
    let line = error.get("line").and_then(Value::as_u64).map(|line| format!("line {line}: "));
    let message = format!("{}{} ({})", line.unwrap_or_default(), text("message"), text("code"));
    calls.redactor.text(&message).into_owned()
}

/// Largest difference between this machine's clock and the service's.
const CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_mins(10);

/// The fields of a request file's line that the service gets.
#[derive(Deserialize)]
struct RequestLine {
    custom_id: String,
    body: Value,
}

/// The body that creates a batch of a request file.
///
/// # Errors
/// `batch.changed` for a line that planforge did not write.
pub(crate) fn anthropic_body(file: &str, text: &str) -> Result<String, Failure> {
    let mut body = String::with_capacity(text.len() + 16);
    body.push_str("{\"requests\":[");
    for (index, line) in text.lines().enumerate() {
        let request: RequestLine = serde_json::from_str(line).map_err(|e| {
            let message = format!("{file}:{}: this is not a request: {e}", index + 1);
            Failure::new(FailureClass::Request, "batch.changed", message)
        })?;
        if index > 0 {
            body.push(',');
        }
        body.push_str(&json!({"custom_id": request.custom_id, "params": request.body}).to_string());
    }
    body.push_str("]}");
    Ok(body)
}

/// Creates a batch, with one request.
pub(crate) fn create_anthropic_batch(
    calls: &Calls<'_>,
    body: String,
) -> Result<Result<Value, ProviderFailure>, Failure> {
    calls.once(calls.post("/messages/batches").header(CONTENT_TYPE, "application/json").body(body))
}

/// The batch that an interrupted submission may have created: begun since then, with as many requests, and unknown so far.
/// The service keeps no name that planforge could give it.
///
/// # Errors
/// `batch.ambiguous` if there are several.
pub(crate) fn find_anthropic_batch(
    calls: &Calls<'_>,
    since: &str,
    requests: usize,
    known: &BTreeSet<&str>,
) -> Result<Option<ServiceBatch>, Failure> {
    let since = since.parse::<Timestamp>().unwrap_or(Timestamp::MIN);
    let since = since.checked_sub(CLOCK_DIFFERENCE).unwrap_or(Timestamp::MIN);
    let page = calls.json(|calls| calls.get("/messages/batches?limit=1000"))?;
    let batches = page.get("data").and_then(Value::as_array);
    let mut found = Vec::new();
    for batch in batches.ok_or_else(|| calls.malformed("list `data`", &page))? {
        let created = batch.get("created_at").and_then(Value::as_str);
        let is_new = created.and_then(|at| at.parse::<Timestamp>().ok()).is_some_and(|at| at >= since);
        let batch = read_anthropic_batch(calls, batch)?;
        if is_new && batch.least_lines == requests as u64 && !known.contains(batch.id.as_str()) {
            found.push(batch);
        }
    }
    if found.len() > 1 {
        let ids: Vec<&str> = found.iter().map(|batch| batch.id.as_str()).collect();
        let message = format!("an interrupted submission may have created any of {}", ids.join(", "));
        let help = "write the right one as `batch` into the file's entry in batch/submitted.json; if none is, remove the entry";
        return Err(Failure::new(FailureClass::Request, "batch.ambiguous", message).help(help));
    }
    Ok(found.pop())
}

/// Reads a batch of a response.
pub(crate) fn read_anthropic_batch(calls: &Calls<'_>, batch: &Value) -> Result<ServiceBatch, Failure> {
    let id = calls.id(batch, "id")?;
    let status = batch.get("processing_status").and_then(Value::as_str);
    let status = status.ok_or_else(|| calls.malformed("`processing_status`", batch))?.to_owned();
    let counts = batch.get("request_counts").and_then(Value::as_object);
    let counts = counts.ok_or_else(|| calls.malformed("`request_counts`", batch))?;
    let counts: BTreeMap<String, u64> =
        counts.iter().filter_map(|(name, count)| Some((name.clone(), count.as_u64()?))).collect();
    let ended = status == "ended";
    Ok(ServiceBatch {
        least_lines: counts.values().fold(0, |sum, count| sum.saturating_add(*count)),
        // The response names an address as well; the key goes to the configured server only.
        results: ended.then(|| format!("/messages/batches/{id}/results")).into_iter().collect(),
        progress: BatchProgress { status, ended, counts, errors: Vec::new() },
        id,
    })
}
