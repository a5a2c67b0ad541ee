//! A checked pipeline with its plugins, and the instances made from it.

use crate::catalogue::registry;
use crate::context::Context;
use crate::error::Error;
use crate::events::Notice;
use crate::pipelines::consent::Consent;
use crate::pipelines::prepare::{Preparation, Prepared, prepare};
use crate::pipelines::prices::{ListedPrice, Prices};
use crate::status::Status;
use planforge_contract::{Failure, FailureClass, JsonObject, PluginInfo, Price};
use planforge_llm::Mode;
use planforge_pipeline::{Catalogue, CatalogueError, CheckedPipeline, OptionProblem, OptionProblemKind};
use planforge_plugin_host::Registry;
use planforge_record::{MIN_SECRET_BYTES, Redactor, RunManifest};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The plugins and prices that pipelines are checked against. The cells of an evaluation share them, because loading all plugins takes
/// most of the time of a check.
pub(crate) struct PluginsAndPrices {
    pub(crate) registry: Arc<Registry>,
    pub(crate) prices: Prices,
}

impl PluginsAndPrices {
    pub(crate) fn new(context: &Context) -> Result<Self, Error> {
        Ok(Self { registry: Arc::new(registry(context)), prices: Prices::listed(context)? })
    }

    /// Checks the pipeline text of a new run.
    ///
    /// # Errors
    /// Its mistakes.
    pub(crate) fn check(
        &self,
        context: &Context,
        text: &str,
        name: &str,
        overrides: &[String],
    ) -> Result<LoadedPipeline, Error> {
        let registry = Arc::clone(&self.registry);
        let loaded = check_with(context, (text, name, overrides), registry, self.prices.unused())?;
        for (name, price) in &loaded.listed_prices {
            context.note_once(Notice::PriceListed { table: name.clone(), entry: price.line() });
        }
        Ok(loaded)
    }
}

/// A pipeline without mistakes, and the plugins that it was checked against.
pub(crate) struct LoadedPipeline {
    pub(crate) registry: Arc<Registry>,
    pub(crate) pipeline: CheckedPipeline,
    /// The prices from a list, by model table.
    pub(crate) listed_prices: BTreeMap<String, ListedPrice>,
}

impl LoadedPipeline {
    /// Takes the listed prices that a recorded run was made with.
    pub(crate) fn use_recorded_prices(&mut self, manifest: &RunManifest) {
        let recorded = Prices::recorded(manifest);
        for (name, table) in &mut self.pipeline.config.llm {
            if self.listed_prices.contains_key(name) {
                table.settings.remove("price");
            }
            if !table.settings.contains_key("price")
                && let Ok(info) = self.registry.info(&table.plugin)
                && let Some(price) = recorded.find(name, &info, &table.settings)
                && let Ok(price) = serde_json::to_value(price)
            {
                table.settings.insert("price".to_owned(), price);
            }
        }
        self.listed_prices = recorded.into_used();
    }
}

/// Checks the pipeline text of a new run.
///
/// # Errors
/// Its mistakes.
pub(crate) fn check_pipeline(
    context: &Context,
    text: &str,
    name: &str,
    overrides: &[String],
) -> Result<LoadedPipeline, Error> {
    PluginsAndPrices::new(context)?.check(context, text, name, overrides)
}

/// Checks the pipeline of a recorded run, with the prices that it was made with. `changes` are those of this resumption.
pub(crate) fn check_recorded(
    context: &Context,
    manifest: &RunManifest,
    changes: &[String],
) -> Result<LoadedPipeline, Error> {
    let config = &manifest.config;
    let overrides: Vec<String> =
        manifest.all_overrides().into_iter().chain(changes.iter().cloned()).collect();
    let registry = Arc::new(registry(context));
    check_with(context, (&config.text, &config.path, &overrides), registry, Prices::recorded(manifest))
}

fn check_with(
    context: &Context,
    (text, name, overrides): (&str, &str, &[String]),
    registry: Arc<Registry>,
    prices: Prices,
) -> Result<LoadedPipeline, Error> {
    let catalogue = RegistryCatalogue { registry: &registry, prices: &prices };
    let checked = planforge_pipeline::check(text, name, &catalogue, overrides);
    match checked.pipeline {
        Some(pipeline) => {
            context.findings(&checked.diagnostics, &checked.sources);
            Ok(LoadedPipeline { registry, pipeline, listed_prices: prices.into_used() })
        }
        None => Err(Error::findings(Status::Pipeline, checked.diagnostics, checked.sources)),
    }
}

/// Refuses providers that answer later, before anything is run.
pub(crate) fn require_immediate_answers(checked: &LoadedPipeline, command: &str) -> Result<(), Error> {
    for (name, table) in &checked.pipeline.config.llm {
        let info = checked.registry.info(&table.plugin)?;
        if info.capabilities.deferred {
            let message = format!(
                "[llm.{name}]: `{}` answers later, and `{command}` needs its answers at once",
                info.id
            );
            let failure = Failure::new(FailureClass::Request, "cli.deferred", message)
                .help("name a provider that answers at once, such as `provider-openai`; `planforge run` and `planforge evaluate` wait for answers");
            return Err(Error::from(failure).with_status(Status::Pipeline));
        }
    }
    Ok(())
}

