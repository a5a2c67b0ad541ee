//! `planforge models check`: a few small requests to a model, and what they show.

use super::abilities::{Ability, Answer, find_abilities};
use super::trial::{Connection, MOST_REQUESTS, Refused, Trial};
use crate::catalogue::registry;
use crate::context::Context;
use crate::exit::{Exit, of_failure};
use crate::model_choice::model_table;
use crate::pipeline::{check_pipeline, consent};
use clap::Args;
use planforge_contract::{Failure, Replies};
use planforge_evaluate::{Align, Table};
use planforge_llm::to_failure;
use planforge_pipeline::{LlmTable, dollars};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

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

pub(crate) fn run(context: &Context, args: &CheckModelArgs) -> Exit {
    check(context, args).unwrap_or_else(|exit| exit)
}

/// The result of a trial.
struct TrialReport<'a> {
    trial: &'a Trial<'a>,
    connection: &'a Connection,
    /// The key `grammar` of the table before the trial.
    own_grammar: Option<Value>,
    /// Changes of the table that the first reply needed.
    changes: Vec<String>,
    /// The abilities, or why the model does not answer.
    outcome: Result<Vec<Ability>, Failure>,
}

fn check(context: &Context, args: &CheckModelArgs) -> Result<Exit, Exit> {
    let table = named_table(context, args)?;
    let registry = registry(context);
    let consent = consent(context).map_err(|failure| context.print_failure(&failure))?;
    let folder = args.pipeline.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let name = table_name(args);
    let mut trial = Trial {
        context,
        registry: &registry,
        consent: &consent,
        folder,
        name,
        table,
        requests: 0,
        usages: Vec::new(),
    };
    let own_grammar = trial.table.settings.get("grammar").cloned();
    let mut connection = trial.connect()?;
    let mut changes = Vec::new();
    let outcome = match first_reply(&mut trial, &mut connection, &mut changes)? {
        Ok(first) => Ok(find_abilities(&mut trial, &connection, &first)),
        Err(failure) => Err(failure),
    };
    if let Ok(abilities) = &outcome
        && abilities.iter().any(|ability| ability.name == "n" && ability.result == Answer::No)
        && trial.info().is_some_and(|info| info.capabilities.several_replies)
    {
        trial.table.settings.insert("n_per_request".to_owned(), 1.into());
    }
    let report = TrialReport { trial: &trial, connection: &connection, own_grammar, changes, outcome };
    match args.json {
        true => context.output.json(&report.json()),
        false => context.output.result(&report.text()),
    }
    Ok(report.outcome.as_ref().err().map_or(Exit::Good, of_failure))
}

fn named_table(context: &Context, args: &CheckModelArgs) -> Result<LlmTable, Exit> {
    let Some(path) = &args.pipeline else {
        let table = serde_json::to_value(model_table(context, &args.name)?);
        return table.and_then(serde_json::from_value).map_err(|e| context.usage_error(e.to_string(), None));
    };
    let text = context.read_text(path)?;
    let mut models = check_pipeline(context, &text, &path.display().to_string(), &[])?.pipeline.config.llm;
    models.remove(&args.name).ok_or_else(|| {
        let known: Vec<String> = models.keys().map(|name| format!("`{name}`")).collect();
        let message = format!("{} has no table `[llm.{}]`", path.display(), args.name);
        context.usage_error(message, Some(&format!("its tables are {}", known.join(", "))))
    })
}

/// The name of the table in messages and in the report.
fn table_name(args: &CheckModelArgs) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    args.name.chars().map(safe).collect()
}

/// The first reply. The table is changed as long as the server names a key that solves its refusal.
fn first_reply(
    trial: &mut Trial<'_>,
    connection: &mut Connection,
    changes: &mut Vec<String>,
) -> Result<Result<Replies, Failure>, Exit> {
    loop {
        match trial.send(connection, connection.request("Write the word ready and nothing else.")) {
            Ok(replies) => return Ok(Ok(replies)),
            Err(Refused::Provider(failure)) => return Ok(Err(failure)),
            Err(Refused::Server(failure)) => match trial.adapt(connection, &failure) {
                Some(change) => {
                    changes.push(change);
                    *connection = trial.connect()?;
                }
                None => return Ok(Err(to_failure(&trial.name, &connection.settings, 1, &failure))),
            },
        }
    }
}

impl TrialReport<'_> {
    fn headline(&self) -> String {
        let model = &self.connection.settings.model;
        let abilities = match &self.outcome {
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

    fn text(&self) -> String {
        let mut out = self.headline() + "\n";
        match &self.outcome {
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
                if let Some(advice) = self.advice() {
                    out += &format!("help: {advice}\n");
                }
            }
        }
        out += &format!("\n{}\n", self.spent());
        if !self.changes.is_empty() {
            out +=
                &format!("The server refused the table at first. Now it has: {}\n", self.changes.join(", "));
        }
        if self.outcome.is_ok() {
            let name = &self.trial.name;
            out += &format!(
                "\nFor a pipeline file as [llm.main], or for planforge/config.toml as it is:\n\n[models.{name}]\n"
            );
            out += &self.table_text();
        }
        out
    }

    /// The key `grammar` to set, if the table has another value.
    fn advice(&self) -> Option<String> {
        match self.trial.table.settings.get("grammar") {
            found if found == self.own_grammar.as_ref() => None,
            Some(key) => {
                Some(format!("set `grammar = {key}`: the server enforces grammars that are sent so"))
            }
            None => Some("remove `grammar`: the server enforces no grammar, however it is sent".to_owned()),
        }
    }

    fn spent(&self) -> String {
        let requests = self.trial.requests;
        let tokens = match self.trial.usage() {
            (Some(prompt), Some(completion)) => format!("{prompt} tokens in, {completion} out"),
            _ => "an unknown number of tokens".to_owned(),
        };
        let cost = match self.trial.cost(&self.connection.settings.price) {
            Some(usd) => dollars(usd),
            None => "cost unknown (the table has no price for all of them)".to_owned(),
        };
        let plural = if requests == 1 { "" } else { "s" };
        format!("{requests} request{plural} of at most {MOST_REQUESTS}: {tokens}, {cost}")
    }

    /// The table with all changes, as TOML below its header.
    fn table_text(&self) -> String {
        let value =
            |value: &Value| toml::Value::try_from(value).map(|value| value.to_string()).unwrap_or_default();
        let mut out = format!("use = {}\n", value(&self.trial.table.plugin.clone().into()));
        for (key, setting) in &self.trial.table.settings {
            out += &format!("{key} = {}\n", value(setting));
        }
        if self.connection.settings.price.prompt.is_none() {
            out += "# price = { prompt = ..., completion = ... }   # US dollars for a million tokens\n";
        }
        out
    }

    fn json(&self) -> Value {
        let (prompt_tokens, completion_tokens) = self.trial.usage();
        json!({
            "model": self.connection.settings.model,
            "answers": self.outcome.is_ok(),
            "abilities": self.outcome.as_ref().ok(),
            "failure": self.outcome.as_ref().err(),
            "changes": self.changes,
            "advice": self.advice(),
            "requests": self.trial.requests,
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "cost_usd": self.trial.cost(&self.connection.settings.price),
            "table": self.trial.table,
        })
    }
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
