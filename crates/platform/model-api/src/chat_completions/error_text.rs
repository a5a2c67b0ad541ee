//! Text of an error object.

use serde_json::Value;

/// The message and code of an error object; any other value is printed whole.
pub fn error_text(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str());
    let code =
        error.get("code").and_then(Value::as_str).or_else(|| error.get("type").and_then(Value::as_str));
    match (message, code) {
        (Some(message), Some(code)) => format!("{message} ({code})"),
        (Some(message), None) => message.to_owned(),
        _ => error.to_string(),
    }
}
