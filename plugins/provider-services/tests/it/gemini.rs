//! Requests and responses in the shapes of Google's reference (generateContent, v1beta, read in 2026-11), against a scripted
//! server. Not tried against the live service.

use planforge_contract::api::Provider;
use planforge_contract::{
    CompletionRequest, CompletionResult, FinishReason, Message, ProviderFailure,
    ProviderFailureClass as Class, Replies, ReplySchema, Sampling,
};
use planforge_plugin_sdk::{Plugin, Secrets};
use planforge_provider_services::gemini::{Gemini, GeminiOptions};
use planforge_testkit::{Scripted, ScriptedServer, SilentHost};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const KEY: &str = "AIza-scripted-0123456789";

fn provider(server: &ScriptedServer, further: Value) -> Gemini {
    let mut table =
        json!({"base_url": server.base_url(), "api_key_env": "GEMINI_API_KEY", "timeout_s": 300.0});
    table.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    let options: GeminiOptions = serde_json::from_value(table).unwrap();
    let secrets = Secrets::from(BTreeMap::from([("api_key_env".to_owned(), KEY.to_owned())]));
    Gemini::create(options, &secrets).unwrap()
}

fn question() -> CompletionRequest {
    CompletionRequest {
        model: "gemini-x".into(),
        messages: vec![
            Message::system("be brief"),
            Message::user("hello"),
            Message::assistant("(:action"),
            Message::user("go on"),
        ],
        sampling: Sampling { max_tokens: Some(64), ..Sampling::default() },
        ..CompletionRequest::default()
    }
}

