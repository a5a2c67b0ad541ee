//! `planforge batch`: sends the requests of a parked run to a batch service, and downloads the answers.

use crate::calendar::now;
use crate::consent::shown_variable;
use crate::context::Context;
use crate::exit::Exit;
use crate::pipeline::{LoadedPipeline, check_recorded, consent};
use crate::prepare::known_secrets;
use crate::run_names::run_argument;
use clap::{Args, Subcommand};
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceMap;
use planforge_diagnostics::render::escape;
use planforge_llm::{SystemClock, split_table};
use planforge_model_api::batch::{BatchFolder, WrittenFile};
use planforge_model_api::batch_services::{
    BatchClient, BatchLine, ConnectionSettings, Service, ServiceConnection,
};
use planforge_record::{Redactor, RunManifest};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Send the waiting requests of a run to a batch service and download the answers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge batch submit runs/20261121-101500-llm-p
  planforge batch status runs/20261121-101500-llm-p
  planforge batch fetch runs/20261121-101500-llm-p --wait
  planforge run --resume runs/20261121-101500-llm-p

Exits with 26 while answers are awaited, with 34 if the service refuses.")]
pub(crate) struct BatchArgs {
    #[command(subcommand)]
    command: BatchCommand,
}

#[derive(Debug, Subcommand)]
enum BatchCommand {
    /// Send every request file that was not sent and has requests without a reply. No file is sent twice.
    Submit(FolderArgs),
    /// Show each request file with its batch, as the service describes it.
    Status(FolderArgs),
    /// Download the answers of batches that have ended.
    Fetch(FetchArgs),
}

