//! The flow of one call: sample after sample, action after action, one question each.

use crate::codes;
use crate::grown::{Grown, with_predicates};
use crate::materials::Materials;
use crate::options::{Mode, Options};
use crate::prompt::{ActionQuestion, Fenced, Frame, Prompts};
use planforge_contract::api::Host;
use planforge_contract::{
    ActionDescription, CandidatePatch, CompletionRequest, Failure, FailureClass, FinishReason, Message,
    Outcome, PredicateDescription, Reply, ReportedDiagnostic, Sampling, Tags, TranslateRequest,
    TranslateResponse,
};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pddl::ast::Action;
use planforge_pddl::extract::BlockKind;
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, print_action, print_domain};
use planforge_planning::result_class::meant_action;
use planforge_plugin_sdk::reply::fixed;

/// The role that writes.
pub(crate) const ROLE: &str = "writer";

/// One call of the translator.
pub(crate) struct Call<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) options: &'a Options,
    pub(crate) prompts: &'a Prompts,
    pub(crate) request: &'a TranslateRequest,
}

/// One sample on its way.
#[derive(Default)]
struct Sample {
    patch: CandidatePatch,
    /// The actions as they are written, by description.
    actions: Vec<Written>,
    grown: Grown,
    likelihood: Option<(f64, u64)>,
    asked: usize,
}

/// An action and the text that it was taken from.
struct Written {
    name: String,
    text: Option<String>,
}

