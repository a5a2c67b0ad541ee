//! The texts of a suite.

/// The documents of a suite. All names and words are collected before the first is replaced.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    pub suite: String,
    /// Every domain of it.
    pub domains: Vec<String>,
    /// Every problem of it.
    pub problems: Vec<String>,
    /// Every text in plain language.
    pub texts: Vec<String>,
}
