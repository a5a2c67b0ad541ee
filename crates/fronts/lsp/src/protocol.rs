//! The parts of the language server protocol that the server reads. Answers are built as JSON where they are made.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A place as a line and UTF-16 code units from its start, both from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) character: u32,
}

/// A half-open range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) start: Position,
    pub(crate) end: Position,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DocumentId {
    pub(crate) uri: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct OpenedDocument {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) version: Option<i64>,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenParams {
    pub(crate) text_document: OpenedDocument,
}

#[derive(Debug, Deserialize)]
pub(crate) struct VersionedId {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) version: Option<i64>,
}

/// A replaced range; without one, the text is the whole document.
#[derive(Debug, Deserialize)]
pub(crate) struct ContentChange {
    #[serde(default)]
    pub(crate) range: Option<Range>,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangeParams {
    pub(crate) text_document: VersionedId,
    pub(crate) content_changes: Vec<ContentChange>,
}

/// Parameters of every request about a document. Each request reads the fields that it has.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocumentParams {
    pub(crate) text_document: DocumentId,
    #[serde(default)]
    pub(crate) position: Position,
    #[serde(default)]
    pub(crate) range: Range,
    #[serde(default)]
    pub(crate) new_name: String,
    #[serde(default)]
    pub(crate) context: RequestContext,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestContext {
    #[serde(default)]
    pub(crate) include_declaration: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CommandParams {
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) arguments: Vec<Value>,
}

/// Settings of the client, in `initializationOptions`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    /// Seconds after which planning and validating from a lens end.
    pub(crate) time_limit_seconds: f64,
}

/// The highest time limit that a client can set.
const MAX_SECONDS: f64 = 3600.0;

impl Default for Settings {
    fn default() -> Self {
        Self { time_limit_seconds: 30.0 }
    }
}

impl Settings {
    /// The settings of a client; what cannot be read has its default.
    pub(crate) fn of(options: &Value) -> Self {
        let settings: Self = Self::deserialize(options).unwrap_or_default();
        let seconds = settings.time_limit_seconds;
        let seconds = if seconds.is_finite() && seconds > 0.0 {
            seconds.min(MAX_SECONDS)
        } else {
            Self::default().time_limit_seconds
        };
        Self { time_limit_seconds: seconds }
    }
}
