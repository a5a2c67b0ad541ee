//! `run.json`: what a run was made from.

use crate::RecordError;
use crate::disk::{Disk, MAX_RECORD_BYTES, read_regular_text, write_atomically};
use planforge_contract::{Measure, PluginKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The pipeline file as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigText {
    /// Path of the file, for people.
    pub path: String,
    /// The whole text, before overrides.
    pub text: String,
    /// SHA-256 of the text.
    pub sha256: String,
}

impl ConfigText {
    /// The text with its hash.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { path: path.into(), sha256: crate::sha256_hex(text.as_bytes()), text }
    }
}

/// A plugin that the run used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginUse {
    pub id: String,
    pub kind: PluginKind,
    pub version: String,
    /// `bundled`, or the path of the library.
    pub origin: String,
    /// The standard quantities of its assessments. Empty in runs of versions that did not record them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Measure>,
    /// SHA-256 of the library's file; absent for a bundled plugin, which `RunManifest::planforge` pins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A task that the run works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUse {
    /// The task's name in events and sample paths.
    pub name: String,
    /// The suite's folder.
    pub suite: String,
    /// The task's stem in it.
    pub task: String,
    /// SHA-256 over everything that was read of the task.
    #[serde(default)]
    pub sha256: String,
    /// The add-on whose files replaced files of the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add_on: Option<AddOnUse>,
}

/// An add-on that a suite was read with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddOnUse {
    pub folder: String,
    /// Files used, with the SHA-256 of each.
    pub files: BTreeMap<String, String>,
}

/// The inputs of a run. Contains no secrets: the configuration names the environment variables of keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunManifest {
    /// Version of this document, 1.
    pub schema: u32,
    /// The run folder's name.
    pub id: String,
    pub planforge: String,
    /// Time in RFC 3339, UTC.
    pub created_at: String,
    /// The pipeline file.
    pub config: ConfigText,
    /// `--set key=value`, in order.
    #[serde(default)]
    pub overrides: Vec<String>,
    /// Plugins, in the order of their ids.
    #[serde(default)]
    pub plugins: Vec<PluginUse>,
    /// Name of the `[llm.NAME]` table -> model.
    #[serde(default)]
    pub models: BTreeMap<String, String>,
    /// The run's seed, from which all others derive.
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub tasks: Vec<TaskUse>,
    /// Anything else that is needed to run again, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, serde_json::Value>,
}

/// The key of [`RunManifest::settings`] with the changes of each resumption: a list of `{ "at": TIME, "set": [KEY=VALUE] }`.
pub const RESUMED_WITH: &str = "resumed_with";

impl RunManifest {
    /// The overrides of the run's start, then those of each resumption.
    pub fn all_overrides(&self) -> Vec<String> {
        let sessions =
            self.settings.get(RESUMED_WITH).and_then(|sessions| sessions.as_array()).into_iter().flatten();
        let later = sessions.filter_map(|session| session["set"].as_array()).flatten();
        let later = later.filter_map(|set| set.as_str().map(str::to_owned));
        self.overrides.iter().cloned().chain(later).collect()
    }

    /// The number that [`RunManifest::schema`] has today.
    pub const SCHEMA: u32 = 1;

    pub(crate) fn write(
        &self,
        disk: &dyn Disk,
        path: &Path,
        redactor: &crate::Redactor,
    ) -> Result<(), RecordError> {
        let mut text = serde_json::to_string_pretty(self).map_err(|e| {
            RecordError::new("record.corrupt", format!("cannot write the manifest: {e}")).at(path)
        })?;
        text.push('\n');
        write_atomically(disk, path, &redactor.bytes(text.as_bytes()))
    }

    /// Reads a `run.json`.
    ///
    /// # Errors
    /// `record.not-a-run`, `record.version`, `record.corrupt`, `record.io`.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let text = read_regular_text(path, MAX_RECORD_BYTES).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => {
                RecordError::new("record.not-a-run", "this is not a run folder: it has no run.json").at(path)
            }
            _ => RecordError::io("read the manifest", path, &e),
        })?;
        #[derive(Deserialize)]
        struct Header {
            schema: u32,
        }
        let unreadable = |e: serde_json::Error| {
            RecordError::new("record.corrupt", format!("unreadable manifest: {e}")).at(path)
        };
        let header: Header = serde_json::from_str(&text).map_err(unreadable)?;
        if header.schema != Self::SCHEMA {
            return Err(RecordError::new(
                "record.version",
                format!(
                    "the run folder has version {}, this planforge reads version {}",
                    header.schema,
                    Self::SCHEMA
                ),
            )
            .at(path));
        }
        serde_json::from_str(&text).map_err(unreadable)
    }
}
