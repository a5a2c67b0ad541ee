//! A language server for PDDL, and for the pipelines, sentences and knowledge files around it.
//!
//! It reads the documents of its client and, of their folders, PDDL files, `sentences.toml` and `picture.toml`. It writes nothing: fixes, renaming and formatting
//! are edits that the client applies. Positions are in UTF-16.

mod analysis;
mod check;
mod codes;
mod completion;
mod edits;
mod hover;
mod lenses;
mod navigation;
mod occurrences;
mod outline;
mod position;
mod protocol;
mod publish;
mod server;
mod workspace;

pub use codes::CODES;
pub use lsp_server::Connection;
pub use server::serve;

use planforge_diagnostics::Diagnostic;
use planforge_planning::ResourceLimits;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Checks a pipeline file: its text and name to its findings, with spans in source 0.
pub type CheckPipeline<'a> = dyn Fn(&str, &str) -> Vec<Diagnostic> + 'a;

/// Makes the limits of a command from seconds and a flag that cancels it.
pub type MakeLimits<'a> = dyn Fn(f64, Arc<AtomicBool>) -> Box<dyn ResourceLimits> + Sync + 'a;

/// What the server needs from its host.
pub struct Services<'a> {
    pub check_pipeline: &'a CheckPipeline<'a>,
    pub limits: &'a MakeLimits<'a>,
}

/// Why the server ended before its client asked for it.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client broke the protocol.
    #[error("the client broke the protocol: {0}")]
    Protocol(#[from] lsp_server::ProtocolError),
    /// Standard input or output failed.
    #[error("the connection failed: {0}")]
    Io(#[from] std::io::Error),
}

/// Serves a client on standard input and output until it ends the session.
///
/// # Errors
/// A broken connection or protocol.
pub fn serve_stdio(services: &Services<'_>) -> Result<(), ServeError> {
    let (connection, threads) = Connection::stdio();
    let result = serve(&connection, services);
    drop(connection);
    result?;
    Ok(threads.join()?)
}
