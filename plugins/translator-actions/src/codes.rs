//! The codes of this plugin's failures and diagnostics.

use planforge_diagnostics::CodeInfo;

pub(crate) const NOT_GIVEN: &str = "actions.not-given";
pub(crate) const FEW_EXAMPLES: &str = "actions.few-examples";
pub(crate) const TEMPLATE: &str = "actions.prompt-template";
pub(crate) const NO_REPLY: &str = "actions.no-reply";
pub(crate) const NO_ACTION: &str = "actions.no-action";
pub(crate) const UNKNOWN_ACTION: &str = "actions.unknown-action";
pub(crate) const BAD_PREDICATE: &str = "actions.bad-predicate";
pub(crate) const NOT_UNIFIED: &str = "actions.not-unified";
pub(crate) const UNUSED_PREDICATE: &str = "actions.unused-predicate";
pub(crate) const OPTIONS: &str = "actions.options";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: NOT_GIVEN,
        title: "the actions are not given in words",
        explanation: "The plugin writes actions from their descriptions. Let the pipeline file give them:\n\n    [given]\n    actions = \"base\"\n    action_examples = [\"../../examples/suites/miconic\"]",
    },
    CodeInfo {
        code: FEW_EXAMPLES,
        title: "there are fewer examples than each question shows",
        explanation: "In-context examples are actions of other suites. List more suites in `action_examples` of [given], or lower the \
option `examples`; 0 shows none.",
    },
    CodeInfo {
        code: TEMPLATE,
        title: "a prompt could not be put together",
        explanation: "One of the plugin's own prompt templates failed. This is a bug; please report it.",
    },
    CodeInfo {
        code: NO_REPLY,
        title: "the host answered without a reply",
        explanation: "A question for one action came back without any reply. The sample is a failure; the others go on.",
    },
    CodeInfo {
        code: NO_ACTION,
        title: "a reply holds no action",
        explanation: "No list that begins with (:action was found, or the server cut the reply off. The domain is put together without this \
action, or with as much of it as there is, so it is rejected where the action is needed, and the reply is kept.",
    },
    CodeInfo {
        code: UNKNOWN_ACTION,
        title: "an action is to be written that the suite does not describe",
        explanation: "The option `only` names an action that the suite has no description of.",
    },
    CodeInfo {
        code: BAD_PREDICATE,
        title: "a new predicate cannot be read",
        explanation: "In mode `grown` a reply may propose predicates, each as `(name ?x - type): what it says`. This line has another form, has a type that \
the domain does not declare, or declares a name again with other arguments, and is left out. An action that uses it anyway has an \
undeclared predicate then.",
    },
    CodeInfo {
        code: NOT_UNIFIED,
        title: "two predicates cannot be made one",
        explanation: "The last question of mode `grown` asks which predicates say the same. This line names one that there is not or \
that is replaced already, would close a circle, or names two with other arguments, and is left out.",
    },
    CodeInfo {
        code: UNUSED_PREDICATE,
        title: "a new predicate is in no action",
        explanation: "In mode `grown` a predicate that was proposed and that no action has in the end, as happens where an action is written \
again in the second pass, is not declared: it could only stand in goals that nothing achieves.",
    },
    CodeInfo {
        code: OPTIONS,
        title: "options that make no sense together",
        explanation: "`passes` is how often a domain with grown predicates is written, 1 or 2, and belongs to `mode = \"grown\"`.",
    },
];
