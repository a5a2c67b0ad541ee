//! Requests that the server refuses.

use crate::client::{Reply, TestServer, settings};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planforge_app::Context;
use planforge_page::{PageServer, Place, SignIn};
use serde_json::json;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// The page's own headers with one in the place of another, or without it.
fn changed(server: &TestServer, name: &str, value: Option<&str>) -> Vec<(String, String)> {
    let mut headers = server.own_headers();
    headers.retain(|(known, _)| known != name);
    headers.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    headers
}

fn refused(reply: &Reply) -> (u16, String) {
    (reply.status, reply.code())
}

#[test]
fn the_token_of_the_address_becomes_a_cookie_that_scripts_cannot_read() {
    let server = TestServer::start();
    let host = [("Host".to_owned(), server.host())];
    let path = format!("/?view=runs&token={}", server.token());
    let entered = server.send("GET", &path, &host, "");
    assert_eq!((entered.status, entered.header("location")), (303, Some("/?view=runs")));
    let cookie = entered.header("set-cookie").unwrap();
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let name = format!("planforge-{}=", server.server.address().port());
    assert!(cookie.starts_with(&name), "{cookie}");
    let with_cookie = [host[0].clone(), ("Cookie".to_owned(), cookie.split(';').next().unwrap().to_owned())];
    assert_eq!(server.send("GET", "/api/about", &with_cookie, "").status, 200);
}

#[test]
fn nothing_is_answered_without_the_cookie() {
    let server = TestServer::start();
    let wrong = format!("planforge-{}={}", server.server.address().port(), "0".repeat(64));
    for cookie in [None, Some("other=1"), Some(wrong.as_str())] {
        let reply = server.send("GET", "/api/about", &changed(&server, "Cookie", cookie), "");
        assert_eq!(refused(&reply), (401, "page.token".to_owned()), "{cookie:?}");
        assert_eq!(server.send("GET", "/", &changed(&server, "Cookie", cookie), "").status, 401);
        let reply = server.send("POST", "/api/jobs", &changed(&server, "Cookie", cookie), "{}");
        assert_eq!(refused(&reply), (401, "page.token".to_owned()));
    }
    let reply = server.send("GET", "/?token=wrong", &changed(&server, "Cookie", None), "");
    assert_eq!(reply.status, 401);
}

#[test]
fn the_address_of_a_started_browser_works_once() {
    let server = TestServer::start();
    let url = server.server.url_for_browser();
    let path = url.split_once(&server.host()).unwrap().1.to_owned();
    let host = [("Host".to_owned(), server.host())];
    assert_ne!(url, server.server.url());
    assert_eq!(server.send("GET", &path, &host, "").status, 303);
    assert_eq!(server.send("GET", &path, &host, "").status, 401);
}

#[test]
fn a_name_that_a_foreign_page_gives_this_machine_is_refused() {
    let server = TestServer::start();
    let port = server.server.address().port();
    for host in [
        "example.org".to_owned(),
        format!("example.org:{port}"),
        "127.0.0.1:1".to_owned(),
        format!("192.0.2.1:{port}"),
        String::new(),
    ] {
        let reply = server.send("GET", "/api/about", &changed(&server, "Host", Some(&host)), "");
        assert_eq!(refused(&reply), (421, "page.host".to_owned()), "{host}");
    }
    let with_token = format!("/?token={}", server.token());
    let reply = server.send("GET", &with_token, &[("Host".to_owned(), format!("example.org:{port}"))], "");
    assert_eq!(reply.status, 421);
    let localhost = format!("localhost:{port}");
    let mut headers = changed(&server, "Host", Some(&localhost));
    headers.retain(|(name, _)| name != "Origin");
    assert_eq!(server.send("GET", "/api/about", &headers, "").status, 200);
}

#[test]
fn a_foreign_page_that_posts_is_refused_also_with_the_cookie() {
    let server = TestServer::start();
    for origin in [
        None,
        Some("null"),
        Some("http://example.org"),
        Some("http://127.0.0.1:1"),
        Some("http://localhost:80"),
    ] {
        let reply =
            server.send("POST", "/api/pddl/format", &changed(&server, "Origin", origin), "{\"text\": \"\"}");
        assert_eq!(refused(&reply), (403, "page.origin".to_owned()), "{origin:?}");
    }
    let reply = server.send("GET", "/api/about", &changed(&server, "Origin", Some("http://example.org")), "");
    assert_eq!(refused(&reply), (403, "page.origin".to_owned()));
    let mut headers = changed(&server, "Origin", None);
    headers.push(("Sec-Fetch-Site".to_owned(), "same-site".to_owned()));
    assert_eq!(refused(&server.send("GET", "/api/about", &headers, "")), (403, "page.origin".to_owned()));
    // The kinds that a form of a foreign page can send.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let reply =
            server.send("POST", "/api/pddl/format", &changed(&server, "Content-Type", Some(kind)), "{}");
        assert_eq!(refused(&reply), (415, "page.content-type".to_owned()), "{kind}");
    }
}

