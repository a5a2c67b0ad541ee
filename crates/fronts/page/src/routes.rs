//! The calls of the page, by method and path.

use crate::answer::{Answer, json};
use crate::error::{Refusal, bug};
use crate::paths::ServedFolder;
use crate::pddl;
use crate::server::new_nonce;
use http::{HeaderMap, Method, StatusCode};
use hyper::body::Bytes;
use planforge_app::{Cancellation, Context};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use url::form_urlencoded;

/// Most calls that work at a time.
const MAX_CALLS: usize = 4;
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

    /// A value that the query has to have.
    pub(crate) fn required(&self, name: &str) -> Result<String, Refusal> {
        self.query(name).ok_or_else(|| Refusal::request(format!("the query has no `{name}`")))
    }
}

/// Everything that the calls share.
pub(crate) struct Routes {
    context: Context,
    folder: Arc<ServedFolder>,
    turns: Arc<Semaphore>,
    is_network: bool,
}

/// Ends the work of a call whose connection is closed.
struct CancelAtDrop(Cancellation);

impl Drop for CancelAtDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Routes {
    pub(crate) fn new(context: Context, folder: ServedFolder, is_network: bool) -> Self {
        let context = Context { folder: folder.root().to_owned(), ..context };
        Self { context, folder: Arc::new(folder), turns: Arc::new(Semaphore::new(MAX_CALLS)), is_network }
    }

    pub(crate) fn nonce(&self) -> Result<String, Refusal> {
        new_nonce(&self.context)
    }

    pub(crate) async fn answer(&self, call: Call<'_>) -> Result<Answer, Refusal> {
        let parts: Vec<&str> = call.path.split('/').collect();
        match (call.method.as_str(), parts.as_slice()) {
            ("GET", ["about"]) => {
                let (folder, is_network) = (Arc::clone(&self.folder), self.is_network);
                self.work(move |_| Ok(about(&folder, is_network))).await
            }
            ("POST", ["pddl", name]) => pddl::answer(self, name, &call).await,
            _ => Err(Refusal::missing("there is no such call")),
        }
    }

    /// Works on a thread of its own, with a limit on the calls at a time, and answers with the result. A closed connection cancels the work.
    pub(crate) async fn work<T: Serialize + Send + 'static>(
        &self,
        work: impl FnOnce(&Context) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<Answer, Refusal> {
        let turn = tokio::time::timeout(TURN, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(Refusal::busy("too many calls wait for their turn")) };
        let cancellation = Cancellation::default();
        let context = Context { cancellation: cancellation.clone(), ..self.context.clone() };
        let _cancel = CancelAtDrop(cancellation);
        let done = tokio::task::spawn_blocking(move || {
            let result = work(&context).map(|result| json(StatusCode::OK, &result));
            drop(turn);
            result
        });
        // The panic hook has printed the message and its place.
        done.await.unwrap_or_else(|_| Err(bug().into()))
    }
}

/// What the page shows first.
#[derive(Serialize)]
struct About {
    version: &'static str,
    folder: String,
    listen: &'static str,
}

fn about(folder: &ServedFolder, is_network: bool) -> About {
    About {
        version: env!("CARGO_PKG_VERSION"),
        folder: folder.root().display().to_string(),
        listen: if is_network { "network" } else { "loopback" },
    }
}
