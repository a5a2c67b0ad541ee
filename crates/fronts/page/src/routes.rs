//! The calls of the page, by method and path.

use crate::answer::{Answer, json};
use crate::builds::Builds;
use crate::error::{Refusal, bug};
use crate::jobs::Jobs;
use crate::log::EventLog;
use crate::lsp::{LanguageServer, LanguageSessions};
use crate::paths::ServedFolder;
use crate::requests::{JobRequest, NewJob};
use crate::server::new_nonce;
use crate::watch::Watches;
use crate::{pddl, records};
use http::{HeaderMap, Method, StatusCode};
use hyper::body::Bytes;
use planforge_app::{Cancellation, Context};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use url::form_urlencoded;

/// Most calls that work at a time.
const MAX_CALLS: usize = 4;
/// Most streams of events.
const MAX_STREAMS: usize = 256;
/// Longest wait of a call for its turn.
const TURN: Duration = Duration::from_secs(30);

/// A call of the page.
pub(crate) struct Call<'r> {
    pub(crate) method: &'r Method,
    /// The path after `/api/`.
    pub(crate) path: &'r str,
    pub(crate) query: &'r str,
    pub(crate) headers: &'r HeaderMap,
    pub(crate) body: Bytes,
}

impl Call<'_> {
    /// The body as a request.
    pub(crate) fn request<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Refusal::request(format!("the request cannot be used: {error}")))
    }

    /// A value of the query; `None` if it is absent.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        let mut pairs = form_urlencoded::parse(self.query.as_bytes());
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// All values of this name.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        let pairs = form_urlencoded::parse(self.query.as_bytes());
        pairs.filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
    }

    /// A value that the query has to have.
    pub(crate) fn required(&self, name: &str) -> Result<String, Refusal> {
        self.query(name).ok_or_else(|| Refusal::request(format!("the query has no `{name}`")))
    }
}

/// Everything that the calls share.
pub(crate) struct Routes {
    context: Context,
    pub(crate) folder: Arc<ServedFolder>,
    pub(crate) is_network: bool,
    /// A cassette that all replies are taken from.
    replay: Option<PathBuf>,
    turns: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    jobs: Arc<Jobs>,
    watches: Watches,
    pub(crate) builds: Arc<Builds>,
    editors: Arc<LanguageSessions>,
}

/// Ends the work of a call whose connection is closed.
struct CancelAtDrop(Cancellation);

impl Drop for CancelAtDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[derive(Deserialize)]
struct AnswerBody {
    question: String,
    answer: String,
}

#[derive(Deserialize)]
struct ConsentBody {
    consent: String,
    allow: bool,
}

#[derive(Deserialize)]
struct MessageBody {
    message: String,
}

impl Routes {
    pub(crate) fn new(
        context: Context,
        folder: ServedFolder,
        is_network: bool,
        (replay, language_server): (Option<PathBuf>, Option<LanguageServer>),
    ) -> Self {
        let context =
            Context { folder: folder.root().to_owned(), events: Context::default().events, ..context };
        Self {
            context,
            folder: Arc::new(folder),
            is_network,
            // The option names it from the folder of the process.
            replay: replay.map(|path| path.canonicalize().unwrap_or(path)),
            turns: Arc::new(Semaphore::new(MAX_CALLS)),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            jobs: Jobs::new(),
            watches: Watches::default(),
            builds: Arc::default(),
            editors: LanguageSessions::new(language_server),
        }
    }

    pub(crate) fn nonce(&self) -> Result<String, Refusal> {
        new_nonce(&self.context)
    }

    pub(crate) fn sweep(&self) {
        self.editors.sweep();
    }

    pub(crate) async fn answer(&self, call: Call<'_>) -> Result<Answer, Refusal> {
        let parts: Vec<&str> = call.path.split('/').collect();
        let ok = |document: Value| Ok(json(StatusCode::OK, &document));
        match (call.method.as_str(), parts.as_slice()) {
            ("POST", ["pddl", name]) => pddl::answer(self, name, &call).await,
            ("GET", ["jobs"]) => ok(json!({ "jobs": self.jobs.list() })),
            ("POST", ["jobs"]) => self.start_job(&call),
            ("GET", ["jobs", id, "events"]) => self.stream(Arc::clone(&self.jobs.get(id)?.log), &call, ()),
            ("POST", ["jobs", id, "stop"]) => {
                self.jobs.stop(&self.jobs.get(id)?);
                ok(json!({}))
            }
            ("POST", ["jobs", id, "answer"]) => {
                let AnswerBody { question, answer } = call.request()?;
                self.jobs.get(id)?.answer("question", &question, answer.into())?;
                ok(json!({}))
            }
            ("POST", ["jobs", id, "consent"]) => {
                let ConsentBody { consent, allow } = call.request()?;
                self.jobs.get(id)?.answer("consent", &consent, allow.into())?;
                ok(json!({}))
            }
            ("GET", ["watch"]) => {
                let run = self.folder.existing(&call.required("path")?)?;
                self.stream(self.watches.open(&self.context, &run)?, &call, ())
            }
            ("POST", ["lsp", "open"]) => self.editors.open(),
            ("POST", ["lsp", session]) => {
                let MessageBody { message } = call.request()?;
                self.editors.send(session, &message)
            }
            ("GET", ["lsp", session, "events"]) => {
                let (log, stream) = self.editors.stream(session)?;
                self.stream(log, &call, stream)
            }
            ("GET", name) => records::answer(self, name, &call).await.unwrap_or_else(|| Err(no_call())),
            _ => Err(no_call()),
        }
    }

    fn start_job(&self, call: &Call<'_>) -> Result<Answer, Refusal> {
        let NewJob { what, title, folder, work } =
            call.request::<JobRequest>()?.into_job(&self.folder, self.replay.as_deref())?;
        let job = self.jobs.start(&self.context, (what, title, folder), work)?;
        Ok(json(StatusCode::OK, &json!({ "job": job.id() })))
    }

    /// The events of a log as a stream. The guard is dropped at its end.
    fn stream(
        &self,
        log: Arc<EventLog>,
        call: &Call<'_>,
        guard: impl Send + 'static,
    ) -> Result<Answer, Refusal> {
        let permit = Arc::clone(&self.streams).try_acquire_owned();
        let permit =
            permit.map_err(|_| Refusal::busy(format!("{MAX_STREAMS} streams of events are open")))?;
        log.stream(call.headers, call.query("after"), (permit, guard))
    }

    /// Works on a thread of its own and answers with the result as a document.
    pub(crate) async fn work<T: Serialize + Send + 'static>(
        &self,
        work: impl FnOnce(&Context) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<Answer, Refusal> {
        self.compute(move |context| work(context).map(|result| json(StatusCode::OK, &result))).await
    }

    /// Works on a thread of its own, with a limit on the calls at a time. A closed connection cancels the work.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Context) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn = tokio::time::timeout(TURN, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(Refusal::busy("too many calls wait for their turn")) };
        let cancellation = Cancellation::default();
        let context = Context { cancellation: cancellation.clone(), ..self.context.clone() };
        let _cancel = CancelAtDrop(cancellation);
        let done = tokio::task::spawn_blocking(move || {
            let result = work(&context);
            drop(turn);
            result
        });
        // The panic hook has printed the message and its place.
        done.await.unwrap_or_else(|_| Err(bug().into()))
    }
}

fn no_call() -> Refusal {
    Refusal::missing("there is no such call")
}
