//! In-context examples, taken from the task's materials as the option wants them.

use crate::options::{Example, Options};
use crate::{codes, edit, skeleton};
use planforge_contract::{Failure, FailureClass, TaskView};
use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, print_domain};
use serde::Serialize;

/// Material names. The example's come from the suite or from the one that the pipeline names, the lead's from the run.
const TEXT: &str = "example.text";
const PROBLEM: &str = "example.problem";
const DOMAIN_TEXT: &str = "example.domain-text";
const DOMAIN: &str = "example.domain";
const DOMAIN_TEMPLATE: &str = "example.domain-template";
const LEAD_TEXT: &str = "lead.text";
const LEAD_PROBLEM: &str = "lead.problem";

/// A task and its problem; with what it is about where that is another domain.
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

/// A text about a domain, the domain's interface, and the calls that make the one into the other.
#[derive(Serialize)]
pub(crate) struct EditExample<'a> {
    text: &'a str,
    problem: Option<&'a str>,
    template: String,
    calls: String,
}

/// The example of a problem. `for_domain`: the question shows a domain in PDDL.
pub(crate) fn of_problem<'a>(
    options: &Options,
    task: &'a TaskView,
    for_domain: bool,
) -> Result<Option<ProblemExample<'a>>, Failure> {
    if options.example == Some(Example::LEAD) {
        let pair = pair(options, task, LEAD_TEXT, LEAD_PROBLEM)?;
        return Ok(pair.map(|(text, problem)| ProblemExample {
            domain: None,
            domain_text: None,
            text,
            problem,
        }));
    }
    let Some((text, problem)) = pair(options, task, TEXT, PROBLEM)? else { return Ok(None) };
    // A suite may have an example of a domain that its example of a problem has nothing to do with.
    let domain = get(task, DOMAIN).filter(|domain| {
        let wanted = skeleton::wanted_domain(problem);
        wanted.is_some_and(|w| skeleton::domain_name(domain).is_some_and(|n| n.eq_ignore_ascii_case(&w)))
    });
    let about = domain.and_then(|_| get(task, DOMAIN_TEXT));
    Ok(Some(ProblemExample {
        domain: domain.filter(|_| for_domain),
        domain_text: about.filter(|_| !for_domain),
        text,
        problem,
    }))
}

/// The example of a domain.
pub(crate) fn of_domain<'a>(
    options: &Options,
    task: &'a TaskView,
) -> Result<Option<DomainExample<'a>>, Failure> {
    refuse_lead(options, task)?;
    let pair = pair(options, task, DOMAIN_TEXT, DOMAIN)?;
    Ok(pair.map(|(text, domain)| DomainExample { text, domain }))
}

/// The example of edits: that of a domain, written as calls.
pub(crate) fn of_edits<'a>(
    options: &Options,
    task: &'a TaskView,
) -> Result<Option<EditExample<'a>>, Failure> {
    let Some(DomainExample { text, domain }) = of_domain(options, task)? else { return Ok(None) };
    let parsed = parse_domain(domain, SourceId(0));
    if parsed.has_errors() || parsed.value.actions.is_empty() {
        return Err(Failure::new(
            FailureClass::Request,
            codes::NO_EXAMPLE,
            format!("the material `{DOMAIN}` for suite `{}` is no domain with actions", task.suite),
        )
        .help("check the example's domain with `planforge validate`, or set `example = false`"));
    }
    let template = match get(task, DOMAIN_TEMPLATE) {
        Some(template) => template.to_owned(),
        None => print_domain(&edit::template_of(&parsed.value)).trim_end().to_owned(),
    };
    let problem = get(task, PROBLEM).filter(|problem| {
        let name = parsed.value.name.as_ref();
        skeleton::wanted_domain(problem).is_some_and(|w| name.is_some_and(|n| n.is(&w.to_lowercase())))
    });
    let calls = edit::as_calls(&parsed.value).trim_end().to_owned();
    Ok(Some(EditExample { text, problem, template, calls }))
}

fn refuse_lead(options: &Options, task: &TaskView) -> Result<(), Failure> {
    if options.example != Some(Example::LEAD) {
        return Ok(());
    }
    let message =
        format!("the lead task of suite `{}` is an example of a problem, and of nothing else", task.suite);
    Err(Failure::new(FailureClass::Request, codes::NO_EXAMPLE, message)
        .help("set `example = \"lead\"` with `mode = \"problem\"` alone"))
}

/// A text that is there and not empty.
fn get<'a>(task: &'a TaskView, name: &str) -> Option<&'a str> {
    task.materials.get(name).map(|t| t.trim()).filter(|t| !t.is_empty())
}

/// The two halves of an example, as the option wants it: left out, what the task has.
fn pair<'a>(
    options: &Options,
    task: &'a TaskView,
    question: &str,
    answer: &str,
) -> Result<Option<(&'a str, &'a str)>, Failure> {
    if options.example == Some(Example::Shown(false)) {
        return Ok(None);
    }
    match (get(task, question), get(task, answer)) {
        (Some(question), Some(answer)) => Ok(Some((question, answer))),
        // A text alone is no mistake in the suite: other methods show other answers to it.
        (_, None) if options.example.is_none() => Ok(None),
        (found, _) => {
            let lost = if found.is_none() { question } else { answer };
            let message =
                format!("suite `{}` has no material `{lost}` for the in-context example", task.suite);
            let help = match options.example {
                Some(Example::Made(_)) => "put the stage behind a `fan_out` stage".to_owned(),
                _ => format!("add `{question}` and `{answer}` to the suite, or set `example = false`"),
            };
            Err(Failure::new(FailureClass::Request, codes::NO_EXAMPLE, message).help(help))
        }
    }
}
