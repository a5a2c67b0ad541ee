//! The grammar of a question's replies.

use crate::options::DirectOptions;
use planforge_contract::{Constraint, Failure, Reply, TaskView};
use planforge_diagnostics::SourceId;
use planforge_grammar::json::{objects_from_json, objects_schema, problem_from_json, problem_schema};
use planforge_grammar::{domain_grammar, objects_grammar, problem_grammar};
use planforge_pddl::ast::{Domain, TypedName};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_plugin_common::translating::{problem_template, problem_with_objects, reply_as_pddl};
use planforge_plugin_sdk::reply::{check_finish, no_pddl};

/// The constraint of a question, and the parts of the task that it is made from.
#[derive(Debug, Default)]
pub(crate) struct QuestionGrammar {
    pub(crate) constraint: Option<Constraint>,
    domain: Domain,
    objects: Option<Vec<TypedName>>,
}

impl QuestionGrammar {
    /// The grammar of the problems of that domain.
    pub(crate) fn of_problem(
        options: &DirectOptions,
        task: &TaskView,
        domain: Option<&str>,
    ) -> Result<Self, Failure> {
        let usage = options.grammar;
        if usage.is_off() {
            return Ok(Self::default());
        }
        let parsed = domain.map(|text| parse_domain(text, SourceId(0)));
        let Some(parsed) = parsed.filter(|parsed| !parsed.has_errors()) else {
            let constraint = usage.without_grammar("no readable domain is known")?;
            return Ok(Self { constraint, ..Self::default() });
        };
        let domain = parsed.value;
        let objects = shown_objects(options, task);
        let grammar = problem_grammar(&domain, objects.as_deref());
        let schema = problem_schema(&domain, objects.as_deref());
        let constraint = usage.constraint(&grammar, ("pddl", options.reason), Some(schema));
        Ok(Self { constraint: Some(constraint), domain, objects })
    }

    /// The grammar of the objects of a problem of that domain. `None` if the objects are shown, the domain is not readable, or grammars are off.
    pub(crate) fn of_objects(options: &DirectOptions, task: &TaskView, domain: Option<&str>) -> Option<Self> {
        if options.grammar.is_off() || shown_objects(options, task).is_some() {
            return None;
        }
        let domain = parse_domain(domain?, SourceId(0));
        let domain = (!domain.has_errors()).then_some(domain.value)?;
        let (grammar, schema) = (objects_grammar(&domain), objects_schema(&domain));
        let constraint = options.grammar.constraint(&grammar, ("pddl", options.reason), Some(schema));
        Some(Self { constraint: Some(constraint), domain, objects: None })
    }

    /// The task with a template of the objects that the reply names.
    pub(crate) fn task_with_objects(&self, task: &TaskView, reply: &Reply) -> Result<TaskView, Failure> {
        check_finish(reply)?;
        let read = |text: &str| objects_from_json(&self.domain, text);
        let text = reply_as_pddl(reply, self.constraint.as_ref(), read)?.content;
        // A thought may speak of the list; the last one is the answer.
        let section = text.to_ascii_lowercase().rfind("(:objects");
        let section = section.ok_or_else(|| no_pddl("the reply holds no list `(:objects ...)`"))?;
        let mut task = task.clone();
        let template = problem_with_objects(&task, &self.domain, &text[section..]);
        task.materials.templates.objects = Some(template);
        Ok(task)
    }

    /// The grammar of whole domains.
    pub(crate) fn of_domain(options: &DirectOptions) -> Self {
        let grammar = || {
            let grammar = domain_grammar(&Domain::default());
            options.grammar.constraint(&grammar, ("pddl", options.reason), None)
        };
        Self { constraint: (!options.grammar.is_off()).then(grammar), ..Self::default() }
    }

    /// The reply with PDDL in the place of JSON.
    pub(crate) fn pddl(&self, reply: &Reply) -> Result<Reply, Failure> {
        let read = |text: &str| problem_from_json(&self.domain, self.objects.as_deref(), text);
        reply_as_pddl(reply, self.constraint.as_ref(), read)
    }
}

/// The objects that the method may see: those of the template that the question shows, or of the interface that the pipeline gives.
fn shown_objects(options: &DirectOptions, task: &TaskView) -> Option<Vec<TypedName>> {
    let given = task.action_interface.as_ref().is_some_and(|interface| !interface.objects.is_empty());
    let template = (options.template || given).then(|| problem_template(task, None).ok()).flatten()?;
    Some(parse_problem(&template, SourceId(0)).value.objects).filter(|objects| !objects.is_empty())
}
