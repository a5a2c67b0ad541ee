//! Tests with a scripted endpoint: requests, their number, and the outcome of each answer.

use planforge_contract::api::Provider;
use planforge_contract::{
    CompletionRequest, CompletionResult, FailureClass, FinishReason, Message, ProviderFailure,
    ProviderFailureClass as Class, Replies, Sampling,
};
use planforge_plugin_sdk::{Plugin, Secrets};
use planforge_provider_services::openai::{Field, MaxTokensField, OpenAi, OpenAiOptions};
use planforge_testkit::{Scripted, ScriptedServer, SilentHost};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Barrier;
use std::time::Duration;

const KEY: &str = "sk-scripted-0123456789";

/// Only stops a test that hangs.
const PATIENCE_S: f64 = 300.0;

fn options(server: &ScriptedServer) -> OpenAiOptions {
    OpenAiOptions { base_url: server.base_url(), timeout_s: PATIENCE_S, ..Default::default() }
}

fn question() -> CompletionRequest {
    CompletionRequest {
        model: "m".into(),
        messages: vec![Message::user("hello")],
        ..CompletionRequest::default()
    }
}

fn ask(options: OpenAiOptions, request: &CompletionRequest) -> CompletionResult {
    OpenAi::new(options, None).unwrap().complete(&SilentHost::default(), request).unwrap()
}

fn failed(answer: Scripted) -> ProviderFailure {
    failed_within(PATIENCE_S, answer)
}

fn failed_within(timeout_s: f64, answer: Scripted) -> ProviderFailure {
    let server = ScriptedServer::in_order(vec![answer]).unwrap();
    let options = OpenAiOptions { timeout_s, ..options(&server) };
    let CompletionResult::ProviderFailure(failure) = ask(options, &question()) else {
        panic!("the answer is no reply");
    };
    assert_eq!(server.count(), 1, "exactly one request for {failure:?}");
    failure
}

fn answered(body: Value) -> Replies {
    let server = ScriptedServer::in_order(vec![Scripted::raw(200, body.to_string())]).unwrap();
    let CompletionResult::Replies(replies) = ask(options(&server), &question()) else {
        panic!("the answer is a reply");
    };
    assert_eq!(server.count(), 1);
    replies
}

