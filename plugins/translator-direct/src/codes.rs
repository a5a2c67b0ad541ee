//! The codes of this plugin's failures. Those about a reply, `reply.*`, are the SDK's.

use planforge_diagnostics::CodeInfo;

pub(crate) const NO_TEXT: &str = "translate.no-text";
pub(crate) const NO_EXAMPLE: &str = "translate.no-example";
pub(crate) const NO_TEMPLATE: &str = "translate.no-template";
pub(crate) const TEMPLATE: &str = "translate.prompt-template";
pub(crate) const FEW_REPLIES: &str = "translate.too-few-replies";

/// What `planforge explain` says about them.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: NO_TEXT,
        title: "there is no text to translate",
        explanation: "A translator writes PDDL from the task's text (`p01.nl`) and, where no domain is given, from the text \
about the domain (`domain.nl`). The suite has no such text, or it is empty.\n\nAdd the text to the suite's folder, or give \
the domain as PDDL.",
    },
    CodeInfo {
        code: NO_EXAMPLE,
        title: "the suite has no in-context example",
        explanation: "The stage sets `example = true`, and the suite lacks one half of the example or both. A problem's \
example is `example.text` and `example.problem` (the files `p_example.nl` and `p_example.pddl`), a domain's is \
`example.domain-text` and `example.domain`. The message also comes up, whatever the option says, where a suite has the PDDL of an \
example without its text: that is a mistake in the suite.\n\nAdd the missing text, or set `example = false`.",
    },
    CodeInfo {
        code: NO_TEMPLATE,
        title: "there is nothing to make a template from",
        explanation: "The stage sets `template = true`: the question then holds the beginning of the problem (its objects) or of \
the domain (the signatures of its actions). Both come from the suite's texts `objects.template` and `domain.template` or from the \
action interface, and neither is there.\n\nLet the pipeline give the interface and the objects, or add the text to the suite.",
    },
    CodeInfo {
        code: TEMPLATE,
        title: "a prompt template cannot be rendered",
        explanation: "A fault of this plugin: one of its own prompt templates does not fit the values it is filled with.\n\n\
Please report it with the message.",
    },
    CodeInfo {
        code: FEW_REPLIES,
        title: "fewer replies than samples",
        explanation: "The host answered with fewer replies than were asked for. The missing samples failed; the others go on.",
    },
];
