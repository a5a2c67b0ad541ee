//! One call of the plugin: a question, its replies, and a patch for each reply.

use crate::prompt::{Prompts, features_of, problem_example};
use crate::{DirectOptions, Mode};
use planforge_contract::api::Host;
use planforge_contract::{
    CandidatePatch, Constraint, Failure, Message, Outcome, Reply, TaskView, TranslateRequest,
    TranslateResponse,
};
use planforge_diagnostics::SourceId;
use planforge_grammar::json::{objects_from_json, objects_schema, problem_from_json, problem_schema};
use planforge_grammar::{domain_grammar, objects_grammar, problem_grammar};
use planforge_pddl::ast::{Domain, TypedName};
use planforge_pddl::{Name, parse_domain, parse_problem};
use planforge_plugin_common::translating::{
    TaskFeatures, Writer, answered_turns, domain_template, new_turns, note_without_example,
    note_without_text, problem_template, problem_with_objects, reply_as_pddl, response, too_few_replies,
};
use planforge_plugin_sdk::reply::{WantedPddl, check_finish, no_pddl, read_reply};

/// A reply that names the objects of a problem.
struct NamedObjects {
    reply: Reply,
    /// The task with a template of the objects.
    task: TaskView,
}

/// One call of the plugin.
pub(crate) struct DirectCall<'a> {
    writer: Writer<'a>,
    options: &'a DirectOptions,
    prompts: &'a Prompts,
    request: &'a TranslateRequest,
}

impl<'a> DirectCall<'a> {
    pub(crate) fn new(
        host: &'a dyn Host,
        options: &'a DirectOptions,
        prompts: &'a Prompts,
        request: &'a TranslateRequest,
    ) -> Self {
        let writer = Writer { host, task: &request.task, logprobs: options.logprobs };
        Self { writer, options, prompts, request }
    }

    pub(crate) fn run(&self) -> Result<TranslateResponse, Failure> {
        let revising = !self.request.feedback.is_empty();
        let n = self.request.n.max(1);
        if self.options.mode == Mode::Problem && !revising {
            let domain = self.known_domain();
            if let Some(objects) = self.named_objects(&[], domain, n)? {
                let problem = |named| self.problem_over(&[], named, domain);
                let samples = objects.into_iter().map(|named| named.and_then(problem).into());
                return Ok(response(samples.collect(), n));
            }
        }
        let turns = self.turns(&[], self.question(revising)?)?;
        let in_two_steps = self.options.mode == Mode::Both && !revising;
        let (wanted, tag) = match self.options.mode {
            Mode::Problem => (WantedPddl::Problem, "problem"),
            Mode::Both if revising => (WantedPddl::Either, "both"),
            Mode::Domain | Mode::Both => (WantedPddl::Domain, "domain"),
        };
        let grammar = self.grammar(wanted)?;
        let replies = self.ask(&turns, tag, n, &grammar)?;
        let mut samples: Vec<Outcome<CandidatePatch>> = Vec::with_capacity(n as usize);
        for reply in replies.iter().take(n as usize) {
            // The second questions are asked in sample order: the host numbers the requests of a call.
            let patch = self.patch(&turns, reply, wanted, &grammar).and_then(|patch| match in_two_steps {
                true => self.add_problem(patch),
                false => Ok(patch),
            });
            samples.push(patch.into());
        }
        Ok(response(samples, n))
    }

    /// The task, the findings, or both if the conversation does not contain the task yet.
    fn question(&self, revising: bool) -> Result<String, Failure> {
        let revise = if revising { Some(self.prompts.revise(self.options, self.request)?) } else { None };
        if let Some(revise) = &revise
            && !self.request.candidate.conversation.is_empty()
        {
            return Ok(revise.clone());
        }
        let (task, candidate) = (&self.request.task, &self.request.candidate);
        let domain = self.known_domain();
        let problem = candidate.problem.as_deref().or(task.given.problem.as_deref());
        let question = match self.options.mode {
            Mode::Problem => self.prompts.problem(self.options, task, domain)?,
            Mode::Domain => self.prompts.domain(self.options, task, problem)?,
            Mode::Both => self.prompts.domain(self.options, task, None)?,
        };
        Ok(match revise {
            Some(revise) => format!("{question}\n\n{revise}"),
            None => question,
        })
    }

