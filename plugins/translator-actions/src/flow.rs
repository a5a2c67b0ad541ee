//! One call of the plugin: one question for each sample, pass and action; two where a grammar limits the variables to the parameters.
//!
//! Questions are asked one after the other. The host numbers the questions of a call in their order, and this
//! number is part of the path under which an answer is recorded and its seed derived. Parallel questions
//! would differ from run to run. The runner works on candidates and tasks in parallel.
//!
//! If no question shows the replies to others, those after a deferred one are asked too, so that all wait
//! together. A question that shows replies waits for them.

use crate::grown::{Grown, mentions};
use crate::prompt::{ActionQuestion, Example, Fenced, Materials, Prompts, Wanted};
use crate::{ActionTranslatorOptions, Mode, codes};
use planforge_contract::api::Host;
use planforge_contract::{
    ActionDescription, CandidatePatch, Constraint, Failure, FailureClass, FinishReason, Outcome,
    PredicateDescription, Reply, ReportedDiagnostic, TaskView, TranslateRequest, TranslateResponse,
};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_grammar::json::{action_from_json, action_schema, parameters_from_json, parameters_schema};
use planforge_grammar::{ActionHead, action_grammar, parameters_grammar};
use planforge_pddl::ast::Action;
use planforge_pddl::extract::BlockKind;
use planforge_pddl::random::Random;
use planforge_pddl::{Name, parse_domain, print_domain, print_typed_list};
use planforge_planning::result_class::meant_action;
use planforge_plugin_common::translating::{Writer, new_turns, reply_as_pddl};
use planforge_plugin_sdk::reply::apply_fixes;

/// The candidate's text that keeps the grown predicates, a line each.
const PREDICATES: &str = "predicates";

/// One call of the translator.
pub(crate) struct ActionsCall<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) options: &'a ActionTranslatorOptions,
    pub(crate) prompts: &'a Prompts,
    pub(crate) request: &'a TranslateRequest,
}

/// One sample on its way.
struct Sample<'a> {
    /// The index of the sample in the call.
    number: u32,
    patch: CandidatePatch,
    /// The written actions, by description; `None` if a reply held none or none was asked for yet.
    actions: Vec<Option<String>>,
    /// Name and parameters of the actions of which the rest is asked for next.
    heads: Vec<Option<Action>>,
    grown: Grown,
    asking: Asking<'a>,
    /// True for actions that the candidate has and no feedback is about: they stay.
    stays: Vec<bool>,
}

