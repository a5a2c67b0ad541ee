//! `provider-client`: the model of the program that started a run.
//!
//! `planforge serve mcp` puts the connection to its client in the place of this provider (MCP sampling), the Python module the model object of
//! the call. Any other command has no such model, so a request fails; a replay needs none.

use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of `provider-client`: there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClientProviderOptions {}

#[derive(Debug)]
pub struct ClientModel;

impl Plugin for ClientModel {
    type Options = ClientProviderOptions;

    fn about() -> About {
        About::new("Asks the model of the program that started the run: an MCP client, or a Python program")
    }

    fn create(_: ClientProviderOptions, _: &Secrets) -> Result<Self, Failure> {
        Ok(Self)
    }
}

impl Provider for ClientModel {
    fn complete(&self, _: &dyn Host, _: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let message =
            "`provider-client` asks the model of the program that started the run, and this one has none";
        Err(Failure::new(FailureClass::Request, "mcp.client", message)
            .help("name another provider, run the pipeline with the tool `run` of `planforge serve mcp`, or pass `model=` in Python"))
    }
}

planforge_plugin_sdk::bundle_plugin!(Provider, ClientModel);

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::api::NoHost;

    #[test]
    fn outside_of_a_client_s_run_a_request_fails_with_help() {
        let failure = ClientModel.complete(&NoHost, &CompletionRequest::default()).unwrap_err();
        assert_eq!(failure.code, "mcp.client");
        assert!(failure.help.is_some());
    }
}
