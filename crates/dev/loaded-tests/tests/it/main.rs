//! Plugins as dynamic libraries and as programs.
#![allow(clippy::unwrap_used, clippy::panic)] // A test may break where it stands; helpers of tests too.

mod bundled;
mod conformance;
mod every_kind;
mod isolated;
mod misbehave;
mod one_pipeline;
mod plugin_check;
mod progress;
mod scaffold;
mod worker;
