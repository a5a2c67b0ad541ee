//! Files that studies and tables make.

use planforge_contract::{Failure, FailureClass};
use serde::Serialize;

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
