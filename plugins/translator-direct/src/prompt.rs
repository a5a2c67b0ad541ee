//! The prompts: templates in `templates/`, filled with the task's texts. A text that is inserted is data and is never
//! read as a template.

mod thought;

use crate::example::{self, DomainExample, EditExample, ProblemExample};
use crate::options::{Mode, Options};
use crate::{calls, codes, skeleton};
use planforge_contract::{Failure, FailureClass, TaskView, TranslateRequest};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;

const TEMPLATES: [(&str, &str); 16] = [
    ("system", include_str!("../templates/system.txt")),
    ("system-reason", include_str!("../templates/system-reason.txt")),
    ("system-edit", include_str!("../templates/system-edit.txt")),
    ("problem", include_str!("../templates/problem.txt")),
    ("domain", include_str!("../templates/domain.txt")),
    ("revise", include_str!("../templates/revise.txt")),
    ("edit", include_str!("../templates/edit.txt")),
    ("edit-again", include_str!("../templates/edit-again.txt")),
    ("system-thought", include_str!("../templates/system-thought.txt")),
    ("thought", include_str!("../templates/thought.txt")),
    ("update", include_str!("../templates/update.txt")),
    ("form", include_str!("../templates/form.txt")),
    ("given-domain", include_str!("../templates/given-domain.txt")),
    ("given-problem", include_str!("../templates/given-problem.txt")),
    ("rules-domain", include_str!("../templates/rules-domain.txt")),
    ("rules-problem", include_str!("../templates/rules-problem.txt")),
];

/// The compiled templates.
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

#[derive(Serialize)]
struct ReviseContext<'a> {
    domain: Option<&'a str>,
    problem: Option<&'a str>,
    feedback: Vec<&'a str>,
    what: &'static str,
    reason: bool,
    form: Option<String>,
}

#[derive(Serialize)]
struct EditContext<'a> {
    add: &'static str,
    modify: &'static str,
    domain_text: &'a str,
    domain: &'a str,
    problem: Option<&'a str>,
    example: Option<EditExample<'a>>,
    revising: bool,
    reason: bool,
}

#[derive(Serialize)]
struct EditAgainContext<'a> {
    add: &'static str,
    modify: &'static str,
    domain: Option<&'a str>,
    feedback: Vec<&'a str>,
    reason: bool,
}

#[derive(Serialize)]
struct SystemContext {
    reason: bool,
}

