//! The prompts: templates filled with the task's texts. Inserted texts are data and are never read as templates.

use crate::example::{DomainExample, ProblemExample, domain_example, problem_example};
use crate::options::{DirectOptions, Mode};
use planforge_contract::{Failure, TaskView, TranslateRequest};
use planforge_plugin_common::translating::{
    PROMPT_TEMPLATE, REVISE_TEMPLATE, Revision, SYSTEM_TEMPLATE, domain_name, domain_of_problem,
    domain_template, need_domain_source, need_problem_text, problem_template, suite_name, with_holes,
};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;

const TEMPLATES: [(&str, &str); 5] = [
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
}

#[derive(Serialize)]
struct DomainContext<'a> {
    domain_name: Option<String>,
    domain_text: &'a str,
    interface: Option<String>,
    example: Option<DomainExample<'a>>,
    problem: Option<&'a str>,
    reason: bool,
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
        let interface =
            (domain.is_none() && options.template).then(|| domain_template(task, None)).transpose()?;
        let domain_name = domain
            .or(interface.as_deref())
            .and_then(domain_name)
            .or_else(|| options.template.then(|| suite_name(task)));
        let context = ProblemContext {
            domain: domain.map(str::trim),
            domain_text: task.domain_text.trim(),
            interface: interface.as_deref().map(with_holes),
            example: problem_example(options, task, domain.is_some())?,
            task_text: task.task_text.trim(),
            skeleton: match options.template {
                true => Some(with_holes(&problem_template(task, domain_name.as_deref())?)),
                false => None,
            },
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
        let interface = options.template.then(|| domain_template(task, wanted.as_deref())).transpose()?;
        let domain_name = wanted.or_else(|| interface.as_deref().and_then(domain_name));
        let context = DomainContext {
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
