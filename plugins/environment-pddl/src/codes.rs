//! The codes of this plugin's failures.

use planforge_diagnostics::CodeInfo;

pub(crate) const NO_REFERENCE: &str = "environment.no-reference";
pub(crate) const UNREADABLE: &str = "environment.unreadable";
pub(crate) const UNSUPPORTED: &str = "environment.unsupported";
pub(crate) const TOO_LARGE: &str = "environment.too-large";
pub(crate) const STOPPED: &str = "environment.stopped";
pub(crate) const NOT_EXECUTABLE: &str = "environment.not-executable";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: NO_REFERENCE,
        title: "the task has no reference to simulate",
        explanation: "environment-pddl executes the reference domain and problem of the task (`domain.pddl` and `p01.pddl` of the \
suite), and one of them is missing or empty.\n\nAdd it to the suite, or run the task without an environment.",
    },
    CodeInfo {
        code: UNREADABLE,
        title: "the reference cannot be read",
        explanation: "The reference domain or problem has errors, so there is nothing to simulate. The message lists them. They are \
mistakes in the suite, never in a candidate.\n\nCheck the files with `planforge pddl validate DOMAIN PROBLEM`.",
    },
    CodeInfo {
        code: UNSUPPORTED,
        title: "the reference uses a construct that the simulator does not execute",
        explanation: "The reference uses durative actions, timed initial literals, preferences or trajectory constraints. The \
simulator executes instantaneous actions only.",
    },
    CodeInfo {
        code: TOO_LARGE,
        title: "the reference has too many ground actions",
        explanation: "Grounding the reference passed its limit on instantiated actions or atoms before it was complete, so no \
walk could be drawn uniformly.",
    },
    CodeInfo {
        code: STOPPED,
        title: "the call was ended",
        explanation: "The host's deadline passed or the run was interrupted while the environment was working.",
    },
    CodeInfo {
        code: NOT_EXECUTABLE,
        title: "the actions cannot be executed",
        explanation: "A state after a sequence of actions was requested, and one of them cannot be executed in the \
environment. The message names the action.",
    },
];
