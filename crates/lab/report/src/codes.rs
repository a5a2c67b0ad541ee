//! The codes of this crate.

use planforge_diagnostics::CodeInfo;

/// Every code of this crate, for `planforge explain`.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "report.nothing",
        title: "a folder holds neither a run nor an evaluation",
        explanation: "`planforge report` takes a run folder, which has a `run.json`, or the folder of an evaluation, which has a \
                      `matrix.json` and its runs below `cells`:\n\n    planforge report runs/20261121-101500-llm-p --out report.html\n    \
                      planforge report evaluation --out report.html\n\nName the run itself, not the folder of all runs.",
    },
    CodeInfo {
        code: "report.io",
        title: "a report cannot be written",
        explanation: "The operating system refused to write the report, or the temporary file of its parts (in TMPDIR). The \
                      file named by --out is replaced only once the report is complete. Free some disk space, or name another \
                      place.",
    },
];
