//! The prompts: templates filled with the task's texts. Inserted texts are data and are never read as templates.

use crate::EditOptions;
use crate::base::Base;
use crate::calls::{ACTION, GOAL, INIT, OBJECTS, PREDICATES};
use planforge_contract::{Failure, FailureClass, TaskView, TranslateRequest};
use planforge_diagnostics::{SourceId, Span};
use planforge_pddl::ast::{Action, Condition, Domain, Effect};
use planforge_pddl::{parse_domain, print_condition, print_domain, print_effect, print_typed_list};
use planforge_plugin_common::translating::{
    NO_EXAMPLE, PROMPT_TEMPLATE, domain_of_problem, example_pair, material, need_domain_text,
};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;
use std::fmt::Write as _;

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

const DOMAIN_TEXT: &str = "example.domain-text";
const DOMAIN: &str = "example.domain";

/// A text about a domain, the domain's interface, and the calls that turn the interface into the domain.
#[derive(Serialize)]
struct EditExample<'a> {
    text: &'a str,
    problem: Option<&'a str>,
    template: String,
    calls: String,
}

impl<'a> EditExample<'a> {
    /// The example of the task, as the option asks for it.
    fn of_task(options: &EditOptions, task: &'a TaskView) -> Result<Option<Self>, Failure> {
        let materials = &task.materials.example;
        let text = (DOMAIN_TEXT, &materials.domain_text);
        let pair = example_pair(task, text, (DOMAIN, &materials.domain), options.example)?;
        let Some((text, domain)) = pair else { return Ok(None) };
        let parsed = parse_domain(domain, SourceId(0));
        if parsed.has_errors() || parsed.value.actions.is_empty() {
            let message =
                format!("the material `{DOMAIN}` of suite `{}` is not a domain with actions", task.suite);
            return Err(Failure::new(FailureClass::Request, NO_EXAMPLE, message).help(
                "check the example's domain with `planforge pddl validate`, or set `example = false`",
            ));
        }
        let template = match material(&materials.domain_template) {
            Some(template) => template.to_owned(),
            None => print_domain(&emptied_domain(&parsed.value)).trim_end().to_owned(),
        };
        let problem = material(&materials.problem).filter(|problem| {
            let name = parsed.value.name.as_ref();
            domain_of_problem(problem).is_some_and(|w| name.is_some_and(|n| n.is(&w.to_lowercase())))
        });
        let calls = domain_as_calls(&parsed.value).trim_end().to_owned();
        Ok(Some(Self { text, problem, template, calls }))
    }
}

/// The domain without predicates, conditions and effects.
pub(crate) fn emptied_domain(domain: &Domain) -> Domain {
    Domain {
        predicates: Vec::new(),
        actions: domain.actions.iter().map(emptied_action).collect(),
        ..domain.clone()
    }
}

/// The calls that make the domain from its template, as Python.
pub(crate) fn domain_as_calls(domain: &Domain) -> String {
    let predicates = domain.predicates.iter().map(|p| match p.parameters.is_empty() {
        true => format!("({})", p.name),
        false => format!("({} {})", p.name, print_typed_list(&p.parameters)),
    });
    let mut out = format!("{PREDICATES}([");
    list(&mut out, "    ", predicates);
    out.push_str("])\n");
    for action in &domain.actions {
        let _ = write!(out, "\n{ACTION}(\n    {},\n    [", quoted(action.name.as_str()));
        let conditions = action.precondition.iter().flat_map(|c| c.conjuncts());
        list(&mut out, "        ", conditions.map(print_condition));
        out.push_str("],\n    [");
        let effects = action.effect.iter().flat_map(|e| e.conjuncts());
        list(&mut out, "        ", effects.map(print_effect));
        out.push_str("],\n)\n");
    }
    out
}

/// Writes the strings one a line, then the indentation of the closing bracket.
fn list(out: &mut String, indent: &str, items: impl Iterator<Item = String>) {
    let mut any = false;
    for item in items {
        let _ = write!(out, "\n{indent}{},", quoted(&item));
        any = true;
    }
    if any {
        let _ = write!(out, "\n{}", indent.get(4..).unwrap_or_default());
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " "))
}

/// The action with an empty precondition and effect.
fn emptied_action(action: &Action) -> Action {
    let empty = Span::default();
    Action {
        precondition: Some(Condition::And(Vec::new(), empty)),
        effect: Some(Effect::And(Vec::new(), empty)),
        ..action.clone()
    }
}
