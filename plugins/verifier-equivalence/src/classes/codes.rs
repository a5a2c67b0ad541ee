//! The codes of this plugin's diagnostics and failures.

use planforge_diagnostics::CodeInfo;
use planforge_plugin_common::judging::reference::Codes;

pub(crate) const OPTIONS: &str = "classes.options";
pub(crate) const ANSWER: &str = "classes.environment-answer";
pub(crate) const NO_REFERENCE: &str = "classes.no-reference";
pub(crate) const REFERENCE: &str = "classes.reference";
pub(crate) const MATERIAL: &str = "classes.material";
pub(crate) const CANCELLED: &str = "classes.cancelled";
pub(crate) const OTHER_PREDICATES: &str = "classes.other-predicates";
pub(crate) const DIFFERENT: &str = "classes.different";
pub(crate) const UNDECIDED: &str = "classes.undecided";
pub(crate) const UNKNOWN_ACTION: &str = "classes.unknown-action";

/// Of a reference that is not shown.
pub(crate) const SHOWN: Codes = Codes { answer: ANSWER, nothing: NO_REFERENCE, unreadable: REFERENCE };

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: OPTIONS,
        title: "an option of verifier-classes is out of range",
        explanation: "The message names the option and its range.",
    },
    CodeInfo {
        code: ANSWER,
        title: "the environment's answer is of the wrong kind",
        explanation: "A bug in the host or in the environment plugin: the answer to a description request is of another kind.",
    },
    CodeInfo {
        code: NO_REFERENCE,
        title: "the environment shows no model",
        explanation: "An action is classified in the place of the reference's, and by the plans of reference problems, so the task's \
environment has to show its reference model, as `environment-pddl` does by default.\n\nWith \
`behaviour = false` and `actions` in [given] the environment is not asked.",
    },
    CodeInfo {
        code: REFERENCE,
        title: "the reference cannot be used",
        explanation: "The domain or a problem that the environment shows has errors, or the two do not fit each other. It is a mistake in the \
suite, never in a candidate.\n\nCheck the reference with `planforge pddl validate`.",
    },
    CodeInfo {
        code: MATERIAL,
        title: "given actions cannot be read",
        explanation: "With `behaviour = false` actions are judged against the material `domain.header`, and named by the material `actions`. One of \
them is unreadable.",
    },
    CodeInfo {
        code: CANCELLED,
        title: "the run was interrupted",
        explanation: "The run was interrupted before this candidate was judged. `planforge run --resume RUN` goes on.",
    },
    CodeInfo {
        code: OTHER_PREDICATES,
        title: "the candidate's predicates are not the reference's",
        explanation: "An action takes the place of the reference's in the reference domain, so it has to be written over its predicates. The candidate \
declares others (a translator that may propose predicates does), so the actions cannot be classified; they are neither right \
nor wrong.\n\nGive the predicates (`mode = \"given\"` of translator-actions), or compare behaviour with `verifier-ew` or with \
`verifier-equivalence` and `what = \"domain\"`.",
    },
    CodeInfo {
        code: DIFFERENT,
        title: "an action makes another domain",
        explanation: "In the place of the reference's action, a reference problem has no plan any more (NoPlan), a plan becomes possible that is none of \
the reference (NPApp), or a plan of the reference becomes impossible (OPApp). The evidence has the plan.",
    },
    CodeInfo {
        code: UNDECIDED,
        title: "an action's behaviour is undecided",
        explanation: "A limit was reached before enough plans were found, or the domain uses an unsupported construct. It is never taken for a \
problem without a plan.\n\nRaise `max_nodes`, lower `k`, or give the stage more time.",
    },
    CodeInfo {
        code: UNKNOWN_ACTION,
        title: "the candidate has an action that the reference lacks",
        explanation: "A text of the candidate is under the name of an action that the reference does not have. It is not classified.",
    },
];
