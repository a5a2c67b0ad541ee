//! The connections of the server: standard input and output, or streamable HTTP on the loopback interface and with a token.

use crate::server::McpServer;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

/// Largest message: the ceiling of a call's texts, escaped.
const MAX_MESSAGE: usize = 160 << 20;
/// Stack of the threads that read PDDL.
const STACK: usize = 8 << 20;
/// Time for cancelled calls to end before the process does.
const GRACE: Duration = Duration::from_secs(5);
/// Shortest token: shorter ones can be guessed.
pub const MIN_TOKEN_BYTES: usize = 16;

/// The path of the protocol.
pub const HTTP_PATH: &str = "/mcp";

/// Starts the threads of a server: two for connections, and one for each active call.
fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).thread_stack_size(STACK).enable_all().build()
}

/// Serves standard input and output until the client closes them.
///
/// # Errors
/// A runtime that cannot be started, or a client that does not speak the protocol.
pub fn serve_stdio(server: McpServer) -> io::Result<()> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_MESSAGE);
        let running = server.serve(transport).await.map_err(io::Error::other)?;
        running.waiting().await.map_err(io::Error::other)?;
        Ok(())
    });
    runtime.shutdown_timeout(GRACE);
    served
}

/// Serves `http://127.0.0.1:PORT/mcp` until the process ends. `started` gets the address; port 0 takes a free port.
///
/// # Errors
/// A runtime that cannot be started, a port that is taken, or a token that is too short.
pub fn serve_http(
    server: McpServer,
    port: u16,
    token: String,
    started: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    runtime()?.block_on(serve_http_within(server, port, token, started))
}

/// As [`serve_http`], within a runtime.
///
/// # Errors
/// A port that is taken, or a token that is too short.
pub async fn serve_http_within(
    server: McpServer,
    port: u16,
    token: String,
    started: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    if token.len() < MIN_TOKEN_BYTES {
        return Err(io::Error::other(format!("the token has less than {MIN_TOKEN_BYTES} bytes")));
    }
    let listener = TcpListener::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)).await?;
    started(listener.local_addr()?);
    // Refuses every request with an `Origin`: those of web pages.
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(MAX_MESSAGE)
        .enforce_origin_validation();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.for_session()), sessions, config);
    let token = Arc::new(format!("Bearer {token}"));
    loop {
        let (stream, _) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("a connection was not accepted: {error}");
                continue;
            }
        };
        let (service, token) = (service.clone(), Arc::clone(&token));
        let answer = service_fn(move |request: Request<Incoming>| {
            let (service, token) = (service.clone(), Arc::clone(&token));
            async move { Ok::<_, Infallible>(respond(&service, &token, request).await) }
        });
        tokio::spawn(async move {
            let connection =
                http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
            // A broken connection has no receiver for an error.
            drop(connection.await);
        });
    }
}

async fn respond(
    service: &StreamableHttpService<McpServer, LocalSessionManager>,
    token: &str,
    request: Request<Incoming>,
) -> Response<BoxBody<Bytes, Infallible>> {
    let given = request.headers().get(AUTHORIZATION).map(http::HeaderValue::as_bytes).unwrap_or_default();
    if !is_same(given, token.as_bytes()) {
        return refusal(
            StatusCode::UNAUTHORIZED,
            "the header `Authorization: Bearer TOKEN` is missing or wrong\n",
        );
    }
    if request.uri().path() != HTTP_PATH {
        return refusal(StatusCode::NOT_FOUND, "the path is /mcp\n");
    }
    service.handle(request).await
}

fn refusal(status: StatusCode, text: &'static str) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
    }
    response
}

/// Compares in constant time.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    given.len() == token.len() && given.iter().zip(token).fold(0, |found, (a, b)| found | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_token_is_refused() {
        assert!(is_same(b"Bearer abc", b"Bearer abc"));
        for wrong in [&b""[..], b"Bearer ab", b"Bearer abd", b"bearer abc", b"Bearer abcd"] {
            assert!(!is_same(wrong, b"Bearer abc"));
        }
    }
}
