//! `--model`: the model table that a command uses in the place of `[llm.main]`; and the user's `config.toml` with the user's own model tables.

use crate::context::Context;
use crate::error::Error;
use planforge_contract::{Failure, FailureClass};
use planforge_pddl::MAX_TEXT_BYTES;
use planforge_record::read_regular_text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A word of `--model`, and the table that it stands for.
struct Service {
    word: &'static str,
    plugin: &'static str,
    key: Option<&'static str>,
    base_url: Option<&'static str>,
}

static SERVICES: [Service; 5] = [
    Service { word: "openai", plugin: "provider-openai", key: Some("OPENAI_API_KEY"), base_url: None },
    Service {
        word: "anthropic",
        plugin: "provider-anthropic",
        key: Some("ANTHROPIC_API_KEY"),
        base_url: None,
    },
    Service { word: "gemini", plugin: "provider-gemini", key: Some("GEMINI_API_KEY"), base_url: None },
    Service {
        word: "local",
        plugin: "provider-openai",
        key: None,
        base_url: Some("http://127.0.0.1:8081/v1"),
    },
    Service { word: "batch", plugin: "provider-batch", key: None, base_url: None },
];

/// A model file in this process, in the place of the local server.
const FILE: Service = Service { word: "local", plugin: "provider-local", key: None, base_url: None };

/// The model table of a service's word and a model's name.
fn service_table(service: &Service, model: &str) -> toml::Table {
    let keys = [
        ("use", Some(service.plugin)),
        ("model", Some(model)),
        ("api_key_env", service.key),
        ("base_url", service.base_url),
    ];
    keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into()))).collect()
}

/// Returns the model table that a value of `--model` names.
///
/// # Errors
/// `cli.usage`: an unknown model.
pub(crate) fn model_table(context: &Context, name: &str) -> Result<toml::Table, Error> {
    if let Some((word, model)) = name.split_once(':')
        && let Some(service) = SERVICES.iter().find(|service| service.word == word)
    {
        if model.is_empty() {
            let message = format!("--model: the name of the model is missing after `{word}:`");
            return Err(Error::usage(message, None));
        }
        let is_file = word == FILE.word && model.ends_with(".gguf");
        return Ok(service_table(if is_file { &FILE } else { service }, model));
    }
    let path = context.user_file("config.toml");
    let config = UserConfig::read(path.as_deref())?;
    let place = path.map(|path| path.display().to_string()).unwrap_or_default();
    let Some(table) = config.models.get(name) else {
        let mut known: Vec<String> = SERVICES.iter().map(|s| format!("`{}:NAME`", s.word)).collect();
        known.push(format!("`{}:FILE.gguf`", FILE.word));
        known.extend(config.models.keys().map(|name| format!("`{name}`")));
        let known = known.join(", ");
        let help = format!(
            "known are {known}; planforge/config.toml in the configuration folder may have a table `[models.{name}]`"
        );
        return Err(Error::usage(format!("--model: there is no model `{name}`"), Some(&help)));
    };
    for key in ["use", "model"] {
        if !table.contains_key(key) {
            let message = format!("--model: `[models.{name}]` of {place} has no `{key}`");
            let help = "it has the keys of an `[llm.NAME]` table, such as `use = \"provider-openai\"`";
            return Err(Error::usage(message, Some(help)));
        }
    }
    Ok(table.clone())
}

/// A model that a person can choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelOffer {
    /// Its name as of `--model`; one that ends in `:` needs the name of a model after it.
    pub name: String,
    /// True if the variable for its key is set, or if it needs none.
    pub has_key: bool,
}

/// The models that a person can choose, as `--model` names them: the user's own tables, then the services. No value of a variable is
/// among them.
///
/// # Errors
/// The user's configuration cannot be read.
pub fn offers(context: &Context) -> Result<Vec<ModelOffer>, Error> {
    let config = UserConfig::read(context.user_file("config.toml").as_deref())?;
    let has_key = |variable: Option<&str>| variable.is_none_or(|name| context.variable(name).is_some());
    let own = config.models.iter().map(|(name, table)| ModelOffer {
        name: name.clone(),
        has_key: has_key(table.get("api_key_env").and_then(toml::Value::as_str)),
    });
    let services = SERVICES.iter().filter(|service| service.word != "batch");
    let services = services
        .map(|service| ModelOffer { name: format!("{}:", service.word), has_key: has_key(service.key) });
    Ok(own.chain(services).collect())
}

/// The changes of a pipeline file that put a model table in the place of `[llm.main]`, as `KEY=VALUE`. `use` comes first: it
/// removes the file's options of another provider.
pub(crate) fn overrides_of(table: &toml::Table) -> Vec<String> {
    let (first, rest): (Vec<_>, Vec<_>) = table.iter().partition(|(key, _)| *key == "use");
    first.into_iter().chain(rest).map(|(key, value)| format!("llm.main.{key}={value}")).collect()
}

/// `config.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserConfig {
    /// Name -> the keys of an `[llm.NAME]` table.
    #[serde(default)]
    pub(crate) models: BTreeMap<String, toml::Table>,
}

impl UserConfig {
    /// Reads the file; one that does not exist has no tables.
    ///
    /// # Errors
    /// `cli.config`: the file cannot be read, or is not of that form.
    pub(crate) fn read(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self::default()) };
        let wrong = |why: String| {
            let message = format!("{}: {why}", path.display());
            Failure::new(FailureClass::Request, "cli.config", message)
        };
        let text = match read_regular_text(path, MAX_TEXT_BYTES as u64) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(e) => return Err(wrong(format!("cannot be read: {e}"))),
        };
        toml::from_str(&text).map_err(|e| wrong(e.to_string()))
    }

    /// The servers and proxies of the tables, each with the variables of its table.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (Vec<&str>, &str)> {
        self.models.values().flat_map(|table| {
            let text = |key: &str| table.get(key).and_then(toml::Value::as_str);
            let headers = table.get("headers_env").and_then(toml::Value::as_table);
            let variables = headers.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_str);
            let variables: Vec<&str> = text("api_key_env").into_iter().chain(variables).collect();
            let servers = [text("base_url"), text("proxy")].into_iter().flatten();
            servers.map(move |server| (variables.clone(), server))
        })
    }

    /// The certificate files of the tables.
    pub(crate) fn authority_files(&self) -> impl Iterator<Item = &Path> {
        self.models.values().filter_map(|table| table.get("ca_file")?.as_str().map(Path::new))
    }
}
