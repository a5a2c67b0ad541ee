//! The diagnostic codes of studies and evaluations.

use planforge_diagnostics::CodeInfo;

/// Every code of this crate, for `planforge explain`.
pub const CODES: &[CodeInfo] = &[CodeInfo {
    code: "study.no-suite",
    title: "a folder holds no planning domain to study",
    explanation: "A study wants a folder with `domain.pddl` and at least one problem beside it, or a folder of such folders:\n\n    \
                  planforge study omissions --suites examples/suites --out study\n\nProblems are all other `*.pddl` files, \
                  `p_example.pddl` excepted, in the order of their names (numbers in them compared as numbers).",
}];
