//! The host's model seam. A plugin asks a role; this crate turns that into requests to a provider and looks after
//! everything between the two: sampling defaults, seeds, the cassette, retries, `n`, limits, budgets, redaction, events.
//!
//! Every question is looked up in the run's journal before it is asked, and counts as asked once its event is on disk.
//! Live, record, replay and batch differ only in what happens on a miss ([`Mode`]).

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
