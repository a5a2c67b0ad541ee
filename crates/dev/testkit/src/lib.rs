//! Helpers shared by tests. Replies that a person or a test wrote are called *scripted* and are never mixed
//! with recorded ones.

pub mod batch_server;
pub mod canned;
pub mod clock;
pub mod codes;
pub mod misbehaviour;
pub mod outside;
mod pipeline_text;
pub mod silent;
pub mod small_disk;
pub mod survival;

pub use batch_server::{BatchOutcome, BatchServer};
pub use canned::CannedModel;
pub use clock::ScriptedClock;
pub use planforge_plugin_host::conformance as plugins;
pub use planforge_plugin_sdk::testing::scripted;
pub use scripted::{Choice, Scripted, ScriptedRequest, ScriptedServer};
pub use silent::SilentHost;
