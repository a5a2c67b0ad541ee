//! The codes of this plugin's failures.

use planforge_diagnostics::CodeInfo;

pub(crate) const NO_TEXT: &str = "planner.no-text";
pub(crate) const NO_EXAMPLE: &str = "planner.no-example";
pub(crate) const TEMPLATE: &str = "planner.prompt-template";
pub(crate) const CUT_OFF: &str = "planner.cut-off";
pub(crate) const FILTERED: &str = "planner.filtered";
pub(crate) const NO_PLAN: &str = "planner.no-plan";
pub(crate) const NO_REPLY: &str = "planner.no-reply";
pub(crate) const UNREADABLE_STEP: &str = "planner.unreadable-step";
pub(crate) const SCATTERED_PLAN: &str = "planner.scattered-plan";
pub(crate) const SEVERAL_REPLIES: &str = "planner.llm-several-plans";
pub(crate) const NOTHING_TO_EXPLAIN: &str = "planner.nothing-to-explain";
pub(crate) const NO_EXPLANATION: &str = "planner.no-explanation";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: NO_TEXT,
        title: "there is nothing to plan for",
        explanation: "A language model that plans by itself needs to know the domain (its PDDL or the text `domain.nl`) and \
the task (its PDDL or the text `p01.nl`). One of the two is missing in both forms.\n\nAdd the text to the suite's \
folder.",
    },
    CodeInfo {
        code: NO_EXAMPLE,
        title: "the suite has no solved example",
        explanation: "The stage sets `example = true`, and the suite lacks `example.text` or `example.plan` (the files \
`p_example.nl` and `p_example.sol`); or the option is left out and the suite has a plan without its text.\n\nAdd the missing \
text, or set `example = false`.",
    },
    CodeInfo {
        code: TEMPLATE,
        title: "a prompt template cannot be rendered",
        explanation: "A bug in this plugin: a prompt template names a value that is missing.\n\n\
Please report it with the message.",
    },
    CodeInfo {
        code: CUT_OFF,
        title: "the reply was cut off",
        explanation: "The server ended the reply at its token limit. The rest is unknown, so no plan is read from \
it.\n\nRaise `max_tokens` of the model table; with `chain_of_thought = true` replies are several times as long.",
    },
    CodeInfo {
        code: FILTERED,
        title: "the server filtered the reply",
        explanation: "The server's content filter ended the reply, so no plan is read from it.",
    },
    CodeInfo {
        code: NO_PLAN,
        title: "the reply holds no plan",
        explanation: "The model answered, and no line of its reply is a readable step: `(name argument ...)`, or in \
a code block also `name(argument, ...)` and `name argument ...` for a known action. This is a failure of the planner and no \
statement about the task: neither that there is no plan nor that a plan was wrong.\n\nShow the model an example \
(`example.text`, `example.plan`), or use another model.",
    },
    CodeInfo {
        code: NO_REPLY,
        title: "the host answered without a reply",
        explanation: "One reply was asked for, and none came back.",
    },
    CodeInfo {
        code: UNREADABLE_STEP,
        title: "a line of the plan is not a step",
        explanation: "The plan in the reply has a line that is neither blank, nor a comment, nor a step. Without it the plan would \
be another one, and a guess at `put b1 down gently` would credit the model with the reader's work, so the whole reply \
fails. The message quotes each such line.",
    },
    CodeInfo {
        code: SCATTERED_PLAN,
        title: "the reply has steps in several places",
        explanation: "The reply has no code block, and its steps have other text between them: the plan is \
ambiguous.\n\nKeep the instruction to write a code block if you replace the system text.",
    },
    CodeInfo {
        code: SEVERAL_REPLIES,
        title: "a language model gives one plan",
        explanation: "The plan stage asks for several plans (`k` above 1), and this planner answers with one: several samples of a \
model are neither different nor ranked.\n\nUse a planner for top-k planning, or several samples of the whole candidate.",
    },
    CodeInfo {
        code: NOTHING_TO_EXPLAIN,
        title: "the plan has no steps",
        explanation: "The goal holds in the initial state, so the plan is empty and there is nothing to explain.",
    },
    CodeInfo {
        code: NO_EXPLANATION,
        title: "the explainer's reply is empty",
        explanation: "The model that explains the plan replied with an empty text. The plan and its validation are not affected.",
    },
];
