//! Checks of one plugin, of any kind: description, options, metrics, determinism, concurrency, cancellation, and hostile inputs.
//!
//! The plugin is loaded and called through the host, as in a run. Models are scripted: roles get fixed replies, and a provider with a
//! server option talks to a scripted server on this machine.

mod call;
mod checks;
mod host;
mod options;
mod report;
mod sample;
mod service;
mod subject;

pub use checks::{CheckSettings, check_plugin};
pub use report::{Check, CheckStatus, PluginReport};
