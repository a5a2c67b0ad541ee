//! Requests to language models. A plugin sends a request to a role; this crate turns it into requests to the
//! providers of the role's model tables. It handles sampling defaults, seeds, the cassette, retries, `n`, rate
//! limits, spending caps, redaction and events.
//!
//! Every request is looked up in the run's journal first, and counts as sent once its event is on disk. The
//! modes live, record, replay and batch differ only in what happens on a miss ([`Mode`]).

mod answer;
mod caps;
mod gate;
mod hints;
mod key;
mod llm;
mod models;
mod pace;
mod redact;
mod retry;
mod role_request;
mod session;
mod settings;
mod table_client;
mod usage;

use planforge_diagnostics::{CodeInfo, code_table};

pub use answer::{
    ArrivedResult, DeferredReplies, FailedTable, PendingRequest, RoleAnswer, TableReplies, Unanswered,
};
pub use caps::estimated_tokens;
pub use gate::{CallPhase, CallStep, CallWatch, Clock, SystemClock};
pub use hints::{ErrorHint, TableChange, error_hint};
pub use key::{canonical_request, completion_key, derive_seed, derive_u64};
pub use llm::Llm;
pub use models::RoleModels;
pub use pace::{Pace, Ticket};
pub use retry::{to_failure, wait as retry_wait};
pub use session::{CallSite, LlmOptions, Mode, ModelTable, Observer};
pub use settings::{HOST_KEYS, LIMIT_KEYS, ModelSettings, SettingsProblem, split_table};
pub use usage::ModelUsage;

/// Every code that this crate gives.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

#[cfg(test)]
mod tests {
    use super::CODES;
    use planforge_testkit::codes::quoted_codes;
    use std::path::Path;

    #[test]
    fn every_code_that_is_given_is_explained_once() {
        let mut quoted =
            quoted_codes(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &["llm"]).unwrap();
        // The name of an effect, not a code.
        quoted.remove("llm.complete");
        // `Failure::deferred` of the contract gives it.
        quoted.insert("llm.pending".to_owned());
        let mut explained: Vec<String> = CODES.iter().map(|c| c.code.to_owned()).collect();
        explained.sort();
        assert_eq!(quoted.into_iter().collect::<Vec<_>>(), explained);
        assert!(CODES.iter().all(|c| c.explanation.len() > 60 && !c.title.is_empty()));
    }
}
