//! `events/<writer>.jsonl`: one file a process, appended as things happen, held with a file lock.

use crate::disk::{MAX_RECORD_BYTES, SharedDisk, open_regular, read_regular, read_regular_text, sync_folder};
use crate::{Event, RecordError, Redactor};
use planforge_diagnostics::Diagnostic;
use std::borrow::Cow;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The line of an event, with its line feed, and the event as it will be read again.
pub(crate) fn line_of<'e>(
    event: &'e Event,
    redactor: &Redactor,
) -> Result<(Vec<u8>, Cow<'e, Event>), RecordError> {
    let broken =
        |e: serde_json::Error| RecordError::new("record.corrupt", format!("an event cannot be written: {e}"));
    let mut line = serde_json::to_vec(event).map_err(broken)?;
    let mut event = Cow::Borrowed(event);
    let clean = redactor.bytes(&line);
    if let Cow::Owned(clean) = clean {
        line = clean;
        event = Cow::Owned(planforge_contract::read_json(&line).map_err(broken)?);
    }
    line.push(b'\n');
    Ok((line, event))
}

/// True if an event must be on disk before the run continues.
fn is_durable(event: &Event) -> bool {
    matches!(
        event,
        Event::Completion(_)
            | Event::Effect { .. }
            | Event::TaskFinished { .. }
            | Event::SessionStarted { .. }
            | Event::SessionFinished { .. }
            | Event::ReportSaved { .. }
    )
}

/// Appends to the one file that this process owns.
#[derive(Debug)]
pub(crate) struct Writer {
    log: AppendLog,
    /// File name without its extension.
    name: String,
}

impl Writer {
    /// Takes the first free number in the folder and locks the new file.
    pub(crate) fn create(disk: &SharedDisk, folder: &Path) -> Result<Self, RecordError> {
        let mut number = files(folder)?.len() + 1;
        loop {
            let name = format!("{number:04}");
            let path = folder.join(format!("{name}.jsonl"));
            if let Some(log) = AppendLog::create(SharedDisk::clone(disk), path)? {
                let locked = log.file().lock();
                locked.map_err(|e| RecordError::io("lock the event file", log.path(), &e))?;
                // For a person alone: what is locked is told by the lock. So it may be missing.
                drop(fs::write(holder_file(log.path()), holder()));
                return Ok(Self { log, name });
            }
            number += 1;
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.log.path()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The folder above was given another name.
    pub(crate) fn is_now_in(&mut self, folder: &Path) {
        self.log.is_now_at(folder.join(format!("{}.jsonl", self.name)));
    }

    /// Appends an event; one that is durable is on disk on return. `before` runs before such an event is written, `then` once it is,
    /// in the order of the file.
    pub(crate) fn append(
        &self,
        event: &Event,
        redactor: &Redactor,
        before: impl FnOnce() -> Result<(), RecordError>,
        then: impl FnOnce(Cow<'_, Event>),
    ) -> Result<(), RecordError> {
        let (line, event) = line_of(event, redactor)?;
        let durable = is_durable(&event);
        if durable {
            before()?;
        }
        let end = self.log.append(&line, || then(event))?;
        if durable { self.log.sync_to(end) } else { Ok(()) }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // One that stays behind says nothing: the lock is gone.
        drop(fs::remove_file(holder_file(self.log.path())));
    }
}

/// The event files of a run, in the order in which their processes began.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let entries = fs::read_dir(folder).map_err(|e| RecordError::io("list the event files", folder, &e))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| RecordError::io("list the event files", folder, &e))?.path();
        if path.extension().is_some_and(|e| e == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The first event file but `own` that another process (or another writer in this one) holds.
pub(crate) fn held_by_another(folder: &Path, own: Option<&Path>) -> Result<Option<PathBuf>, RecordError> {
    for path in files(folder)? {
        if own != Some(path.as_path()) && is_held(&path)? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// File with the name of the event file's writer.
fn holder_file(path: &Path) -> PathBuf {
    path.with_extension("holder")
}

/// This process, in words: `process 4711 on night-runner`.
fn holder() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let place = if host.trim().is_empty() { String::new() } else { format!(" on {}", host.trim()) };
    format!("process {}{place}", std::process::id())
}

/// The process that writes the event file, if its name is recorded.
pub(crate) fn holder_of(path: &Path) -> Option<String> {
    let text = read_regular_text(&holder_file(path), MAX_RECORD_BYTES).ok()?;
    Some(text.lines().next()?.chars().filter(|c| !c.is_control()).take(200).collect())
}

fn is_held(path: &Path) -> Result<bool, RecordError> {
    let file = open_regular(path).map_err(|e| RecordError::io("open an event file", path, &e))?;
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(e)) => Err(RecordError::io("test the lock of an event file", path, &e)),
    }
}

/// Reads one file. A last line without its line feed was torn by a kill: it is dropped and reported.
pub(crate) fn read(path: &Path, mut each: impl FnMut(Event)) -> Result<Option<Diagnostic>, RecordError> {
    let bytes =
        read_regular(path, MAX_RECORD_BYTES).map_err(|e| RecordError::io("read the events", path, &e))?;
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let (lines, torn) = bytes.split_at(whole);
    for (number, line) in lines.split(|b| *b == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let event = planforge_contract::read_json(line).map_err(|e| {
            RecordError::new("record.corrupt", format!("not an event: {e}"))
                .at(path)
                .line(number + 1)
                .help("only the last line of a file can be torn by a crash; this one was changed or damaged")
        })?;
        each(event);
    }
    // Where the writer is still at work, half a line is just not finished yet.
    let crashed = !torn.is_empty() && !is_held(path)?;
    Ok(crashed.then(|| {
        Diagnostic::warning(
            "record.torn-line",
            format!(
                "dropped the last {} bytes of {}: the line was cut off by a crash",
                torn.len(),
                path.display()
            ),
        )
        .help("the call in flight at that moment is made again; everything before it is kept")
    }))
}

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