impl ActionsCall<'_> {
    pub(crate) fn run(&self) -> Result<TranslateResponse, Failure> {
        let materials = Materials::of(&self.request.task, self.options)?;
        let heard = Heard::of(&self.request.feedback, &materials.actions);
        let mut samples: Vec<Outcome<CandidatePatch>> = Vec::new();
        let mut ended: Option<Failure> = None;
        for number in 0..self.request.n.max(1) {
            let made = match &ended {
                Some(failure) => Err(failure.clone()),
                None => self.sample(&materials, &heard, number),
            };
            // With parameters first, the second requests of a sample come before the first ones of the next.
            let goes_on = |failure: &Failure| self.may_continue(failure) && !self.asks_for_parameters();
            let ends = |failure: &&Failure| ends_all(failure) && !goes_on(failure);
            ended = ended.or_else(|| made.as_ref().err().filter(ends).cloned());
            samples.push(made.into());
        }
        Ok(TranslateResponse { samples })
    }

    fn sample(&self, materials: &Materials, heard: &Heard, number: u32) -> Result<CandidatePatch, Failure> {
        let mut sample = self.begin(materials, heard, number);
        // A corrected action has its predicates already.
        let anew = sample.actions.iter().all(Option::is_none);
        let passes = if anew { self.options.passes() } else { 1 };
        for pass in 0..passes {
            if self.asks_for_parameters() {
                self.for_each_action(materials, &mut sample, |sample, place| {
                    self.ask_for_parameters(materials, sample, place, heard)
                })?;
            }
            self.for_each_action(materials, &mut sample, |sample, place| {
                self.ask_for_action(materials, sample, (pass, place), heard)
            })?;
        }
        self.finish(materials, sample)
    }

    /// Asks about each action that does not stay.
    fn for_each_action(
        &self,
        materials: &Materials,
        sample: &mut Sample<'_>,
        ask: impl Fn(&mut Sample<'_>, usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut deferral = None;
        for place in 0..materials.actions.len() {
            if sample.stays[place] {
                continue;
            }
            match ask(sample, place) {
                Ok(()) => {}
                Err(failure) if self.may_continue(&failure) => {
                    deferral.get_or_insert(failure);
                }
                // The sample cannot succeed, but a reply that is still missing may end it earlier.
                Err(failure) => {
                    return Err(deferral.filter(|_| !ends_all(&failure)).unwrap_or(failure));
                }
            }
        }
        deferral.map_or(Ok(()), Err)
    }

    /// True if the parameters of an action have a request of their own: only a known parameter can be the one variable that a grammar allows.
    fn asks_for_parameters(&self) -> bool {
        !self.options.grammar.is_off() && self.options.mode == Mode::Given
    }

    fn ask_for_parameters(
        &self,
        materials: &Materials,
        sample: &mut Sample<'_>,
        place: usize,
        heard: &Heard,
    ) -> Result<(), Failure> {
        let (domain, name) = (&materials.header, materials.actions[place].name.as_str());
        let (grammar, schema) =
            (parameters_grammar(domain, Some(name)), parameters_schema(domain, Some(name)));
        let constraint = self.options.grammar.constraint(&grammar, ("pddl", false), Some(schema));
        let wanted = Wanted { parameters_only: true, over: None };
        let question = self.question(materials, sample, (0, place), heard, wanted)?;
        let system = self.prompts.system(self.options)?;
        let reply = sample.asking.ask(system, question, "action", Some(constraint.clone()))?;
        let read = |text: &str| parameters_from_json(domain, text);
        let reply = reply_as_pddl(&reply, Some(&constraint), read).unwrap_or(reply);
        match head_of(&reply, name) {
            Some(head) => {
                sample.report(&format!("parameters of {name}"), &reply.content, &[]);
                sample.heads[place] = Some(head);
            }
            None => self.take(materials, place, &reply, sample),
        }
        Ok(())
    }

    fn ask_for_action(
        &self,
        materials: &Materials,
        sample: &mut Sample<'_>,
        (pass, place): (u32, usize),
        heard: &Heard,
    ) -> Result<(), Failure> {
        let head = sample.heads[place].take();
        if head.is_none() && self.asks_for_parameters() {
            // The reply to the question for its parameters is taken as the action.
            return Ok(());
        }
        let over = head.as_ref().map(|head| print_typed_list(&head.parameters));
        let wanted = Wanted { parameters_only: false, over };
        let question = self.question(materials, sample, (pass, place), heard, wanted)?;
        let system = self.prompts.system(self.options)?;
        let constraint = self.constraint(materials, head.as_ref())?;
        let reply = sample.asking.ask(system, question, "action", constraint.clone())?;
        let read = |text: &str| action_from_json(&materials.header, head.as_ref(), text);
        // JSON of another form holds no action, which is reported like any such reply.
        let pddl = reply_as_pddl(&reply, constraint.as_ref(), read).unwrap_or(reply);
        self.take(materials, place, &pddl, sample);
        Ok(())
    }

    /// True if the next question can be asked although this one has no reply yet: its text is the same whatever the reply.
    fn may_continue(&self, failure: &Failure) -> bool {
        failure.is_deferred() && self.options.mode == Mode::Given && !self.options.earlier
    }

    /// A new sample with the actions and predicates of the candidate.
    fn begin(&self, materials: &Materials, heard: &Heard, number: u32) -> Sample<'_> {
        let texts = &self.request.candidate.texts;
        let before = |action: &ActionDescription| {
            // The text is the whole reply where that held no action.
            let text = texts.action(&action.name)?;
            meant_action(text, &action.name).map(|block| block.text)
        };
        let actions: Vec<Option<String>> = materials.actions.iter().map(before).collect();
        let stays =
            |(place, action): (usize, &Option<String>)| action.is_some() && heard.about(place).is_empty();
        let stays = actions.iter().enumerate().map(stays).collect();
        let mut grown = Grown::new(&materials.header);
        if let Some(known) = texts.named.get(PREDICATES).filter(|_| self.options.mode == Mode::Grown) {
            grown.take(known, &mut Vec::new());
            grown.has_new = false;
        }
        let asking = Asking::new(self.host, self.options, &self.request.task);
        let heads = vec![None; actions.len()];
        Sample { number, patch: CandidatePatch::default(), actions, heads, grown, asking, stays }
    }

    /// The grammar of the action over the given predicates and its parameters.
    fn constraint(
        &self,
        materials: &Materials,
        head: Option<&Action>,
    ) -> Result<Option<Constraint>, Failure> {
        let usage = self.options.grammar;
        let Some(head) = head.map(ActionHead::Interface) else {
            return usage.without_grammar("in mode `grown` replies may propose predicates");
        };
        let domain = &materials.header;
        let schema = action_schema(domain, head);
        Ok(Some(usage.constraint(&action_grammar(domain, head), ("pddl", false), Some(schema))))
    }

    fn question(
        &self,
        materials: &Materials,
        sample: &Sample<'_>,
        (pass, place): (u32, usize),
        heard: &Heard,
        wanted: Wanted,
    ) -> Result<String, Failure> {
        let growing = self.options.mode == Mode::Grown;
        let stream = u64::from(sample.number) << 32 | u64::from(pass) << 24 | place as u64;
        let mut random = Random::stream(self.request.seed, stream);
        let drawn = materials.draw(self.options.examples, &mut random);
        let action = &materials.actions[place];
        let feedback = heard.about(place);
        let before = self.request.candidate.texts.action(&action.name);
        let others = sample.actions.iter().enumerate().filter(|(other, _)| *other != place);
        self.prompts.action(&ActionQuestion {
            examples: drawn.into_iter().map(|example| Example::of(example, growing)).collect(),
            about: if growing { self.request.task.domain_text.trim() } else { "" },
            frame: &materials.frame,
            predicates: match growing {
                true => &sample.grown.described,
                false => &materials.predicates,
            },
            earlier: match self.options.earlier {
                true => others.filter_map(|(_, text)| text.as_deref()).collect(),
                false => Vec::new(),
            },
            action,
            previous: before.filter(|_| !feedback.is_empty()).and_then(|text| Fenced::of(text)),
            feedback,
            growing,
            wanted,
        })
    }

    /// Takes the action of a reply and the predicates that it proposes.
    fn take(&self, materials: &Materials, place: usize, reply: &Reply, sample: &mut Sample<'_>) {
        let action = &materials.actions[place];
        let block = meant_action(&reply.content, &action.name);
        let mut found = Vec::new();
        let why = match (reply.finish, &block) {
            (FinishReason::Length, Some(_)) => {
                Some("the reply was cut off at its token limit, and its action is taken as far as it goes")
            }
            (FinishReason::Length, None) => {
                Some("the reply was cut off at its token limit before its action, which is left out")
            }
            (_, None) => Some("the reply holds no `(:action ...)`, and the action is left out"),
            (_, Some(_)) => None,
        };
        found.extend(why.map(|why| {
            Diagnostic::error(codes::NO_ACTION, format!("`{}`: {why}", action.name)).at(
                SourceId(0),
                block.as_ref().map_or(Span::empty(0), |block| block.span),
                "",
            )
        }));
        if self.options.mode == Mode::Grown {
            sample.grown.take(&reply.content, &mut found);
        }
        sample.report(&format!("reply for {}", action.name), &reply.content, &found);
        // The whole reply if it has no action, so that it can be classified.
        let kept = block.as_ref().map_or_else(|| reply.content.trim().to_owned(), |block| block.text.clone());
        sample.patch.texts.set_action(&action.name, kept);
        sample.actions[place] = block.map(|block| block.text);
    }

    /// The domain of all actions.
    fn finish(&self, materials: &Materials, mut sample: Sample<'_>) -> Result<CandidatePatch, Failure> {
        let mut header = materials.header.clone();
        let mut said = String::new();
        if self.options.mode == Mode::Grown {
            self.unify(materials, &mut sample)?;
            header.predicates.clone_from(&sample.grown.declared);
            let lines: Vec<String> = sample.grown.described.iter().map(line).collect();
            said = lines.iter().map(|line| format!("\n  ; {line}")).collect();
            sample.patch.texts.named.insert(PREDICATES.to_owned(), lines.join("\n"));
        }
        let printed = print_domain(&header);
        let mut text = printed.trim_end().strip_suffix(')').unwrap_or(&printed).trim_end().to_owned();
        text += &said;
        for action in sample.actions.iter().flatten() {
            text += &format!("\n\n{action}");
        }
        text += "\n)\n";
        let mut patch = sample.patch;
        patch.domain = Some(apply_fixes(&mut patch.fixes, &text, BlockKind::Domain, self.request.fixes));
        (patch.log_likelihood, patch.tokens) = sample.asking.likelihood();
        // The candidate already has the likelihood of the actions that stay; this one adds to it.
        patch.rewrite = !sample.stays.contains(&true);
        Ok(patch)
    }

    /// Drops unused predicates, and asks which of the others have the same meaning. Unreadable actions do not
    /// change.
    fn unify(&self, materials: &Materials, sample: &mut Sample<'_>) -> Result<(), Failure> {
        let written: Vec<&str> = sample.actions.iter().flatten().map(String::as_str).collect();
        let mut found = Vec::new();
        sample.grown.drop_unused(|name| written.iter().any(|text| mentions(text, name)), &mut found);
        sample.report("predicates", "", &found);
        if sample.grown.described.len() < 2 || !sample.grown.has_new {
            return Ok(());
        }
        let question = self.prompts.unify(&sample.grown.described)?;
        let reply = {
            let system = self.prompts.system_of_unify(self.options)?;
            sample.asking.ask(system, question, PREDICATES, None)?
        };
        let mut found = Vec::new();
        let one = sample.grown.unify(&reply.content, &mut found);
        for (place, action) in materials.actions.iter().enumerate() {
            let Some(text) = sample.actions[place].as_deref().and_then(|text| one.in_action(text)) else {
                continue;
            };
            sample.patch.texts.set_action(&action.name, text.clone());
            sample.actions[place] = Some(text);
        }
        sample.report("reply about predicates", &reply.content, &found);
        Ok(())
    }
}

