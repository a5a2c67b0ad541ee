//! The record of a run: manifest, event log, content-addressed blobs, and the exchange format for recorded
//! replies.
//!
//! A run is a deterministic re-execution over a [`Journal`]: every effect is looked up by key before it is
//! made, and is complete once its event is on disk. [`RunFolder`] and [`MemoryJournal`] are journals; a
//! [`Cassette`] is any record for look-ups, a run folder or a JSONL file. All written bytes pass the
//! [`Redactor`].

mod blobs;
mod canonical;
mod cassette;
mod codes;
mod disk;
mod error;
mod event;
mod event_files;
mod index;
mod journal;
mod log;
mod making;
mod manifest;
mod memory;
mod nearest;
mod pieces;
mod reading;
mod redact;
mod report_file;
mod run;
mod spending;
mod spool;

pub use blobs::BlobStore;
pub use canonical::{canonical_json, sha256_hex};
pub use cassette::{Cassette, CassetteHeader, export_cassette};
pub use codes::CODES;
pub use disk::{Disk, RealDisk};
pub use error::RecordError;
pub use event::{BlobId, Event, RoundHistory, SamplePath, SelectedGroup, TaskVerdict, visit_documents};
pub use journal::{CompletionRecord, EffectRecord, Journal, Lookup, comparable_events, effect_key};
pub use manifest::{AddOnUse, ConfigText, PluginUse, RESUMED_WITH, RunManifest, TaskUse};
pub use memory::MemoryJournal;
pub use nearest::{Nearest, nearest};
pub use reading::{MAX_RECORD_BYTES, open_regular, read_argument, read_regular, read_regular_text};
pub use redact::{MIN_SECRET_BYTES, REDACTED, Redactor};
pub use report_file::{REPORT, SavedReport};
pub use run::{RunFolder, run_that_owns};
pub use spending::{BudgetCost, BudgetEnd};
