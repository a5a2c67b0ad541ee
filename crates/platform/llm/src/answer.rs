//! The result of a request to a role.

use planforge_contract::{Failure, Replies, Usage};
use std::collections::BTreeMap;

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
