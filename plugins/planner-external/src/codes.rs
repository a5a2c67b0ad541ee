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
        explanation: "The options of planner-external name no program, leave a slot unknown or set something that the program has \
no use for. The message says which.",
    },
    CodeInfo {
        code: NOT_STARTED,
        title: "the program could not be started",
        explanation: "The program is not installed, not on the search path or not executable. `planforge doctor` lists what is \
there and the command that gets the rest. This says nothing about the task.",
    },
    CodeInfo {
        code: BROKE,
        title: "the program broke",
        explanation: "The program ended with an exit code that stands for an error, was ended by a signal, or said something that \
is no answer. The message holds the end of what it printed. This says nothing about the task.",
    },
    CodeInfo {
        code: NO_PLAN_FILE,
        title: "a plan was announced and is not there",
        explanation: "The program ended with the exit code for success and left no plan, or a plan file that has other lines than \
steps. That is a failure of the program and no verdict on the task.",
    },
    CodeInfo {
        code: WRONG_PLAN,
        title: "the program's plan does not hold",
        explanation: "The plan was executed on the task before it was believed, and a step cannot be executed or the goal does not \
hold at the end. The program has a fault, or reads PDDL otherwise. `validate = false` passes such plans on.",
    },
    CodeInfo {
        code: FLOODED,
        title: "the program printed too much",
        explanation: "The program printed more than `output_limit_kb`, or its plan files are larger than that together, and was \
killed with everything that it had started.",
    },
    CodeInfo {
        code: FOLDER,
        title: "the run's folder cannot be used",
        explanation: "Every call has a folder of its own for the task and the plans, made in the system's temporary folder. It \
could not be made, written or read.",
    },
    CodeInfo {
        code: UNSUPPORTED,
        title: "the program does not plan for this",
        explanation: "The task uses a part of PDDL that the program does not support, or the program said so. Another planner may \
do; `planforge doctor` says what each supports.",
    },
];
