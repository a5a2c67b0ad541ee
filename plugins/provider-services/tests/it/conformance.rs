//! Each provider meets the requirements on every provider, on each of its interfaces.

use planforge_contract::Failure;
use planforge_contract::api::Provider;
use planforge_plugin_sdk::testing::{ServiceInterface, provider_conformance};
use planforge_plugin_sdk::{Plugin, Secrets};
use planforge_provider_services::anthropic::Anthropic;
use planforge_provider_services::gemini::Gemini;
use planforge_provider_services::openai::{OpenAi, OpenAiOptions};
use serde_json::json;
use std::sync::Arc;

fn open_ai(base_url: &str, interface: &str) -> Result<Arc<dyn Provider>, Failure> {
    let table = json!({"base_url": base_url, "interface": interface, "timeout_s": 300.0});
    let options: OpenAiOptions = serde_json::from_value(table).unwrap();
    Ok(Arc::new(OpenAi::new(options, None)?))
}

fn create<P: Plugin + Provider + 'static>(base_url: &str) -> Result<Arc<dyn Provider>, Failure> {
    let options = serde_json::from_value(json!({"base_url": base_url, "timeout_s": 300.0})).unwrap();
    Ok(Arc::new(P::create(options, &Secrets::default())?))
}

#[test]
fn it_meets_the_requirements_of_messages() {
    assert_eq!(provider_conformance(ServiceInterface::Messages, &create::<Anthropic>), Ok(()));
}

#[test]
fn it_meets_the_requirements_of_generate_content() {
    assert_eq!(provider_conformance(ServiceInterface::GenerateContent, &create::<Gemini>), Ok(()));
}

#[test]
fn it_meets_the_requirements_of_chat_completions() {
    let create = |base_url: &str| open_ai(base_url, "auto");
    assert_eq!(provider_conformance(ServiceInterface::ChatCompletions, &create), Ok(()));
}

#[test]
fn it_meets_the_requirements_of_responses() {
    let create = |base_url: &str| open_ai(base_url, "responses");
    assert_eq!(provider_conformance(ServiceInterface::Responses, &create), Ok(()));
}

#[test]
fn a_provider_of_another_interface_does_not_pass() {
    let create = |base_url: &str| open_ai(base_url, "chat");
    let violations = provider_conformance(ServiceInterface::Messages, &create).unwrap_err();
    for part in ["`POST /v1/chat/completions`", "`anthropic-version`", "no field `/seed`", "a refusal: "] {
        assert!(violations.iter().any(|violation| violation.contains(part)), "{part}: {violations:#?}");
    }
}
