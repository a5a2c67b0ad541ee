//! Disk operations of a record, each of which may fail, and their errors. Tests replace the disk by one that is full after n operations.
//! A file that may come from somebody else is read under limits: a device, a pipe or a socket is refused before it is opened, because reading it may
//! never end, and a file above a size limit is refused with its size.

use planforge_contract::{Failure, FailureClass};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
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

/// A run folder or cassette could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{} [{code}]", place(path.as_deref(), *line))]
pub struct RecordError {
    /// Stable code, listed in [`crate::CODES`].
    pub code: &'static str,
    /// One sentence for a person.
    pub message: String,
    /// The file, where one is meant.
    pub path: Option<PathBuf>,
    /// The line in it, from 1.
    pub line: Option<usize>,
    /// One action to take.
    pub help: Option<String>,
}

fn place(path: Option<&Path>, line: Option<usize>) -> String {
    match (path, line) {
        (Some(path), Some(line)) => format!(" ({}:{line})", path.display()),
        (Some(path), None) => format!(" ({})", path.display()),
        (None, _) => String::new(),
    }
}

impl RecordError {
    /// An error with code and message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), path: None, line: None, help: None }
    }
    /// `record.io`: the operating system refused.
    pub fn io(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new("record.io", format!("cannot {doing}: {error}")).at(path)
    }
    #[must_use]
    pub fn at(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned());
        self
    }
    /// Adds the line, from 1.
    #[must_use]
    pub fn line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }
    /// Adds a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        let message = format!("{}{}", error.message, place(error.path.as_deref(), error.line));
        let failure = Self::new(FailureClass::System, error.code, message);
        match error.help {
            Some(help) => failure.help(help),
            None => failure,
        }
    }
}

/// Most bytes of one file of a record: a manifest, event file, blob, cassette, file of answers or report.
pub const MAX_RECORD_BYTES: u64 = 1 << 30;

/// Opens a regular file.
///
/// # Errors
/// The file cannot be opened; `ErrorKind::InvalidInput` for a device, a pipe or a socket.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Checked before opening, because opening a pipe waits for a writer. A folder is left to the operating system's own error.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is a device, a pipe or a socket, not a file"));
    }
    File::open(path)
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// As of [`open_regular`]; `ErrorKind::FileTooLarge` for a larger file.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_opened(open_regular(path)?, most)
}

/// As [`read_regular`], as text.
///
/// # Errors
/// As of [`read_regular`]; `ErrorKind::InvalidData` for bytes that are not UTF-8.
pub fn read_regular_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_regular(path, most)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

/// As [`read_regular`], for an argument of the command line: it may also be `/dev/stdin` or a path that the shell made for
/// `<(COMMAND)`.
///
/// # Errors
/// As of [`read_regular`].
pub fn read_argument(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let streams = ["/dev/fd", "/proc/self/fd"];
    let is_stream = path == Path::new("/dev/stdin")
        || path.parent().is_some_and(|folder| streams.iter().any(|stream| folder == Path::new(stream)));
    if is_stream { read_opened(File::open(path)?, most) } else { read_regular(path, most) }
}

fn read_opened(file: File, most: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    if size > most {
        return Err(too_large(&format!("{size} bytes"), most));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    // The size in the metadata is 0 for a stream, and a file may grow.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large("more bytes than that", most));
    }
    Ok(bytes)
}

fn too_large(size: &str, most: u64) -> Error {
    let most =
        if most.is_multiple_of(1 << 20) { format!("{} MiB", most >> 20) } else { format!("{most} bytes") };
    Error::new(ErrorKind::FileTooLarge, format!("at most {most} are read, and it has {size}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_the_limit_and_refused_above_it_with_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_regular(&path, 5).unwrap(), b"12345");
        let error = read_regular(&path, 4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "at most 4 bytes are read, and it has 5 bytes");
        assert!(read_regular(folder.path(), 4).is_err());
        assert_eq!(read_regular(&folder.path().join("none"), 4).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn devices_pipes_sockets_and_links_to_them_are_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("/dev/zero", path("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
        assert!(made.success());
        for path in [Path::new("/dev/zero"), &path("link"), &path("socket"), &path("pipe")] {
            for read in [read_regular, read_argument] {
                let error = read(path, 1 << 20).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidInput, "{}", path.display());
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_stream_that_the_shell_opened_is_read_up_to_the_limit() {
        use std::os::fd::AsRawFd;
        let zeros = File::open("/dev/zero").unwrap();
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, b"text").unwrap();
        drop(writer);
        let path = |fd: &dyn AsRawFd| format!("/dev/fd/{}", fd.as_raw_fd());
        assert_eq!(read_argument(Path::new(&path(&reader)), 4).unwrap(), b"text");
        let endless = read_argument(Path::new(&path(&zeros)), 4).unwrap_err();
        assert_eq!(endless.to_string(), "at most 4 bytes are read, and it has more bytes than that");
    }
}
