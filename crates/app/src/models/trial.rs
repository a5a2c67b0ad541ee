//! Requests to a model that is tried. Each goes to the provider at once, without retries, journal or cassette.

use crate::context::Context;
use crate::error::Error;
use crate::pipelines::consent::Consent;
use crate::pipelines::prepare::{Preparation, Prepared, prepare};
use crate::status::Status;
use planforge_contract::api::{NoHost, Provider};
use planforge_contract::{
    CompletionRequest, CompletionResult, Failure, FailureClass, JsonObject, Message, PluginInfo, Price,
    ProviderFailure, Replies, Sampling, Usage,
};
use planforge_llm::{ModelSettings, TableChange, error_hint};
use planforge_pipeline::{GivenSpec, LlmTable, Pipeline, RunLimits};
use planforge_plugin_host::Registry;
use planforge_record::Redactor;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Most requests of a trial.
pub const MOST_REQUESTS: u32 = 16;

/// Most tokens of a reply where the table says nothing. Reasoning counts too.
const REPLY_TOKENS: u32 = 1024;

/// The end of a request without replies.
#[derive(Debug)]
pub(super) enum Refused {
    /// The server's failure, without secrets.
    Server(ProviderFailure),
    /// The provider refused the request, or broke.
    Provider(Failure),
}

/// A model table that is tried, and what its requests used.
pub(super) struct Trial<'a> {
    pub(super) context: &'a Context,
    pub(super) registry: &'a Registry,
    pub(super) consent: &'a Consent,
    pub(super) folder: &'a Path,
    /// Name of the table, for messages.
    pub(super) name: String,
    /// Name and text of the pipeline file; the text is empty for a table that is in none.
    pub(super) file: (String, String),
    pub(super) table: LlmTable,
    pub(super) requests: u32,
    pub(super) usages: Vec<Usage>,
}

/// A provider that was created from the table.
pub(super) struct Connection {
    pub(super) settings: ModelSettings,
    provider: Arc<dyn Provider>,
    redactor: Redactor,
}

