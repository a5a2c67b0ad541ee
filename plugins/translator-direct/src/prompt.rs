//! The prompts: templates in `templates/`, filled with the task's texts. A text that is inserted is data and is never
//! read as a template.

use crate::codes;
use crate::options::{Mode, Options};
use crate::skeleton;
use minijinja::{Environment, UndefinedBehavior};
use planforge_contract::{Failure, FailureClass, TaskView, TranslateRequest};
use serde::Serialize;

const TEMPLATES: [(&str, &str); 4] = [
    ("system", include_str!("../templates/system.txt")),
    ("problem", include_str!("../templates/problem.txt")),
    ("domain", include_str!("../templates/domain.txt")),
    ("revise", include_str!("../templates/revise.txt")),
];

/// Material names of the in-context examples.
const EXAMPLE_TEXT: &str = "example.text";
const EXAMPLE_PROBLEM: &str = "example.problem";
const EXAMPLE_DOMAIN_TEXT: &str = "example.domain-text";
const EXAMPLE_DOMAIN: &str = "example.domain";

/// The compiled templates.
#[derive(Debug)]
pub(crate) struct Prompts {
    environment: Environment<'static>,
}

#[derive(Serialize)]
struct ProblemExample<'a> {
    text: &'a str,
    problem: &'a str,
}

#[derive(Serialize)]
struct DomainExample<'a> {
    text: &'a str,
    domain: &'a str,
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
}

#[derive(Serialize)]
struct DomainContext<'a> {
    domain_name: Option<String>,
    domain_text: &'a str,
    interface: Option<String>,
    example: Option<DomainExample<'a>>,
    problem: Option<&'a str>,
}

#[derive(Serialize)]
struct ReviseContext<'a> {
    domain: Option<&'a str>,
    problem: Option<&'a str>,
    feedback: Vec<&'a str>,
    what: &'static str,
}

impl Prompts {
    /// Compiles the templates.
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        for (name, source) in TEMPLATES {
            environment.add_template(name, source).map_err(|e| template_failure(name, &e))?;
        }
        Ok(Self { environment })
    }

    /// The system text: the option's, or ours.
    pub(crate) fn system(&self, options: &Options) -> Result<String, Failure> {
        match &options.system {
            Some(text) => Ok(text.trim_end().to_owned()),
            None => self.render("system", &()),
        }
    }

    /// Asks for a problem. `domain` is the PDDL to write it for, where there is any.
    pub(crate) fn problem(
        &self,
        options: &Options,
        task: &TaskView,
        domain: Option<&str>,
    ) -> Result<String, Failure> {
        need(&task.task_text, codes::NO_TEXT, "the task has no text to translate", NO_TASK_TEXT_HELP)?;
        if domain.is_none() {
            need(
                &task.domain_text,
                codes::NO_TEXT,
                "neither a domain nor a text about it is given",
                NO_DOMAIN_HELP,
            )?;
        }
        let known_name = domain.and_then(skeleton::domain_name);
        let domain_name = known_name.or_else(|| options.template.then(|| skeleton::suite_name(task)));
        let interface =
            if domain.is_none() && options.template { Some(skeleton::interface(task, None)?) } else { None };
        let context = ProblemContext {
            domain: domain.map(str::trim),
            domain_text: task.domain_text.trim(),
            interface,
            example: problem_example(options, task)?,
            task_text: task.task_text.trim(),
            skeleton: match options.template {
                true => Some(skeleton::problem(task, domain_name.as_deref())?),
                false => None,
            },
            domain_name,
        };
        self.render("problem", &context)
    }

    /// Asks for a domain. `problem` is the PDDL that it must fit, where there is any.
    pub(crate) fn domain(
        &self,
        options: &Options,
        task: &TaskView,
        problem: Option<&str>,
    ) -> Result<String, Failure> {
        need(
            &task.domain_text,
            codes::NO_TEXT,
            "there is no text about the domain to translate",
            NO_DOMAIN_HELP,
        )?;
        let wanted = problem.and_then(skeleton::wanted_domain);
        let domain_name = wanted.or_else(|| options.template.then(|| skeleton::suite_name(task)));
        let context = DomainContext {
            domain_text: task.domain_text.trim(),
            interface: match options.template {
                true => Some(skeleton::interface(task, domain_name.as_deref())?),
                false => None,
            },
            example: domain_example(options, task)?,
            problem: problem.map(str::trim),
            domain_name,
        };
        self.render("domain", &context)
    }

    /// Asks to correct what was written.
    pub(crate) fn revise(&self, mode: Mode, request: &TranslateRequest) -> Result<String, Failure> {
        let (domain, problem) = (request.candidate.domain.as_deref(), request.candidate.problem.as_deref());
        let context = ReviseContext {
            domain: domain.filter(|_| mode != Mode::Problem).map(str::trim),
            problem: problem.filter(|_| mode != Mode::Domain).map(str::trim),
            feedback: request.feedback.iter().map(|f| f.trim()).collect(),
            what: match mode {
                Mode::Problem => "problem",
                Mode::Domain => "domain",
                Mode::Both => "domain and problem",
            },
        };
        self.render("revise", &context)
    }

    fn render<C: Serialize>(&self, name: &str, context: &C) -> Result<String, Failure> {
        let template = self.environment.get_template(name).map_err(|e| template_failure(name, &e))?;
        template
            .render(minijinja::value::Serde(context))
            .map(|text| text.trim_end().to_owned())
            .map_err(|e| template_failure(name, &e))
    }
}

