//! One tool call: its context, its texts, its client.

use crate::answers::{cancelled, file_failure, wrong_arguments};
use crate::client::{ClientModel, ClientPort};
use crate::limits::CallLimits;
use crate::roots::Roots;
use crate::session::Session;
use planforge_app::contract::api::Provider;
use planforge_app::contract::{Failure, FailureClass};
use planforge_app::pddl::Sentences;
use planforge_app::record::Event as RunEvent;
use planforge_app::{Context, Event, Events, Progress, ReceiverState, Source};
use schemars::JsonSchema;
use serde::Deserialize;
use std::cell::{Cell, OnceCell};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// A text: given as it is, or as a file under a root of the client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum TextArgument {
    /// The text itself.
    Text(String),
    /// A file under a root that the client grants: relative to a root, or with its full path.
    Path(String),
}

/// An active tool call, on its own thread.
pub(crate) struct Call {
    /// The context of the call's use cases. Its events are progress for the client; the connection cancels it with the call.
    pub(crate) context: Context,
    pub(crate) client: Arc<ClientPort>,
    /// The state of the connection.
    pub(crate) session: Arc<Session>,
}

/// The texts of a call, within its limit on input.
pub(crate) struct CallTexts<'c> {
    client: &'c ClientPort,
    roots: OnceCell<Roots>,
    /// Bytes that may still be read.
    left: Cell<u64>,
    most: u64,
}

impl Call {
    pub(crate) fn new(context: &Context, client: ClientPort, session: Arc<Session>) -> Self {
        let client = Arc::new(client);
        let context = Context {
            events: Arc::new(ProgressSender {
                client: Arc::clone(&client),
                tasks: AtomicU64::default(),
                finished: AtomicU64::default(),
            }),
            cancellation: client.cancellation.clone(),
            receiver: ReceiverState::default(),
            client_model: client_model(&client),
            ..context.clone()
        };
        Self { context, client, session }
    }

    /// A reader of the call's texts.
    pub(crate) fn texts(&self, limits: &CallLimits) -> CallTexts<'_> {
        let most = limits.input_bytes;
        CallTexts { client: &self.client, roots: OnceCell::new(), left: Cell::new(most), most }
    }

    /// The failure of a call that the client has cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<(), Failure> {
        if self.context.cancellation.is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }

    /// Cancels the call's use case at the end of the call's time, unless the timer is dropped before.
    pub(crate) fn cancel_after(&self, limits: &CallLimits) -> Timer {
        let (cancellation, until) = (self.context.cancellation.clone(), limits.until);
        Timer(Handle::current().spawn(async move {
            tokio::time::sleep_until(until.into()).await;
            cancellation.cancel();
        }))
    }
}

/// The client's own model, if it offers one.
fn client_model(client: &Arc<ClientPort>) -> Option<Arc<dyn Provider>> {
    let offered = client.capabilities.sampling.as_ref();
    offered.map(|_| Arc::new(ClientModel(Arc::clone(client))) as Arc<dyn Provider>)
}

/// A task that ends when this is dropped.
pub(crate) struct Timer(JoinHandle<()>);

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl CallTexts<'_> {
    /// Reads PDDL or a plan. `role` names a text that is not a file.
    pub(crate) fn read(&self, role: &str, argument: &TextArgument) -> Result<Source, Failure> {
        let (name, bytes) = match argument {
            TextArgument::Text(text) => (role.to_owned(), text.as_bytes().to_vec()),
            TextArgument::Path(path) => (path.clone(), self.roots()?.read(path, self.left.get())?),
        };
        self.charge(bytes.len())?;
        Ok(Source::Bytes { name, bytes })
    }

    /// As [`CallTexts::read`], for an optional argument.
    pub(crate) fn read_if_given(
        &self,
        role: &str,
        argument: Option<&TextArgument>,
    ) -> Result<Option<Source>, Failure> {
        argument.map(|argument| self.read(role, argument)).transpose()
    }

    /// Counts a text that is not PDDL, and returns it.
    pub(crate) fn text(&self, text: &str) -> Result<String, Failure> {
        self.charge(text.len())?;
        Ok(text.to_owned())
    }

    /// The sentences of the file `sentences.toml` beside a domain file. Without the file, and for a domain given as text, facts are
    /// worded by their names.
    pub(crate) fn sentences(&self, domain: &TextArgument) -> Sentences {
        let TextArgument::Path(path) = domain else { return Sentences::default() };
        let beside = || {
            let place = self.roots().ok()?.open(path).ok()?.1.with_file_name("sentences.toml");
            self.read("sentences", &TextArgument::Path(place.display().to_string())).ok()
        };
        beside().map_or_else(Sentences::default, Sentences::Given)
    }

    /// Reads a text file under a root; returns its full path too.
    pub(crate) fn file(&self, path: &str) -> Result<(PathBuf, String), Failure> {
        let (place, bytes) = self.roots()?.read_with_place(path, self.left.get())?;
        self.charge(bytes.len())?;
        let text = String::from_utf8(bytes).map_err(|_| file_failure(path, "it is not UTF-8"))?;
        Ok((place, text))
    }

    /// The roots that the client grants.
    pub(crate) fn roots(&self) -> Result<&Roots, Failure> {
        if self.roots.get().is_none() {
            let uris = self.client.root_uris()?;
            // Set once: the call has one thread.
            drop(self.roots.set(Roots::of_uris(uris.iter().map(String::as_str))));
        }
        self.roots.get().ok_or_else(|| wrong_arguments("the client grants no roots"))
    }

    fn charge(&self, bytes: usize) -> Result<(), Failure> {
        match self.left.get().checked_sub(bytes as u64) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                let message = format!("the texts of the call exceed the limit of {} MB", self.most >> 20);
                Err(Failure::new(FailureClass::Limit, "mcp.input-size", message)
                    .help("raise `input_mb` in `limits`, up to 64"))
            }
        }
    }
}

/// Sends the progress of a use case to the client.
struct ProgressSender {
    client: Arc<ClientPort>,
    /// Tasks of a run.
    tasks: AtomicU64,
    finished: AtomicU64,
}

impl ProgressSender {
    fn send_task(&self, message: &str) {
        let [finished, tasks] = [&self.finished, &self.tasks].map(|n| n.load(Ordering::Relaxed) as f64);
        self.client.progress(finished, Some(tasks), message);
    }
}

impl Events for ProgressSender {
    fn receive(&self, event: &Event<'_>) {
        match event {
            Event::RunStarted { tasks, .. } => self.tasks.store(*tasks as u64, Ordering::Relaxed),
            Event::Run { progress, .. } => match progress {
                Progress::Event(RunEvent::StageStarted { task, stage, .. }) => {
                    self.send_task(&format!("{task}: {stage}"));
                }
                Progress::Event(RunEvent::TaskFinished { task, .. }) => {
                    self.finished.fetch_add(1, Ordering::Relaxed);
                    self.send_task(&format!("{task} finished"));
                }
                Progress::Call { what, .. } => self.send_task(what),
                _ => {}
            },
            Event::Work(work) if !work.is_ended && (work.done > 0 || !work.message.is_empty()) => {
                self.client.progress(work.done as f64, work.total.map(|total| total as f64), &work.message);
            }
            _ => {}
        }
    }
}
