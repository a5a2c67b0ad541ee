//! `planforge serve`: servers for agents and editors. The servers are fronts of their own; only this command knows them.

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};
use planforge_app::contract::{Failure, FailureClass};
use planforge_app::diagnostics::skip_byte_order_mark;
use planforge_app::editor::{limits, pipeline_check};
use planforge_lsp::{ServeError, Services};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// Serve planforge's tools to agents and editors.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  planforge serve lsp\n  planforge serve mcp")]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    command: ServeCommand,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    Lsp(LspArgs),
    Mcp(McpArgs),
}

pub(crate) fn run(context: &Context, args: &ServeArgs) -> Exit {
    match &args.command {
        ServeCommand::Lsp(args) => run_lsp(context, args),
        ServeCommand::Mcp(args) => run_mcp(context, args),
    }
}

/// Serve an editor on standard input and output: PDDL, pipelines, sentences and knowledge files.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge serve lsp

An editor starts it. docs/how-to/edit-pddl.md has the settings for VS Code, Neovim and Helix.")]
pub(crate) struct LspArgs {}

pub(crate) fn run_lsp(context: &Context, _args: &LspArgs) -> Exit {
    context.show(pipeline_check(&context.app), |check_pipeline| {
        match planforge_lsp::serve_stdio(&Services { check_pipeline: &check_pipeline, limits: &limits }) {
            Ok(()) => Exit::Good,
            Err(error) => {
                context.output.note(&format!("error: {error}"));
                match error {
                    ServeError::Protocol(_) => Exit::Input,
                    ServeError::Io(_) => Exit::System,
                }
            }
        }
    })
}

/// Serve tools for agents over the Model Context Protocol.
///
/// The server speaks on standard input and output until the client closes them, or with --http over HTTP on the loopback interface. A
/// tool gets texts, or files under the roots that the client grants. `planforge mcp` is short for this command.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge serve mcp
  claude mcp add planforge -- planforge mcp
  planforge serve mcp --http 8765 --token-file ~/.config/planforge/mcp-token")]
pub(crate) struct McpArgs {
    /// Serve `http://127.0.0.1:PORT/mcp` (streamable HTTP) instead of standard input and output. Port 0 takes a free one. Every request
    /// needs the header `Authorization: Bearer TOKEN`.
    #[arg(long, value_name = "PORT")]
    pub(crate) http: Option<u16>,
    /// The file with the token [default: a new token, printed on standard error].
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "token_env")]
    pub(crate) token_file: Option<PathBuf>,
    /// The environment variable with the token.
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) token_env: Option<String>,
}

pub(crate) fn run_mcp(context: &Context, args: &McpArgs) -> Exit {
    let calls = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let server = planforge_mcp::McpServer::new(context.app.clone(), calls);
    let served = match args.http {
        None => planforge_mcp::serve_stdio(server),
        Some(port) => token(context, args).and_then(|token| {
            planforge_mcp::serve_http(server, port, token, |address| {
                context.output.note(&format!("serving http://{address}{}", planforge_mcp::HTTP_PATH));
            })
        }),
    };
    match served {
        Ok(()) => Exit::Good,
        Err(error) => {
            let message = format!("the server ended: {error}");
            context.print_error(&Failure::new(FailureClass::System, "mcp.server", message).into())
        }
    }
}

/// The token of the file or the variable, or a new one, which is printed.
fn token(context: &Context, args: &McpArgs) -> io::Result<String> {
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path);
        text.map_err(|error| io::Error::other(format!("the token file {}: {error}", path.display())))
    };
    let unset = |name: &str| io::Error::other(format!("the environment variable {name} is not set"));
    let token = match (&args.token_file, &args.token_env) {
        (Some(path), _) => read(path)?,
        (None, Some(name)) => context.app.variables.get(name).cloned().ok_or_else(|| unset(name))?,
        (None, None) => {
            let token = new_token(context)?;
            context.output.note(&format!("token: {token}"));
            token
        }
    };
    Ok(skip_byte_order_mark(&token).trim().to_owned())
}

/// 256 random bits in hexadecimal.
fn new_token(context: &Context) -> io::Result<String> {
    let mut bytes = [0; 32];
    context.app.machine.random(&mut bytes)?;
    let mut token = String::new();
    for byte in bytes {
        let _ = write!(token, "{byte:02x}");
    }
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Output;

    #[test]
    fn the_byte_order_mark_of_a_token_file_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "\u{feff}0123456789abcdef\r\n").unwrap();
        let context = Context::new(Output::new(false), planforge_app::Context::default());
        let args = McpArgs { http: Some(0), token_file: Some(file), token_env: None };
        assert_eq!(token(&context, &args).unwrap(), "0123456789abcdef");
    }
}
