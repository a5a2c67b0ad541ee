//! Content-addressed files: `blobs/<sha256>`, written atomically and verified when read.

use crate::BlobId;
use crate::disk::{SharedDisk, real, sync_folder, whole_or_nothing};
use crate::{RecordError, sha256_hex};
use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of blobs.
#[derive(Debug)]
pub struct BlobStore {
    folder: PathBuf,
    temporary: AtomicU64,
    disk: SharedDisk,
}

impl BlobStore {
    /// The store in that folder, which must exist before the first [`BlobStore::put`].
    pub fn new(folder: PathBuf) -> Self {
        Self::on(real(), folder)
    }

    /// The store on that disk.
    pub(crate) fn on(disk: SharedDisk, folder: PathBuf) -> Self {
        Self { folder, temporary: AtomicU64::new(0), disk }
    }

    /// The file of a blob.
    pub fn path(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    /// Writes bytes and returns their name; durable on return. Bytes that are already there are not written again.
    ///
    /// # Errors
    /// `record.io`.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, RecordError> {
        let id = sha256_hex(bytes);
        if !self.path(&id).exists() {
            self.write(&id, bytes)?;
            sync_folder(self.disk.as_ref(), &self.folder)?;
        }
        Ok(id)
    }

    /// Writes bytes under their name without waiting for the disk, and without another name first: who reads half a file finds the whole in
    /// the spool, and so does who finds it torn by a kill or a crash.
    pub(crate) fn put_soon(&self, id: &str, bytes: &[u8]) -> Result<(), RecordError> {
        let path = self.path(id);
        let is_there = |file: fs::Metadata| file.len() == bytes.len() as u64;
        if fs::metadata(&path).is_ok_and(is_there) {
            return Ok(());
        }
        let open = self.disk.open(OpenOptions::new().write(true).create(true).truncate(true), &path);
        open.and_then(|file| self.disk.write(&file, bytes))
            .map_err(|e| RecordError::io("write a blob", &path, &e))
    }

    /// Writes the whole file or nothing of it.
    fn write(&self, id: &str, bytes: &[u8]) -> Result<(), RecordError> {
        let path = self.path(id);
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!(".{}-{number}.tmp", std::process::id()));
        whole_or_nothing(self.disk.as_ref(), &temporary, &path, bytes)
            .map_err(|e| RecordError::io("write a blob", &path, &e))
    }

    /// Reads a blob and verifies that its content still has its name.
    ///
    /// # Errors
    /// `record.blob-missing`, `record.blob-corrupt`, `record.io`.
    pub fn get(&self, id: &str) -> Result<Vec<u8>, RecordError> {
        let path = self.path(id);
        if id.len() != 64 || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(RecordError::new("record.corrupt", format!("`{id}` is not the name of a blob")));
        }
        let bytes = fs::read(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => RecordError::new(
                "record.blob-missing",
                format!("the record names blob {id}, which is not there"),
            )
            .at(&path),
            _ => RecordError::io("read a blob", &path, &e),
        })?;
        let found = sha256_hex(&bytes);
        if found != id {
            return Err(RecordError::new(
                "record.blob-corrupt",
                format!("blob {id} was changed after it was written: its SHA-256 is now {found}"),
            )
            .at(&path)
            .help("restore the file from a copy; a run folder is evidence and is never edited"));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_blob_is_found_and_a_missing_one_named() {
        let dir = tempfile::tempdir().unwrap();
        let store = BlobStore::new(dir.path().to_owned());
        let id = store.put(b"text").unwrap();
        assert_eq!(store.put(b"text").unwrap(), id);
        assert_eq!(store.get(&id).unwrap(), b"text");
        fs::write(store.path(&id), b"other").unwrap();
        assert_eq!(store.get(&id).unwrap_err().code, "record.blob-corrupt");
        fs::remove_file(store.path(&id)).unwrap();
        assert_eq!(store.get(&id).unwrap_err().code, "record.blob-missing");
        assert_eq!(store.get("../../etc/passwd").unwrap_err().code, "record.corrupt");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "no temporary file stays behind");
    }
}
