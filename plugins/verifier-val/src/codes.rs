//! The codes of this plugin's diagnostics and failures.

use planforge_diagnostics::CodeInfo;

pub(crate) const REFUSED: &str = "verify.environment-refused";
pub(crate) const GOAL: &str = "verify.environment-goal";
pub(crate) const ANSWER: &str = "verify.environment-answer";
pub(crate) const VAL: &str = "verify.val";
pub(crate) const VAL_BROKE: &str = "verify.val-broke";
pub(crate) const OPTIONS: &str = "verify.options";
pub(crate) const CLAIMED_STATE: &str = "verify.claimed-state";
pub(crate) const CLAIMED_GOAL: &str = "verify.claimed-goal";
pub(crate) const CLAIMED_VALIDITY: &str = "verify.claimed-validity";
pub(crate) const CLAIMED_COST: &str = "verify.claimed-cost";
pub(crate) const NOT_OPTIMAL: &str = "verify.not-optimal";
pub(crate) const EMPTY: &str = "verify.empty-domain";
pub(crate) const CANCELLED: &str = "verify.cancelled";

/// Codes of a reference that is not shown.
pub(crate) const SHOWN: planforge_plugin_common::judging::reference::Codes =
    planforge_plugin_common::judging::reference::Codes {
        answer: ANSWER,
        nothing: ANSWER,
        unreadable: ANSWER,
    };

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: EMPTY,
        title: "the written domain is empty",
        explanation: "None of its actions has an effect. A copy of the action interface that a prompt shows, with its empty preconditions and effects, is \
such a domain: every parser reads it, and it describes nothing. It is rejected by planforge's reader and by `parser = \"val\"`; the metric `val_accepts` \
has VAL's own answer.",
    },
    CodeInfo {
        code: REFUSED,
        title: "the environment refuses a step of the plan",
        explanation: "The stage judges the plan `against = \"environment\"`, and the environment does not execute one of its steps. \
The plan may still be valid for the candidate's own domain and problem: then these differ from the reference. The diagnostic and \
the feedback name only the step, because the reference is withheld from the candidate; the environment's reasons are in \
the assessment's evidence.",
    },
    CodeInfo {
        code: GOAL,
        title: "the plan does not reach the environment's goal",
        explanation: "The stage judges the plan `against = \"environment\"`: every step was executed, and the goal of the task does \
not hold in the end. The plan may still be valid for the candidate's own problem: then its goal or initial state differs from \
the reference. The missing goals are in the assessment's evidence and never in the feedback.",
    },
    CodeInfo {
        code: ANSWER,
        title: "the environment's answer is of the wrong kind",
        explanation: "A bug in the host or in the environment plugin: the answer to a plan is of another kind.",
    },
    CodeInfo {
        code: VAL,
        title: "VAL cannot be run",
        explanation: "The stage sets `backend = \"val\"` or `parser = \"val\"`, and the program is not installed, not on the search path, or has no folder \
for its files. `planforge doctor` lists the installed programs. Nothing was judged: the candidate is neither accepted nor rejected.",
    },
    CodeInfo {
        code: VAL_BROKE,
        title: "VAL's Parser ended without an answer",
        explanation: "The stage sets `parser = \"val\"`, and the program crashed, was ended, or printed no count of errors. VAL crashes \
on some texts, whatever their quality, so the candidate is neither accepted nor rejected, and tables count it separately.",
    },
    CodeInfo {
        code: OPTIONS,
        title: "the options contradict each other",
        explanation: "VAL judges a plan by files, so `backend = \"val\"` goes with `against = \"candidate\"`; an environment judges \
plans itself. VAL's Parser reads PDDL, so `parser = \"val\"` goes with `what = \"pddl\"` or `what = \"domain\"`.",
    },
    CodeInfo {
        code: CLAIMED_STATE,
        title: "a claimed fact is false",
        explanation: "The stage compares claims (`claims = true`), and the model that wrote the plan claimed a fact that is \
false in that state: it lost track of its steps' effects (test-time-scaling paper, section 4.6, incorrect state transition \
estimation). The verdict on the plan does not depend on it. States behind the first step that cannot be executed are not compared.",
    },
    CodeInfo {
        code: CLAIMED_GOAL,
        title: "the claim about the goal is false",
        explanation: "The model claimed that its plan reaches the goal although it does not, or the reverse (section 4.6, \
incorrect goal achievement estimation). A plan that cannot be executed to its end reaches nothing.",
    },
    CodeInfo {
        code: CLAIMED_VALIDITY,
        title: "the claim about the plan's validity is false",
        explanation: "The model called its plan valid although it is not, or the reverse: when it wrote the plan, or as the critic \
that the option `critic` names (section 4.6, incorrect self-evaluation).",
    },
    CodeInfo {
        code: CLAIMED_COST,
        title: "the claim about the plan's cost is false",
        explanation: "The cost that the model gave for its plan is not the plan's, by the problem's metric or else its number of \
steps. Costs are compared where the plan is executed to its end.",
    },
    CodeInfo {
        code: NOT_OPTIMAL,
        title: "a cheaper plan exists",
        explanation: "The plan is valid, an optimal one was asked for, and A* found a cheaper one. The plan stays accepted. If the \
search ends at `optimal_nodes`, the metric `not_optimal` is absent.",
    },
    CodeInfo {
        code: CANCELLED,
        title: "the run was interrupted",
        explanation: "The run was interrupted before this candidate was judged. `planforge run --resume RUN` goes on.",
    },
];
