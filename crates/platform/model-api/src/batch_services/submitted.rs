//! The record of what was submitted: `submitted.json` in the batch folder.

use crate::batch::io_failure;
use crate::batch_services::connection::Service;
use planforge_contract::{Failure, FailureClass};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Name of the file in the batch folder.
pub const STATE_FILE: &str = "submitted.json";
/// Name of the file that a working process holds locked.
const LOCK_FILE: &str = "submitted.lock";

/// A request file that was submitted, or whose submission began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmittedFile {
    /// Name of the request file.
    pub file: String,
    /// SHA-256 of the request file.
    pub sha256: String,
    pub requests: usize,
    pub service: Service,
    /// Address of the service.
    pub server: String,
    /// Time when the submission began, RFC 3339.
    pub started_at: String,
    /// The service's identifier of the uploaded file (OpenAI).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_file: Option<String>,
    /// The batch; absent if the submission was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// Time when the results were downloaded, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched_at: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StateDocument {
    schema: u32,
    files: Vec<SubmittedFile>,
}

/// The entries of the file, and its lock if this process may change them.
pub(crate) struct SubmittedFiles {
    folder: PathBuf,
    files: Vec<SubmittedFile>,
    lock: Option<File>,
}

impl SubmittedFiles {
    /// Reads the entries without a lock.
    ///
    /// # Errors
    /// `batch.io`, `batch.state`.
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(STATE_FILE);
        let files = match fs::read(&path) {
            Ok(bytes) => {
                let wrong = |why: String| {
                    let message = format!("{} cannot be read: {why}", path.display());
                    Failure::new(FailureClass::Request, "batch.state", message)
                };
                let document: StateDocument =
                    serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
                if document.schema != 1 {
                    return Err(wrong(format!("it has schema {}", document.schema)));
                }
                document.files
            }
            Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(io_failure(&path, "read", &e)),
        };
        Ok(Self { folder: folder.to_owned(), files, lock: None })
    }

    /// Takes the lock, then reads the entries.
    ///
    /// # Errors
    /// `batch.io`, `batch.state`, `batch.locked`.
    pub(crate) fn lock(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(LOCK_FILE);
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|e| io_failure(&path, "write", &e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another `planforge batch` works on {}", folder.display());
                return Err(Failure::new(FailureClass::System, "batch.locked", message)
                    .help("wait for it or stop it; the lock ends with its process"));
            }
            Err(TryLockError::Error(e)) => return Err(io_failure(&path, "lock", &e)),
        }
        Ok(Self { lock: Some(file), ..Self::read(folder)? })
    }

    /// The entry of a request file.
    pub(crate) fn of(&self, file: &str) -> Option<&SubmittedFile> {
        self.files.iter().find(|entry| entry.file == file)
    }

    /// Every batch in the entries.
    pub(crate) fn batches(&self) -> BTreeSet<&str> {
        self.files.iter().filter_map(|entry| entry.batch.as_deref()).collect()
    }

    /// Adds or replaces the entry of a file, on disk before this returns.
    ///
    /// # Errors
    /// `batch.io`.
    pub(crate) fn set(&mut self, entry: &SubmittedFile) -> Result<(), Failure> {
        match self.files.iter_mut().find(|known| known.file == entry.file) {
            Some(known) => known.clone_from(entry),
            None => self.files.push(entry.clone()),
        }
        self.write()
    }

    /// Removes the entry of a file.
    ///
    /// # Errors
    /// `batch.io`.
    pub(crate) fn remove(&mut self, file: &str) -> Result<(), Failure> {
        self.files.retain(|entry| entry.file != file);
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        debug_assert!(self.lock.is_some());
        let path = self.folder.join(STATE_FILE);
        let document = StateDocument { schema: 1, files: self.files.clone() };
        let written = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            serde_json::to_writer_pretty(&mut file, &document)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|e| e.error)?;
            // The name must be on disk as well before the service gets a request.
            File::open(&self.folder)?.sync_all()
        };
        written().map_err(|e| io_failure(&path, "write", &e))
    }
}
