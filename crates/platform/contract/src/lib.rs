//! The documents that stages and plugins exchange, and the traits over them.
//!
//! What crosses a plugin boundary is UTF-8 JSON of one of these documents in an [`Envelope`] that names the document
//! and its schema number. Unknown fields are ignored, so optional fields can be added without a new schema number;
//! removing a field or changing its meaning raises the number. PDDL crosses as text, never as trees.
//!
//! The traits in [`api`] are implemented twice: by plugins (through the SDK) and by the host's adapters for loaded
//! libraries, so a pipeline cannot tell one from the other.

#![warn(missing_docs)]

pub mod api;
mod documents;
mod envelope;
pub mod schema;

pub use documents::budget::*;
pub use documents::candidate::*;
pub use documents::capabilities::*;
pub use documents::classes::*;
pub use documents::completion::*;
pub use documents::critique::*;
pub use documents::domains::*;
pub use documents::environment::*;
pub use documents::event::*;
pub use documents::failure::*;
pub use documents::graph::*;
pub use documents::infer::*;
pub use documents::materials::*;
pub use documents::plan::*;
pub use documents::plugin::*;
pub use documents::reported::*;
pub use documents::task::*;
pub use documents::translate::*;
pub use documents::verify::*;
pub use envelope::{DecodeError, Document, Envelope, decode, encode};

/// A JSON object with sorted keys, as options and extra fields use it.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
