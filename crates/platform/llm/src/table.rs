//! A model table with its provider, and the state of its limits.

use crate::caps::SpendingCaps;
use crate::gate::Gate;
use crate::pause::TablePause;
use crate::settings::ModelSettings;
use planforge_contract::api::Provider;
use planforge_contract::{CompletionRequest, Tags};
use std::sync::Arc;

/// One `[llm.NAME]` table with its provider.
#[derive(Clone)]
pub struct ModelTable {
    /// The host's keys of the table.
    pub settings: ModelSettings,
    /// The provider; replay needs none.
    pub provider: Option<Arc<dyn Provider>>,
    /// True if the provider declares the capability `simulated`, and so may see tags.
    pub simulated: bool,
    /// True if the provider declares that its service enforces the grammar of a request.
    pub enforces_grammars: bool,
}

impl ModelTable {
    /// A table with a real provider.
    pub fn new(settings: ModelSettings, provider: Option<Arc<dyn Provider>>) -> Self {
        Self { settings, provider, simulated: false, enforces_grammars: false }
    }

    /// Fills the fields that the request leaves out from the table.
    pub(crate) fn fill_defaults(&self, mut request: CompletionRequest) -> CompletionRequest {
        let settings = &self.settings;
        let sampling = &mut request.sampling;
        request.model.clone_from(&settings.model);
        sampling.temperature = sampling.temperature.or(settings.temperature);
        sampling.top_p = sampling.top_p.or(settings.top_p);
        sampling.max_tokens = sampling.max_tokens.or(settings.max_tokens);
        sampling.seed = sampling.seed.or(settings.seed);
        sampling.logprobs = sampling.logprobs.or(settings.logprobs);
        if sampling.stop.is_empty() {
            sampling.stop.clone_from(&settings.stop);
        }
        for (key, value) in &settings.extra_body {
            request.extra.entry(key.clone()).or_insert_with(|| value.clone());
        }
        if !self.enforces_grammars {
            // A required grammar stays, and the request fails before it is sent.
            request.constraint = request.constraint.filter(|constraint| constraint.required);
        }
        if !self.simulated {
            request.tags = Tags::default();
        }
        request
    }
}

/// The limits of one table while a run lasts.
pub(crate) struct TableState {
    pub(crate) gate: Gate,
    pub(crate) caps: SpendingCaps,
    pub(crate) pause: TablePause,
}

impl TableState {
    pub(crate) fn new(settings: &ModelSettings) -> Self {
        Self {
            gate: Gate::new(settings.max_concurrency, settings.requests_per_minute),
            caps: SpendingCaps::new(settings),
            pause: TablePause::default(),
        }
    }
}
