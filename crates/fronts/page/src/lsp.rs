//! Sessions of the language server, which gets and sends messages as JSON texts.

use crate::answer::{Answer, json};
use crate::error::Refusal;
use crate::log::EventLog;
use crate::threads::spawn;
use http::StatusCode;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A language server: reads messages until their sender is gone, and sends its own. It ends at the end of its client.
pub type LanguageServer = Arc<dyn Fn(Receiver<String>, Sender<String>) + Send + Sync>;

/// Most sessions.
const MAX_SESSIONS: usize = 32;
/// Time after which a session without a stream ends.
const WITHOUT_STREAM: Duration = Duration::from_secs(30);
/// Time after which a session without a message ends.
const SILENCE: Duration = Duration::from_secs(600);
/// Keys of messages that name a document.
const NAMES: [&str; 6] = ["uri", "rootUri", "rootPath", "newUri", "oldUri", "workspaceFolders"];

/// The sessions.
pub(crate) struct LanguageSessions {
    server: Option<LanguageServer>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u64,
    sessions: BTreeMap<String, Session>,
}

struct Session {
    input: Sender<String>,
    log: Arc<EventLog>,
    streams: usize,
    /// The last message, or the end of the last stream.
    heard: Instant,
}

/// Counts a stream of a session until it is dropped.
pub(crate) struct OpenStream {
    sessions: Arc<LanguageSessions>,
    session: String,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.table().sessions.get_mut(&self.session) {
            session.streams -= 1;
            session.heard = Instant::now();
        }
    }
}

impl LanguageSessions {
    pub(crate) fn new(server: Option<LanguageServer>) -> Arc<Self> {
        Arc::new(Self { server, table: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the sessions that nobody uses. A session ends with the sender of its messages.
    pub(crate) fn sweep(&self) {
        self.table().sessions.retain(|_, session| {
            let unheard = session.heard.elapsed();
            unheard < if session.streams == 0 { WITHOUT_STREAM } else { SILENCE }
        });
    }

    /// Starts a session.
    pub(crate) fn open(&self) -> Result<Answer, Refusal> {
        self.sweep();
        let Some(server) = self.server.clone() else {
            return Err(Refusal::missing("this server has no language server"));
        };
        let mut table = self.table();
        if table.sessions.len() >= MAX_SESSIONS {
            return Err(Refusal::busy(format!("{MAX_SESSIONS} editors are open")));
        }
        table.last += 1;
        let name = format!("e{}", table.last);
        let (input, messages) = mpsc::channel();
        let (output, own) = mpsc::channel();
        let log = EventLog::new();
        let writer = Arc::clone(&log);
        spawn(move || server(messages, output))?;
        spawn(move || {
            for message in own {
                writer.push(&serde_json::from_str(&message).unwrap_or(Value::Null));
            }
            writer.close();
        })?;
        table.sessions.insert(name.clone(), Session { input, log, streams: 0, heard: Instant::now() });
        Ok(json(StatusCode::OK, &json!({ "session": name })))
    }

    /// Passes a message to the server.
    ///
    /// # Errors
    /// 404: the session has ended. 403 `page.path`: the message names a file, whose folder the server would read.
    pub(crate) fn send(&self, name: &str, message: &str) -> Result<Answer, Refusal> {
        let parsed: Value = serde_json::from_str(message)
            .map_err(|error| Refusal::request(format!("the message is not JSON: {error}")))?;
        if names_file(&parsed) {
            let help = "name the documents `page:///domain.pddl` and `page:///problem.pddl`";
            return Err(Refusal::new(StatusCode::FORBIDDEN, "page.path", "the editor names a file", help));
        }
        let mut table = self.table();
        let session = table.sessions.get_mut(name).ok_or_else(|| ended(name))?;
        session.heard = Instant::now();
        let sent = session.input.send(message.to_owned());
        sent.map_err(|_| ended(name))?;
        Ok(json(StatusCode::OK, &json!({})))
    }

    /// The messages of a session, and the stream that counts.
    pub(crate) fn stream(self: &Arc<Self>, name: &str) -> Result<(Arc<EventLog>, OpenStream), Refusal> {
        let mut table = self.table();
        let session = table.sessions.get_mut(name).ok_or_else(|| ended(name))?;
        session.streams += 1;
        session.heard = Instant::now();
        let stream = OpenStream { sessions: Arc::clone(self), session: name.to_owned() };
        Ok((Arc::clone(&session.log), stream))
    }
}

fn ended(name: &str) -> Refusal {
    Refusal::missing(format!("the editor's session `{name}` has ended"))
}

/// True if a document of the message is a file.
fn names_file(message: &Value) -> bool {
    let is_file = |value: &Value| value.as_str().is_some_and(|text| !text.starts_with("page:"));
    match message {
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| NAMES.contains(&key.as_str()) && is_file(value) || names_file(value)),
        Value::Array(values) => values.iter().any(names_file),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_names_a_file_is_found_and_a_text_that_mentions_one_is_not() {
        let opened =
            |uri: &str, text: &str| json!({ "params": { "textDocument": { "uri": uri, "text": text } } });
        assert!(names_file(&opened("file:///etc/x.pddl", "")));
        assert!(names_file(&json!({ "params": { "rootUri": "FILE:///etc" } })));
        assert!(!names_file(&opened("page:///domain.pddl", "file:///etc")));
        assert!(!names_file(&json!({ "params": { "rootUri": null } })));
    }
}
