//! Everything that a front supplies to the use cases: a receiver of events, a cancellation token, decisions, clock, variables, folders.

use crate::error::Error;
use crate::events::{Event, Events, Notice};
use crate::question::{Question, Questions};
use planforge_contract::api::Provider;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_plugin_host::LentPlugin;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The surroundings of a use case. Cheap to clone; clones share everything.
///
/// Two contexts share nothing, so that two use cases can run in one process at the same time.
#[derive(Clone)]
pub struct Context {
    /// Receives progress, notices and findings.
    pub events: Arc<dyn Events>,
    /// Ends the use case early.
    pub cancellation: Cancellation,
    /// Decides what neither this crate nor the user's own files allow.
    pub consent: Arc<dyn ConsentDecision>,
    /// Answers questions about the task; `None` if nobody can be asked.
    pub questions: Option<Arc<dyn Questions>>,
    /// The model of the front, which answers for model tables with `provider-client`; `None` if it has none.
    pub client_model: Option<Arc<dyn Provider>>,
    /// The name of that model in records.
    pub client_model_name: String,
    /// True if models are answered from records alone: whatever would send a request ends with an error.
    pub replays_only: bool,
    /// Time and randomness.
    pub machine: Arc<dyn Machine>,
    /// Environment variables, read by the front.
    pub variables: Arc<BTreeMap<String, String>>,
    /// The folder that relative paths of requests count from; empty for the folder of the process.
    pub folder: PathBuf,
    /// Where plugins are found, and how they are loaded.
    pub plugins: PluginSettings,
    /// The state of the receiver of events. A new context starts with the default.
    pub receiver: ReceiverState,
}

/// What the receiver of events got once already, and if it still works.
#[derive(Clone, Default)]
pub struct ReceiverState {
    /// Notices that are sent once.
    noted: Arc<Mutex<BTreeSet<String>>>,
    /// True after a panic in the receiver, which gets no more events.
    has_panicked: Arc<AtomicBool>,
}

/// Where plugins are found, and how they are loaded.
#[derive(Debug, Clone, Default)]
pub struct PluginSettings {
    /// Folders searched for plugins, in order.
    pub search_path: Vec<PathBuf>,
    /// True if plugin libraries run in child processes.
    pub isolate: bool,
    /// The program that serves as worker process; without it, plugins that need one fail.
    pub worker: Option<WorkerCommand>,
    /// Plugins in this process, such as classes in an interpreter. They take the place of those of their ids, and need no consent.
    pub lent: Vec<LentPlugin>,
}

/// The command that starts `planforge worker`. The host adds the worker's options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The executable: `planforge`, or an interpreter that contains it.
    pub executable: PathBuf,
    /// Its arguments; the last one is `worker`.
    pub arguments: Vec<String>,
}

impl WorkerCommand {
    /// The worker of a `planforge` executable.
    pub fn of_executable(executable: PathBuf) -> Self {
        Self { executable, arguments: vec!["worker".to_owned()] }
    }
}

/// Time and randomness.
pub trait Machine: Send + Sync {
    /// The current time.
    fn now(&self) -> SystemTime;
    /// Fills the bytes with random values fit for a secret.
    ///
    /// # Errors
    /// The machine has no source of randomness.
    fn random(&self, bytes: &mut [u8]) -> std::io::Result<()>;
}

/// The clock and randomness of this computer.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThisMachine;

impl Machine for ThisMachine {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random(&self, bytes: &mut [u8]) -> std::io::Result<()> {
        std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, bytes)
    }
}

/// A request for the user's consent. Its text says which option of which file would do what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsentRequest {
    /// Send requests to a server or through a proxy that the user did not name.
    Connect {
        /// Scheme, host and port.
        server: String,
        /// Names of the environment variables whose values would be sent. Empty: texts of requests alone.
        variables: Vec<String>,
        /// The option that names the server.
        option: String,
        /// File, line and table of the option.
        place: String,
        /// True for a proxy.
        is_proxy: bool,
    },
    /// Trust further certificate authorities.
    TrustAuthority {
        /// The PEM file.
        file: String,
        /// SHA-256 of its text, in hexadecimal.
        hash: String,
        /// The servers that they could answer for.
        servers: Vec<String>,
        /// The option that names the file.
        option: String,
        /// File, line and table of the option.
        place: String,
    },
    /// Start a program that a pipeline file names.
    StartProgram {
        /// The command as a person would write it, with settings.
        command: String,
        /// File, line, table and plugin.
        place: String,
        /// Identifies the command, its settings and its files (SHA-256).
        hash: String,
    },
}

impl fmt::Display for ConsentRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { server, variables, option, place, is_proxy } => {
                let what = match variables.len() {
                    0 => "the texts of the requests, without a key,".to_owned(),
                    1 => format!("the value of {}", variables[0]),
                    _ => format!("the values of {}", variables.join(", ")),
                };
                let way = if *is_proxy { "through" } else { "to" };
                write!(f, "{place}: `{option}` would send {what} {way} `{server}`")
            }
            Self::TrustAuthority { file, hash, servers, option, place } => {
                let servers: Vec<String> = servers.iter().map(|server| format!("`{server}`")).collect();
                write!(
                    f,
                    "{place}: `{option}` would trust the certificate authorities in `{file}` (sha256 {hash}), whose owner could \
                     read what is sent to {}",
                    servers.join(", ")
                )
            }
            Self::StartProgram { command, place, .. } => write!(f, "{place} would start `{command}`"),
        }
    }
}

/// Decisions of the user.
pub trait ConsentDecision: Send + Sync {
    /// True if the user allows it. May wait for a person; the use case stays cancellable meanwhile.
    fn allows(&self, request: &ConsentRequest) -> bool;
}

