//! `report.json`: the report of a finished run. The journal has its SHA-256, so an edited report is noticed.

use crate::reading::{MAX_RECORD_BYTES, read_regular};
use crate::{Event, Journal, RecordError, RunFolder, sha256_hex};
use std::path::PathBuf;

/// The name of the report in a run folder.
pub const REPORT: &str = "report.json";

/// The report of a finished run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedReport {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// False for runs of versions that recorded no hash.
    pub is_verified: bool,
}

impl RunFolder {
    /// The path of the report.
    pub fn report_path(&self) -> PathBuf {
        self.path().join(REPORT)
    }

    /// Records the hash of the report. The caller writes the file.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn record_report(&self, bytes: &[u8]) -> Result<(), RecordError> {
        self.append(&Event::ReportSaved { sha256: sha256_hex(bytes) })
    }

    /// The SHA-256 of the report that was saved last; none in runs that were not finished, and of versions that did not
    /// record it.
    pub fn recorded_report_hash(&self) -> Option<String> {
        let mut last = None;
        self.each_event(|event| {
            if let Event::ReportSaved { sha256 } = event {
                last = Some(sha256.clone());
            }
        });
        last
    }

    /// The report, checked against the journal; none for a run without one.
    ///
    /// # Errors
    /// `record.report-changed` if the file has another hash than the journal, `record.io`.
    pub fn report(&self) -> Result<Option<SavedReport>, RecordError> {
        let path = self.report_path();
        let bytes = match read_regular(&path, MAX_RECORD_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(RecordError::io("read the report", &path, &error)),
        };
        let hash = self.recorded_report_hash();
        if hash.as_ref().is_some_and(|hash| *hash != sha256_hex(&bytes)) {
            let message = "the report was changed after the run wrote it: the journal has another SHA-256";
            return Err(RecordError::new("record.report-changed", message).at(&path).help(format!(
                "`planforge replay {}` writes it anew from the journal",
                self.path().display()
            )));
        }
        Ok(Some(SavedReport { bytes, is_verified: hash.is_some() }))
    }
}
