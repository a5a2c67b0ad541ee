//! Grammars in requests: the field that each server reads, and replies that come back through a tool.

use planforge_contract::api::Provider;
use planforge_contract::{CompletionRequest, CompletionResult, Constraint, Failure, Message};
use planforge_provider_services::openai::{OpenAi, OpenAiOptions};
use planforge_testkit::{Scripted, ScriptedServer, SilentHost};
use serde_json::{Value, json};

fn constraint() -> Constraint {
    let Value::Object(schema) = json!({"type": "object"}) else { panic!() };
    Constraint {
        gbnf: "root ::= \"a\"\n".into(),
        lark: "start: \"a\"\n".into(),
        schema: Some(schema),
        required: true,
    }
}

fn question(constraint: Option<Constraint>) -> CompletionRequest {
    CompletionRequest {
        model: "m".into(),
        messages: vec![Message::user("hello")],
        constraint,
        ..CompletionRequest::default()
    }
}

/// The body that is sent, and the text of the reply.
fn exchange(
    (interface, grammar): (&str, &str),
    constraint: Option<Constraint>,
    answer: Scripted,
) -> Result<(Value, String), Failure> {
    let server = ScriptedServer::in_order(vec![answer]).unwrap();
    let table = json!({"base_url": server.base_url(), "interface": interface, "grammar": grammar});
    let options: OpenAiOptions = serde_json::from_value(table).unwrap();
    let result = OpenAi::new(options, None)?.complete(&SilentHost::default(), &question(constraint))?;
    let CompletionResult::Replies(replies) = result else { panic!("the answer is a reply") };
    Ok((server.requests()[0].json(), replies.replies[0].content.clone()))
}

#[test]
fn each_server_gets_the_grammar_in_its_own_field() {
    let plain = exchange(("chat", "none"), None, Scripted::replies(&["a"])).unwrap().0;
    let schema = json!({"name": "answer", "schema": {"type": "object"}, "strict": true});
    for (grammar, field, value) in [
        ("llama-cpp", "grammar", json!(constraint().gbnf)),
        ("vllm", "structured_outputs", json!({"grammar": constraint().gbnf})),
        ("sglang", "ebnf", json!(constraint().gbnf)),
        ("json-schema", "response_format", json!({"type": "json_schema", "json_schema": schema})),
    ] {
        let (sent, reply) =
            exchange(("chat", grammar), Some(constraint()), Scripted::replies(&["a"])).unwrap();
        assert_eq!((&sent[field], &*reply), (&value, "a"), "{grammar}");
        let mut expected = plain.clone();
        expected[field] = value;
        assert_eq!(sent, expected, "nothing else changes");
        let without = exchange(("chat", grammar), None, Scripted::replies(&["a"])).unwrap().0;
        assert_eq!(without, plain, "a request without a grammar is as before");
    }
}

#[test]
fn responses_gets_a_custom_tool_whose_input_is_the_reply() {
    let call = json!({"type": "custom_tool_call", "name": "answer", "call_id": "c", "input": "(a)"});
    let body = json!({"status": "completed", "output": [call], "model": "m", "usage": {}});
    let answer = || Scripted::raw(200, body.to_string());
    let (sent, reply) = exchange(("responses", "custom-tool"), Some(constraint()), answer()).unwrap();
    assert_eq!(reply, "(a)");
    let format = json!({"type": "grammar", "syntax": "lark", "definition": constraint().lark});
    assert_eq!(sent["tools"][0]["format"], format);
    assert_eq!(sent["tool_choice"], json!({"type": "custom", "name": sent["tools"][0]["name"]}));
    let (sent, _) = exchange(("responses", "json-schema"), Some(constraint()), answer()).unwrap();
    assert_eq!(sent["text"]["format"]["schema"], json!({"type": "object"}));
    let (sent, _) = exchange(("responses", "custom-tool"), None, answer()).unwrap();
    assert_eq!((sent.get("tools"), sent.get("tool_choice"), sent.get("text")), (None, None, None));
}

#[test]
fn a_server_of_another_interface_and_a_required_schema_that_is_missing_are_refused() {
    for (interface, grammar) in [("chat", "custom-tool"), ("responses", "llama-cpp"), ("responses", "vllm")] {
        let failure =
            exchange((interface, grammar), Some(constraint()), Scripted::replies(&["a"])).unwrap_err();
        assert_eq!(failure.code, "provider.options", "{interface} {grammar}");
        assert!(failure.help.as_deref().unwrap().contains("`grammar` may be"), "{:?}", failure.help);
    }
    let bare = |required| Some(Constraint { schema: None, required, ..constraint() });
    let failure = exchange(("chat", "json-schema"), bare(true), Scripted::replies(&["a"])).unwrap_err();
    assert_eq!(failure.code, "provider.unsupported");
    let (sent, _) = exchange(("chat", "json-schema"), bare(false), Scripted::replies(&["a"])).unwrap();
    assert_eq!(sent.get("response_format"), None);
}
