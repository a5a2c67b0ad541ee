//! Deferred requests: those that wait for a reply, and results that arrived for them.

use crate::answer::Unanswered;
use planforge_contract::{Failure, ProviderFailure};
use planforge_record::SamplePath;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The result that arrived for a deferred request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArrivedResult {
    /// The body of the server's answer, for the provider to read.
    Body(String),
    /// An error instead of a reply. A transient one leaves the request pending.
    Failure(ProviderFailure),
}

/// Source of results for requests that a provider deferred.
pub trait DeferredReplies: Send + Sync {
    /// The result for the request with that key and body; `None` if it has not arrived.
    ///
    /// # Errors
    /// The result has arrived and cannot be read. Never read this as "not arrived".
    fn find(&self, key: &str, body: &Value) -> Result<Option<ArrivedResult>, Failure>;
}

/// A deferred request.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingRequest {
    /// The key under which the journal will hold its result.
    pub key: String,
    /// The sample path.
    pub path: SamplePath,
    /// The role that asks.
    pub role: String,
    /// The model table.
    pub llm: String,
    pub model: String,
    /// The request body as the server would receive it; in [`crate::Mode::Batch`], which calls no provider, the
    /// canonical request.
    pub body: Value,
    /// The operation of the service that answers, as the provider names it; empty in [`crate::Mode::Batch`].
    pub ticket: String,
    /// The error that arrived instead of a reply.
    pub failed: Option<ProviderFailure>,
}

/// The deferred requests of a session, by key.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests(Mutex<BTreeMap<String, PendingRequest>>);

impl PendingRequests {
    /// Adds a request and returns the deferral for the caller.
    pub(crate) fn defer(&self, request: PendingRequest) -> Unanswered {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = format!("the reply for `{}` arrives later", request.path);
        all.insert(request.key.clone(), request);
        Unanswered::Deferred(reason)
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(key)
    }

    /// Ordered by sample path, then by key.
    pub(crate) fn all(&self) -> Vec<PendingRequest> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<PendingRequest> = all.values().cloned().collect();
        all.sort_by(|a, b| (&a.path, &a.key).cmp(&(&b.path, &b.key)));
        all
    }
}