/// The provider that stands for the front's model.
pub(crate) const CLIENT: &str = "provider-client";

/// Makes the instances of a pipeline, and the redactor of their secrets. Replay makes no provider and needs no key.
pub(crate) fn instantiate(
    context: &Context,
    checked: &LoadedPipeline,
    mode: Mode,
) -> Result<(Prepared, Arc<Redactor>), Error> {
    if context.replays_only && mode != Mode::Replay && !checked.pipeline.config.llm.is_empty() {
        let message = "models are answered from records alone here, and this work would send requests";
        let help = "start `planforge serve page` without --replay, or start the work anew: new work takes its replies from the cassette";
        return Err(Failure::new(FailureClass::Request, "page.replay", message).help(help).into());
    }
    let folder = checked.pipeline.folder();
    let consent = Consent::new(context);
    let with = Preparation {
        context,
        registry: &checked.registry,
        name: &checked.pipeline.name,
        text: &checked.pipeline.source,
        folder,
        replays: mode == Mode::Replay,
        consent: &consent,
    };
    let mut prepared = prepare(&checked.pipeline.config, &with)
        .map_err(|failures| Error::failures(failures, Status::Plugin))?;
    if let Some(model) = context.client_model.as_ref().filter(|_| mode != Mode::Replay) {
        let config = &checked.pipeline.config.llm;
        let is_client = |name: &str| config.get(name).is_some_and(|table| table.plugin == CLIENT);
        for (_, table) in prepared.model_tables.iter_mut().filter(|(name, _)| is_client(name)) {
            table.provider = Some(Arc::clone(model));
        }
    }
    for program in &prepared.programs {
        context.note_once(Notice::ProgramStarted(program.line()));
    }
    let redactor = Redactor::new(&prepared.secrets);
    if redactor.too_short() > 0 {
        context.warn(format!(
            "{} secret value(s) have less than {MIN_SECRET_BYTES} bytes: they cannot be distinguished from ordinary text \
             and are not redacted",
            redactor.too_short()
        ));
    }
    Ok((prepared, Arc::new(redactor)))
}

/// The pipeline's environment, to describe the interface of a suite without PDDL; the run creates its own.
/// `None` if the environment only reads the suite's PDDL.
pub(crate) fn describing_environment(
    context: &Context,
    checked: &LoadedPipeline,
) -> Result<Option<Arc<dyn planforge_contract::api::Environment>>, Error> {
    let only = planforge_pipeline::Pipeline {
        llm: BTreeMap::new(),
        stages: Vec::new(),
        ..checked.pipeline.config.clone()
    };
    let consent = Consent::new(context);
    let with = Preparation {
        context,
        registry: &checked.registry,
        name: &checked.pipeline.name,
        text: &checked.pipeline.source,
        folder: checked.pipeline.folder(),
        replays: false,
        consent: &consent,
    };
    let prepared = prepare(&only, &with).map_err(|failures| Error::failures(failures, Status::Plugin))?;
    let more = |info: &planforge_contract::PluginInfo| !info.capabilities.reference_model;
    Ok(prepared.instances.environment.filter(|(info, _)| more(info)).map(|(_, environment)| environment))
}

/// Answers from a registry and lists of prices. Describes plugins, makes none; libraries in a child process, so that checking a file
/// runs no foreign code in this one.
pub(crate) struct RegistryCatalogue<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) prices: &'a Prices,
}

impl Catalogue for RegistryCatalogue<'_> {
    fn ids(&self) -> Vec<String> {
        self.registry.ids()
    }

    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError> {
        self.registry.info_apart(id).map(|info| PluginInfo::clone(&info)).map_err(|failure| {
            if failure.code == "plugin.unknown" {
                CatalogueError::Unknown
            } else {
                CatalogueError::Unavailable { code: failure.code, message: failure.message }
            }
        })
    }

    fn check_options(&self, id: &str, options: &JsonObject) -> Vec<OptionProblem> {
        let problems = match self.registry.check_options_apart(id, options) {
            Ok(problems) => problems,
            // The schema of the options is wrong.
            Err(failure) if failure.code == "plugin.describe" => {
                let (kind, message) = (OptionProblemKind::Invalid, failure.message);
                return vec![OptionProblem { kind, pointer: String::new(), message, help: None }];
            }
            // A plugin that is not there, or did not pass its gates, was reported where it is named.
            Err(_) => return Vec::new(),
        };
        problems
            .into_iter()
            .map(|p| OptionProblem {
                kind: match p.code {
                    "options.unknown" => OptionProblemKind::Unknown,
                    "options.missing" => OptionProblemKind::Missing,
                    _ => OptionProblemKind::Invalid,
                },
                pointer: p.pointer,
                message: p.message,
                help: p.suggestion.map(|near| format!("did you mean `{near}`?")),
            })
            .collect()
    }

    fn price(&self, name: &str, info: &PluginInfo, settings: &JsonObject) -> Option<Price> {
        self.prices.find(name, info, settings)
    }
}
