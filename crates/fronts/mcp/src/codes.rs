//! Failures of tool calls. `planforge explain` explains their codes.

use planforge_app::Error;
use planforge_app::contract::{Failure, FailureClass};

/// A mistake in the arguments of a call.
pub(crate) fn wrong_arguments(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Request, "mcp.arguments", message)
}

/// The failure of a cancelled call.
pub(crate) fn cancelled() -> Failure {
    Failure::new(FailureClass::Cancelled, "mcp.cancelled", "the call was cancelled")
}

/// The failure of a file that is not read.
pub(crate) fn file_failure(path: &str, why: &str) -> Failure {
    let message = format!("`{path}` cannot be read: {why}");
    Failure::new(FailureClass::Request, "mcp.file", message)
        .help("name a file under a root that the client grants, or pass the text itself")
}

/// The failure of a client that cannot do what the call needs.
pub(crate) fn client_failure(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Request, "mcp.client", message)
}

/// The failure of a use case. Findings in the texts of a call are mistakes in its arguments.
pub(crate) fn use_case_failure(error: &Error) -> Failure {
    let mut failure = error.to_failure();
    if error.failures_found().next().is_none() {
        failure.code = "mcp.arguments".into();
    }
    failure
}
