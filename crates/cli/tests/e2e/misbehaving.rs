//! A server that misbehaves while one of three tasks is asked about: each case is named in the record, the others are untouched, what
//! passes leaves no trace in the outcome, and the key is nowhere. The cases are data: `planforge_testkit::misbehaviour`.

use super::support::{example, pipeline};
use planforge_testkit::misbehaviour::{self, Misbehaviour, Place};
use std::path::Path;
use std::sync::Mutex;

#[test]
fn each_way_to_misbehave_has_its_name_and_its_outcome_and_no_key_is_anywhere() {
    let (pipeline, suite) = (pipeline("llm-p.toml"), example("parcels", ""));
    let place = Place {
        planforge: Path::new(env!("CARGO_BIN_EXE_planforge")),
        pipeline: &pipeline,
        suite: &suite,
        timeout_s: 2.0,
    };
    let cases: Mutex<Vec<Misbehaviour>> = Mutex::new(misbehaviour::all());
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
                    let found = misbehaviour::run(&place, case).unwrap_or_else(|e| panic!("{name}: {e}"));
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
