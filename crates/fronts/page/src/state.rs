//! Everything that the calls of the page share, and the limits on their work.

use crate::access::random_text;
use crate::answer::{Answer, json};
use crate::builds::Builds;
use crate::error::{Refusal, bug};
use crate::jobs::Jobs;
use crate::log::EventLog;
use crate::lsp::{LanguageServer, LanguageSessions};
use crate::paths::ServedFolder;
use crate::watch::Watches;
use http::{HeaderMap, Method, StatusCode};
use hyper::body::Bytes;
use planforge_app::{Cancellation, Context, Error};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
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
        serde_json::from_slice(&self.body).map_err(|error| Refusal::unreadable(&error))
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
pub(crate) struct State {
    pub(crate) context: Context,
    pub(crate) folder: Arc<ServedFolder>,
    pub(crate) is_network: bool,
    /// A cassette that all replies are taken from.
    pub(crate) replay: Option<PathBuf>,
    turns: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) watches: Watches,
    pub(crate) builds: Arc<Builds>,
    pub(crate) editors: Arc<LanguageSessions>,
}

/// Ends the work of a call whose connection is closed.
struct CancelAtDrop(Cancellation);

impl Drop for CancelAtDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The first number of jobs and builds: milliseconds since 1970, so that what a browser keeps of an earlier server is not taken for this one's.
fn first_number(context: &Context) -> u64 {
    let since = context.machine.now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

impl State {
    pub(crate) fn new(
        context: Context,
        folder: ServedFolder,
        is_network: bool,
        (replay, language_server): (Option<PathBuf>, Option<LanguageServer>),
    ) -> Self {
        let context = Context {
            folder: folder.root().to_owned(),
            events: Context::default().events,
            replays_only: replay.is_some(),
            ..context
        };
        let first = first_number(&context);
        Self {
            context,
            folder: Arc::new(folder),
            is_network,
            // The option names it from the folder of the process.
            replay: replay.map(|path| path.canonicalize().unwrap_or(path)),
            turns: Arc::new(Semaphore::new(MAX_CALLS)),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            jobs: Jobs::new(first),
            watches: Watches::default(),
            builds: Arc::new(Builds::new(first)),
            editors: LanguageSessions::new(language_server),
        }
    }

    /// A random text for one answer.
    pub(crate) fn nonce(&self) -> Result<String, Refusal> {
        let unavailable = |error: std::io::Error| Error::usage(format!("no random number: {error}"), None);
        Ok(random_text(&self.context).map_err(unavailable)?)
    }

    pub(crate) fn sweep(&self) {
        self.editors.sweep();
    }

    /// The events of a log as a stream. The guard is dropped at its end.
    pub(crate) fn stream(
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
