//! A server that misbehaves for one of three tasks: each case is named in the record, the other tasks are
//! unaffected, transient faults leave no trace in the outcome, and the key never appears. The cases are data:
//! `planforge_testkit::misbehaviour`.

use super::support::{example, pipeline};
use planforge_plugin_sdk::testing::ServiceInterface;
use planforge_testkit::misbehaviour::{self, Experiment, Misbehaviour};
use std::path::Path;
use std::sync::Mutex;

#[test]
fn every_misbehaviour_has_its_code_and_outcome_and_no_key_leaks() {
    check_misbehaviours(ServiceInterface::ChatCompletions);
}

#[test]
fn every_misbehaviour_of_responses_has_its_code_and_outcome_and_no_key_leaks() {
    check_misbehaviours(ServiceInterface::Responses);
}

#[test]
fn every_misbehaviour_of_messages_has_its_code_and_outcome_and_no_key_leaks() {
    check_misbehaviours(ServiceInterface::Messages);
}

#[test]
fn every_misbehaviour_of_generate_content_has_its_code_and_outcome_and_no_key_leaks() {
    check_misbehaviours(ServiceInterface::GenerateContent);
}

fn check_misbehaviours(interface: ServiceInterface) {
    let (pipeline, suite) = (pipeline("llm-p.toml"), example("parcels", ""));
    let place = Experiment {
        interface,
        planforge: Path::new(env!("CARGO_BIN_EXE_planforge")),
        pipeline: &pipeline,
        suite: &suite,
        timeout_s: 2.0,
    };
    let cases: Mutex<Vec<Misbehaviour>> = Mutex::new(misbehaviour::all_misbehaviours(interface));
    let count = cases.lock().unwrap().len();
    // The longest ones first, which are taken from the end.
    cases
        .lock()
        .unwrap()
        .sort_by_key(|case| (case.name.starts_with("a reply of 10 MB"), case.name.contains("for ever")));
    let wrong: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(case) = cases.lock().unwrap().pop() else { break };
                    let name = case.name;
                    let found = misbehaviour::run_misbehaviour(&place, case)
                        .unwrap_or_else(|e| panic!("{name}: {e}"));
                    // A run takes some 60 MB; 10 MB of a reply are read, decoded, encoded and kept, some ten times at once.
                    assert!(found.peak_mb < 400.0, "{name}: {found:?}");
                    wrong
                        .lock()
                        .unwrap()
                        .extend(found.violations.into_iter().map(|v| format!("{name}: {v}")));
                }
            });
        }
    });
    assert!(count > 30, "{count} cases");
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