#[test]
fn every_answer_forbids_foreign_scripts_frames_and_guessed_types() {
    let server = TestServer::start();
    let unsigned = server.send("GET", "/", &[("Host".to_owned(), server.host())], "");
    for reply in [server.get("/"), server.get("/api/about"), server.get("/api/none"), unsigned] {
        let policy = reply.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(reply.header("cross-origin-resource-policy"), Some("same-origin"));
    }
}

#[test]
fn the_page_has_a_new_nonce_in_each_answer() {
    let server = TestServer::start();
    for part in ["/solve", "/workbench", "/runs?path=runs/x"] {
        assert_eq!(server.get(part).status, server.get("/").status, "{part}");
    }
    if !planforge_page::is_built() {
        assert!(server.get("/").body.contains("tools/page"));
        return;
    }
    let nonce = |reply: &Reply| {
        let nonce = reply.body.split_once("<meta name=\"csp-nonce\" content=\"").unwrap().1.split('"').next();
        let nonce = nonce.unwrap().to_owned();
        assert!(reply.header("content-security-policy").unwrap().contains(&format!("'nonce-{nonce}'")));
        nonce
    };
    assert_ne!(nonce(&server.get("/")), nonce(&server.get("/")));
}

#[test]
fn no_answer_holds_the_value_of_a_variable() {
    let key = "sk-secret-0123456789";
    let variables = BTreeMap::from([("OPENAI_API_KEY".to_owned(), key.to_owned())]);
    let context = Context { variables: Arc::new(variables), ..Context::default() };
    let server = TestServer::start_with(context, Place::Loopback);
    let about = server.get("/api/about");
    let openai =
        about.json()["models"].as_array().unwrap().iter().find(|one| one["name"] == "openai:").cloned();
    assert_eq!(openai.unwrap()["has_key"], true);
    for reply in [about, server.get("/api/runs"), server.get("/api/jobs"), server.get("/")] {
        assert!(!reply.body.contains(key));
    }
}

#[test]
fn a_body_beyond_the_limit_is_refused_and_the_server_goes_on() {
    let server = TestServer::start();
    let long = "x".repeat((6 << 20) + 1);
    let reply = server.send("POST", "/api/pddl/format", &server.own_headers(), &long);
    assert_eq!(refused(&reply), (413, "page.too-large".to_owned()));
    let reply = server.post("/api/pddl/format", &json!({ "words": 1 }));
    assert_eq!(refused(&reply), (400, "page.request".to_owned()));
    assert_eq!(server.send("DELETE", "/api/about", &server.own_headers(), "").status, 405);
    assert_eq!(server.get("/api/about").status, 200);
}

#[test]
fn another_address_takes_a_password_or_a_proxy_s_header_and_never_the_token() {
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let place =
        |sign_in| Place::Address { address, sign_in, hosts: vec!["planforge.example.org".to_owned()] };
    let server =
        TestServer::start_with(Context::default(), place(SignIn::Password("correct horse".to_owned())));
    let with = |host: &str, password: Option<&str>| {
        let password =
            password.map(|password| format!("Basic {}", STANDARD.encode(format!("me:{password}"))));
        let mut headers = vec![("Host".to_owned(), host.to_owned())];
        headers.extend(password.map(|value| ("Authorization".to_owned(), value)));
        server.send("GET", "/api/about", &headers, "")
    };
    let host = server.host();
    let asked = with(&host, None);
    assert_eq!((asked.status, asked.header("www-authenticate").is_some()), (401, true));
    assert_eq!(with(&host, Some("wrong horse!!")).status, 401);
    assert_eq!(with(&host, Some("correct horse")).status, 200);
    assert_eq!(with("planforge.example.org", Some("correct horse")).status, 200);
    assert_eq!(with("example.org", Some("correct horse")).status, 421);
    assert!(!server.server.url().contains("token"));

    let name: http::HeaderName = "x-forwarded-user".parse().unwrap();
    let server = TestServer::start_with(Context::default(), place(SignIn::ProxyHeader(name)));
    let user = |value: Option<&str>| {
        let mut headers = vec![("Host".to_owned(), server.host())];
        headers.extend(value.map(|value| ("X-Forwarded-User".to_owned(), value.to_owned())));
        server.send("GET", "/api/about", &headers, "").status
    };
    assert_eq!((user(None), user(Some("")), user(Some("ada"))), (401, 401, 200));
}

#[test]
fn a_port_in_use_and_a_missing_folder_are_named() {
    let server = TestServer::start();
    let mut taken = settings(server.folder.path(), Place::Loopback);
    taken.port = server.server.address().port();
    let error = PageServer::start(Context::default(), taken).err().unwrap();
    assert_eq!(error.code(), "page.port");
    assert!(error.help().unwrap().contains("--port"), "{error}");
    let missing = settings(&server.folder.path().join("missing"), Place::Loopback);
    assert_eq!(PageServer::start(Context::default(), missing).err().unwrap().code(), "page.folder");
}
