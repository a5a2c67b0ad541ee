//! Redaction of secrets in answers, in any spelling.

use planforge_record::Redactor;
use serde_json::Value;
use std::borrow::Cow;

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
mod tests {
    use super::*;
    use secrecy::SecretString;

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
