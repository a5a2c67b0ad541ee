//! Plugins that are programs: a folder with a `plugin.toml` beside the program's files.
//!
//! Host and program exchange JSON-RPC 2.0, one message a line, over the program's standard streams; docs/reference/plugin-programs.md
//! is the specification. A program is started when it is first needed, serves all instances of the run, may answer several calls at a
//! time, and is started again after it ended. It ends with everything that it started.

mod connection;
mod instance;
mod process;
pub(crate) mod wire;

pub(crate) use connection::CallHost;
pub use connection::LentStreams;
pub(crate) use instance::ProgramInstance;
pub use process::{LentPlugin, StartLent};
pub(crate) use process::{Manifest, Program, folder_hash};

/// The file that makes a folder a plugin.
pub(crate) const MANIFEST: &str = "plugin.toml";
