//! The prompts: templates in `templates/`, filled with what is known of the task. A text that is inserted is data and is never
//! read as a template.

use crate::codes;
use crate::options::{CritiqueOptions, Evidence, Form, Of};
use planforge_contract::{
    Candidate, Failure, FailureClass, PlanDocument, PlanOutcome, ReportedSeverity, TaskView,
};
use planforge_plugin_sdk::checked::{Texts, check};
use planforge_plugin_sdk::feedback;
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;

const TEMPLATES: [(&str, &str); 7] = [
    ("system", include_str!("../templates/system.txt")),
    ("domain", include_str!("../templates/domain.txt")),
    ("problem", include_str!("../templates/problem.txt")),
    ("plan", include_str!("../templates/plan.txt")),
    ("again", include_str!("../templates/again.txt")),
    ("written", include_str!("../templates/written.txt")),
    ("answer", include_str!("../templates/answer.txt")),
];

/// Most findings that the question asks for: a writer corrects a few better than many, and small models need
/// a limit.
const MOST: usize = 8;

#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Templates,
}

/// The criticised part of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Subject<'a> {
    Pddl(&'a str),
    Plan(&'a PlanDocument),
}

#[derive(Serialize)]
struct SystemContext {
    what: &'static str,
}

#[derive(Serialize)]
struct Context<'a> {
    what: &'static str,
    again: bool,
    structured: bool,
    most: usize,
    domain_text: &'a str,
    task_text: &'a str,
    domain: Option<&'a str>,
    problem: Option<&'a str>,
    signatures: Vec<String>,
    thought: Option<&'a str>,
    artefact: String,
    cost: Option<String>,
    evidence: Vec<String>,
}

/// The criticised part of the candidate; `None` if it is missing.
pub(crate) fn subject<'a>(of: Of, candidate: &'a Candidate, task: &'a TaskView) -> Option<Subject<'a>> {
    let texts = Texts::of(candidate, &task.given);
    match of {
        Of::Domain => texts.domain.map(Subject::Pddl),
        Of::Problem => texts.problem.map(Subject::Pddl),
        Of::Plan => candidate.plan.as_ref().and_then(PlanOutcome::best).map(Subject::Plan),
    }
}

impl Prompts {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::new(codes::TEMPLATE, &TEMPLATES)? })
    }

    /// The system text: the option's, or ours.
    pub(crate) fn system(&self, options: &CritiqueOptions) -> Result<String, Failure> {
        self.templates.system(options.system.as_deref(), &SystemContext { what: options.of.name() })
    }

    /// The question for a critique. `told`: findings of other stages. `again`: the conversation has the task
    /// and an earlier version.
    pub(crate) fn question(
        &self,
        options: &CritiqueOptions,
        task: &TaskView,
        candidate: &Candidate,
        subject: &Subject<'_>,
        told: &[String],
        again: bool,
    ) -> Result<String, Failure> {
        let texts = Texts::of(candidate, &task.given);
        let known = ComparedTexts::new(options.of, task, texts)?;
        let (artefact, cost) = match subject {
            Subject::Pddl(text) => (text.trim().to_owned(), None),
            Subject::Plan(plan) => {
                (steps(plan), plan.claims.as_ref().and_then(|c| c.cost).map(|c| c.to_string()))
            }
        };
        let thought = candidate.thought.as_deref().and_then(non_blank).filter(|_| options.of != Of::Plan);
        let context = Context {
            what: options.of.name(),
            again,
            structured: options.form == Form::Structured,
            most: MOST,
            domain_text: known.domain_text,
            task_text: known.task_text,
            domain: known.domain,
            problem: known.problem,
            signatures: known.signatures,
            thought,
            artefact,
            cost,
            evidence: evidence(options, texts, told),
        };
        self.templates.render(if again { "again" } else { options.of.name() }, &context)
    }
}

/// The texts that the candidate is compared with.
struct ComparedTexts<'a> {
    domain_text: &'a str,
    task_text: &'a str,
    domain: Option<&'a str>,
    problem: Option<&'a str>,
    signatures: Vec<String>,
}

impl<'a> ComparedTexts<'a> {
    fn new(of: Of, task: &'a TaskView, texts: Texts<'a>) -> Result<Self, Failure> {
        let (domain_text, task_text) = (task.domain_text.trim(), task.task_text.trim());
        let (domain, problem) = (texts.domain.map(str::trim), texts.problem.map(str::trim));
        let lost = match of {
            Of::Domain => (domain_text.is_empty() && problem.is_none())
                .then_some("neither a text about the domain nor a problem is given"),
            Of::Problem if task_text.is_empty() => Some("there is no text about the task"),
            Of::Plan if task_text.is_empty() && problem.is_none() => {
                Some("neither a text about the task nor a problem is given")
            }
            Of::Problem | Of::Plan => (domain_text.is_empty() && domain.is_none())
                .then_some("neither a text about the domain nor a domain is given"),
        };
        if let Some(lost) = lost {
            return Err(no_text(of, lost));
        }
        let interface = task.action_interface.iter().flat_map(|i| &i.actions);
        Ok(Self {
            domain_text,
            task_text,
            domain: domain.filter(|_| of != Of::Domain),
            problem: problem.filter(|_| of != Of::Problem),
            signatures: match of {
                Of::Domain => interface.map(ToString::to_string).collect(),
                Of::Plan if domain.is_none() => interface.map(ToString::to_string).collect(),
                Of::Problem | Of::Plan => Vec::new(),
            },
        })
    }
}

/// Findings for the critic: those of the PDDL checks if the options ask for them, then those of other stages.
fn evidence(options: &CritiqueOptions, texts: Texts<'_>, told: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    if options.evidence.contains(&Evidence::Diagnostics) {
        let checked = check(texts, "");
        all.extend(["domain", "problem"].into_iter().filter_map(|what| feedback::pddl(&checked, what)));
        if checked.count(ReportedSeverity::Error) == 0 {
            let what = match (texts.domain, texts.problem) {
                (Some(_), Some(_)) => "domain and the problem",
                (Some(_), None) => "domain",
                (None, _) => "problem",
            };
            all.push(format!("A parser finds no errors in the {what}."));
        }
    }
    all.extend(told.iter().filter_map(|text| non_blank(text)).map(str::to_owned));
    all
}

/// One step a line.
fn steps(plan: &PlanDocument) -> String {
    plan.steps.join("\n")
}

/// A text, unless it is blank.
fn non_blank(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|t| !t.is_empty())
}

fn no_text(of: Of, lost: &str) -> Failure {
    let message = format!("there is nothing to hold the {} against: {lost}", of.name());
    Failure::new(FailureClass::Request, codes::NO_TEXT, message).help(
        "put the texts into the suite, as `domain.nl` and `p01.nl`, or give the PDDL in the pipeline file",
    )
}
