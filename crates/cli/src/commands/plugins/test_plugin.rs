//! `planforge plugins test`: checks of one plugin, as a run loads it.

use crate::args::positive_seconds;
use crate::catalogue::registry;
use crate::context::Context;
use crate::exit::{Exit, of_failure};
use crate::pipeline::{check_pipeline, consent};
use crate::programs::started_programs;
use clap::Args;
use planforge_contract::{JsonObject, PluginInfo};
use planforge_diagnostics::render::escape;
use planforge_evaluate::{Align, Table};
use planforge_llm::split_table;
use planforge_pipeline::inline_files;
use planforge_plugin_host::Registry;
use planforge_plugin_tools::check::{CheckSettings, CheckStatus, PluginReport, check_plugin};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

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
    let read = toml::from_str::<toml::Table>(&format!("value = {value}"));
    let value = match read.ok().and_then(|mut table| table.remove("value")) {
        Some(value) => serde_json::to_value(value).map_err(|e| e.to_string())?,
        None => Value::from(value),
    };
    Ok((key.trim().to_owned(), value))
}

pub(crate) fn run(context: &Context, args: &TestPluginArgs) -> Exit {
    let mut context = Context { isolate_plugins: true, ..context.clone() };
    let path = Path::new(&args.plugin);
    if path.exists() {
        context.search_path.push(path.to_owned());
    }
    let registry = registry(&context);
    let result = find(&context, &registry, path, &args.plugin).and_then(|id| {
        let mut options = match &args.pipeline {
            Some(file) => pipeline_options(&context, file, &id)?,
            None => JsonObject::new(),
        };
        options.extend(args.set.iter().cloned());
        Ok(check_plugin(&registry, &id, &options, CheckSettings::new((args.timeout * 1000.0) as u64)))
    });
    match result {
        Ok(report) => {
            if args.json {
                context.output.json(&report_json(&report));
            } else {
                context.output.result(&report_text(&report));
            }
            exit(&report)
        }
        Err(exit) => exit,
    }
}

/// The id of the plugin at the path, or the given id.
fn find(context: &Context, registry: &Registry, path: &Path, given: &str) -> Result<String, Exit> {
    if !path.exists() {
        return match registry.source(given) {
            Ok(_) => Ok(given.to_owned()),
            Err(failure) => Err(context.print_failure(&failure)),
        };
    }
    let is_there = |id: &String| {
        let file = registry.source(id).ok().and_then(|source| source.file());
        file.is_some_and(|(file, _)| file.starts_with(path))
    };
    let found: Vec<String> = registry.ids().into_iter().filter(is_there).collect();
    match found.as_slice() {
        [id] => Ok(id.clone()),
        [] => Err(match registry.strays().iter().find_map(|stray| stray.info.as_ref().err()) {
            Some(failure) => context.print_failure(failure),
            None => context.usage_error(
                format!("there is no plugin in `{given}`"),
                Some("name a library, such as target/debug/libNAME.so after `cargo build`, or a folder with a plugin.toml"),
            ),
        }),
        _ => Err(context.usage_error(
            format!("there are {} plugins in `{given}`: {}", found.len(), found.join(", ")),
            Some("name the file or folder of one of them"),
        )),
    }
}

/// The options of the first table of a pipeline that uses the plugin, with the files that they name.
fn pipeline_options(context: &Context, file: &Path, id: &str) -> Result<JsonObject, Exit> {
    let text = context.read_text(file)?;
    let checked = check_pipeline(context, &text, &file.display().to_string(), &[])?;
    let config = &checked.pipeline.config;
    let consent = consent(context).map_err(|failure| context.print_failure(&failure))?;
    for program in started_programs(config, &checked.registry, checked.pipeline.folder()) {
        let file = (checked.pipeline.name.as_str(), checked.pipeline.source.as_str());
        consent.check_command(&program, file).map_err(|failure| context.print_failure(&failure))?;
    }
    let models = config.llm.values().map(|table| (table.plugin.as_str(), split_table(&table.settings).1));
    let stages = config.all_stages().filter_map(|stage| stage.plugin());
    let stages = stages.map(|(plugin, options)| (plugin, options.clone()));
    let environment = config.environment.iter().map(|table| (table.plugin.as_str(), table.options.clone()));
    let Some((_, options)) = models.chain(stages).chain(environment).find(|(plugin, _)| *plugin == id) else {
        let text = format!("{}: no table uses the plugin `{id}`", file.display());
        return Err(context.usage_error(text, None));
    };
    let info: PluginInfo = match checked.registry.info(id) {
        Ok(info) => PluginInfo::clone(&info),
        Err(failure) => return Err(context.print_failure(&failure)),
    };
    inline_files(&info, &options, checked.pipeline.folder(), config.disguise().as_ref()).map_err(|failures| {
        let exits = failures.iter().map(|failure| context.print_failure(failure));
        exits.max().unwrap_or(Exit::Plugin)
    })
}

/// The code of the first check that failed: that of the plugin's failure, or a negative verdict for a wrong answer.
fn exit(report: &PluginReport) -> Exit {
    match report.first_failed().map(|check| check.failure.as_ref()) {
        None => Exit::Good,
        Some(None) => Exit::Negative,
        // Its class is that of the interruption if the plugin ignores one.
        Some(Some(failure)) if failure.code == "plugin.deadline" => Exit::TimeLimit,
        Some(Some(failure)) => of_failure(failure),
    }
}

fn report_json(report: &PluginReport) -> Value {
    json!({
        "plugin": report.plugin, "kind": report.kind, "passed": report.is_passed(), "checks": report.checks,
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
