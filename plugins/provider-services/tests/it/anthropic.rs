//! Requests and responses in the shapes of Anthropic's reference (Messages, version 2023-06-01, read in 2026-11), against a
//! scripted server. Not tried against the live service.

use planforge_contract::api::Provider;
use planforge_contract::{
    CompletionRequest, CompletionResult, FinishReason, Message, ProviderFailure,
    ProviderFailureClass as Class, Replies, ReplySchema, Sampling,
};
use planforge_plugin_sdk::{Plugin, Secrets};
use planforge_provider_services::anthropic::{Anthropic, AnthropicOptions};
use planforge_testkit::{Scripted, ScriptedServer, SilentHost};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const KEY: &str = "sk-ant-scripted-0123456789";

fn options(server: &ScriptedServer, further: Value) -> AnthropicOptions {
    let mut table =
        json!({"base_url": server.base_url(), "api_key_env": "ANTHROPIC_API_KEY", "timeout_s": 300.0});
    table.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    serde_json::from_value(table).unwrap()
}

fn provider(options: AnthropicOptions) -> Anthropic {
    let secrets = Secrets::from(BTreeMap::from([("api_key_env".to_owned(), KEY.to_owned())]));
    Anthropic::create(options, &secrets).unwrap()
}

fn question() -> CompletionRequest {
    CompletionRequest {
        model: "claude-x".into(),
        messages: vec![
            Message::system("be brief"),
            Message::user("hello"),
            Message::assistant("(:action"),
            Message::user("go on"),
        ],
        sampling: Sampling { max_tokens: Some(64), seed: Some(7), ..Sampling::default() },
        ..CompletionRequest::default()
    }
}

fn message(content: Value, stop_reason: &str) -> Scripted {
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-20260101", "content": content,
        "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 3000, "output_tokens": 5}
    });
    Scripted::raw(200, body.to_string())
}

fn replies(answer: Scripted) -> Replies {
    let server = ScriptedServer::in_order(vec![answer]).unwrap();
    let result = provider(options(&server, json!({}))).complete(&SilentHost::default(), &question()).unwrap();
    assert_eq!(server.count(), 1);
    let CompletionResult::Replies(replies) = result else { panic!("{result:?}") };
    replies
}

fn failure(answer: Scripted) -> ProviderFailure {
    let server = ScriptedServer::in_order(vec![answer]).unwrap();
    let result = provider(options(&server, json!({}))).complete(&SilentHost::default(), &question()).unwrap();
    let CompletionResult::ProviderFailure(failure) = result else { panic!("{result:?}") };
    failure
}

fn sent(further: Value, request: &CompletionRequest) -> Value {
    let server = ScriptedServer::matching(|_| message(json!([]), "end_turn")).unwrap();
    provider(options(&server, further)).complete(&SilentHost::default(), request).unwrap();
    server.requests()[0].json()
}

#[test]
fn a_request_has_the_interface_s_fields_and_headers() {
    let server = ScriptedServer::matching(|_| message(json!([]), "end_turn")).unwrap();
    let mut request = question();
    request.sampling.temperature = Some(0.5);
    request.sampling.stop = vec!["END".into()];
    request.extra.insert("metadata".into(), json!({"user_id": "u"}));
    provider(options(&server, json!({"cache": true}))).complete(&SilentHost::default(), &request).unwrap();
    let asked = &server.requests()[0];
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!((asked.header("x-api-key"), asked.header("authorization")), (Some(KEY), None));
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(
        asked.json(),
        json!({
            "model": "claude-x", "max_tokens": 64, "temperature": 0.5, "stop_sequences": ["END"], "system": "be brief",
            "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "(:action"},
                         {"role": "user", "content": "go on"}],
            "cache_control": {"type": "ephemeral"}, "metadata": {"user_id": "u"}, "stream": false
        })
    );
}

#[test]
fn reasoning_is_off_a_level_or_a_number_of_tokens() {
    let field =
        |reasoning: Value, name: &str| sent(json!({"reasoning": reasoning}), &question())[name].clone();
    assert_eq!(field(json!("none"), "thinking"), json!({"type": "disabled"}));
    assert_eq!(field(json!("high"), "thinking"), json!({"type": "adaptive"}));
    assert_eq!(field(json!("high"), "output_config"), json!({"effort": "high"}));
    assert_eq!(field(json!(2048), "thinking"), json!({"type": "enabled", "budget_tokens": 2048}));
    assert_eq!(sent(json!({}), &question()).get("thinking"), None);
}

