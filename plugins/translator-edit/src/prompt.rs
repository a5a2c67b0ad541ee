//! The prompts: templates filled with the task's texts. Inserted texts are data and are never read as templates.

use crate::calls::{ACTION, PREDICATES};
use crate::example::EditExample;
use crate::options::EditOptions;
use planforge_contract::{Failure, TranslateRequest};
use planforge_plugin_sdk::prompt::Templates;
use planforge_translating::{PROMPT_TEMPLATE, need_domain_text};
use serde::Serialize;

const TEMPLATES: [(&str, &str); 3] = [
    ("system", include_str!("../templates/system.txt")),
    ("edit", include_str!("../templates/edit.txt")),
    ("edit-again", include_str!("../templates/edit-again.txt")),
];

#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Templates,
}

#[derive(Serialize)]
struct SystemContext {
    reason: bool,
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

impl Prompts {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::new(PROMPT_TEMPLATE, &TEMPLATES)? })
    }

    /// The system text of the option, else that of the plugin.
    pub(crate) fn system(&self, options: &EditOptions) -> Result<String, Failure> {
        self.templates.system(options.system.as_deref(), &SystemContext { reason: options.reason })
    }

    /// Asks for the first edits of a domain. `revising`: the findings follow in the same turn.
    pub(crate) fn edit(
        &self,
        options: &EditOptions,
        request: &TranslateRequest,
        domain: &str,
        revising: bool,
    ) -> Result<String, Failure> {
        let task = &request.task;
        need_domain_text(task)?;
        let problem = request.candidate.problem.as_deref().or(task.given.problem.as_deref());
        let context = EditContext {
            add: PREDICATES,
            modify: ACTION,
            domain_text: task.domain_text.trim(),
            domain: domain.trim(),
            problem: problem.map(str::trim),
            example: EditExample::of_task(options, task)?,
            revising,
            reason: options.reason,
        };
        self.templates.render("edit", &context)
    }

    /// Asks for further edits after a check. `domain`: the current domain, unless the turn shows it already.
    pub(crate) fn edit_again(
        &self,
        options: &EditOptions,
        request: &TranslateRequest,
        domain: Option<&str>,
    ) -> Result<String, Failure> {
        let context = EditAgainContext {
            add: PREDICATES,
            modify: ACTION,
            domain: domain.map(str::trim),
            feedback: request.feedback.iter().map(|f| f.trim()).collect(),
            reason: options.reason,
        };
        self.templates.render("edit-again", &context)
    }
}
