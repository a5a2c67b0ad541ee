//! The codes of the failures that the translators share.

use planforge_diagnostics::CodeInfo;

pub(crate) const FROM_PROBLEM: &str = "translate.from-problem";
pub(crate) const NO_TEXT: &str = "translate.no-text";
pub(crate) const ZERO_SHOT: &str = "translate.zero-shot";
/// The code of a missing or unusable in-context example.
pub const NO_EXAMPLE: &str = "translate.no-example";
pub(crate) const NO_TEMPLATE: &str = "translate.no-template";
/// The code of a prompt template that cannot be rendered.
pub const PROMPT_TEMPLATE: &str = "translate.prompt-template";
pub(crate) const FEW_REPLIES: &str = "translate.too-few-replies";
pub(crate) const NO_GRAMMAR: &str = "translate.no-grammar";
pub(crate) const JSON_REPLY: &str = "translate.json-reply";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: FROM_PROBLEM,
        title: "the domain was worked out from the problem alone",
        explanation: "The task has a problem but no text about the domain, as with `[given] text = false`. The model is then asked for the \
domain that this problem belongs to (Prob2Domain in the test-time-scaling paper). A problem does not name the actions; with \
`template = true` the question lists them.\n\nIf a text should have been translated, add `domain.nl` to the suite.",
    },
    CodeInfo {
        code: NO_TEXT,
        title: "there is no text to translate",
        explanation: "A translator writes PDDL from the task's text (`p01.nl`) and, if no domain is given, from the text about the domain \
(`domain.nl`). The suite has no such text, or it is empty.\n\nAdd the text to the suite's folder, or give the domain as PDDL.",
    },
    CodeInfo {
        code: NO_EXAMPLE,
        title: "the suite has no in-context example",
        explanation: "The stage sets `example = true` or `example = \"lead\"`, and a part of the example is missing. The example of a problem \
is `example.text` and `example.problem` (the files `p_example.nl` and `p_example.pddl`). The example of a domain is \
`example.domain-text` and `example.domain`. A suite that has the PDDL of an example without its text is reported whatever the option \
is.\n\nAdd the missing text, name a suite that has it (`[given] example = \"SUITE\"`), or set `example = false`. The example \
`\"lead\"` exists behind a `fan_out` stage, and for problems only.",
    },
    CodeInfo {
        code: ZERO_SHOT,
        title: "the request has no in-context example",
        explanation: "The pipeline gives the suite's own example of a problem, and the suite has none: the request has no example \
(zero-shot), so the result is not one of a method with an example, such as LLM+P.\n\nAdd `p_example.nl` and `p_example.pddl` to the \
suite, name a suite that has them (`[given] example = \"SUITE\"`), or set `example = false` in the stage.",
    },
    CodeInfo {
        code: NO_TEMPLATE,
        title: "there is nothing to make a template from",
        explanation: "With `template = true`, and always in `translator-edit`, the request contains a template: a problem with its objects, or \
a domain with the signatures of its actions. Templates come from the suite's texts `objects.template` and `domain.template`, or from \
the action interface. The task has neither.\n\nLet the pipeline give the interface and the objects, or add the text to the suite.",
    },
    CodeInfo {
        code: PROMPT_TEMPLATE,
        title: "a prompt template cannot be rendered",
        explanation: "A bug in a plugin: a prompt template names a value that is missing.\n\nPlease report it with the message.",
    },
    CodeInfo {
        code: NO_GRAMMAR,
        title: "a request has no grammar, and the stage requires one",
        explanation: "With `grammar = \"require\"` every request of the stage has a grammar. The grammar of a problem is made from its domain, \
which is not known or cannot be read here; other requests have none at all, as the message says.\n\nWrite `grammar = \"prefer\"` in the \
stage's options, or `grammar = \"off\"`.",
    },
    CodeInfo {
        code: JSON_REPLY,
        title: "a reply in JSON does not follow its schema",
        explanation: "The request had a JSON schema of the PDDL, and the reply is JSON of another form. So the server does not enforce \
schemas.\n\nRemove `grammar` from the model table, or name what the server enforces.",
    },
    CodeInfo {
        code: FEW_REPLIES,
        title: "fewer replies than samples",
        explanation: "The host returned fewer replies than were requested. The missing samples fail; the others go on.",
    },
];