impl Trial<'_> {
    /// Creates the provider from the table.
    ///
    /// # Errors
    /// Everything wrong with it.
    pub(super) fn connect(&self) -> Result<Connection, Error> {
        self.try_connect().map_err(|failures| Error::failures(failures, Status::Plugin))
    }

    /// Creates the provider from the table, or returns what is wrong with it.
    pub(super) fn try_connect(&self) -> Result<Connection, Vec<Failure>> {
        let with = Preparation {
            context: self.context,
            registry: self.registry,
            name: &self.file.0,
            text: &self.file.1,
            folder: self.folder,
            replays: false,
            consent: self.consent,
        };
        let Prepared { mut model_tables, secrets, .. } =
            prepare(&pipeline_of(&self.name, &self.table), &with)?;
        let table = model_tables.remove(&self.name);
        let connected = table.and_then(|table| Some((table.settings, table.provider?)));
        let Some((settings, provider)) = connected else { return Err(Vec::new()) };
        if let Some(problem) = settings.problems().first() {
            return Err(vec![Failure::new(FailureClass::Request, "llm.config", problem.message.clone())]);
        }
        Ok(Connection { settings, provider, redactor: Redactor::new(&secrets) })
    }

    /// The description of the table's provider.
    pub(super) fn info(&self) -> Option<Arc<PluginInfo>> {
        self.registry.info(&self.table.plugin).ok()
    }

    /// True if the provider sends grammars with these settings of the table.
    pub(super) fn enforces_grammars(&self) -> bool {
        self.info().is_some_and(|info| info.enforces_grammars(&self.table.provider_options()))
    }

    /// Sends a request once.
    pub(super) fn send(
        &mut self,
        connection: &Connection,
        request: CompletionRequest,
    ) -> Result<Replies, Refused> {
        if self.requests >= MOST_REQUESTS {
            let message = format!("the trial ends after {MOST_REQUESTS} requests");
            return Err(Refused::Provider(Failure::new(FailureClass::Budget, "llm.budget", message)));
        }
        self.requests += 1;
        let redactor = &connection.redactor;
        match connection.provider.complete(&NoHost, &request) {
            Ok(CompletionResult::Replies(mut replies)) => {
                self.usages.push(replies.usage);
                for reply in &mut replies.replies {
                    reply.content = redactor.text(&reply.content).into_owned();
                }
                replies.model = redactor.text(&replies.model).into_owned();
                Ok(replies)
            }
            Ok(CompletionResult::ProviderFailure(failure)) => {
                Err(Refused::Server(redactor.provider_failure(failure)))
            }
            Ok(CompletionResult::Pending { .. }) => {
                let message =
                    format!("`{}` answers later, and a trial needs its answers at once", self.table.plugin);
                Err(Refused::Provider(Failure::new(FailureClass::Request, "cli.deferred", message)))
            }
            Err(failure) => {
                // Not sent, as far as the failure tells.
                self.requests -= u32::from(failure.class == FailureClass::Request);
                Err(Refused::Provider(redactor.failure(failure)))
            }
        }
    }

    /// Applies the change that solves a server's failure. Returns it as TOML; `None` if there is none, or the table has it.
    pub(super) fn adapt(&mut self, connection: &Connection, failure: &ProviderFailure) -> Option<String> {
        let settings = &connection.settings;
        let hint = error_hint(&self.name, &settings.provider, &settings.model, failure)?;
        let table = &mut self.table.settings;
        match hint.change? {
            TableChange::Set(key, text) => {
                let value = parse_value(text)?;
                (table.insert(key.to_owned(), value.clone()) != Some(value))
                    .then(|| format!("{key} = {text}"))
            }
            TableChange::Omit(field) => {
                let omit = table.entry("omit").or_insert_with(|| Value::Array(Vec::new())).as_array_mut()?;
                if omit.iter().any(|known| known == field) {
                    return None;
                }
                omit.push(field.into());
                Some(format!("omit = {}", Value::Array(omit.clone())))
            }
            TableChange::Remove(key) => table.remove(key).map(|_| format!("no `{key}`")),
        }
    }

    /// The sum of what was used; a count that a server left out is absent.
    pub(super) fn usage(&self) -> (Option<u64>, Option<u64>) {
        let sum = |count: fn(&Usage) -> Option<u64>| self.usages.iter().map(count).sum::<Option<u64>>();
        (sum(|usage| usage.prompt_tokens), sum(|usage| usage.completion_tokens))
    }

    /// US dollars, where price and counts are known.
    pub(super) fn cost(&self, price: &Price) -> Option<f64> {
        self.usages.iter().map(|usage| price.cost(usage)).sum()
    }
}

impl Connection {
    /// A request with the table's sampling.
    pub(super) fn request(&self, question: &str) -> CompletionRequest {
        let settings = &self.settings;
        CompletionRequest {
            model: settings.model.clone(),
            messages: vec![Message::user(question)],
            sampling: Sampling {
                temperature: settings.temperature,
                top_p: settings.top_p,
                max_tokens: settings.max_tokens.or(Some(REPLY_TOKENS)),
                stop: settings.stop.clone(),
                ..Sampling::default()
            },
            extra: settings.extra_body.clone(),
            ..CompletionRequest::default()
        }
    }
}

fn parse_value(text: &str) -> Option<Value> {
    let table: JsonObject = toml::from_str(&format!("value = {text}")).ok()?;
    table.get("value").cloned()
}

/// A pipeline with this model and nothing else.
fn pipeline_of(name: &str, table: &LlmTable) -> Pipeline {
    Pipeline {
        schema: planforge_pipeline::PIPELINE_SCHEMA,
        about: String::new(),
        seed: 0,
        feedback: None,
        given: GivenSpec::default(),
        obfuscate: None,
        limits: RunLimits::default(),
        llm: [(name.to_owned(), table.clone())].into(),
        environment: None,
        stages: Vec::new(),
    }
}
