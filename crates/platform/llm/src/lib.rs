//! Requests to language models. A plugin sends a request to a role; this crate turns it into requests to the
//! providers of the role's model tables. It handles sampling defaults, seeds, the cassette, retries, `n`, rate
//! limits, spending caps, redaction and events.
//!
//! Every request is looked up in the run's journal first, and counts as sent once its event is on disk. The
//! modes live, record, replay and batch differ only in what happens on a miss ([`Mode`]).

mod answer;
mod caps;
mod clock;
mod codes;
mod deferred;
mod gate;
mod hints;
mod key;
mod llm;
mod models;
mod pace;
mod pause;
mod provider_host;
mod redact;
mod retry;
mod role_request;
mod session;
mod settings;
mod table;
mod table_client;
mod usage;
mod watch;

pub use answer::{FailedTable, RoleAnswer, TableReplies, Unanswered};
pub use caps::estimated_tokens;
pub use clock::{Clock, SystemClock};
pub use codes::CODES;
pub use deferred::{ArrivedResult, DeferredReplies, PendingRequest};
pub use hints::{ErrorHint, TableChange, error_hint};
pub use key::{canonical_request, completion_key, derive_seed, derive_u64};
pub use llm::Llm;
pub use models::RoleModels;
pub use pace::{Pace, Ticket};
pub use retry::{to_failure, wait as retry_wait};
pub use session::{CallSite, LlmOptions, Mode, Observer};
pub use settings::{HOST_KEYS, LIMIT_KEYS, ModelSettings, SettingsProblem, split_table};
pub use table::ModelTable;
pub use usage::ModelUsage;
pub use watch::{CallPhase, CallStep, CallWatch};
