//! `runs/<id>/{run.json, report.json, events/<writer>.jsonl, blobs/<sha256>, spool/<writer>}`. A folder is made under another name and renamed when it is
//! complete; the journal has the SHA-256 of the report, so an edited one is noticed.

use crate::disk::{self, Disk, MAX_RECORD_BYTES, SharedDisk, read_regular};
use crate::event_files::{self, Writer};
use crate::index::Index;
use crate::pieces::LARGE;
use crate::spool::{self, Spool};
use crate::{
    BlobId, BlobStore, CompletionRecord, EffectRecord, Event, Journal, Lookup, RecordError, Redactor,
    RunManifest, sha256_hex,
};
use planforge_diagnostics::Diagnostic;
use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// Entries of a run folder that are its record.
const OWN: &[&str] = &["run.json", "report.json", "events", "blobs", "spool", "batch"];

/// Returns the run folder whose record `path` names or lies in; none for other places in or outside a run folder.
pub fn run_that_owns(path: &Path) -> Option<PathBuf> {
    // The file itself need not exist; links in the folders before it are followed.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let path = parent.canonicalize().unwrap_or_else(|_| parent.to_owned()).join(path.file_name()?);
    let is_own = |run: &Path| {
        let entry = path.strip_prefix(run).ok().and_then(|inside| inside.components().next());
        let own = entry.is_some_and(|entry| OWN.iter().any(|name| entry.as_os_str() == *name));
        own && run.join("run.json").is_file() && run.join("events").is_dir()
    };
    path.ancestors().skip(1).find(|run| is_own(run)).map(Path::to_owned)
}

/// The folder of one run. Opened for writing ([`RunFolder::create`], [`RunFolder::resume`]), it holds the
/// lock of its own event file until it is dropped; opened for reading ([`RunFolder::open`]), it changes
/// nothing on disk.
#[derive(Debug)]
pub struct RunFolder {
    root: PathBuf,
    manifest: RunManifest,
    redactor: Arc<Redactor>,
    blobs: BlobStore,
    index: RwLock<Index>,
    writer: Option<(Writer, Spool)>,
    warnings: Vec<Diagnostic>,
    /// The first thing that could not be written. Nothing is written after it, or the record would have a hole that no kill explains.
    failed: OnceLock<RecordError>,
}

impl RunFolder {
    /// Creates the folder `runs/<manifest.id>` and opens it for writing.
    ///
    /// The folder is created whole or not at all, however the process ends, and is locked before it becomes
    /// visible.
    ///
    /// # Errors
    /// `record.exists` if the folder exists, `record.id`, `record.io`.
    pub fn create(runs: &Path, manifest: RunManifest, redactor: Arc<Redactor>) -> Result<Self, RecordError> {
        Self::create_on(disk::real(), runs, manifest, redactor)
    }

