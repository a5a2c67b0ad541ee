//! `translator-thought`: asks a language model (role `writer`) for a domain or a problem with a thought, which explains each predicate and
//! action on a line (test-time-scaling paper, Appendix D), and for both anew from a critique.
//!
//! | mode | the question shows | the reply |
//! |---|---|---|
//! | `write` | the texts, or without a text about the domain its problem (Prob2Domain); feedback as the next turn of the conversation | adds to the conversation |
//! | `update` | the texts, the last thought and PDDL, and the critique; no conversation (f_update, Eq. 4) | replaces thought and PDDL |
//!
//! No in-context example is shown. The thought is kept with the candidate, and the log-likelihood is that of thought and PDDL.

use crate::prompt::{FEATURE_TEMPLATES, features_of};
use planforge_plugin_common::translating::{
    PROMPT_TEMPLATE, REVISE_TEMPLATE, ROLE, Revision, SYSTEM_TEMPLATE, TaskFeatures, Writer, answered_turns,
    domain_name, domain_of_problem, domain_template, need_domain_source, need_problem_text, new_turns,
    note_without_text, problem_template, response, suite_name, with_holes,
};
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::prompt::Templates;
use planforge_plugin_sdk::reply::{WantedPddl, read_reply, read_thought_reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug)]
pub struct ThoughtTranslator {
    options: ThoughtOptions,
    prompts: Prompts,
}

impl Plugin for ThoughtTranslator {
    type Options = ThoughtOptions;

    fn about() -> About {
        About::new(
            "Asks a language model for a domain or problem with a thought, or for both anew from a critique",
        )
        .role(ROLE, "writes the thought and the PDDL")
        .logprobs_where("logprobs", "true")
        .requests(RequestCount::ForAllSamples(1))
    }

    fn create(options: ThoughtOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: Prompts::new()? })
    }
}

impl Translator for ThoughtTranslator {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        // An update is asked without the conversation and does not add to it.
        let (conversation, tag) = match self.options.mode {
            Mode::Write => (request.candidate.conversation.as_slice(), self.options.artefact.word()),
            Mode::Update => (&[][..], "update"),
        };
        let turns = new_turns(conversation, self.prompts.system(&self.options)?, self.question(request)?);
        let n = request.n.max(1);
        let writer = Writer { host, task: &request.task, logprobs: self.options.logprobs };
        let replies = writer.ask([conversation, &turns].concat(), tag, n)?;
        let patch = |reply: &Reply| {
            let patch = self.patch(request, reply)?;
            Ok::<_, Failure>(match self.options.mode {
                Mode::Write => CandidatePatch { messages: answered_turns(&turns, reply), ..patch },
                Mode::Update => CandidatePatch { rewrite: true, messages: Vec::new(), ..patch },
            })
        };
        let samples = replies.iter().take(n as usize).map(|reply| patch(reply).into()).collect();
        Ok(response(samples, n))
    }
}

impl ThoughtTranslator {
    fn question(&self, request: &TranslateRequest) -> Result<String, Failure> {
        let (options, prompts) = (&self.options, &self.prompts);
        match (options.mode, request.feedback.is_empty(), request.candidate.conversation.is_empty()) {
            (Mode::Update, ..) => prompts.update(options, request),
            (Mode::Write, true, _) => prompts.thought(options, request),
            (Mode::Write, false, false) => prompts.revise(options, request),
            // The conversation does not contain the task yet.
            (Mode::Write, false, true) => {
                let revise = prompts.revise(options, request)?;
                Ok(format!("{}\n\n{revise}", prompts.thought(options, request)?))
            }
        }
    }

    fn patch(&self, request: &TranslateRequest, reply: &Reply) -> Result<CandidatePatch, Failure> {
        let wanted = match self.options.artefact {
            Artefact::Domain => WantedPddl::Domain,
            Artefact::Problem => WantedPddl::Problem,
        };
        let read = if self.options.has_thought() { read_thought_reply } else { read_reply };
        let mut patch = read(reply, wanted, request.fixes)?;
        if wanted == WantedPddl::Domain {
            note_without_text(&request.task, &mut patch);
        }
        Ok(patch)
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_translator_thought", Translator, ThoughtTranslator);

/// The kind of request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Writes the PDDL. Feedback is the next turn of the candidate's conversation.
    #[default]
    Write,
    /// Writes the candidate's PDDL anew from a critique: the f_update of the test-time-scaling paper (Eq. 4). The request stands alone: it
    /// shows the text, the last explanation, the last PDDL and the critique, and not the conversation.
    Update,
}

/// The PDDL that is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Artefact {
    #[default]
    Domain,
    Problem,
}

impl Artefact {
    /// The word in requests and tags.
    const fn word(self) -> &'static str {
        match self {
            Self::Domain => "domain",
            Self::Problem => "problem",
        }
    }
}

/// The form of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// `### Thought:` with one line for each predicate and action, then `### Domain:` or `### Problem:` (test-time-scaling paper,
    /// Appendix D).
    #[default]
    Thought,
    /// PDDL alone.
    Plain,
}

/// Options of `translator-thought`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ThoughtOptions {
    /// The task of the model.
    pub mode: Mode,
    /// The PDDL that is written: `domain` or `problem`.
    pub artefact: Artefact,
    /// The form of a reply. A thought is kept with the candidate.
    pub form: Form,
    /// Shows a template to complete: for a problem its objects, for a domain the names and parameters of its actions. Templates are the
    /// suite's texts `objects.template` and `domain.template` or, without these, the action interface that the pipeline gives. A task that has
    /// neither is asked about without a template.
    pub template: bool,
    /// Requests token log-probabilities. Their sum over thought and PDDL is the candidate's log-likelihood.
    pub logprobs: bool,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}

impl ThoughtOptions {
    /// True if replies have a thought before the PDDL.
    fn has_thought(&self) -> bool {
        self.form == Form::Thought
    }
}

const TEMPLATES: [(&str, &str); 12] = [
    FEATURE_TEMPLATES[0],
    FEATURE_TEMPLATES[1],
    SYSTEM_TEMPLATE,
    ("system-thought", include_str!("../templates/thought/system.txt")),
    ("thought", include_str!("../templates/thought/thought.txt")),
    ("update", include_str!("../templates/thought/update.txt")),
    REVISE_TEMPLATE,
    ("form", include_str!("../templates/thought/form.txt")),
    ("given-domain", include_str!("../templates/thought/given-domain.txt")),
    ("given-problem", include_str!("../templates/thought/given-problem.txt")),
    ("rules-domain", include_str!("../templates/thought/rules-domain.txt")),
    ("rules-problem", include_str!("../templates/thought/rules-problem.txt")),
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
    features: TaskFeatures,
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
    fn update(&self, options: &ThoughtOptions, request: &TranslateRequest) -> Result<String, Failure> {
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
    let interface = of_actions.then(|| domain_template(task, domain_name.as_deref())).flatten();
    Ok(GivenContext {
        features: features_of(domain, interface.as_deref(), task),
        what: options.artefact.word(),
        domain_text: task.domain_text.trim(),
        task_text: task.task_text.trim(),
        domain,
        problem,
        interface: interface.as_deref().map(with_holes),
        skeleton: of_objects
            .then(|| problem_template(task, domain_name.as_deref()).map(|text| with_holes(&text)))
            .flatten(),
        domain_name,
    })
}

#[cfg(test)]
mod tests;