const NO_TASK_TEXT_HELP: &str = "put the task's text beside its problem, as `p01.nl` beside `p01.pddl`";
const NO_DOMAIN_HELP: &str =
    "give the domain in the pipeline file, or put a text about it into the suite, as `domain.nl`";

fn need(text: &str, code: &str, message: &str, help: &str) -> Result<(), Failure> {
    match text.trim().is_empty() {
        true => Err(Failure::new(FailureClass::Request, code, message).help(help)),
        false => Ok(()),
    }
}

fn problem_example<'a>(options: &Options, task: &'a TaskView) -> Result<Option<ProblemExample<'a>>, Failure> {
    let pair = example(options, task, EXAMPLE_TEXT, EXAMPLE_PROBLEM)?;
    Ok(pair.map(|(text, problem)| ProblemExample { text, problem }))
}

fn domain_example<'a>(options: &Options, task: &'a TaskView) -> Result<Option<DomainExample<'a>>, Failure> {
    let pair = example(options, task, EXAMPLE_DOMAIN_TEXT, EXAMPLE_DOMAIN)?;
    Ok(pair.map(|(text, domain)| DomainExample { text, domain }))
}

/// The two halves of an in-context example, as the option wants it: `None` shows what the task has.
fn example<'a>(
    options: &Options,
    task: &'a TaskView,
    question: &str,
    answer: &str,
) -> Result<Option<(&'a str, &'a str)>, Failure> {
    if options.example == Some(false) {
        return Ok(None);
    }
    let get = |name: &str| task.materials.get(name).map(|t| t.trim()).filter(|t| !t.is_empty());
    match (get(question), get(answer)) {
        (Some(question), Some(answer)) => Ok(Some((question, answer))),
        // A text alone is no mistake in the suite: other methods show other answers to it.
        (_, None) if options.example.is_none() => Ok(None),
        (found, _) => {
            let lost = if found.is_none() { question } else { answer };
            Err(Failure::new(
                FailureClass::Request,
                codes::NO_EXAMPLE,
                format!("suite `{}` has no material `{lost}` for the in-context example", task.suite),
            )
            .help(format!("add `{question}` and `{answer}` to the suite, or set `example = false`")))
        }
    }
}

fn template_failure(name: &str, error: &minijinja::Error) -> Failure {
    Failure::new(
        FailureClass::Plugin,
        codes::TEMPLATE,
        format!("the prompt template `{name}` cannot be rendered: {error:#}"),
    )
}
