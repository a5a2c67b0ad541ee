//! Batch services: sends the requests of a parked run, and downloads the answers.

use crate::calendar::record_now;
use crate::context::Context;
use crate::error::Error;
use crate::events::Notice;
use crate::pipelines::consent::{Consent, NamedServer, shown_variable};
use crate::pipelines::loaded::{LoadedPipeline, check_recorded};
use crate::pipelines::place::PluginPlace;
use crate::pipelines::prepare::known_secrets;
use crate::status::{Status, of_failure};
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceMap;
use planforge_llm::{SystemClock, split_table};
use planforge_model_api::batch::{BatchFolder, WrittenFile};
pub use planforge_model_api::batch_services::BatchLine;
use planforge_model_api::batch_services::{BatchClient, ConnectionSettings, Service, ServiceConnection};
use planforge_record::{Redactor, RunManifest};
use secrecy::SecretString;
use serde::Serialize;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The request files of a run or an evaluation with their batches.
#[derive(Debug, Clone, Serialize)]
pub struct BatchResult {
    /// One entry for each request file.
    pub batches: Vec<BatchLine>,
    /// The command to continue with.
    pub next: String,
    #[serde(skip)]
    has_sent: bool,
}

impl BatchResult {
    fn new(folder: &Path, batches: Vec<BatchLine>, has_sent: bool) -> Self {
        let shown = folder.display();
        let is_awaited = batches.iter().any(BatchLine::is_awaited);
        let next = match (batches.iter().any(BatchLine::is_unsent), is_awaited) {
            (true, _) => format!("planforge batch submit {shown}"),
            (false, true) => format!("planforge batch fetch {shown} --wait"),
            (false, false) if folder.join(MANIFEST).exists() => format!("planforge run --resume {shown}"),
            (false, false) => format!("planforge evaluate --resume --out {shown}"),
        };
        Self { batches, next, has_sent }
    }

    /// The failures of single files.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.batches.iter().filter_map(|line| line.failure.as_ref())
    }

    /// The status of the gravest failure; else pending as long as answers are awaited, unless requests were to be sent.
    pub fn status(&self) -> Status {
        let is_open = |line: &BatchLine| line.is_awaited() || line.is_unsent();
        match self.failures().map(of_failure).max() {
            Some(status) => status,
            None if self.batches.iter().any(is_open) && !self.has_sent => Status::Pending,
            None => Status::Good,
        }
    }
}

/// Sends every request file that was not sent and has requests without a reply. No file is sent twice. `folder`: a run folder, or the
/// folder of an evaluation.
///
/// # Errors
/// No request waits, a pipeline that cannot be checked, or a service that may not get the key.
pub fn submit(context: &Context, folder: &Path) -> Result<BatchResult, Error> {
    with_client(context, folder, true, |client| client.submit())
}

/// Describes each request file with its batch, as the service describes it.
///
/// # Errors
/// As of [`submit`].
pub fn status(context: &Context, folder: &Path) -> Result<BatchResult, Error> {
    with_client(context, folder, false, |client| client.status())
}

/// Downloads the answers of batches that have ended; with `wait`, of all batches once they have ended.
///
/// # Errors
/// As of [`submit`].
pub fn fetch(context: &Context, folder: &Path, wait: bool) -> Result<BatchResult, Error> {
    with_client(context, folder, false, |client| client.fetch(wait))
}

/// The file of a run folder that holds its pipeline.
const MANIFEST: &str = "run.json";

/// A model table whose requests go to a batch service.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct BatchTable {
    model: String,
    service: &'static str,
    base_url: String,
    /// Name of the environment variable that holds the key.
    variable: Option<String>,
}

