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
        title: "there are fewer examples than each request shows",
        explanation: "In-context examples are actions of other suites. List more suites in `action_examples` of [given], or lower the \
option `examples`; 0 shows none.",
    },
    CodeInfo {
        code: TEMPLATE,
        title: "a prompt template cannot be rendered",
        explanation: "One of the plugin's own prompt templates failed. This is a bug; please report it.",
    },
    CodeInfo {
        code: NO_REPLY,
        title: "the host answered without a reply",
        explanation: "A request for one action returned no reply. The sample fails; the others go on.",
    },
    CodeInfo {
        code: NO_ACTION,
        title: "a reply has no action",
        explanation: "No list that begins with (:action was found, or the server cut the reply off. The domain is built without this \
action, or with the part that exists, so it is rejected if the action is needed. The reply is kept.",
    },
    CodeInfo {
        code: UNKNOWN_ACTION,
        title: "a requested action has no description",
        explanation: "The option `only` names an action that the suite does not describe.",
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
        title: "two predicates cannot be unified",
        explanation: "The last question of mode `grown` asks which predicates have the same meaning. This line names an unknown or \
replaced predicate, would close a circle, or names two with different arguments, and is left out.",
    },
    CodeInfo {
        code: UNUSED_PREDICATE,
        title: "a new predicate is not used by any action",
        explanation: "In mode `grown` a proposed predicate that no action uses in the end is not declared, for example because an action was \
written again in the second pass. It could only occur in goals that no action achieves.",
    },
    CodeInfo {
        code: OPTIONS,
        title: "contradicting options",
        explanation: "`passes`, 1 or 2, needs `mode = \"grown\"`: it is the number of times that a domain with grown predicates is written.",
    },
];
