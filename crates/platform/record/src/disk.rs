//! Disk operations of a record, each of which may fail.
//!
//! Tests replace the disk by one that is full after n operations.

use crate::RecordError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Disk operations. The defaults call the operating system.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Opens a file to write to it.
    ///
    /// # Errors
    /// The disk refuses.
    fn open(&self, options: &OpenOptions, path: &Path) -> io::Result<File> {
        options.open(path)
    }
    /// Writes all of these bytes; where it fails some of them may have been written.
    ///
    /// # Errors
    /// The disk refuses.
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }
    /// Waits until everything that was written to the file is on the medium.
    ///
    /// # Errors
    /// The disk refuses; what of it is on the medium cannot be known then.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }
    /// Cuts a file off after that many bytes.
    ///
    /// # Errors
    /// The disk refuses.
    fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }
    /// Makes a folder.
    ///
    /// # Errors
    /// The disk refuses.
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }
    /// Renames a file or folder, replacing an existing file.
    ///
    /// # Errors
    /// The disk refuses.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
}

/// The machine's own disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {}

/// A disk that several writers share.
pub(crate) type SharedDisk = Arc<dyn Disk>;

pub(crate) fn real() -> SharedDisk {
    Arc::new(RealDisk)
}

/// Makes a file's name durable: after a rename or create the folder itself has to reach the disk.
pub(crate) fn sync_folder(disk: &dyn Disk, folder: &Path) -> Result<(), RecordError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if cfg!(unix) {
        File::open(folder)
            .and_then(|f| disk.sync(&f))
            .map_err(|e| RecordError::io("sync the folder", folder, &e))?;
    }
    Ok(())
}

/// Writes a whole file through a temporary file in the same folder.
pub(crate) fn write_atomically(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    whole_or_nothing(disk, &temporary, path, bytes)
        .map_err(|e| RecordError::io("write the file", path, &e))?;
    sync_folder(disk, folder)
}

/// Writes a file under a temporary name, syncs it, and renames it. Nothing remains after a failure.
pub(crate) fn whole_or_nothing(
    disk: &dyn Disk,
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
) -> io::Result<()> {
    let written = disk
        .open(OpenOptions::new().write(true).create(true).truncate(true), temporary)
        .and_then(|file| {
            disk.write(&file, bytes)?;
            disk.sync(&file)
        })
        .and_then(|()| disk.rename(temporary, path));
    if written.is_err() {
        // It is worthless; that it may stay behind changes nothing about the error.
        drop(fs::remove_file(temporary));
    }
    written
}
