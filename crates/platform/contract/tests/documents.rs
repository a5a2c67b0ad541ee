//! One sample of every document: it is read, written back the same, and read with fields of a later version in it.
//!
//! A sample that no longer reads or no longer comes back the same means that the document changed its shape: add optional
//! fields only, or raise its schema number and the ABI epoch.
#![allow(clippy::unwrap_used, clippy::panic)] // A test may break where it stands; helpers of tests too.

use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall};
use planforge_contract::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

fn sample(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/samples/{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn check<T: Document + PartialEq + std::fmt::Debug>() {
    let written = sample(T::NAME);
    let read: T = decode(&written.to_string()).unwrap_or_else(|e| panic!("{}: {e}", T::NAME));
    let back: Value = serde_json::from_str(&encode(&read).unwrap()).unwrap();
    assert_eq!(back, written, "{}", T::NAME);

    let mut later = written.clone();
    later["body"].as_object_mut().unwrap().insert("added-later".to_owned(), json!([1]));
    assert_eq!(
        decode::<T>(&later.to_string()).as_ref(),
        Ok(&read),
        "{}: unknown fields are ignored",
        T::NAME
    );

    let mut other = written;
    other["schema"] = json!(T::SCHEMA + 1);
    assert_eq!(decode::<T>(&other.to_string()), Err(DecodeError::Schema(T::NAME, T::SCHEMA, T::SCHEMA + 1)));
    other["document"] = json!("something-else");
    assert!(matches!(decode::<T>(&other.to_string()), Err(DecodeError::Document(..))));
    assert!(matches!(decode::<T>("{"), Err(DecodeError::Json(_))));
}

macro_rules! documents {
    ($($ty:ty),* $(,)?) => {
        fn checks() -> BTreeMap<&'static str, (u32, fn())> {
            BTreeMap::from([$((<$ty>::NAME, (<$ty>::SCHEMA, check::<$ty> as fn()))),*])
        }
    };
}

documents!(
    PluginInfo,
    CreateRequest,
    Failure,
    CompletionRequest,
    CompletionResult,
    TranslateRequest,
    TranslateResponse,
    VerifyRequest,
    VerifyResponse,
    PlanRequest,
    PlanOutcome,
    EnvironmentOpen,
    EnvironmentInfo,
    WalkSpec,
    Walks,
    Sequences,
    ExecutionReport,
    EnvironmentPlan,
    EnvironmentVerdict,
    StateQuery,
    StateDescription,
    EnvironmentCall,
    EnvironmentAnswer,
    Event,
    RoundHistory,
    PlanReport,
    ValidateReport,
    EwReport,
    EquivalentReport,
    DomainEquivalentReport,
    Inference,
    InferReport,
    StateGraphReport,
);

#[test]
fn every_sample_is_read_and_written_back_the_same() {
    checks().values().for_each(|(_, check)| check());
}

#[test]
fn every_document_has_a_sample_here_and_a_file_of_its_own() {
    let all = schema::documents();
    let all: Vec<&String> = all.as_object().unwrap().keys().collect();
    let checked = checks();
    assert_eq!(all, checked.keys().collect::<Vec<_>>());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, checked.keys().copied().collect::<Vec<_>>());
}

#[test]
fn schema_numbers_change_on_purpose_only() {
    let numbers: Vec<_> =
        checks().into_iter().filter(|(_, (number, _))| *number != 1).map(|(n, _)| n).collect();
    assert_eq!(
        numbers,
        ["plugin-info"],
        "a raised number raises the ABI epoch too: change both and this list"
    );
}

/// What is absent of a round is absent in the journal.
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