impl Call<'_> {
    /// Runs the call. Questions are asked one after the other: the host numbers the calls of one plugin call.
    pub(crate) fn run(&self) -> Result<TranslateResponse, Failure> {
        let materials = Materials::of(&self.request.task, self.options)?;
        let system = self.prompts.system(self.options)?;
        let samples = (0..self.request.n.max(1))
            .map(|sample| match self.sample(&materials, &system, sample) {
                Ok(patch) => Outcome::Ok(patch),
                Err(failure) => Outcome::Failure(failure),
            })
            .collect();
        Ok(TranslateResponse { samples })
    }

    fn sample(&self, materials: &Materials, system: &str, number: u32) -> Result<CandidatePatch, Failure> {
        let mut sample = Sample::default();
        let frame = Frame::of(&materials.header);
        for (place, action) in materials.actions.iter().enumerate() {
            let heard = self.feedback(&action.name);
            let before = self.request.candidate.texts.get(&text_name(&action.name));
            // What nobody complained about stays.
            if let (Some(text), true) = (before, heard.is_empty() && !self.request.feedback.is_empty()) {
                sample.actions.push(Written { name: action.name.clone(), text: Some(text.clone()) });
                continue;
            }
            let mut random = Random::stream(self.request.seed, u64::from(number) << 32 | place as u64);
            let question = ActionQuestion {
                examples: materials.draw(self.options.examples, &mut random),
                frame: &frame,
                predicates: self.predicates(materials, &sample),
                earlier: match self.options.earlier {
                    true => sample.actions.iter().filter_map(|w| w.text.as_deref()).collect(),
                    false => Vec::new(),
                },
                action,
                previous: before.filter(|_| !heard.is_empty()).and_then(|text| Fenced::of(text)),
                feedback: heard,
                growing: self.options.mode == Mode::Grown,
            };
            let question = self.prompts.action(&question)?;
            let reply = self.ask(system, question, "action", &mut sample)?;
            self.take(action, &reply, &mut sample);
        }
        self.finish(materials, system, sample)
    }

    fn predicates<'s>(&self, materials: &'s Materials, sample: &'s Sample) -> &'s [PredicateDescription] {
        match self.options.mode {
            Mode::Given => &materials.predicates,
            Mode::Grown => &sample.grown.described,
        }
    }

    /// What the feedback says of one action.
    fn feedback(&self, name: &str) -> Vec<&str> {
        let begin = format!("action `{}`", name.to_lowercase());
        let about = |entry: &&String| entry.trim_start().to_lowercase().starts_with(&begin);
        self.request.feedback.iter().filter(about).map(|entry| entry.trim()).collect()
    }

    fn ask(
        &self,
        system: &str,
        question: String,
        artefact: &str,
        sample: &mut Sample,
    ) -> Result<Reply, Failure> {
        let mut messages = Vec::new();
        if !system.is_empty() {
            messages.push(Message::system(system));
        }
        messages.push(Message::user(question));
        let task = &self.request.task;
        let request = CompletionRequest {
            messages,
            sampling: Sampling {
                n: Some(1),
                logprobs: self.options.logprobs.then_some(true),
                ..Sampling::default()
            },
            tags: Tags {
                suite: task.suite.clone(),
                task: task.task.clone(),
                stage: String::new(),
                artefact: artefact.to_owned(),
            },
            ..CompletionRequest::default()
        };
        let replies = self.host.complete(ROLE, request)?.replies;
        let reply = replies.into_iter().next().ok_or_else(|| {
            Failure::new(FailureClass::Provider, codes::NO_REPLY, "the host answered without a reply")
        })?;
        let scored = reply.log_likelihood().zip(reply.logprobs.as_ref().map(|tokens| tokens.len() as u64));
        // Where one reply has no likelihood, a sum over the others would compare unlike things.
        sample.likelihood = match (sample.asked, sample.likelihood, scored) {
            (0, _, scored) => scored,
            (_, Some((sum, tokens)), Some((more, further))) => Some((sum + more, tokens + further)),
            _ => None,
        };
        sample.asked += 1;
        Ok(reply)
    }

    /// The reply's action, and what it proposes beside it.
    fn take(&self, action: &ActionDescription, reply: &Reply, sample: &mut Sample) {
        let block = meant_action(&reply.content, &action.name);
        let mut found = Vec::new();
        if block.is_none() || reply.finish == FinishReason::Length {
            let why = match reply.finish {
                FinishReason::Length => "the reply was cut off at its token limit",
                _ => "the reply holds no `(:action ...)`",
            };
            found.push(
                Diagnostic::error(
                    codes::NO_ACTION,
                    format!("{why}, so `{}` is left as it came", action.name),
                )
                .at(SourceId(0), Span::empty(0), ""),
            );
        }
        if self.options.mode == Mode::Grown {
            let at = block.as_ref().map_or(reply.content.len(), |block| block.span.start as usize);
            sample.grown.take(&reply.content, at, &mut found);
        }
        let sources = SourceMap::single(format!("reply for {}", action.name), reply.content.as_str());
        sample.patch.diagnostics.extend(found.iter().map(|d| ReportedDiagnostic::of(d, &sources)));
        sample.patch.raw_reply += &format!("; {}\n{}\n\n", action.name, reply.content.trim_end());
        // The whole reply where there is no action: what it is can be classified then.
        let kept = block.as_ref().map_or_else(|| reply.content.trim().to_owned(), |block| block.text.clone());
        sample.patch.texts.insert(text_name(&action.name), kept);
        sample.actions.push(Written { name: action.name.clone(), text: block.map(|block| block.text) });
    }

    /// The domain of all actions.
    fn finish(
        &self,
        materials: &Materials,
        system: &str,
        mut sample: Sample,
    ) -> Result<CandidatePatch, Failure> {
        let mut header = materials.header.clone();
        if self.options.mode == Mode::Grown {
            self.unify(system, &mut sample)?;
            header = with_predicates(&header, &sample.grown);
        }
        let printed = print_domain(&header);
        let mut text = printed.trim_end().strip_suffix(')').unwrap_or(&printed).to_owned();
        for action in sample.actions.iter().filter_map(|written| written.text.as_ref()) {
            text += &format!("\n\n{action}");
        }
        text += "\n)\n";
        let mut patch = sample.patch;
        patch.domain = Some(fixed(&mut patch.fixes, &text, BlockKind::Domain, self.request.fixes));
        patch.log_likelihood = sample.likelihood.map(|(sum, _)| sum);
        patch.tokens = sample.likelihood.map(|(_, tokens)| tokens);
        patch.rewrite = true;
        Ok(patch)
    }

    /// Asks which predicates say the same and makes them one. Actions that cannot be read stay as they came.
    fn unify(&self, system: &str, sample: &mut Sample) -> Result<(), Failure> {
        if sample.grown.described.len() < 2 {
            return Ok(());
        }
        let question = self.prompts.unify(&sample.grown.described)?;
        let reply = self.ask(system, question, "predicates", sample)?;
        let mut read: Vec<Option<Action>> =
            sample.actions.iter().map(|written| written.text.as_deref().and_then(read_action)).collect();
        let mut trees: Vec<Action> = read.iter().flatten().cloned().collect();
        let mut found = Vec::new();
        sample.grown.unify(&reply.content, &mut trees, &mut found);
        let mut changed = trees.into_iter();
        for (written, tree) in sample.actions.iter_mut().zip(&mut read) {
            if let Some(action) = tree.take().and_then(|_| changed.next()) {
                let text = print_action(&action);
                sample.patch.texts.insert(text_name(&written.name), text.clone());
                written.text = Some(text);
            }
        }
        let sources = SourceMap::single("reply about predicates", reply.content.as_str());
        sample.patch.diagnostics.extend(found.iter().map(|d| ReportedDiagnostic::of(d, &sources)));
        sample.patch.raw_reply += &format!("; predicates\n{}\n", reply.content.trim_end());
        Ok(())
    }
}

/// The name of an action's text in the candidate.
pub(crate) fn text_name(action: &str) -> String {
    format!("action.{}", action.to_lowercase())
}

/// An action that can be read as it stands.
fn read_action(text: &str) -> Option<Action> {
    let parsed = parse_domain(&format!("(define (domain d)\n{text}\n)"), SourceId(0));
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    parsed.value.actions.into_iter().next()
}