    /// The PDDL of the candidate's domain, else of the given one.
    fn known_domain(&self) -> Option<&str> {
        let (task, candidate) = (&self.request.task, &self.request.candidate);
        candidate.domain.as_deref().or(task.given.domain.as_deref())
    }

    /// The new turns `before` and a question behind them.
    fn turns(&self, before: &[Message], question: String) -> Result<Vec<Message>, Failure> {
        let conversation = [&self.request.candidate.conversation, before].concat();
        let turns = new_turns(&conversation, self.prompts.system(self.options)?, question);
        Ok([before, &turns].concat())
    }

    fn ask(
        &self,
        new_turns: &[Message],
        tag: &str,
        n: u32,
        grammar: &QuestionGrammar,
    ) -> Result<Vec<Reply>, Failure> {
        let messages = [&self.request.candidate.conversation, new_turns].concat();
        self.writer.ask_within(messages, tag, n, grammar.constraint.clone())
    }

    /// The grammar of the replies to the first question.
    fn grammar(&self, wanted: WantedPddl) -> Result<QuestionGrammar, Failure> {
        match wanted {
            WantedPddl::Problem => {
                QuestionGrammar::of_problem(self.options, &self.request.task, self.known_domain())
            }
            WantedPddl::Domain => {
                let task = &self.request.task;
                let interface = self.options.template.then(|| domain_template(task, None)).flatten();
                let features = features_of(None, interface.as_deref(), task);
                Ok(QuestionGrammar::of_domain(self.options, features))
            }
            WantedPddl::Either => {
                self.options.grammar.without_grammar("a correction may hold a domain, a problem or both")?;
                Ok(QuestionGrammar::default())
            }
        }
    }

    fn patch(
        &self,
        new_turns: &[Message],
        reply: &Reply,
        wanted: WantedPddl,
        grammar: &QuestionGrammar,
    ) -> Result<CandidatePatch, Failure> {
        let pddl = grammar.pddl(reply)?;
        let mut patch = read_reply(&pddl, wanted, self.request.fixes)?;
        patch.raw_reply.clone_from(&reply.content);
        if wanted == WantedPddl::Domain {
            note_without_text(&self.request.task, &mut patch);
        }
        if self.is_zero_shot() {
            note_without_example(&mut patch);
        }
        Ok(CandidatePatch { messages: answered_turns(new_turns, reply), ..patch })
    }

    /// Returns true if the question would show an example of a problem of the given domain, and the task has
    /// none.
    fn is_zero_shot(&self) -> bool {
        let task = &self.request.task;
        let about_problem = self.options.mode == Mode::Problem && task.given.domain.is_some();
        about_problem
            && self.options.example.is_none()
            && problem_example(self.options, task, true).is_ok_and(|example| example.is_none())
    }

    /// Asks for a problem of a domain just written, in the same conversation.
    fn add_problem(&self, first: CandidatePatch) -> Result<CandidatePatch, Failure> {
        let domain = first.domain.as_deref();
        let second = match self.named_objects(&first.messages, domain, 1)? {
            Some(mut named) => {
                let named = named.pop().unwrap_or_else(|| Err(too_few_replies(0, 1)))?;
                self.problem_over(&first.messages, named, domain)?
            }
            None => self.problem(&first.messages, self.options, &self.request.task, domain)?,
        };
        Ok(joined(first, second))
    }

