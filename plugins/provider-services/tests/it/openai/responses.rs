//! Requests and responses of the interface Responses, in the shapes of OpenAI's reference (openai-python of 2026-08-21), and of
//! deployments on Azure, against a scripted server. Not tried against the live services.

use planforge_contract::api::Provider;
use planforge_contract::{
    CompletionRequest, CompletionResult, FinishReason, JsonObject, Message, ProviderFailureClass as Class,
    Replies, ReplySchema, Sampling,
};
use planforge_provider_services::openai::{Field, OpenAi, OpenAiOptions};
use planforge_testkit::{Scripted, ScriptedRequest, ScriptedServer, SilentHost};
use serde_json::{Value, json};

fn options(server: &ScriptedServer, further: Value) -> OpenAiOptions {
    let mut table = json!({"base_url": server.base_url(), "interface": "responses", "timeout_s": 300.0});
    table.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    serde_json::from_value(table).unwrap()
}

fn question() -> CompletionRequest {
    CompletionRequest {
        model: "m".into(),
        messages: vec![Message::system("be brief"), Message::user("hello")],
        ..CompletionRequest::default()
    }
}

fn schema() -> ReplySchema {
    let schema = json!({"type": "object", "properties": {"plan": {"type": "string"}},
        "required": ["plan"], "additionalProperties": false});
    let Value::Object(schema) = schema else { panic!() };
    ReplySchema { name: "plan".into(), schema }
}

fn response(status: &str, output: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1_780_000_000, "status": status, "error": null,
        "incomplete_details": null, "model": "m-2026-08-01", "output": output, "parallel_tool_calls": true,
        "tool_choice": "auto", "tools": [],
        "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 0},
            "output_tokens": 12, "output_tokens_details": {"reasoning_tokens": 8}, "total_tokens": 42}
    })
}

fn message(content: Value) -> Value {
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": content})
}

fn text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn result(body: Value) -> CompletionResult {
    let server = ScriptedServer::in_order(vec![Scripted::raw(200, body.to_string())]).unwrap();
    let provider = OpenAi::new(options(&server, json!({})), None).unwrap();
    let result = provider.complete(&SilentHost::default(), &question()).unwrap();
    assert_eq!(server.count(), 1);
    result
}

fn replies(body: Value) -> Replies {
    let result = result(body);
    let CompletionResult::Replies(replies) = result else { panic!("{result:?}") };
    replies
}

/// The request that a provider with these options sends.
fn sent(further: Value, request: &CompletionRequest) -> ScriptedRequest {
    let server = ScriptedServer::matching(|_| {
        Scripted::raw(200, response("completed", json!([message(json!([text("ok")]))])).to_string())
    })
    .unwrap();
    let key = further.get("api_key_env").map(|_| "sk-scripted");
    let provider = OpenAi::new(options(&server, further), key).unwrap();
    provider.complete(&SilentHost::default(), request).unwrap();
    server.requests().remove(0)
}

#[test]
fn a_request_has_the_interface_s_fields_and_exact_numbers() {
    let mut request = question();
    request.messages.push(Message::assistant("(:action"));
    request.sampling = Sampling {
        temperature: Some(0.123_456_789_012_3),
        top_p: Some(0.9),
        max_tokens: Some(64),
        seed: Some(7),
        n: Some(3),
        logprobs: Some(true),
        ..Sampling::default()
    };
    request.schema = Some(schema());
    request.extra.insert("reasoning".into(), json!({"summary": "auto"}));
    request.extra.insert("service_tier".into(), "flex".into());
    request.extra.insert("stream".into(), true.into());
    let sent = sent(json!({"reasoning": "high", "cache": true}), &request);
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/responses"));
    let item = |role: &str, content: &str| json!({"type": "message", "role": role, "content": content});
    assert_eq!(
        sent.json(),
        json!({
            "model": "m", "stream": false, "store": false,
            "input": [item("system", "be brief"), item("user", "hello"), item("assistant", "(:action")],
            "temperature": 0.123_456_789_012_3, "top_p": 0.9, "max_output_tokens": 64,
            "include": ["message.output_text.logprobs"],
            "reasoning": {"effort": "high", "summary": "auto"}, "service_tier": "flex",
            "text": {"format": {"type": "json_schema", "name": "plan", "schema": schema().schema, "strict": true}}
        })
    );
}

#[test]
fn fields_in_omit_are_not_sent() {
    let mut request = question();
    request.sampling = Sampling {
        temperature: Some(0.5),
        top_p: Some(0.5),
        max_tokens: Some(9),
        stop: vec!["END".into()],
        logprobs: Some(true),
        ..Sampling::default()
    };
    let omit = [Field::Temperature, Field::TopP, Field::MaxTokens, Field::Stop, Field::Logprobs];
    let item = |role: &str, content: &str| json!({"type": "message", "role": role, "content": content});
    assert_eq!(
        sent(json!({"omit": omit}), &request).json(),
        json!({"model": "m", "stream": false, "store": false,
            "input": [item("system", "be brief"), item("user", "hello")]})
    );
}

