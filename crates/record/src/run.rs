//! `runs/<id>/{run.json, events/<writer>.jsonl, blobs/<sha256>, spool/<writer>}`.

use crate::events::{self, Writer};
use crate::index::Index;
use crate::spool::{self, Spool};
use crate::{
    BlobStore, CompletionRecord, EffectRecord, Journal, Lookup, RecordError, Redactor, RunManifest,
    sha256_hex,
};
use planforge_contract::{BlobId, Event};
use planforge_diagnostics::Diagnostic;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// One run's folder. Opened to write ([`RunFolder::create`], [`RunFolder::resume`]) it holds the lock of its own event
/// file until it is dropped; opened to read ([`RunFolder::open`]) it changes nothing on disk.
#[derive(Debug)]
pub struct RunFolder {
    root: PathBuf,
    manifest: RunManifest,
    redactor: Arc<Redactor>,
    blobs: BlobStore,
    index: RwLock<Index>,
    writer: Option<(Writer, Spool)>,
    warnings: Vec<Diagnostic>,
}

impl RunFolder {
    /// Makes the folder `runs/<manifest.id>` and opens it to write.
    ///
    /// # Errors
    /// `record.exists` where the folder is there already, `record.id`, `record.io`.
    pub fn create(runs: &Path, manifest: RunManifest, redactor: Arc<Redactor>) -> Result<Self, RecordError> {
        let id = &manifest.id;
        if id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0']) {
            return Err(RecordError::new("record.id", format!("`{id}` cannot be the name of a run folder")));
        }
        let root = runs.join(id);
        fs::create_dir_all(runs).map_err(|e| RecordError::io("create the folder of runs", runs, &e))?;
        fs::create_dir(&root).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => {
                RecordError::new("record.exists", "this run folder exists already")
                    .at(&root)
                    .help("choose another id, or go on with it: `planforge run --resume RUN`")
            }
            _ => RecordError::io("create the run folder", &root, &e),
        })?;
        for folder in ["events", "blobs"] {
            let path = root.join(folder);
            fs::create_dir(&path).map_err(|e| RecordError::io("create the folder", &path, &e))?;
        }
        // The manifest comes last: a folder without one is no run, so a crash before this point leaves nothing to resume.
        manifest.write(&root.join("run.json"), &redactor)?;
        let writer = Writer::create(&root.join("events"))?;
        let spool = Spool::create(&root.join("spool"), writer.name())?;
        Ok(Self::new(root, manifest, redactor, Some((writer, spool))))
    }

    /// Opens a run to go on with it.
    ///
    /// # Errors
    /// `record.locked` where another process is writing to it, and as [`RunFolder::open`].
    pub fn resume(root: &Path, redactor: Arc<Redactor>) -> Result<Self, RecordError> {
        let manifest = RunManifest::read(&root.join("run.json"))?;
        let folder = root.join("events");
        let locked = |path: &Path| {
            RecordError::new("record.locked", "another process is writing to this run")
                .at(path)
                .help("wait until it has ended, or stop it")
        };
        if let Some(path) = events::held_by_another(&folder, None)? {
            return Err(locked(&path));
        }
        let writer = Writer::create(&folder)?;
        // Looked at again with our own lock held: of two that begin at the same moment at least one sees the other.
        if let Some(path) = events::held_by_another(&folder, Some(writer.path()))? {
            return Err(locked(&path));
        }
        let spool = Spool::create(&root.join("spool"), writer.name())?;
        let mut run = Self::new(root.to_owned(), manifest, redactor, Some((writer, spool)));
        run.load()?;
        Ok(run)
    }

    /// Opens a run to read it. Another process may be writing to it at the same time.
    ///
    /// # Errors
    /// `record.not-a-run`, `record.version`, `record.corrupt`, `record.io`.
    pub fn open(root: &Path, redactor: Arc<Redactor>) -> Result<Self, RecordError> {
        let manifest = RunManifest::read(&root.join("run.json"))?;
        let mut run = Self::new(root.to_owned(), manifest, redactor, None);
        run.load()?;
        Ok(run)
    }

    fn new(
        root: PathBuf,
        manifest: RunManifest,
        redactor: Arc<Redactor>,
        writer: Option<(Writer, Spool)>,
    ) -> Self {
        Self {
            blobs: BlobStore::new(root.join("blobs")),
            root,
            manifest,
            redactor,
            index: RwLock::default(),
            writer,
            warnings: Vec::new(),
        }
    }

    fn load(&mut self) -> Result<(), RecordError> {
        let mut index = Index::default();
        for path in events::files(&self.root.join("events"))? {
            self.warnings.extend(events::read(&path, |event| index.push(event))?);
        }
        self.index = RwLock::new(index);
        Ok(())
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// What the run was made from.
    pub fn manifest(&self) -> &RunManifest {
        &self.manifest
    }

    /// What reading the folder had to say: torn lines that were dropped.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Calls `each` with every event in order. Unlike [`Journal::events`] this copies none of them.
    pub fn each_event(&self, each: impl FnMut(&Event)) {
        self.index().events.iter().for_each(each);
    }

    fn index(&self) -> std::sync::RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_only(&self) -> RecordError {
        RecordError::new("record.read-only", "this run folder was opened to be read").at(&self.root)
    }

    fn writer(&self) -> Result<&(Writer, Spool), RecordError> {
        self.writer.as_ref().ok_or_else(|| self.read_only())
    }

    /// A blob: its own file, or, where a crash of the machine lost that, what was written of it before the effects were complete.
    fn blob(&self, id: &str) -> Result<Vec<u8>, RecordError> {
        self.blobs.get(id).or_else(|error| {
            let torn = match error.code {
                "record.blob-missing" => Vec::new(),
                "record.blob-corrupt" => fs::read(self.blobs.path(id)).map_err(|_| error.clone())?,
                _ => return Err(error),
            };
            // A crash leaves a beginning, or zeros in place of what was not written yet. Anything else was changed by somebody.
            let whole = torn.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            let blob = spool::find(&self.root.join("spool"), id);
            blob.filter(|blob| blob.starts_with(torn.get(..whole).unwrap_or_default())).ok_or(error)
        })
    }
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
        if spool.put(&id, &bytes)? {
            self.blobs.put_soon(&id, &bytes)?;
        }
        Ok(id)
    }
    fn get(&self, id: &str) -> Result<Vec<u8>, RecordError> {
        self.blob(id)
    }
    fn append(&self, event: &Event) -> Result<(), RecordError> {
        let (writer, spool) = self.writer()?;
        // The blobs that an effect names are on disk before it is written.
        writer.append(
            event,
            &self.redactor,
            || spool.sync(),
            |event| self.index.write().unwrap_or_else(PoisonError::into_inner).push(event),
        )
    }
    fn events(&self) -> Vec<Event> {
        self.index().events.clone()
    }
}
