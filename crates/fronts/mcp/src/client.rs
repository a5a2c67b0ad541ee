//! Requests of a call to the client: its roots, its model, and progress.
#![allow(deprecated, reason = "roots and sampling are what clients of today offer")]

use crate::codes::{cancelled, client_failure};
use planforge_contract::Failure;
use rmcp::model::{ClientCapabilities, InputRequest, ListRootsRequest, ListRootsResult};
use serde_json::Value;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc::UnboundedSender, oneshot};

/// Shortest time between two messages of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// A message of a call's thread to the connection.
pub(crate) enum FromCall {
    /// A request to the client, and the place of its answer.
    Request(Box<InputRequest>, oneshot::Sender<Result<Value, String>>),
    Progress {
        done: f64,
        total: Option<f64>,
        message: String,
    },
}

/// The client of one call, as the call's thread sees it.
pub(crate) struct ClientPort {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) to_connection: UnboundedSender<FromCall>,
    last_progress: Mutex<Option<Instant>>,
}

impl ClientPort {
    pub(crate) fn new(capabilities: ClientCapabilities, to_connection: UnboundedSender<FromCall>) -> Self {
        Self { capabilities, to_connection, last_progress: Mutex::new(None) }
    }

    /// The `file:` URIs of the roots that the client grants now.
    ///
    /// # Errors
    /// `mcp.client`, `mcp.cancelled`.
    pub(crate) fn root_uris(&self) -> Result<Vec<String>, Failure> {
        if self.capabilities.roots.is_none() {
            let message = "this client grants no roots, so no file can be read";
            return Err(client_failure(message).help("pass the text itself: {\"text\": \"...\"}"));
        }
        let answer = self.request(InputRequest::ListRoots(ListRootsRequest::default()))?;
        let roots: ListRootsResult = serde_json::from_value(answer)
            .map_err(|e| client_failure(format!("the roots of the client: {e}")))?;
        Ok(roots.roots.into_iter().map(|root| root.uri).collect())
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// `mcp.client`: the client's refusal. `mcp.cancelled`: the call ended before.
    pub(crate) fn request(&self, request: InputRequest) -> Result<Value, Failure> {
        let (sender, receiver) = oneshot::channel();
        let sent = self.to_connection.send(FromCall::Request(Box::new(request), sender));
        sent.map_err(|_| cancelled())?;
        match receiver.blocking_recv() {
            Ok(answer) => answer.map_err(|why| client_failure(format!("the client refused: {why}"))),
            Err(_) => Err(cancelled()),
        }
    }

    /// Reports progress, at most every 200 ms.
    pub(crate) fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let mut last = self.last_progress.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL) {
            return;
        }
        *last = Some(Instant::now());
        // A connection that is closed needs no progress.
        drop(self.to_connection.send(FromCall::Progress { done, total, message: message.to_owned() }));
    }
}
