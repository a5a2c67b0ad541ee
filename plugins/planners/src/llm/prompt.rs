//! The prompts: templates in `templates/`, filled with the task's texts. A text that is inserted is data and is never
//! read as a template.

use crate::llm::codes;
use crate::llm::options::LlmPlannerOptions;
use crate::llm::rules;
use planforge_contract::{Failure, FailureClass, PlanRequest, TaskView};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;

const TEMPLATES: [(&str, &str); 4] = [
    ("system", include_str!("../../templates/llm/system.txt")),
    ("plan", include_str!("../../templates/llm/plan.txt")),
    ("explain_system", include_str!("../../templates/llm/explain_system.txt")),
    ("explain", include_str!("../../templates/llm/explain.txt")),
];

const EXAMPLE_TEXT: &str = "example.text";
const EXAMPLE_PLAN: &str = "example.plan";

#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Templates,
}

#[derive(Serialize)]
struct Example<'a> {
    /// The domain in words, or in PDDL without such a text, if it is another one than the task's.
    domain: Option<&'a str>,
    text: &'a str,
    plan: &'a str,
}

#[derive(Serialize)]
struct PlanContext<'a> {
    domain: Option<&'a str>,
    domain_text: &'a str,
    signatures: Vec<String>,
    example: Option<Example<'a>>,
    task_text: &'a str,
    problem: Option<&'a str>,
    objects: Vec<String>,
    chain_of_thought: bool,
    check_steps: bool,
    rules: Option<String>,
    previous: Vec<&'a str>,
    feedback: Vec<&'a str>,
}

#[derive(Serialize)]
struct ExplainContext<'a> {
    domain_text: &'a str,
    task_text: &'a str,
    plan: String,
}

impl Prompts {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::new(codes::TEMPLATE, &TEMPLATES)? })
    }

    /// The system text: the option's, or ours.
    pub(crate) fn system(&self, options: &LlmPlannerOptions) -> Result<String, Failure> {
        self.templates.system(options.system.as_deref(), &())
    }

    /// The question for a plan.
    pub(crate) fn plan(&self, options: &LlmPlannerOptions, request: &PlanRequest) -> Result<String, Failure> {
        let task = &request.task;
        let (domain, problem) = (non_blank(&request.domain), non_blank(&request.problem));
        if domain.is_none() && non_blank(&task.domain_text).is_none() {
            return Err(no_text("neither a domain nor a text about it is given"));
        }
        if problem.is_none() && non_blank(&task.task_text).is_none() {
            return Err(no_text("neither a problem nor a text about the task is given"));
        }
        let interface = task.action_interface.as_ref();
        let context = PlanContext {
            domain,
            domain_text: task.domain_text.trim(),
            signatures: interface
                .filter(|_| domain.is_none())
                .map(|i| i.actions.iter().map(ToString::to_string).collect())
                .unwrap_or_default(),
            example: example(options, task)?,
            task_text: task.task_text.trim(),
            problem,
            objects: interface
                .filter(|_| problem.is_none())
                .map(|i| i.objects.iter().map(|o| format!("{} ({})", o.name, o.type_name)).collect())
                .unwrap_or_default(),
            chain_of_thought: options.chain_of_thought,
            check_steps: options.check_steps,
            rules: options.rules.then(|| rules::of(domain, task)),
            previous: request.previous.iter().flat_map(|p| &p.steps).map(String::as_str).collect(),
            feedback: request.feedback.iter().filter_map(|f| non_blank(f)).collect(),
        };
        self.templates.render("plan", &context)
    }

    /// The system text of the explainer.
    pub(crate) fn explain_system(&self) -> Result<String, Failure> {
        self.templates.render("explain_system", &())
    }

    /// The question for an explanation of a plan.
    pub(crate) fn explain(
        &self,
        domain_text: &str,
        task_text: &str,
        steps: &[String],
    ) -> Result<String, Failure> {
        let context = ExplainContext {
            domain_text: domain_text.trim(),
            task_text: task_text.trim(),
            plan: steps.join("\n"),
        };
        self.templates.render("explain", &context)
    }
}

/// A text, unless it is blank.
fn non_blank(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|t| !t.is_empty())
}

fn example<'a>(options: &LlmPlannerOptions, task: &'a TaskView) -> Result<Option<Example<'a>>, Failure> {
    if options.example == Some(false) {
        return Ok(None);
    }
    let material = &task.materials.example;
    let present = |text: &'a Option<String>| text.as_deref().and_then(non_blank);
    match (present(&material.text), present(&material.plan)) {
        (Some(text), Some(plan)) => {
            let domain = present(&material.domain_text).or_else(|| present(&material.domain));
            Ok(Some(Example { domain, text, plan }))
        }
        // An example of a problem alone is not a mistake in the suite: other methods use it.
        (_, None) if options.example.is_none() => Ok(None),
        (found, _) => {
            let lost = if found.is_none() { EXAMPLE_TEXT } else { EXAMPLE_PLAN };
            Err(Failure::new(
                FailureClass::Request,
                codes::NO_EXAMPLE,
                format!("suite `{}` has no material `{lost}` for the in-context example", task.suite),
            )
            .help(format!(
                "add `{EXAMPLE_TEXT}` and `{EXAMPLE_PLAN}` to the suite, or set `example = false`"
            )))
        }
    }
}

fn no_text(message: &str) -> Failure {
    Failure::new(FailureClass::Request, codes::NO_TEXT, message).help(
        "put the texts into the suite, as `domain.nl` and `p01.nl`, or give the PDDL in the pipeline file",
    )
}
