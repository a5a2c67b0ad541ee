//! A few small requests to a model, and what they show.

mod abilities;
mod trial;

use crate::catalogue::registry;
use crate::context::Context;
use crate::error::Error;
use crate::files::read_text;
use crate::pipelines::consent::Consent;
use crate::pipelines::loaded::check_pipeline;
use crate::pipelines::model_choice::model_table;
pub use crate::pipelines::model_choice::{ModelOffer, offers};
use crate::status::{Status, of_failure};
use abilities::find_abilities;
pub use abilities::{Ability, Answer, GrammarEffect, GrammarTrial};
use planforge_contract::{Failure, Replies};
use planforge_llm::to_failure;
use planforge_pipeline::LlmTable;
pub use planforge_pipeline::dollars;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
pub use trial::MOST_REQUESTS;
use trial::{Connection, Refused, Trial};

/// A model to try.
#[derive(Debug, Clone, Default)]
pub struct CheckModelRequest {
    /// The model, as `--model` of a run names it; with a pipeline, the name of a table of that file.
    pub name: String,
    /// A pipeline file with the table `[llm.NAME]`.
    pub pipeline: Option<PathBuf>,
}

/// What a trial found, what it used, and the table with all changes.
#[derive(Debug, Clone)]
pub struct CheckModelResult {
    /// Name of the table.
    pub name: String,
    /// Name of the model.
    pub model: String,
    /// The abilities, or why the model does not answer.
    pub outcome: Result<Vec<Ability>, Failure>,
    /// Changes of the table that the first reply needed, as TOML.
    pub changes: Vec<String>,
    /// A change of the key `grammar` to make, in a sentence.
    pub advice: Option<String>,
    /// Requests that were sent.
    pub requests: u32,
    /// Tokens of prompts and replies; absent where the server left a count out.
    pub tokens: (Option<u64>, Option<u64>),
    /// US dollars, where price and counts are known.
    pub cost_usd: Option<f64>,
    /// The table with all changes.
    pub table: LlmTable,
    /// True if the table states a price.
    pub has_price: bool,
}

impl CheckModelResult {
    /// Good if the model answers.
    pub fn status(&self) -> Status {
        self.outcome.as_ref().err().map_or(Status::Good, of_failure)
    }

    /// The table as TOML below its header.
    pub fn table_text(&self) -> String {
        let value =
            |value: &Value| toml::Value::try_from(value).map(|value| value.to_string()).unwrap_or_default();
        let mut out = format!("use = {}\n", value(&self.table.plugin.clone().into()));
        for (key, setting) in &self.table.settings {
            out += &format!("{key} = {}\n", value(setting));
        }
        if !self.has_price {
            out += "# price = { prompt = ..., completion = ... }   # US dollars for a million tokens\n";
        }
        out
    }
}

impl Serialize for CheckModelResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({
            "model": self.model,
            "answers": self.outcome.is_ok(),
            "abilities": self.outcome.as_ref().ok(),
            "failure": self.outcome.as_ref().err(),
            "changes": self.changes,
            "advice": self.advice,
            "requests": self.requests,
            "prompt_tokens": self.tokens.0,
            "completion_tokens": self.tokens.1,
            "cost_usd": self.cost_usd,
            "table": self.table,
        })
        .serialize(serializer)
    }
}

/// Sends at most [`MOST_REQUESTS`] small requests to a model. Nothing is recorded.
///
/// # Errors
/// A table that cannot be used. A model that does not answer is a result.
pub fn check_model(context: &Context, request: &CheckModelRequest) -> Result<CheckModelResult, Error> {
    let pipeline = request.pipeline.as_ref().map(|path| context.path(path));
    let (table, file) = named_table(context, &request.name, pipeline.as_deref())?;
    let registry = registry(context);
    let consent = Consent::new(context);
    let folder = pipeline.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    // The name of the table in messages and in the report.
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let mut trial = Trial {
        context,
        registry: &registry,
        consent: &consent,
        folder,
        name: request.name.chars().map(safe).collect(),
        file,
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
    Ok(CheckModelResult {
        advice: advice(&trial.table, own_grammar.as_ref()),
        model: connection.settings.model.clone(),
        outcome,
        changes,
        requests: trial.requests,
        tokens: trial.usage(),
        cost_usd: trial.cost(&connection.settings.price),
        has_price: connection.settings.price.prompt.is_some(),
        name: trial.name,
        table: trial.table,
    })
}

/// The key `grammar` to set, if the table has another value.
fn advice(table: &LlmTable, own: Option<&Value>) -> Option<String> {
    match table.settings.get("grammar") {
        found if found == own => None,
        Some(key) => Some(format!("set `grammar = {key}`: the server enforces grammars that are sent so")),
        None => Some("remove `grammar`: the server enforces no grammar, however it is sent".to_owned()),
    }
}

/// The table, with name and text of its file.
fn named_table(
    context: &Context,
    name: &str,
    pipeline: Option<&Path>,
) -> Result<(LlmTable, (String, String)), Error> {
    let Some(path) = pipeline else {
        let table = serde_json::to_value(model_table(context, name)?);
        let table = table.and_then(serde_json::from_value).map_err(|e| Error::usage(e.to_string(), None))?;
        return Ok((table, (name.to_owned(), String::new())));
    };
    let text = read_text(path)?;
    let shown = path.display().to_string();
    let mut models = check_pipeline(context, &text, &shown, &[])?.pipeline.config.llm;
    let table = models.remove(name).ok_or_else(|| {
        let known: Vec<String> = models.keys().map(|name| format!("`{name}`")).collect();
        let message = format!("{} has no table `[llm.{name}]`", path.display());
        Error::usage(message, Some(&format!("its tables are {}", known.join(", "))))
    })?;
    Ok((table, (shown, text)))
}

/// The first reply. The table is changed as long as the server names a key that solves its refusal.
fn first_reply(
    trial: &mut Trial<'_>,
    connection: &mut Connection,
    changes: &mut Vec<String>,
) -> Result<Result<Replies, Failure>, Error> {
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
