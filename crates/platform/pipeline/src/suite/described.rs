//! Suites without PDDL: their environment tells the actions and objects that a suite with a reference reads there.

use super::{Suite, SuiteTask};
use crate::config::GivenSpec;
use planforge_contract::api::{Environment, Host};
use planforge_contract::{EnvironmentOpen, Failure};

/// True if the pipeline gives an interface or objects that some task's suite has no file for. The environment
/// must then describe them ([`describe_tasks`]).
pub fn needs_description(suites: &[Suite], given: &GivenSpec) -> bool {
    suites.iter().any(|suite| {
        let domain = suite.reference_domain.as_ref();
        suite.tasks.iter().any(|task| needs(task.reference_domain.as_ref().or(domain), task, given))
    })
}

fn needs(domain: Option<&String>, task: &SuiteTask, given: &GivenSpec) -> bool {
    given.interface && domain.is_none() || given.objects && task.reference_problem.is_none()
}

/// Asks the environment about each task that lacks a file for what is given.
///
/// # Errors
/// The environment's own.
pub fn describe_tasks(
    suites: &mut [Suite],
    given: &GivenSpec,
    environment: &dyn Environment,
    host: &dyn Host,
) -> Result<(), Failure> {
    for suite in suites {
        let mut open = EnvironmentOpen {
            suite: suite.name.clone(),
            domain: suite.reference_domain.clone(),
            sentences: suite.sentences.clone(),
            ..EnvironmentOpen::default()
        };
        for task in &mut suite.tasks {
            let own = task.reference_domain.as_ref();
            if needs(own.or(open.domain.as_ref()), task, given) {
                open.task.clone_from(&task.stem);
                open.problem.clone_from(&task.reference_problem);
                task.described = Some(environment.describe(host, &open)?.interface);
            }
        }
    }
    Ok(())
}
