//! Files of answers, read whole, checked and cleared of secrets before anything is made of them.

use crate::batch::requests::custom_id;
use crate::chat_completions::{error_text, failure_of_status};
use planforge_contract::{Failure, ProviderFailure, ProviderFailureClass};
use planforge_diagnostics::{Diagnostic, skip_byte_order_mark_bytes};
use planforge_llm::{ArrivedResult, DeferredReplies};
use planforge_record::{Redactor, open_regular, sha256_hex};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The most mistakes to report one by one; the rest is counted.
const TOLD: usize = 100;

/// Place of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LinePlace {
    file: String,
    line: u64,
}

impl std::fmt::Display for LinePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// All lines about one request.
#[derive(Debug)]
struct Entry {
    arrived: ArrivedResult,
    place: LinePlace,
    /// Temporary errors by the digest of their line: a repeated line counts once.
    passing: BTreeSet<String>,
}

/// The answers in the folder, by the `custom_id` of the request.
#[derive(Debug, Default)]
pub struct BatchReplies {
    entries: BTreeMap<String, Entry>,
    /// Answers that this session used.
    used: Mutex<BTreeSet<String>>,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl BatchReplies {
    /// Adds the answers of a file, with secrets redacted.
    pub(crate) fn read(&mut self, path: &Path, redactor: &Redactor) {
        let shown = path.display().to_string();
        let file = match open_regular(path) {
            Ok(file) => file,
            Err(e) => {
                self.errors.push(Diagnostic::error("batch.io", format!("{shown} cannot be read: {e}")));
                return;
            }
        };
        let mut reader = BufReader::new(file);
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            let place = LinePlace { file: shown.clone(), line: number };
            match next_line(&mut reader, &mut bytes) {
                Ok(Next::End) => break,
                Ok(Next::Line { whole }) => {
                    let text = if number == 1 { skip_byte_order_mark_bytes(&bytes) } else { &bytes };
                    let Ok(text) = std::str::from_utf8(text) else {
                        let what = format!("{place}: this is not UTF-8");
                        self.errors
                            .push(Diagnostic::error("batch.line", what).help("save the file as UTF-8 text"));
                        return;
                    };
                    if !text.trim().is_empty() {
                        self.line(&redact_line(redactor, text.trim()), place, whole);
                    }
                }
                Ok(Next::TooLong) => {
                    let most = MAX_LINE_BYTES / 1_000_000;
                    let what = format!("{place}: this line is longer than {most} MB");
                    self.errors.push(Diagnostic::error("batch.line", what));
                }
                Err(e) => {
                    let what = format!("{shown} cannot be read to its end: {e}");
                    self.errors.push(Diagnostic::error("batch.io", what));
                    return;
                }
            }
        }
    }

    fn line(&mut self, text: &str, place: LinePlace, whole: bool) {
        match read_answer(text) {
            Ok(line) => self.add_line(line, text, place),
            // A file that is still being written, or was cut off on its way.
            Err(_) if !whole && serde_json::from_str::<Value>(text).is_err() => {
                let what = format!("{place}: the last line is cut off and was not read");
                let help = "bring the whole file once it is complete; it takes the place of this one";
                self.warnings.push(Diagnostic::warning("batch.torn", what).help(help));
            }
            Err(why) => self.errors.push(Diagnostic::error("batch.line", format!("{place}: {why}"))),
        }
    }

    /// Adds a line. A reply replaces an error, and a permanent error replaces a temporary one, since a
    /// repeated request got another answer.
    fn add_line(&mut self, line: AnswerLine, text: &str, place: LinePlace) {
        let digest = passes(&line.arrived).then(|| sha256_hex(text.as_bytes()));
        let Some(known) = self.entries.get_mut(&line.id) else {
            let passing = digest.into_iter().collect();
            self.entries.insert(line.id, Entry { arrived: line.arrived, place, passing });
            return;
        };
        known.passing.extend(digest);
        match (&known.arrived, &line.arrived) {
            (ArrivedResult::Body(a), ArrivedResult::Body(b)) if a != b => {
                let what = format!("`{}` has two different answers: {} and {place}", line.id, known.place);
                let help = "keep one of them: which one counts must not depend on the order of files";
                self.errors.push(Diagnostic::error("batch.twice", what).help(help));
            }
            (old, new) if rank(new) >= rank(old) => {
                known.arrived = line.arrived;
                known.place = place;
            }
            _ => {}
        }
    }

