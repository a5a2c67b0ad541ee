//! The codes of this plugin's failures.

use planforge_diagnostics::CodeInfo;

pub(crate) const CANCELLED: &str = "clusters.cancelled";
pub(crate) const TEMPLATE: &str = "clusters.prompt-template";
pub(crate) const NO_REPLY: &str = "clusters.no-reply";
pub(crate) const NO_TEXT: &str = "clusters.no-text";
pub(crate) const OPTIONS: &str = "clusters.options";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: CANCELLED,
        title: "the run was interrupted",
        explanation: "The run was interrupted before the candidates were compared. `planforge run --resume RUN` goes on.",
    },
    CodeInfo {
        code: TEMPLATE,
        title: "a prompt template cannot be rendered",
        explanation: "A bug in this plugin: a prompt template names a value that is missing.\n\n\
Please report it with the message.",
    },
    CodeInfo {
        code: NO_REPLY,
        title: "the host answered without a reply",
        explanation: "One reply was asked for, and none came back.",
    },
    CodeInfo {
        code: NO_TEXT,
        title: "there is nothing to answer a question from",
        explanation: "With `questions` above 0 a model is asked what can be done according to the texts. The pipeline gives no text \
about the domain or the task, and no problem.\n\nAdd the texts to the suite's folder, give the problem in the pipeline file (`[given]`), \
or leave `questions` out.",
    },
    CodeInfo {
        code: OPTIONS,
        title: "the options contradict each other or are out of range",
        explanation: "`trust` is a probability above 0.5 and below 1: an answer that is right half of the time says nothing, and one that is \
always right would leave no weight to a cluster that it contradicts.",
    },
];
