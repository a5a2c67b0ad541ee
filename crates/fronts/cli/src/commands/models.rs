//! `planforge models`: language models, as `--model` and pipeline files name them.

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};
use planforge_app::models::{
    Answer, CheckModelRequest, CheckModelResult, MOST_REQUESTS, check_model, dollars,
};
use planforge_app::table::{Align, Table};
use std::path::PathBuf;

/// Try a language model before a run uses it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge models check openai:gpt-4o
  planforge models check main --pipeline configs/pipelines/llm-p.toml --json")]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    command: ModelsCommand,
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    Check(CheckModelArgs),
}

pub(crate) fn run(context: &Context, args: &ModelsArgs) -> Exit {
    match &args.command {
        ModelsCommand::Check(args) => run_check(context, args),
    }
}

/// Send a few small requests to a model, and report what it can do, what that cost, and which keys to set.
///
/// At most 16 requests with short replies are sent, two of them with a prompt of some 2,000 tokens. Nothing is recorded.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge models check openai:gpt-4o
  planforge models check local:qwen2.5-coder-1.5b-instruct
  planforge models check main --pipeline configs/pipelines/llm-p.toml --json")]
pub(crate) struct CheckModelArgs {
    /// The model, as --model of `planforge run` names it; with --pipeline, the name of a table of that file.
    name: String,
    /// A pipeline file with the table `[llm.NAME]`.
    #[arg(long, value_name = "FILE")]
    pipeline: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run_check(context: &Context, args: &CheckModelArgs) -> Exit {
    let request = CheckModelRequest { name: args.name.clone(), pipeline: args.pipeline.clone() };
    context.show(check_model(&context.app, &request), |result| {
        match args.json {
            true => context.output.json(&result),
            false => context.output.result(&text(&result)),
        }
        result.status()
    })
}

fn headline(result: &CheckModelResult) -> String {
    let model = &result.model;
    let abilities = match &result.outcome {
        Ok(abilities) => abilities,
        Err(failure) => return format!("no, `{model}` does not answer: {failure}"),
    };
    let lacking = abilities.iter().filter(|ability| ability.result == Answer::No);
    let lacking: Vec<&str> = lacking.map(|ability| ability.name).collect();
    match lacking.is_empty() {
        true => format!("yes, `{model}` answers, and refuses nothing that was tried"),
        false => format!("yes, `{model}` answers; it cannot: {}", lacking.join(", ")),
    }
}

fn text(result: &CheckModelResult) -> String {
    let mut out = headline(result) + "\n";
    match &result.outcome {
        Err(failure) => {
            if let Some(help) = &failure.help {
                out += &format!("help: {help}\n");
            }
        }
        Ok(abilities) => {
            let mut table =
                Table::new(["ability", "result", "what was seen"].map(|name| (name, Align::Left)));
            for ability in abilities {
                table.row([ability.name, ability.result.name(), &one_line(&ability.detail)]);
            }
            out += &format!("\n{}", table.text());
            if let Some(advice) = &result.advice {
                out += &format!("help: {advice}\n");
            }
        }
    }
    out += &format!("\n{}\n", spent(result));
    if !result.changes.is_empty() {
        out += &format!("The server refused the table at first. Now it has: {}\n", result.changes.join(", "));
    }
    if result.outcome.is_ok() {
        out += &format!(
            "\nFor a pipeline file as [llm.main], or for planforge/config.toml as it is:\n\n[models.{}]\n",
            result.name
        );
        out += &result.table_text();
    }
    out
}

fn spent(result: &CheckModelResult) -> String {
    let requests = result.requests;
    let tokens = match result.tokens {
        (Some(prompt), Some(completion)) => format!("{prompt} tokens in, {completion} out"),
        _ => "an unknown number of tokens".to_owned(),
    };
    let cost = match result.cost_usd {
        Some(usd) => dollars(usd),
        None => "cost unknown (the table has no price for all of them)".to_owned(),
    };
    let plural = if requests == 1 { "" } else { "s" };
    format!("{requests} request{plural} of at most {MOST_REQUESTS}: {tokens}, {cost}")
}

/// A server's text without control characters and line ends, cut to a line.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
