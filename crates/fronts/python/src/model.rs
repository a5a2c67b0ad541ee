//! A Python object as the model of a call.

use crate::port::{Message, Port};
use planforge_app::contract::api::{Host, Provider};
use planforge_app::contract::{CompletionRequest, CompletionResult, Failure, FailureClass, Replies};
use serde::Deserialize;

/// The model that the caller passed. Requests wait for the calling thread, one at a time.
pub(crate) struct PythonModel(pub(crate) Port);

/// The answer of `planforge._models`, which calls the object and checks what it returns.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Completed {
    Replies(Replies),
    Failure(Failure),
}

impl Provider for PythonModel {
    fn complete(&self, _: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let broken = |message: String| Failure::new(FailureClass::System, "python.model", message);
        let request = serde_json::to_string(request).map_err(|error| broken(error.to_string()))?;
        let Some(completed) = self.0.ask(|sender| Message::Request(request, sender)) else {
            return Err(Failure::new(FailureClass::Cancelled, "python.cancelled", "the call was cancelled"));
        };
        match serde_json::from_str(&completed).map_err(|error| broken(error.to_string()))? {
            Completed::Replies(replies) => Ok(CompletionResult::Replies(replies)),
            Completed::Failure(failure) => Err(failure),
        }
    }
}
