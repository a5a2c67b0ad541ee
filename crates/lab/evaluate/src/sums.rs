//! Files that studies and tables make, and `SHA256SUMS`: their hashes in the form of the program `sha256sum`. A file that is read back
//! is checked against it.

use planforge_contract::{Failure, FailureClass};
use planforge_record::{MAX_RECORD_BYTES, read_regular_text, sha256_hex};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// The name of the file.
const NAME: &str = "SHA256SUMS";

impl Artefact {
    /// The hashes of these files.
    pub fn sums(files: &[Self]) -> Self {
        let mut text = String::new();
        for file in files {
            let _ = writeln!(text, "{}  {}", sha256_hex(file.contents.as_bytes()), file.name);
        }
        Self::new(NAME, text)
    }
}

/// Checks the bytes of a file of an evaluation's folder. Returns false for folders of versions that recorded no hash.
///
/// # Errors
/// `evaluate.changed` if the recorded hash is another one, or the hashes are there and cannot be read.
pub fn is_unchanged(folder: &Path, name: &str, bytes: &[u8]) -> Result<bool, Failure> {
    let help = format!("`planforge evaluate merge {}` writes it anew from the runs", folder.display());
    let sums = match read_regular_text(&folder.join(NAME), MAX_RECORD_BYTES) {
        Ok(sums) => sums,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => {
            let message = format!("{}: {error}", folder.join(NAME).display());
            return Err(Failure::new(FailureClass::System, "evaluate.changed", message).help(help));
        }
    };
    let of_file =
        |line: &str| line.split_once("  ").filter(|(_, file)| *file == name).map(|(hash, _)| hash.to_owned());
    let Some(recorded) = sums.lines().find_map(of_file) else { return Ok(false) };
    if recorded == sha256_hex(bytes) {
        return Ok(true);
    }
    let path = folder.join(name);
    let message = format!("{} was changed after it was written: {NAME} has another hash", path.display());
    Err(Failure::new(FailureClass::System, "evaluate.changed", message).help(help))
}

/// A file that a study or table makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    /// Its name in the output folder.
    pub name: String,
    /// Its text.
    pub contents: String,
}

impl Artefact {
    /// Creates a file.
    pub fn new(name: impl Into<String>, contents: impl Into<String>) -> Self {
        Self { name: name.into(), contents: contents.into() }
    }

    /// Creates a file with a JSON document.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn json<T: Serialize>(name: &str, document: &T) -> Result<Self, Failure> {
        let failed = |e| Failure::new(FailureClass::System, "study.plot", format!("{name}: {e}"));
        serde_json::to_string_pretty(document).map(|text| Self::new(name, text + "\n")).map_err(failed)
    }

    /// Creates the files of a table: `NAME.csv`, `NAME.md`, `NAME.txt` and `NAME.json`.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn of_table<T: Serialize>(
        name: &str,
        [csv, markdown, text]: [String; 3],
        document: &T,
    ) -> Result<Vec<Self>, Failure> {
        Ok(vec![
            Self::new(format!("{name}.csv"), csv),
            Self::new(format!("{name}.md"), markdown),
            Self::new(format!("{name}.txt"), text),
            Self::json(&format!("{name}.json"), document)?,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_refused_and_an_older_folder_is_not_checked() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(is_unchanged(folder.path(), "a.json", b"{}"), Ok(false));
        let sums = Artefact::sums(&[Artefact::new("a.json", "{}"), Artefact::new("b.csv", "")]);
        std::fs::write(folder.path().join(&sums.name), &sums.contents).unwrap();
        assert_eq!(is_unchanged(folder.path(), "a.json", b"{}"), Ok(true));
        assert_eq!(is_unchanged(folder.path(), "b.csv", b"").ok(), Some(true));
        assert_eq!(is_unchanged(folder.path(), "a.json", b"{ }").unwrap_err().code, "evaluate.changed");
        // Hashes that cannot be read are not absent.
        std::fs::remove_file(folder.path().join(&sums.name)).unwrap();
        std::fs::create_dir(folder.path().join(&sums.name)).unwrap();
        assert_eq!(is_unchanged(folder.path(), "a.json", b"{}").unwrap_err().code, "evaluate.changed");
    }
}
