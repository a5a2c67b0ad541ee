//! The written form of a document that crosses a boundary: `{"document": NAME, "schema": N, "body": {...}}`.

use crate::JsonObject;
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::Debug;

/// A type that may cross a plugin boundary or stand in a run folder.
pub trait Document: Serialize + DeserializeOwned {
    /// Kebab-case name, unique among all documents.
    const NAME: &'static str;
    /// Raised when a field is removed or changes its meaning; adding optional fields keeps it.
    const SCHEMA: u32;
}

/// The written form of a document.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// [`Document::NAME`].
    pub document: String,
    /// [`Document::SCHEMA`].
    pub schema: u32,
    /// The document itself.
    pub body: T,
}

/// The reason why a text is not the expected document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// Not JSON, or JSON of another shape; the message of serde_json, which has line and column.
    Json(String),
    /// Another document than expected: (expected, found).
    Document(&'static str, String),
    /// The same document with another schema number: (name, expected, found).
    Schema(&'static str, u32, u32),
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Json(e) => write!(f, "not a readable document: {e}"),
            Self::Document(want, got) => write!(f, "expected document `{want}`, found `{got}`"),
            Self::Schema(name, want, got) => {
                write!(f, "document `{name}` has schema {got}, this side reads schema {want}")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// Writes a document in its envelope.
///
/// # Errors
/// The message of serde_json, for a value that JSON cannot hold (a map with keys that are not strings).
pub fn encode<T: Document>(body: &T) -> Result<String, String> {
    #[derive(Serialize)]
    struct Out<'a, T> {
        document: &'static str,
        schema: u32,
        body: &'a T,
    }
    serde_json::to_string(&Out { document: T::NAME, schema: T::SCHEMA, body }).map_err(|e| e.to_string())
}

/// Reads a document from its envelope.
///
/// # Errors
/// [`DecodeError`]: the text, the name or the schema number is wrong.
pub fn decode<T: Document>(text: &str) -> Result<T, DecodeError> {
    // The form that `encode` writes is read once.
    if let Some(Ok(body)) = encoded_body::<T>(text).map(serde_json::from_str) {
        return Ok(body);
    }
    // The header is read first, so that a body of another version is reported as such and not as a missing field.
    #[derive(Deserialize)]
    struct Header {
        document: String,
        schema: u32,
    }
    let header: Header = serde_json::from_str(text).map_err(|e| DecodeError::Json(e.to_string()))?;
    if header.document != T::NAME {
        return Err(DecodeError::Document(T::NAME, header.document));
    }
    if header.schema != T::SCHEMA {
        return Err(DecodeError::Schema(T::NAME, T::SCHEMA, header.schema));
    }
    let envelope: Envelope<T> = serde_json::from_str(text).map_err(|e| DecodeError::Json(e.to_string()))?;
    Ok(envelope.body)
}

/// Reads JSON. Bytes are read as a text, so that the program has one reader for each type and not one more for bytes.
///
/// # Errors
/// Other JSON, or bytes that are not UTF-8.
pub fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_str(std::str::from_utf8(bytes).map_err(serde::de::Error::custom)?)
}

/// The body of a document, if the text begins and ends as [`encode`] writes it.
fn encoded_body<T: Document>(text: &str) -> Option<&str> {
    let rest =
        text.strip_prefix("{\"document\":\"")?.strip_prefix(T::NAME)?.strip_prefix("\",\"schema\":")?;
    let (schema, body) = rest.split_once(',')?;
    (schema == T::SCHEMA.to_string()).then_some(())?;
    body.strip_prefix("\"body\":")?.strip_suffix('}')
}

/// Code that is called for each type of document: see [`visit_documents`](crate::visit_documents).
pub trait DocumentVisitor {
    /// Called once for each type.
    fn visit<T: Document + JsonSchema + PartialEq + Debug>(&mut self);
}

/// Implements [`Document`] for types with their names and schema numbers, and defines a function `visit_documents` that calls a
/// [`DocumentVisitor`] for each of them.
#[macro_export]
macro_rules! documents {
    ($($ty:ty = $name:literal @ $schema:literal;)*) => {
        $(impl $crate::Document for $ty {
            const NAME: &'static str = $name;
            const SCHEMA: u32 = $schema;
        })*

        /// Calls the visitor for each type of document that this crate defines.
        pub fn visit_documents(visitor: &mut impl $crate::DocumentVisitor) {
            $(visitor.visit::<$ty>();)*
        }
    };
}

/// The JSON schemas of documents, for authors of plugins in other languages: name -> `{schema, json_schema}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentSchemas(pub JsonObject);

impl DocumentVisitor for DocumentSchemas {
    fn visit<T: Document + JsonSchema + PartialEq + Debug>(&mut self) {
        let entry = json!({"schema": T::SCHEMA, "json_schema": schema_for!(T)});
        self.0.insert(T::NAME.to_owned(), entry);
    }
}
