//! One sample of every document: it is read, written back the same, and read with fields of a later version in it.
//!
//! A sample that cannot be read or is written differently means that the document changed its shape: add optional fields only, or
//! raise its schema number and the ABI epoch.

use planforge_contract::{CreateRequest, DecodeError, Document, DocumentVisitor, decode, encode};
use planforge_record::Event;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

fn sample(name: &str) -> Value {
    let path = samples().join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Checks each document's sample and collects the documents' names and schema numbers.
#[derive(Default)]
struct SampleCheck {
    numbers: BTreeMap<&'static str, u32>,
}

impl DocumentVisitor for SampleCheck {
    fn visit<T: Document + PartialEq + std::fmt::Debug>(&mut self) {
        let written = sample(T::NAME);
        let read: T = decode(&written.to_string()).unwrap_or_else(|e| panic!("{}: {e}", T::NAME));
        let back: Value = serde_json::from_str(&encode(&read).unwrap()).unwrap();
        assert_eq!(back, written, "{}", T::NAME);

        let mut later = written.clone();
        later["body"].as_object_mut().unwrap().insert("added-later".to_owned(), json!([1]));
        let with_more = decode::<T>(&later.to_string());
        assert_eq!(with_more.as_ref(), Ok(&read), "{}: unknown fields are ignored", T::NAME);

        let mut other = written;
        other["schema"] = json!(T::SCHEMA + 1);
        let error = DecodeError::Schema(T::NAME, T::SCHEMA, T::SCHEMA + 1);
        assert_eq!(decode::<T>(&other.to_string()), Err(error));
        other["document"] = json!("something-else");
        assert!(matches!(decode::<T>(&other.to_string()), Err(DecodeError::Document(..))));
        assert!(matches!(decode::<T>("{"), Err(DecodeError::Json(_))));
        assert_eq!(self.numbers.insert(T::NAME, T::SCHEMA), None, "two documents are called {}", T::NAME);
    }
}

/// The schema numbers of all documents, after their samples were checked.
fn checked_documents() -> BTreeMap<&'static str, u32> {
    let mut check = SampleCheck::default();
    planforge_contract::visit_documents(&mut check);
    planforge_record::visit_documents(&mut check);
    planforge_plugin_common::judging::reports::visit_documents(&mut check);
    check.numbers
}

#[test]
fn every_document_has_a_sample_that_is_read_and_written_back_the_same() {
    let mut files: Vec<String> = std::fs::read_dir(samples())
        .unwrap()
        .map(|e| e.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, checked_documents().into_keys().collect::<Vec<_>>());
}

#[test]
fn schema_numbers_change_on_purpose_only() {
    let raised: Vec<_> =
        checked_documents().into_iter().filter(|(_, number)| *number != 1).map(|(name, _)| name).collect();
    assert_eq!(
        raised,
        ["plugin-info"],
        "a raised number raises the ABI epoch too: change both and this list"
    );
}

/// Absent fields of a round are absent in the journal.
#[test]
fn a_round_without_a_child_is_read_and_written_back_the_same() {
    let lost = json!({
        "event": "round-finished", "task": "s.p01", "stage": "refine", "path": "s.p01/problem/0", "round": 2,
        "accepted": false, "best_so_far": "s.p01/edit#1/0.3", "history": "22ff"
    });
    let mut found = lost.clone();
    found["best"] = json!("s.p01/edit#2/0.3.1");
    found["value"] = json!(0.75);
    for written in [lost, found] {
        let event: Event = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap(), written);
    }
}

/// Figures that are not known are absent in the journal, and events of a version that did not write some are read.
#[test]
fn a_pull_under_a_budget_is_read_and_written_back_the_same() {
    let pulled = json!({
        "event": "budget-pulled", "task": "s.p01", "stage": "search", "pull": 3, "arm": "new", "made": ["s.p01/domain#3/0"],
        "value": 0.5, "reward": 0.25, "accepted": false, "cost": {"calls": 1, "tokens": 90},
        "spent": {"calls": 3, "tokens": 270, "estimated_tokens": 40, "money": 0.5, "seconds": 1.5},
        "best": "s.p01/domain#3/0", "best_value": 0.5
    });
    let ended = json!({
        "event": "budget-spent", "task": "s.p01", "stage": "search", "end": "nothing-left", "pulls": 3,
        "spent": {"calls": 3, "tokens": 270}
    });
    for written in [pulled, ended] {
        let event: Event = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap(), written);
    }
    let short = json!({"event": "budget-pulled", "task": "t", "stage": "s", "pull": 1, "arm": "new"});
    assert!(matches!(serde_json::from_value(short).unwrap(), Event::BudgetPulled { pull: 1, .. }));
}

#[test]
fn a_secret_is_not_in_the_debug_form() {
    let request: CreateRequest = decode(&sample("create-request").to_string()).unwrap();
    let shown = format!("{request:?}");
    assert!(shown.contains("api_key_env") && !shown.contains("not-a-real-key"), "{shown}");
}
