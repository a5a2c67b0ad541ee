//! How a document is written to cross a boundary: `{"document": NAME, "schema": N, "body": {...}}`.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

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

/// Why a text is not the document that was expected.
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
/// [`DecodeError`] says whether the text, the name or the schema number is wrong.
pub fn decode<T: Document>(text: &str) -> Result<T, DecodeError> {
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

macro_rules! documents {
    ($($ty:ty = $name:literal @ $schema:literal;)*) => {
        $(impl Document for $ty { const NAME: &'static str = $name; const SCHEMA: u32 = $schema; })*
        /// Name, schema number and JSON schema of every document, in declaration order.
        pub(crate) fn all() -> Vec<(&'static str, u32, schemars::Schema)> {
            vec![$(($name, $schema, schemars::schema_for!($ty)),)*]
        }
    };
}

use crate::documents as d;
documents! {
    d::plugin::PluginInfo = "plugin-info" @ 2;
    d::plugin::CreateRequest = "create-request" @ 1;
    d::failure::Failure = "failure" @ 1;
    d::completion::CompletionRequest = "completion-request" @ 1;
    d::completion::CompletionResult = "completion-result" @ 1;
    d::translate::TranslateRequest = "translate-request" @ 1;
    d::translate::TranslateResponse = "translate-response" @ 1;
    d::verify::VerifyRequest = "verify-request" @ 1;
    d::verify::VerifyResponse = "verify-response" @ 1;
    d::plan::PlanRequest = "plan-request" @ 1;
    d::plan::PlanOutcome = "plan-outcome" @ 1;
    d::environment::EnvironmentOpen = "environment-open" @ 1;
    d::environment::EnvironmentInfo = "environment-info" @ 1;
    d::environment::WalkSpec = "walk-spec" @ 1;
    d::environment::Walks = "walks" @ 1;
    d::environment::Sequences = "sequences" @ 1;
    d::environment::ExecutionReport = "execution-report" @ 1;
    d::environment::EnvironmentPlan = "environment-plan" @ 1;
    d::environment::EnvironmentVerdict = "environment-verdict" @ 1;
    d::environment::StateQuery = "state-query" @ 1;
    d::environment::StateDescription = "state-description" @ 1;
    crate::api::EnvironmentCall = "environment-call" @ 1;
    crate::api::EnvironmentAnswer = "environment-answer" @ 1;
    d::event::Event = "event" @ 1;
    d::event::RoundHistory = "round-history" @ 1;
    d::plan::PlanReport = "plan-report" @ 1;
    d::verify::ValidateReport = "validate-report" @ 1;
    d::verify::EwReport = "ew-report" @ 1;
    d::verify::EquivalentReport = "equivalent-report" @ 1;
    d::domains::DomainEquivalentReport = "domain-equivalent-report" @ 1;
    d::graph::StateGraphReport = "state-graph-report" @ 1;
    d::infer::Inference = "inference" @ 1;
    d::infer::InferReport = "infer-report" @ 1;
}
