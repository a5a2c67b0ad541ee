//! Questions whose answers come later: what has come in the meantime, and what is still waited for.

use planforge_contract::{Failure, FailureClass, ProviderFailure};
use planforge_record::SamplePath;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Code of the failure that parks a candidate: the answer comes later (batch mode).
pub const PENDING: &str = "llm.pending";

/// What has come for a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrived {
    /// The body of the answer, for the provider to read.
    Body(String),
    /// An error in place of an answer. One that may pass leaves the question pending.
    Failure(ProviderFailure),
}

/// What has come from outside for questions that a provider put off.
pub trait Answers: Send + Sync {
    /// What has come for the question of that key, which was put as that body.
    ///
    /// # Errors
    /// It is there and cannot be read; never read this as "not there".
    fn find(&self, key: &str, body: &Value) -> Result<Option<Arrived>, Failure>;
}

/// A question without an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingQuestion {
    /// The key under which the journal will hold its end.
    pub key: String,
    /// The sample path.
    pub path: SamplePath,
    /// The role that asks.
    pub role: String,
    /// The model table.
    pub llm: String,
    pub model: String,
    /// The request body as the server would get it; in [`crate::Mode::Batch`], which asks no provider, the
    /// canonical request.
    pub body: Value,
    /// The error that arrived instead of a reply.
    pub failed: Option<ProviderFailure>,
}

/// The questions of a session that wait, each once.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Mutex<BTreeMap<String, PendingQuestion>>);

impl Waiting {
    /// Takes note of a question, and says that its answer comes later.
    pub(crate) fn put(&self, question: PendingQuestion) -> Failure {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = Failure::new(
            FailureClass::Cancelled,
            PENDING,
            format!("the answer for `{}` comes later", question.path),
        );
        all.insert(question.key.clone(), question);
        failure
    }

    /// In the order of sample paths, then of keys.
    pub(crate) fn all(&self) -> Vec<PendingQuestion> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<PendingQuestion> = all.values().cloned().collect();
        all.sort_by(|a, b| (&a.path, &a.key).cmp(&(&b.path, &b.key)));
        all
    }
}
