//! {{NAME}}: a provider that gives the same reply to every question.
#![forbid(unsafe_code)]

use planforge_plugin_sdk::prelude::*;

/// The options table of the pipeline file. Doc comments are what users read; unknown keys are errors.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
pub struct Options {
    /// The reply.
    #[serde(default)]
    pub reply: String,
}

/// The provider.
#[derive(Debug)]
pub struct NewPlugin(Options);

impl Plugin for NewPlugin {
    type Options = Options;
    fn about() -> About {
        About::new("Gives the same reply to every question").simulated()
    }
    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self(options))
    }
}

impl Provider for NewPlugin {
    // One question, one attempt: retries, limits and further samples are the host's.
    fn complete(&self, _host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let reply = Reply::new(self.0.reply.clone(), FinishReason::Stop);
        let model = request.model.clone();
        Ok(CompletionResult::Replies(Replies {
            replies: vec![reply],
            usage: Usage::default(),
            model,
            raw: String::new(),
        }))
    }
}

planforge_plugin_sdk::export_plugin!(Provider, NewPlugin);
