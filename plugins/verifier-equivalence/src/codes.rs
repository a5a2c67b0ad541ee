//! The codes of this plugin's diagnostics and failures.

use planforge_diagnostics::CodeInfo;

pub(crate) const OPTIONS: &str = "equivalence.options";
pub(crate) const ANSWER: &str = "equivalence.environment-answer";
pub(crate) const NO_REFERENCE: &str = "equivalence.no-reference";
pub(crate) const REFERENCE: &str = "equivalence.reference";
pub(crate) const CANCELLED: &str = "equivalence.cancelled";
pub(crate) const OTHER_DOMAIN: &str = "equivalence.other-domain";
pub(crate) const MISSING: &str = "equivalence.missing";
pub(crate) const EXTRA: &str = "equivalence.extra";
pub(crate) const INTERFACE: &str = "equivalence.interface";
pub(crate) const BEHAVIOUR: &str = "equivalence.behaviour";

/// Of a reference that is not shown.
pub(crate) const SHOWN: planforge_plugin_common::judging::reference::Codes =
    planforge_plugin_common::judging::reference::Codes {
        answer: ANSWER,
        nothing: NO_REFERENCE,
        unreadable: REFERENCE,
    };

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: OPTIONS,
        title: "an option of verifier-equivalence is out of range",
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
        explanation: "Equivalence is a property of two problems, so the task's environment has to show its \
reference model, as `environment-pddl` does by default.\n\nAn environment that can only be tried is compared by exploration \
walks: use `verifier-ew`.",
    },
    CodeInfo {
        code: REFERENCE,
        title: "the reference cannot be read",
        explanation: "The domain or the problem that the environment shows has syntax errors. It is a mistake in the suite, never \
in a candidate.\n\nCheck the reference with `planforge pddl validate`.",
    },
    CodeInfo {
        code: CANCELLED,
        title: "the run was interrupted",
        explanation: "The run was interrupted before this candidate was judged. `planforge run --resume RUN` goes on.",
    },
    CodeInfo {
        code: OTHER_DOMAIN,
        title: "the candidate's problem is written over another domain",
        explanation: "Two problems are compared over one domain: the same types, constants, predicates, functions, actions and rules, \
whatever the order, the layout, the names of parameters, the domain's name and its requirements. The candidate has another \
domain, so they cannot be compared; the candidate is neither right nor wrong.\n\nGive the domain (`[given] domain = true`), or \
compare behaviour with `verifier-ew`.",
    },
    CodeInfo {
        code: MISSING,
        title: "the candidate's problem lacks a part of the reference",
        explanation: "Under the best renaming of objects that was found (the fewest unmatched facts), nothing in the \
candidate's problem corresponds to this object or fact. The message has the reference's names, so it is for the record and never for a \
model.",
    },
    CodeInfo {
        code: EXTRA,
        title: "the candidate's problem has a part that the reference lacks",
        explanation: "Under the best renaming of objects that was found (the fewest unmatched facts), nothing in the \
reference corresponds to this object or fact of the candidate's.",
    },
    CodeInfo {
        code: INTERFACE,
        title: "the candidate's domain cannot replace the reference",
        explanation: "Domains are compared by the ground actions of one problem, so the candidate needs the reference's actions with as many \
parameters, and the types, predicates and functions that the reference problem uses. Without them they cannot be compared; the \
candidate is neither right nor wrong.\n\nState the action interface in the prompt, or set `interface = \"matched\"`, which searches a \
renaming of actions, parameters and types.",
    },
    CodeInfo {
        code: BEHAVIOUR,
        title: "the candidate's domain behaves differently from the reference",
        explanation: "On the reference problem there is a sequence of actions that one executes and the other refuses, or after which the goal \
holds in only one, or a plan of one that is not a plan of the other. The evidence has it, in the reference's names: it is for the record and \
never for a model.",
    },
];
