//! The codes of this crate.

use planforge_diagnostics::{CodeInfo, code_table};

/// Every code that this crate gives.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

#[cfg(test)]
mod tests {
    use super::CODES;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Every quoted code in the sources of a folder.
    fn quoted_codes(folder: &Path) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(quoted_codes(&path));
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            for part in text.split('"').filter(|p| p.starts_with("llm.")) {
                if part.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'-')
                    && part.len() > "llm.".len()
                {
                    found.insert(part.to_owned());
                }
            }
        }
        found
    }

    #[test]
    fn every_code_that_is_given_is_explained_once() {
        let mut quoted = quoted_codes(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
        // The name of an effect, not a code.
        quoted.remove("llm.complete");
        // `Failure::deferred` of the contract gives it.
        quoted.insert("llm.pending".to_owned());
        let mut explained: Vec<String> = CODES.iter().map(|c| c.code.to_owned()).collect();
        explained.sort();
        assert_eq!(quoted.into_iter().collect::<Vec<_>>(), explained);
        assert!(CODES.iter().all(|c| c.explanation.len() > 60 && !c.title.is_empty()));
    }
}
