//! The prompts (test-time-scaling paper, section 3.3 and Appendices D, H): templates filled with the task's texts. Inserted texts are data
//! and are never read as templates.

use super::options::{Artefact, ThoughtOptions};
use planforge_contract::{Failure, TranslateRequest};
use planforge_plugin_common::translating::{
    PROMPT_TEMPLATE, REVISE_TEMPLATE, Revision, SYSTEM_TEMPLATE, domain_name, domain_of_problem,
    domain_template, need_domain_source, need_problem_text, problem_template, suite_name, with_holes,
};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;

const TEMPLATES: [(&str, &str); 10] = [
    SYSTEM_TEMPLATE,
    ("system-thought", include_str!("../../templates/thought/system.txt")),
    ("thought", include_str!("../../templates/thought/thought.txt")),
    ("update", include_str!("../../templates/thought/update.txt")),
    REVISE_TEMPLATE,
    ("form", include_str!("../../templates/thought/form.txt")),
    ("given-domain", include_str!("../../templates/thought/given-domain.txt")),
    ("given-problem", include_str!("../../templates/thought/given-problem.txt")),
    ("rules-domain", include_str!("../../templates/thought/rules-domain.txt")),
    ("rules-problem", include_str!("../../templates/thought/rules-problem.txt")),
];

#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Templates,
}

/// The material for a domain or a problem. Missing texts are empty or absent.
#[derive(Serialize)]
struct GivenContext<'a> {
    what: &'static str,
    domain_text: &'a str,
    task_text: &'a str,
    domain: Option<&'a str>,
    problem: Option<&'a str>,
    domain_name: Option<String>,
    interface: Option<String>,
    skeleton: Option<String>,
}

#[derive(Serialize)]
struct ThoughtContext<'a> {
    what: &'static str,
    domain_text: &'a str,
    given: String,
    rules: String,
    form: String,
}

#[derive(Serialize)]
struct UpdateContext<'a> {
    what: &'static str,
    from_text: bool,
    given: String,
    thought: Option<&'a str>,
    pddl: Option<&'a str>,
    feedback: Vec<&'a str>,
    thinks: bool,
    rules: String,
    form: String,
}

#[derive(Serialize)]
struct FormContext<'a> {
    what: &'static str,
    heading: &'static str,
    domain_name: Option<&'a str>,
    thinks: bool,
}

