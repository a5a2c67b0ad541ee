//! Reads an answer: the body of a chat completion, of a response or of a message, or texts that a person wrote.

use planforge_contract::{CompletionResult, FinishReason, Replies, Reply, Usage};
use planforge_model_api::anthropic_messages::read_message;
use planforge_model_api::chat_completions::{malformed_failure, read_result};
use planforge_model_api::openai_responses::read_response;
use serde_json::{Map, Value};

/// Reads an answer. By hand it is `{"content": "..."}`, or `{"contents": ["...", "..."]}` for several replies to one question;
/// who writes so counts no tokens, so the usage is unknown.
pub(crate) fn read(answer: &str) -> CompletionResult {
    match serde_json::from_str::<Map<String, Value>>(answer) {
        Ok(object) if object.get("type").is_some_and(|kind| kind == "message") => {
            read_message(answer.as_bytes())
        }
        Ok(object) if object.get("object").is_some_and(|kind| kind == "response") => {
            read_response(answer.as_bytes())
        }
        Ok(object) => match by_hand(&object) {
            Some(contents) => of_contents(contents, &object, answer),
            None => read_result(answer.as_bytes()),
        },
        Err(_) => read_result(answer.as_bytes()),
    }
}

/// The replies of a hand-written object; `Some(None)` if they are not texts.
fn by_hand(object: &Map<String, Value>) -> Option<Option<Vec<String>>> {
    if object.contains_key("choices") || object.get("error").is_some_and(|error| !error.is_null()) {
        return None;
    }
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match (object.get("content"), object.get("contents")) {
        (Some(content), _) => Some(text(content).map(|content| vec![content])),
        (None, Some(contents)) => Some(contents.as_array().and_then(|all| all.iter().map(text).collect())),
        (None, None) => None,
    }
}

fn of_contents(contents: Option<Vec<String>>, object: &Map<String, Value>, raw: &str) -> CompletionResult {
    let Some(contents) = contents.filter(|contents| !contents.is_empty()) else {
        let why = "`content` is a text, and `contents` a list of at least one";
        return CompletionResult::ProviderFailure(malformed_failure(200, why, raw.as_bytes()));
    };
    let reply = |content| Reply::new(content, FinishReason::Other);
    CompletionResult::Replies(Replies {
        replies: contents.into_iter().map(reply).collect(),
        usage: Usage::default(),
        model: object.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        raw: raw.to_owned(),
    })
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;
    use planforge_contract::ProviderFailureClass;

    fn replies(answer: &str) -> Replies {
        match read(answer) {
            CompletionResult::Replies(replies) => replies,
            other => panic!("{answer}: {other:?}"),
        }
    }

    #[test]
    fn what_is_written_by_hand_has_an_unknown_usage() {
        let one = replies(r#"{"content": "(define)"}"#);
        assert_eq!((one.replies[0].content.as_str(), one.usage), ("(define)", Usage::default()));
        let two = replies(r#"{"contents": ["a", "b"], "model": "Ada"}"#);
        assert_eq!((two.replies.len(), two.model.as_str()), (2, "Ada"));
    }

    #[test]
    fn a_body_of_a_service_is_read_as_if_it_had_come_over_a_connection() {
        let body = r#"{"model": "m", "choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1}}"#;
        let read = replies(body);
        assert_eq!((read.replies[0].content.as_str(), read.usage.prompt_tokens), ("hi", Some(3)));
        assert_eq!((read.raw.as_str(), read.replies[0].finish), (body, FinishReason::Stop));
        let refused = replies(r#"{"choices": [{"message": {"content": null, "refusal": "no"}}]}"#);
        assert_eq!(refused.replies[0].finish, FinishReason::ContentFilter);
    }

    #[test]
    fn a_message_is_read_as_from_the_service_itself() {
        let read = replies(
            r#"{"type": "message", "model": "claude-x", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 3, "output_tokens": 1}}"#,
        );
        assert_eq!((read.replies[0].content.as_str(), read.usage.prompt_tokens), ("hi", Some(3)));
    }

    #[test]
    fn a_response_is_read_as_from_the_service_itself() {
        let read = replies(
            r#"{"object": "response", "status": "completed", "error": null, "model": "m", "output": [{"type": "message", "content":
                [{"type": "output_text", "text": "hi"}]}], "usage": {"input_tokens": 3, "output_tokens": 1}}"#,
        );
        assert_eq!((read.replies[0].content.as_str(), read.usage.prompt_tokens), ("hi", Some(3)));
    }

    #[test]
    fn what_is_no_answer_is_a_failure_of_its_class() {
        use ProviderFailureClass as C;
        for (answer, class) in [
            (r#"{"choices": []}"#, C::Malformed),
            (r#"{"content": 7}"#, C::Malformed),
            (r#"{"contents": []}"#, C::Malformed),
            (r#"{"contents": ["a", 1]}"#, C::Malformed),
            ("[1]", C::Malformed),
            ("half a b", C::Malformed),
            (r#"{"error": {"message": "maximum context length is 10"}}"#, C::ContextOverflow),
            (r#"{"error": {"message": "busy", "code": 503}, "content": "x"}"#, C::Server),
        ] {
            match read(answer) {
                CompletionResult::ProviderFailure(failure) => assert_eq!(failure.class, class, "{answer}"),
                other => panic!("{answer}: {other:?}"),
            }
        }
    }
}