    /// Everything that keeps the files from being used; more than a hundred are counted.
    pub(crate) fn take_errors(&mut self) -> Vec<Diagnostic> {
        let mut errors = std::mem::take(&mut self.errors);
        let more = errors.len().saturating_sub(TOLD);
        if more > 0 {
            errors.truncate(TOLD);
            errors.push(Diagnostic::error("batch.line", format!("and {more} more malformed lines")));
        }
        errors
    }

    /// Findings about the files that do not prevent their use.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Number of requests with an answer or an error.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// True if the n-th time that a request was written is answered: by a reply, a permanent error, or `n` temporary errors.
    pub(crate) fn is_answered(&self, id: &str, n: usize) -> bool {
        self.entries.get(id).is_some_and(|entry| !passes(&entry.arrived) || entry.passing.len() >= n)
    }

    /// Number of temporary errors of the request.
    pub(crate) fn temporary_errors(&self, id: &str) -> usize {
        self.entries.get(id).map_or(0, |entry| entry.passing.len())
    }

    /// Answers to unknown requests, with their places: neither used in this session nor, by `asked`, in a
    /// request file.
    pub(crate) fn unknown(&self, asked: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown = |(id, _): &(&String, &Entry)| !used.contains(*id) && !asked(id);
        let told = |(id, entry): (&String, &Entry)| (id.clone(), entry.place.to_string());
        self.entries.iter().filter(unknown).map(told).collect()
    }
}

impl DeferredReplies for BatchReplies {
    fn find(&self, key: &str, body: &Value) -> Result<Option<ArrivedResult>, Failure> {
        let id = custom_id(key, body);
        let Some(entry) = self.entries.get(&id) else { return Ok(None) };
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        Ok(Some(entry.arrived.clone()))
    }
}

fn passes(arrived: &ArrivedResult) -> bool {
    matches!(arrived, ArrivedResult::Failure(failure) if failure.class.is_transient())
}

fn rank(arrived: &ArrivedResult) -> u8 {
    match arrived {
        ArrivedResult::Body(_) => 2,
        ArrivedResult::Failure(_) if !passes(arrived) => 1,
        ArrivedResult::Failure(_) => 0,
    }
}

/// The next line of a file.
enum Next {
    End,
    /// A line; `whole` where a line feed ends it.
    Line {
        whole: bool,
    },
    TooLong,
}

fn next_line(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> std::io::Result<Next> {
    let most = MAX_LINE_BYTES as u64 + 1;
    if reader.by_ref().take(most).read_until(b'\n', bytes)? == 0 {
        return Ok(Next::End);
    }
    let whole = bytes.last() == Some(&b'\n');
    if whole {
        bytes.pop();
    }
    if bytes.len() <= MAX_LINE_BYTES {
        return Ok(Next::Line { whole });
    }
    bytes.clear();
    while !whole && reader.by_ref().take(most).read_until(b'\n', bytes)? > 0 && bytes.last() != Some(&b'\n') {
        bytes.clear();
    }
    Ok(Next::TooLong)
}

/// Longest line that is read, in bytes.
pub const MAX_LINE_BYTES: usize = 64_000_000;

/// A line of a file of answers.
#[derive(Debug, PartialEq, Eq)]
pub struct AnswerLine {
    /// The `custom_id` of the request.
    pub id: String,
    pub arrived: ArrivedResult,
}

/// Reads a line: OpenAI's `{"custom_id", "response": {"status_code", "body"}, "error"}`, Anthropic's `{"custom_id", "result"}`,
/// or by hand `{"custom_id", "content"}`.
///
/// # Errors
/// The mistake, without a full stop.
pub fn read_answer(text: &str) -> Result<AnswerLine, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("this is not JSON: {e}"))?;
    let Value::Object(object) = value else {
        return Err("a line is one JSON object".to_owned());
    };
    let id = match object.get("custom_id") {
        Some(Value::String(id)) if !id.is_empty() => id.clone(),
        Some(_) => return Err("`custom_id` is a text, as the request has it".to_owned()),
        None => return Err("the line has no `custom_id`, so its request is unknown".to_owned()),
    };
    let given = |name: &str| object.get(name).filter(|value| !value.is_null());
    let by_hand = ["content", "contents"].iter().any(|name| object.contains_key(*name));
    let arrived = match (given("response"), given("error")) {
        (None, None) if given("result").is_some() && !by_hand => of_result(&object["result"])?,
        (None, None) if by_hand => hand_written(&object)?,
        (None, None) => {
            return Err("there is neither a `response` of a service nor `content` written by hand".to_owned());
        }
        _ if by_hand => return Err("this is both a service's line and one written by hand".to_owned()),
        (Some(response), error) => of_response(response, error)?,
        (None, Some(error)) => ArrivedResult::Failure(of_error(error)),
    };
    Ok(AnswerLine { id, arrived })
}

