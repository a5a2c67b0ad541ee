//! A verifier that is right in everything but its epoch.
use planforge_plugin_sdk::kinds;
use planforge_plugin_sdk::prelude::*;

/// None.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Options {}

/// Accepts nothing, because it is never asked.
#[derive(Debug)]
pub struct FromTheFuture;

impl Plugin for FromTheFuture {
    type Options = Options;
    fn about() -> About {
        About::new("Built for another epoch")
    }
    fn create(_options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self)
    }
}

impl Verifier for FromTheFuture {
    fn verify(&self, _host: &dyn Host, _request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        Ok(VerifyResponse { results: vec![] })
    }
}

planforge_plugin_sdk::bundle_plugin!(
    @raw "planforge_misbehave_epoch", planforge_plugin_sdk::EPOCH + 41, kinds::Verifier, FromTheFuture
);
