//! The loop that answers a client.

use crate::{ServeError, Services};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use planforge_app::editor::{
    self, COMMANDS, ChangeParams, CommandParams, DOMAIN_SOURCE, DocumentParams, MOST_DIAGNOSTICS, OpenParams,
    Work, Workspace, diagnostic,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

/// Most commands that run at the same time.
const MOST_RUNNING: usize = 2;

/// `RequestFailed` of the protocol: a valid request that cannot be fulfilled.
const REQUEST_FAILED: i32 = -32803;

/// Flags that cancel the running commands.
type Running = Mutex<HashMap<RequestId, Arc<AtomicBool>>>;

/// Serves a client until it ends the session or disconnects.
///
/// # Errors
/// A client that breaks the protocol.
pub fn serve(connection: &Connection, services: &Services<'_>) -> Result<(), ServeError> {
    let (id, params) = connection.initialize_start()?;
    let settings = Settings::of(&params["initializationOptions"]);
    let server = json!({ "name": "planforge", "version": env!("CARGO_PKG_VERSION") });
    connection.initialize_finish(id, json!({ "capabilities": capabilities(), "serverInfo": server }))?;
    let running = Running::default();
    let mut state =
        Server { connection, services, settings, workspace: Workspace::default(), running: &running };
    std::thread::scope(|scope| {
        let result = state.run(scope);
        lock(&running).values().for_each(|cancelled| cancelled.store(true, Ordering::SeqCst));
        result
    })
}

fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 2, "save": true },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": { "prepareProvider": true },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": ["(", "?", ":"] },
        "documentSymbolProvider": true,
        "documentFormattingProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix", "source.fixAll"] },
        "codeLensProvider": {},
        "executeCommandProvider": { "commands": COMMANDS },
    })
}

fn lock(running: &Running) -> std::sync::MutexGuard<'_, HashMap<RequestId, Arc<AtomicBool>>> {
    // The map is whole at every moment: entries are only inserted and removed.
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Server<'s> {
    connection: &'s Connection,
    services: &'s Services<'s>,
    settings: Settings,
    workspace: Workspace,
    running: &'s Running,
}

