//! Questions for a thought and PDDL in one reply, and for both written anew (test-time-scaling paper, section 3.3 and Appendices D, H).

use super::{Prompts, need_domain, need_problem};
use crate::options::{Artefact, Options};
use crate::skeleton;
use planforge_contract::{Failure, TaskView, TranslateRequest};
use serde::Serialize;

/// What is known of a domain or a problem to write. Texts that are not there are empty or absent.
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
    /// Asks for a thought and a domain or problem, zero-shot. `other` is the PDDL on the other side: the problem that a domain must fit,
    /// the domain that a problem is for.
    pub(crate) fn thought(
        &self,
        options: &Options,
        task: &TaskView,
        other: Option<&str>,
    ) -> Result<String, Failure> {
        let context = given(options, task, other)?;
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

    /// Asks for the candidate's thought and PDDL written anew: f_update (Eq. 4). Where nobody found anything wrong, the question says so.
    pub(crate) fn update(
        &self,
        options: &Options,
        request: &TranslateRequest,
        other: Option<&str>,
    ) -> Result<String, Failure> {
        let candidate = &request.candidate;
        let context = given(options, &request.task, other)?;
        let (given, rules) = self.given_and_rules(options, &context)?;
        let written = match options.artefact() {
            Artefact::Domain => candidate.domain.as_deref(),
            Artefact::Problem => candidate.problem.as_deref(),
        };
        let there = |text: &&str| !text.is_empty();
        let context = UpdateContext {
            what: context.what,
            from_text: options.artefact() == Artefact::Problem || !context.domain_text.is_empty(),
            given,
            thought: candidate.thought.as_deref().map(str::trim).filter(there),
            pddl: written.map(str::trim).filter(there),
            feedback: request.feedback.iter().map(|f| f.trim()).filter(there).collect(),
            thinks: options.thinks(),
            rules,
            form: self.form(options, context.domain_name.as_deref())?,
        };
        self.templates.render("update", &context)
    }

    /// What the answer looks like; a domain with its name, where that is known.
    pub(super) fn form(&self, options: &Options, domain_name: Option<&str>) -> Result<String, Failure> {
        let (what, heading) = match options.artefact() {
            Artefact::Domain => ("domain", "Domain"),
            Artefact::Problem => ("problem", "Problem"),
        };
        self.templates.render("form", &FormContext { what, heading, domain_name, thinks: options.thinks() })
    }

    fn given_and_rules(
        &self,
        options: &Options,
        context: &GivenContext<'_>,
    ) -> Result<(String, String), Failure> {
        let (given, rules) = match options.artefact() {
            Artefact::Domain => ("given-domain", "rules-domain"),
            Artefact::Problem => ("given-problem", "rules-problem"),
        };
        Ok((self.templates.render(given, context)?, self.templates.render(rules, context)?))
    }
}

fn given<'a>(
    options: &Options,
    task: &'a TaskView,
    other: Option<&'a str>,
) -> Result<GivenContext<'a>, Failure> {
    let artefact = options.artefact();
    let other = other.map(str::trim).filter(|text| !text.is_empty());
    let (domain, problem) = match artefact {
        Artefact::Domain => (None, other),
        Artefact::Problem => (other, None),
    };
    match artefact {
        Artefact::Domain => need_domain(task, problem)?,
        Artefact::Problem => need_problem(task, domain)?,
    }
    let wanted = problem.and_then(skeleton::wanted_domain).or_else(|| domain.and_then(skeleton::domain_name));
    let domain_name = wanted.or_else(|| options.template.then(|| skeleton::suite_name(task)));
    let of_actions = options.template && domain.is_none();
    let of_objects = options.template && artefact == Artefact::Problem;
    Ok(GivenContext {
        what: artefact.word(),
        domain_text: task.domain_text.trim(),
        task_text: task.task_text.trim(),
        domain,
        problem,
        interface: of_actions.then(|| skeleton::interface(task, domain_name.as_deref())).transpose()?,
        skeleton: of_objects.then(|| skeleton::problem(task, domain_name.as_deref())).transpose()?,
        domain_name,
    })
}
