//! The messages: JSON-RPC 2.0, one a line.

use planforge_contract::{
    CompletionRequest, CompletionResult, Document, EnvironmentInfo, EnvironmentOpen, EnvironmentPlan,
    EnvironmentVerdict, ExecutionReport, Failure, FailureClass, PlanOutcome, PlanRequest, PluginKind,
    RateLimits, Sequences, StateDescription, StateQuery, TranslateRequest, TranslateResponse, VerifyRequest,
    VerifyResponse, WalkSpec, Walks, api::EnvironmentCall, api::LogLevel,
};
use serde_json::{Value, json};

/// Methods that every program has.
pub(crate) const DESCRIBE: &str = "plugin/describe";
pub(crate) const CREATE: &str = "plugin/create";
pub(crate) const CLOSE: &str = "plugin/close";
/// The notification that a call's result is not needed any more.
pub(crate) const CANCEL: &str = "call/cancel";

/// A message of the program.
#[derive(Debug)]
pub(super) enum Message {
    /// The end of a call of the host.
    Answer {
        id: u64,
        result: Result<Value, Failure>,
    },
    /// A question to the host within a call. `id` is the program's, and is given back.
    Question {
        call: u64,
        id: Value,
        question: Result<(&'static str, Vec<String>), String>,
    },
    Log {
        call: u64,
        level: LogLevel,
        message: String,
    },
    Progress {
        call: u64,
        done: u64,
        total: u64,
        what: String,
    },
}

impl Message {
    /// Reads a line. The reason of an error completes "the program wrote".
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let not_a_message = |why: &dyn std::fmt::Display| {
            let shown: String = String::from_utf8_lossy(line).chars().take(200).collect();
            format!("a line that is no message of the protocol ({why}): {shown}")
        };
        let mut message: Value = serde_json::from_slice(line).map_err(|e| not_a_message(&e))?;
        let id = message.get("id").cloned();
        if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
            let id = id
                .and_then(|id| id.as_u64())
                .ok_or_else(|| not_a_message(&"an error without the id of a call"))?;
            return Ok(Self::Answer { id, result: Err(read_failure(error)) });
        }
        if let Some(result) = message.get_mut("result").map(Value::take) {
            let id = id
                .and_then(|id| id.as_u64())
                .ok_or_else(|| not_a_message(&"a result without the id of a call"))?;
            return Ok(Self::Answer { id, result: Ok(result) });
        }
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        let call =
            params.get("call").and_then(Value::as_u64).ok_or_else(|| not_a_message(&"no `params.call`"))?;
        let number = |name: &str| params.get(name).and_then(Value::as_u64).unwrap_or_default();
        let text = |name: &str| text_field(&params, name).to_owned();
        match (text_field(&message, "method"), id) {
            ("host/log", None) => {
                let level = match text_field(&params, "level") {
                    "debug" => LogLevel::Debug,
                    "warn" | "warning" | "error" => LogLevel::Warn,
                    _ => LogLevel::Info,
                };
                Ok(Self::Log { call, level, message: text("message") })
            }
            ("host/progress", None) => {
                Ok(Self::Progress { call, done: number("done"), total: number("total"), what: text("what") })
            }
            (method, Some(id)) => Ok(Self::Question { call, id, question: question(method, &params) }),
            (method, None) => Err(not_a_message(&format!("there is no notification `{method}`"))),
        }
    }
}

/// A field of a JSON object as text.
pub(crate) fn text_field<'v>(object: &'v Value, name: &str) -> &'v str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The host's service and its inputs, in the form of the binary interface.
fn question(method: &str, params: &Value) -> Result<(&'static str, Vec<String>), String> {
    let request = params.get("request").unwrap_or(&Value::Null);
    match method {
        "host/complete" => Ok((
            "complete",
            vec![text_field(params, "role").to_owned(), enclose::<CompletionRequest>(request)],
        )),
        "host/environment" => Ok(("environment", vec![enclose::<EnvironmentCall>(request)])),
        "host/plan" => {
            Ok(("plan", vec![text_field(params, "label").to_owned(), enclose::<PlanRequest>(request)]))
        }
        "host/rate-limits" => Ok(("rate-limits", vec![enclose::<RateLimits>(request)])),
        // For the host's own program; a program of a folder has no worker.
        "host/worker" => Ok(("worker", vec![text_field(params, "input").to_owned()])),
        _ => Err(format!(
            "the host has no method `{method}`; it has host/complete, host/environment and host/plan"
        )),
    }
}

/// The failure in an error of JSON-RPC. `data` holds the document `failure`; without it the message stands alone.
pub(crate) fn read_failure(error: &Value) -> Failure {
    let message = text_field(error, "message");
    let told = error.get("data").cloned().and_then(|data| serde_json::from_value::<Failure>(data).ok());
    told.unwrap_or_else(|| Failure::new(FailureClass::Plugin, "plugin.exception", message))
}

