//! `planforge serve`: servers for agents, editors and browsers. The servers are fronts of their own; only this command knows them.

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};
use planforge_app::contract::{Failure, FailureClass};
use planforge_app::diagnostics::skip_byte_order_mark;
use planforge_app::editor::{limits, pipeline_check};
use planforge_lsp::{Connection, ServeError, Services};
use planforge_page::{LanguageServer, MIN_PASSWORD_BYTES, PageServer, Place, Settings, SignIn};
use std::fmt::Write as _;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

/// Serve planforge to agents, editors and browsers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  planforge serve lsp\n  planforge serve mcp\n  planforge serve page")]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    command: ServeCommand,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    Lsp(LspArgs),
    Mcp(McpArgs),
    Page(PageArgs),
}

pub(crate) fn run(context: &Context, args: &ServeArgs) -> Exit {
    match &args.command {
        ServeCommand::Lsp(args) => run_lsp(context, args),
        ServeCommand::Mcp(args) => run_mcp(context, args),
        ServeCommand::Page(args) => run_page(context, args),
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

/// Serve a page for the browser: solve tasks, edit PDDL, and watch runs.
///
/// The address that is printed lets one browser in. The page reads and writes only below its folder.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge serve page
  planforge serve page --folder ~/tasks --port 8700 --no-browser
  planforge serve page --listen 192.168.1.20 --port 8700 --password-file password.txt
  planforge serve page --listen 127.0.0.1 --port 8700 --proxy-header X-Forwarded-User --host planforge.example.org")]
pub(crate) struct PageArgs {
    /// The folder whose tasks, runs and evaluations the page shows.
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The port. Port 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Listen on this address, such as 0.0.0.0, in the place of 127.0.0.1. Nothing is encrypted: use a proxy with TLS, or a tunnel.
    #[arg(long, value_name = "ADDRESS", requires = "sign_in")]
    listen: Option<IpAddr>,
    /// The file with the password that browsers ask for. Any user name will do.
    #[arg(long, value_name = "FILE", requires = "listen", group = "sign_in")]
    password_file: Option<PathBuf>,
    /// The header in which a proxy names the user. Let only the proxy reach the address.
    #[arg(long, value_name = "NAME", requires = "listen", group = "sign_in")]
    proxy_header: Option<String>,
    /// A name under which browsers reach the server; numeric addresses need none.
    #[arg(long, value_name = "NAME", requires = "listen")]
    host: Vec<String>,
    /// Print the address, and start no browser.
    #[arg(long)]
    no_browser: bool,
    /// Take every reply of models from this cassette or run folder; send no request.
    #[arg(long, value_name = "CASSETTE")]
    replay: Option<PathBuf>,
}

fn run_page(context: &Context, args: &PageArgs) -> Exit {
    if !planforge_page::is_built() {
        let message = "this build of planforge has no page";
        let failure = Failure::new(FailureClass::System, "page.not-built", message)
            .help("run `tools/page`, then build planforge again");
        return context.print_error(&failure.into());
    }
    let settings = page_place(args).map(|place| Settings {
        folder: args.folder.clone(),
        port: args.port,
        place,
        replay: args.replay.clone(),
        language_server: Some(language_server(context)),
    });
    let server = settings.and_then(|settings| PageServer::start(context.app.clone(), settings));
    context.show(server, |server| {
        context.output.result(&format!("{}\n", server.url()));
        if args.listen.is_some() {
            context
                .output
                .note("the connection is not encrypted: put a proxy with TLS before it, or use a tunnel");
        } else if !args.no_browser && !open_browser(context, &server.url_for_browser()) {
            context.output.note("no browser was started: open the address above");
        }
        server.wait();
        Exit::Good
    })
}

/// The language server of the editor in the page.
fn language_server(context: &Context) -> LanguageServer {
    let app = context.app.clone();
    Arc::new(move |messages: mpsc::Receiver<String>, own: mpsc::Sender<String>| {
        let Ok(check_pipeline) = pipeline_check(&app) else { return };
        let (client, server) = Connection::memory();
        std::thread::scope(|scope| {
            let Connection { sender, receiver } = client;
            scope.spawn(move || {
                for message in messages {
                    let Ok(message) = serde_json::from_str(&message) else { continue };
                    if sender.send(message).is_err() {
                        return;
                    }
                }
            });
            scope.spawn(move || {
                let texts = receiver.iter().filter_map(|message| serde_json::to_string(&message).ok());
                for text in texts {
                    if own.send(text).is_err() {
                        return;
                    }
                }
            });
            // The page sees a session that ends.
            drop(planforge_lsp::serve(
                &server,
                &Services { check_pipeline: &check_pipeline, limits: &limits },
            ));
            drop(server);
        });
    })
}

/// The address and sign-in that the options name.
fn page_place(args: &PageArgs) -> Result<Place, planforge_app::Error> {
    let Some(address) = args.listen else { return Ok(Place::Loopback) };
    let refused = |message: String, help: &str| {
        Err(Failure::new(FailureClass::Request, "page.password", message).help(help).into())
    };
    let sign_in = match (&args.password_file, &args.proxy_header) {
        (Some(path), _) => {
            let text = match std::fs::read_to_string(path) {
                Ok(text) => text,
                Err(error) => {
                    let message = format!("the password file {} cannot be read: {error}", path.display());
                    return refused(message, "check the path and its permissions");
                }
            };
            let password = skip_byte_order_mark(&text).trim();
            if password.len() < MIN_PASSWORD_BYTES {
                let message = format!("the password has less than {MIN_PASSWORD_BYTES} bytes");
                return refused(message, "write a longer one, for instance that of `openssl rand -hex 16`");
            }
            SignIn::Password(password.to_owned())
        }
        (None, Some(name)) => match name.parse() {
            Ok(name) => SignIn::ProxyHeader(name),
            Err(_) => {
                return refused(
                    format!("`{name}` is not the name of a header"),
                    "take the name that the proxy sets",
                );
            }
        },
        (None, None) => return Ok(Place::Loopback),
    };
    Ok(Place::Address { address, sign_in, hosts: args.host.clone() })
}

/// Starts the user's browser. False if there is none, or no screen.
fn open_browser(context: &Context, url: &str) -> bool {
    let has_screen =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| context.app.variables.contains_key(*name));
    let program = match cfg!(target_os = "macos") {
        true => "open",
        false if has_screen => "xdg-open",
        false => return false,
    };
    let null = std::process::Stdio::null;
    let started =
        std::process::Command::new(program).arg(url).stdin(null()).stdout(null()).stderr(null()).spawn();
    match started {
        Ok(mut browser) => {
            // It ends at once, or with the browser.
            std::thread::spawn(move || browser.wait());
            true
        }
        Err(_) => false,
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

    fn context() -> Context {
        Context::new(Output::new(false), planforge_app::Context::default())
    }

    #[test]
    fn the_page_listens_on_another_address_with_a_long_password_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        let args = |password: &str, header: Option<&str>| {
            std::fs::write(&file, password).unwrap();
            PageArgs {
                folder: PathBuf::from("."),
                port: 0,
                listen: Some(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED)),
                password_file: header.is_none().then(|| file.clone()),
                proxy_header: header.map(str::to_owned),
                host: Vec::new(),
                no_browser: true,
                replay: None,
            }
        };
        for refused in [args("short", None), args("", Some("not a header"))] {
            assert_eq!(page_place(&refused).unwrap_err().code(), "page.password");
        }
        let place = page_place(&args("correct horse\n", None)).unwrap();
        let Place::Address { sign_in, .. } = place else { panic!("{place:?}") };
        assert_eq!(sign_in, SignIn::Password("correct horse".to_owned()));
        let local = PageArgs { listen: None, ..args("", None) };
        assert_eq!(page_place(&local).unwrap(), Place::Loopback);
    }

    #[test]
    fn the_page_s_language_server_finds_mistakes_and_ends_with_its_client() {
        let (client, messages) = mpsc::channel();
        let (own, answers) = mpsc::channel();
        let server = language_server(&context());
        let ended = std::thread::spawn(move || server(messages, own));
        for message in [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"rootUri":null}}"#,
            r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"page:///domain.pddl","languageId":"pddl",
               "version":1,"text":"(define (domain d) (:predicates (a"}}}"#,
        ] {
            client.send(message.to_owned()).unwrap();
        }
        let mut texts = answers.iter();
        assert!(texts.next().unwrap().contains("completionProvider"));
        assert!(texts.any(|text| text.contains("publishDiagnostics") && text.contains("\"pddl.")));
        drop(client);
        ended.join().unwrap();
    }

    #[test]
    fn the_byte_order_mark_of_a_token_file_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "\u{feff}0123456789abcdef\r\n").unwrap();
        let context = context();
        let args = McpArgs { http: Some(0), token_file: Some(file), token_env: None };
        assert_eq!(token(&context, &args).unwrap(), "0123456789abcdef");
    }
}
