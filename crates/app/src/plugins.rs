//! Plugins: what there is, what they take, a new one, and checks of one.

use crate::catalogue::registry;
use crate::context::{Context, PluginSettings};
use crate::error::Error;
use crate::files::read_text;
use crate::pipelines::consent::Consent;
use crate::pipelines::loaded::check_pipeline;
use crate::pipelines::programs::started_programs;
use crate::progress::WorkProgress;
use crate::status::{Status, of_failure};
use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{EnvironmentOpen, Failure, JsonObject, PluginInfo, PluginKind};
use planforge_llm::split_table;
use planforge_pipeline::{inline_files, load_task};
use planforge_plugin_host::{Registry, RegistryEntry};
use planforge_plugin_tools::check::{CheckSettings, check_plugin};
use planforge_plugin_tools::scaffold::{scaffold, scaffold_python};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use planforge_environment_process::{CheckReport, ProcessEnvironmentOptions, Status as CheckedStatus};
pub use planforge_plugin_tools::check::{CheckStatus, PluginReport};

/// A plugin in a list.
#[derive(Debug, Clone, Serialize)]
pub struct ListedPlugin {
    /// The id.
    pub id: String,
    /// The kind; absent if the plugin is refused.
    pub kind: Option<PluginKind>,
    /// The version; absent if the plugin is refused.
    pub version: Option<String>,
    /// `bundled`, or the file.
    pub origin: String,
    /// SHA-256 of the file.
    pub sha256: Option<String>,
    /// True if another plugin of the id comes first.
    pub shadowed: bool,
    /// Why the plugin is refused.
    pub failure: Option<Failure>,
}

/// All plugins. Refused libraries are listed too.
#[derive(Debug, Clone, Serialize)]
pub struct PluginList {
    /// The plugins.
    pub plugins: Vec<ListedPlugin>,
}

impl PluginList {
    /// Good unless a plugin is refused.
    pub fn status(&self) -> Status {
        if self.plugins.iter().all(|plugin| plugin.failure.is_none()) { Status::Good } else { Status::Plugin }
    }
}

/// Lists the bundled plugins and those of the search path.
pub fn list(context: &Context) -> PluginList {
    let listed = |entry: RegistryEntry| {
        let file = entry.source.file();
        let (info, failure) = match &entry.info {
            Ok(info) => (Some(info), None),
            Err(failure) => (None, Some(failure.clone())),
        };
        ListedPlugin {
            kind: info.map(|info| info.kind),
            version: info.map(|info| info.version.clone()),
            origin: file.map_or_else(|| "bundled".to_owned(), |(path, _)| path.display().to_string()),
            sha256: file.map(|(_, sha256)| sha256.to_owned()),
            shadowed: entry.shadowed,
            failure,
            id: entry.id.clone(),
        }
    };
    PluginList { plugins: registry(context).list().into_iter().map(listed).collect() }
}

/// The options, roles and metrics of one plugin.
///
/// # Errors
/// There is no such plugin, or it is refused.
pub fn show(context: &Context, id: &str) -> Result<PluginInfo, Error> {
    Ok(PluginInfo::clone(&*registry(context).info_apart(id)?))
}

/// A new plugin.
#[derive(Debug, Clone, Default)]
pub struct NewPluginRequest {
    /// provider, translator, verifier, planner or environment.
    pub kind: String,
    /// The id: lower-case words joined by dashes.
    pub name: String,
    /// True for a program in Python, false for a crate in Rust.
    pub is_python: bool,
    /// The folder to make it in.
    pub folder: PathBuf,
    /// A planforge checkout to take the SDK from by path; `None` for the one that contains the folder, else the sources are written beside
    /// the plugin.
    pub sdk: Option<PathBuf>,
}

/// The files of a new plugin, and what to do next.
#[derive(Debug, Clone, Serialize)]
pub struct NewPlugin {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What to do next, in words.
    pub next: String,
}

