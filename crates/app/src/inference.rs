//! Calls of `translator-asp` outside of runs.

use crate::catalogue::registry;
use crate::context::Context;
use planforge_contract::api::{Host, LogLevel, Translator};
use planforge_contract::{CandidatePatch, CreateRequest, Failure, FailureClass, Outcome, TranslateRequest};
use planforge_diagnostics::render::escape;
use planforge_translator_asp::AspTranslatorOptions;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The plugin that infers.
const PLUGIN: &str = "translator-asp";

/// An instance of the plugin with the child process that it keeps.
pub(crate) struct Inferrer {
    translator: Arc<dyn Translator>,
}

impl Inferrer {
    pub(crate) fn new(context: &Context, options: &AspTranslatorOptions) -> Result<Self, Failure> {
        let registry = registry(context);
        let options = serde_json::to_value(options).ok().and_then(|value| value.as_object().cloned());
        let request = CreateRequest { options: options.unwrap_or_default(), ..CreateRequest::default() };
        Ok(Self { translator: registry.create(PLUGIN, request)?.translator(&*registry.info(PLUGIN)?)? })
    }

    /// The first sample.
    pub(crate) fn call(
        &self,
        context: &Context,
        request: &TranslateRequest,
    ) -> Result<CandidatePatch, Failure> {
        let host = InferHost { context, interrupted: context.cancellation.watch() };
        let response = self.translator.translate(&host, request)?;
        let nothing = || Failure::new(FailureClass::Plugin, "pipeline.sample-count", "there is no sample");
        response.samples.into_iter().next().map_or_else(|| Err(nothing()), Outcome::into_result)
    }
}

/// The host of one inference. There is no run and no record, and the child process belongs to the plugin's
/// adapter.
struct InferHost<'a> {
    context: &'a Context,
    interrupted: Arc<AtomicBool>,
}

impl Host for InferHost<'_> {
    fn log(&self, level: LogLevel, message: &str) {
        if level == LogLevel::Warn {
            self.context.warn(escape(message));
        }
    }
    fn progress(&self, _done: u64, _total: u64, _what: &str) {}
    fn cancelled(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}