    /// Asks for a problem of the domain behind the new turns `before`.
    fn problem(
        &self,
        before: &[Message],
        options: &DirectOptions,
        task: &TaskView,
        domain: Option<&str>,
    ) -> Result<CandidatePatch, Failure> {
        let turns = self.turns(before, self.prompts.problem(options, task, domain)?)?;
        let grammar = QuestionGrammar::of_problem(options, task, domain)?;
        let replies = self.ask(&turns, "problem", 1, &grammar)?;
        let reply = replies.first().ok_or_else(|| too_few_replies(0, 1))?;
        self.patch(&turns, reply, WantedPddl::Problem, &grammar)
    }

    /// Asks for the objects of `n` problems of the domain behind the new turns `before`. `None` if no request of its own is needed.
    fn named_objects(
        &self,
        before: &[Message],
        domain: Option<&str>,
        n: u32,
    ) -> Result<Option<Vec<Result<NamedObjects, Failure>>>, Failure> {
        let task = &self.request.task;
        let Some(grammar) = QuestionGrammar::of_objects(self.options, task, domain) else { return Ok(None) };
        let turns = self.turns(before, self.prompts.objects(self.options, task, domain)?)?;
        let replies = self.ask(&turns, "problem", n, &grammar)?;
        let named = replies.into_iter().take(n as usize).map(|reply| {
            let task = grammar.task_with_objects(task, &reply)?;
            Ok(NamedObjects { task, reply })
        });
        Ok(Some(named.collect()))
    }

    /// Asks for a problem over the named objects. Its question is that of given objects, so the one that named them is not repeated.
    fn problem_over(
        &self,
        before: &[Message],
        named: NamedObjects,
        domain: Option<&str>,
    ) -> Result<CandidatePatch, Failure> {
        let options = DirectOptions { template: true, ..self.options.clone() };
        let first = CandidatePatch {
            log_likelihood: named.reply.log_likelihood(),
            tokens: named.reply.tokens(),
            raw_reply: named.reply.content,
            ..CandidatePatch::default()
        };
        Ok(joined(first, self.problem(before, &options, &named.task, domain)?))
    }
}

/// The patch of two replies, of which the second has the later turns.
fn joined(first: CandidatePatch, second: CandidatePatch) -> CandidatePatch {
    CandidatePatch {
        domain: first.domain,
        log_likelihood: first.log_likelihood.zip(second.log_likelihood).map(|(a, b)| a + b),
        tokens: first.tokens.zip(second.tokens).map(|(a, b)| a + b),
        raw_reply: format!("{}\n\n{}", first.raw_reply, second.raw_reply),
        fixes: [first.fixes, second.fixes].concat(),
        diagnostics: [first.diagnostics, second.diagnostics].concat(),
        ..second
    }
}

/// The constraint of a question, and the parts of the task that it is made from.
#[derive(Debug, Default)]
pub(crate) struct QuestionGrammar {
    pub(crate) constraint: Option<Constraint>,
    domain: Domain,
    objects: Option<Vec<TypedName>>,
}

impl QuestionGrammar {
    /// The grammar of the problems of that domain.
    fn of_problem(options: &DirectOptions, task: &TaskView, domain: Option<&str>) -> Result<Self, Failure> {
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
    fn task_with_objects(&self, task: &TaskView, reply: &Reply) -> Result<TaskView, Failure> {
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

    /// The grammar of whole domains, with the parts of the language that the task needs.
    fn of_domain(options: &DirectOptions, features: TaskFeatures) -> Self {
        let grammar = || {
            let required = [(":durative-actions", features.durations), (":preferences", features.wishes)];
            let required = required.iter().filter(|(_, is_needed)| *is_needed);
            let requirements = required.map(|(name, _)| Name::synthetic(name)).collect();
            let grammar = domain_grammar(&Domain { requirements, ..Domain::default() });
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
    let template = (options.template || given).then(|| problem_template(task, None)).flatten()?;
    Some(parse_problem(&template, SourceId(0)).value.objects).filter(|objects| !objects.is_empty())
}
