//! The templates that several translators render.

use serde::Serialize;

/// The system text of plain questions, which takes no values.
pub const SYSTEM_TEMPLATE: (&str, &str) = ("system", include_str!("../../templates/system.txt"));

/// Asks for PDDL again after a check; rendered with [`Revision`].
pub const REVISE_TEMPLATE: (&str, &str) = ("revise", include_str!("../../templates/revise.txt"));

/// The values of [`REVISE_TEMPLATE`].
#[derive(Debug, Serialize)]
pub struct Revision<'a> {
    /// The current domain, if the question shows it.
    pub domain: Option<&'a str>,
    /// The current problem, if the question shows it.
    pub problem: Option<&'a str>,
    /// The findings, one an entry.
    pub feedback: Vec<&'a str>,
    /// `domain`, `problem` or `domain and problem`.
    pub what: &'static str,
    /// True if the model is asked to reason first.
    pub reason: bool,
    /// The required form of the answer, if it has one.
    pub form: Option<String>,
}
