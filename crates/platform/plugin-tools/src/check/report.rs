//! Results of checks.

use planforge_contract::{Failure, PluginKind};
use serde::Serialize;

/// The checks of one plugin, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PluginReport {
    /// The plugin's id.
    pub plugin: String,
    /// Its kind, if it could be described.
    pub kind: Option<PluginKind>,
    /// One entry per check.
    pub checks: Vec<Check>,
}

impl PluginReport {
    /// True if no check failed.
    pub fn is_passed(&self) -> bool {
        self.first_failed().is_none()
    }

    /// The first check that failed.
    pub fn first_failed(&self) -> Option<&Check> {
        self.checks.iter().find(|check| check.status == CheckStatus::Failed)
    }

    /// The check of that name.
    pub fn check(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name)
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Stable name, such as `determinism`.
    #[serde(rename = "check")]
    pub name: String,
    /// Passed, failed or not applicable.
    pub status: CheckStatus,
    /// The observation, or the reason of the status, on one line.
    pub detail: String,
    /// The failure of the plugin that failed the check; none if an answer was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// The plugin meets the requirement.
    Passed,
    /// The plugin does not meet it.
    Failed,
    /// The requirement does not concern this plugin, or an earlier failure prevents the check.
    NotApplicable,
}

impl CheckStatus {
    /// The word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::NotApplicable => "not applicable",
        }
    }
}

impl Check {
    pub(crate) fn passed(name: &str, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), status: CheckStatus::Passed, detail: detail.into(), failure: None }
    }

    pub(crate) fn wrong(name: &str, detail: impl Into<String>) -> Self {
        Self { status: CheckStatus::Failed, ..Self::passed(name, detail) }
    }

    pub(crate) fn broke(name: &str, failure: &Failure) -> Self {
        let help = failure.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        Self { failure: Some(failure.clone()), ..Self::wrong(name, format!("{failure}{help}")) }
    }

    pub(crate) fn not_applicable(name: &str, detail: impl Into<String>) -> Self {
        Self { status: CheckStatus::NotApplicable, ..Self::passed(name, detail) }
    }
}
