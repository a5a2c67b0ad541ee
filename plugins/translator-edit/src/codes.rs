//! The codes of this plugin's failures and of the diagnostics about edits.

use planforge_diagnostics::CodeInfo;

pub(crate) const NO_DOMAIN: &str = "translate.no-domain-to-edit";
pub(crate) const NO_EDIT: &str = "translate.no-edit";
pub(crate) const EDIT_CUT_OFF: &str = "translate.edits-cut-off";
pub(crate) const EDIT_FORM: &str = "translate.edit-form";
pub(crate) const EDIT_FUNCTION: &str = "translate.edit-unknown-function";
pub(crate) const EDIT_LIMIT: &str = "translate.edit-limit";
pub(crate) const EDIT_OUTSIDE: &str = "translate.edit-outside-code";
pub(crate) const EDIT_PARENTHESES: &str = "translate.edit-parentheses";
pub(crate) const EDIT_TYPED: &str = "translate.edit-typed-atom";
pub(crate) const EDIT_ACTION: &str = "translate.edit-unknown-action";
pub(crate) const EDIT_SIGNATURE: &str = "translate.edit-signature";
pub(crate) const EDIT_NAME: &str = "translate.edit-unknown-name";
pub(crate) const EDIT_BREAKS: &str = "translate.edit-breaks-domain";
pub(crate) const EDIT_BREAKS_PROBLEM: &str = "translate.edit-breaks-problem";
pub(crate) const EDIT_NOT_THERE: &str = "translate.edit-not-there";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: NO_DOMAIN,
        title: "there is no domain to edit",
        explanation: "`translator-edit` changes the candidate's domain or, without one, the domain made from the action interface. That text \
has no readable action.\n\nLet the pipeline give the action interface, repair the suite's `domain.template`, or remove the candidate's \
domain before the stage (`forget = [\"domain\"]` of a refine stage).",
    },
    CodeInfo {
        code: NO_EDIT,
        title: "the reply calls none of the functions",
        explanation: "A model edits a domain by calls of `add_or_update_predicates` and `modify_action` (with `problem = true` also of \
`edit_objects`, `edit_initial_state` and `edit_goal`), and the reply has none. Nothing changes. A whole domain in a reply is not used: a model that writes one again also changes what was right, mostly \
signatures.\n\nThe next round tells the model so; an in-context example shows the form.",
    },
    CodeInfo {
        code: EDIT_CUT_OFF,
        title: "the reply was cut off between its calls",
        explanation: "The server cut the reply off at its token limit. The calls before the cut are applied; those after it are missing. A \
reply that is cut off before its first call is a failure (`reply.cut-off`).\n\nRaise `max_tokens` of the model table.",
    },
    CodeInfo {
        code: EDIT_FORM,
        title: "a call cannot be read",
        explanation: "Calls are read as Python text or JSON and never executed. Their arguments are strings, lists of strings, and names that \
were set to one of these before. Computed values and unclosed strings cannot be read.",
    },
    CodeInfo {
        code: EDIT_FUNCTION,
        title: "there is no such function",
        explanation: "A model that edits a domain can call `add_or_update_predicates` and `modify_action`, and with `problem = true` also \
`edit_objects`, `edit_initial_state` and `edit_goal`. It cannot add actions, or remove anything from the domain.",
    },
    CodeInfo {
        code: EDIT_LIMIT,
        title: "more calls than are read",
        explanation: "A reply of more than a megabyte is not searched for calls. Of more than 256 calls only the first ones are applied.",
    },
    CodeInfo {
        code: EDIT_OUTSIDE,
        title: "calls outside of the code blocks were not applied",
        explanation: "If a code block of the reply has a call, calls in the running text are taken as talk about calls. If no block has one, \
those in the text count.",
    },
    CodeInfo {
        code: EDIT_PARENTHESES,
        title: "the parentheses of an edit do not match",
        explanation: "Each string of a call holds whole lists of PDDL, such as `(at ?x ?y)` or `(and (a) (b))`. Text outside of all \
parentheses is refused, because it might be a condition. With `fixes = \"safe\"`, missing or surplus parentheses at the end of a string \
are repaired, and so is an atom without any, `at ?x ?y`.",
    },
    CodeInfo {
        code: EDIT_TYPED,
        title: "an atom in an edit names a type",
        explanation: "Types are declared where a predicate, an action or a quantifier lists its variables: `(at ?x - obj)` declares a \
predicate. In a condition or an effect the atom is `(at ?x)`. With `fixes = \"safe\"` the types are removed.",
    },
    CodeInfo {
        code: EDIT_ACTION,
        title: "an edit names an action that does not exist",
        explanation: "The actions and their names are those of the interface. None can be added or renamed.",
    },
    CodeInfo {
        code: EDIT_SIGNATURE,
        title: "an edit changes an action's parameters",
        explanation: "The environment is called with the parameters of an action. An edit replaces only its precondition and its effect. \
Naming the same parameters in the same order is allowed.",
    },
    CodeInfo {
        code: EDIT_NAME,
        title: "an edit uses an unknown name",
        explanation: "Arguments of an atom are parameters of the action or variables of a quantifier, both with a question mark, constants of \
the domain, or objects of the task.",
    },
    CodeInfo {
        code: EDIT_BREAKS,
        title: "an edit breaks the domain",
        explanation: "A predicate is declared anew with other parameters and no longer fits an action that uses it, and no edit of the same \
reply repairs that action. The declaration does not change. Edits that depend on the new one are refused with it.",
    },
    CodeInfo {
        code: EDIT_BREAKS_PROBLEM,
        title: "an edit would leave the problem without a goal",
        explanation: "With `problem = true` a model may edit the problem. A goal without conditions holds in every state, so the goal stays \
as it was. To replace a condition, remove it and add the other one in the same call.",
    },
    CodeInfo {
        code: EDIT_NOT_THERE,
        title: "an edit removes something that the problem does not have",
        explanation: "With `problem = true` a model may remove facts, conditions of the goal and objects. Facts and conditions are compared \
as PDDL, without regard to case and white space; a condition is a part of the goal's outermost conjunction.",
    },
];
