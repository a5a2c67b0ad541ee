//! The codes of this plugin's diagnostics.

use planforge_diagnostics::CodeInfo;

pub(crate) const UNSUPPORTED: &str = "planner.unsupported";

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = &[CodeInfo {
    code: UNSUPPORTED,
    title: "the task uses something that the planner does not plan with",
    explanation: "The task has a construct that this planner's searches do not handle: \
durative actions, timed initial literals, preferences and trajectory constraints, numeric conditions; with `search = \"astar\"` \
or several plans also costs that depend on the state. The place is in the message. This says nothing about whether there is a plan.\n\nUse another \
planner, another `search`, or leave the construct out.",
}];
