//! The result of a request to a role: replies, failures, and requests whose replies arrive later.

use planforge_contract::{Failure, ProviderFailure, Replies, Usage};
use planforge_record::SamplePath;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The reason why a request has no replies.
#[derive(Debug, Clone, PartialEq)]
pub enum Unanswered {
    /// The replies arrive later: the candidate is parked, and a resumed run asks again. The text is the reason.
    Deferred(String),
    /// The request failed.
    Failed(Failure),
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Plugins receive both as a failure; a deferral has the class `Deferred`.
impl From<Unanswered> for Failure {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Deferred(reason) => Self::deferred(reason),
            Unanswered::Failed(failure) => failure,
        }
    }
}

/// The result of a request to a role, with the tables that took part.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleAnswer {
    /// The replies in sample order.
    pub replies: Result<Replies, Unanswered>,
    /// Tables that replied, even if other samples have no reply. Each table once, in the order of their first
    /// samples.
    pub answered: Vec<TableReplies>,
    /// Tables that failed.
    pub failed: Vec<FailedTable>,
    /// Number of requests that ended in a failure, retries included, by table.
    pub failed_requests: BTreeMap<String, u64>,
}

/// The replies of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableReplies {
    /// The model table.
    pub llm: String,
    /// Sample indices of the request.
    pub samples: Vec<u32>,
    /// Tokens of its requests; absent if its server did not count those of one.
    pub usage: Usage,
    /// Tokens of its replies, estimated from their texts ([`crate::estimated_tokens`]).
    pub estimated_tokens: u64,
}

/// One table that gave no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedTable {
    /// The model table.
    pub llm: String,
    /// The table that was asked next; absent if there was none.
    pub next: Option<String>,
    /// The code of its failure.
    pub code: String,
    /// True if its server was asked. It is not if a cap is reached or the table is paused.
    pub was_asked: bool,
    /// Number of samples that were requested from it.
    pub samples: u32,
}

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