#[test]
fn a_setting_that_the_interface_or_the_model_lacks_is_refused_before_anything_is_sent() {
    let refused = |further: Value, model: &str, sampling: Sampling| {
        let mut table = json!({"base_url": "https://api.openai.com/v1"});
        table.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
        let request = CompletionRequest { model: model.into(), sampling, ..question() };
        let provider = OpenAi::new(serde_json::from_value(table).unwrap(), None).unwrap();
        let failure = provider.complete(&SilentHost::default(), &request).unwrap_err();
        assert_eq!(failure.code, "provider.unsupported");
        assert!(failure.help.is_some());
        failure.message
    };
    let stop = Sampling { stop: vec!["END".into()], ..Sampling::default() };
    assert!(refused(json!({}), "gpt-4o", stop).contains("`stop`"));
    assert!(refused(json!({"reasoning": 512}), "o1", Sampling::default()).contains("tokens"));
    for interface in ["responses", "chat"] {
        let warm = Sampling { temperature: Some(0.7), ..Sampling::default() };
        let message = refused(json!({"interface": interface}), "o1", warm);
        assert!(message.contains("`o1`") && message.contains("`temperature`"), "{message}");
        let narrow = Sampling { top_p: Some(0.7), ..Sampling::default() };
        assert!(refused(json!({"interface": interface}), "gpt-5-mini", narrow).contains("`top_p`"));
    }
}

#[test]
fn texts_calls_and_refusals_are_read() {
    let reasoning =
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hmm"}]});
    let commentary = json!({"type": "message", "id": "c", "role": "assistant", "phase": "commentary", "content": [text("wait")]});
    let call = |name: &str, arguments: &str| json!({"type": "function_call", "call_id": "c", "name": name, "arguments": arguments, "status": "completed"});
    let custom = json!({"type": "custom_tool_call", "call_id": "c", "name": "pddl", "input": "{\"a\": (or)"});
    let refusal = json!({"type": "refusal", "refusal": "I cannot help with parcels."});
    for (output, content, finish) in [
        (json!([reasoning, message(json!([text("(and"), text(")")]))]), "(and)", FinishReason::Stop),
        (json!([commentary, message(json!([text("(and)")]))]), "(and)", FinishReason::Stop),
        (json!([call("answer", "{\"pddl\": \"(and)\"}")]), "(and)", FinishReason::Stop),
        (json!([call("answer", "{\"a\": 1, \"b\": \"x\"}")]), r#"{"a":1,"b":"x"}"#, FinishReason::Stop),
        (json!([custom]), "{\"a\": (or)", FinishReason::Stop),
        (json!([message(json!([refusal]))]), "I cannot help with parcels.", FinishReason::ContentFilter),
        (
            json!([{"type": "of_next_year", "id": "x"}, message(json!([text("ok")]))]),
            "ok",
            FinishReason::Stop,
        ),
        (json!([]), "", FinishReason::Stop),
    ] {
        let read = replies(response("completed", output.clone()));
        assert_eq!((read.replies[0].content.as_str(), read.replies[0].finish), (content, finish), "{output}");
        let usage = read.usage;
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(30), Some(12)));
        assert_eq!((usage.cached_tokens, usage.cache_write_tokens), (Some(20), Some(0)));
        assert_eq!(usage.reasoning_tokens, Some(8));
        let has_reasoning = output[0]["type"] == "reasoning";
        assert_eq!(read.replies[0].thought.as_deref(), has_reasoning.then_some("hmm"));
        assert_eq!(read.model, "m-2026-08-01");
        assert!(read.raw.contains("resp_1"));
    }
}

#[test]
fn log_probabilities_of_all_parts_are_read() {
    let part = |token: &str, logprob: f64| {
        json!({"type": "output_text", "text": token, "annotations": [],
            "logprobs": [{"token": token, "logprob": logprob, "bytes": [], "top_logprobs": []}]})
    };
    let both = replies(response("completed", json!([message(json!([part("a", -0.5), part("b", -0.25)]))])));
    assert_eq!(both.replies[0].log_likelihood(), Some(-0.75));
    let one = replies(response("completed", json!([message(json!([part("a", -0.5), text("b")]))])));
    assert_eq!(one.replies[0].log_likelihood(), None);
}

