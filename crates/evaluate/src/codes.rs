//! The diagnostic codes of studies and evaluations.

use planforge_diagnostics::CodeInfo;

/// Every code of this crate, for `planforge explain`.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "study.no-suite",
        title: "a folder holds no planning domain to study",
        explanation: "A study wants a folder with `domain.pddl` and at least one problem beside it, or a folder of such folders:\n\n    \
                  planforge study omissions --suites examples/suites --out study\n\nProblems are all other `*.pddl` files, \
                  `p_example.pddl` excepted, in the order of their names (numbers in them compared as numbers).",
    },
    CodeInfo {
        code: "study.cancelled",
        title: "a study was interrupted",
        explanation: "Half a study is no result, so nothing was written. Start it again; `--quick` takes under two minutes.",
    },
    CodeInfo {
        code: "study.threads",
        title: "a study cannot start its threads",
        explanation: "The operating system refused. Try `--jobs 1`, or raise the limit on processes.",
    },
    CodeInfo {
        code: "study.plot",
        title: "a file of a study cannot be made",
        explanation: "The figures were computed but cannot be drawn or written down. This should not happen with the options that \
                  `planforge study` takes; please report it.",
    },
];
