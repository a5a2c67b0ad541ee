//! Reading of files that may come from somebody else. A device, a pipe or a socket is refused before it is opened, because
//! reading it may never end, and a file above a size limit is refused with its size.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Most bytes of one file of a record: a manifest, event file, blob, cassette, file of answers or report.
pub const MAX_RECORD_BYTES: u64 = 1 << 30;

/// Opens a regular file.
///
/// # Errors
/// The file cannot be opened; `ErrorKind::InvalidInput` for a device, a pipe or a socket.
pub fn open_regular(path: &Path) -> Result<File> {
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
pub fn read_regular(path: &Path, most: u64) -> Result<Vec<u8>> {
    read_opened(open_regular(path)?, most)
}

/// As [`read_regular`], as text.
///
/// # Errors
/// As of [`read_regular`]; `ErrorKind::InvalidData` for bytes that are not UTF-8.
pub fn read_regular_text(path: &Path, most: u64) -> Result<String> {
    String::from_utf8(read_regular(path, most)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

/// As [`read_regular`], for an argument of the command line: it may also be `/dev/stdin` or a path that the shell made for
/// `<(COMMAND)`.
///
/// # Errors
/// As of [`read_regular`].
pub fn read_argument(path: &Path, most: u64) -> Result<Vec<u8>> {
    let streams = ["/dev/fd", "/proc/self/fd"];
    let is_stream = path == Path::new("/dev/stdin")
        || path.parent().is_some_and(|folder| streams.iter().any(|stream| folder == Path::new(stream)));
    if is_stream { read_opened(File::open(path)?, most) } else { read_regular(path, most) }
}

fn read_opened(file: File, most: u64) -> Result<Vec<u8>> {
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
