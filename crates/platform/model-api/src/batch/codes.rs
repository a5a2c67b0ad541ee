//! The codes of this module.

use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::{CodeInfo, code_table};
use std::path::Path;

/// Every code that this module gives.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

/// `batch.io`: `what` is what could not be done with the file.
pub fn io_failure(path: &Path, what: &str, error: &dyn std::fmt::Display) -> Failure {
    let message = format!("cannot {what} {}: {error}", path.display());
    Failure::new(FailureClass::System, "batch.io", message)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::CODES;
    use std::collections::BTreeSet;

    /// Every quoted code in the sources of this module.
    fn codes_in_sources() -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/batch")).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for part in text.split('"').filter(|p| p.starts_with("batch.")) {
                if part.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'-')
                    && part.len() > "batch.".len()
                {
                    found.insert(part.to_owned());
                }
            }
        }
        found
    }

    #[test]
    fn every_code_that_is_given_is_explained_once() {
        let mut explained: Vec<String> = CODES.iter().map(|c| c.code.to_owned()).collect();
        explained.sort();
        assert_eq!(codes_in_sources().into_iter().collect::<Vec<_>>(), explained);
        assert!(CODES.iter().all(|c| c.explanation.len() > 60 && !c.title.is_empty()));
    }
}
