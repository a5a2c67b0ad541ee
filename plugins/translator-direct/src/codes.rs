//! The codes of this plugin's failures. Those about a reply, `reply.*`, are the SDK's.

use planforge_diagnostics::CodeInfo;

pub(crate) const OPTIONS: &str = "translate.options";
pub(crate) const FROM_PROBLEM: &str = "translate.from-problem";
pub(crate) const NO_TEXT: &str = "translate.no-text";
pub(crate) const NO_EXAMPLE: &str = "translate.no-example";
pub(crate) const NO_TEMPLATE: &str = "translate.no-template";
pub(crate) const TEMPLATE: &str = "translate.prompt-template";
pub(crate) const FEW_REPLIES: &str = "translate.too-few-replies";
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

/// What `planforge explain` says about them.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: OPTIONS,
        title: "options of a translate stage do not go together",
        explanation: "`form = \"thought\"` is for the modes `domain`, `problem` and `update`; it takes the place of `reason`, and shows no \
in-context example. `artefact` is for `update` alone. All that is wrong is listed at once.",
    },
    CodeInfo {
        code: FROM_PROBLEM,
        title: "the domain was worked out from the problem alone",
        explanation: "There is no text about the domain, as with `[given] text = false`, and a problem: the question is then for the \
domain that this problem belongs to (Prob2Domain in the test-time-scaling paper). Names of actions are not in a problem; with \
`template = true` the question states them.\n\nWhere a text was meant to be translated, add `domain.nl` to the suite.",
    },
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
        explanation: "The stage sets `example = true` or `example = \"lead\"`, and one half of the example or both are not there. A problem's \
example is `example.text` and `example.problem` (the files `p_example.nl` and `p_example.pddl`), a domain's is \
`example.domain-text` and `example.domain`. The message also comes up, whatever the option says, where a suite has the PDDL of an \
example without its text: that is a mistake in the suite.\n\nAdd the missing text, name a suite that has it (`[given] example = \"SUITE\"`), or set `example = false`. The lead's text and problem are \
there behind a `fan_out` stage, for problems alone.",
    },
    CodeInfo {
        code: NO_TEMPLATE,
        title: "there is nothing to make a template from",
        explanation: "The stage sets `template = true` or `mode = \"edit\"`: the question then holds the beginning of the problem (its objects) or of \
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
    CodeInfo {
        code: NO_DOMAIN,
        title: "there is no domain to edit",
        explanation: "In mode `edit` a stage changes the candidate's domain, or the domain made from the action interface. The text \
at hand holds no action that can be read.\n\nLet the pipeline give the action interface, repair the suite's `domain.template`, or \
take the candidate's domain off before the stage (`forget = [\"domain\"]` of a refine stage).",
    },
    CodeInfo {
        code: NO_EDIT,
        title: "the reply calls neither of the two functions",
        explanation: "In mode `edit` a model changes a domain by calls of `add_or_update_predicates` and `modify_action`, and the reply \
has none. The domain stays as it is. A whole domain in a reply is not taken: a model that writes one again changes what was right, \
signatures above all.\n\nThe finding goes back to the model in the next round; an in-context example shows the form.",
    },
    CodeInfo {
        code: EDIT_CUT_OFF,
        title: "the reply was cut off between its calls",
        explanation: "The server cut the reply off at its token limit. The calls before that were made, and those after it are \
missing. A reply that was cut off before its first call is a failure (`reply.cut-off`).\n\nRaise `max_tokens` of the role.",
    },
    CodeInfo {
        code: EDIT_FORM,
        title: "a call cannot be read",
        explanation: "Calls are read as Python text or JSON, never executed: their arguments are strings, lists of strings, and names \
that were set to one of these before. Anything computed cannot be known, and a string that is not closed cannot be read.",
    },
    CodeInfo {
        code: EDIT_FUNCTION,
        title: "there is no such function",
        explanation: "A model that edits a domain can call `add_or_update_predicates` and `modify_action`. It cannot add actions, nor \
remove what is there.",
    },
    CodeInfo {
        code: EDIT_LIMIT,
        title: "more calls than are read",
        explanation: "A reply of more than a megabyte is not read for calls, and of more than 256 calls only the first ones are made.",
    },
    CodeInfo {
        code: EDIT_OUTSIDE,
        title: "calls outside of the code blocks were not made",
        explanation: "Where a reply has a code block with a call, calls in its running text are taken as talk about calls. Where no block \
has one, those in the text count.",
    },
    CodeInfo {
        code: EDIT_PARENTHESES,
        title: "the parentheses of an edit do not match",
        explanation: "Each string of a call holds whole lists of PDDL, such as `(at ?x ?y)` or `(and (a) (b))`. Text outside of all \
parentheses is not guessed at: it might be a condition that was meant. With `fixes = \"safe\"` parentheses missing or too many at \
the end of a string are put right, and so is an atom without any, `at ?x ?y`.",
    },
    CodeInfo {
        code: EDIT_TYPED,
        title: "an atom in an edit says a type",
        explanation: "Types are declared where a predicate, an action or a quantifier names its variables: `(at ?x - obj)` declares a \
predicate. In a condition or an effect the atom is `(at ?x)`. With `fixes = \"safe\"` the types are taken out.",
    },
    CodeInfo {
        code: EDIT_ACTION,
        title: "an edit names an action that does not exist",
        explanation: "The actions are those of the interface, and so are their names. None can be added or renamed.",
    },
    CodeInfo {
        code: EDIT_SIGNATURE,
        title: "an edit changes an action's parameters",
        explanation: "The parameters of an action are what the environment is called with. An edit replaces its precondition and its \
effect alone; naming the same parameters in the same order is no change.",
    },
    CodeInfo {
        code: EDIT_NAME,
        title: "an edit uses a name that stands for nothing",
        explanation: "Arguments of an atom are parameters of the action or variables of a quantifier, both with a question mark, \
constants of the domain, or objects of the task.",
    },
    CodeInfo {
        code: EDIT_BREAKS,
        title: "an edit breaks the domain",
        explanation: "A predicate declared anew with other parameters no longer fits an action that uses it, and no edit of the same reply \
puts that action right. The declaration stays as it was. Edits that depend on the new one are refused with it.",
    },
];
