//! The prompts: templates filled with the task's texts. Inserted texts are data and are never read as templates.

use crate::{DirectOptions, Example, Mode};
use planforge_contract::{Failure, FailureClass, TaskView, TranslateRequest};
use planforge_plugin_common::translating::{
    NO_EXAMPLE, NamedMaterial, PROMPT_TEMPLATE, REVISE_TEMPLATE, Revision, SYSTEM_TEMPLATE, TaskFeatures,
    domain_name, domain_of_problem, domain_template, example_pair, material, missing_example,
    need_domain_source, need_problem_text, problem_template, suite_name, with_holes,
};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;

/// What prompts ask for where a task has numbers, time or wishes.
pub(crate) const FEATURE_TEMPLATES: [(&str, &str); 2] = [
    ("features-domain", include_str!("../templates/features-domain.txt")),
    ("features-problem", include_str!("../templates/features-problem.txt")),
];

const TEMPLATES: [(&str, &str); 7] = [
    FEATURE_TEMPLATES[0],
    FEATURE_TEMPLATES[1],
    SYSTEM_TEMPLATE,
    ("system-reason", include_str!("../templates/system-reason.txt")),
    ("problem", include_str!("../templates/problem.txt")),
    ("domain", include_str!("../templates/domain.txt")),
    REVISE_TEMPLATE,
];

#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Templates,
}

#[derive(Serialize)]
struct ProblemContext<'a> {
    domain: Option<&'a str>,
    domain_name: Option<String>,
    domain_text: &'a str,
    interface: Option<String>,
    example: Option<ProblemExample<'a>>,
    task_text: &'a str,
    skeleton: Option<String>,
    names_objects: bool,
    reason: bool,
    features: TaskFeatures,
}

#[derive(Serialize)]
struct DomainContext<'a> {
    domain_name: Option<String>,
    domain_text: &'a str,
    interface: Option<String>,
    example: Option<DomainExample<'a>>,
    problem: Option<&'a str>,
    reason: bool,
    features: TaskFeatures,
}

/// The features of a task: as its domain declares them, else as its action interface declares or its domain's text states them. Only the
/// opening times and wishes of the task's own text count: numbers in it may be of no use.
pub(crate) fn features_of(domain: Option<&str>, interface: Option<&str>, task: &TaskView) -> TaskFeatures {
    match domain {
        Some(domain) => TaskFeatures::of_domain(domain, &task.task_text),
        None => {
            let of_task = TaskFeatures::of_text(&task.task_text);
            let stated = TaskFeatures::of_text(&task.domain_text).or(TaskFeatures {
                timed: of_task.timed,
                wishes: of_task.wishes,
                ..TaskFeatures::default()
            });
            interface.map_or(stated, |interface| stated.or(TaskFeatures::of_domain(interface, "")))
        }
    }
}

impl Prompts {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::new(PROMPT_TEMPLATE, &TEMPLATES)? })
    }

    /// The system text of the option, else that of the plugin.
    pub(crate) fn system(&self, options: &DirectOptions) -> Result<String, Failure> {
        match (&options.system, options.reason) {
            (Some(text), _) => Ok(text.trim_end().to_owned()),
            (None, true) => self.templates.render("system-reason", &()),
            (None, false) => self.templates.render("system", &()),
        }
    }

    /// Asks for a problem. `domain` is the PDDL to write it for, if there is any.
    pub(crate) fn problem(
        &self,
        options: &DirectOptions,
        task: &TaskView,
        domain: Option<&str>,
    ) -> Result<String, Failure> {
        self.problem_part(options, task, domain, false)
    }

    /// Asks for the objects of a problem of the domain.
    pub(crate) fn objects(
        &self,
        options: &DirectOptions,
        task: &TaskView,
        domain: Option<&str>,
    ) -> Result<String, Failure> {
        self.problem_part(options, task, domain, true)
    }

    fn problem_part(
        &self,
        options: &DirectOptions,
        task: &TaskView,
        domain: Option<&str>,
        names_objects: bool,
    ) -> Result<String, Failure> {
        need_problem_text(task, domain)?;
        let interface = (domain.is_none() && options.template).then(|| domain_template(task, None)).flatten();
        let domain_name = domain
            .or(interface.as_deref())
            .and_then(domain_name)
            .or_else(|| options.template.then(|| suite_name(task)));
        let features = features_of(domain, interface.as_deref(), task);
        let context = ProblemContext {
            features,
            domain: domain.map(str::trim),
            domain_text: task.domain_text.trim(),
            interface: interface.as_deref().map(with_holes),
            example: problem_example(options, task, domain.is_some())?,
            task_text: task.task_text.trim(),
            skeleton: options
                .template
                .then(|| problem_template(task, domain_name.as_deref()))
                .flatten()
                .map(|text| with_holes(&text)),
            domain_name,
            names_objects,
            reason: options.reason,
        };
        self.templates.render("problem", &context)
    }

    /// Asks for a domain. `problem` is the PDDL that it must fit, if there is any.
    pub(crate) fn domain(
        &self,
        options: &DirectOptions,
        task: &TaskView,
        problem: Option<&str>,
    ) -> Result<String, Failure> {
        need_domain_source(task, problem)?;
        let wanted = problem.and_then(domain_of_problem);
        let interface = options.template.then(|| domain_template(task, wanted.as_deref())).flatten();
        let domain_name = wanted.or_else(|| interface.as_deref().and_then(domain_name));
        let context = DomainContext {
            features: features_of(None, interface.as_deref(), task),
            domain_text: task.domain_text.trim(),
            interface: interface.as_deref().map(with_holes),
            example: domain_example(options, task)?,
            problem: problem.map(str::trim),
            domain_name,
            reason: options.reason,
        };
        self.templates.render("domain", &context)
    }

    /// Asks for a correction of the candidate.
    pub(crate) fn revise(
        &self,
        options: &DirectOptions,
        request: &TranslateRequest,
    ) -> Result<String, Failure> {
        let (domain, problem) = (request.candidate.domain.as_deref(), request.candidate.problem.as_deref());
        let context = Revision {
            domain: domain.filter(|_| options.mode != Mode::Problem).map(str::trim),
            problem: problem.filter(|_| options.mode != Mode::Domain).map(str::trim),
            feedback: request.feedback.iter().map(|f| f.trim()).collect(),
            what: match options.mode {
                Mode::Problem => "problem",
                Mode::Domain => "domain",
                Mode::Both => "domain and problem",
            },
            reason: options.reason,
            form: None,
        };
        self.templates.render(REVISE_TEMPLATE.0, &context)
    }
}

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
fn domain_example<'a>(
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
