//! `planforge plugins`: what there is, what it takes, and a new one.

mod test_plugin;
mod try_environment;

use crate::catalogue::registry;
use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand, ValueEnum};
use planforge_contract::{Failure, PluginInfo};
use planforge_evaluate::{Align, Table};
use planforge_plugin_host::RegistryEntry;
use planforge_plugin_tools::scaffold::{scaffold, scaffold_python};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// List plugins, write a new one, test one, try a program as an environment.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  planforge plugins list\n  planforge plugins new verifier my-check\n  planforge plugins new verifier my-check --language python\n  planforge plugins test my-check"
)]
pub(crate) struct PluginsArgs {
    #[command(subcommand)]
    pub(crate) command: PluginsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginsCommand {
    /// Every plugin with kind, version and whether it is bundled or loaded.
    List {
        /// Print one JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
    /// The options, roles and metrics of one plugin.
    Show {
        /// The plugin's id.
        id: String,
        /// Print one JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Write a new plugin, in Rust or Python, that passes its own test.
    New {
        /// provider, translator, verifier, planner or environment.
        kind: String,
        /// The plugin's id: lower-case words joined by dashes, such as `verifier-mine`.
        name: String,
        /// The language of the plugin. Python needs neither a checkout nor an installation.
        #[arg(long, value_enum, default_value_t = Language::Rust)]
        language: Language,
        /// The folder to make it in.
        #[arg(long, default_value = ".", value_name = "DIR")]
        dir: PathBuf,
        /// For Rust: a planforge checkout to take the SDK from by path [default: the one that contains DIR, else the published version].
        #[arg(long, value_name = "DIR")]
        sdk: Option<PathBuf>,
    },
    Test(test_plugin::TestPluginArgs),
    TryEnvironment(try_environment::TryEnvironmentArgs),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    Rust,
    Python,
}

pub(crate) fn run(context: &Context, args: &PluginsArgs) -> Exit {
    match &args.command {
        PluginsCommand::List { json } => list(context, *json),
        PluginsCommand::Show { id, json } => show(context, id, *json),
        PluginsCommand::New { language: Language::Python, sdk: Some(_), .. } => {
            context.usage_error("--sdk is for plugins in Rust", Some("leave it out"))
        }
        PluginsCommand::New { kind, name, language: Language::Python, dir, sdk: None } => {
            let next =
                format!("`python3 -m unittest` in the new folder, then `planforge plugins test {name}`");
            report_new(context, scaffold_python(kind, name, dir), &next)
        }
        PluginsCommand::New { kind, name, language: Language::Rust, dir, sdk } => {
            new_crate(context, kind, name, dir, sdk.as_deref())
        }
        PluginsCommand::Test(args) => test_plugin::run(context, args),
        PluginsCommand::TryEnvironment(args) => try_environment::run(context, args),
    }
}

/// Lists all plugins. Refused libraries are listed too and make the command fail.
fn list(context: &Context, json: bool) -> Exit {
    let entries = registry(context).list();
    if json {
        context.output.json(&json!({"plugins": entries.iter().map(entry_json).collect::<Vec<_>>()}));
    } else {
        let mut table = Table::new(["plugin", "kind", "version", "origin"].map(|name| (name, Align::Left)));
        entries.iter().for_each(|entry| table.row(entry_row(entry)));
        context.output.result(&table.text());
    }
    if entries.iter().all(|e| e.info.is_ok()) { Exit::Good } else { Exit::Plugin }
}

fn entry_row(entry: &RegistryEntry) -> [String; 4] {
    let origin = origin(entry);
    let (kind, version, origin) = match &entry.info {
        Ok(info) => {
            let shadowed = if entry.shadowed { " (shadowed)" } else { "" };
            (info.kind.name().to_owned(), info.version.clone(), format!("{origin}{shadowed}"))
        }
        Err(failure) => ("refused".to_owned(), "-".to_owned(), format!("{origin}: {failure}")),
    };
    [entry.id.clone(), kind, version, origin]
}

fn origin(entry: &RegistryEntry) -> String {
    entry.source.file().map_or_else(|| "bundled".to_owned(), |(path, _)| path.display().to_string())
}

fn entry_json(entry: &RegistryEntry) -> Value {
    let sha256 = entry.source.file().map(|(_, sha256)| sha256);
    let (info, failure) = match &entry.info {
        Ok(info) => (Some(info.as_ref()), None),
        Err(failure) => (None, Some(failure)),
    };
    json!({
        "id": entry.id, "kind": info.map(|i| i.kind), "version": info.map(|i| &i.version), "origin": origin(entry),
        "sha256": sha256, "shadowed": entry.shadowed, "failure": failure,
    })
}

fn show(context: &Context, id: &str, json: bool) -> Exit {
    match registry(context).info_apart(id) {
        Ok(info) if json => context.output.json(info.as_ref()),
        Ok(info) => context.output.result(&describe(&info)),
        Err(failure) => return context.print_failure(&failure),
    }
    Exit::Good
}

fn describe(info: &PluginInfo) -> String {
    let mut out = format!("{} {} ({})\n{}\n", info.id, info.version, info.kind, info.about);
    let mut section = |first: &'static str, rows: Vec<[String; 2]>| {
        if !rows.is_empty() {
            let mut table = Table::new([first, "meaning"].map(|name| (name, Align::Left)));
            rows.into_iter().for_each(|row| table.row(row));
            out += &format!("\n{}", table.text());
        }
    };
    for (title, declared) in [("role", &info.roles), ("metric", &info.metrics)] {
        section(title, declared.iter().map(|d| [d.name.clone(), d.about.clone()]).collect());
    }
    let options = info.options_schema.get("properties").and_then(Value::as_object);
    let option_row = |(name, schema): (&String, &Value)| {
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
        let default = schema.get("default").filter(|d| !d.is_null());
        let default = default.map(|d| format!(" (default {d})")).unwrap_or_default();
        [name.clone(), about + &default]
    };
    section("option", options.into_iter().flatten().map(option_row).collect());
    out
}

fn new_crate(context: &Context, kind: &str, name: &str, dir: &Path, sdk: Option<&Path>) -> Exit {
    let sdk = sdk.map(Path::to_owned).or_else(|| sdk_near(dir));
    let mut next = format!(
        "`cargo test` in the new folder, then `planforge plugins test {name}/target/debug/{}`",
        library_file(name)
    );
    if sdk.is_none() {
        let version = env!("CARGO_PKG_VERSION");
        next += &format!(
            "\nit takes planforge-plugin-sdk {version} from crates.io; to take it from a checkout, name that with --sdk DIR"
        );
    }
    report_new(context, scaffold(kind, name, dir, sdk.as_deref()), &next)
}

/// The name of the library that a crate of that name builds.
fn library_file(name: &str) -> String {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    format!("{prefix}{}{suffix}", name.replace('-', "_"))
}

fn report_new(context: &Context, files: Result<Vec<PathBuf>, Failure>, next: &str) -> Exit {
    match files {
        Ok(files) => {
            let list: String = files.iter().map(|f| format!("{}\n", f.display())).collect();
            context.output.result(&list);
            context.output.note(&format!("next: {next}"));
            Exit::Good
        }
        Err(failure) => context.print_failure(&failure),
    }
}

/// The checkout that contains a folder: the one with `crates/platform/plugin-sdk`.
fn sdk_near(dir: &Path) -> Option<PathBuf> {
    let start = std::fs::canonicalize(dir).ok()?;
    start.ancestors().find(|a| a.join("crates/platform/plugin-sdk/Cargo.toml").is_file()).map(Path::to_owned)
}
