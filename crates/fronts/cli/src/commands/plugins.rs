//! `planforge plugins`: what there is, what it takes, and a new one.

mod test_plugin;
mod try_environment;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand, ValueEnum};
use planforge_app::contract::PluginInfo;
use planforge_app::plugins::{ListedPlugin, NewPluginRequest, list, new_plugin, show};
use planforge_app::table::{Align, Table};
use serde_json::Value;
use std::path::PathBuf;

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
        /// For Rust: a planforge checkout to take the SDK from by path [default: the one that contains DIR, else its sources are written beside the plugin].
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
        PluginsCommand::List { json } => print_list(context, *json),
        PluginsCommand::Show { id, json } => context.show(show(&context.app, id), |info| {
            match json {
                true => context.output.json(&info),
                false => context.output.result(&describe(&info)),
            }
            Exit::Good
        }),
        PluginsCommand::New { kind, name, language, dir, sdk } => {
            let request = NewPluginRequest {
                kind: kind.clone(),
                name: name.clone(),
                is_python: *language == Language::Python,
                folder: dir.clone(),
                sdk: sdk.clone(),
            };
            context.show(new_plugin(&context.app, &request), |new| {
                let list: String = new.files.iter().map(|file| format!("{}\n", file.display())).collect();
                context.output.result(&list);
                context.output.note(&format!("next: {}", new.next));
                Exit::Good
            })
        }
        PluginsCommand::Test(args) => test_plugin::run(context, args),
        PluginsCommand::TryEnvironment(args) => try_environment::run(context, args),
    }
}

fn print_list(context: &Context, json: bool) -> Exit {
    let list = list(&context.app);
    if json {
        context.output.json(&list);
    } else {
        let mut table = Table::new(["plugin", "kind", "version", "origin"].map(|name| (name, Align::Left)));
        list.plugins.iter().for_each(|plugin| table.row(row(plugin)));
        context.output.result(&table.text());
    }
    list.status()
}

fn row(plugin: &ListedPlugin) -> [String; 4] {
    let origin = &plugin.origin;
    let (kind, version, origin) = match (&plugin.failure, &plugin.kind, &plugin.version) {
        (None, Some(kind), Some(version)) => {
            let shadowed = if plugin.shadowed { " (shadowed)" } else { "" };
            (kind.name().to_owned(), version.clone(), format!("{origin}{shadowed}"))
        }
        (failure, ..) => {
            let why = failure.as_ref().map(ToString::to_string).unwrap_or_default();
            ("refused".to_owned(), "-".to_owned(), format!("{origin}: {why}"))
        }
    };
    [plugin.id.clone(), kind, version, origin]
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