impl Sample<'_> {
    fn report(&mut self, name: &str, reply: &str, found: &[Diagnostic]) {
        let sources = SourceMap::single(name, reply);
        self.patch.diagnostics.extend(found.iter().map(|d| ReportedDiagnostic::of(d, &sources)));
        if !reply.is_empty() {
            self.patch.raw_reply += &format!("; {name}\n{}\n\n", reply.trim_end());
        }
    }
}

/// True if no further request is possible. A request that is repeated later, or is not in the record, would
/// come after those of the other samples: they would use its number, and pay for their requests again.
const fn ends_all(failure: &Failure) -> bool {
    use FailureClass as C;
    matches!(
        failure.class,
        C::Deferred | C::Cancelled | C::Budget | C::ReplayMiss | C::Request | C::System | C::Plugin
    )
}

/// The beginning of the action `name` in a reply; nothing if the reply was cut off or holds more, as where no grammar is enforced.
fn head_of(reply: &Reply, name: &str) -> Option<Action> {
    let block = meant_action(&reply.content, name).filter(|_| reply.finish != FinishReason::Length)?;
    let domain = parse_domain(&format!("(define (domain d)\n{})", block.text), SourceId(0)).value;
    let head = domain.actions.into_iter().next()?;
    let is_head = head.precondition.is_none() && head.effect.is_none();
    is_head.then(|| Action { name: Name::synthetic(name), vars: Vec::new(), ..head })
}