/// The outcome of a request that reached a model.
fn of_response(response: &Value, error: Option<&Value>) -> Result<ArrivedResult, String> {
    let status = match response.get("status_code") {
        None | Some(Value::Null) => None,
        Some(status) => match status.as_u64().and_then(|status| u16::try_from(status).ok()) {
            Some(status) => Some(status),
            None => return Err("`response.status_code` is an HTTP status".to_owned()),
        },
    };
    let body = response.get("body").filter(|body| body.is_object());
    match (status, body, error) {
        (None | Some(200..=299), Some(body), None) => Ok(ArrivedResult::Body(body.to_string())),
        (None | Some(200..=299), _, Some(error)) => Ok(ArrivedResult::Failure(of_error(error))),
        (None | Some(200..=299), None, None) => {
            Err("`response.body` is an object: a chat completion".to_owned())
        }
        (Some(status), body, _) => {
            let body = body.map(Value::to_string).unwrap_or_default();
            Ok(ArrivedResult::Failure(failure_of_status(status, body.as_bytes())))
        }
    }
}

/// The outcome of a request to Anthropic's Message Batches (`MessageBatchIndividualResponse` of its Python SDK, read on
/// 2026-11-23).
fn of_result(result: &Value) -> Result<ArrivedResult, String> {
    let failed = |class, message: &str| {
        let message = message.to_owned();
        Ok(ArrivedResult::Failure(ProviderFailure {
            class,
            status: None,
            retry_after_ms: None,
            usage: None,
            message,
        }))
    };
    match result.get("type").and_then(Value::as_str) {
        Some("succeeded") => match result.get("message").filter(|message| message.is_object()) {
            Some(message) => Ok(ArrivedResult::Body(message.to_string())),
            None => Err("`result.message` is an object: a message".to_owned()),
        },
        Some("errored") => {
            let error = result.get("error").cloned().unwrap_or_default();
            let kind = error.get("error").unwrap_or(&error).get("type").and_then(Value::as_str);
            let status = status_of_error(kind.unwrap_or_default());
            Ok(ArrivedResult::Failure(failure_of_status(status, error.to_string().as_bytes())))
        }
        Some("expired") => failed(ProviderFailureClass::Timeout, "the batch expired before this request"),
        Some("canceled") => failed(ProviderFailureClass::Server, "the batch was cancelled"),
        _ => Err("`result.type` is `succeeded`, `errored`, `expired` or `canceled`".to_owned()),
    }
}

/// The status that Anthropic's interface gives with an error of this type.
fn status_of_error(kind: &str) -> u16 {
    match kind {
        "authentication_error" => 401,
        "permission_error" => 403,
        "not_found_error" => 404,
        "rate_limit_error" => 429,
        "api_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 400,
    }
}

/// The failure of a request that did not reach a model because it expired, was cancelled or lost. A retry may
/// succeed.
fn of_error(error: &Value) -> ProviderFailure {
    let message = error_text(error);
    let class = match error.get("code").and_then(Value::as_str) {
        Some(code) if code.contains("expired") => ProviderFailureClass::Timeout,
        _ => ProviderFailureClass::Server,
    };
    ProviderFailure { class, status: None, retry_after_ms: None, usage: None, message }
}

