//! Lines of PDDL in feedback.

/// A line of the candidate's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// `domain`, `problem` or `plan`.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// The line without indentation; empty where there is nothing to show.
    pub text: String,
}