/// Writes a new plugin that passes its own test.
///
/// # Errors
/// A wrong kind or name, files that are there, or an SDK for a plugin in Python.
pub fn new_plugin(context: &Context, request: &NewPluginRequest) -> Result<NewPlugin, Error> {
    let NewPluginRequest { kind, name, is_python, folder, sdk } = request;
    let folder = context.path(folder);
    if *is_python {
        if sdk.is_some() {
            return Err(Error::usage("--sdk is for plugins in Rust", Some("leave it out")));
        }
        let files = scaffold_python(kind, name, &folder)?;
        let next = format!("`python3 -m unittest` in the new folder, then `planforge plugins test {name}`");
        return Ok(NewPlugin { files, next });
    }
    let sdk = sdk.as_ref().map(|sdk| context.path(sdk)).or_else(|| sdk_near(&folder));
    let files = scaffold(kind, name, &folder, sdk.as_deref())?;
    let mut next = format!(
        "`cargo test` and `cargo build` in the new folder, then `planforge plugins test {name}/target/debug/{}`",
        library_file(name)
    );
    if sdk.is_none() {
        next += "\nthe folder `sdk` has the sources of the SDK; `Cargo.toml` says how to take published crates instead";
    }
    Ok(NewPlugin { files, next })
}

/// The name of the library that a crate of that name builds.
fn library_file(name: &str) -> String {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    format!("{prefix}{}{suffix}", name.replace('-', "_"))
}

/// The checkout that contains a folder: the one with `crates/platform/plugin-sdk`.
fn sdk_near(dir: &Path) -> Option<PathBuf> {
    let start = std::fs::canonicalize(dir).ok()?;
    start.ancestors().find(|a| a.join("crates/platform/plugin-sdk/Cargo.toml").is_file()).map(Path::to_owned)
}

/// The value of an option: TOML, or else text.
pub fn option_value(text: &str) -> Value {
    let read = toml::from_str::<toml::Table>(&format!("value = {text}"));
    let value = read.ok().and_then(|mut table| table.remove("value"));
    value.and_then(|value| serde_json::to_value(value).ok()).unwrap_or_else(|| text.into())
}

/// A plugin to check, as a run loads it.
#[derive(Debug, Clone, Default)]
pub struct TestPluginRequest {
    /// A library, the folder of a program, or the id of a plugin.
    pub plugin: String,
    /// A pipeline file; the options of its first table that uses the plugin are taken.
    pub pipeline: Option<PathBuf>,
    /// Options of the plugin.
    pub options: JsonObject,
    /// Seconds that one call may take.
    pub seconds: f64,
}

/// The checks of a plugin.
#[derive(Debug, Clone)]
pub struct TestPluginResult {
    /// Every check.
    pub report: PluginReport,
}

impl TestPluginResult {
    /// The status of the first check that failed: that of the plugin's failure, or negative for a wrong answer.
    pub fn status(&self) -> Status {
        match self.report.first_failed().map(|check| check.failure.as_ref()) {
            None => Status::Good,
            Some(None) => Status::Negative,
            // Its class is that of the interruption if the plugin ignores one.
            Some(Some(failure)) if failure.code == "plugin.deadline" => Status::TimeLimit,
            Some(Some(failure)) => of_failure(failure),
        }
    }
}

impl Serialize for TestPluginResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = &self.report;
        json!({
            "plugin": report.plugin, "kind": report.kind, "passed": report.is_passed(), "checks": report.checks,
        })
        .serialize(serializer)
    }
}

/// Checks a plugin: options, metrics, determinism, concurrency, cancellation, hostile inputs. Libraries run in a child process.
///
/// # Errors
/// There is no such plugin, or the pipeline does not use it. Failed checks are results.
pub fn test_plugin(context: &Context, request: &TestPluginRequest) -> Result<TestPluginResult, Error> {
    let path = context.path(Path::new(&request.plugin));
    let mut plugins = PluginSettings { isolate: true, ..context.plugins.clone() };
    if path.exists() {
        plugins.search_path.push(path.clone());
    }
    let context = Context { plugins, ..context.clone() };
    let registry = registry(&context);
    let id = find(&registry, &path, &request.plugin)?;
    let mut options = match &request.pipeline {
        Some(file) => pipeline_options(&context, &context.path(file), &id)?,
        None => JsonObject::new(),
    };
    options.extend(request.options.clone());
    let settings = CheckSettings::new((request.seconds * 1000.0) as u64);
    Ok(TestPluginResult { report: check_plugin(&registry, &id, &options, settings) })
}