#[test]
fn a_schema_of_the_reply_stands_beside_the_effort() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let named = ReplySchema { name: "plan".into(), schema: schema.as_object().unwrap().clone() };
    let request = CompletionRequest { schema: Some(named), ..question() };
    let format = json!({"type": "json_schema", "schema": schema});
    assert_eq!(sent(json!({}), &request)["output_config"], json!({"format": format}));
    assert_eq!(
        sent(json!({"reasoning": "low"}), &request)["output_config"],
        json!({"effort": "low", "format": format})
    );
}

#[test]
fn a_setting_that_the_service_lacks_is_refused_before_anything_is_sent() {
    let server = ScriptedServer::in_order(Vec::new()).unwrap();
    let refused = |further: Value, change: &dyn Fn(&mut Sampling)| {
        let mut request = question();
        change(&mut request.sampling);
        let failure =
            provider(options(&server, further)).complete(&SilentHost::default(), &request).unwrap_err();
        assert_eq!(failure.code, "provider.unsupported");
        assert!(failure.help.is_some());
        failure.message
    };
    assert!(refused(json!({}), &|s| s.logprobs = Some(true)).contains("log-probabilities"));
    assert!(refused(json!({}), &|s| s.max_tokens = None).contains("most tokens"));
    assert!(refused(json!({"reasoning": "low"}), &|s| s.temperature = Some(0.0)).contains("`temperature`"));
    assert_eq!(server.count(), 0);
}

#[test]
fn reasoning_stays_apart_from_the_reply_and_cached_tokens_are_counted() {
    let told = replies(message(
        json!([{"type": "thinking", "thinking": "hmm", "signature": "s"}, {"type": "text", "text": "(and"},
               {"type": "text", "text": ")"}]),
        "end_turn",
    ));
    assert_eq!((told.replies[0].content.as_str(), told.replies[0].finish), ("(and)", FinishReason::Stop));
    assert_eq!(told.replies[0].thought.as_deref(), Some("hmm"));
    assert_eq!((told.usage.prompt_tokens, told.usage.completion_tokens), (Some(3210), Some(5)));
    assert_eq!((told.usage.cached_tokens, told.usage.cache_write_tokens), (Some(3000), Some(200)));
    assert_eq!(told.model, "claude-x-20260101");
}

#[test]
fn each_end_of_a_reply_has_its_reason() {
    let text = json!([{"type": "text", "text": "x"}]);
    for (reason, finish) in [
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
        ("pause_turn", FinishReason::Other),
    ] {
        assert_eq!(replies(message(text.clone(), reason)).replies[0].finish, finish, "{reason}");
    }
    let called = json!([{"type": "tool_use", "id": "t", "name": "answer", "input": {"pddl": "(and)"}}]);
    let told = replies(message(called, "tool_use"));
    assert_eq!((told.replies[0].content.as_str(), told.replies[0].finish), ("(and)", FinishReason::Stop));
}

#[test]
fn each_failure_has_its_class() {
    let error = |kind: &str, message: &str| {
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "r"}).to_string()
    };
    for (status, kind, message, class) in [
        (400, "invalid_request_error", "max_tokens: too large", Class::BadRequest),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            Class::ContextOverflow,
        ),
        (401, "authentication_error", "invalid x-api-key", Class::Authentication),
        (404, "not_found_error", "model: claude-x", Class::NotFound),
        (413, "request_too_large", "Request exceeds the maximum size", Class::BadRequest),
        (429, "rate_limit_error", "slow down", Class::RateLimited),
        (500, "api_error", "Internal server error", Class::Server),
        (529, "overloaded_error", "Overloaded", Class::Server),
    ] {
        let failed = failure(Scripted::raw(status, error(kind, message)).header("retry-after", "2"));
        assert_eq!((failed.class, failed.status), (class, Some(status)), "{failed:?}");
        assert!(failed.message.contains(message) && failed.message.contains(kind), "{failed:?}");
        assert_eq!(failed.retry_after_ms, Some(2000));
    }
    assert_eq!(failure(Scripted::raw(200, "{}")).class, Class::Malformed);
    assert_eq!(failure(Scripted::drop_connection()).class, Class::Connection);
}

#[test]
fn the_key_is_in_no_message() {
    let failed = failure(Scripted::raw(401, r#"{"type": "error", "error": {"message": "bad"}}"#));
    assert!(!failed.message.contains(KEY));
    let server = ScriptedServer::in_order(Vec::new()).unwrap();
    assert!(!format!("{:?}", provider(options(&server, json!({})))).contains(KEY));
    let missing = Anthropic::create(options(&server, json!({})), &Secrets::default()).unwrap_err();
    assert_eq!(missing.code, "provider.key");
    let schema = planforge_plugin_sdk::schemars::schema_for!(AnthropicOptions).to_value();
    for (name, property) in schema["properties"].as_object().unwrap() {
        assert!(property["description"].is_string(), "{name} has no description");
    }
}