    /// As [`RunFolder::create`], on a disk of the caller's.
    ///
    /// # Errors
    /// As [`RunFolder::create`].
    pub fn create_on(
        disk: Arc<dyn Disk>,
        runs: &Path,
        manifest: RunManifest,
        redactor: Arc<Redactor>,
    ) -> Result<Self, RecordError> {
        let id = &manifest.id;
        if id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0']) {
            return Err(RecordError::new("record.id", format!("`{id}` cannot be the name of a run folder")));
        }
        let root = runs.join(id);
        let exists = || {
            RecordError::new("record.exists", "this run folder exists already")
                .at(&root)
                .help("choose another id, or go on with it: `planforge run --resume RUN`")
        };
        fs::create_dir_all(runs).map_err(|e| RecordError::io("create the folder of runs", runs, &e))?;
        remove_left_behind(runs, id);
        if root.symlink_metadata().is_ok() {
            return Err(exists());
        }
        let making = unfinished_folder(runs, id);
        let made =
            fill_unfinished(&disk, &making, &manifest, &redactor).and_then(|(mut writer, mut spool)| {
                match disk.rename(&making, &root) {
                    Ok(()) => disk::sync_folder(disk.as_ref(), runs)?,
                    // Another process made the same folder meanwhile.
                    Err(_) if root.join("run.json").exists() => return Err(exists()),
                    Err(e) => return Err(RecordError::io("create the run folder", &root, &e)),
                }
                writer.is_now_in(&root.join("events"));
                spool.is_now_in(&root.join("spool"));
                Ok((writer, spool))
            });
        if made.is_err() {
            // It was nobody's run yet; that it may stay behind changes nothing about the error.
            drop(fs::remove_dir_all(&making));
        }
        Ok(Self::new(disk, root.clone(), manifest, redactor, Some(made?)))
    }

    /// Opens a run to resume it.
    ///
    /// # Errors
    /// `record.locked` if another process is writing to it, and as [`RunFolder::open`].
    pub fn resume(root: &Path, redactor: Arc<Redactor>) -> Result<Self, RecordError> {
        Self::resume_on(disk::real(), root, redactor)
    }

    /// As [`RunFolder::resume`], on a disk of the caller's.
    ///
    /// # Errors
    /// As [`RunFolder::resume`].
    pub fn resume_on(disk: Arc<dyn Disk>, root: &Path, redactor: Arc<Redactor>) -> Result<Self, RecordError> {
        let manifest = RunManifest::read(&root.join("run.json"))?;
        let folder = root.join("events");
        if let Some(path) = event_files::held_by_another(&folder, None)? {
            return Err(locked_error(&path));
        }
        let writer = Writer::create(&disk, &folder)?;
        // Looked at again with our own lock held: of two that begin at the same moment at least one sees the other.
        if let Some(path) = event_files::held_by_another(&folder, Some(writer.path()))? {
            return Err(locked_error(&path));
        }
        let spools = root.join("spool");
        let spool = Spool::create(&disk, &spools, writer.name())?;
        spool.go_on(&disk, &spools)?;
        let mut run = Self::new(disk, root.to_owned(), manifest, redactor, Some((writer, spool)));
        run.load()?;
        Ok(run)
    }

    /// True if a process is writing to the run now.
    ///
    /// # Errors
    /// `record.not-a-run`, `record.io`.
    pub fn is_in_progress(root: &Path) -> Result<bool, RecordError> {
        RunManifest::read(&root.join("run.json"))?;
        Ok(event_files::held_by_another(&root.join("events"), None)?.is_some())
    }

    /// Opens a run to read it. Another process may be writing to it at the same time.
    ///
    /// # Errors
    /// `record.not-a-run`, `record.version`, `record.corrupt`, `record.io`.
    pub fn open(root: &Path, redactor: Arc<Redactor>) -> Result<Self, RecordError> {
        let manifest = RunManifest::read(&root.join("run.json"))?;
        let mut run = Self::new(disk::real(), root.to_owned(), manifest, redactor, None);
        run.load()?;
        Ok(run)
    }

    fn new(
        disk: Arc<dyn Disk>,
        root: PathBuf,
        manifest: RunManifest,
        redactor: Arc<Redactor>,
        writer: Option<(Writer, Spool)>,
    ) -> Self {
        Self {
            blobs: BlobStore::on(disk, root.join("blobs")),
            root,
            manifest,
            redactor,
            index: RwLock::new(Index::new(writer.is_some())),
            writer,
            warnings: Vec::new(),
            failed: OnceLock::new(),
        }
    }

    fn load(&mut self) -> Result<(), RecordError> {
        let mut index = Index::new(self.writer.is_some());
        for path in event_files::files(&self.root.join("events"))? {
            self.warnings.extend(event_files::read(&path, |event| index.push(Cow::Owned(event)))?);
        }
        self.index = RwLock::new(index);
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    pub fn manifest(&self) -> &RunManifest {
        &self.manifest
    }

    /// Replaces a setting in the manifest.
    ///
    /// # Errors
    /// `record.read-only`, `record.io`.
    pub fn record_setting(&mut self, name: &str, value: serde_json::Value) -> Result<(), RecordError> {
        self.writer()?;
        self.manifest.settings.insert(name.to_owned(), value);
        self.manifest.write(disk::real().as_ref(), &self.root.join("run.json"), &self.redactor)
    }

    /// Warnings from reading the folder, about dropped incomplete lines.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Calls `each` with every event in order. Unlike [`Journal::events`] this copies none of them.
    pub fn each_event(&self, mut each: impl FnMut(&Event)) {
        if self.writer.is_none() {
            self.index().events.iter().for_each(each);
            return;
        }
        // While a run is written its events are in its files alone.
        let read = event_files::files(&self.root.join("events")).and_then(|files| {
            files.iter().try_for_each(|file| event_files::read(file, |event| each(&event)).map(drop))
        });
        if let Err(error) = read {
            // Somebody took the files away. Whoever goes on writing hears of it.
            self.failed.get_or_init(|| error);
        }
    }

    fn index(&self) -> std::sync::RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_only(&self) -> RecordError {
        RecordError::new("record.read-only", "this run folder was opened to be read").at(&self.root)
    }

    fn writer(&self) -> Result<&(Writer, Spool), RecordError> {
        match self.failed.get() {
            Some(failed) => Err(failed.clone()),
            None => self.writer.as_ref().ok_or_else(|| self.read_only()),
        }
    }

    fn remember_failure<T>(&self, written: Result<T, RecordError>) -> Result<T, RecordError> {
        written.map_err(|error| {
            if error.code == "record.io" { self.failed.get_or_init(|| error).clone() } else { error }
        })
    }

    /// A blob: its own files, or, where a crash of the machine lost that, what was written of it before the effects were complete.
    fn blob(&self, id: &str) -> Result<Vec<u8>, RecordError> {
        self.blobs.get(id).or_else(|error| {
            let torn = match error.code {
                "record.blob-missing" => Vec::new(),
                "record.blob-corrupt" => {
                    read_regular(&self.blobs.path(id), MAX_RECORD_BYTES).map_err(|_| error.clone())?
                }
                _ => return Err(error),
            };
            // A crash leaves a beginning, or zeros in place of what was not written yet. Anything else was changed by somebody.
            let whole = torn.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            let blob = spool::find(&self.root.join("spool"), id);
            blob.filter(|blob| blob.starts_with(torn.get(..whole).unwrap_or_default())).ok_or(error)
        })
    }
}

