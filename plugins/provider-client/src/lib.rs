//! `provider-client`: the model of the MCP client that started a run.
//!
//! `planforge serve mcp` puts the connection to its client in the place of this provider (MCP sampling). Any other command has no client,
//! so a request fails; a replay needs none.

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
        About::new("Asks the model of the MCP client that started the run, in `planforge serve mcp` alone")
    }

    fn create(_: ClientProviderOptions, _: &Secrets) -> Result<Self, Failure> {
        Ok(Self)
    }
}

impl Provider for ClientModel {
    fn complete(&self, _: &dyn Host, _: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let message = "`provider-client` asks the client of `planforge serve mcp`, and this command has none";
        Err(Failure::new(FailureClass::Request, "mcp.client", message)
            .help("name another provider, or run the pipeline with the tool `run` of `planforge serve mcp`"))
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
