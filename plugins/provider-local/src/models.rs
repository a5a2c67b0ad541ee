//! The models of this process. Each file is loaded once and stays loaded; all requests to it take turns.

use crate::file::{Sizes, check_memory, model_failure};
use crate::options::LocalOptions;
use crate::sample::grammar_failure;
use crate::session::{CHUNK, Session, go_on};
use llama_cpp_2::LogOptions;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llguidance::ParserFactory;
use llguidance::toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};
use planforge_plugin_sdk::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Time between two looks if the model is free.
const TICK: Duration = Duration::from_millis(20);

static BACKEND: OnceLock<Option<LlamaBackend>> = OnceLock::new();
static MODELS: Mutex<BTreeMap<PathBuf, &'static Model>> = Mutex::new(BTreeMap::new());

/// A model's file, and what is loaded of it.
pub(crate) struct Model {
    path: PathBuf,
    sizes: Sizes,
    weights: OnceLock<LlamaModel>,
    factory: OnceLock<Result<ParserFactory, String>>,
    session: Mutex<Option<Session>>,
}

/// The model of a file, which need not be loaded yet.
///
/// # Errors
/// `local.model`.
pub(crate) fn find(path: &str) -> Result<&'static Model, Failure> {
    // llama.cpp's log goes to `tracing`, where nothing reads it.
    BACKEND.get_or_init(|| {
        llama_cpp_2::send_logs_to_tracing(LogOptions::default());
        LlamaBackend::init().ok()
    });
    let path = Path::new(path);
    let full = path.canonicalize().map_err(|error| model_failure(path, &error.to_string()))?;
    let mut models = MODELS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(model) = models.get(&full) {
        return Ok(model);
    }
    let sizes = Sizes::read(path)?;
    let (weights, factory, session) = Default::default();
    let model: &'static Model =
        Box::leak(Box::new(Model { path: path.to_owned(), sizes, weights, factory, session }));
    models.insert(full, model);
    Ok(model)
}

impl Model {
    /// Waits until no other request uses the model.
    ///
    /// # Errors
    /// `provider.cancelled`, `local.deadline`.
    pub(crate) fn turn(&self, host: &dyn Host) -> Result<MutexGuard<'_, Option<Session>>, Failure> {
        loop {
            match self.session.try_lock() {
                Ok(session) => return Ok(session),
                Err(TryLockError::Poisoned(broken)) => {
                    // A request panicked, so the state of the cache is unknown.
                    let mut session = broken.into_inner();
                    *session = None;
                    self.session.clear_poison();
                    return Ok(session);
                }
                Err(TryLockError::WouldBlock) => {}
            }
            go_on(host)?;
            host.progress(0, 0, "waits for the model");
            std::thread::sleep(TICK);
        }
    }

    /// The model and its cache with these options; what is not there yet is loaded.
    ///
    /// # Errors
    /// `local.model`, `local.memory`.
    pub(crate) fn ready<'a>(
        &'static self,
        slot: &'a mut Option<Session>,
        options: &LocalOptions,
        host: &dyn Host,
    ) -> Result<(&'static LlamaModel, &'a mut Session), Failure> {
        if slot.as_ref().is_some_and(|session| session.options != *options) {
            *slot = None;
        }
        let model = match (self.weights.get(), &slot) {
            (Some(model), Some(_)) => model,
            (loaded, _) => {
                let weights = if loaded.is_some() { 0 } else { self.sizes.weights };
                let cache = self.sizes.token.saturating_mul(u64::from(options.context));
                check_memory(host, &self.path, (weights, cache, options.context), options.memory_mb)?;
                match loaded {
                    Some(model) => model,
                    None => {
                        let model = self.load()?;
                        self.weights.get_or_init(|| model)
                    }
                }
            }
        };
        let session = match slot.take() {
            Some(session) => session,
            None => self.session(model, options)?,
        };
        Ok((model, slot.insert(session)))
    }

    fn backend(&self) -> Result<&'static LlamaBackend, Failure> {
        let backend = BACKEND.get().and_then(Option::as_ref);
        backend.ok_or_else(|| model_failure(&self.path, "llama.cpp cannot be started"))
    }

    fn load(&self) -> Result<LlamaModel, Failure> {
        let backend = self.backend()?;
        let errors = Errors::default();
        let dispatch = tracing::Dispatch::new(errors.clone());
        let loaded = tracing::dispatcher::with_default(&dispatch, || {
            LlamaModel::load_from_file(backend, &self.path, &LlamaModelParams::default())
        });
        loaded.map_err(|_| model_failure(&self.path, &errors.first()))
    }

    fn session(&self, model: &'static LlamaModel, options: &LocalOptions) -> Result<Session, Failure> {
        let processors = || std::thread::available_parallelism().map_or(1, |count| count.get() as u16);
        let threads = i32::from(options.threads.unwrap_or_else(processors));
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(options.context))
            .with_n_batch(CHUNK as u32)
            .with_n_ubatch(CHUNK as u32)
            .with_n_seq_max(options.samples + 1)
            .with_kv_unified(true)
            .with_n_threads(threads)
            .with_n_threads_batch(threads);
        let context = model.new_context(self.backend()?, params).map_err(|_| {
            model_failure(
                &self.path,
                "llama.cpp has no cache for it; it may be too large, or not a model that writes",
            )
        })?;
        Ok(Session::new(model, context, options.clone()))
    }

    /// Compiles grammars for the model's tokens.
    ///
    /// # Errors
    /// `local.grammar`.
    pub(crate) fn factory(&self, model: &LlamaModel) -> Result<&ParserFactory, Failure> {
        self.factory.get_or_init(|| make_factory(model)).as_ref().map_err(|error| grammar_failure(error))
    }
}

fn make_factory(model: &LlamaModel) -> Result<ParserFactory, String> {
    let vocabulary = model.vocab();
    let ends: Vec<u32> =
        vocabulary.tokens().filter(|token| vocabulary.is_eog(*token)).map(|token| token.0 as u32).collect();
    let end = *ends.first().ok_or("the model has no token that ends a reply")?;
    // A token without text, such as `<|im_start|>`, is in no grammar.
    let words: Vec<Vec<u8>> =
        vocabulary.tokens().map(|token| vocabulary.token_to_piece(token, false, None)).collect();
    let tokens = TokTrie::from(&TokRxInfo::new(words.len() as u32, end), &words).with_eos_tokens(&ends);
    let env: TokEnv = Arc::new(ApproximateTokEnv::new(tokens));
    let mut factory = ParserFactory::new_simple(&env).map_err(|error| error.to_string())?;
    factory.quiet();
    Ok(factory)
}

/// Collects the errors that llama.cpp logs in this thread.
#[derive(Clone, Default)]
struct Errors(Arc<Mutex<Vec<String>>>);

impl Errors {
    fn first(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.first().map_or("llama.cpp gives no reason", |line| line.trim()).to_owned()
    }
}

impl Subscriber for Errors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            if field.name() == "message" {
                let line = format!("{value:?}").trim_matches('"').to_owned();
                self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
