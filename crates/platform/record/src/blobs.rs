//! Content-addressed files: `blobs/<sha256>`, verified when read.
//!
//! A large JSON document that repeats long strings is stored as `blobs/<sha256>.pieces` instead. Each of its lines names the blob of a
//! piece, after the number of times that the piece is escaped as a JSON string in the document.

use crate::disk::{SharedDisk, real, sync_folder, whole_or_nothing};
use crate::event_files::AppendLog;
use crate::{BlobId, RecordError, sha256_hex};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
        let pieces = std::str::from_utf8(bytes).map(split_document).unwrap_or_default();
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
        let lines = match fs::read_to_string(&path) {
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
        let bytes = fs::read(&path).map_err(|e| match e.kind() {
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

/// The blobs that this process wrote.
///
/// `spool/<writer>` holds every blob in the order of writing, except large ones, which are synced on their own. An effect syncs only this
/// file instead of each of its blobs. A blob's own file is restored from here if a crash of the machine lost it.
///
/// A blob is `ID LENGTH`, a line feed, its bytes, and a line feed.
#[derive(Debug)]
pub(crate) struct Spool {
    log: AppendLog,
    /// The names of those that are in the file, or in that of an earlier process.
    known: Mutex<HashSet<String>>,
    /// Blobs of earlier processes, whose own files are not yet verified.
    earlier: Mutex<HashSet<String>>,
}

impl Spool {
    /// Makes a new file for a writer; its name has a number where an earlier writer of that name has left one.
    pub(crate) fn create(disk: &SharedDisk, folder: &Path, writer: &str) -> Result<Self, RecordError> {
        fs::create_dir_all(folder).map_err(|e| RecordError::io("create the folder", folder, &e))?;
        let mut name = writer.to_owned();
        let mut number = 2;
        loop {
            if let Some(log) = AppendLog::create(SharedDisk::clone(disk), folder.join(&name))? {
                return Ok(Self { log, known: Mutex::default(), earlier: Mutex::default() });
            }
            name = format!("{writer}-{number}");
            number += 1;
        }
    }

    /// The folder above was given another name.
    pub(crate) fn is_now_in(&mut self, folder: &Path) {
        let name = self.log.path().file_name().unwrap_or_default().to_owned();
        self.log.is_now_at(folder.join(name));
    }

    /// Reads the spools of earlier processes, so that a resumed run does not write their blobs again, and
    /// syncs them.
    pub(crate) fn go_on(&self, disk: &SharedDisk, folder: &Path) -> Result<(), RecordError> {
        let own = self.log.path();
        let files = fs::read_dir(folder).map_err(|e| RecordError::io("list the spools", folder, &e))?;
        let mut earlier = HashSet::new();
        for file in files {
            let path = file.map_err(|e| RecordError::io("list the spools", folder, &e))?.path();
            if path != own {
                let unreadable = |e: std::io::Error| RecordError::io("read the spool", &path, &e);
                let file = File::open(&path).map_err(unreadable)?;
                disk.sync(&file).map_err(unreadable)?;
                earlier.extend(names(&file).map_err(unreadable)?);
            }
        }
        *lock(&self.earlier) = earlier;
        Ok(())
    }

    /// Appends a blob once. True if its own file must be verified.
    pub(crate) fn put(&self, id: &str, bytes: &[u8]) -> Result<bool, RecordError> {
        if lock(&self.known).contains(id) {
            return Ok(false);
        }
        if lock(&self.earlier).remove(id) {
            lock(&self.known).insert(id.to_owned());
            return Ok(true);
        }
        let mut framed = format!("{id} {}\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.push(b'\n');
        self.log.append(&framed, || {})?;
        lock(&self.known).insert(id.to_owned());
        Ok(true)
    }

    /// Returns once every blob that was put until now is on disk.
    pub(crate) fn sync(&self) -> Result<(), RecordError> {
        self.log.sync()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is guarded here is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The names of all blobs that a file holds to their last byte. Their content is verified where it is needed.
fn names(file: &File) -> std::io::Result<Vec<String>> {
    let length = file.metadata()?.len();
    let mut file = BufReader::new(file);
    let mut names = Vec::new();
    let (mut line, mut at) = (String::new(), 0);
    while let Ok(read @ 1..) = file.read_line(&mut line) {
        let Some((name, bytes)) = line.trim_end().split_once(' ') else { break };
        let Ok(bytes) = bytes.parse::<u32>() else { break };
        at += read as u64 + u64::from(bytes) + 1;
        if at > length {
            break;
        }
        names.push(name.to_owned());
        // Relative, so that what is buffered already is not read again.
        file.seek_relative(i64::from(bytes) + 1)?;
        line.clear();
    }
    Ok(names)
}

/// A blob from the files of any writer, verified; nothing where none has it whole.
pub(crate) fn find_spooled(folder: &Path, id: &str) -> Option<Vec<u8>> {
    let files = fs::read_dir(folder).ok()?;
    files.filter_map(|file| in_file(&file.ok()?.path(), id)).next()
}

fn in_file(path: &Path, id: &str) -> Option<Vec<u8>> {
    let mut file = BufReader::new(File::open(path).ok()?);
    let mut line = String::new();
    // A torn end, which a crash may leave, ends the search.
    while file.read_line(&mut line).ok()? > 0 {
        let (name, length) = line.trim_end().split_once(' ')?;
        let length: u64 = length.parse().ok()?;
        if name == id {
            let mut bytes = Vec::new();
            (&mut file).take(length).read_to_end(&mut bytes).ok()?;
            return (sha256_hex(&bytes) == id).then_some(bytes);
        }
        file.seek_relative(i64::try_from(length).ok()?.checked_add(1)?).ok()?;
        line.clear();
    }
    None
}

/// Bytes from which a blob is large, and from which a string is a piece.
pub(crate) const LARGE: usize = 256 << 10;
/// Deepest JSON in a string in a JSON document: 1 for the body of a server's answer within our record of it.
const MAX_ESCAPES: u32 = 2;

/// A part of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Number of times that the text is escaped as a JSON string where it stands in the document.
    escapes: u32,
}

impl Piece<'_> {
    /// The piece as it stands in the document.
    fn in_document(self) -> String {
        (0..self.escapes).fold(self.text.into_owned(), |text, _| escape(&text))
    }
}

/// Splits a text at its long JSON strings. [`Piece::in_document`] of each, in order, is the text, also if it is not JSON.
///
/// The documents of one reply repeat its text several times; as a piece it is stored once.
fn split_document(text: &str) -> Vec<Piece<'_>> {
    split_at(text, 0)
}

fn split_at(text: &str, escapes: u32) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = 0;
    for (start, end) in long_strings(text) {
        pieces.push(Piece { text: Cow::Borrowed(&text[rest..start]), escapes });
        pieces.extend(split_string(&text[start..end], escapes));
        rest = end;
    }
    pieces.push(Piece { text: Cow::Borrowed(&text[rest..]), escapes });
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

/// The pieces of a string without its quotes. JSON inside it is split too, if escaping its pieces gives the same bytes again.
fn split_string(string: &str, escapes: u32) -> Vec<Piece<'_>> {
    let whole = || vec![Piece { text: Cow::Borrowed(string), escapes }];
    if escapes == MAX_ESCAPES || !string.contains("\\\"") {
        return whole();
    }
    let Ok(inner) = serde_json::from_str::<String>(&format!("\"{string}\"")) else { return whole() };
    if long_strings(&inner).next().is_none() || escape(&inner) != string {
        return whole();
    }
    let owned =
        |piece: Piece<'_>| Piece { text: Cow::Owned(piece.text.into_owned()), escapes: piece.escapes };
    split_at(&inner, escapes + 1).into_iter().map(owned).collect()
}

/// Begin and end of the JSON strings of at least [`LARGE`] bytes, without their quotes.
fn long_strings(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + bytes.get(at..)?.iter().position(|byte| *byte == b'"')? + 1;
            let mut end = start;
            while *bytes.get(end)? != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            at = end + 1;
            if end - start >= LARGE {
                return Some((start, end));
            }
        }
    })
}

