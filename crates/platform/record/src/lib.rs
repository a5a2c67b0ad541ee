//! The record of a run: manifest, event log, content-addressed blobs, and the exchange format for recorded
//! replies.
//!
//! A run is a deterministic re-execution over a [`Journal`]: every effect is looked up by key before it is
//! made, and is complete once its event is on disk. [`RunFolder`] and [`MemoryJournal`] are journals; a
//! [`Cassette`] is any record for look-ups, a run folder or a JSONL file. All written bytes pass the
//! [`Redactor`].

mod blobs;
mod cassette;
mod disk;
mod event;
mod event_files;
mod index;
mod journal;
mod manifest;
mod pieces;
mod redact;
mod repeats;
mod run;
mod spool;
mod tail;

use planforge_diagnostics::{CodeInfo, code_table};

pub use blobs::BlobStore;
pub use cassette::{Cassette, CassetteHeader, export_cassette};
pub use disk::{
    Disk, MAX_RECORD_BYTES, RealDisk, RecordError, open_regular, read_argument, read_regular,
    read_regular_text,
};
pub use event::{
    BlobId, BudgetCost, BudgetEnd, CompletionEvent, Event, RoundHistory, SamplePath, SelectedGroup,
    TaskVerdict, visit_documents,
};
pub use index::{MemoryJournal, Nearest, nearest};
pub use journal::{CompletionRecord, EffectRecord, Journal, Lookup, comparable_events, effect_key};
pub use manifest::{AddOnUse, ConfigText, PluginUse, RESUMED_WITH, RunManifest, TaskUse};
pub use pieces::{canonical_json, sha256_hex};
pub use redact::{MIN_SECRET_BYTES, REDACTED, Redactor};
pub use repeats::{ModelRepeats, OtherReplies, RepeatedRequests};
pub use run::{REPORT, RunFolder, SavedReport, run_that_owns};
pub use tail::JournalTail;

/// Every code that this crate gives.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

#[cfg(test)]
mod tests {
    use super::CODES;
    use std::collections::BTreeSet;

    /// Every quoted code in this crate's sources.
    fn codes_in_sources() -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for part in text.split('"').filter(|p| p.starts_with("record.")) {
                if part.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'-')
                    && part.len() > "record.".len()
                {
                    found.insert(part.to_owned());
                }
            }
        }
        found
    }

    #[test]
    fn every_code_that_is_given_is_explained_once() {
        let written = codes_in_sources();
        let mut explained: Vec<String> = CODES.iter().map(|c| c.code.to_owned()).collect();
        explained.sort();
        assert_eq!(written.into_iter().collect::<Vec<_>>(), explained);
        assert!(CODES.iter().all(|c| c.explanation.len() > 60 && !c.title.is_empty()));
    }
}
