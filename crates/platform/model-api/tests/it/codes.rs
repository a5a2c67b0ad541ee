//! Each code that the crate gives is explained, and each explained one is given.

use planforge_model_api::{batch, batch_services, http};
use planforge_testkit::codes::quoted_codes;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_code_that_is_given_is_explained_once() {
    let tables = [batch::CODES, batch_services::CODES, http::CODES];
    let all: Vec<String> =
        tables.iter().flat_map(|table| table.iter()).map(|info| info.code.to_owned()).collect();
    let explained: BTreeSet<String> = all.iter().cloned().collect();
    assert_eq!(explained.len(), all.len());
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_eq!(quoted_codes(&sources, &["provider", "batch"]).unwrap(), explained);
    for info in tables.iter().flat_map(|table| table.iter()) {
        assert!(info.explanation.len() > 60 && !info.title.is_empty(), "{}", info.code);
    }
}
