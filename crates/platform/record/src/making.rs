//! A run folder while it is being made: complete under another name, then renamed.

use crate::disk::SharedDisk;
use crate::event_files::{self, Writer};
use crate::spool::Spool;
use crate::{RecordError, Redactor, RunManifest};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Suffix of the name of an unfinished folder.
const END: &str = ".making";

/// An older folder without a lock was left by a killed process.
const LEFT_AFTER: Duration = Duration::from_secs(60);

/// A name that is unique in this folder of runs.
pub(crate) fn folder(runs: &Path, id: &str) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    // The number of a process alone may be taken on another machine that shares the folder.
    let time = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    runs.join(format!(".{id}.{}-{number}-{time}{END}", std::process::id()))
}

/// Everything that a run folder has when it begins, its lock included.
pub(crate) fn fill(
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
pub(crate) fn remove_left_behind(runs: &Path, id: &str) {
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
