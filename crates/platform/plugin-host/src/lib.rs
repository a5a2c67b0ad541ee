//! The host's side of plugins: discovery, load gates, adapters, deadlines, poisoning, child processes.
//!
//! A [`Registry`] holds the plugins linked into the binary and the libraries on the search path;
//! [`Registry::create`] makes an [`Instance`], which implements the same traits as a plugin does.
//!
//! Contained are panics, hangs, unreadable and oversized replies, wrong symbols, epochs, layouts and options.
//! Not contained, where a plugin runs in this process, are `abort()`, segmentation faults, stack overflow, and memory that a
//! plugin takes before it replies. A plugin that is a program runs in a process of its own.
//!
//! The feature `schemas` (on by default) checks options against a plugin's schema before an instance is made.
//! Without it the plugin alone checks them; tests of a plugin need no more.

mod adapters;
mod call;
pub mod conformance;
mod gates;
mod isolated;
mod limits;
#[cfg(feature = "schemas")]
mod options;
mod program;
mod registry;
mod serve;
mod threads;
mod worker;

use planforge_diagnostics::{CodeInfo, code_table};

pub use adapters::{Instance, RawInstance};
pub use call::RegistrySettings;
pub use conformance::declaration_violations;
pub use isolated::isolated_main;
pub use limits::{CallLimits, Clock, nearest};
#[cfg(feature = "schemas")]
pub use options::{OptionProblem, check_against_schema};
pub use planforge_plugin_sdk::BundledPlugin;
pub use program::{LentPlugin, LentStreams, StartLent};
pub use registry::{PluginSource, Registry, RegistryEntry};
pub use serve::worker_main;
pub use worker::{WorkerSettings, WorkerSource};

/// The codes `plugin.*`, `options.*` and `host.*`.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

#[cfg(test)]
mod tests {
    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = super::CODES.iter().map(|c| c.code).collect();
        codes.sort_unstable();
        let all = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }
}