impl<F: Fn(&ConsentRequest) -> bool + Send + Sync> ConsentDecision for F {
    fn allows(&self, request: &ConsentRequest) -> bool {
        self(request)
    }
}

/// Ends a use case early: it stops at the next check, completes its record and returns. Clones share one state.
#[derive(Debug, Clone, Default)]
pub struct Cancellation {
    cancelled: Arc<AtomicBool>,
    watched: Arc<AtomicBool>,
}

impl Cancellation {
    /// Requests the end. Returns true if it was requested before.
    pub fn cancel(&self) -> bool {
        self.cancelled.swap(true, Ordering::SeqCst)
    }

    /// True once the end was requested.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// True once a use case checks the token. Before that, a front that wants to end has to end the process itself.
    pub fn is_watched(&self) -> bool {
        self.watched.load(Ordering::SeqCst)
    }

    /// Returns the flag for a use case that checks it.
    pub(crate) fn watch(&self) -> Arc<AtomicBool> {
        self.watched.store(true, Ordering::SeqCst);
        Arc::clone(&self.cancelled)
    }
}

impl Default for Context {
    /// No receiver of events, no consent, no variables, this machine's clock, and bundled plugins only.
    fn default() -> Self {
        Self {
            events: Arc::new(|_: &Event<'_>| {}),
            cancellation: Cancellation::default(),
            consent: Arc::new(|_: &ConsentRequest| false),
            questions: None,
            client_model: None,
            client_model_name: "client".to_owned(),
            replays_only: false,
            machine: Arc::new(ThisMachine),
            variables: Arc::default(),
            folder: PathBuf::new(),
            plugins: PluginSettings::default(),
            receiver: ReceiverState::default(),
        }
    }
}

/// Interval at which a waiting decision looks for a cancellation.
const POLL: Duration = Duration::from_millis(20);

impl Context {
    /// The same context without a receiver of events.
    pub(crate) fn without_events(&self) -> Self {
        let Self { events, receiver, .. } = Self::default();
        Self { events, receiver, ..self.clone() }
    }

    /// The path of a file or folder that a request names.
    pub fn path(&self, path: &Path) -> PathBuf {
        if self.folder.as_os_str().is_empty() { path.to_owned() } else { self.folder.join(path) }
    }

    /// The value of an environment variable, if it is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// The folder that a variable names with an absolute path, else the one of that name in the home folder.
    fn user_folder(&self, name: &str, in_home: &str) -> Option<PathBuf> {
        let named = self.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        named.or_else(|| self.variable("HOME").map(|home| PathBuf::from(home).join(in_home)))
    }

    /// The folder for files that can be recreated: `XDG_CACHE_HOME`, else `~/.cache`; `None` if neither is known.
    pub(crate) fn cache_folder(&self) -> Option<PathBuf> {
        self.user_folder("XDG_CACHE_HOME", ".cache")
    }

    /// A file of the user's configuration: in `planforge` of `XDG_CONFIG_HOME`, else of `~/.config`.
    pub(crate) fn user_file(&self, name: &str) -> Option<PathBuf> {
        self.user_folder("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("planforge").join(name))
    }

    /// Sends an event. A receiver that panics gets no more events; the use case goes on.
    pub(crate) fn send(&self, event: &Event<'_>) {
        if self.receiver.has_panicked.load(Ordering::SeqCst) {
            return;
        }
        if std::panic::catch_unwind(AssertUnwindSafe(|| self.events.receive(event))).is_err() {
            self.receiver.has_panicked.store(true, Ordering::SeqCst);
        }
    }

    /// Sends a notice.
    pub(crate) fn note(&self, notice: Notice) {
        self.send(&Event::Notice(&notice));
    }

    /// Sends a warning with this text.
    pub(crate) fn warn(&self, text: impl Into<String>) {
        self.note(Notice::Warning(text.into()));
    }

    /// As [`Context::note`], for notices that several parts of one use case give: each is sent once.
    pub(crate) fn note_once(&self, notice: Notice) {
        let mut noted = self.receiver.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.insert(notice.to_string()) {
            drop(noted);
            self.note(notice);
        }
    }

    /// Sends findings about what was read, if there are any.
    pub(crate) fn findings(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        if !diagnostics.is_empty() {
            self.send(&Event::Findings { diagnostics, sources });
        }
    }

    /// The user's decision; no if the use case is cancelled first, or if the front panics.
    pub(crate) fn allows(&self, request: ConsentRequest) -> bool {
        let consent = Arc::clone(&self.consent);
        self.wait_for(move || consent.allows(&request)).unwrap_or(false)
    }

    /// The user's answer to a question; `None` if nobody can be asked, nothing was answered, or the use case is cancelled first.
    pub(crate) fn ask(&self, question: Question) -> Option<String> {
        let questions = self.questions.clone()?;
        self.wait_for(move || questions.answer(&question)).flatten()
    }

    /// Calls a front on a thread of its own, because it may never answer. `None` after a cancellation or a panic in the call.
    fn wait_for<T: Send + 'static>(&self, call: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let cancelled = self.cancellation.watch();
        let (answer, answered) = mpsc::channel();
        std::thread::spawn(move || {
            // The receiver is gone after a cancellation.
            drop(answer.send(call()));
        });
        loop {
            match answered.recv_timeout(POLL) {
                Ok(value) => return Some(value),
                Err(RecvTimeoutError::Timeout) if !cancelled.load(Ordering::SeqCst) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Reads a JSON document that an earlier command wrote.
    ///
    /// # Errors
    /// The file cannot be read, or `record.corrupt`.
    pub(crate) fn read_json<T: serde::de::DeserializeOwned>(&self, path: &Path) -> Result<T, Error> {
        crate::files::parse_json(path, &crate::files::read_named_text(path)?)
    }
}