/// A text as the inside of a JSON string.
fn escape(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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

    fn split_and_join(text: &str) -> Vec<Piece<'_>> {
        assert_eq!(split_document(text).into_iter().map(Piece::in_document).collect::<String>(), text);
        split_document(text)
    }

    #[test]
    fn the_copies_of_a_reply_in_one_document_are_equal_pieces() {
        let reply = "é \"quoted\"\n\\ line\t".repeat(LARGE / 16);
        let body = json!({"choices": [{"message": {"content": reply, "role": "assistant"}}]}).to_string();
        let document = json!({"raw": body, "replies": [{"content": reply}], "small": "x"}).to_string();
        let pieces = split_and_join(&document);
        let long: Vec<_> = pieces.iter().filter(|piece| piece.text.len() >= LARGE).collect();
        assert_eq!(long.len(), 2);
        assert_eq!(long[0].text, long[1].text);
        assert_eq!((long[0].escapes, long[1].escapes), (1, 0));
    }

    #[test]
    fn every_text_is_the_join_of_its_pieces() {
        let long = "x".repeat(LARGE);
        assert_eq!(split_and_join("").len(), 0);
        assert_eq!(split_and_join("{\"a\": \"b\\\"c\"}").len(), 1);
        for text in [
            format!("\"{long}"),
            format!("\"{long}\\"),
            format!("\"{long}\\\""),
            format!("not JSON \"{long}\" \"{long}\""),
            // Escaped in another way than ours, which cannot be repeated.
            format!("\"{{\\\"\\u0061\\\": \\\"{long}\\\"}}\""),
            format!("\"\\q\\\"{long}\\\"\""),
            json!([json!(json!(json!(long).to_string()).to_string()).to_string()]).to_string(),
        ] {
            split_and_join(&text);
        }
    }
}
