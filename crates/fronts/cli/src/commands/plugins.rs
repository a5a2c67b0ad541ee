//! `planforge plugins`: what there is, what it takes, and a new one.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand, ValueEnum};
use planforge_app::contract::PluginInfo;
use planforge_app::diagnostics::render::escape;
use planforge_app::plugins::{
    CheckReport, CheckStatus, CheckedStatus, ListedPlugin, NewPluginRequest, PluginReport,
    ProcessEnvironmentOptions, TestPluginRequest, list, new_plugin, show, test_plugin, try_environment,
};
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
    Test(TestPluginArgs),
    TryEnvironment(TryEnvironmentArgs),
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
        PluginsCommand::Test(args) => run_test_plugin(context, args),
        PluginsCommand::TryEnvironment(args) => run_try_environment(context, args),
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
        let about = schema["description"].as_str().unwrap_or_default();
        let values = value_meanings(schema, &info.options_schema["$defs"], 0);
        let values =
            values.iter().map(|(value, meaning)| format!(" \"{value}\": {meaning}")).collect::<String>();
        let default = schema.get("default").filter(|d| !d.is_null());
        let default = default.map(|d| format!(" (default {d})")).unwrap_or_default();
        [name.clone(), format!("{about}{values}{default}").replace('\n', " ")]
    };
    section("option", options.into_iter().flatten().map(option_row).collect());
    out
}

/// The values of an enumeration with their meanings. A plugin's schema may refer to itself, so its depth is limited.
fn value_meanings<'a>(schema: &'a Value, definitions: &'a Value, depth: usize) -> Vec<(&'a str, &'a str)> {
    if depth > 8 {
        return Vec::new();
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return value_meanings(&definitions[name], definitions, depth + 1);
    }
    let own = schema["const"].as_str().zip(schema["description"].as_str());
    let alternatives =
        ["oneOf", "anyOf"].into_iter().flat_map(|key| schema[key].as_array().into_iter().flatten());
    let inner =
        alternatives.chain(schema.get("items")).flat_map(|one| value_meanings(one, definitions, depth + 1));
    own.into_iter().chain(inner).collect()
}

/// Check a plugin: options, metrics, determinism, concurrency, cancellation, hostile inputs.
///
/// Libraries run in a child process, so that a crash is a failed check. Models are scripted: roles get fixed replies, a provider with a
/// server option talks to a scripted server, and keys are made up.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge plugins test my-check
  planforge plugins test target/debug/libmy_check.so --set most=3
  planforge plugins test environment-process --set 'command=[\"python3\", \"examples/environments/jugs.py\"]'
  planforge plugins test verifier-val --pipeline configs/pipelines/llm-p.toml")]
pub(crate) struct TestPluginArgs {
    /// A library, the folder of a program, or the id of a plugin.
    #[arg(value_name = "PATH")]
    pub(crate) plugin: String,
    /// Take the options of the first table of this pipeline that uses the plugin.
    #[arg(long, value_name = "FILE")]
    pub(crate) pipeline: Option<PathBuf>,
    /// Set an option of the plugin. The value is TOML, or else text.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = option_value)]
    pub(crate) set: Vec<(String, Value)>,
    /// Seconds that one call may take.
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = positive_seconds)]
    pub(crate) timeout: f64,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

fn option_value(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not KEY=VALUE"))?;
    Ok((key.trim().to_owned(), planforge_app::plugins::option_value(value)))
}

pub(crate) fn run_test_plugin(context: &Context, args: &TestPluginArgs) -> Exit {
    let request = TestPluginRequest {
        plugin: args.plugin.clone(),
        pipeline: args.pipeline.clone(),
        options: args.set.iter().cloned().collect(),
        seconds: args.timeout,
    };
    context.show(test_plugin(&context.app, &request), |result| {
        match args.json {
            true => context.output.json(&result),
            false => context.output.result(&report_text(&result.report)),
        }
        result.status()
    })
}

fn report_text(report: &PluginReport) -> String {
    let failed = report.checks.iter().filter(|check| check.status == CheckStatus::Failed).count();
    let verdict = match failed {
        0 => format!("`{}` passes.", report.plugin),
        1 => format!("`{}` does not pass: 1 check failed.", report.plugin),
        n => format!("`{}` does not pass: {n} checks failed.", report.plugin),
    };
    let mut table = Table::new(["status", "check", "detail"].map(|name| (name, Align::Left)));
    for check in &report.checks {
        table.row([check.status.name(), &check.name, &escape(&check.detail)]);
    }
    format!("{verdict}\n\n{}", table.text())
}

/// Check a program against the environment protocol.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge plugins try-environment -- python3 examples/environments/jugs.py
  planforge plugins try-environment --task examples/suites/jugs/p02 --json -- python3 examples/environments/jugs.py")]
pub(crate) struct TryEnvironmentArgs {
    /// The task sent to the program [default: a task without a name].
    #[arg(long, value_name = "DIR/STEM")]
    pub(crate) task: Option<PathBuf>,
    /// Seconds that the program may take for one answer.
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = positive_seconds)]
    pub(crate) timeout: f64,
    /// Seconds for the first answer, which includes the program's start.
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = positive_seconds)]
    pub(crate) start_timeout: f64,
    /// Megabytes of address space for the program; 0 for no limit.
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    pub(crate) memory_limit: u64,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// The program and its arguments; no shell reads them.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

pub(crate) fn run_try_environment(context: &Context, args: &TryEnvironmentArgs) -> Exit {
    let options = ProcessEnvironmentOptions {
        command: args.command.clone(),
        timeout_s: args.timeout,
        start_timeout_s: args.start_timeout,
        memory_mb: args.memory_limit,
        ..Default::default()
    };
    context.show(try_environment(&context.app, &options, args.task.as_deref()), |result| {
        match args.json {
            true => context.output.json(&result),
            false => context.output.result(&text(&result.report)),
        }
        result.status()
    })
}

/// The verdict, a table of the checks, and the times of answers.
fn text(report: &CheckReport) -> String {
    let failed = report.checks.iter().filter(|c| c.status == CheckedStatus::Fail).count();
    let verdict = match failed {
        0 => "The program keeps to the protocol.".to_owned(),
        1 => "The program does not keep to the protocol: 1 check failed.".to_owned(),
        n => format!("The program does not keep to the protocol: {n} checks failed."),
    };
    let mut table = Table::new(["status", "check", "detail"].map(|name| (name, Align::Left)));
    for check in &report.checks {
        let status = match check.status {
            CheckedStatus::Pass => "pass",
            CheckedStatus::Fail => "FAIL",
            CheckedStatus::Skipped => "skip",
        };
        table.row([status, &check.name, &escape(&check.detail)]);
    }
    let mut out = format!("{verdict}\n\n{}", table.text());
    if !report.answer_ms.is_empty() {
        let times = report.answer_ms.iter().map(|(method, ms)| format!("{method} {ms:.2} ms"));
        out.push_str(&format!("\nTime of one answer: {}\n", times.collect::<Vec<_>>().join(", ")));
    }
    out
}
