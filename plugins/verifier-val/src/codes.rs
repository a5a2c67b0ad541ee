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
pub(crate) const CANCELLED: &str = "verify.cancelled";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: REFUSED,
        title: "the environment refuses a step of the plan",
        explanation: "The stage judges the plan `against = \"environment\"`, and the environment does not execute one of its steps. \
The plan may still be valid for the candidate's own domain and problem: then these differ from what was meant. The diagnostic and \
the feedback name the step alone, because the reference is withheld from the candidate; what the environment said about it is in \
the assessment's evidence.",
    },
    CodeInfo {
        code: GOAL,
        title: "the plan does not reach the environment's goal",
        explanation: "The stage judges the plan `against = \"environment\"`: every step was executed, and the goal of the task does \
not hold in the end. The plan may still be valid for the candidate's own problem: then its goal or initial state differs from what \
was meant. What is missing is in the assessment's evidence and never in the feedback.",
    },
    CodeInfo {
        code: ANSWER,
        title: "the environment answered another question",
        explanation: "A fault of the host or of the environment plugin: a plan was to be judged, and the answer is of another kind.",
    },
    CodeInfo {
        code: VAL,
        title: "VAL cannot be run",
        explanation: "The stage says `backend = \"val\"` or `parser = \"val\"`, and the program is not installed, not on the search path, or has no folder \
for its files. `planforge doctor` lists what is there. Nothing was judged: the candidate is neither accepted nor rejected.",
    },
    CodeInfo {
        code: VAL_BROKE,
        title: "VAL's Parser ended without an answer",
        explanation: "The stage says `parser = \"val\"`, and the program crashed, was ended, or printed no count of errors. VAL crashes \
on some texts; that says nothing about the domain, so the candidate is neither accepted nor rejected, and tables count it apart.",
    },
    CodeInfo {
        code: OPTIONS,
        title: "the options contradict each other",
        explanation: "VAL judges a plan by files, so `backend = \"val\"` goes with `against = \"candidate\"`; an environment judges \
plans itself. VAL's Parser reads PDDL, so `parser = \"val\"` goes with `what = \"pddl\"` or `what = \"domain\"`.",
    },
    CodeInfo {
        code: CLAIMED_STATE,
        title: "what the model says is true after a step is not",
        explanation: "The stage compares claims (`claims = true`), and the model that wrote the plan said of a state something that is \
not the case there: it lost track of what its steps change (test-time-scaling paper, section 4.6, incorrect state transition \
estimation). The verdict on the plan does not depend on it. States behind the first step that cannot be executed are not compared.",
    },
    CodeInfo {
        code: CLAIMED_GOAL,
        title: "what the model says about reaching the goal is not so",
        explanation: "The model said that its plan reaches the goal and it does not, or that it does not and it does (section 4.6, \
incorrect goal achievement estimation). A plan that cannot be executed to its end reaches nothing.",
    },
    CodeInfo {
        code: CLAIMED_VALIDITY,
        title: "the model judges its plan wrongly",
        explanation: "The model called its plan valid and it is not, or the other way round: when it wrote the plan, or as the critic \
that the option `critic` names (section 4.6, incorrect self-evaluation).",
    },
    CodeInfo {
        code: CLAIMED_COST,
        title: "the plan does not cost what the model says",
        explanation: "The cost that the model gave for its plan is not the plan's, by the problem's metric or else its number of \
steps. Costs are compared where the plan is executed to its end.",
    },
    CodeInfo {
        code: NOT_OPTIMAL,
        title: "a cheaper plan exists",
        explanation: "The plan is valid, an optimal one was asked for, and A* found a cheaper one. The plan stays accepted. Where the \
search ends at `optimal_nodes` nothing is said, and the metric `not_optimal` is absent.",
    },
    CodeInfo {
        code: CANCELLED,
        title: "the run was interrupted",
        explanation: "The run was interrupted before this candidate was judged. `planforge run --resume RUN` goes on.",
    },
];
