//! Content-addressed files: `blobs/<sha256>`, verified when read.
//!
//! A large JSON document that repeats long strings is stored as `blobs/<sha256>.pieces` instead. Each of its lines names the blob of a
//! piece, after the number of times that the piece is escaped as a JSON string in the document.

use crate::disk::{
    MAX_RECORD_BYTES, SharedDisk, read_regular, read_regular_text, real, sync_folder, whole_or_nothing,
};
use crate::pieces::{MAX_ESCAPES, Piece, split};
use crate::{BlobId, RecordError, sha256_hex};
use std::borrow::Cow;
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

    /// Writes a large blob, durable on return. Its long JSON strings are blobs of their own.
    pub(crate) fn put_large(&self, id: &str, bytes: &[u8]) -> Result<(), RecordError> {
        if self.path(id).exists() || self.path(&pieces_name(id)).exists() {
            return Ok(());
        }
        let pieces = std::str::from_utf8(bytes).map(split).unwrap_or_default();
        if pieces.len() < 2 {
            return self.put(bytes).map(drop);
        }
        let mut lines = String::new();
        for Piece { text, escapes } in pieces {
            lines += &format!("{escapes} {}\n", self.put(text.as_bytes())?);
        }
        self.write(&pieces_name(id), lines.as_bytes())?;
        sync_folder(self.disk.as_ref(), &self.folder)
    }

    /// Reads a blob that is stored in pieces; `None` if it is not.
    fn get_pieces(&self, id: &str) -> Result<Option<Vec<u8>>, RecordError> {
        let path = self.path(&pieces_name(id));
        let lines = match read_regular_text(&path, MAX_RECORD_BYTES) {
            Ok(lines) => lines,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(RecordError::io("read a blob", &path, &e)),
        };
        let mut document = String::new();
        for line in lines.lines() {
            let corrupt =
                || RecordError::new("record.blob-corrupt", "a list of pieces was changed").at(&path);
            let (escapes, piece) = line.split_once(' ').ok_or_else(corrupt)?;
            let escapes = escapes.parse().ok().filter(|n| *n <= MAX_ESCAPES).ok_or_else(corrupt)?;
            let text = String::from_utf8(self.get_file(piece)?).map_err(|_| corrupt())?;
            document += &Piece { text: Cow::Owned(text), escapes }.in_document();
        }
        Ok(Some(document.into_bytes()))
    }

    /// Writes bytes under their name without waiting for the disk, and without another name first: who reads half a file finds the whole in
    /// the spool, and so does who finds it torn by a kill or a crash.
    pub(crate) fn put_soon(&self, id: &str, bytes: &[u8]) -> Result<(), RecordError> {
        let path = self.path(id);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let mut open = self.disk.open(options.create_new(true), &path);
        if open.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists) {
            let is_there = |file: fs::Metadata| file.len() == bytes.len() as u64;
            if fs::metadata(&path).is_ok_and(is_there) {
                return Ok(());
            }
            open = self.disk.open(options.create_new(false), &path);
        }
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
        match self.get_file(id) {
            Err(error) if error.code == "record.blob-missing" => match self.get_pieces(id)? {
                Some(bytes) => self.verified(id, bytes),
                None => Err(error),
            },
            other => other,
        }
    }

    /// Reads a blob from its own file.
    fn get_file(&self, id: &str) -> Result<Vec<u8>, RecordError> {
        let path = self.path(id);
        if id.len() != 64 || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(RecordError::new("record.corrupt", format!("`{id}` is not the name of a blob")));
        }
        let bytes = read_regular(&path, MAX_RECORD_BYTES).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => RecordError::new(
                "record.blob-missing",
                format!("the record names blob {id}, which is not there"),
            )
            .at(&path),
            _ => RecordError::io("read a blob", &path, &e),
        })?;
        self.verified(id, bytes)
    }

    fn verified(&self, id: &str, bytes: Vec<u8>) -> Result<Vec<u8>, RecordError> {
        let found = sha256_hex(&bytes);
        if found != id {
            return Err(RecordError::new(
                "record.blob-corrupt",
                format!("blob {id} was changed after it was written: its SHA-256 is now {found}"),
            )
            .at(&self.path(id))
            .help("restore the file from a copy; a run folder is evidence and is never edited"));
        }
        Ok(bytes)
    }
}

/// Name of the file that lists the pieces of a blob.
fn pieces_name(id: &str) -> String {
    format!("{id}.pieces")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::LARGE;

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

    #[test]
    fn a_long_string_is_stored_once_for_all_documents_that_contain_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = BlobStore::new(dir.path().to_owned());
        let reply = "a \"long\" line\n".repeat(LARGE / 10);
        let body = serde_json::json!({"content": reply, "id": 7}).to_string();
        let documents = [
            serde_json::json!({"raw": body, "replies": [{"content": reply}]}).to_string(),
            serde_json::json!({"conversation": [reply], "raw_reply": reply}).to_string(),
        ];
        for document in &documents {
            store.put_large(&sha256_hex(document.as_bytes()), document.as_bytes()).unwrap();
        }
        for document in &documents {
            assert_eq!(store.get(&sha256_hex(document.as_bytes())).unwrap(), document.as_bytes());
        }
        let files = || fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap());
        let size: u64 = files().map(|file| file.metadata().unwrap().len()).sum();
        assert!(size < reply.len() as u64 * 3 / 2, "{size} bytes for a reply of {}", reply.len());
        // A document without a long string, and bytes that are no text, are one file.
        for bytes in [vec![b' '; LARGE], vec![0xff; LARGE]] {
            let id = sha256_hex(&bytes);
            store.put_large(&id, &bytes).unwrap();
            assert!(store.path(&id).exists());
        }
        let piece = files().find(|file| file.metadata().unwrap().len() > reply.len() as u64).unwrap().path();
        let id = sha256_hex(documents[0].as_bytes());
        fs::write(&piece, "other").unwrap();
        assert_eq!(store.get(&id).unwrap_err().code, "record.blob-corrupt");
        fs::remove_file(&piece).unwrap();
        assert_eq!(store.get(&id).unwrap_err().code, "record.blob-missing");
        fs::write(store.path(&pieces_name(&id)), "9999999 x").unwrap();
        assert_eq!(store.get(&id).unwrap_err().code, "record.blob-corrupt");
    }
}