impl Prompts {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::new(PROMPT_TEMPLATE, &TEMPLATES)? })
    }

    /// The system text of the option, else that of the form.
    pub(crate) fn system(&self, options: &ThoughtOptions) -> Result<String, Failure> {
        match &options.system {
            Some(text) => Ok(text.trim_end().to_owned()),
            None if options.has_thought() => self.templates.render("system-thought", &()),
            None => self.templates.render(SYSTEM_TEMPLATE.0, &()),
        }
    }

    /// Asks for a domain or problem, zero-shot.
    pub(crate) fn thought(
        &self,
        options: &ThoughtOptions,
        request: &TranslateRequest,
    ) -> Result<String, Failure> {
        let context = given_context(options, request)?;
        let (given, rules) = self.given_and_rules(options, &context)?;
        let context = ThoughtContext {
            what: context.what,
            domain_text: context.domain_text,
            given,
            rules,
            form: self.form(options, context.domain_name.as_deref())?,
        };
        self.templates.render("thought", &context)
    }

    /// Asks for a correction of the candidate.
    pub(crate) fn revise(
        &self,
        options: &ThoughtOptions,
        request: &TranslateRequest,
    ) -> Result<String, Failure> {
        let (domain, problem) = (request.candidate.domain.as_deref(), request.candidate.problem.as_deref());
        let name = domain.and_then(domain_name);
        let context = Revision {
            domain: domain.filter(|_| options.artefact == Artefact::Domain).map(str::trim),
            problem: problem.filter(|_| options.artefact == Artefact::Problem).map(str::trim),
            feedback: request.feedback.iter().map(|f| f.trim()).collect(),
            what: options.artefact.word(),
            reason: false,
            form: Some(self.form(options, name.as_deref())?),
        };
        self.templates.render(REVISE_TEMPLATE.0, &context)
    }

    /// Asks for the candidate's thought and PDDL anew: f_update (Eq. 4). Without findings the question says so.
    pub(crate) fn update(
        &self,
        options: &ThoughtOptions,
        request: &TranslateRequest,
    ) -> Result<String, Failure> {
        let candidate = &request.candidate;
        let context = given_context(options, request)?;
        let (given, rules) = self.given_and_rules(options, &context)?;
        let written = match options.artefact {
            Artefact::Domain => candidate.domain.as_deref(),
            Artefact::Problem => candidate.problem.as_deref(),
        };
        let is_there = |text: &&str| !text.is_empty();
        let context = UpdateContext {
            what: context.what,
            from_text: options.artefact == Artefact::Problem || !context.domain_text.is_empty(),
            given,
            thought: candidate.thought.as_deref().map(str::trim).filter(is_there),
            pddl: written.map(str::trim).filter(is_there),
            feedback: request.feedback.iter().map(|f| f.trim()).filter(is_there).collect(),
            thinks: options.has_thought(),
            rules,
            form: self.form(options, context.domain_name.as_deref())?,
        };
        self.templates.render("update", &context)
    }

    /// The required form of the answer, with the domain's name if it is known.
    fn form(&self, options: &ThoughtOptions, domain_name: Option<&str>) -> Result<String, Failure> {
        let (what, heading) = match options.artefact {
            Artefact::Domain => ("domain", "Domain"),
            Artefact::Problem => ("problem", "Problem"),
        };
        let thinks = options.has_thought();
        self.templates.render("form", &FormContext { what, heading, domain_name, thinks })
    }

    fn given_and_rules(
        &self,
        options: &ThoughtOptions,
        context: &GivenContext<'_>,
    ) -> Result<(String, String), Failure> {
        let (given, rules) = match options.artefact {
            Artefact::Domain => ("given-domain", "rules-domain"),
            Artefact::Problem => ("given-problem", "rules-problem"),
        };
        Ok((self.templates.render(given, context)?, self.templates.render(rules, context)?))
    }
}

/// The material of the question. A domain must fit the problem, a problem the domain: the candidate's, else the given one.
fn given_context<'a>(
    options: &ThoughtOptions,
    request: &'a TranslateRequest,
) -> Result<GivenContext<'a>, Failure> {
    let (task, candidate) = (&request.task, &request.candidate);
    let is_there = |text: &&str| !text.is_empty();
    let (domain, problem) = match options.artefact {
        Artefact::Domain => {
            let problem = candidate.problem.as_deref().or(task.given.problem.as_deref());
            (None, problem.map(str::trim).filter(is_there))
        }
        Artefact::Problem => {
            let domain = candidate.domain.as_deref().or(task.given.domain.as_deref());
            (domain.map(str::trim).filter(is_there), None)
        }
    };
    match options.artefact {
        Artefact::Domain => need_domain_source(task, problem)?,
        Artefact::Problem => need_problem_text(task, domain)?,
    }
    let wanted = problem.and_then(domain_of_problem).or_else(|| domain.and_then(domain_name));
    let domain_name = wanted.or_else(|| options.template.then(|| suite_name(task)));
    let of_actions = options.template && domain.is_none();
    let of_objects = options.template && options.artefact == Artefact::Problem;
    Ok(GivenContext {
        what: options.artefact.word(),
        domain_text: task.domain_text.trim(),
        task_text: task.task_text.trim(),
        domain,
        problem,
        interface: of_actions
            .then(|| domain_template(task, domain_name.as_deref()).map(|text| with_holes(&text)))
            .transpose()?,
        skeleton: of_objects
            .then(|| problem_template(task, domain_name.as_deref()).map(|text| with_holes(&text)))
            .transpose()?,
        domain_name,
    })
}
