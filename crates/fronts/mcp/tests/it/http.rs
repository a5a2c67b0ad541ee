//! The server over HTTP: the token, and the loopback interface.

use planforge_app::Context;
use planforge_mcp::{HTTP_PATH, McpServer, serve_http_within};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

async fn serve() -> SocketAddr {
    let server = McpServer::new(Context::default(), 2);
    let (sender, receiver) = tokio::sync::oneshot::channel();
    tokio::spawn(serve_http_within(server, 0, TOKEN.to_owned(), |address| sender.send(address).unwrap()));
    receiver.await.unwrap()
}

/// Sends one request and returns what arrives until the server closes the connection or the first event is complete.
fn post(address: SocketAddr, path: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut part) {
        answer.extend_from_slice(&part[..read]);
        if String::from_utf8_lossy(&answer).contains("serverInfo") {
            break;
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_requests_with_the_token_and_without_a_foreign_origin_are_answered() {
    let address = serve().await;
    assert!(address.ip().is_loopback());
    let answer = |path: &str, headers: String| post(address, path, &headers, INITIALIZE);
    let host = format!("Host: {address}\r\n");
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    let good = answer(HTTP_PATH, format!("{host}{token}"));
    assert!(good.starts_with("HTTP/1.1 200") && good.contains("planforge"), "{good}");
    for (path, headers, status) in [
        (HTTP_PATH, host.clone(), "401"),
        (HTTP_PATH, format!("{host}Authorization: Bearer {}\r\n", TOKEN.replace('0', "1")), "401"),
        (HTTP_PATH, format!("{host}{token}Origin: https://example.org\r\n"), "403"),
        (HTTP_PATH, format!("Host: example.org\r\n{token}"), "403"),
        ("/", format!("{host}{token}"), "404"),
    ] {
        let refused = answer(path, headers);
        assert!(refused.starts_with(&format!("HTTP/1.1 {status}")), "{refused}");
    }
}

#[tokio::test]
async fn a_short_token_is_refused() {
    let server = McpServer::new(Context::default(), 1);
    let refused = serve_http_within(server, 0, "short".to_owned(), |_| panic!("it started")).await;
    assert!(refused.unwrap_err().to_string().contains("16 bytes"));
}
