//! What planforge can do, as typed use cases: one module each, with its request, its result and [`Error`].
//!
//! A front (command line, MCP server, language server) builds a [`Context`], calls a use case and shows the result. This crate prints
//! nothing, never exits, and reads no environment variable; two use cases can run in one process at the same time. Results serialise:
//! their JSON form is what `--json` prints.

pub mod batch;
mod bundled;
mod calendar;
mod catalogue;
pub mod check;
pub mod codes;
pub mod compare;
mod context;
pub mod demo;
pub mod doctor;
pub mod editor;
mod error;
pub mod evaluate;
mod events;
mod files;
mod inference;
mod inputs;
mod limits;
pub mod models;
pub mod pddl;
mod pipelines;
pub mod plugins;
mod progress;
mod question;
pub mod report;
pub mod run;
mod running;
pub mod runs;
pub mod solve;
mod status;
pub mod study;
pub mod suite;
mod walk_comparison;
pub mod worker;

pub use context::{
    Cancellation, ConsentDecision, ConsentRequest, Context, Machine, PluginSettings, ReceiverState,
    ThisMachine, WorkerCommand,
};
pub use error::{Error, Problem};
pub use events::{Event, Events, ModelUse, Notice, UseCaps, Work};
pub use inputs::{Findings, Source};
pub use limits::RequestLimits;
pub use pipelines::consent::{AllowedByOptions, AskedOnce};
pub use pipelines::option_effects::{Effect, OPTION_ROWS, OptionOwner, OptionRow};
pub use pipelines::shipped::{SHIPPED_PIPELINES, ShippedPipeline};
/// Tables as text and Markdown.
pub mod table {
    pub use planforge_evaluate::{Align, Table};
}
pub use planforge_contract as contract;
pub use planforge_diagnostics as diagnostics;
pub use planforge_llm::{CallPhase, CallStep};
pub use planforge_pipeline::Progress;
pub use planforge_plugin_host::{LentPlugin, LentStreams};
pub use planforge_record as record;
pub use question::{Question, Questions, Side, Statement};
pub use status::{STATUSES, Status};
