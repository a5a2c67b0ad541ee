//! The prompts: templates in `templates/`, filled with PDDL and texts. What is inserted is data and is never read as a
//! template.

use crate::read::{Predicate, Type};
use crate::{DescribeOptions, Mode, codes};
use planforge_contract::{Failure, SuiteMaterials, TaskView, TranslateRequest};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;

const TEMPLATES: [(&str, &str); 5] = [
    ("system", include_str!("../templates/system.txt")),
    ("domain-text", include_str!("../templates/domain-text.txt")),
    ("task-text", include_str!("../templates/task-text.txt")),
    ("sentences", include_str!("../templates/sentences.txt")),
    ("types", include_str!("../templates/types.txt")),
];

#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Templates,
}

/// PDDL, and what it became.
#[derive(Debug, Serialize)]
struct Example<'a> {
    given: String,
    told: &'a str,
}

#[derive(Serialize)]
struct Context<'a> {
    examples: Vec<Example<'a>>,
    domain: &'a str,
    domain_text: &'a str,
    problem: Option<&'a str>,
    predicates: Vec<String>,
    types: Vec<String>,
    feedback: Vec<&'a str>,
}

impl Prompts {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::with_trimmed_blocks(codes::TEMPLATE, &TEMPLATES)? })
    }

    pub(crate) fn system(&self, options: &DescribeOptions) -> Result<String, Failure> {
        self.templates.system(options.system.as_deref(), &())
    }

    /// The question of a mode. The domain's text is the candidate's, written by an earlier stage, else the suite's.
    pub(crate) fn question(
        &self,
        options: &DescribeOptions,
        request: &TranslateRequest,
        domain: &str,
        problem: Option<&str>,
        predicates: &[Predicate],
    ) -> Result<String, Failure> {
        let task = &request.task;
        let written = request.candidate.texts.named.get(Mode::DomainText.name());
        let context = Context {
            examples: examples(options, task),
            domain: domain.trim(),
            domain_text: written.map_or(task.domain_text.as_str(), String::as_str).trim(),
            problem: problem.map(str::trim),
            predicates: predicates.iter().map(Predicate::declaration).collect(),
            types: Type::all(domain).iter().map(Type::declaration).collect(),
            feedback: request.feedback.iter().map(|f| f.trim()).collect(),
        };
        self.templates.render(options.mode.name(), &context)
    }
}

/// The examples of a mode: for a task the one of its own suite if it exists, so that all tasks have one
/// style.
fn examples<'a>(options: &DescribeOptions, task: &'a TaskView) -> Vec<Example<'a>> {
    let pair = |given: &Option<String>, told: &'a Option<String>| {
        let given = nonblank(given)?;
        let given = match options.mode {
            Mode::Sentences => {
                Predicate::all(given).iter().map(Predicate::declaration).collect::<Vec<_>>().join("\n")
            }
            Mode::Types => Type::all(given).iter().map(Type::declaration).collect::<Vec<_>>().join("\n"),
            Mode::DomainText | Mode::TaskText => given.to_owned(),
        };
        Some(Example { given, told: nonblank(told)? })
    };
    let lead = &task.materials.lead;
    if options.mode == Mode::TaskText
        && let Some(own) = pair(&lead.problem, &lead.text)
    {
        return vec![own];
    }
    let most = options.examples.map_or(usize::MAX, |n| n as usize);
    let of_suite = |suite: &'a SuiteMaterials| match options.mode {
        Mode::DomainText => pair(&suite.domain, &suite.domain_text),
        Mode::TaskText => pair(&suite.problem, &suite.text),
        Mode::Sentences => pair(&suite.domain, &suite.sentences),
        Mode::Types => pair(&suite.domain, &suite.types),
    };
    task.materials.suites.iter().filter_map(of_suite).take(most).collect()
}

fn nonblank(text: &Option<String>) -> Option<&str> {
    text.as_deref().map(str::trim).filter(|text| !text.is_empty())
}
