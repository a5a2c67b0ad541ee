//! From a checked pipeline to plugin instances and models. Secrets are resolved here: a file names an environment
//! variable, the value goes to the plugin and to the redactor and nowhere else.

use crate::context::Context;
use crate::pipelines::consent::{Consent, shown_variable};
use crate::pipelines::place::PluginPlace;
use crate::pipelines::programs::{StartedProgram, started_programs};
use planforge_contract::{CreateRequest, Failure, FailureClass, JsonObject, PluginInfo, PluginKind};
use planforge_llm::{ModelSettings, ModelTable, split_table};
use planforge_pipeline::{Instances, Pipeline, StageInstance, inline_files};
use planforge_plugin_host::{Instance, Registry};
use planforge_record::PluginUse;
use secrecy::SecretString;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The input of [`prepare`].
pub(crate) struct Preparation<'a> {
    pub(crate) context: &'a Context,
    pub(crate) registry: &'a Registry,
    /// The name of the pipeline file.
    pub(crate) name: &'a str,
    /// Its text.
    pub(crate) text: &'a str,
    /// The folder that paths in the pipeline file are relative to.
    pub(crate) folder: &'a Path,
    /// True for a replay. It needs no providers, and so no keys, and takes the answers of programs from the record.
    pub(crate) replays: bool,
    /// The servers that may get keys, and the programs that may be started.
    pub(crate) consent: &'a Consent,
}

/// The plugin instances and models of a run.
#[derive(Default)]
pub(crate) struct Prepared {
    /// The instances by stage, and the environment.
    pub(crate) instances: Instances,
    /// The models by the name of their `[llm.NAME]` table.
    pub(crate) model_tables: BTreeMap<String, ModelTable>,
    /// Every secret value that was handed to a plugin, for the redactor.
    pub(crate) secrets: Vec<SecretString>,
    /// The plugins in use, by id, for the run's manifest.
    pub(crate) plugins: Vec<PluginUse>,
    /// The programs and libraries that the run starts.
    pub(crate) programs: Vec<StartedProgram>,
}

/// Creates every instance of the pipeline.
///
/// # Errors
///
/// Programs without the user's consent, before any instance is made; then all problems at once: load gates, options, unreadable
/// files, unset variables.
pub(crate) fn prepare(pipeline: &Pipeline, with: &Preparation<'_>) -> Result<Prepared, Vec<Failure>> {
    let disguise = pipeline.disguise();
    let mut programs = started_programs(pipeline, with.registry, with.folder);
    programs.retain(|program| !(with.replays && program.is_recorded));
    let refused = programs.iter().map(|program| with.consent.check_command(program, (with.name, with.text)));
    let refused: Vec<Failure> = refused.filter_map(Result::err).collect();
    if !refused.is_empty() {
        return Err(refused);
    }
    let prepared = Prepared { programs, ..Prepared::default() };
    let mut maker = Maker { with, disguise, prepared, failures: Vec::new() };
    for (name, table) in &pipeline.llm {
        maker.model(name, &table.plugin, &table.settings);
    }
    for stage in pipeline.all_stages() {
        if let Some((id, options)) = stage.plugin() {
            maker.stage(stage.label(), id, options);
        }
    }
    if let Some(table) = &pipeline.environment {
        maker.environment(&table.plugin, &table.options);
    }
    let Maker { mut prepared, mut failures, .. } = maker;
    prepared.plugins.sort_by(|a, b| a.id.cmp(&b.id));
    prepared.plugins.dedup();
    // A file that cannot be read fails every check that needs it.
    failures.dedup();
    if failures.is_empty() { Ok(prepared) } else { Err(failures) }
}

/// The values of the variables that a pipeline's tables name as secrets, if they are set.
pub(crate) fn known_secrets(
    context: &Context,
    pipeline: &Pipeline,
    registry: &Registry,
) -> Vec<SecretString> {
    let models = pipeline.llm.values().map(|table| (table.plugin.as_str(), &table.settings));
    let stages = pipeline.all_stages().filter_map(|stage| stage.plugin());
    let environment = pipeline.environment.iter().map(|table| (table.plugin.as_str(), &table.options));
    let mut secrets = Vec::new();
    for (id, options) in models.chain(stages).chain(environment) {
        let Ok(info) = registry.info(id) else { continue };
        let variables = info.secret_variables(options).into_values();
        secrets.extend(variables.filter_map(|name| context.variable(&name)).map(SecretString::from));
    }
    secrets
}

