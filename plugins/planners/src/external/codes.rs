//! The codes of failures of an external planner.

use planforge_diagnostics::CodeInfo;

pub(crate) const OPTIONS: &str = "external.options";
pub(crate) const NOT_STARTED: &str = "external.not-started";
pub(crate) const BROKE: &str = "external.broke";
pub(crate) const NO_PLAN_FILE: &str = "external.no-plan-file";
pub(crate) const WRONG_PLAN: &str = "external.wrong-plan";
pub(crate) const FLOODED: &str = "external.flooded";
pub(crate) const FOLDER: &str = "external.folder";
pub(crate) const UNSUPPORTED: &str = "external.unsupported";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: OPTIONS,
        title: "the options do not make a command line",
        explanation: "The options of planner-external name no program, leave a slot unknown or set an option that the program does not \
use. The message names it.",
    },
    CodeInfo {
        code: NOT_STARTED,
        title: "the program could not be started",
        explanation: "The program is not installed, not in `PATH` or not executable. `planforge doctor` lists the installed \
planners and the commands that install the others. This says nothing about the task.",
    },
    CodeInfo {
        code: BROKE,
        title: "the program broke",
        explanation: "The program ended with an exit code that means an error, was ended by a signal, or printed something \
unreadable. The message quotes the end of its output. This says nothing about the task.",
    },
    CodeInfo {
        code: NO_PLAN_FILE,
        title: "an announced plan is missing",
        explanation: "The program ended with the exit code for success and left no plan, or a plan file that has other lines than \
steps. That is a failure of the program, not a verdict on the task.",
    },
    CodeInfo {
        code: WRONG_PLAN,
        title: "the program's plan is not valid",
        explanation: "The plan was executed on the task before it was accepted, and a step cannot be executed or the goal does not \
hold at the end. The program has a bug, or interprets PDDL differently. `validate = false` keeps such plans.",
    },
    CodeInfo {
        code: FLOODED,
        title: "the program printed too much",
        explanation: "The program printed more than `output_limit_kb`, or its plan files are larger than that together, and was \
killed with its child processes.",
    },
    CodeInfo {
        code: FOLDER,
        title: "the run's folder cannot be used",
        explanation: "Every call creates a temporary folder for the task and the plans. It could not be created, written or \
read.",
    },
    CodeInfo {
        code: UNSUPPORTED,
        title: "the program does not plan for this",
        explanation: "The task uses a part of PDDL that the program does not support, or the program reports so. Try \
another planner; `planforge doctor` lists what each supports.",
    },
];
