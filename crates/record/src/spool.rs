//! `spool/<writer>`: every blob in the order in which it was written. An effect waits for this one file instead of for each of its
//! blobs; a blob's own file, which nobody waits for, is mended from here where a crash of the machine lost it.
//!
//! A blob is `ID LENGTH`, a line feed, its bytes, and a line feed.

use crate::log::AppendLog;
use crate::{RecordError, sha256_hex};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The blobs that this process wrote.
#[derive(Debug)]
pub(crate) struct Spool {
    log: AppendLog,
    /// The names of those that are in the file.
    known: Mutex<HashSet<String>>,
}

impl Spool {
    /// Makes a new file for a writer; its name has a number where an earlier writer of that name has left one.
    pub(crate) fn create(folder: &Path, writer: &str) -> Result<Self, RecordError> {
        fs::create_dir_all(folder).map_err(|e| RecordError::io("create the folder", folder, &e))?;
        let mut name = writer.to_owned();
        let mut number = 2;
        loop {
            if let Some(log) = AppendLog::create(folder.join(&name))? {
                return Ok(Self { log, known: Mutex::default() });
            }
            name = format!("{writer}-{number}");
            number += 1;
        }
    }

    /// Appends a blob, once. Says whether it is new here.
    pub(crate) fn put(&self, id: &str, bytes: &[u8]) -> Result<bool, RecordError> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known().contains(id) {
            return Ok(false);
        }
        let mut framed = format!("{id} {}\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.push(b'\n');
        self.log.append(&framed, || {})?;
        known().insert(id.to_owned());
        Ok(true)
    }

    /// Returns once every blob that was put until now is on disk.
    pub(crate) fn sync(&self) -> Result<(), RecordError> {
        self.log.sync()
    }
}

/// A blob from the files of any writer, verified; nothing where none has it whole.
pub(crate) fn find(folder: &Path, id: &str) -> Option<Vec<u8>> {
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
        file.seek(SeekFrom::Current(i64::try_from(length).ok()?.checked_add(1)?)).ok()?;
        line.clear();
    }
    None
}
