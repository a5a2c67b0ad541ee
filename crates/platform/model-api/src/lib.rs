//! Interfaces of model services: bodies of requests and replies, connections, batch files and batch services.
//!
//! Connections and batch files share the bodies, so a request means the same either way. A batch is the host's, and needs the
//! feature `batch`.

pub mod anthropic_messages;
#[cfg(feature = "batch")]
pub mod batch;
#[cfg(feature = "batch")]
pub mod batch_services;
pub mod chat_completions;
pub mod finish;
pub mod http;
pub mod openai_responses;
