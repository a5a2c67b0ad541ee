//! The services of the host that each kind of plugin may call. The host and the test host enforce the same
//! table.

use planforge_contract::{Capabilities, Failure, PluginInfo, PluginKind};

/// A service of the host that is not open to every kind. Log, progress, cancelled and remaining time are open
/// to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question {
    /// [`crate::Host::complete`].
    Complete,
    /// [`crate::Host::environment`].
    Environment,
    /// [`crate::Host::plan`].
    Plan,
    /// [`crate::Host::worker`].
    Worker,
    /// [`crate::Host::rate_limits`].
    RateLimits,
}

impl Question {
    /// All services.
    pub const ALL: [Self; 5] =
        [Self::Complete, Self::Environment, Self::Plan, Self::Worker, Self::RateLimits];

    /// The method's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Environment => "environment",
            Self::Plan => "plan",
            Self::Worker => "worker",
            Self::RateLimits => "rate-limits",
        }
    }
}

/// True if a plugin of that kind with these capabilities may call the service.
pub fn may(kind: PluginKind, capabilities: &Capabilities, question: Question) -> bool {
    match (kind, question) {
        (PluginKind::Translator, Question::Worker) => capabilities.worker,
        (PluginKind::Translator, Question::Complete)
        | (PluginKind::Verifier, Question::Complete | Question::Environment | Question::Plan)
        | (PluginKind::Planner, Question::Complete | Question::Worker)
        | (PluginKind::Provider, Question::RateLimits) => true,
        _ => false,
    }
}

/// Refuses what [`may`] forbids.
///
/// # Errors
/// `host.forbidden`, naming plugin, kind and question.
pub fn check(info: &PluginInfo, question: Question) -> Result<(), Failure> {
    if may(info.kind, &info.capabilities, question) {
        return Ok(());
    }
    let mut failure = Failure::forbidden(question.name());
    failure.message = format!("`{}` is a {} and may not call `{}`", info.id, info.kind, question.name());
    Err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_design_s() {
        let rights = |kind, capabilities: &Capabilities| -> Vec<_> {
            Question::ALL.into_iter().filter(|q| may(kind, capabilities, *q)).map(Question::name).collect()
        };
        let none = Capabilities::default();
        let worker = Capabilities { worker: true, ..Capabilities::default() };
        assert_eq!(rights(PluginKind::Provider, &none), ["rate-limits"]);
        assert_eq!(rights(PluginKind::Environment, &worker), Vec::<&str>::new());
        assert_eq!(rights(PluginKind::Translator, &none), ["complete"]);
        assert_eq!(rights(PluginKind::Translator, &worker), ["complete", "worker"]);
        assert_eq!(rights(PluginKind::Verifier, &none), ["complete", "environment", "plan"]);
        assert_eq!(rights(PluginKind::Planner, &none), ["complete", "worker"]);
    }
}
