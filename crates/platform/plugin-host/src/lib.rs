//! The host's side of plugins: discovery, load gates, adapters, deadlines, poisoning, child processes.
//!
//! A [`Registry`] knows the plugins linked into the binary and the libraries on the search path; [`Registry::create`]
//! makes an [`Instance`], which implements the same traits as a plugin does, so nobody above can tell them apart.
//!
//! What is contained: panics, hangs, unreadable and oversized replies, wrong symbols, epochs, layouts and options. What
//! is not, because plugins run in this process: `abort()`, segmentation faults, stack overflow, and memory that a
//! plugin takes before it replies.

mod adapters;
mod call;
mod codes;
mod gates;
mod options;
mod registry;
pub mod scaffold;
mod threads;
pub mod worker;

pub use adapters::Instance;
pub use call::Limits;
pub use codes::CODES;
pub use options::{OptionProblem, check_against_schema};
pub use planforge_plugin_sdk::BundledPlugin;
pub use registry::{Entry, Registry, Settings, Source};
pub use worker::{WorkerSettings, WorkerSource, worker_main};