impl<'s> Server<'s> {
    fn run<'scope>(&mut self, scope: &'scope Scope<'scope, '_>) -> Result<(), ServeError>
    where
        's: 'scope,
    {
        while let Ok(message) = self.connection.receiver.recv() {
            match message {
                Message::Request(request) => {
                    // Fixes are those of the present text, and no change goes without its diagnostics.
                    if matches!(request.method.as_str(), "textDocument/codeAction" | "shutdown") {
                        self.publish();
                    }
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    self.request(scope, request);
                }
                Message::Notification(notification) if notification.method == "exit" => return Ok(()),
                Message::Notification(notification) => self.notification(notification),
                Message::Response(_) => {}
            }
            // Changes that are waiting make these diagnostics stale again.
            if self.connection.receiver.is_empty() {
                self.publish();
            }
        }
        Ok(())
    }

    fn send(&self, message: impl Into<Message>) {
        // A client that is gone needs no answer; the loop ends at its next turn.
        drop(self.connection.sender.send(message.into()));
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => {
                if let Ok(OpenParams { text_document: opened }) = OpenParams::deserialize(params) {
                    self.workspace.open(&opened.uri, opened.text, opened.version);
                }
            }
            "textDocument/didChange" => {
                if let Ok(changed) = ChangeParams::deserialize(params) {
                    let id = changed.text_document;
                    self.workspace.change(&id.uri, &changed.content_changes, id.version);
                }
            }
            "textDocument/didClose" => {
                if let Ok(closed) = DocumentParams::deserialize(params) {
                    let uri = closed.text_document.uri;
                    self.workspace.close(&uri);
                    self.send(Notification::new(
                        "textDocument/publishDiagnostics".to_owned(),
                        json!({ "uri": uri, "diagnostics": [] }),
                    ));
                }
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => self.workspace.files_changed(),
            "$/cancelRequest" => {
                if let Ok(id) = RequestId::deserialize(&params["id"])
                    && let Some(cancelled) = lock(self.running).get(&id)
                {
                    cancelled.store(true, Ordering::SeqCst);
                }
            }
            _ => {}
        }
    }

    /// Publishes the diagnostics of every document whose text is newer.
    fn publish(&mut self) {
        let stale: Vec<String> = self
            .workspace
            .documents
            .iter()
            .filter(|(_, document)| document.is_stale)
            .map(|(uri, _)| uri.clone())
            .collect();
        for uri in stale {
            let Some(document) = self.workspace.documents.get(&uri) else { continue };
            // A mistake of the checks must not end the session.
            let check = || editor::findings(&self.workspace, &uri, document, self.services.check_pipeline);
            let mut findings = catch_unwind(AssertUnwindSafe(check)).unwrap_or_default();
            findings.truncate(MOST_DIAGNOSTICS);
            let has_other_source =
                findings.iter().flat_map(|d| &d.labels).any(|label| label.source == DOMAIN_SOURCE);
            let domain = if has_other_source { self.workspace.domain_for(&uri) } else { None };
            let domain = domain.as_ref().map(|(uri, analysis)| (uri.as_str(), analysis.as_ref()));
            let diagnostics: Value =
                findings.iter().map(|finding| diagnostic(&uri, document, finding, domain)).collect();
            let mut params = json!({ "uri": uri, "diagnostics": diagnostics });
            if let Some(version) = document.version {
                params["version"] = version.into();
            }
            self.send(Notification::new("textDocument/publishDiagnostics".to_owned(), params));
            if let Some(document) = self.workspace.documents.get_mut(&uri) {
                document.findings = findings;
                document.is_stale = false;
            }
        }
    }

    fn request<'scope>(&self, scope: &'scope Scope<'scope, '_>, request: Request)
    where
        's: 'scope,
    {
        let id = request.id.clone();
        if request.method == "workspace/executeCommand" {
            return self.execute(scope, request);
        }
        // A mistake of a feature must not end the session.
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(&request)));
        let internal = || {
            Err((ErrorCode::InternalError as i32, "this is a bug in planforge; please report it".to_owned()))
        };
        self.send(match answer.unwrap_or_else(|_| internal()) {
            Ok(value) => Response::new_ok(id, value),
            Err((code, message)) => Response::new_err(id, code, message),
        });
    }

    /// The answer to a request; null where there is nothing to say.
    fn answer(&self, request: &Request) -> Result<Value, (i32, String)> {
        let params = || read_params::<DocumentParams>(&request.params);
        let workspace = &self.workspace;
        let answer = match request.method.as_str() {
            "textDocument/definition" => editor::definition(workspace, &params()?),
            "textDocument/references" => editor::references(workspace, &params()?),
            "textDocument/documentHighlight" => editor::highlights(workspace, &params()?),
            "textDocument/prepareRename" => editor::prepare_rename(workspace, &params()?),
            "textDocument/rename" => {
                Some(editor::rename(workspace, &params()?).map_err(|message| (REQUEST_FAILED, message))?)
            }
            "textDocument/hover" => editor::hover(workspace, &params()?),
            "textDocument/completion" => editor::completion(workspace, &params()?),
            "textDocument/documentSymbol" => editor::outline(workspace, &params()?.text_document.uri),
            "textDocument/formatting" => editor::format(workspace, &params()?.text_document.uri),
            "textDocument/codeAction" => editor::code_actions(workspace, &params()?),
            "textDocument/codeLens" => editor::lenses(workspace, &params()?.text_document.uri),
            method => {
                return Err((
                    ErrorCode::MethodNotFound as i32,
                    format!("unknown method `{}`", method.escape_debug()),
                ));
            }
        };
        Ok(answer.unwrap_or_default())
    }

    /// Runs a command on a thread of its own, so that documents can change meanwhile.
    fn execute<'scope>(&self, scope: &'scope Scope<'scope, '_>, request: Request)
    where
        's: 'scope,
    {
        let id = request.id;
        let work =
            read_params::<CommandParams>(&request.params).and_then(|CommandParams { command, arguments }| {
                if lock(self.running).len() >= MOST_RUNNING {
                    return Err((
                        REQUEST_FAILED,
                        format!("{MOST_RUNNING} commands are running; wait for one or cancel it"),
                    ));
                }
                Work::of(&self.workspace, &command, &arguments).map_err(|message| (REQUEST_FAILED, message))
            });
        let work = match work {
            Ok(work) => work,
            Err((code, message)) => return self.send(Response::new_err(id, code, message)),
        };
        let cancelled = Arc::new(AtomicBool::new(false));
        lock(self.running).insert(id.clone(), Arc::clone(&cancelled));
        let (sender, services, running) =
            (self.connection.sender.clone(), self.services.limits, self.running);
        let seconds = self.settings.time_limit_seconds;
        scope.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| {
                work.run(services(seconds, Arc::clone(&cancelled)).as_mut())
            }));
            lock(running).remove(&id);
            let response = match result {
                _ if cancelled.load(Ordering::SeqCst) => Response::new_err(
                    id,
                    ErrorCode::RequestCanceled as i32,
                    "the command was cancelled".to_owned(),
                ),
                Ok(Ok(value)) => {
                    let message = json!({ "type": 3, "message": value["summary"] });
                    drop(sender.send(Notification::new("window/showMessage".to_owned(), message).into()));
                    Response::new_ok(id, value)
                }
                Ok(Err(message)) => Response::new_err(id, REQUEST_FAILED, message),
                Err(_) => {
                    let message = "this is a bug in planforge; please report it".to_owned();
                    Response::new_err(id, ErrorCode::InternalError as i32, message)
                }
            };
            drop(sender.send(response.into()));
        });
    }
}

fn read_params<T: DeserializeOwned>(params: &Value) -> Result<T, (i32, String)> {
    T::deserialize(params).map_err(|error| (ErrorCode::InvalidParams as i32, error.to_string()))
}

/// Settings of the client, in `initializationOptions`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    /// Seconds after which planning and validating from a lens end.
    pub(crate) time_limit_seconds: f64,
}

/// The highest time limit that a client can set.
const MAX_SECONDS: f64 = 3600.0;

impl Default for Settings {
    fn default() -> Self {
        Self { time_limit_seconds: 30.0 }
    }
}

impl Settings {
    /// The settings of a client; what cannot be read has its default.
    pub(crate) fn of(options: &Value) -> Self {
        let settings: Self = Self::deserialize(options).unwrap_or_default();
        let seconds = settings.time_limit_seconds;
        let seconds = if seconds.is_finite() && seconds > 0.0 {
            seconds.min(MAX_SECONDS)
        } else {
            Self::default().time_limit_seconds
        };
        Self { time_limit_seconds: seconds }
    }
}
