//! The fuzz corpus on the stable compiler: the targets' own bodies on every file of `tests/fuzz/corpus`.
//!
//! The crate of the targets lies outside the workspace, so its library is compiled here as a module.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::path::Path;

#[allow(unreachable_pub, clippy::expect_used, reason = "a library of its own, where a panic is the finding")]
#[path = "../../../tests/fuzz/src/lib.rs"]
mod bodies;

/// Fewer files than that mean that the corpus was lost, not that all is well.
const FEWEST: usize = 10;

fn replay(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= FEWEST, "{} has {} files", folder.display(), files.len());
    let failed: Vec<_> = files
        .iter()
        .filter(|file| {
            let bytes = std::fs::read(file).unwrap();
            std::panic::catch_unwind(|| body(&bytes)).is_err()
        })
        .collect();
    assert!(failed.is_empty(), "the body of {target} panicked (see above) on {failed:#?}");
}

#[test]
fn read_pddl() {
    replay("read_pddl", bodies::read_pddl);
}

#[test]
fn plan_file() {
    replay("plan_file", bodies::plan_file);
}

#[test]
fn pipeline_toml() {
    replay("pipeline_toml", bodies::pipeline_toml);
}

#[test]
fn contract_json() {
    replay("contract_json", bodies::contract_json);
}

#[test]
fn every_document_is_fuzzed() {
    let documents = planforge_contract::schema::documents();
    let known: BTreeSet<&str> = documents.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(bodies::DOCUMENTS.iter().copied().collect::<BTreeSet<_>>(), known);
}
