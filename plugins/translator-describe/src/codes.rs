//! The codes of this plugin's failures and diagnostics.

use planforge_diagnostics::CodeInfo;

pub(crate) const NOT_GIVEN: &str = "describe.not-given";
pub(crate) const TEMPLATE: &str = "describe.prompt-template";
pub(crate) const FEW_REPLIES: &str = "describe.too-few-replies";
pub(crate) const CUT_OFF: &str = "describe.cut-off";
pub(crate) const NO_TEXT: &str = "describe.no-text";
pub(crate) const SENTENCES: &str = "describe.sentences";
pub(crate) const TYPES: &str = "describe.types";
pub(crate) const UNNAMED: &str = "describe.unnamed";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: NOT_GIVEN,
        title: "the PDDL to describe is not given",
        explanation: "This plugin describes PDDL. Let the pipeline file give it:\n\n    [given]\n    domain = true\n    problem = true",
    },
    CodeInfo {
        code: TEMPLATE,
        title: "a prompt template cannot be rendered",
        explanation: "One of the plugin's own prompt templates failed. This is a bug; please report it.",
    },
    CodeInfo {
        code: FEW_REPLIES,
        title: "fewer replies than samples",
        explanation: "The samples without a reply fail. The provider's server may cap `n`.",
    },
    CodeInfo {
        code: CUT_OFF,
        title: "the server ended the reply before the model was done",
        explanation: "An incomplete text is not used. Raise `max_tokens` of the model, or look at the server's content filter.",
    },
    CodeInfo {
        code: NO_TEXT,
        title: "the reply has no text",
        explanation: "The reply was empty, or it repeated PDDL instead of describing it. Ask for more samples, or use \
another model.",
    },
    CodeInfo {
        code: SENTENCES,
        title: "the predicate sentences cannot be used",
        explanation: "The reply must hold one JSON object with an entry for every predicate:\n\n    {\"at\": {\"yes\": \"{1} is at \
{2}.\", \"no\": \"{1} is not at {2}.\"}}\n\n{1}, {2}, ... stand for the arguments, each of which must occur in both sentences. The message \
lists every mistake. Nothing is guessed: ask for more samples (`n`), or use another model.",
    },
    CodeInfo {
        code: TYPES,
        title: "the descriptions of types cannot be used",
        explanation: "The reply must hold one JSON object with a text for every type:\n\n    {\"room\": \"a room that balls lie in\"}\n\nThe \
message lists every mistake. Nothing is guessed: ask for more samples (`n`), or use another model.",
    },
    CodeInfo {
        code: UNNAMED,
        title: "the text leaves something out",
        explanation: "An object of the problem, or an action of the domain, is not named in the text. The text was used nevertheless: \
check it before you rely on it. The paper's authors also read and corrected theirs.",
    },
];