fn line(predicate: &PredicateDescription) -> String {
    match predicate.text.is_empty() {
        true => predicate.declaration.clone(),
        false => format!("{}: {}", predicate.declaration, predicate.text),
    }
}

/// Sends questions and adds up the likelihoods of the replies.
struct Asking<'a> {
    host: &'a dyn Host,
    options: &'a ActionTranslatorOptions,
    task: &'a TaskView,
    asked: usize,
    likelihood: Option<(f64, u64)>,
}

impl<'a> Asking<'a> {
    fn new(host: &'a dyn Host, options: &'a ActionTranslatorOptions, task: &'a TaskView) -> Self {
        Self { host, options, task, asked: 0, likelihood: None }
    }

    /// One reply to one question. An empty system text is left out.
    fn ask(
        &mut self,
        system: String,
        question: String,
        artefact: &str,
        constraint: Option<Constraint>,
    ) -> Result<Reply, Failure> {
        let writer = Writer { host: self.host, task: self.task, logprobs: self.options.logprobs };
        let replies = writer.ask_within(new_turns(&[], system, question), artefact, 1, constraint)?;
        let reply = replies.into_iter().next().ok_or_else(|| {
            Failure::new(FailureClass::Provider, codes::NO_REPLY, "the host answered without a reply")
        })?;
        let scored = reply.log_likelihood().zip(reply.logprobs.as_ref().map(|tokens| tokens.len() as u64));
        // Where one reply has no likelihood, a sum over the others would compare unlike things.
        self.likelihood = match (self.asked, self.likelihood, scored) {
            (0, _, scored) => scored,
            (_, Some((sum, tokens)), Some((more, further))) => Some((sum + more, tokens + further)),
            _ => None,
        };
        self.asked += 1;
        Ok(reply)
    }

