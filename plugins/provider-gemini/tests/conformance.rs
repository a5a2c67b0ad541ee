//! The provider meets the requirements on every provider.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use planforge_contract::Failure;
use planforge_contract::api::Provider;
use planforge_plugin_sdk::testing::{ServiceInterface, provider_conformance};
use planforge_plugin_sdk::{Plugin, Secrets};
use planforge_provider_gemini::{Gemini, GeminiOptions};
use serde_json::json;
use std::sync::Arc;

fn create(base_url: &str) -> Result<Arc<dyn Provider>, Failure> {
    let options: GeminiOptions =
        serde_json::from_value(json!({"base_url": base_url, "timeout_s": 300.0})).unwrap();
    Ok(Arc::new(Gemini::create(options, &Secrets::default())?))
}

#[test]
fn it_meets_the_requirements_of_generate_content() {
    assert_eq!(provider_conformance(ServiceInterface::GenerateContent, &create), Ok(()));
}
