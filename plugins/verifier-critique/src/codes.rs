//! The codes of this plugin's failures and remarks.

use planforge_diagnostics::CodeInfo;

pub(crate) const CANCELLED: &str = "critique.cancelled";
pub(crate) const NO_TEXT: &str = "critique.no-text";
pub(crate) const TEMPLATE: &str = "critique.prompt-template";
pub(crate) const NO_REPLY: &str = "critique.no-reply";
pub(crate) const LEXICON: &str = "critique.lexicon";
pub(crate) const CUT_OFF: &str = "critique.cut-off";
pub(crate) const FILTERED: &str = "critique.filtered";
pub(crate) const EMPTY: &str = "critique.empty";
pub(crate) const LONG: &str = "critique.too-long";
pub(crate) const MANY: &str = "critique.too-many-findings";
pub(crate) const LOOP: &str = "critique.repeats-itself";
pub(crate) const REPEATED: &str = "critique.repeats-the-last";
pub(crate) const ECHO: &str = "critique.repeats-the-question";
pub(crate) const CONTRADICTION: &str = "critique.contradiction";
pub(crate) const NOTHING_NAMED: &str = "critique.names-nothing";
pub(crate) const UNKNOWN_ACTION: &str = "critique.unknown-action";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: CANCELLED,
        title: "the run was interrupted",
        explanation: "The run was interrupted before this candidate was criticised. `planforge run --resume RUN` goes on.",
    },
    CodeInfo {
        code: NO_TEXT,
        title: "there is nothing to compare the candidate with",
        explanation: "A critic compares the candidate with its specification: a domain with the text about it (`domain.nl`) or with \
a problem that is given, a problem with the task's text (`p01.nl`) and its domain, a plan with the rules and the task. The pipeline \
gives neither.\n\nAdd the text to the suite's folder, or give the PDDL in the pipeline file (`[given]`).",
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
        code: LEXICON,
        title: "the critic's reader cannot be built",
        explanation: "A bug in this plugin: a regular expression for replies in prose does not compile.\n\nPlease report it \
with the message.",
    },
    CodeInfo {
        code: CUT_OFF,
        title: "the critic's reply was cut off",
        explanation: "The server ended the reply at its token limit. The findings before that count. Such a reply never counts \
as an approval, because its missing part may object.\n\nRaise `max_tokens` of the model table.",
    },
    CodeInfo {
        code: FILTERED,
        title: "the server filtered the critic's reply",
        explanation: "The server's content filter ended the reply. The findings before that count, and nothing else of the reply.",
    },
    CodeInfo {
        code: EMPTY,
        title: "the critic's reply is empty",
        explanation: "The reply is empty, so the candidate is undecided. An empty reply is not an approval.",
    },
    CodeInfo {
        code: LONG,
        title: "the critic's reply is too long",
        explanation: "Of a reply the first 64 kB are read and kept in the assessment; the whole of it is in the record of the request.",
    },
    CodeInfo {
        code: MANY,
        title: "more findings than are taken",
        explanation: "Of one reply at most 40 findings are taken, the first ones. More are mostly repetitions.",
    },
    CodeInfo {
        code: LOOP,
        title: "the critic repeats a finding",
        explanation: "Equal findings of a reply count once.",
    },
    CodeInfo {
        code: REPEATED,
        title: "the critic repeats its last critique",
        explanation: "Findings equal those of the round before, although the candidate was rewritten since. Either the \
writer ignores the critic or the critic ignores the changes: compare the texts of the two rounds. The metric `repeated` counts such \
findings.\n\nA stop condition on `stage.LABEL.repeated`, another model as critic, or `history = true` ends such a loop.",
    },
    CodeInfo {
        code: ECHO,
        title: "the critic repeats the request",
        explanation: "A finding is the form of the reply that the request shows, word for word. It is left out.",
    },
    CodeInfo {
        code: CONTRADICTION,
        title: "the critic contradicts itself",
        explanation: "The reply approves of the candidate and names errors in it. The findings count: a reply with an \
error does not approve.",
    },
    CodeInfo {
        code: NOTHING_NAMED,
        title: "the critic objects without a finding",
        explanation: "The reply objects to the candidate without a finding. A writer cannot act on it, so the candidate is \
undecided.",
    },
    CodeInfo {
        code: UNKNOWN_ACTION,
        title: "the critic names an action that does not exist",
        explanation: "A finding names an action that the candidate does not have. The finding may rightly state that the action is \
missing, or the critic invents a text. The finding is kept unchanged.",
    },
];
