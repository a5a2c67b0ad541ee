//! Pipelines.
mod config;
mod front;
mod suggest;
pub use config::*;
pub use front::*;
mod suite;
pub use suite::*;
