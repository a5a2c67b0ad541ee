//! Checks of one plugin, of any kind: description, options, metrics, determinism, concurrency, cancellation, and hostile inputs.
//!
//! The plugin is loaded and called through the host, as in a run. Models are scripted: roles get fixed replies, and a provider with a
//! server option talks to a scripted server on this machine.

mod call;
mod checks;
mod subject;

pub use checks::{Check, CheckSettings, CheckStatus, PluginReport, check_plugin};