#[derive(Debug, Args)]
struct FolderArgs {
    /// A run folder, or the folder of an evaluation.
    #[arg(value_name = "RUN", value_parser = run_argument())]
    folder: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct FetchArgs {
    #[command(flatten)]
    folder: FolderArgs,
    /// Wait until every batch has ended.
    #[arg(long)]
    wait: bool,
}

pub(crate) fn run(context: &Context, args: &BatchArgs) -> Exit {
    let ended = match &args.command {
        BatchCommand::Submit(args) => submit(context, args),
        BatchCommand::Status(args) => with_client(context, &args.folder, |client| client.status())
            .map(|lines| print(context, args, &lines)),
        BatchCommand::Fetch(args) => {
            with_client(context, &args.folder.folder, |client| client.fetch(args.wait))
                .map(|lines| print(context, &args.folder, &lines))
        }
    };
    match ended {
        Ok(exit) | Err(exit) => exit,
    }
}

fn submit(context: &Context, args: &FolderArgs) -> Result<Exit, Exit> {
    let lines = with_client(context, &args.folder, |client| client.submit())?;
    match print(context, args, &lines) {
        Exit::Pending => Ok(Exit::Good),
        exit => Ok(exit),
    }
}

/// Prints the lines and the next command.
fn print(context: &Context, args: &FolderArgs, lines: &[BatchLine]) -> Exit {
    let folder = args.folder.display();
    let is_awaited = lines.iter().any(BatchLine::is_awaited);
    let is_unsent = lines.iter().any(BatchLine::is_unsent);
    let next = match (is_unsent, is_awaited) {
        (true, _) => format!("planforge batch submit {folder}"),
        (false, true) => format!("planforge batch fetch {folder} --wait"),
        (false, false) if args.folder.join(MANIFEST).exists() => format!("planforge run --resume {folder}"),
        (false, false) => format!("planforge evaluate --resume --out {folder}"),
    };
    if args.json {
        context.output.json(&json!({"batches": lines, "next": next}));
    } else {
        let text: String = lines.iter().map(|line| text(line) + "\n").collect();
        context.output.result(&text);
    }
    let failures: Vec<&Failure> = lines.iter().filter_map(|line| line.failure.as_ref()).collect();
    let exits = failures.iter().map(|failure| context.print_failure(failure));
    let failed = exits.max();
    context.output.note(&format!("next: `{next}`"));
    match failed {
        Some(exit) => exit,
        None if is_awaited || is_unsent => Exit::Pending,
        None => Exit::Good,
    }
}

/// One line of text about a request file, and further ones about the results.
fn text(line: &BatchLine) -> String {
    let requests =
        if line.requests == 1 { "1 request".to_owned() } else { format!("{} requests", line.requests) };
    let mut text = format!("{}: {requests}, ", line.file);
    match (&line.service, &line.batch) {
        (None, _) if line.open == 0 => text += "answered",
        (None, _) => text += &format!("not submitted ({} without an answer)", line.open),
        (Some(service), None) => text += &format!("the submission to {} was interrupted", service.name()),
        (Some(service), Some(batch)) => {
            text += &format!("{} batch {}", service.name(), escape(batch));
            match &line.progress {
                Some(progress) => text += &format!(": {}", escape(&progress.text())),
                None if line.fetched => text += ": fetched",
                None => {}
            }
        }
    }
    for error in line.progress.iter().flat_map(|progress| &progress.errors) {
        text += &format!("\n  the service refused the batch: {}", escape(error));
    }
    if let Some(results) = &line.results {
        text += &format!("\n  {} replies", results.replies);
        for (class, count) in &results.failed {
            text += &format!(", {count} errors `{class}`");
        }
        if results.missing > 0 {
            text += &format!(", {} without a result", results.missing);
        }
        text += &format!(": {}", results.answers.display());
        let (unknown, first) = &results.unknown;
        if *unknown > 0 {
            text += &format!(
                "\n  {unknown} results belong to unknown requests, such as `{}`",
                escape(&first.join("`, `"))
            );
        }
    }
    text
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

/// Opens the folder and its connections for a command.
fn with_client(
    context: &Context,
    folder: &Path,
    call: impl FnOnce(&BatchClient<'_>) -> Result<Vec<BatchLine>, Failure>,
) -> Result<Vec<BatchLine>, Exit> {
    let failed = |failure: Failure| context.print_failure(&failure);
    let mut tables = BTreeSet::new();
    let mut secrets = Vec::new();
    let mut seen = BTreeSet::new();
    for path in manifests(folder).map_err(failed)? {
        let manifest: RunManifest = context.read_json(&path)?;
        if seen.insert((manifest.config.text.clone(), manifest.all_overrides())) {
            let checked = check_recorded(context, &manifest, &[])?;
            secrets.extend(known_secrets(&checked.pipeline.config, &checked.registry));
            tables.extend(batch_tables(&checked).map_err(failed)?);
        }
    }
    let variables = tables.iter().filter_map(|table| table.variable.as_deref());
    secrets.extend(variables.filter_map(crate::environment::variable).map(SecretString::from));
    let redactor = Redactor::new(&secrets);
    let batch = BatchFolder::of(folder);
    let replies = batch.read_replies(&[], &redactor).map_err(|wrong| {
        context.output.diagnostics(&wrong, &SourceMap::default());
        Exit::Input
    })?;
    let files = batch.written(&replies).map_err(failed)?;
    if files.is_empty() {
        let message = format!("no request waits in {}", batch.path().display());
        let help = "`planforge run` writes the requests of a model table with `use = \"provider-batch\"`";
        return Err(failed(Failure::new(FailureClass::Request, "cli.no-requests", message).help(help)));
    }
    let connections = RefCell::new(BTreeMap::new());
    let connect = |file: &WrittenFile| {
        let table = table_of(file, &tables)?;
        let known = connections.borrow().get(table).cloned();
        known.map_or_else(
            || {
                let connection = Arc::new(connection(context, table)?);
                connections.borrow_mut().insert(table.clone(), Arc::clone(&connection));
                Ok(connection)
            },
            Ok,
        )
    };
    let interrupted = crate::interrupt::interrupt_flag();
    let client = BatchClient {
        folder: &batch,
        files: &files,
        connect: &connect,
        clock: &SystemClock::default(),
        now: &now,
        cancelled: &move || interrupted.load(Ordering::SeqCst),
        redactor: &redactor,
        note: &|line| context.output.note(&escape(line)),
    };
    call(&client).map_err(failed)
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

/// The model tables of a pipeline whose provider answers later.
fn batch_tables(checked: &LoadedPipeline) -> Result<Vec<BatchTable>, Failure> {
    let mut tables = Vec::new();
    for table in checked.pipeline.config.llm.values() {
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
        tables.push(BatchTable {
            model: host.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            service: service.name(),
            variable: text("api_key_env").or(own),
            base_url,
        });
    }
    Ok(tables)
}

/// The model table whose requests a file holds.
fn table_of<'t>(file: &WrittenFile, tables: &'t BTreeSet<BatchTable>) -> Result<&'t BatchTable, Failure> {
    let service = Service::of_url(&file.url).map(Service::name);
    let fits = |table: &&BatchTable| Some(table.service) == service && table.model == file.model;
    let found: Vec<&BatchTable> = tables.iter().filter(fits).collect();
    if let [table] = found.as_slice() {
        return Ok(table);
    }
    let what =
        if found.is_empty() { "no model table" } else { "several model tables with different servers" };
    let message = format!("{}: {what} for `{}` at {}", file.name, file.model, file.url);
    Err(Failure::new(FailureClass::Request, "cli.batch-table", message)
        .help("the pipeline's `[llm.NAME]` table with `use = \"provider-batch\"` names the service, its address and the key"))
}

/// A connection to the server of a table, with the key if the user allows that server to get it.
fn connection(context: &Context, table: &BatchTable) -> Result<ServiceConnection, Failure> {
    let service =
        if table.service == Service::Anthropic.name() { Service::Anthropic } else { Service::Openai };
    let value = match &table.variable {
        Some(variable) => {
            consent(context)?.check(variable, &table.base_url)?;
            let value = crate::environment::variable(variable).filter(|value| !value.is_empty());
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