/// The id of the plugin at the path, or the given id.
fn find(registry: &Registry, path: &Path, given: &str) -> Result<String, Error> {
    if !path.exists() {
        registry.source(given)?;
        return Ok(given.to_owned());
    }
    let is_there = |id: &String| {
        let file = registry.source(id).ok().and_then(|source| source.file());
        file.is_some_and(|(file, _)| file.starts_with(path))
    };
    let found: Vec<String> = registry.ids().into_iter().filter(is_there).collect();
    match found.as_slice() {
        [id] => Ok(id.clone()),
        [] => Err(match registry.strays().iter().find_map(|stray| stray.info.as_ref().err()) {
            Some(failure) => failure.clone().into(),
            None => Error::usage(
                format!("there is no plugin in `{given}`"),
                Some(
                    "name a library, such as target/debug/libNAME.so after `cargo build`, or a folder with a plugin.toml",
                ),
            ),
        }),
        _ => Err(Error::usage(
            format!("there are {} plugins in `{given}`: {}", found.len(), found.join(", ")),
            Some("name the file or folder of one of them"),
        )),
    }
}

/// The options of the first table of a pipeline that uses the plugin, with the files that they name.
fn pipeline_options(context: &Context, file: &Path, id: &str) -> Result<JsonObject, Error> {
    let text = read_text(file)?;
    let checked = check_pipeline(context, &text, &file.display().to_string(), &[])?;
    let config = &checked.pipeline.config;
    let consent = Consent::new(context);
    for program in started_programs(config, &checked.registry, checked.pipeline.folder()) {
        let file = (checked.pipeline.name.as_str(), checked.pipeline.source.as_str());
        consent.check_command(&program, file)?;
    }
    let models = config.llm.values().map(|table| (table.plugin.as_str(), split_table(&table.settings).1));
    let stages = config.all_stages().filter_map(|stage| stage.plugin());
    let stages = stages.map(|(plugin, options)| (plugin, options.clone()));
    let environment = config.environment.iter().map(|table| (table.plugin.as_str(), table.options.clone()));
    let Some((_, options)) = models.chain(stages).chain(environment).find(|(plugin, _)| *plugin == id) else {
        let text = format!("{}: no table uses the plugin `{id}`", file.display());
        return Err(Error::usage(text, None));
    };
    let info: PluginInfo = PluginInfo::clone(&*checked.registry.info(id)?);
    inline_files(&info, &options, checked.pipeline.folder(), config.disguise().as_ref())
        .map_err(|failures| Error::failures(failures, Status::Plugin))
}

/// The check of a program against the environment protocol.
#[derive(Debug, Clone)]
pub struct TryEnvironmentResult {
    /// Every check, and times of answers.
    pub report: CheckReport,
}

impl TryEnvironmentResult {
    /// Negative if the program does not keep to the protocol.
    pub fn status(&self) -> Status {
        if self.report.conforms() { Status::Good } else { Status::Negative }
    }
}

impl Serialize for TryEnvironmentResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = &self.report;
        json!({
            "conforms": report.conforms(),
            "command": report.command,
            "checks": report.checks,
            "start_ms": report.start_ms,
            "answer_ms": report.answer_ms.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        })
        .serialize(serializer)
    }
}

/// Checks a program against the environment protocol. `task`: the task that is sent to it; one without a name if `None`.
///
/// # Errors
/// A task that cannot be read, or a program that cannot be started. Failed checks are results.
pub fn try_environment(
    context: &Context,
    options: &ProcessEnvironmentOptions,
    task: Option<&Path>,
) -> Result<TryEnvironmentResult, Error> {
    let task = task.map_or(Ok(EnvironmentOpen::default()), |task| open(context, task))?;
    let host = CheckHost {
        cancelled: context.cancellation.watch(),
        progress: context.start_work("checks", Some(0)),
    };
    Ok(TryEnvironmentResult { report: planforge_environment_process::check(options, &task, &host)? })
}

/// The task's names for the program. It does not get the reference.
fn open(context: &Context, path: &Path) -> Result<EnvironmentOpen, Error> {
    let loaded = load_task(&context.path(path));
    let Some(suite) = loaded.suite else {
        return Err(Error::findings(Status::Input, loaded.diagnostics, loaded.sources));
    };
    context.findings(&loaded.diagnostics, &loaded.sources);
    let task = suite.tasks.first().map(|t| t.stem.clone()).unwrap_or_default();
    Ok(EnvironmentOpen { suite: suite.name, task, sentences: suite.sentences, ..EnvironmentOpen::default() })
}

/// The host of a check.
struct CheckHost {
    cancelled: Arc<AtomicBool>,
    progress: WorkProgress,
}

impl Host for CheckHost {
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, done: u64, total: u64, what: &str) {
        self.progress.set_message(format!("{what} ({done} of {total})"));
    }
    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}