fn candidates(candidates: Value) -> Scripted {
    let body = json!({
        "candidates": candidates, "modelVersion": "gemini-x-001",
        "usageMetadata": {"promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 5, "thoughtsTokenCount": 100, "totalTokenCount": 115}
    });
    Scripted::raw(200, body.to_string())
}

fn result(answer: Scripted) -> CompletionResult {
    let server = ScriptedServer::in_order(vec![answer]).unwrap();
    let result = provider(&server, json!({})).complete(&SilentHost::default(), &question()).unwrap();
    assert_eq!(server.count(), 1);
    result
}

fn replies(answer: Scripted) -> Replies {
    let result = result(answer);
    let CompletionResult::Replies(replies) = result else { panic!("{result:?}") };
    replies
}

fn failure(answer: Scripted) -> ProviderFailure {
    let result = result(answer);
    let CompletionResult::ProviderFailure(failure) = result else { panic!("{result:?}") };
    failure
}

#[test]
fn a_request_has_the_interface_s_fields_and_headers() {
    let server = ScriptedServer::matching(|_| candidates(json!([{"finishReason": "STOP"}]))).unwrap();
    let mut request = question();
    request.sampling = Sampling {
        temperature: Some(0.5),
        top_p: Some(0.9),
        stop: vec!["END".into()],
        seed: Some(u64::MAX),
        logprobs: Some(true),
        ..request.sampling
    };
    request.extra.insert("generationConfig".into(), json!({"responseMimeType": "text/plain"}));
    request.extra.insert("safetySettings".into(), json!([]));
    provider(&server, json!({"reasoning": 512, "cache": true}))
        .complete(&SilentHost::default(), &request)
        .unwrap();
    let asked = &server.requests()[0];
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/models/gemini-x:generateContent"));
    assert_eq!((asked.header("x-goog-api-key"), asked.header("authorization")), (Some(KEY), None));
    assert_eq!(
        asked.json(),
        json!({
            "systemInstruction": {"parts": [{"text": "be brief"}]},
            "contents": [{"role": "user", "parts": [{"text": "hello"}]}, {"role": "model", "parts": [{"text": "(:action"}]},
                         {"role": "user", "parts": [{"text": "go on"}]}],
            "generationConfig": {"temperature": 0.5, "topP": 0.9, "maxOutputTokens": 64, "stopSequences": ["END"],
                "seed": 2147483647, "responseLogprobs": true, "thinkingConfig": {"thinkingBudget": 512, "includeThoughts": true},
                "responseMimeType": "text/plain"},
            "safetySettings": []
        })
    );
}

#[test]
fn reasoning_is_off_a_level_or_a_number_of_tokens() {
    let server = ScriptedServer::matching(|_| candidates(json!([{"finishReason": "STOP"}]))).unwrap();
    for reasoning in [json!("none"), json!("low"), json!(7)] {
        provider(&server, json!({"reasoning": reasoning}))
            .complete(&SilentHost::default(), &question())
            .unwrap();
    }
    let sent: Vec<Value> =
        server.requests().iter().map(|r| r.json()["generationConfig"]["thinkingConfig"].clone()).collect();
    assert_eq!(
        sent,
        [
            json!({"thinkingBudget": 0}),
            json!({"thinkingLevel": "low", "includeThoughts": true}),
            json!({"thinkingBudget": 7, "includeThoughts": true})
        ]
    );
}

#[test]
fn a_schema_of_the_reply_is_part_of_the_configuration() {
    let server = ScriptedServer::matching(|_| candidates(json!([{"finishReason": "STOP"}]))).unwrap();
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let named = ReplySchema { name: "plan".into(), schema: schema.as_object().unwrap().clone() };
    let request = CompletionRequest { schema: Some(named), ..question() };
    provider(&server, json!({})).complete(&SilentHost::default(), &request).unwrap();
    let config = &server.requests()[0].json()["generationConfig"];
    assert_eq!(config["responseMimeType"], "application/json");
    assert_eq!(config["responseJsonSchema"], schema);
}

#[test]
fn a_model_s_name_cannot_leave_its_place_in_the_path() {
    let server = ScriptedServer::matching(|_| candidates(json!([{"finishReason": "STOP"}]))).unwrap();
    let ask = |model: &str| {
        let request = CompletionRequest { model: model.into(), ..question() };
        provider(&server, json!({})).complete(&SilentHost::default(), &request)
    };
    for model in ["", "../files", "x?key=1", "a b"] {
        assert_eq!(ask(model).unwrap_err().code, "provider.unsupported", "{model}");
    }
    assert_eq!(server.count(), 0);
    ask("tunedModels/mine").unwrap();
    assert_eq!(server.requests()[0].path, "/v1/tunedModels/mine:generateContent");
}

#[test]
fn reasoning_stays_apart_from_the_reply_and_is_counted_as_output() {
    let told = replies(candidates(json!([
        {"content": {"role": "model", "parts": [{"text": "hmm", "thought": true}, {"text": "(and"}, {"text": ")"}]},
         "finishReason": "STOP", "index": 0,
         "logprobsResult": {"chosenCandidates": [{"token": "(and", "logProbability": -0.5}, {"token": ")", "logProbability": -0.25}]}},
        {"content": {"parts": [{"functionCall": {"name": "answer", "args": {"pddl": "(or)"}}}]}, "finishReason": "STOP"}
    ])));
    assert_eq!((told.replies[0].content.as_str(), told.replies[0].log_likelihood()), ("(and)", Some(-0.75)));
    assert_eq!(told.replies[0].thought.as_deref(), Some("hmm"));
    assert_eq!((told.replies[1].content.as_str(), told.replies[1].thought.as_deref()), ("(or)", None));
    assert_eq!((told.usage.prompt_tokens, told.usage.completion_tokens), (Some(10), Some(105)));
    assert_eq!((told.usage.cached_tokens, told.usage.reasoning_tokens), (Some(4), Some(100)));
    assert_eq!(told.model, "gemini-x-001");
}

#[test]
fn each_end_of_a_reply_has_its_reason() {
    for (reason, finish) in [
        ("STOP", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::Length),
        ("SAFETY", FinishReason::ContentFilter),
        ("PROHIBITED_CONTENT", FinishReason::ContentFilter),
        ("OTHER", FinishReason::Other),
    ] {
        assert_eq!(
            replies(candidates(json!([{"finishReason": reason}]))).replies[0].finish,
            finish,
            "{reason}"
        );
    }
    let blocked = Scripted::raw(200, json!({"promptFeedback": {"blockReason": "SAFETY"}}).to_string());
    let told = replies(blocked);
    assert_eq!(told.replies[0].refusal.as_deref(), Some("SAFETY"));
    assert_eq!(told.replies[0].finish, FinishReason::ContentFilter);
}

#[test]
fn each_failure_has_its_class() {
    for (status, name, message, class) in [
        (400, "INVALID_ARGUMENT", "Unknown name", Class::BadRequest),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            Class::ContextOverflow,
        ),
        (403, "PERMISSION_DENIED", "no access", Class::Authentication),
        (404, "NOT_FOUND", "models/gemini-x is not found", Class::NotFound),
        (429, "RESOURCE_EXHAUSTED", "quota", Class::RateLimited),
        (500, "INTERNAL", "internal", Class::Server),
        (503, "UNAVAILABLE", "The model is overloaded", Class::Server),
        (504, "DEADLINE_EXCEEDED", "late", Class::Server),
    ] {
        let body = json!({"error": {"code": status, "message": message, "status": name}});
        let failed = failure(Scripted::raw(status, body.to_string()));
        assert_eq!((failed.class, failed.status), (class, Some(status)), "{failed:?}");
        assert!(failed.message.contains(message), "{failed:?}");
    }
    assert_eq!(failure(Scripted::raw(200, "{}")).class, Class::Malformed);
    assert_eq!(failure(Scripted::raw(200, "[]").half_body()).class, Class::Connection);
}

#[test]
fn the_key_is_in_no_message_and_each_option_is_documented() {
    let server = ScriptedServer::in_order(Vec::new()).unwrap();
    assert!(!format!("{:?}", provider(&server, json!({}))).contains(KEY));
    let options = GeminiOptions { api_key_env: Some("GEMINI_API_KEY".into()), ..Default::default() };
    assert_eq!(Gemini::create(options, &Secrets::default()).unwrap_err().code, "provider.key");
    let schema = planforge_plugin_sdk::schemars::schema_for!(GeminiOptions).to_value();
    for (name, property) in schema["properties"].as_object().unwrap() {
        assert!(property["description"].is_string(), "{name} has no description");
    }
}
