//! Each code that the crate gives is explained, and each explained one is given.

use planforge_model_api::{batch, batch_services, http};
use std::collections::BTreeSet;
use std::path::Path;

/// The quoted words in the sources of a folder that begin like a code of this crate.
fn quoted_codes(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(quoted_codes(&path));
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let is_code = |word: &&str| {
            let name = ["provider.", "batch."].iter().find_map(|area| word.strip_prefix(area));
            name.is_some_and(|name| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
            })
        };
        found.extend(text.split('"').filter(is_code).map(str::to_owned));
    }
    found
}

#[test]
fn every_code_that_is_given_is_explained_once() {
    let tables = [batch::CODES, batch_services::CODES, http::CODES];
    let all: Vec<String> =
        tables.iter().flat_map(|table| table.iter()).map(|info| info.code.to_owned()).collect();
    let explained: BTreeSet<String> = all.iter().cloned().collect();
    assert_eq!(explained.len(), all.len());
    assert_eq!(quoted_codes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")), explained);
    for info in tables.iter().flat_map(|table| table.iter()) {
        assert!(info.explanation.len() > 60 && !info.title.is_empty(), "{}", info.code);
    }
}
