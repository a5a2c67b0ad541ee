//! The user's configuration file, `config.toml`, with the user's own model tables.

use planforge_contract::{Failure, FailureClass};
use planforge_pddl::MAX_TEXT_BYTES;
use planforge_record::read_regular_text;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

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
