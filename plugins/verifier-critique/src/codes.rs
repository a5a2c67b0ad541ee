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
        title: "there is nothing to hold the candidate against",
        explanation: "A critic compares what was written with what was wanted: a domain with the text about it (`domain.nl`) or with \
a problem that is given, a problem with the task's text (`p01.nl`) and its domain, a plan with the rules and the task. The pipeline \
gives neither.\n\nAdd the text to the suite's folder, or give the PDDL in the pipeline file (`[given]`).",
    },
    CodeInfo {
        code: TEMPLATE,
        title: "a prompt template cannot be rendered",
        explanation: "A fault of this plugin: one of its own prompt templates does not fit the values it is filled with.\n\n\
Please report it with the message.",
    },
    CodeInfo {
        code: NO_REPLY,
        title: "the host answered without a reply",
        explanation: "One reply was asked for, and none came back.",
    },
    CodeInfo {
        code: LEXICON,
        title: "the critic's reader cannot be made",
        explanation: "A fault of this plugin: an expression by which it reads replies in prose does not compile.\n\nPlease report it \
with the message.",
    },
    CodeInfo {
        code: CUT_OFF,
        title: "the critic's reply was cut off",
        explanation: "The server ended the reply at its token limit. The findings before that count. That the critic approves is not \
taken from such a reply: what is missing may say otherwise.\n\nRaise `max_tokens` of the role.",
    },
    CodeInfo {
        code: FILTERED,
        title: "the server held the critic's reply back",
        explanation: "The server's content filter ended the reply. The findings before that count, and nothing else is taken from it.",
    },
    CodeInfo {
        code: EMPTY,
        title: "the critic said nothing",
        explanation: "The reply is empty, so the candidate is undecided. An empty reply is no approval.",
    },
    CodeInfo {
        code: LONG,
        title: "the critic's reply is longer than what is read",
        explanation: "Of a reply the first 64 kB are read and kept in the assessment; the whole of it is in the record of the question.",
    },
    CodeInfo {
        code: MANY,
        title: "more findings than are taken",
        explanation: "Of one reply at most 40 findings are taken, the first ones. So many are mostly a model that has lost the thread.",
    },
    CodeInfo {
        code: LOOP,
        title: "the critic says the same more than once",
        explanation: "Findings of a reply that say the same are taken once.",
    },
    CodeInfo {
        code: REPEATED,
        title: "the critic repeats its last critique",
        explanation: "Findings say the same as those of the round before, although the candidate was written anew since. Either the \
writer does not listen or the critic does not look: compare the two texts of the rounds. The metric `repeated` counts such \
findings.\n\nA stop condition on `stage.LABEL.repeated`, another model as critic, or `history = true` breaks such a circle.",
    },
    CodeInfo {
        code: ECHO,
        title: "the critic repeats the question",
        explanation: "A finding is the form of the answer that the question shows, word for word. It is left out.",
    },
    CodeInfo {
        code: CONTRADICTION,
        title: "the critic contradicts itself",
        explanation: "The reply says that the candidate is right and names what is wrong with it. The findings count: who names an \
error does not approve.",
    },
    CodeInfo {
        code: NOTHING_NAMED,
        title: "the critic objects and names nothing",
        explanation: "The reply says that the candidate is not right, and does not say what is wrong. There is nothing to act on, so \
the candidate is undecided.",
    },
    CodeInfo {
        code: UNKNOWN_ACTION,
        title: "the critic speaks of an action that does not exist",
        explanation: "A finding names an action that the candidate does not have. It may say that the action is missing, and then it is \
right; or the critic reviews a text that is not there. The finding stays as it is.",
    },
];
