//! The codes of this crate.

use planforge_diagnostics::{CodeInfo, code_table};

/// Every code that this crate gives.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

#[cfg(test)]
mod tests {
    use super::CODES;
    use planforge_testkit::codes::quoted_codes;
    use std::path::Path;

    #[test]
    fn every_code_that_is_given_is_explained_once() {
        let mut quoted =
            quoted_codes(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &["llm"]).unwrap();
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
