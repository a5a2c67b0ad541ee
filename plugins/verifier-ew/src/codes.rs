//! The codes of this plugin's diagnostics and failures.

use planforge_diagnostics::CodeInfo;

pub(crate) const OPTIONS: &str = "ew.options";
pub(crate) const ANSWER: &str = "ew.environment-answer";
pub(crate) const REFERENCE: &str = "ew.reference";
pub(crate) const CANCELLED: &str = "ew.cancelled";
pub(crate) const STOPPED: &str = "ew.stopped";
pub(crate) const REFUSED_BY_ENVIRONMENT: &str = "ew.refused-by-environment";
pub(crate) const REFUSED_BY_CANDIDATE: &str = "ew.refused-by-candidate";
pub(crate) const NO_FIRST_ACTION: &str = "ew.no-first-action";
pub(crate) const NO_EFFECT: &str = "ew.no-effect";
pub(crate) const NOT_EDITED: &str = "ew.not-edited";
pub(crate) const NOT_SHARED: &str = "ew.not-shared";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: OPTIONS,
        title: "the options of verifier-ew contradict each other",
        explanation: "A coverage-guided walk depends on the walks before it, so it has no exact score, no confidence interval and \
no race; a race draws walks, so it has no exact score. The message names the options and a valid setting.",
    },
    CodeInfo {
        code: ANSWER,
        title: "the environment's answer is of the wrong kind",
        explanation: "A bug in the host or in the environment plugin: the answer to a request for walks is of \
another kind, or has the wrong number of entries.",
    },
    CodeInfo {
        code: REFERENCE,
        title: "the environment's model cannot be used",
        explanation: "The environment declares a model, and its domain or problem cannot be read or grounded. It is a \
mistake in the suite, never in a candidate.\n\nCheck the reference with `planforge pddl validate`.",
    },
    CodeInfo {
        code: CANCELLED,
        title: "the run was interrupted",
        explanation: "The run was interrupted before this candidate was judged. `planforge run --resume RUN` goes on.",
    },
    CodeInfo {
        code: STOPPED,
        title: "a limit ended the comparison",
        explanation: "The host's deadline or a limit on ground actions was reached before the walks were compared. The candidate \
is undecided: nothing is known about it.",
    },
    CodeInfo {
        code: REFUSED_BY_ENVIRONMENT,
        title: "the environment refuses what the candidate allows",
        explanation: "An exploration walk of the candidate's domain and problem was tried in the environment, which refuses its last \
action. A precondition is missing, or an effect or the initial state is wrong. The message names the shortest such walk that was \
found.",
    },
    CodeInfo {
        code: REFUSED_BY_CANDIDATE,
        title: "the candidate refuses what the environment executes",
        explanation: "An exploration walk of the environment was tried on the candidate's domain and problem, which refuse its last \
action. A precondition is too strong, or an effect or the initial state is wrong, or the action or an object is missing. The \
message names the shortest such walk that was found.",
    },
    CodeInfo {
        code: NO_FIRST_ACTION,
        title: "no action can be executed initially",
        explanation: "One side has no applicable ground action in its initial state, so it has no walks: that direction of the metric \
is not defined, and the other one is still reported.",
    },
    CodeInfo {
        code: NO_EFFECT,
        title: "an action has no effect",
        explanation: "An action of the candidate's domain changes nothing in any state, and the environment's action of that name is \
not known to change nothing either. Such a domain is not compared: it is rated as failing the sanity check of the paper's Appendix B.3.",
    },
    CodeInfo {
        code: NOT_EDITED,
        title: "the reply changed nothing",
        explanation: "Edits of the domain were requested, and the reply had none, or none that could be applied. The domain \
did not change, so it is rated below every edited one (Appendix B.3).",
    },
    CodeInfo {
        code: NOT_SHARED,
        title: "candidate and environment have nothing in common",
        explanation: "The metric needs the same actions and objects on both sides (Definition 1), and here no action, or no object, \
of the environment is in the candidate. Single missing actions and objects are refusals and make the score lower instead.",
    },
];
