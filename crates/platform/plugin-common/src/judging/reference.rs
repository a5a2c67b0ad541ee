//! The part of a task's reference that its environment shows: the domain, the task's problem and further
//! problems of the suite.

use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host};
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};

/// The parsed reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    pub domain: Domain,
    /// The task's own problem.
    pub problem: Problem,
    /// Further problems of the suite, in the environment's order.
    pub further: Vec<Problem>,
}

/// The reason for a missing reference. Plugins report it under their own codes: [`NotShown::failure`].
#[derive(Debug, Clone)]
pub enum NotShown {
    /// The environment failed.
    Host(Failure),
    /// It answered another question.
    OtherAnswer,
    /// It shows no domain and problem.
    Nothing,
    /// A text has a syntax error. The message names the text and the error.
    Unreadable(String),
}

/// The codes under which a plugin reports a [`NotShown`].
#[derive(Debug, Clone, Copy)]
pub struct Codes {
    /// Of [`NotShown::OtherAnswer`].
    pub answer: &'static str,
    /// Of [`NotShown::Nothing`].
    pub nothing: &'static str,
    /// Of [`NotShown::Unreadable`].
    pub unreadable: &'static str,
}

impl Reference {
    /// Requests the reference from the environment and parses it.
    ///
    /// # Errors
    /// See [`NotShown`].
    pub fn open(host: &dyn Host) -> Result<Self, NotShown> {
        let answer = host.environment(EnvironmentCall::Describe).map_err(NotShown::Host)?;
        let EnvironmentAnswer::Describe(info) = answer else { return Err(NotShown::OtherAnswer) };
        let open = info.model.ok_or(NotShown::Nothing)?;
        let (domain, own) = open.domain.zip(open.problem).ok_or(NotShown::Nothing)?;
        let domain = parse_domain(&domain, SourceId(0));
        let mut found = domain.diagnostics;
        let mut read = |text: &String| {
            let problem = parse_problem(text, SourceId(1));
            found.extend(problem.diagnostics);
            problem.value
        };
        let problem = read(&own);
        let further = open.problems.iter().map(&mut read).collect();
        match found.into_iter().find(|d| d.is_error()) {
            Some(error) => Err(NotShown::Unreadable(error.message)),
            None => Ok(Self { domain: domain.value, problem, further }),
        }
    }

    /// All problems, the task's own first.
    pub fn problems(&self) -> Vec<&Problem> {
        std::iter::once(&self.problem).chain(&self.further).collect()
    }
}

impl NotShown {
    /// The failure of a verifier that cannot judge without it.
    pub fn failure(self, codes: &Codes) -> Failure {
        match self {
            Self::Host(failure) => failure,
            Self::OtherAnswer => {
                let message = "the environment was asked what it is and answered something else";
                Failure::new(FailureClass::Plugin, codes.answer, message)
            }
            Self::Nothing => {
                let message = "the task's environment shows no domain and problem to compare with";
                Failure::new(FailureClass::Request, codes.nothing, message)
                    .help("take an environment that shows its reference model, such as environment-pddl")
            }
            Self::Unreadable(error) => {
                let message = format!("the reference cannot be read: {error}");
                Failure::new(FailureClass::Request, codes.unreadable, message)
                    .help("the reference belongs to the suite: check it with `planforge pddl validate`")
            }
        }
    }
}
