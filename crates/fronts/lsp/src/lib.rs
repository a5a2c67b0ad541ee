//! A language server for PDDL, and for the pipelines, sentences and knowledge files around it.
//!
//! It reads the documents of its client and, of their folders, PDDL files, `sentences.toml` and `picture.toml`. It writes nothing: fixes, renaming and formatting
//! are edits that the client applies. Positions are in UTF-16.

mod server;

pub use lsp_server::Connection;
pub use planforge_app::editor::Services;
pub use server::serve;

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
