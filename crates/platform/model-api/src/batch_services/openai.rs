//! OpenAI's files and batches.

use crate::batch_services::calls::{Calls, is_plain};
use crate::batch_services::{BatchProgress, ServiceBatch};
use planforge_contract::{Failure, ProviderFailure};
use reqwest::header::CONTENT_TYPE;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most pages of the list of batches that are searched, of 100 batches each.
const MAX_PAGES: usize = 20;

/// Uploads a request file; returns the service's identifier of it.
pub(crate) fn upload(calls: &Calls<'_>, name: &str, bytes: &[u8]) -> Result<String, Failure> {
    let response = calls.transfer(|calls| {
        let part = Part::bytes(bytes.to_vec()).file_name(name.to_owned());
        calls.post("/files").multipart(Form::new().text("purpose", "batch").part("file", part))
    })?;
    calls.id(&response, "id")
}

/// Creates a batch of an uploaded file, with one request.
pub(crate) fn create(
    calls: &Calls<'_>,
    input_file: &str,
    url: &str,
) -> Result<Result<Value, ProviderFailure>, Failure> {
    let body = json!({"input_file_id": input_file, "endpoint": url, "completion_window": "24h"});
    calls.once(calls.post("/batches").header(CONTENT_TYPE, "application/json").body(body.to_string()))
}

/// The batch of an uploaded file, if there is one.
pub(crate) fn find(calls: &Calls<'_>, input_file: &str) -> Result<Option<ServiceBatch>, Failure> {
    let mut after = String::new();
    for _ in 0..MAX_PAGES {
        let page = calls.json(|calls| calls.get(&format!("/batches?limit=100{after}")))?;
        let batches = page.get("data").and_then(Value::as_array);
        let batches = batches.ok_or_else(|| calls.malformed("list `data`", &page))?;
        let of_file = |batch: &&Value| batch.get("input_file_id").is_some_and(|id| id == input_file);
        if let Some(found) = batches.iter().find(of_file) {
            return read(calls, found).map(Some);
        }
        match (page.get("has_more").and_then(Value::as_bool), batches.last()) {
            (Some(true), Some(last)) => after = format!("&after={}", calls.id(last, "id")?),
            _ => break,
        }
    }
    Ok(None)
}

/// Reads a batch of a response.
pub(crate) fn read(calls: &Calls<'_>, batch: &Value) -> Result<ServiceBatch, Failure> {
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
