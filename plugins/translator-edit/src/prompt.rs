//! The prompts: templates filled with the task's texts. Inserted texts are data and are never read as templates.

use crate::base::Base;
use crate::calls::{ACTION, GOAL, INIT, OBJECTS, PREDICATES};
use crate::example::EditExample;
use crate::options::EditOptions;
use planforge_contract::{Failure, TranslateRequest};
use planforge_plugin_common::translating::{PROMPT_TEMPLATE, need_domain_text};
use planforge_plugin_sdk::prompt::Templates;
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
    joint: bool,
    reason: bool,
}

#[derive(Serialize)]
struct EditContext<'a> {
    add: &'static str,
    modify: &'static str,
    domain_text: &'a str,
    domain: &'a str,
    problem: Option<&'a str>,
    joint: Option<JointContext<'a>>,
    example: Option<EditExample<'a>>,
    revising: bool,
    reason: bool,
}

#[derive(Serialize)]
struct EditAgainContext<'a> {
    add: &'static str,
    modify: &'static str,
    domain: Option<&'a str>,
    joint: Option<JointContext<'a>>,
    feedback: Vec<&'a str>,
    reason: bool,
}

/// The additional context if the model may edit the problem too.
#[derive(Serialize)]
struct JointContext<'a> {
    edit_objects: &'static str,
    edit_init: &'static str,
    edit_goal: &'static str,
    task_text: &'a str,
    problem: &'a str,
    defects: &'a [String],
}

impl<'a> JointContext<'a> {
    fn new(request: &'a TranslateRequest, base: &'a Base) -> Option<Self> {
        base.problem.as_ref().map(|problem| Self {
            edit_objects: OBJECTS,
            edit_init: INIT,
            edit_goal: GOAL,
            task_text: request.task.task_text.trim(),
            problem: problem.text.trim(),
            defects: &problem.defects,
        })
    }
}

impl Prompts {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::new(PROMPT_TEMPLATE, &TEMPLATES)? })
    }

    /// The system text of the option, else that of the plugin.
    pub(crate) fn system(&self, options: &EditOptions) -> Result<String, Failure> {
        let context = SystemContext { joint: options.problem, reason: options.reason };
        self.templates.system(options.system.as_deref(), &context)
    }

    /// Asks for the first edits of a domain. `revising`: the findings follow in the same turn.
    pub(crate) fn edit(
        &self,
        options: &EditOptions,
        request: &TranslateRequest,
        base: &Base,
        revising: bool,
    ) -> Result<String, Failure> {
        let task = &request.task;
        need_domain_text(task)?;
        let problem = request.candidate.problem.as_deref().or(task.given.problem.as_deref());
        let context = EditContext {
            add: PREDICATES,
            modify: ACTION,
            domain_text: task.domain_text.trim(),
            domain: base.text.trim(),
            problem: problem.map(str::trim),
            joint: JointContext::new(request, base),
            example: EditExample::of_task(options, task)?,
            revising,
            reason: options.reason,
        };
        self.templates.render("edit", &context)
    }

    /// Asks for further edits after a check. `shows`: the current texts are part of it, because the turn does not show them yet.
    pub(crate) fn edit_again(
        &self,
        options: &EditOptions,
        request: &TranslateRequest,
        base: &Base,
        shows: bool,
    ) -> Result<String, Failure> {
        let context = EditAgainContext {
            add: PREDICATES,
            modify: ACTION,
            domain: shows.then(|| base.text.trim()),
            joint: JointContext::new(request, base),
            feedback: request.feedback.iter().map(|f| f.trim()).collect(),
            reason: options.reason,
        };
        self.templates.render("edit-again", &context)
    }
}