#[test]
fn each_failure_is_one_request_and_has_its_class() {
    for (answer, class, status) in [
        (Scripted::error(408, "", "late"), Class::Server, Some(408)),
        (Scripted::error(429, "", "slow"), Class::RateLimited, Some(429)),
        (Scripted::raw(500, "oops"), Class::Server, Some(500)),
        (Scripted::raw(503, "<html>"), Class::Server, Some(503)),
        (Scripted::error(400, "bad", "no"), Class::BadRequest, Some(400)),
        (Scripted::error(422, "bad", "no"), Class::BadRequest, Some(422)),
        (Scripted::error(401, "key", "no"), Class::Authentication, Some(401)),
        (Scripted::error(403, "key", "no"), Class::Authentication, Some(403)),
        (Scripted::error(404, "model", "no"), Class::NotFound, Some(404)),
        (Scripted::error(400, "context_length_exceeded", "long"), Class::ContextOverflow, Some(400)),
        (Scripted::drop_connection(), Class::Connection, None),
        (Scripted::replies(&["whole"]).half_body(), Class::Connection, None),
        (Scripted::stall(), Class::Timeout, None),
        (Scripted::raw(200, "<html>"), Class::Malformed, Some(200)),
        (Scripted::raw(200, "{}"), Class::Malformed, Some(200)),
        (Scripted::raw(200, r#"{"choices":[]}"#), Class::Malformed, Some(200)),
        (Scripted::raw(200, r#"{"error":{"code":429,"message":"upstream"}}"#), Class::RateLimited, Some(200)),
        (Scripted::raw(200, r#"{"choices":[{"ind"#), Class::Connection, Some(200)),
        (Scripted::raw(200, ""), Class::Connection, Some(200)),
        (Scripted::raw(500, "x".repeat(3_000_000)), Class::Server, Some(500)),
        (Scripted::raw(307, "").header("location", "/v1/elsewhere"), Class::NotFound, Some(307)),
        (Scripted::raw(302, "").header("location", "https://example.org/?k=1"), Class::NotFound, Some(302)),
    ] {
        let timeout_s = if class == Class::Timeout { 1.0 } else { PATIENCE_S };
        let failure = failed_within(timeout_s, answer.clone());
        assert_eq!((failure.class, failure.status), (class, status), "{answer:?}");
        assert!(!failure.message.is_empty());
    }
}

#[test]
fn a_refused_connection_is_a_failed_connection() {
    let server = ScriptedServer::in_order(vec![]).unwrap();
    let options = options(&server);
    drop(server);
    let CompletionResult::ProviderFailure(failure) = ask(options, &question()) else { panic!() };
    assert_eq!(failure.class, Class::Connection);
    assert!(!failure.message.contains("127.0.0.1:"), "the URL stays out: {}", failure.message);
}

#[test]
fn retry_after_reaches_the_host() {
    let failure = failed(Scripted::error(429, "", "slow").header("Retry-After", "7"));
    assert_eq!(failure.retry_after_ms, Some(7_000));
    let failure =
        failed(Scripted::error(503, "", "slow").header("Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"));
    assert_eq!(failure.retry_after_ms, Some(0));
}

#[test]
fn the_body_has_what_was_asked_and_nothing_more() {
    let server = ScriptedServer::matching(|_| Scripted::replies(&["ok"])).unwrap();
    ask(options(&server), &question());
    let mut full = question();
    full.messages.insert(0, Message::system("be brief"));
    full.sampling = Sampling {
        temperature: Some(0.5),
        top_p: Some(0.9),
        max_tokens: Some(7),
        stop: vec!["END".into()],
        seed: Some(11),
        n: Some(3),
        logprobs: Some(true),
    };
    full.extra.insert("grammar".into(), "root ::= [a-z]".into());
    full.extra.insert("stream".into(), true.into());
    ask(options(&server), &full);
    let special = OpenAiOptions {
        max_tokens_field: Some(MaxTokensField::MaxCompletionTokens),
        omit: vec![Field::Seed, Field::N, Field::Stop],
        ..options(&server)
    };
    ask(special, &full);
    let sent: Vec<Value> = server.requests().iter().map(|r| r.json()).collect();
    assert_eq!(
        sent[0],
        json!({"model": "m", "messages": [{"role": "user", "content": "hello"}], "stream": false})
    );
    let messages = json!([{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]);
    assert_eq!(
        sent[1],
        json!({"model": "m", "messages": messages, "stream": false, "temperature": 0.5, "top_p": 0.9, "max_tokens": 7,
               "stop": ["END"], "seed": 11, "n": 3, "logprobs": true, "top_logprobs": 1, "grammar": "root ::= [a-z]"})
    );
    assert_eq!(
        sent[2],
        json!({"model": "m", "messages": messages, "stream": false, "temperature": 0.5, "top_p": 0.9,
               "max_completion_tokens": 7, "logprobs": true, "top_logprobs": 1, "grammar": "root ::= [a-z]"})
    );
}

#[test]
fn the_key_goes_into_its_header_and_nowhere_else() {
    let server = ScriptedServer::matching(|_| Scripted::replies(&["ok"])).unwrap();
    let host = SilentHost::default();
    let without = OpenAi::new(options(&server), None).unwrap();
    without.complete(&host, &question()).unwrap();
    let bearer = OpenAiOptions {
        api_key_env: Some("SCRIPTED_KEY".into()),
        organization: Some("org".into()),
        headers: [("X-Title".to_owned(), "blue".to_owned())].into(),
        ..options(&server)
    };
    let provider = OpenAi::new(bearer.clone(), Some(KEY)).unwrap();
    provider.complete(&host, &question()).unwrap();
    assert!(!format!("{provider:?}").contains(KEY));
    let plain = OpenAiOptions { api_key_header: Some("api-key".into()), ..bearer };
    OpenAi::new(plain, Some(KEY)).unwrap().complete(&host, &question()).unwrap();
    let requests = server.requests();
    assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v1/chat/completions"));
    assert!(
        requests[0].headers.iter().all(|(name, _)| name != "authorization" && !name.starts_with("openai"))
    );
    assert_eq!(requests[1].header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(
        (requests[1].header("openai-organization"), requests[1].header("x-title")),
        (Some("org"), Some("blue"))
    );
    assert_eq!((requests[2].header("api-key"), requests[2].header("authorization")), (Some(KEY), None));
}

#[test]
fn headers_that_may_carry_a_key_come_from_the_environment_alone() {
    for name in ["X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "x-functions-key", "X-Auth-Token", "X-Team"] {
        let headers = [(name.to_owned(), KEY.to_owned())].into();
        let failure = OpenAi::new(OpenAiOptions { headers, ..Default::default() }, None).unwrap_err();
        assert_eq!(failure.code, "provider.options");
        assert!(failure.message.contains(name) && !failure.message.contains(KEY), "{}", failure.message);
    }
    let server = ScriptedServer::matching(|_| Scripted::replies(&["ok"])).unwrap();
    let headers_env = [("X-Goog-Api-Key".to_owned(), "GEMINI_API_KEY".to_owned())].into();
    let named = OpenAiOptions { headers_env, ..options(&server) };
    let secrets = Secrets::from(BTreeMap::from([("headers_env.X-Goog-Api-Key".to_owned(), KEY.to_owned())]));
    let provider = <OpenAi as Plugin>::create(named.clone(), &secrets).unwrap();
    provider.complete(&SilentHost::default(), &question()).unwrap();
    assert_eq!(server.requests()[0].header("x-goog-api-key"), Some(KEY));
    assert!(!format!("{provider:?}").contains(KEY));
    let missing = <OpenAi as Plugin>::create(named, &Secrets::default()).unwrap_err();
    assert_eq!(missing.code, "provider.key");
    assert!(missing.message.contains("`GEMINI_API_KEY`"), "{}", missing.message);
}

#[test]
fn what_cannot_work_is_said_before_anything_is_sent() {
    let named = OpenAiOptions { api_key_env: Some("SCRIPTED_KEY".into()), ..Default::default() };
    for key in [None, Some("")] {
        let failure = OpenAi::new(named.clone(), key).unwrap_err();
        assert_eq!((failure.code.as_str(), failure.class), ("provider.key", FailureClass::Request));
        assert!(failure.message.contains("SCRIPTED_KEY"));
    }
    let failure = OpenAi::new(named, Some("sk-with-line-feed\n")).unwrap_err();
    assert_eq!(failure.code, "provider.key");
    assert!(!failure.message.contains("sk-with"));
    let wrong = OpenAiOptions {
        base_url: "ftp://user:pass@example.org".into(),
        timeout_s: 0.0,
        max_body_mb: 0,
        headers: [("Authorization".to_owned(), KEY.to_owned()), ("bad name".to_owned(), String::new())]
            .into(),
        ..Default::default()
    };
    let failure = OpenAi::new(wrong, None).unwrap_err();
    assert_eq!(failure.code, "provider.options");
    for part in ["base_url", "timeout_s", "max_body_mb", "Authorization", "bad name"] {
        assert!(failure.message.contains(part), "{part}: {}", failure.message);
    }
    assert!(!failure.message.contains(KEY) && !failure.message.contains("pass@"));
}

#[test]
fn answers_are_read_as_servers_write_them() {
    let replies = answered(json!({
        "model": "real-name",
        "choices": [
            {"index": 1, "finish_reason": "length", "message": {"content": [{"type": "text", "text": "b"}]},
             "logprobs": {"tokens": ["b"], "token_logprobs": [-0.25]}},
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "a"},
             "logprobs": {"content": [{"token": "a", "logprob": -0.1, "top_logprobs": []}]}},
            {"index": 2, "finish_reason": null, "message": {"content": null, "refusal": "no"}},
            {"index": 3, "finish_reason": "tool_calls", "message": {"content": null, "tool_calls": [
                {"type": "function", "function": {"name": "answer", "arguments": "{\"pddl\": \"(and)\"}"}}]}},
            {"index": 4, "finish_reason": "tool_calls", "message": {"content": "", "tool_calls": [
                {"type": "custom", "custom": {"name": "answer", "input": "(or)"}}]}},
            {"index": 5, "finish_reason": "tool_calls", "message": {"tool_calls": [
                {"type": "function", "function": {"name": "answer", "arguments": "{\"a\": 1, \"b\": \"x\"}"}}]}}
        ],
        "usage": {"prompt_tokens": 3}
    }));
    let told: Vec<_> = replies.replies.iter().map(|r| (r.content.as_str(), r.finish)).collect();
    assert_eq!(
        told,
        [
            ("a", FinishReason::Stop),
            ("b", FinishReason::Length),
            ("no", FinishReason::ContentFilter),
            ("(and)", FinishReason::Stop),
            ("(or)", FinishReason::Stop),
            (r#"{"a":1,"b":"x"}"#, FinishReason::Stop),
        ]
    );
    assert_eq!(replies.replies[0].log_likelihood(), Some(-0.1));
    assert_eq!(replies.replies[1].log_likelihood(), Some(-0.25));
    assert_eq!((replies.usage.prompt_tokens, replies.usage.completion_tokens), (Some(3), None));
    assert_eq!(replies.model, "real-name");
    assert!(replies.raw.contains("top_logprobs"), "the raw body is whole");
}

#[test]
fn a_body_beyond_the_limit_is_not_kept() {
    let huge = Scripted::raw(200, vec![b' '; 1_500_000]);
    let server = ScriptedServer::in_order(vec![huge]).unwrap();
    let CompletionResult::ProviderFailure(failure) =
        ask(OpenAiOptions { max_body_mb: 1, ..options(&server) }, &question())
    else {
        panic!()
    };
    assert_eq!(failure.class, Class::Malformed);
    assert!(failure.message.contains("max_body_mb"));
}

#[test]
fn an_interrupted_run_does_not_wait_for_the_server() {
    let server = ScriptedServer::in_order(vec![Scripted::stall()]).unwrap();
    let provider = OpenAi::new(OpenAiOptions { timeout_s: PATIENCE_S, ..options(&server) }, None).unwrap();
    let host = SilentHost::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while server.count() == 0 {
                std::thread::sleep(Duration::from_millis(5));
            }
            host.cancel();
        });
        let failure = provider.complete(&host, &question()).unwrap_err();
        assert_eq!(failure.class, FailureClass::Cancelled);
    });
}

#[test]
fn calls_of_many_threads_run_side_by_side() {
    // Two calls must be there before either is answered.
    let both = Barrier::new(2);
    let server = ScriptedServer::matching(move |r| {
        both.wait();
        Scripted::replies(&[&r.question()])
    })
    .unwrap();
    let provider = OpenAi::new(options(&server), None).unwrap();
    std::thread::scope(|scope| {
        for i in 0..8 {
            let provider = &provider;
            scope.spawn(move || {
                let mut request = question();
                request.messages[0].content = i.to_string();
                let result = provider.complete(&SilentHost::default(), &request).unwrap();
                let CompletionResult::Replies(replies) = result else { panic!() };
                assert_eq!(replies.replies[0].content, i.to_string());
            });
        }
    });
    assert_eq!(server.count(), 8);
}

#[test]
fn options_read_as_a_pipeline_file_writes_them_and_each_is_documented() {
    let table = json!({
        "base_url": "http://127.0.0.1:8081/v1", "timeout_s": 30, "max_tokens_field": "max_completion_tokens",
        "omit": ["seed", "logprobs"], "headers": {"X-Title": "blue"}
    });
    let options: OpenAiOptions = serde_json::from_value(table).unwrap();
    assert_eq!((options.timeout_s, options.omit), (30.0, vec![Field::Seed, Field::Logprobs]));
    let error = serde_json::from_value::<OpenAiOptions>(json!({"base_ur": "x"})).unwrap_err().to_string();
    assert!(error.contains("base_ur") && error.contains("base_url"), "{error}");
    let schema = planforge_plugin_sdk::schemars::schema_for!(OpenAiOptions).to_value();
    for (name, property) in schema["properties"].as_object().unwrap() {
        assert!(property["description"].is_string(), "{name} has no description");
    }
    assert_eq!(schema["additionalProperties"], false);
}
