//! `planforge serve lsp` on standard input and output. Its features are tested in its crate.

use super::support::{Ran, planforge};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

/// The messages that the server sends for these.
pub(crate) fn session(messages: &[Value]) -> Vec<Value> {
    let mut child = planforge().arg("lsp").stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for message in messages {
        let body = message.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }
    drop(input);
    let ran = Ran::wait(child);
    ran.expect(0);
    let bodies = ran.stdout.split("Content-Length: ").skip(1);
    bodies.map(|part| serde_json::from_str(part.split_once("\r\n\r\n").unwrap().1).unwrap()).collect()
}

#[test]
fn pddl_and_pipelines_are_checked_over_standard_input_and_output() {
    let open = |uri: &str, text: &str| {
        let document = json!({ "uri": uri, "languageId": "x", "version": 1, "text": text });
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } })
    };
    let sent = session(&[
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }),
        json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }),
        open("file:///nowhere/domain.pddl", "(define (domain d) (:predicates (p)"),
        open("file:///nowhere/run.toml", "schema = 1\n[[stage]]\ndo = \"tranlsate\"\n"),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }),
        json!({ "jsonrpc": "2.0", "method": "exit" }),
    ]);
    assert_eq!(sent[0]["result"]["serverInfo"]["name"], "planforge");
    let codes = |file: &str| -> Vec<&str> {
        let published =
            sent.iter().filter(|m| m["params"]["uri"].as_str().is_some_and(|uri| uri.ends_with(file)));
        let diagnostics = published.flat_map(|m| m["params"]["diagnostics"].as_array().unwrap());
        diagnostics.map(|d| d["code"].as_str().unwrap()).collect()
    };
    assert_eq!(sent.last().unwrap()["id"], 2);
    assert!(codes("domain.pddl").contains(&"pddl.unclosed"), "{sent:?}");
    assert!(codes("run.toml").iter().any(|code| code.starts_with("pipeline.")), "{sent:?}");
}