fn locked_error(path: &Path) -> RecordError {
    let who = event_files::holder_of(path).map_or_else(String::new, |who| format!(": {who}"));
    RecordError::new("record.locked", format!("another process is writing to this run{who}"))
        .at(path)
        .help("wait until it has ended, or stop it, and give the same command again; the lock goes with its process, however that ends")
}

impl Lookup for RunFolder {
    fn completion(&self, key: &str) -> Result<Option<CompletionRecord>, RecordError> {
        self.index().completion(key, |id| self.blob(id))
    }
    fn effect(&self, key: &str) -> Result<Option<EffectRecord>, RecordError> {
        self.index().effect(key, |id| self.blob(id))
    }
    fn completion_keys(&self) -> Vec<String> {
        self.index().completion_keys()
    }
    fn effect_keys(&self) -> Vec<String> {
        self.index().effect_keys()
    }
}

impl Journal for RunFolder {
    fn put(&self, bytes: &[u8]) -> Result<BlobId, RecordError> {
        let (_, spool) = self.writer()?;
        let bytes = self.redactor.bytes(bytes);
        let id = sha256_hex(&bytes);
        let put = if bytes.len() >= LARGE {
            self.blobs.put_large(&id, &bytes)
        } else {
            spool.put(&id, &bytes).and_then(|look| match look {
                true => self.blobs.put_soon(&id, &bytes),
                false => Ok(()),
            })
        };
        self.remember_failure(put)?;
        Ok(id)
    }
    fn get(&self, id: &str) -> Result<Vec<u8>, RecordError> {
        self.blob(id)
    }
    fn append(&self, event: &Event) -> Result<(), RecordError> {
        let (writer, spool) = self.writer()?;
        // The blobs that an effect names are on disk before it is written.
        let appended = writer.append(
            event,
            &self.redactor,
            || spool.sync(),
            |event| self.index.write().unwrap_or_else(PoisonError::into_inner).push(event),
        );
        self.remember_failure(appended)
    }
    fn is_writable(&self) -> Result<(), RecordError> {
        self.writer().map(drop)
    }
    fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        self.each_event(|event| events.push(event.clone()));
        events
    }
}

/// Suffix of the name of an unfinished folder.
const END: &str = ".making";

/// An older folder without a lock was left by a killed process.
const LEFT_AFTER: Duration = Duration::from_secs(60);

/// A name that is unique in this folder of runs.
fn unfinished_folder(runs: &Path, id: &str) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    // The number of a process alone may be taken on another machine that shares the folder.
    let time = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    runs.join(format!(".{id}.{}-{number}-{time}{END}", std::process::id()))
}

/// Everything that a run folder has when it begins, its lock included.
fn fill_unfinished(
    disk: &SharedDisk,
    making: &Path,
    manifest: &RunManifest,
    redactor: &Redactor,
) -> Result<(Writer, Spool), RecordError> {
    let make =
        |path: &Path| disk.make_folder(path).map_err(|e| RecordError::io("create the run folder", path, &e));
    make(making)?;
    let events = making.join("events");
    make(&events)?;
    let writer = Writer::create(disk, &events)?;
    make(&making.join("blobs"))?;
    let spool = Spool::create(disk, &making.join("spool"), writer.name())?;
    manifest.write(disk.as_ref(), &making.join("run.json"), redactor)?;
    Ok((writer, spool))
}

/// Removes what killed processes left of a folder of that name.
fn remove_left_behind(runs: &Path, id: &str) {
    let begin = format!(".{id}.");
    for entry in fs::read_dir(runs).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name();
        let is_one = name.to_str().is_some_and(|name| name.starts_with(&begin) && name.ends_with(END));
        let changed = entry.metadata().and_then(|file| file.modified());
        let is_old = changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFT_AFTER));
        let is_held = || event_files::held_by_another(&entry.path().join("events"), None);
        if is_one && is_old && !matches!(is_held(), Ok(Some(_))) {
            // Nothing rests on it; the next process tries again.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

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
