//! A checked pipeline with its plugins, and the instances made from it.

use crate::catalogue::{RegistryCatalogue, registry};
use crate::consent::Consent;
use crate::context::Context;
use crate::exit::Exit;
use crate::prepare::{Preparation, Prepared, prepare};
use planforge_contract::{Failure, FailureClass};
use planforge_llm::Mode;
use planforge_pipeline::CheckedPipeline;
use planforge_plugin_host::Registry;
use planforge_record::{MIN_SECRET_BYTES, Redactor};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A pipeline without mistakes, and the plugins that it was checked against.
pub(crate) struct LoadedPipeline {
    pub(crate) registry: Registry,
    pub(crate) pipeline: CheckedPipeline,
}

/// Checks a pipeline text; its mistakes are printed.
pub(crate) fn check_pipeline(
    context: &Context,
    text: &str,
    name: &str,
    overrides: &[String],
) -> Result<LoadedPipeline, Exit> {
    let registry = registry(context);
    let checked = planforge_pipeline::check(text, name, &RegistryCatalogue(&registry), overrides);
    context.output.diagnostics(&checked.diagnostics, &checked.sources);
    match checked.pipeline {
        Some(pipeline) => Ok(LoadedPipeline { registry, pipeline }),
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
    let consent = consent(&context.allowed_hosts).map_err(|failure| context.print_failure(&failure))?;
    let providers = mode != Mode::Replay;
    let with = Preparation { registry: &checked.registry, folder, providers, consent: &consent };
    let prepared = prepare(&checked.pipeline.config, &with).map_err(|failures| {
        let exits = failures.iter().map(|failure| context.print_failure(failure));
        exits.max().unwrap_or(Exit::Plugin)
    })?;
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

/// The user's consent, with the servers of `--allow-host`.
///
/// # Errors
/// As of [`Consent::new`].
pub(crate) fn consent(allowed_hosts: &[String]) -> Result<Consent, Failure> {
    use crate::environment::{allow_file, config_file};
    Consent::new(allowed_hosts, allow_file(), config_file())
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
    let (registry, folder) = (&checked.registry, checked.pipeline.folder());
    let consent = consent(&context.allowed_hosts).map_err(|failure| context.print_failure(&failure))?;
    let with = Preparation { registry, folder, providers: false, consent: &consent };
    let prepared = prepare(&only, &with).map_err(|failures| {
        let exits = failures.iter().map(|failure| context.print_failure(failure));
        exits.max().unwrap_or(Exit::Plugin)
    })?;
    let more = |info: &planforge_contract::PluginInfo| !info.capabilities.reference_model;
    Ok(prepared.instances.environment.filter(|(info, _)| more(info)).map(|(_, environment)| environment))
}
