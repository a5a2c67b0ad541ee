//! A file that is only appended to, by many threads. Those that wait for the disk at the same moment share one wait.

use crate::RecordError;
use crate::disk::{SharedDisk, sync_folder};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(crate) struct AppendLog {
    file: File,
    disk: SharedDisk,
    path: PathBuf,
    written: Mutex<AppendState>,
    /// Number of bytes known to be on disk. Locked during a sync.
    durable: Mutex<u64>,
}

#[derive(Debug, Default)]
struct AppendState {
    length: u64,
    broken: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is guarded here is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AppendLog {
    /// Makes a new file; `Ok(None)` where there is one of that name.
    pub(crate) fn create(disk: SharedDisk, path: PathBuf) -> Result<Option<Self>, RecordError> {
        match disk.open(OpenOptions::new().append(true).create_new(true), &path) {
            Ok(file) => {
                sync_folder(disk.as_ref(), path.parent().unwrap_or(Path::new(".")))?;
                let (written, durable) = (Mutex::default(), Mutex::default());
                Ok(Some(Self { file, disk, path, written, durable }))
            }
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(RecordError::io("create a file of the record", &path, &e)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder above was given another name, and with it the file.
    pub(crate) fn is_now_at(&mut self, path: PathBuf) {
        self.path = path;
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Appends bytes and returns the new length of the file. `then` runs before any other append.
    pub(crate) fn append(&self, bytes: &[u8], then: impl FnOnce()) -> Result<u64, RecordError> {
        let mut written = lock(&self.written);
        if written.broken {
            return Err(self.is_broken());
        }
        if let Err(e) = self.disk.write(&self.file, bytes) {
            // Half of it must not be followed by anything: cut it off, or write no more.
            written.broken = self.disk.cut(&self.file, written.length).is_err();
            return Err(RecordError::io("write to the record", &self.path, &e));
        }
        written.length += bytes.len() as u64;
        then();
        Ok(written.length)
    }

    /// Returns once everything before that place is on disk.
    pub(crate) fn sync_to(&self, end: u64) -> Result<(), RecordError> {
        let mut durable = lock(&self.durable);
        if *durable >= end {
            return Ok(());
        }
        let until = {
            let written = lock(&self.written);
            if written.broken {
                return Err(self.is_broken());
            }
            written.length
        };
        if let Err(e) = self.disk.sync(&self.file) {
            // What of it is on disk cannot be known any more.
            lock(&self.written).broken = true;
            return Err(RecordError::io("write to the record", &self.path, &e));
        }
        *durable = until;
        Ok(())
    }

    /// Returns once everything that was appended until now is on disk.
    pub(crate) fn sync(&self) -> Result<(), RecordError> {
        let end = lock(&self.written).length;
        self.sync_to(end)
    }

    fn is_broken(&self) -> RecordError {
        RecordError::new(
            "record.io",
            "an earlier write to this file failed, so nothing more is written to it",
        )
        .at(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_threads_append_whole_pieces_and_each_finds_its_own_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let log = AppendLog::create(crate::disk::real(), dir.path().join("log")).unwrap().unwrap();
        assert!(AppendLog::create(crate::disk::real(), dir.path().join("log")).unwrap().is_none());
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let log = &log;
                scope.spawn(move || {
                    for piece in 0..20 {
                        let end = log.append(format!("{thread}.{piece};").as_bytes(), || {}).unwrap();
                        log.sync_to(end).unwrap();
                        assert!(*lock(&log.durable) >= end);
                    }
                });
            }
        });
        let text = std::fs::read_to_string(log.path()).unwrap();
        let mut pieces: Vec<&str> = text.trim_end_matches(';').split(';').collect();
        assert_eq!(pieces.len(), 160);
        pieces.sort_unstable();
        pieces.dedup();
        assert_eq!(pieces.len(), 160);
    }
}
