//! The page in the browser: a server of HTTP on this machine, whose files are in the binary.
//!
//! Each call is a use case of the application layer, with the JSON that `--json` prints. Long work is a job, whose events a browser receives
//! and asks for again after a lost connection. Texts of models are data: they cross as JSON, and the page's policy forbids scripts in it.

mod access;
mod answer;
mod assets;
mod builds;
mod error;
mod jobs;
mod log;
mod lsp;
mod paths;
mod pddl;
mod records;
mod requests;
mod routes;
mod server;
mod state;
mod threads;
mod watch;

pub use access::{MIN_PASSWORD_BYTES, SignIn};
pub use assets::is_built;
pub use lsp::LanguageServer;
pub use server::{PageServer, Place, Settings};
