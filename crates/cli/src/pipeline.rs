//! A checked pipeline with its plugins, and the instances made from it.

use crate::catalogue::{RegistryCatalogue, registry};
use crate::consent::Consent;
use crate::context::Context;
use crate::exit::Exit;
use crate::prepare::{Preparation, Prepared, prepare};
use crate::prices::{ListedPrice, Prices};
use planforge_contract::{Failure, FailureClass};
use planforge_llm::Mode;
use planforge_pipeline::CheckedPipeline;
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
    pub(crate) fn new(context: &Context) -> Result<Self, Exit> {
        Ok(Self { registry: Arc::new(registry(context)), prices: Prices::listed(context)? })
    }

    /// Checks the pipeline text of a new run; its mistakes are printed.
    pub(crate) fn check(
        &self,
        context: &Context,
        text: &str,
        name: &str,
        overrides: &[String],
    ) -> Result<LoadedPipeline, Exit> {
        let registry = Arc::clone(&self.registry);
        let loaded = check_with(context, (text, name, overrides), registry, self.prices.unused())?;
        for (name, price) in &loaded.listed_prices {
            context.output.note_once(&format!("[llm.{name}]: {}", price.line()));
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

/// Checks the pipeline text of a new run; its mistakes are printed.
pub(crate) fn check_pipeline(
    context: &Context,
    text: &str,
    name: &str,
    overrides: &[String],
) -> Result<LoadedPipeline, Exit> {
    PluginsAndPrices::new(context)?.check(context, text, name, overrides)
}

/// Checks the pipeline of a recorded run, with the prices that it was made with. `changes` are those of this resumption.
pub(crate) fn check_recorded(
    context: &Context,
    manifest: &RunManifest,
    changes: &[String],
) -> Result<LoadedPipeline, Exit> {
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
) -> Result<LoadedPipeline, Exit> {
    let catalogue = RegistryCatalogue { registry: &registry, prices: &prices };
    let checked = planforge_pipeline::check(text, name, &catalogue, overrides);
    context.output.diagnostics(&checked.diagnostics, &checked.sources);
    match checked.pipeline {
        Some(pipeline) => Ok(LoadedPipeline { registry, pipeline, listed_prices: prices.into_used() }),
        None => Err(Exit::Pipeline),
    }
}

/// Refuses providers that answer later, before anything is run.
pub(crate) fn require_immediate_answers(
    context: &Context,
    checked: &LoadedPipeline,
    command: &str,
) -> Result<(), Exit> {
    for (name, table) in &checked.pipeline.config.llm {
        let info = checked.registry.info(&table.plugin).map_err(|failure| context.print_failure(&failure))?;
        if info.capabilities.deferred {
            let message = format!(
                "[llm.{name}]: `{}` answers later, and `{command}` needs its answers at once",
                info.id
            );
            let failure = Failure::new(FailureClass::Request, "cli.deferred", message)
                .help("name a provider that answers at once, such as `provider-openai`; `planforge run` and `planforge evaluate` wait for answers");
            context.print_failure(&failure);
            return Err(Exit::Pipeline);
        }
    }
    Ok(())
}

/// Makes the instances of a pipeline, and the redactor of their secrets. Replay makes no provider and needs no key.
pub(crate) fn instantiate(
    context: &Context,
    checked: &LoadedPipeline,
    mode: Mode,
) -> Result<(Prepared, Arc<Redactor>), Exit> {
    let folder = checked.pipeline.folder();
    let consent = consent(context).map_err(|failure| context.print_failure(&failure))?;
    let with = Preparation {
        registry: &checked.registry,
        name: &checked.pipeline.name,
        text: &checked.pipeline.source,
        folder,
        replays: mode == Mode::Replay,
        consent: &consent,
    };
    let prepared = prepare(&checked.pipeline.config, &with).map_err(|failures| {
        let exits = failures.iter().map(|failure| context.print_failure(failure));
        exits.max().unwrap_or(Exit::Plugin)
    })?;
    for program in &prepared.programs {
        context.output.note_once(&program.line());
    }
    let redactor = Redactor::new(&prepared.secrets);
    if redactor.too_short() > 0 {
        context.output.note(&format!(
            "warning: {} secret value(s) have less than {MIN_SECRET_BYTES} bytes: they cannot be distinguished from ordinary text \
             and are not redacted",
            redactor.too_short()
        ));
    }
    Ok((prepared, Arc::new(redactor)))
}

/// The user's consent, with `--allow-host` and `--allow-commands`.
///
/// # Errors
/// As of [`Consent::new`].
pub(crate) fn consent(context: &Context) -> Result<Consent, Failure> {
    use crate::environment::{allow_file, config_file};
    Consent::new(&context.allowed_hosts, context.allow_commands, allow_file(), config_file())
}

/// The pipeline's environment, to describe the interface of a suite without PDDL; the run creates its own.
/// `None` if the environment only reads the suite's PDDL.
pub(crate) fn describing_environment(
    context: &Context,
    checked: &LoadedPipeline,
) -> Result<Option<Arc<dyn planforge_contract::api::Environment>>, Exit> {
    let only = planforge_pipeline::Pipeline {
        llm: BTreeMap::new(),
        stages: Vec::new(),
        ..checked.pipeline.config.clone()
    };
    let consent = consent(context).map_err(|failure| context.print_failure(&failure))?;
    let with = Preparation {
        registry: &checked.registry,
        name: &checked.pipeline.name,
        text: &checked.pipeline.source,
        folder: checked.pipeline.folder(),
        replays: false,
        consent: &consent,
    };
    let prepared = prepare(&only, &with).map_err(|failures| {
        let exits = failures.iter().map(|failure| context.print_failure(failure));
        exits.max().unwrap_or(Exit::Plugin)
    })?;
    let more = |info: &planforge_contract::PluginInfo| !info.capabilities.reference_model;
    Ok(prepared.instances.environment.filter(|(info, _)| more(info)).map(|(_, environment)| environment))
}