/// Opens the folder and its connections, and calls the services.
fn with_client(
    context: &Context,
    folder: &Path,
    has_sent: bool,
    call: impl FnOnce(&BatchClient<'_>) -> Result<Vec<BatchLine>, Failure>,
) -> Result<BatchResult, Error> {
    let folder = &context.path(folder);
    let mut tables = BTreeMap::new();
    let mut secrets = Vec::new();
    let mut seen = BTreeSet::new();
    for path in manifests(folder)? {
        let manifest: RunManifest = context.read_json(&path)?;
        if seen.insert((manifest.config.text.clone(), manifest.all_overrides())) {
            let checked = check_recorded(context, &manifest, &[])?;
            secrets.extend(known_secrets(context, &checked.pipeline.config, &checked.registry));
            tables.extend(batch_tables(&checked)?);
        }
    }
    let variables = tables.keys().filter_map(|table| table.variable.as_deref());
    secrets.extend(variables.filter_map(|name| context.variable(name)).map(SecretString::from));
    let redactor = Redactor::new(&secrets);
    let batch = BatchFolder::of(folder);
    let replies = batch
        .read_replies(&[], &redactor)
        .map_err(|wrong| Error::findings(Status::Input, wrong, SourceMap::default()))?;
    let files = batch.written(&replies)?;
    if files.is_empty() {
        let message = format!("no request waits in {}", batch.path().display());
        let help = "`planforge run` writes the requests of a model table with `use = \"provider-batch\"`";
        return Err(Failure::new(FailureClass::Request, "cli.no-requests", message).help(help).into());
    }
    let connections = RefCell::new(BTreeMap::new());
    let connect = |file: &WrittenFile| {
        let (table, place) = table_of(file, &tables)?;
        let known = connections.borrow().get(table).cloned();
        known.map_or_else(
            || {
                let connection = Arc::new(connection(context, table, place)?);
                connections.borrow_mut().insert(table.clone(), Arc::clone(&connection));
                Ok(connection)
            },
            Ok,
        )
    };
    let interrupted = context.cancellation.watch();
    let client = BatchClient {
        folder: &batch,
        files: &files,
        connect: &connect,
        clock: &SystemClock::default(),
        now: &|| record_now(&*context.machine),
        cancelled: &move || interrupted.load(Ordering::SeqCst),
        redactor: &redactor,
        note: &|line| context.note(Notice::BatchService(line.to_owned())),
    };
    Ok(BatchResult::new(folder, call(&client)?, has_sent))
}

/// The manifests of a run, or of all cells of an evaluation.
fn manifests(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let own = folder.join(MANIFEST);
    if own.is_file() {
        return Ok(vec![own]);
    }
    let mut found = Vec::new();
    // The folder of a shard is `OUT/shards/I-of-N`.
    let out = folder
        .ancestors()
        .nth(2)
        .filter(|_| folder.parent().is_some_and(|parent| parent.ends_with("shards")));
    let mut folders = vec![out.unwrap_or(folder).join("cells")];
    while let Some(next) = folders.pop() {
        let manifest = next.join(MANIFEST);
        if manifest.is_file() {
            found.push(manifest);
            continue;
        }
        let entries = std::fs::read_dir(&next).into_iter().flatten().flatten();
        folders.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
    if found.is_empty() {
        let message = format!("{} is neither a run folder nor the folder of an evaluation", folder.display());
        return Err(Failure::new(FailureClass::Request, "record.not-a-run", message));
    }
    found.sort();
    Ok(found)
}

/// The model tables of a pipeline whose provider answers later, each with file, line and table of its address.
fn batch_tables(checked: &LoadedPipeline) -> Result<Vec<(BatchTable, String)>, Failure> {
    let mut tables = Vec::new();
    for (name, table) in &checked.pipeline.config.llm {
        let info = checked.registry.info(&table.plugin)?;
        if !info.capabilities.deferred {
            continue;
        }
        let (host, options) = split_table(&table.settings);
        let text = |name: &str| {
            info.option_value(&options, name).and_then(|value| value.as_str().map(str::to_owned))
        };
        let service = match text("service").map(|name| serde_json::from_value(Value::from(name))) {
            Some(Ok(service)) => service,
            Some(Err(_)) | None => Service::Openai,
        };
        let base_url = text("base_url").unwrap_or_else(|| service.base_url().to_owned());
        let own = (base_url == service.base_url()).then(|| service.key_variable().to_owned());
        let file = (checked.pipeline.name.as_str(), checked.pipeline.source.as_str());
        let place = PluginPlace::Model(name.clone()).of_option(file, "base_url", options.get("base_url"));
        let table = BatchTable {
            model: host.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            service: service.name(),
            variable: text("api_key_env").or(own),
            base_url,
        };
        tables.push((table, place));
    }
    Ok(tables)
}

/// The model table whose requests a file holds.
fn table_of<'t>(
    file: &WrittenFile,
    tables: &'t BTreeMap<BatchTable, String>,
) -> Result<(&'t BatchTable, &'t str), Failure> {
    let service = Service::of_url(&file.url).map(Service::name);
    let fits = |table: &BatchTable| Some(table.service) == service && table.model == file.model;
    let found: Vec<_> = tables.iter().filter(|(table, _)| fits(table)).collect();
    if let [(table, place)] = found.as_slice() {
        return Ok((table, place));
    }
    let what =
        if found.is_empty() { "no model table" } else { "several model tables with different servers" };
    let message = format!("{}: {what} for `{}` at {}", file.name, file.model, file.url);
    Err(Failure::new(FailureClass::Request, "cli.batch-table", message)
        .help("the pipeline's `[llm.NAME]` table with `use = \"provider-batch\"` names the service, its address and the key"))
}

/// A connection to the server of a table, with the key if the user allows that server to get it.
fn connection(context: &Context, table: &BatchTable, place: &str) -> Result<ServiceConnection, Failure> {
    let service =
        if table.service == Service::Anthropic.name() { Service::Anthropic } else { Service::Openai };
    let server = NamedServer {
        url: table.base_url.clone(),
        own: Some(service.base_url().to_owned()),
        option: "base_url",
        place: place.to_owned(),
        is_proxy: false,
    };
    Consent::new(context).check_server(&server, &table.variable.iter().cloned().collect())?;
    let value = match &table.variable {
        Some(variable) => {
            let value = context.variable(variable);
            Some(value.ok_or_else(|| {
                let variable = shown_variable(variable);
                let message = format!("the environment variable {variable} is not set");
                Failure::new(FailureClass::System, "cli.missing-secret", message)
                    .help(format!("set {variable} to the key of {}", table.service))
            })?)
        }
        None => None,
    };
    let key = table.variable.as_deref().zip(value.as_deref());
    ServiceConnection::new(&ConnectionSettings { service, base_url: &table.base_url, key })
}