    /// The sum of the token log-probabilities of all replies, and of how many tokens it is one.
    pub(crate) fn likelihood(&self) -> (Option<f64>, Option<u64>) {
        self.likelihood.unzip()
    }
}

/// The feedback, sorted by action.
#[derive(Debug, Default)]
struct Heard {
    /// By place of the action.
    about: Vec<Vec<String>>,
}

impl Heard {
    /// An entry that begins ``Action `NAME` `` is about that action. If no entry begins so, all entries are
    /// about each action.
    pub(crate) fn of(feedback: &[String], actions: &[ActionDescription]) -> Self {
        let entries: Vec<&str> =
            feedback.iter().map(|entry| entry.trim()).filter(|e| !e.is_empty()).collect();
        let begins = |entry: &str, name: &str| {
            entry.to_lowercase().starts_with(&format!("action `{}`", name.to_lowercase()))
        };
        let named = entries.iter().any(|entry| actions.iter().any(|action| begins(entry, &action.name)));
        let about = |action: &ActionDescription| {
            let its = entries.iter().filter(|entry| !named || begins(entry, &action.name));
            its.map(|entry| (*entry).to_owned()).collect()
        };
        Self { about: actions.iter().map(about).collect() }
    }

    /// The entries about an action.
    pub(crate) fn about(&self, place: usize) -> Vec<&str> {
        self.about.get(place).into_iter().flatten().map(String::as_str).collect()
    }
}
