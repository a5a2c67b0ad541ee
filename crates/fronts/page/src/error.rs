//! Refusals as answers: a status of HTTP, and the error as a document.

use http::StatusCode;
use planforge_app::contract::{Failure, FailureClass, ReportedDiagnostic};
use planforge_app::{Error, Status};
use serde::Serialize;
use serde_json::{Value, json};

/// A call that has no result.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    document: Value,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>, help: &str) -> Self {
        let failure = Failure::new(FailureClass::Request, code, message).help(help);
        Self { status, document: error_document(&failure.into()) }
    }

    /// A body or query that cannot be used.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        let help = "reload the page; it may belong to another version of planforge";
        Self::new(StatusCode::BAD_REQUEST, "page.request", message, help)
    }

    /// A body that has a key too much, or lacks one.
    pub(crate) fn unreadable(error: &serde_json::Error) -> Self {
        Self::request(format!("the request cannot be used: {error}"))
    }

    /// A file, job or call that does not exist.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        let help = "it may have been deleted: open the list again";
        Self::new(StatusCode::NOT_FOUND, "page.missing", message, help)
    }

    /// Too much is going on.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "page.busy",
            message,
            "wait until something has ended, or stop it",
        )
    }

    /// The same refusal with a further key beside the error.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.document[key] = value.into();
        self
    }

    /// `{"error": {...}}`.
    pub(crate) fn body(&self) -> Value {
        self.document.clone()
    }

    /// The message, for readers without a script.
    pub(crate) fn text(&self) -> String {
        let part = |key: &str| self.document["error"][key].as_str().unwrap_or_default().to_owned();
        format!("{}\n{}\n", part("message"), part("help"))
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let status = match error.status {
            Status::System | Status::Panic => StatusCode::INTERNAL_SERVER_ERROR,
            Status::Usage => StatusCode::BAD_REQUEST,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self { status, document: error_document(&error) }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Error::from(failure).into()
    }
}

/// An error as the last event of a stream.
pub(crate) fn error_event(error: &Error) -> Value {
    let mut event = error_document(error);
    event["kind"] = "error".into();
    event
}

/// An error as the page reads it.
fn error_document(error: &Error) -> Value {
    #[derive(Serialize)]
    struct Document<'e> {
        code: &'e str,
        message: String,
        help: Option<&'e str>,
        exit: u8,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        diagnostics: Vec<ReportedDiagnostic>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        hints: &'e [String],
    }
    // Findings have their own list, and the code its own key.
    let failures: Vec<&str> = error.failures_found().map(|failure| failure.message.as_str()).collect();
    let message = if failures.is_empty() { error.to_string() } else { failures.join("\n") };
    let document = Document {
        code: error.code(),
        message,
        help: error.help(),
        exit: error.status as u8,
        diagnostics: error.diagnostics(),
        hints: &error.hints,
    };
    json!({ "error": document })
}

/// The error of a use case that panicked.
pub(crate) fn bug() -> Error {
    let message = "a bug in planforge ended the call; standard error has its place";
    Failure::new(FailureClass::System, "page.panic", message).help("please report it").into()
}
