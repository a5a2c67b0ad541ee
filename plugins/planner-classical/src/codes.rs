//! The codes of this plugin's diagnostics.

use planforge_diagnostics::CodeInfo;

pub(crate) const UNSUPPORTED: &str = "planner.unsupported";
pub(crate) const SEVERAL_PLANS: &str = "planner.several-plans";

/// What `planforge explain` says about them.
pub static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: UNSUPPORTED,
        title: "the task uses something that the planner does not plan with",
        explanation: "The domain or the problem was understood, and holds a construct that this planner's searches do not handle: \
durative actions, timed initial literals, preferences and trajectory constraints, numeric conditions; with `search = \"astar\"` \
also costs that depend on the state. The place is in the message. This says nothing about whether there is a plan.\n\nUse another \
planner, another `search`, or leave the construct out.",
    },
    CodeInfo {
        code: SEVERAL_PLANS,
        title: "the planner finds one plan",
        explanation: "The plan stage asks for several plans (`k` above 1), and this planner finds one.\n\nSet `k = 1`, or use a \
planner for top-k planning.",
    },
];