impl Prompts {
    /// Compiles the templates.
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::new(codes::TEMPLATE, &TEMPLATES)? })
    }

    /// The system text: the option's, or ours.
    pub(crate) fn system(&self, options: &Options) -> Result<String, Failure> {
        match &options.system {
            Some(text) => Ok(text.trim_end().to_owned()),
            None => {
                let reason = options.reasons();
                let name = match (options.mode, reason) {
                    _ if options.thinks() => "system-thought",
                    (Mode::Edit, _) => "system-edit",
                    (_, true) => "system-reason",
                    (_, false) => "system",
                };
                self.templates.render(name, &SystemContext { reason })
            }
        }
    }

    /// Asks for a problem. `domain` is the PDDL to write it for, where there is any.
    pub(crate) fn problem(
        &self,
        options: &Options,
        task: &TaskView,
        domain: Option<&str>,
    ) -> Result<String, Failure> {
        need_problem(task, domain)?;
        let known_name = domain.and_then(skeleton::domain_name);
        let domain_name = known_name.or_else(|| options.template.then(|| skeleton::suite_name(task)));
        let interface =
            if domain.is_none() && options.template { Some(skeleton::interface(task, None)?) } else { None };
        let context = ProblemContext {
            domain: domain.map(str::trim),
            domain_text: task.domain_text.trim(),
            interface,
            example: example::of_problem(options, task, domain.is_some())?,
            task_text: task.task_text.trim(),
            skeleton: match options.template {
                true => Some(skeleton::problem(task, domain_name.as_deref())?),
                false => None,
            },
            domain_name,
            reason: options.reasons(),
        };
        self.templates.render("problem", &context)
    }

    /// Asks for a domain. `problem` is the PDDL that it must fit, where there is any.
    pub(crate) fn domain(
        &self,
        options: &Options,
        task: &TaskView,
        problem: Option<&str>,
    ) -> Result<String, Failure> {
        need_domain(task, problem)?;
        let wanted = problem.and_then(skeleton::wanted_domain);
        let domain_name = wanted.or_else(|| options.template.then(|| skeleton::suite_name(task)));
        let context = DomainContext {
            domain_text: task.domain_text.trim(),
            interface: match options.template {
                true => Some(skeleton::interface(task, domain_name.as_deref())?),
                false => None,
            },
            example: example::of_domain(options, task)?,
            problem: problem.map(str::trim),
            domain_name,
            reason: options.reasons(),
        };
        self.templates.render("domain", &context)
    }

    /// Asks to correct what was written.
    pub(crate) fn revise(&self, options: &Options, request: &TranslateRequest) -> Result<String, Failure> {
        let mode = options.mode;
        let (domain, problem) = (request.candidate.domain.as_deref(), request.candidate.problem.as_deref());
        let name = domain.and_then(skeleton::domain_name);
        let context = ReviseContext {
            domain: domain.filter(|_| mode != Mode::Problem).map(str::trim),
            problem: problem.filter(|_| mode != Mode::Domain).map(str::trim),
            feedback: request.feedback.iter().map(|f| f.trim()).collect(),
            what: match mode {
                Mode::Both | Mode::Edit => "domain and problem",
                Mode::Problem | Mode::Domain | Mode::Update => options.artefact().word(),
            },
            reason: options.reasons(),
            form: options.thinks().then(|| self.form(options, name.as_deref())).transpose()?,
        };
        self.templates.render("revise", &context)
    }

    /// Asks for the first edits of a domain. `revising`: what was found wrong follows.
    pub(crate) fn edit(
        &self,
        options: &Options,
        request: &TranslateRequest,
        domain: &str,
        revising: bool,
    ) -> Result<String, Failure> {
        let task = &request.task;
        need(
            &task.domain_text,
            codes::NO_TEXT,
            "there is no text about the domain to work out",
            NO_DOMAIN_HELP,
        )?;
        let problem = request.candidate.problem.as_deref().or(task.given.problem.as_deref());
        let context = EditContext {
            add: calls::PREDICATES,
            modify: calls::ACTION,
            domain_text: task.domain_text.trim(),
            domain: domain.trim(),
            problem: problem.map(str::trim),
            example: example::of_edits(options, task)?,
            revising,
            reason: options.reasons(),
        };
        self.templates.render("edit", &context)
    }

    /// Asks for further edits after a check. `domain`: as it stands, where the turn does not show it yet.
    pub(crate) fn edit_again(
        &self,
        options: &Options,
        request: &TranslateRequest,
        domain: Option<&str>,
    ) -> Result<String, Failure> {
        let context = EditAgainContext {
            add: calls::PREDICATES,
            modify: calls::ACTION,
            domain: domain.map(str::trim),
            feedback: request.feedback.iter().map(|f| f.trim()).collect(),
            reason: options.reasons(),
        };
        self.templates.render("edit-again", &context)
    }
}

const NO_TASK_TEXT_HELP: &str = "put the task's text beside its problem, as `p01.nl` beside `p01.pddl`";
const NO_DOMAIN_HELP: &str =
    "give the domain in the pipeline file, or put a text about it into the suite, as `domain.nl`";

/// What a question for a problem is about.
fn need_problem(task: &TaskView, domain: Option<&str>) -> Result<(), Failure> {
    need(&task.task_text, codes::NO_TEXT, "the task has no text to translate", NO_TASK_TEXT_HELP)?;
    match domain {
        Some(_) => Ok(()),
        None => need(
            &task.domain_text,
            codes::NO_TEXT,
            "neither a domain nor a text about it is given",
            NO_DOMAIN_HELP,
        ),
    }
}

/// What a question for a domain is about: a text or, where there is none, a problem.
fn need_domain(task: &TaskView, problem: Option<&str>) -> Result<(), Failure> {
    match problem {
        Some(_) => Ok(()),
        None => need(
            &task.domain_text,
            codes::NO_TEXT,
            "there is neither a text about the domain to translate nor a problem to work it out from",
            NO_DOMAIN_HELP,
        ),
    }
}

fn need(text: &str, code: &str, message: &str, help: &str) -> Result<(), Failure> {
    match text.trim().is_empty() {
        true => Err(Failure::new(FailureClass::Request, code, message).help(help)),
        false => Ok(()),
    }
}