/// `{"content": "..."}` or `{"contents": ["...", ...]}`, with the `model` where the line names one. Nothing is ever an answer by mistake: a
/// form that was left empty is one that was not filled in.
fn hand_written(object: &Map<String, Value>) -> Result<ArrivedResult, String> {
    let filled = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    let mut body = match (object.get("content"), object.get("contents")) {
        (Some(_), Some(_)) => return Err("`content` and `contents` exclude each other".to_owned()),
        (Some(content), None) if filled(content) => json!({ "content": content }),
        (Some(_), None) => return Err("`content` is a text that is not empty".to_owned()),
        (None, Some(Value::Array(all))) if !all.is_empty() && all.iter().all(filled) => {
            json!({ "contents": all })
        }
        (None, _) => return Err("`contents` is a list of texts that are not empty".to_owned()),
    };
    if let Some(model) = object.get("model").filter(|model| model.is_string()) {
        body["model"] = model.clone();
    }
    Ok(ArrivedResult::Body(body.to_string()))
}

/// A line of a file of answers without secrets: plain, escaped in any way that JSON has, or spelled by the tokens of
/// log-probabilities, whose texts are then removed.
pub fn redact_line<'a>(redactor: &Redactor, line: &'a str) -> Cow<'a, str> {
    let plain = redactor.text(line);
    if redactor.is_empty() || !(plain.contains("\\u") || plain.contains("\"token")) {
        return plain;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(&plain) else { return plain };
    let is_found = redactor.value(&mut value) | remove_spelled(redactor, &mut value);
    if is_found { Cow::Owned(value.to_string()) } else { plain }
}

