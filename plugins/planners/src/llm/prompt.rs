//! The questions: for a plan, with the rules of a domain in words, and for an explanation of a plan.

use crate::llm::{LlmPlannerOptions, codes};
use planforge_contract::{
    CompletionRequest, Failure, FailureClass, Message, PlanDocument, PlanRequest, Reply, Sampling, Tags,
    TaskView,
};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Action, Atom, Condition, Domain, Effect};
use planforge_pddl::{parse_domain, print_condition, print_effect};
use planforge_plugin_sdk::prompt::Templates;
use planforge_plugin_sdk::wording::Wording;
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
            rules: options.rules.then(|| of(domain, task)),
            previous: request.previous.iter().flat_map(|p| &p.steps).map(String::as_str).collect(),
            feedback: request.feedback.iter().filter_map(|f| non_blank(f)).collect(),
        };
        self.templates.render("plan", &context)
    }

    /// The system text of the explainer.
    fn explain_system(&self) -> Result<String, Failure> {
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

/// The rules: of the domain if it is given, else of the domain's text.
fn of(domain: Option<&str>, task: &TaskView) -> String {
    match domain {
        Some(domain) => of_domain(&parse_domain(domain, SourceId(0)).value, task),
        None => of_text(&task.domain_text),
    }
}

/// From the first entry of a list on, if the text lists its actions; else the whole text.
fn of_text(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    let first = lines.iter().position(|line| is_entry(line)).unwrap_or(0);
    lines.get(first..).unwrap_or_default().join("\n")
}

fn is_entry(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || (numbered.len() < line.len() && (numbered.starts_with(". ") || numbered.starts_with(") ")))
}

/// One entry an action. Conditions and effects other than facts are given as PDDL.
fn of_domain(domain: &Domain, task: &TaskView) -> String {
    let wording = Wording::new(&task.materials.sentences);
    let entries: Vec<String> = domain.actions.iter().map(|a| entry(a, &wording)).collect();
    entries.join("\n")
}

fn entry(action: &Action, wording: &Wording) -> String {
    let parameters: String = action.parameters.iter().map(|p| format!(" {}", p.name)).collect();
    let mut needs = Vec::new();
    action.precondition.iter().for_each(|c| conditions(c, wording, &mut needs));
    let mut changes = Vec::new();
    action.effect.iter().for_each(|e| effects(e, wording, &mut changes));
    let told = |parts: Vec<String>| match parts.is_empty() {
        true => "nothing.".to_owned(),
        false => parts.join(" "),
    };
    format!("- ({}{parameters}). It needs: {} It changes: {}", action.name, told(needs), told(changes))
}

fn conditions(condition: &Condition, wording: &Wording, out: &mut Vec<String>) {
    match condition {
        Condition::And(parts, _) => parts.iter().for_each(|p| conditions(p, wording, out)),
        Condition::Atom(atom) => out.push(fact(atom, true, wording)),
        Condition::Not(inner, _) => match &**inner {
            Condition::Atom(atom) => out.push(fact(atom, false, wording)),
            Condition::Equal(a, b, _) => out.push(format!("{} and {} are different.", a.name(), b.name())),
            _ => out.push(format!("{}.", print_condition(condition))),
        },
        other => out.push(format!("{}.", print_condition(other))),
    }
}

fn effects(effect: &Effect, wording: &Wording, out: &mut Vec<String>) {
    match effect {
        Effect::And(parts, _) => parts.iter().for_each(|p| effects(p, wording, out)),
        Effect::Add(atom) => out.push(fact(atom, true, wording)),
        Effect::Delete(atom, _) => out.push(fact(atom, false, wording)),
        other => out.push(format!("{}.", print_effect(other))),
    }
}

fn fact(atom: &Atom, holds: bool, wording: &Wording) -> String {
    let arguments: Vec<String> = atom.args.iter().map(|t| t.name().to_string()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    wording.fact(atom.predicate.as_str(), &arguments, holds)
}

/// The role of the model that explains plans.
pub const EXPLAINER: &str = "explainer";

/// The request for an explanation of a validated plan. The texts of the task may be empty.
///
/// # Errors
/// [`FailureClass::Request`] if the plan has no steps.
pub fn explain_request(task: &TaskView, plan: &PlanDocument) -> Result<CompletionRequest, Failure> {
    if plan.steps.is_empty() {
        return Err(Failure::new(
            FailureClass::Request,
            codes::NOTHING_TO_EXPLAIN,
            "the plan has no steps: the goal holds from the start",
        ));
    }
    let prompts = Prompts::new()?;
    Ok(CompletionRequest {
        messages: vec![
            Message::system(prompts.explain_system()?),
            Message::user(prompts.explain(&task.domain_text, &task.task_text, &plan.steps)?),
        ],
        sampling: Sampling { n: Some(1), ..Sampling::default() },
        tags: Tags::of(task, "explanation"),
        ..CompletionRequest::default()
    })
}

/// The text of the explainer's reply.
///
/// # Errors
/// [`FailureClass::Reply`] where the reply is empty or was cut off.
pub fn explanation(reply: &Reply) -> Result<String, Failure> {
    crate::llm::read::check_finish(reply)?;
    let text = reply.content.trim();
    match text.is_empty() {
        true => Err(Failure::new(FailureClass::Reply, codes::NO_EXPLANATION, "the reply is empty")),
        false => Ok(text.to_owned()),
    }
}
