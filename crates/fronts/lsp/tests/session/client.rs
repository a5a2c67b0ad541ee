//! A scripted client over an in-memory connection.

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_lsp::{Services, serve};
use planforge_planning::{Poll, ResourceLimits, StopReason};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Only stops a test that hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// Ends at the flag; otherwise never.
struct UntilCancelled(Arc<AtomicBool>);

impl ResourceLimits for UntilCancelled {
    fn poll(&mut self) -> Poll {
        if self.0.load(Ordering::SeqCst) { Poll::Stop(StopReason::Cancelled) } else { Poll::Continue }
    }
    fn charge(&mut self, _bytes: u64) -> Poll {
        self.poll()
    }
    fn release(&mut self, _bytes: u64) {}
}

pub(crate) struct Client {
    connection: Connection,
    server: Option<JoinHandle<()>>,
    folder: tempfile::TempDir,
    next_id: i32,
    /// Notifications that nothing has waited for.
    pub(crate) notified: Vec<Notification>,
    /// The newest diagnostics of each document, with the places of files below the folder.
    newest: BTreeMap<String, String>,
}

/// The folder of an example suite.
pub(crate) fn suite(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites").join(name)
}

impl Client {
    /// A client whose folder has the files of a suite.
    pub(crate) fn with_suite(name: &str) -> Self {
        let client = Self::new();
        for entry in std::fs::read_dir(suite(name)).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, client.folder.path().join(path.file_name().unwrap())).unwrap();
        }
        client
    }

    pub(crate) fn new() -> Self {
        let (connection, server_side) = Connection::memory();
        let server = std::thread::spawn(move || {
            // A pipeline is wrong where it says so.
            let check_pipeline = |text: &str, _name: &str| -> Vec<Diagnostic> {
                let wrong = text.find("wrong").map(|at| Span::new(at as u32, at as u32 + 5));
                wrong
                    .map(|span| {
                        Diagnostic::error("pipeline.unknown", "it is wrong").at(SourceId(0), span, "")
                    })
                    .into_iter()
                    .collect()
            };
            let limits =
                |_seconds: f64, cancelled| -> Box<dyn ResourceLimits> { Box::new(UntilCancelled(cancelled)) };
            serve(&server_side, &Services { check_pipeline: &check_pipeline, limits: &limits }).unwrap();
        });
        let folder = tempfile::tempdir().unwrap();
        let mut client = Self {
            connection,
            server: Some(server),
            folder,
            next_id: 0,
            notified: Vec::new(),
            newest: BTreeMap::new(),
        };
        let capabilities = client.request("initialize", json!({ "capabilities": {} })).unwrap();
        assert_eq!(capabilities["capabilities"]["positionEncoding"], "utf-16");
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(file)).unwrap()
    }

    pub(crate) fn uri(&self, file: &str) -> String {
        url::Url::from_file_path(self.folder.path().join(file)).unwrap().into()
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification::new(method.to_owned(), params).into()).unwrap();
    }

    /// Opens a document with this text and returns its diagnostics.
    pub(crate) fn open_text(&mut self, file: &str, text: &str) -> Vec<Value> {
        let document = json!({ "uri": self.uri(file), "languageId": "pddl", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics(file)
    }

    /// Opens a file and returns its diagnostics.
    pub(crate) fn open(&mut self, file: &str) -> Vec<Value> {
        self.open_text(file, &self.read(file))
    }

    /// Replaces the whole text.
    pub(crate) fn set(&mut self, file: &str, text: &str) -> Vec<Value> {
        self.change(file, json!([{ "text": text }]));
        self.diagnostics(file)
    }

    pub(crate) fn change(&self, file: &str, changes: Value) {
        let document = json!({ "uri": self.uri(file), "version": 2 });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// The diagnostics of a document that are published next.
    pub(crate) fn diagnostics(&mut self, file: &str) -> Vec<Value> {
        let uri = self.uri(file);
        let params = self.notification(|n| {
            n.method == "textDocument/publishDiagnostics" && n.params["uri"] == uri.as_str()
        });
        params["diagnostics"].as_array().unwrap().clone()
    }

    fn notification(&mut self, wanted: impl Fn(&Notification) -> bool) -> Value {
        if let Some(at) = self.notified.iter().position(&wanted) {
            return self.notified.remove(at).params;
        }
        loop {
            match self.receive() {
                Message::Notification(notification) if wanted(&notification) => return notification.params,
                Message::Notification(notification) => self.notified.push(notification),
                other => panic!("{other:?}"),
            }
        }
    }

    /// The diagnostics of each document after all changes.
    pub(crate) fn newest_diagnostics(&mut self) -> BTreeMap<String, String> {
        // The server publishes what is waiting before it answers this request.
        let params = json!({ "textDocument": { "uri": self.uri("domain.pddl") } });
        self.request("textDocument/codeAction", params).unwrap();
        self.newest.clone()
    }

    fn receive(&mut self) -> Message {
        let message = self.connection.receiver.recv_timeout(PATIENCE).expect("the server answers");
        if let Message::Notification(Notification { method, params }) = &message
            && method == "textDocument/publishDiagnostics"
        {
            let folder = self.uri("");
            let [file, found] =
                ["uri", "diagnostics"].map(|field| params[field].to_string().replace(&folder, ""));
            self.newest.insert(file, found);
        }
        message
    }

    pub(crate) fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.next_id += 1;
        let id = RequestId::from(self.next_id);
        self.connection.sender.send(Request::new(id.clone(), method.to_owned(), params).into()).unwrap();
        id
    }

    pub(crate) fn response(&mut self, wanted: &RequestId) -> Result<Value, (i32, String)> {
        loop {
            match self.receive() {
                Message::Response(Response { id, response_result }) => {
                    assert_eq!(id, *wanted);
                    return response_result.map_err(|error| (error.code, error.message));
                }
                Message::Notification(notification) => self.notified.push(notification),
                Message::Request(request) => panic!("{request:?}"),
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.send(method, params);
        self.response(&id)
    }

    /// A request about the place behind `before` in a document.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        file: &str,
        text: &str,
        before: &str,
        more: Value,
    ) -> Result<Value, (i32, String)> {
        let mut params =
            json!({ "textDocument": { "uri": self.uri(file) }, "position": position(text, before) });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.request(method, params)
    }

    /// Applies the edits of a workspace edit to texts by file name.
    pub(crate) fn apply(&self, edit: &Value, file: &str, text: &str) -> String {
        let mut text = text.to_owned();
        let mut edits = edit["changes"][self.uri(file)].as_array().cloned().unwrap_or_default();
        edits.sort_by_key(|edit| {
            std::cmp::Reverse((
                edit["range"]["start"]["line"].as_u64(),
                edit["range"]["start"]["character"].as_u64(),
            ))
        });
        for edit in edits {
            let range = &edit["range"];
            text.replace_range(
                offset(&text, &range["start"])..offset(&text, &range["end"]),
                edit["newText"].as_str().unwrap(),
            );
        }
        text
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if std::thread::panicking() || self.server.is_none() {
            return;
        }
        self.request("shutdown", Value::Null).unwrap();
        self.notify("exit", Value::Null);
        self.server.take().unwrap().join().unwrap();
    }
}

/// The position behind the first `before` in the text, in UTF-16.
pub(crate) fn position(text: &str, before: &str) -> Value {
    let offset = text.find(before).unwrap_or_else(|| panic!("{before} is not in the text")) + before.len();
    let line = text[..offset].matches('\n').count();
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    json!({ "line": line, "character": text[start..offset].encode_utf16().count() })
}

fn offset(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().unwrap() as usize;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = position["character"].as_u64().unwrap() as usize;
    let mut offset = start;
    for c in text[start..].chars() {
        if units < c.len_utf16() || c == '\n' || c == '\r' {
            break;
        }
        units -= c.len_utf16();
        offset += c.len_utf8();
    }
    offset
}

/// Replaces a range as the protocol says: positions behind the end of a line or of the text are that end.
pub(crate) fn replace(text: &mut String, range: &Value, piece: &str) {
    let start = offset(text, &range["start"]);
    let end = offset(text, &range["end"]).max(start);
    text.replace_range(start..end, piece);
}

/// The text at a range.
pub(crate) fn slice<'t>(text: &'t str, range: &Value) -> &'t str {
    &text[offset(text, &range["start"])..offset(text, &range["end"])]
}

impl Client {
    /// Waits for the end of a server that was asked to end.
    pub(crate) fn end(&mut self) {
        self.server.take().unwrap().join().unwrap();
    }
}
