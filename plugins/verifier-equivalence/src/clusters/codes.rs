//! The codes of this plugin's failures.

use planforge_diagnostics::CodeInfo;

pub(crate) const CANCELLED: &str = "clusters.cancelled";
pub(crate) const TEMPLATE: &str = "clusters.prompt-template";
pub(crate) const NO_REPLY: &str = "clusters.no-reply";
pub(crate) const NO_TEXT: &str = "clusters.no-text";

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
        title: "the critic has nothing to answer a question from",
        explanation: "With `questions` above 0 a model is asked what can be done according to the texts. The pipeline gives no text \
about the domain or the task, and no problem.\n\nAdd the texts to the suite's folder, give the problem in the pipeline file (`[given]`), \
or leave `questions` out.",
    },
];
