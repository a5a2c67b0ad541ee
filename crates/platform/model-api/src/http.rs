//! HTTP for providers: one request to the server of a model, without retries, redirects, environment variables or logging.
//!
//! Retries, `n`, limits, caps and the record belong to the host. A server owns its async runtime and blocks the calling
//! thread; several threads may call at the same time.

mod client;
mod codes;
mod failure;
mod rate_limits;
mod reasoning;
mod receive;
mod server;
mod settings;

pub use codes::CODES;
pub use reasoning::{Reasoning, ReasoningLevel};
pub use receive::{Received, download, receive};
pub use server::ModelServer;
pub use settings::{HttpSettings, KEY_OPTION};

use planforge_contract::{Failure, FailureClass};

/// The failure for a setting that the service has no field for.
pub fn unsupported(message: impl Into<String>, help: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Request, "provider.unsupported", message).help(help)
}
