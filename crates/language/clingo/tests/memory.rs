//! Memory after many programs: only the terms that clingo never frees remain. Runs alone in its process, so
//! that other tests do not count.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use planforge_clingo::{SolveRequest, Symbol, solve};

/// Resident memory of this process in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn solving_the_same_programs_again_takes_no_more_memory() {
    let functions = |name: &str, arguments: &[Symbol]| match name {
        "next" => Some(Ok(vec![Symbol::Number(arguments[0].as_number().unwrap() + 1)])),
        "panics" => std::panic::resume_unwind(Box::new("quietly")),
        _ => None,
    };
    let round = || {
        for (program, good) in [
            (
                "p(1..200). q(@next(X)) :- p(X). { r(X) : p(X) } 1. :- r(7). s(1/0). #minimize { 1,X : r(X) }.",
                true,
            ),
            ("a. :- a.", true),
            ("p(1..200). p(", false),
            ("p(1..200). q(X) :- p(X), not r(Y).", false),
            ("p(1..200). q(@unknown(X)) :- p(X).", false),
            ("p(1..200). q(@panics(X)) :- p(X).", false),
        ] {
            for stop in [None, Some(&(|| false) as &dyn Fn() -> bool)] {
                let job = SolveRequest {
                    models: 5,
                    optimise: true,
                    functions: &functions,
                    stop,
                    ..SolveRequest::new(program)
                };
                assert_eq!(solve(&job).is_ok(), good, "{program}");
            }
        }
    };
    (0..20).for_each(|_| round());
    let before = resident();
    (0..150).for_each(|_| round());
    let growth = resident().saturating_sub(before);
    assert!(growth < 4 << 20, "grew by {} kB in 1800 programs", growth >> 10);
}