/// A request of the host. `params` is the inside of a JSON object.
pub(super) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}

/// A notification of the host about a call.
pub(super) fn cancel(call: u64) -> String {
    json!({"jsonrpc": "2.0", "method": CANCEL, "params": {"call": call}}).to_string()
}

/// The answer to a request of the other side. `Ok` is JSON.
pub(crate) fn answer(id: &Value, result: &Result<String, Failure>) -> String {
    match result {
        Ok(json) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{json}}}"#),
        Err(failure) => {
            let error = json!({"code": -32000, "message": failure.message, "data": failure});
            json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
        }
    }
}

/// The body of a document that [`planforge_contract::encode`] wrote.
pub(crate) fn body(envelope: &str) -> &str {
    let start = envelope.find(r#""body":"#).map_or(0, |at| at + r#""body":"#.len());
    envelope.get(start..envelope.len().saturating_sub(1)).unwrap_or("null")
}

/// The result of a question, as JSON: a document's body, or the text of a worker.
pub(super) fn answer_body(question: &str, text: String) -> String {
    match question {
        "worker" => Value::String(text).to_string(),
        "rate-limits" => "null".to_owned(),
        _ => body(&text).to_owned(),
    }
}

/// A document in the form that [`planforge_contract::decode`] reads.
pub(crate) fn enclose<T: Document>(body: &Value) -> String {
    format!(r#"{{"document":"{}","schema":{},"body":{body}}}"#, T::NAME, T::SCHEMA)
}

/// The names of a method's inputs.
pub(crate) fn input_names(method: &str) -> &'static [&'static str] {
    match method {
        "describe" => &["task"],
        "walks" => &["task", "spec"],
        "execute" => &["task", "sequences"],
        "validate" => &["task", "plan"],
        "describe-state" => &["task", "query"],
        _ => &["request"],
    }
}

/// A method's input as its document, in its envelope.
pub(crate) fn input_document(method: &str, name: &str, input: &Value) -> Option<String> {
    Some(match (method, name) {
        ("complete", _) => enclose::<CompletionRequest>(input),
        ("translate", _) => enclose::<TranslateRequest>(input),
        ("verify", _) => enclose::<VerifyRequest>(input),
        ("plan", _) => enclose::<PlanRequest>(input),
        (_, "task") => enclose::<EnvironmentOpen>(input),
        (_, "spec") => enclose::<WalkSpec>(input),
        (_, "sequences") => enclose::<Sequences>(input),
        (_, "plan") => enclose::<EnvironmentPlan>(input),
        (_, "query") => enclose::<StateQuery>(input),
        _ => return None,
    })
}

/// A method's result as its document, in its envelope.
pub(crate) fn result_document(kind: PluginKind, method: &str, result: &Value) -> Option<String> {
    Some(match (kind, method) {
        (PluginKind::Provider, "complete") => enclose::<CompletionResult>(result),
        (PluginKind::Translator, "translate") => enclose::<TranslateResponse>(result),
        (PluginKind::Verifier, "verify") => enclose::<VerifyResponse>(result),
        (PluginKind::Planner, "plan") => enclose::<PlanOutcome>(result),
        (PluginKind::Environment, "describe") => enclose::<EnvironmentInfo>(result),
        (PluginKind::Environment, "walks") => enclose::<Walks>(result),
        (PluginKind::Environment, "execute") => enclose::<ExecutionReport>(result),
        (PluginKind::Environment, "validate") => enclose::<EnvironmentVerdict>(result),
        (PluginKind::Environment, "describe-state") => enclose::<StateDescription>(result),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::{decode, encode};

    #[test]
    fn bodies_are_taken_out_of_envelopes_and_put_back() {
        let failure = Failure::new(FailureClass::Limit, "a.b", "text with \"body\": {1}");
        let text = encode(&failure).unwrap();
        let body: Value = serde_json::from_str(body(&text)).unwrap();
        assert_eq!(decode::<Failure>(&enclose::<Failure>(&body)), Ok(failure));
    }

    #[test]
    fn lines_that_are_no_messages_are_refused_with_their_beginning() {
        for line in [
            "hello",
            "{}",
            r#"{"id":"x","result":1}"#,
            r#"{"method":"host/else","params":{"call":1}}"#,
            "[1]",
        ] {
            let why = Message::read(line.as_bytes()).unwrap_err();
            assert!(why.ends_with(line), "{why}");
        }
    }

    #[test]
    fn an_error_without_a_failure_keeps_its_message() {
        let line = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"no such object"}}"#;
        let Message::Answer { id: 7, result: Err(failure) } = Message::read(line.as_bytes()).unwrap() else {
            panic!()
        };
        assert_eq!((failure.code.as_str(), failure.message.as_str()), ("plugin.exception", "no such object"));
    }
}
