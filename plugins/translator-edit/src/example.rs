//! The in-context example: a domain written as calls.

use crate::options::EditOptions;
use crate::print::{domain_as_calls, emptied_domain};
use planforge_contract::{Failure, FailureClass, TaskView};
use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, print_domain};
use planforge_plugin_common::translating::{NO_EXAMPLE, domain_of_problem, example_pair, material};
use serde::Serialize;

const DOMAIN_TEXT: &str = "example.domain-text";
const DOMAIN: &str = "example.domain";

/// A text about a domain, the domain's interface, and the calls that turn the interface into the domain.
#[derive(Serialize)]
pub(crate) struct EditExample<'a> {
    text: &'a str,
    problem: Option<&'a str>,
    template: String,
    calls: String,
}

impl<'a> EditExample<'a> {
    /// The example of the task, as the option asks for it.
    pub(crate) fn of_task(options: &EditOptions, task: &'a TaskView) -> Result<Option<Self>, Failure> {
        let materials = &task.materials.example;
        let text = (DOMAIN_TEXT, &materials.domain_text);
        let pair = example_pair(task, text, (DOMAIN, &materials.domain), options.example)?;
        let Some((text, domain)) = pair else { return Ok(None) };
        let parsed = parse_domain(domain, SourceId(0));
        if parsed.has_errors() || parsed.value.actions.is_empty() {
            let message =
                format!("the material `{DOMAIN}` of suite `{}` is not a domain with actions", task.suite);
            return Err(Failure::new(FailureClass::Request, NO_EXAMPLE, message).help(
                "check the example's domain with `planforge pddl validate`, or set `example = false`",
            ));
        }
        let template = match material(&materials.domain_template) {
            Some(template) => template.to_owned(),
            None => print_domain(&emptied_domain(&parsed.value)).trim_end().to_owned(),
        };
        let problem = material(&materials.problem).filter(|problem| {
            let name = parsed.value.name.as_ref();
            domain_of_problem(problem).is_some_and(|w| name.is_some_and(|n| n.is(&w.to_lowercase())))
        });
        let calls = domain_as_calls(&parsed.value).trim_end().to_owned();
        Ok(Some(Self { text, problem, template, calls }))
    }
}
