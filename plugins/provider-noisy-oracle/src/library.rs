//! The references that the oracle holds.

use crate::codes;
use crate::options::Suite;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};
use std::collections::BTreeMap;

/// A suite with its reference domain and problems.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) domain: Domain,
    pub(crate) problems: BTreeMap<String, Problem>,
}

/// All suites by name.
#[derive(Debug)]
pub(crate) struct Library {
    suites: BTreeMap<String, Reference>,
}

impl Library {
    /// Reads every suite and reports all mistakes at once.
    pub(crate) fn read(given: &[Suite]) -> Result<Self, Failure> {
        let mut suites = BTreeMap::new();
        let mut wrong = Vec::new();
        for suite in given {
            let suite = match suite {
                Suite::Reference(reference) => reference,
                Suite::Path(path) => {
                    wrong.push(format!("`{path}` is a path, and the host put no reference in its place"));
                    continue;
                }
            };
            let domain = parse_domain(&suite.domain, SourceId(0));
            if domain.has_errors() || domain.value.actions.is_empty() {
                wrong.push(format!("the domain of suite `{}` cannot be read, or has no actions", suite.name));
            }
            let mut problems = BTreeMap::new();
            for (stem, text) in &suite.problems {
                let problem = parse_problem(text, SourceId(0));
                if problem.has_errors() {
                    wrong.push(format!("problem `{stem}` of suite `{}` cannot be read", suite.name));
                }
                problems.insert(stem.clone(), problem.value);
            }
            let reference = Reference { domain: domain.value, problems };
            if suites.insert(suite.name.clone(), reference).is_some() {
                wrong.push(format!("two suites are called `{}`", suite.name));
            }
        }
        if wrong.is_empty() {
            return Ok(Self { suites });
        }
        Err(Failure::new(FailureClass::Request, codes::SUITE, wrong.join("; "))
            .help("`planforge suite check FOLDER` says where a suite has a mistake"))
    }

    /// The reference of a task, or a message for a person if there is none.
    pub(crate) fn task(&self, suite: &str, task: &str) -> Result<(&Reference, &Problem), String> {
        let names =
            |keys: Vec<&String>| keys.into_iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
        let Some(reference) = self.suites.get(suite) else {
            return Err(format!(
                "the noisy oracle knows no suite `{suite}`; its option `suites` gives it {}",
                names(self.suites.keys().collect())
            ));
        };
        match reference.problems.get(task) {
            Some(problem) => Ok((reference, problem)),
            None => Err(format!(
                "the noisy oracle knows no task `{task}` of suite `{suite}`; there is {}",
                names(reference.problems.keys().collect())
            )),
        }
    }
}