#[test]
fn an_incomplete_response_says_why() {
    for (reason, finish) in [
        ("max_output_tokens", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("of_next_year", FinishReason::Other),
    ] {
        let mut body = response("incomplete", json!([message(json!([text("(and")]))]));
        body["incomplete_details"] = json!({"reason": reason});
        assert_eq!(replies(body).replies[0].finish, finish, "{reason}");
    }
}

#[test]
fn a_failed_response_has_the_class_of_its_error_and_a_refused_prompt_is_a_reply() {
    for (code, class) in [
        (json!("rate_limit_exceeded"), Class::RateLimited),
        (json!("server_error"), Class::Server),
        (json!("invalid_image"), Class::BadRequest),
        (json!(502), Class::Server),
        (json!(null), Class::Malformed),
    ] {
        let mut body = response("failed", json!([]));
        body["error"] = json!({"code": code, "message": "scripted"});
        let result = result(body);
        let CompletionResult::ProviderFailure(failure) = result else { panic!("{result:?}") };
        assert_eq!((failure.class, failure.status), (class, Some(200)), "{code}");
        assert!(failure.message.contains("scripted"), "{}", failure.message);
    }
    for body in [json!({}), response("queued", json!([])), response("cancelled", json!([]))] {
        let result = result(body);
        let CompletionResult::ProviderFailure(failure) = result else { panic!("{result:?}") };
        assert_eq!(failure.class, Class::Malformed);
    }
    let mut body = response("failed", json!([]));
    body["error"] = json!({"code": "invalid_prompt", "message": "flagged by the usage policy"});
    let refused = replies(body).replies.remove(0);
    assert_eq!(refused.finish, FinishReason::ContentFilter);
    assert!(refused.content.contains("flagged"), "{}", refused.content);
}

#[test]
fn a_prompt_that_the_service_refuses_with_400_is_a_reply_with_its_reason() {
    for (further, code) in [(json!({}), "invalid_prompt"), (json!({"interface": "chat"}), "content_filter")] {
        let error = json!({"error": {"message": "the prompt was filtered", "code": code}});
        let server = ScriptedServer::in_order(vec![Scripted::raw(400, error.to_string())]).unwrap();
        let provider = OpenAi::new(options(&server, further), None).unwrap();
        let result = provider.complete(&SilentHost::default(), &question()).unwrap();
        let CompletionResult::Replies(replies) = result else { panic!("{result:?}") };
        assert_eq!(replies.replies[0].finish, FinishReason::ContentFilter);
        assert!(replies.replies[0].content.contains("the prompt was filtered"));
    }
}

#[test]
fn azure_gets_its_version_in_the_query_and_its_key_in_its_header() {
    let of_chat = |further: Value| {
        let mut table = json!({"interface": "chat", "api_key_env": "AZURE_KEY"});
        table.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
        sent(table, &question())
    };
    let sent = of_chat(json!({"api_version": "2024-10-21"}));
    assert_eq!(sent.path, "/v1/chat/completions?api-version=2024-10-21");
    assert_eq!((sent.header("api-key"), sent.header("authorization")), (Some("sk-scripted"), None));
    let bearer = of_chat(json!({"api_version": "preview", "api_key_header": "Authorization"}));
    assert_eq!(bearer.header("authorization"), Some("Bearer sk-scripted"));
}

#[test]
fn the_version_may_stand_at_the_end_of_the_address() {
    let server = ScriptedServer::matching(|_| Scripted::replies(&["ok"])).unwrap();
    let base_url = format!("{}?api-version=2024-10-21", server.base_url());
    let make = |api_version: Option<&str>, base_url: &str| {
        let table = json!({"base_url": base_url, "api_version": api_version, "interface": "chat"});
        OpenAi::new(serde_json::from_value(table).unwrap(), None)
    };
    for api_version in [None, Some("2024-10-21")] {
        let provider = make(api_version, &base_url).unwrap();
        provider.complete(&SilentHost::default(), &question()).unwrap();
    }
    for request in server.requests() {
        assert_eq!(request.path, "/v1/chat/completions?api-version=2024-10-21");
    }
    let other = make(Some("2025-01-01"), &base_url).unwrap_err();
    assert!(other.message.contains("`api_version`"), "{}", other.message);
    assert_eq!(make(None, &format!("{base_url}&x=1")).unwrap_err().code, "provider.options");
}

#[test]
fn chat_completions_carry_reasoning_and_schema_too() {
    let request = CompletionRequest { schema: Some(schema()), ..question() };
    let sent = sent(json!({"interface": "chat", "reasoning": "low", "cache": true}), &request).json();
    assert_eq!(sent["reasoning_effort"], "low");
    let format = json!({"name": "plan", "schema": schema().schema, "strict": true});
    assert_eq!(sent["response_format"], json!({"type": "json_schema", "json_schema": format}));
    let keys: Vec<&String> = sent.as_object().map(|sent: &JsonObject| sent.keys().collect()).unwrap();
    assert_eq!(keys, ["messages", "model", "reasoning_effort", "response_format", "stream"]);
}