struct Maker<'a> {
    with: &'a Preparation<'a>,
    /// The renaming that simulated models apply to the suites.
    disguise: Option<planforge_obfuscate::DisguiseOptions>,
    prepared: Prepared,
    failures: Vec<Failure>,
}

impl Maker<'_> {
    fn keep<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.failures.push(failure)).ok()
    }

    fn model(&mut self, name: &str, id: &str, table: &JsonObject) {
        let (mut host, options) = split_table(table);
        host.insert("use".to_owned(), Value::from(id));
        let settings = serde_json::from_value::<ModelSettings>(Value::Object(host))
            .map_err(|e| Failure::new(FailureClass::Request, "llm.config", format!("[llm.{name}]: {e}")));
        let Some(settings) = self.keep(settings) else { return };
        let Some(info) = self.info(id) else { return };
        let mut provider = None;
        if !self.with.replays {
            let place = PluginPlace::Model(name.to_owned());
            let made = self.create(&info, &options, &place).and_then(|made| self.keep(made.provider(&info)));
            let Some(made) = made else { return };
            provider = Some(made);
        }
        let simulated = info.capabilities.simulated;
        let enforces_grammars = info.enforces_grammars(&options);
        let table = ModelTable { settings, provider, simulated, enforces_grammars };
        self.prepared.model_tables.insert(name.to_owned(), table);
    }

    fn stage(&mut self, label: &str, id: &str, options: &JsonObject) {
        let Some(info) = self.info(id) else { return };
        let place = PluginPlace::Stage(label.to_owned());
        let Some(made) = self.create(&info, options, &place) else { return };
        let instance = match info.kind {
            PluginKind::Translator => made.translator(&info).map(StageInstance::Translator),
            PluginKind::Verifier => made.verifier(&info).map(StageInstance::Verifier),
            PluginKind::Planner => made.planner(&info).map(StageInstance::Planner),
            PluginKind::Environment | PluginKind::Provider => return,
        };
        if let Some(instance) = self.keep(instance) {
            self.prepared.instances.stages.insert(label.to_owned(), ((*info).clone(), instance));
        }
    }

    fn environment(&mut self, id: &str, options: &JsonObject) {
        let Some(info) = self.info(id) else { return };
        let Some(made) = self.create(&info, options, &PluginPlace::Environment) else { return };
        if let Some(environment) = self.keep(made.environment(&info)) {
            self.prepared.instances.environment = Some(((*info).clone(), environment));
        }
    }

    fn info(&mut self, id: &str) -> Option<Arc<PluginInfo>> {
        let info = self.keep(self.with.registry.info(id))?;
        let source = self.keep(self.with.registry.source(id).cloned())?;
        let (origin, sha256) = match source.file() {
            None => ("bundled".to_owned(), None),
            Some((path, sha256)) => (path.display().to_string(), Some(sha256.to_owned())),
        };
        let version = info.version.clone();
        self.prepared.plugins.push(PluginUse {
            id: info.id.clone(),
            kind: info.kind,
            version,
            origin,
            measures: info.measures.clone(),
            sha256,
        });
        Some(info)
    }

    fn create(&mut self, info: &PluginInfo, options: &JsonObject, place: &PluginPlace) -> Option<Instance> {
        let inlined = inline_files(info, options, self.with.folder, self.disguise.as_ref());
        let inlined = inlined.map_err(|f| self.failures.extend(f)).ok();
        let texts = (options, inlined.as_ref());
        let at = (place, (self.with.name, self.with.text));
        if let Err(refused) = self.with.consent.check_connection(info, texts, at) {
            self.failures.extend(refused);
            return None;
        }
        let secrets = self.secrets(info, options);
        let request = CreateRequest { options: inlined?, secrets: secrets? };
        let made = self.with.registry.create(&info.id, request);
        self.keep(made)
    }

    /// Option name -> value of the variable that it names; none if one is not set.
    fn secrets(&mut self, info: &PluginInfo, options: &JsonObject) -> Option<BTreeMap<String, String>> {
        let mut secrets = BTreeMap::new();
        let mut complete = true;
        for (name, variable) in info.secret_variables(options) {
            match self.with.context.variable(&variable) {
                Some(value) => {
                    self.prepared.secrets.push(value.clone().into());
                    secrets.insert(name, value);
                }
                None => {
                    let variable = shown_variable(&variable);
                    let message =
                        format!("the environment variable {variable} is not set (`{name}` of `{}`)", info.id);
                    let help = format!("set {variable} to the secret that `{}` needs", info.id);
                    self.failures
                        .push(Failure::new(FailureClass::System, "cli.missing-secret", message).help(help));
                    complete = false;
                }
            }
        }
        complete.then_some(secrets)
    }
}
