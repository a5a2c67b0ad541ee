//! Requests to language models. A plugin asks a role; this crate turns that into requests to providers. It
//! handles sampling defaults, seeds, the cassette, retries, `n`, rate limits, spending caps, redaction and
//! events.
//!
//! Every request is looked up in the run's journal first, and counts as sent once its event is on disk. The
//! modes live, record, replay and batch differ only in what happens on a miss ([`Mode`]).

mod ask;
mod budget;
mod choice;
mod clean;
mod clock;
mod codes;
mod config;
mod deferred;
mod key;
mod limit;
mod llm;
mod models;
mod provider_host;
mod rest;
mod retry;
mod usage;
mod watch;

pub use budget::estimated_tokens;
pub use clock::{Clock, SystemClock};
pub use codes::CODES;
pub use config::{ConfigProblem, HOST_KEYS, RoleConfig, split_table};
pub use deferred::{Answers, Arrived, PENDING, PendingQuestion};
pub use key::{canonical_request, completion_key, derive_seed, derive_u64};
pub use llm::{Answer, CallSite, Left, Llm, LlmOptions, Mode, Observer, Role, TableAnswer};
pub use models::RoleModels;
pub use usage::{ModelUsage, cost};
pub use watch::{CallPhase, CallStep, CallWatch};
