//! In-context examples of questions for a problem or a domain.

use crate::options::{DirectOptions, Example};
use planforge_contract::{Failure, FailureClass, TaskView};
use planforge_plugin_common::translating::{
    NO_EXAMPLE, NamedMaterial, domain_name, domain_of_problem, example_pair, material, missing_example,
};
use serde::Serialize;

const TEXT: &str = "example.text";
const PROBLEM: &str = "example.problem";
const DOMAIN_TEXT: &str = "example.domain-text";
const DOMAIN: &str = "example.domain";
const LEAD_TEXT: &str = "lead.text";
const LEAD_PROBLEM: &str = "lead.problem";

/// A task and its problem, with the domain's PDDL or text if it belongs to another domain.
#[derive(Serialize)]
pub(crate) struct ProblemExample<'a> {
    domain: Option<&'a str>,
    domain_text: Option<&'a str>,
    text: &'a str,
    problem: &'a str,
}

/// A text about a domain, and the domain.
#[derive(Serialize)]
pub(crate) struct DomainExample<'a> {
    text: &'a str,
    domain: &'a str,
}

/// The example of a problem. `for_domain`: the question shows a domain in PDDL.
pub(crate) fn problem_example<'a>(
    options: &DirectOptions,
    task: &'a TaskView,
    for_domain: bool,
) -> Result<Option<ProblemExample<'a>>, Failure> {
    let wanted = match options.example {
        Some(Example::Made(_)) => return lead_example(task).map(Some),
        Some(Example::Shown(wanted)) => Some(wanted),
        None => None,
    };
    let example = &task.materials.example;
    let Some((text, problem)) =
        example_pair(task, (TEXT, &example.text), (PROBLEM, &example.problem), wanted)?
    else {
        return Ok(None);
    };
    // A suite's examples of a domain and of a problem may be unrelated.
    let domain = material(&example.domain).filter(|domain| {
        let wanted = domain_of_problem(problem);
        wanted.is_some_and(|w| domain_name(domain).is_some_and(|n| n.eq_ignore_ascii_case(&w)))
    });
    let about = domain.and_then(|_| material(&example.domain_text));
    Ok(Some(ProblemExample {
        domain: domain.filter(|_| for_domain),
        domain_text: about.filter(|_| !for_domain),
        text,
        problem,
    }))
}

/// The lead task of a `fan_out` stage, which is of the same domain.
fn lead_example<'a>(task: &'a TaskView) -> Result<ProblemExample<'a>, Failure> {
    let lead = &task.materials.lead;
    let required = |(name, text): NamedMaterial<'a>| {
        material(text)
            .ok_or_else(|| missing_example(task, name).help("put the stage behind a `fan_out` stage"))
    };
    Ok(ProblemExample {
        domain: None,
        domain_text: None,
        text: required((LEAD_TEXT, &lead.text))?,
        problem: required((LEAD_PROBLEM, &lead.problem))?,
    })
}

/// The example of a domain.
pub(crate) fn domain_example<'a>(
    options: &DirectOptions,
    task: &'a TaskView,
) -> Result<Option<DomainExample<'a>>, Failure> {
    let wanted = match options.example {
        Some(Example::Made(_)) => return Err(lead_has_no_domain(task)),
        Some(Example::Shown(wanted)) => Some(wanted),
        None => None,
    };
    let example = &task.materials.example;
    let pair = example_pair(task, (DOMAIN_TEXT, &example.domain_text), (DOMAIN, &example.domain), wanted)?;
    Ok(pair.map(|(text, domain)| DomainExample { text, domain }))
}

fn lead_has_no_domain(task: &TaskView) -> Failure {
    let message =
        format!("the lead task of suite `{}` is an example of a problem, and of nothing else", task.suite);
    Failure::new(FailureClass::Request, NO_EXAMPLE, message)
        .help("set `example = \"lead\"` with `mode = \"problem\"` alone")
}
