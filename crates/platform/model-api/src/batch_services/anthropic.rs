//! Anthropic's Message Batches.

use crate::batch_services::calls::Calls;
use crate::batch_services::{BatchProgress, ServiceBatch};
use jiff::{SignedDuration, Timestamp};
use planforge_contract::{Failure, FailureClass, ProviderFailure};
use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

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
pub(crate) fn body(file: &str, text: &str) -> Result<String, Failure> {
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
pub(crate) fn create(calls: &Calls<'_>, body: String) -> Result<Result<Value, ProviderFailure>, Failure> {
    calls.once(calls.post("/messages/batches").header(CONTENT_TYPE, "application/json").body(body))
}

/// The batch that an interrupted submission may have created: begun since then, with as many requests, and unknown so far.
/// The service keeps no name that planforge could give it.
///
/// # Errors
/// `batch.ambiguous` if there are several.
pub(crate) fn find(
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
        let batch = read(calls, batch)?;
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
pub(crate) fn read(calls: &Calls<'_>, batch: &Value) -> Result<ServiceBatch, Failure> {
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
