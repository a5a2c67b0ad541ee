//! From a checked pipeline to plugin instances and models: what a run is started with.

use crate::config::{Pipeline, StageKind};
use crate::run::{Instances, StageInstance};
use planforge_contract::{CreateRequest, Failure, FailureClass, JsonObject, PluginInfo};
use planforge_llm::{Role, RoleConfig, split_table};
use planforge_plugin_host::{Instance, Registry, Source};
use planforge_record::PluginUse;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Largest file that an option may name, in bytes.
const MAX_OPTION_FILE_BYTES: u64 = 4 << 20;

/// What a pipeline is prepared with.
pub struct Preparation<'a> {
    /// The plugins.
    pub registry: &'a Registry,
    /// The value of an environment variable; secrets are named by their variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The folder that paths in the pipeline file are relative to.
    pub folder: &'a Path,
    /// Whether providers are made. Replay needs none, and so no keys.
    pub providers: bool,
}

/// What a run needs of plugins and models.
#[derive(Default)]
pub struct Prepared {
    /// The instances by stage, and the environment.
    pub instances: Instances,
    /// The models by the name of their `[llm.NAME]` table, for `LlmOptions`.
    pub roles: BTreeMap<String, Role>,
    /// Every secret value that was handed to a plugin, for the redactor.
    pub secrets: Vec<String>,
    /// The plugins in use, by id, for the run's manifest.
    pub plugins: Vec<PluginUse>,
}

/// Makes every instance that the pipeline needs.
///
/// # Errors
/// Everything that stands in the way at once: load gates, options, files that cannot be read, variables that are not set.
pub fn prepare(pipeline: &Pipeline, with: &Preparation<'_>) -> Result<Prepared, Vec<Failure>> {
    let mut maker = Maker { with, prepared: Prepared::default(), failures: Vec::new() };
    for (name, table) in &pipeline.llm {
        maker.model(name, &table.plugin, &table.settings);
    }
    for stage in &pipeline.stages {
        if let Some((id, options)) = stage.plugin() {
            maker.stage(stage.label(), stage.kind(), id, options);
        }
    }
    if let Some(table) = &pipeline.environment {
        maker.environment(&table.plugin, &table.options);
    }
    let Maker { mut prepared, failures, .. } = maker;
    prepared.plugins.sort_by(|a, b| a.id.cmp(&b.id));
    prepared.plugins.dedup();
    if failures.is_empty() { Ok(prepared) } else { Err(failures) }
}

struct Maker<'a> {
    with: &'a Preparation<'a>,
    prepared: Prepared,
    failures: Vec<Failure>,
}

impl Maker<'_> {
    fn keep<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.failures.push(failure)).ok()
    }

    fn model(&mut self, name: &str, id: &str, settings: &JsonObject) {
        let (mut host, options) = split_table(settings);
        host.insert("use".to_owned(), Value::from(id));
        let config = serde_json::from_value::<RoleConfig>(Value::Object(host))
            .map_err(|e| Failure::new(FailureClass::Request, "llm.config", format!("[llm.{name}]: {e}")));
        let Some(config) = self.keep(config) else { return };
        let Some(info) = self.info(id) else { return };
        let provider = if self.with.providers {
            let made = self.create(&info, &options).and_then(|made| self.keep(made.provider(&info)));
            if made.is_none() {
                return;
            }
            made
        } else {
            None
        };
        let simulated = info.capabilities.iter().any(|c| c == "simulated");
        self.prepared.roles.insert(name.to_owned(), Role { config, provider, simulated });
    }

    fn stage(&mut self, label: &str, kind: StageKind, id: &str, options: &JsonObject) {
        let Some(info) = self.info(id) else { return };
        let Some(made) = self.create(&info, options) else { return };
        let instance = match kind {
            StageKind::Translate => made.translator(&info).map(StageInstance::Translator),
            StageKind::Verify => made.verifier(&info).map(StageInstance::Verifier),
            StageKind::Plan => made.planner(&info).map(StageInstance::Planner),
            StageKind::Select => return,
        };
        if let Some(instance) = self.keep(instance) {
            self.prepared.instances.stages.insert(label.to_owned(), ((*info).clone(), instance));
        }
    }

    fn environment(&mut self, id: &str, options: &JsonObject) {
        let Some(info) = self.info(id) else { return };
        let Some(made) = self.create(&info, options) else { return };
        if let Some(environment) = self.keep(made.environment(&info)) {
            self.prepared.instances.environment = Some(((*info).clone(), environment));
        }
    }

    fn info(&mut self, id: &str) -> Option<Arc<PluginInfo>> {
        let info = self.keep(self.with.registry.info(id))?;
        let (origin, sha256) = match self.keep(self.with.registry.source(id))? {
            Source::Bundled => ("bundled".to_owned(), None),
            Source::Library { path, sha256 } => (path.display().to_string(), Some(sha256.clone())),
        };
        let used =
            PluginUse { id: info.id.clone(), kind: info.kind, version: info.version.clone(), origin, sha256 };
        self.prepared.plugins.push(used);
        Some(info)
    }

    fn create(&mut self, info: &PluginInfo, options: &JsonObject) -> Option<Instance> {
        let before = self.failures.len();
        let mut request = CreateRequest { options: options.clone(), secrets: BTreeMap::new() };
        for name in &info.secrets {
            let Some(Value::String(variable)) = options.get(name) else { continue };
            match (self.with.variable)(variable).filter(|value| !value.is_empty()) {
                Some(value) => {
                    self.prepared.secrets.push(value.clone());
                    request.secrets.insert(name.clone(), value);
                }
                None => self.failures.push(
                    Failure::new(
                        FailureClass::System,
                        "pipeline.no-secret",
                        format!("the environment variable {variable} is not set (`{name}` of `{}`)", info.id),
                    )
                    .help(format!("set {variable} to the secret that `{}` needs", info.id)),
                ),
            }
        }
        for name in &info.files {
            let Some(Value::String(path)) = options.get(name) else { continue };
            if let Some(text) = self.keep(file(&self.with.folder.join(path))) {
                request.options.insert(name.clone(), Value::String(text));
            }
        }
        if self.failures.len() > before {
            return None;
        }
        let made = self.with.registry.create(&info.id, request);
        self.keep(made)
    }
}

/// The text of a file that an option names.
fn file(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let fail = |why: String| Failure::new(FailureClass::System, "pipeline.file", format!("{shown}: {why}"));
    let file = std::fs::File::open(path).map_err(|e| fail(format!("cannot be read: {e}")))?;
    let mut bytes = Vec::new();
    file.take(MAX_OPTION_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| fail(format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > MAX_OPTION_FILE_BYTES {
        return Err(fail(format!("is larger than {MAX_OPTION_FILE_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| fail("is not UTF-8".to_owned()))
}
