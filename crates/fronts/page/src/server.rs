//! The server: connections, limits, and what is checked before a request is answered.

use crate::access::{Access, Admission, SignIn, random_text};
use crate::answer::{Answer, bytes, json, set};
use crate::assets;
use crate::error::Refusal;
use crate::lsp::LanguageServer;
use crate::paths::ServedFolder;
use crate::routes;
use crate::state::{Call, State};
use crate::threads::STACK;
use http::header::{CONTENT_LENGTH, LOCATION, SET_COOKIE, WWW_AUTHENTICATE};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use planforge_app::contract::{Failure, FailureClass};
use planforge_app::{Context, Error};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

/// Largest body of a request.
const MAX_BODY: usize = 6 << 20;
/// Time for the body of a request to arrive.
const BODY_TIME: Duration = Duration::from_secs(60);
/// Most connections at a time: those of 100 tabs with their streams.
const MAX_CONNECTIONS: usize = 1024;
/// Time between two looks for sessions that nobody uses.
const SWEEP: Duration = Duration::from_secs(10);

/// The settings of the server.
pub struct Settings {
    /// The folder whose tasks, runs and evaluations the page shows.
    pub folder: PathBuf,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Address and sign-in.
    pub place: Place,
    /// A cassette or run folder that all replies of models are taken from.
    pub replay: Option<PathBuf>,
    /// The language server of the editor; without it the editor has none.
    pub language_server: Option<LanguageServer>,
}

/// The address to listen on, and the way to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Browsers on this machine.
    Loopback,
    /// Whoever reaches this address and signs in. Names of the machine are allowed as hosts if they are given.
    Address {
        /// The address to listen on.
        address: IpAddr,
        /// The way to sign in; never by the token alone.
        sign_in: SignIn,
        /// Names under which browsers reach the server, with the port where it is another one.
        hosts: Vec<String>,
    },
}

/// A server that runs until it is dropped.
pub struct PageServer {
    runtime: Runtime,
    access: Arc<Access>,
    address: SocketAddr,
}

impl PageServer {
    /// Starts a server. The context is that of the use cases; its receiver of events, consent and questions are replaced for each job, whose consent
    /// is first asked of the context's.
    ///
    /// # Errors
    /// `page.port`: the address cannot be used. `page.folder`: the folder cannot be served.
    pub fn start(context: Context, settings: Settings) -> Result<Self, Error> {
        let folder = ServedFolder::new(&settings.folder).map_err(|error| {
            let message = format!("the folder {} cannot be served: {error}", settings.folder.display());
            failed("page.folder", message, "name an existing folder with --folder")
        })?;
        let (ip, sign_in, hosts) = match settings.place {
            Place::Loopback => (IpAddr::V4(Ipv4Addr::LOCALHOST), SignIn::Token, Vec::new()),
            Place::Address { address, sign_in, hosts } => (address, sign_in, hosts),
        };
        let system = |error: io::Error| {
            failed("page.server", error.to_string(), "close other programs, then try again")
        };
        let tokens = [random_text(&context), random_text(&context)];
        let [Ok(token), Ok(first)] = tokens else {
            return Err(failed(
                "page.server",
                "the machine has no source of randomness".to_owned(),
                "check /dev/urandom",
            ));
        };
        // One thread for each job, call and stream that waits is added by need.
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_stack_size(STACK).enable_all().build();
        let runtime = runtime.map_err(system)?;
        let wanted = SocketAddr::new(ip, settings.port);
        let listener = runtime.block_on(TcpListener::bind(wanted)).map_err(|error| {
            let message = format!("{wanted} cannot be used: {error}");
            failed("page.port", message, "name another port with --port, or leave --port out for a free one")
        })?;
        let address = listener.local_addr().map_err(system)?;
        let access = Arc::new(Access::new(address, sign_in, hosts, [token, first]));
        let state = Arc::new(State::new(
            context,
            folder,
            access.is_network(),
            (settings.replay, settings.language_server),
        ));
        runtime.spawn(sweep(Arc::clone(&state)));
        runtime.spawn(accept(listener, Arc::clone(&access), state));
        Ok(Self { runtime, access, address })
    }

    /// The address to open, with the token.
    pub fn url(&self) -> String {
        self.access.url()
    }

    /// The address for a browser that this program starts. It lets one browser in.
    pub fn url_for_browser(&self) -> String {
        self.access.first_url()
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the process ends.
    pub fn wait(self) {
        self.runtime.block_on(std::future::pending::<()>());
    }
}

fn failed(code: &str, message: String, help: &str) -> Error {
    Failure::new(FailureClass::System, code, message).help(help).into()
}

/// Ends what nobody uses any more.
async fn sweep(state: Arc<State>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        state.sweep();
    }
}

async fn accept(listener: TcpListener, access: Arc<Access>, state: Arc<State>) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("a connection was not accepted: {error}");
                // Without free file descriptors the next attempt fails too.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Events are small, and each is to arrive at once.
        let _ = stream.set_nodelay(true);
        let (access, state) = (Arc::clone(&access), Arc::clone(&state));
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<Incoming>| async {
                Ok::<_, Infallible>(respond(&access, &state, request).await)
            });
            let connection =
                http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
            // A broken connection has no receiver for an error.
            drop(connection.await);
            drop(permit);
        });
    }
}

async fn respond(access: &Access, state: &State, request: Request<Incoming>) -> Answer {
    let is_call = request.uri().path().starts_with("/api/");
    answer(access, state, request).await.unwrap_or_else(|refusal| {
        let mut answer = match is_call {
            true => json(refusal.status, &refusal.body()),
            false => bytes(refusal.status, "text/plain; charset=utf-8", refusal.text()),
        };
        if refusal.status == StatusCode::UNAUTHORIZED && access.asks_for_password() {
            set(&mut answer, WWW_AUTHENTICATE, "Basic realm=\"planforge\", charset=\"UTF-8\"");
        }
        answer
    })
}

async fn answer(access: &Access, state: &State, request: Request<Incoming>) -> Result<Answer, Refusal> {
    let (head, body) = request.into_parts();
    if let Admission::Enter { cookie, place } = access.admit(&head)? {
        let mut answer = bytes(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
        set(&mut answer, SET_COOKIE, &cookie);
        set(&mut answer, LOCATION, &place);
        return Ok(answer);
    }
    let path = head.uri.path();
    let Some(call) = path.strip_prefix("/api/") else {
        if head.method != Method::GET {
            return Err(Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "page.request",
                "files are only read",
                "use GET",
            ));
        }
        let nonce = state.nonce()?;
        return assets::file(path, &head.headers, &nonce);
    };
    let body = match head.method {
        Method::GET => Bytes::new(),
        Method::POST => {
            let length =
                head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
            if length.is_some_and(|length| length > MAX_BODY) {
                return Err(too_large());
            }
            read(body).await?
        }
        _ => {
            let message = "calls are made with GET or POST";
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "page.request", message, "use POST"));
        }
    };
    let call = Call {
        method: &head.method,
        path: call,
        query: head.uri.query().unwrap_or_default(),
        headers: &head.headers,
        body,
    };
    routes::answer(state, call).await
}

fn too_large() -> Refusal {
    let message = format!("the request has more than {} MB", MAX_BODY >> 20);
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "page.too-large", message, "shorten the text")
}

async fn read(body: Incoming) -> Result<Bytes, Refusal> {
    let read = tokio::time::timeout(BODY_TIME, Limited::new(body, MAX_BODY).collect()).await;
    match read {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => Err(Refusal::request(format!("the body cannot be read: {error}"))),
        Err(_) => Err(Refusal::request("the body did not arrive in time")),
    }
}
