//! One line of a file of answers.

use crate::chat_completions::{error_text, failure_of_status};
use planforge_contract::{ProviderFailure, ProviderFailureClass};
use planforge_llm::ArrivedResult;
use serde_json::{Map, Value, json};

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
        Ok(ArrivedResult::Failure(ProviderFailure { class, status: None, retry_after_ms: None, message }))
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
    ProviderFailure { class, status: None, retry_after_ms: None, message }
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

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;
    use ProviderFailureClass as C;

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
}
