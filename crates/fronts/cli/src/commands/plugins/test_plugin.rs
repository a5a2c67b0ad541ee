//! `planforge plugins test`: checks of one plugin, as a run loads it.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::plugins::{CheckStatus, PluginReport, TestPluginRequest, test_plugin};
use planforge_app::table::{Align, Table};
use serde_json::Value;
use std::path::PathBuf;

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

pub(crate) fn run(context: &Context, args: &TestPluginArgs) -> Exit {
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
