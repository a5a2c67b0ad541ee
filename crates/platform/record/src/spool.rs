//! `spool/<writer>`: every blob in the order of writing, except large ones, which are synced on their own. An effect syncs only this file instead of each of
//! its blobs. A blob's own file is restored from here if a crash of the machine lost it.
//!
//! A blob is `ID LENGTH`, a line feed, its bytes, and a line feed.

use crate::disk::{SharedDisk, open_regular};
use crate::event_files::AppendLog;
use crate::{RecordError, sha256_hex};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most bytes of `ID LENGTH` with its line feed.
const MAX_HEADER_BYTES: u64 = 128;

/// The blobs that this process wrote.
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
                let file = open_regular(&path).map_err(unreadable)?;
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
    while let Ok(read @ 1..) = (&mut file).take(MAX_HEADER_BYTES).read_line(&mut line) {
        let Some((name, bytes)) = header(&line) else { break };
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

/// Name and length of a blob; nothing where the line has no end.
fn header(line: &str) -> Option<(&str, &str)> {
    line.strip_suffix('\n')?.split_once(' ')
}

/// A blob from the files of any writer, verified; nothing where none has it whole.
pub(crate) fn find(folder: &Path, id: &str) -> Option<Vec<u8>> {
    let files = fs::read_dir(folder).ok()?;
    files.filter_map(|file| in_file(&file.ok()?.path(), id)).next()
}

fn in_file(path: &Path, id: &str) -> Option<Vec<u8>> {
    let mut file = BufReader::new(open_regular(path).ok()?);
    let mut line = String::new();
    // A torn end, which a crash may leave, ends the search.
    while (&mut file).take(MAX_HEADER_BYTES).read_line(&mut line).ok()? > 0 {
        let (name, length) = header(&line)?;
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
