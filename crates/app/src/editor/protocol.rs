//! Places and parameters of editor requests. Answers are built as JSON where they are made.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A place as a line and UTF-16 code units from its start, both from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    pub line: u32,
    pub character: u32,
}

/// A half-open range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

#[derive(Debug, Deserialize)]
pub struct DocumentId {
    pub uri: String,
}

#[derive(Debug, Deserialize)]
pub struct OpenedDocument {
    pub uri: String,
    #[serde(default)]
    pub version: Option<i64>,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenParams {
    pub text_document: OpenedDocument,
}

#[derive(Debug, Deserialize)]
pub struct VersionedId {
    pub uri: String,
    #[serde(default)]
    pub version: Option<i64>,
}

/// A replaced range; without one, the text is the whole document.
#[derive(Debug, Deserialize)]
pub struct ContentChange {
    #[serde(default)]
    pub range: Option<Range>,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeParams {
    pub text_document: VersionedId,
    pub content_changes: Vec<ContentChange>,
}

/// Parameters of every request about a document. Each request reads the fields that it has.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentParams {
    pub text_document: DocumentId,
    #[serde(default)]
    pub position: Position,
    #[serde(default)]
    pub range: Range,
    #[serde(default)]
    pub new_name: String,
    #[serde(default)]
    pub context: RequestContext,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestContext {
    #[serde(default)]
    pub include_declaration: bool,
}

#[derive(Debug, Deserialize)]
pub struct CommandParams {
    pub command: String,
    #[serde(default)]
    pub arguments: Vec<Value>,
}
