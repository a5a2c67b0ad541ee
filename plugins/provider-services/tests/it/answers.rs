//! What every interface has in common: the same table of answers, on each of them.

use planforge_contract::api::Provider;
use planforge_contract::{CompletionRequest, CompletionResult, Message, Reply};
use planforge_plugin_sdk::testing::{AnswerEnd, AnswerPart, ServiceInterface};
use planforge_plugin_sdk::{Plugin, Secrets};
use planforge_provider_services::anthropic::Anthropic;
use planforge_provider_services::gemini::Gemini;
use planforge_provider_services::openai::{OpenAi, OpenAiOptions};
use planforge_testkit::{Scripted, ScriptedServer, SilentHost};
use serde_json::{Value, json};

/// The provider's result for a body of status 200.
fn result(interface: ServiceInterface, body: impl Into<Vec<u8>>) -> CompletionResult {
    let server = ScriptedServer::in_order(vec![Scripted::raw(200, body)]).unwrap();
    let base_url = server.base_url();
    let options = json!({"base_url": base_url, "timeout_s": 300.0});
    let open_ai = |interface: &str| {
        let table = json!({"base_url": base_url, "interface": interface, "timeout_s": 300.0});
        let options: OpenAiOptions = serde_json::from_value(table).unwrap();
        OpenAi::new(options, None).unwrap()
    };
    let provider: Box<dyn Provider> = match interface {
        ServiceInterface::ChatCompletions => Box::new(open_ai("chat")),
        ServiceInterface::Responses => Box::new(open_ai("responses")),
        ServiceInterface::Messages => Box::new(
            Anthropic::create(serde_json::from_value(options).unwrap(), &Secrets::default()).unwrap(),
        ),
        ServiceInterface::GenerateContent => {
            Box::new(Gemini::create(serde_json::from_value(options).unwrap(), &Secrets::default()).unwrap())
        }
    };
    let mut request = CompletionRequest {
        model: "m".into(),
        messages: vec![Message::user("go on")],
        ..CompletionRequest::default()
    };
    request.sampling.max_tokens = Some(64);
    provider.complete(&SilentHost::default(), &request).unwrap()
}

fn body(interface: ServiceInterface, text: &str) -> Value {
    interface.answer_body(&[AnswerPart::Text(text.to_owned())], AnswerEnd::Done)
}

fn reply(interface: ServiceInterface, body: impl Into<Vec<u8>>) -> Reply {
    match result(interface, body) {
        CompletionResult::Replies(replies) if replies.replies.len() == 1 => replies.replies[0].clone(),
        other => panic!("{interface:?}: {other:?}"),
    }
}

#[test]
fn a_byte_order_mark_before_a_body_is_skipped() {
    for interface in ServiceInterface::ALL {
        let marked = format!("\u{feff}{}", body(interface, "(and)"));
        assert_eq!(reply(interface, marked).content, "(and)", "{interface:?}");
    }
}
