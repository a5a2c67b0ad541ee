//! The codes of this plugin's failures.

use planforge_diagnostics::CodeInfo;

pub(crate) const OPTIONS: &str = "process.options";
pub(crate) const START: &str = "process.start";
pub(crate) const DIED: &str = "process.died";
pub(crate) const SILENT: &str = "process.silent";
pub(crate) const LIMIT: &str = "process.limit";
pub(crate) const PROTOCOL: &str = "process.protocol";
pub(crate) const ERROR: &str = "process.error";
pub(crate) const CONTRADICTION: &str = "process.contradiction";
pub(crate) const TOO_MANY: &str = "process.too-many-actions";
pub(crate) const NOT_EXECUTABLE: &str = "process.not-executable";
pub(crate) const STOPPED: &str = "process.stopped";

/// The way out that nearly all of them share.
pub(crate) const CHECK: &str =
    "try the program by itself with `planforge plugins try-environment -- COMMAND`";

/// A help text followed by the one that all failures share.
pub(crate) fn or_check(way: &str) -> String {
    format!("{way}; {CHECK}")
}

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: OPTIONS,
        title: "invalid options of environment-process",
        explanation: "The environment has no command, or one of its limits is not a positive number.\n\n    [environment]\n    \
use = \"environment-process\"\n    options = { command = [\"python3\", \"puzzle.py\"] }",
    },
    CodeInfo {
        code: START,
        title: "the environment's program did not start",
        explanation: "The operating system could not start the first word of `command`: there is no such program on the search path \
that the program itself would see (option `inherit`), or the file is not executable, or its folder (`cwd`) does not exist. The \
message gives the reason.",
    },
    CodeInfo {
        code: DIED,
        title: "the environment's program ended",
        explanation: "The program ended, or closed its output, while the host waited for an answer. It must answer until its input ends. \
The message has its exit code or signal and the end of its standard error.",
    },
    CodeInfo {
        code: SILENT,
        title: "the environment's program did not answer in time",
        explanation: "An answer took longer than `timeout_s`, or the first one longer than `start_timeout_s`; the program and its child \
processes were killed. A program that writes through a buffer must flush it after each answer (in Python: print(..., flush=True)).",
    },
    CodeInfo {
        code: LIMIT,
        title: "the environment's program reached a limit",
        explanation: "The program exceeded its memory (`memory_mb`), wrote an answer longer than `answer_kb`, or flooded its standard \
error (`errors_kb`). It was killed. Raise the option if the program needs more.",
    },
    CodeInfo {
        code: PROTOCOL,
        title: "the environment's program violates the protocol",
        explanation: "An answer was not UTF-8, not one JSON object in one line, had another request's id, or its result did not have the \
form that the method needs. Nothing but answers may go to standard output; messages belong on standard error. The protocol is \
described in plugins/environment-process/PROTOCOL.md.",
    },
    CodeInfo {
        code: ERROR,
        title: "the environment's program reported an error",
        explanation: "The program answered with `error`. An error is for unsupported requests, such as an unknown task; a refused \
action is a result, not an error.",
    },
    CodeInfo {
        code: CONTRADICTION,
        title: "the environment's program contradicts itself",
        explanation: "An action that it listed as applicable was refused, one that it executed before was refused in the same place, or it \
claims to have executed more steps than there were. Its `reset` must always lead to the same state, and its actions must be \
deterministic: seed its random choices.",
    },
    CodeInfo {
        code: TOO_MANY,
        title: "there are too many ground actions to try them all",
        explanation: "The program does not list the applicable actions (method `actions`), so every action with every fitting object has to \
be tried in every state, and there are more of them than `max_ground_actions`. Let the program list them, give its parameters \
narrower types, or raise the option.",
    },
    CodeInfo {
        code: NOT_EXECUTABLE,
        title: "the actions cannot be executed",
        explanation: "A state after a sequence of actions was requested, and one of them cannot be executed in the environment. The message names the action.",
    },
    CodeInfo {
        code: STOPPED,
        title: "the call was ended",
        explanation: "The host's deadline passed or the run was interrupted while the environment's program was working. The program was \
killed.",
    },
];
