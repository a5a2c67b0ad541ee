//! Content-addressed files: `blobs/<sha256>`, written whole or not at all, verified when read.

use crate::{RecordError, sha256_hex};
use planforge_contract::BlobId;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of blobs.
#[derive(Debug)]
pub struct BlobStore {
    folder: PathBuf,
    temporary: AtomicU64,
}

impl BlobStore {
    /// The store in that folder, which must exist before the first [`BlobStore::put`].
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, temporary: AtomicU64::new(0) }
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
            self.write(&id, bytes, true)?;
            sync_folder(&self.folder)?;
        }
        Ok(id)
    }

    /// Writes bytes under their name without waiting for the disk. What is there and has another length was torn by a crash.
    pub(crate) fn put_soon(&self, id: &str, bytes: &[u8]) -> Result<(), RecordError> {
        let is_there = |file: fs::Metadata| file.len() == bytes.len() as u64;
        if fs::metadata(self.path(id)).is_ok_and(is_there) { Ok(()) } else { self.write(id, bytes, false) }
    }

    /// Writes the whole file or nothing of it.
    fn write(&self, id: &str, bytes: &[u8], wait: bool) -> Result<(), RecordError> {
        let path = self.path(id);
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!(".{}-{number}.tmp", std::process::id()));
        let written = File::create(&temporary).and_then(|mut file| {
            file.write_all(bytes)?;
            if wait { file.sync_all() } else { Ok(()) }
        });
        if let Err(e) = written.and_then(|()| fs::rename(&temporary, &path)) {
            // The temporary file is worthless; that it may stay behind changes nothing about the error.
            let _ = fs::remove_file(&temporary);
            return Err(RecordError::io("write a blob", &path, &e));
        }
        Ok(())
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

/// Makes a file's name durable: after a rename or create the folder itself has to reach the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), RecordError> {
    if cfg!(unix) {
        File::open(folder)
            .and_then(|f| f.sync_all())
            .map_err(|e| RecordError::io("sync the folder", folder, &e))?;
    }
    Ok(())
}

/// Writes a whole file through a temporary one beside it.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(e) = written.and_then(|()| fs::rename(&temporary, path)) {
        let _ = fs::remove_file(&temporary);
        return Err(RecordError::io("write the file", path, &e));
    }
    sync_folder(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
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
