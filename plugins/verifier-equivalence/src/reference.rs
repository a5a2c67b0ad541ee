//! The problem that is right: the one that the task's environment shows.

use crate::codes;
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host};
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};

/// The reference, read.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) domain: Domain,
    pub(crate) problem: Problem,
}

impl Reference {
    /// Asks the environment for its model.
    ///
    /// # Errors
    /// `equivalence.no-reference` where it shows none, `equivalence.reference` where that cannot be read.
    pub(crate) fn open(host: &dyn Host) -> Result<Self, Failure> {
        let EnvironmentAnswer::Describe(info) = host.environment(EnvironmentCall::Describe)? else {
            let message = "the environment was asked what it is and answered something else";
            return Err(Failure::new(FailureClass::Plugin, codes::ANSWER, message));
        };
        let Some((domain, problem)) = info.model.and_then(|open| open.domain.zip(open.problem)) else {
            let message = "the task's environment shows no domain and problem to compare with";
            return Err(Failure::new(FailureClass::Request, codes::NO_REFERENCE, message)
                .help("take an environment with the capability `model`, such as environment-pddl"));
        };
        let (domain, problem) = (parse_domain(&domain, SourceId(0)), parse_problem(&problem, SourceId(1)));
        if let Some(error) = domain.diagnostics.iter().chain(&problem.diagnostics).find(|d| d.is_error()) {
            let message = format!("the reference cannot be read: {}", error.message);
            return Err(Failure::new(FailureClass::Request, codes::REFERENCE, message)
                .help("the reference belongs to the suite: check it with `planforge validate`"));
        }
        Ok(Self { domain: domain.value, problem: problem.value })
    }
}