/// Empties the tokens of every list whose tokens together contain a secret. Returns true if there was one.
fn remove_spelled(redactor: &Redactor, value: &mut Value) -> bool {
    match value {
        Value::Array(items) => {
            let token =
                |item: &Value| item.get("token").or(Some(item)).and_then(Value::as_str).map(str::to_owned);
            let spelled: String = items.iter().filter_map(token).collect();
            let is_spelled = redactor.is_secret_in(&spelled);
            if is_spelled {
                for item in items.iter_mut() {
                    match item {
                        Value::Object(fields) => {
                            fields.insert("token".to_owned(), "".into());
                            fields.remove("bytes");
                        }
                        Value::String(text) => text.clear(),
                        _ => {}
                    }
                }
            }
            items.iter_mut().fold(is_spelled, |found, item| remove_spelled(redactor, item) | found)
        }
        Value::Object(fields) => {
            fields.values_mut().fold(false, |found, field| remove_spelled(redactor, field) | found)
        }
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;
    use ProviderFailureClass as C;
    use secrecy::SecretString;

    #[test]
    fn a_service_s_line_and_one_by_hand_are_read() {
        let line = read_answer(
            r#"{"id": "b1", "custom_id": "pf-1", "response": {"status_code": 200, "request_id": "r", "body": {"choices": []}}, "error": null}"#,
        );
        let wanted =
            AnswerLine { id: "pf-1".into(), arrived: ArrivedResult::Body(r#"{"choices":[]}"#.into()) };
        assert_eq!(line, Ok(wanted));
        let hand = read_answer(r#"{"custom_id": "pf-2", "content": "(define)", "note": "mine"}"#).unwrap();
        assert_eq!(hand.arrived, ArrivedResult::Body(r#"{"content":"(define)"}"#.into()));
        let message = read_answer(
            r#"{"custom_id": "pf-3", "result": {"type": "succeeded", "message": {"type": "message", "content": []}}}"#,
        );
        let body = r#"{"content":[],"type":"message"}"#.into();
        assert_eq!(message.unwrap().arrived, ArrivedResult::Body(body));
        let several =
            read_answer(r#"{"custom_id": "pf-2", "contents": ["a", "b"], "model": "Ada"}"#).unwrap();
        assert_eq!(several.arrived, ArrivedResult::Body(r#"{"contents":["a","b"],"model":"Ada"}"#.into()));
    }

    #[test]
    fn errors_have_the_class_that_decides_whether_a_question_is_asked_again() {
        for (rest, class) in [
            (r#""response": null, "error": {"code": "batch_expired", "message": "late"}"#, C::Timeout),
            (r#""error": {"code": "batch_cancelled", "message": "stopped"}"#, C::Server),
            (
                r#""response": {"status_code": 429, "body": {"error": {"message": "slow down"}}}"#,
                C::RateLimited,
            ),
            (r#""response": {"status_code": 500, "body": null}"#, C::Server),
            (
                r#""response": {"status_code": 400, "body": {"error": {"message": "no such field"}}}"#,
                C::BadRequest,
            ),
            (
                r#""response": {"status_code": 400, "body": {"error": {"message": "maximum context length"}}}"#,
                C::ContextOverflow,
            ),
            (r#""response": {"status_code": 401, "body": {}}"#, C::Authentication),
            (r#""result": {"type": "expired"}"#, C::Timeout),
            (r#""result": {"type": "canceled"}"#, C::Server),
            (
                r#""result": {"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}}"#,
                C::Server,
            ),
            (
                r#""result": {"type": "errored", "error": {"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}}"#,
                C::BadRequest,
            ),
        ] {
            match read_answer(&format!(r#"{{"custom_id": "a", {rest}}}"#)).unwrap().arrived {
                ArrivedResult::Failure(failure) => assert_eq!(failure.class, class, "{rest}"),
                other => panic!("{rest}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_answer_is_refused_with_its_reason() {
        for (line, why) in [
            ("[", "not JSON"),
            ("[1]", "one JSON object"),
            (r#"{"content": "x"}"#, "no `custom_id`"),
            (r#"{"custom_id": 3, "content": "x"}"#, "`custom_id` is a text"),
            (r#"{"custom_id": "a"}"#, "neither"),
            (r#"{"custom_id": "a", "content": " "}"#, "not empty"),
            (r#"{"custom_id": "a", "content": null}"#, "not empty"),
            (r#"{"custom_id": "a", "contents": ["x", ""]}"#, "not empty"),
            (r#"{"custom_id": "a", "content": "x", "contents": ["x"]}"#, "exclude"),
            (r#"{"custom_id": "a", "content": "x", "response": {"body": {}}}"#, "both"),
            (r#"{"custom_id": "a", "response": {"status_code": 200}}"#, "a chat completion"),
            (r#"{"custom_id": "a", "result": {"type": "done"}}"#, "`result.type`"),
            (r#"{"custom_id": "a", "result": {"type": "succeeded"}}"#, "a message"),
            (r#"{"custom_id": "a", "response": {"status_code": "ok", "body": {}}}"#, "HTTP status"),
        ] {
            let told = read_answer(line).unwrap_err();
            assert!(told.contains(why), "{line}: {told}");
        }
    }

    #[test]
    fn a_secret_is_taken_out_however_it_is_spelled() {
        let redactor = Redactor::new([&SecretString::from("sk-live-0123456789")]);
        for line in [
            r#"{"custom_id":"a","content":"sk-live-0123456789"}"#,
            r#"{"custom_id":"a","content":"sk\u002dlive-0123456789"}"#,
            r#"{"custom_id":"a","logprobs":{"content":[{"token":"sk-li","logprob":-1.5},{"token":"ve-0123456789","logprob":-0.5}]}}"#,
            r#"{"custom_id":"a","logprobs":{"tokens":["sk-li","ve-0123456789"]}}"#,
        ] {
            let clean = redact_line(&redactor, line);
            assert!(!clean.contains("live") && !clean.contains("ve-0123"), "{clean}");
            assert!(clean.contains(r#""custom_id":"a""#), "{clean}");
        }
        let plain = r#"{"custom_id":"a","content":"\u00e9","logprobs":{"tokens":["a","b"]}}"#;
        assert_eq!(redact_line(&redactor, plain), plain, "a line without a secret stays as it is");
    }
}
