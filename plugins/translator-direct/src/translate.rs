//! The flow of one call: question, replies, one patch a reply.

use crate::codes;
use crate::edit::Standing;
use crate::options::{Artefact, Mode, Options};
use crate::prompt::Prompts;
use planforge_contract::api::Host;
use planforge_contract::{
    CandidatePatch, CompletionRequest, Failure, FailureClass, Message, Outcome, Reply, ReportedDiagnostic,
    Sampling, Tags, TranslateRequest, TranslateResponse,
};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_plugin_sdk::reply::{Wanted, read_reply, read_thought_reply};

/// The role that writes.
pub(crate) const ROLE: &str = "writer";

/// One call of the translator.
pub(crate) struct Call<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) options: &'a Options,
    pub(crate) prompts: &'a Prompts,
    pub(crate) request: &'a TranslateRequest,
}

impl Call<'_> {
    /// Runs the call.
    pub(crate) fn run(&self) -> Result<TranslateResponse, Failure> {
        match self.options.mode {
            Mode::Edit => return self.edits(),
            Mode::Update => return self.update(),
            Mode::Problem | Mode::Domain | Mode::Both => {}
        }
        let revising = !self.request.feedback.is_empty();
        let question = self.question(revising)?;
        let opening = self.opening(question)?;
        let in_two_steps = self.options.mode == Mode::Both && !revising;
        let wanted = if in_two_steps { Mode::Domain } else { self.options.mode };
        let n = self.request.n.max(1);
        let replies = self.ask(&opening, wanted, n)?;
        let mut samples: Vec<Outcome<CandidatePatch>> = Vec::with_capacity(n as usize);
        for reply in replies.iter().take(n as usize) {
            // The second questions are asked in sample order: the host numbers the calls of one plugin call.
            let patch = self.patch(&opening, reply, wanted).and_then(|patch| match in_two_steps {
                true => self.add_problem(patch),
                false => Ok(patch),
            });
            samples.push(patch.into());
        }
        Ok(filled(samples, replies.len(), n))
    }

    /// Mode `edit`: one question, and each reply's calls applied to the domain that it showed.
    fn edits(&self) -> Result<TranslateResponse, Failure> {
        let standing = Standing::of(self.request)?;
        let (options, request) = (self.options, self.request);
        let revising = !request.feedback.is_empty();
        let question = match (revising, request.candidate.conversation.is_empty()) {
            (true, false) => self.prompts.edit_again(options, request, Some(&standing.text))?,
            (true, true) => {
                let first = self.prompts.edit(options, request, &standing.text, true)?;
                format!("{first}\n\n{}", self.prompts.edit_again(options, request, None)?)
            }
            (false, _) => self.prompts.edit(options, request, &standing.text, false)?,
        };
        let opening = self.opening(question)?;
        let n = request.n.max(1);
        let replies = self.ask(&opening, Mode::Edit, n)?;
        let patch = |reply: &Reply| {
            let patch = standing.patch(reply, request.fixes)?;
            Ok(CandidatePatch { messages: turns(&opening, reply), ..patch })
        };
        let samples = replies.iter().take(n as usize).map(|reply| patch(reply).into()).collect();
        Ok(filled(samples, replies.len(), n))
    }

    /// What is asked: the task, what was found wrong, or both where the conversation does not know the task yet.
    fn question(&self, revising: bool) -> Result<String, Failure> {
        let revise = if revising { Some(self.prompts.revise(self.options, self.request)?) } else { None };
        if let Some(revise) = &revise
            && !self.request.candidate.conversation.is_empty()
        {
            return Ok(revise.clone());
        }
        let task = &self.request.task;
        let question = match (self.options.mode, self.options.thinks()) {
            (_, true) => self.prompts.thought(self.options, task, self.other())?,
            (Mode::Problem, _) => self.prompts.problem(self.options, task, self.other())?,
            (Mode::Domain, _) => self.prompts.domain(self.options, task, self.other())?,
            (Mode::Both | Mode::Edit | Mode::Update, _) => self.prompts.domain(self.options, task, None)?,
        };
        Ok(match revise {
            Some(revise) => format!("{question}\n\n{revise}"),
            None => question,
        })
    }

    /// The PDDL on the other side of what is written: for a domain the problem, for a problem the domain; the candidate's, else the given one.
    fn other(&self) -> Option<&str> {
        let (candidate, given) = (&self.request.candidate, &self.request.task.given);
        match self.options.artefact() {
            Artefact::Domain => candidate.problem.as_deref().or(given.problem.as_deref()),
            Artefact::Problem => candidate.domain.as_deref().or(given.domain.as_deref()),
        }
    }

    /// Mode `update`: a question that stands alone, and replies that replace what stood.
    fn update(&self) -> Result<TranslateResponse, Failure> {
        let mut turns = Vec::new();
        let system = self.prompts.system(self.options)?;
        if !system.is_empty() {
            turns.push(Message::system(system));
        }
        turns.push(Message::user(self.prompts.update(self.options, self.request, self.other())?));
        let n = self.request.n.max(1);
        let replies = self.complete(turns, Mode::Update, n)?;
        // Turns of a question that did not follow from the conversation are no part of it.
        let patch = |reply: &Reply| self.patch(&[], reply, Mode::Update);
        let patch =
            |reply| patch(reply).map(|patch| CandidatePatch { rewrite: true, messages: Vec::new(), ..patch });
        let samples = replies.iter().take(n as usize).map(|reply| patch(reply).into()).collect();
        Ok(filled(samples, replies.len(), n))
    }

    /// The turns that are new: the question, behind the system text where the conversation begins.
    fn opening(&self, question: String) -> Result<Vec<Message>, Failure> {
        let mut turns = Vec::new();
        if self.request.candidate.conversation.is_empty() {
            let system = self.prompts.system(self.options)?;
            if !system.is_empty() {
                turns.push(Message::system(system));
            }
        }
        turns.push(Message::user(question));
        Ok(turns)
    }

    fn ask(&self, new_turns: &[Message], what: Mode, n: u32) -> Result<Vec<Reply>, Failure> {
        let mut messages = self.request.candidate.conversation.clone();
        messages.extend_from_slice(new_turns);
        self.complete(messages, what, n)
    }

    fn complete(&self, messages: Vec<Message>, what: Mode, n: u32) -> Result<Vec<Reply>, Failure> {
        let task = &self.request.task;
        let request = CompletionRequest {
            messages,
            sampling: Sampling {
                n: Some(n),
                logprobs: self.options.logprobs.then_some(true),
                ..Sampling::default()
            },
            tags: Tags::of(task, what.artefact()),
            ..CompletionRequest::default()
        };
        Ok(self.host.complete(ROLE, request)?.replies)
    }

    /// One reply as a patch: its PDDL, its turns and what reading it had to say.
    fn patch(&self, new_turns: &[Message], reply: &Reply, wanted: Mode) -> Result<CandidatePatch, Failure> {
        let wanted = match (wanted, self.options.artefact()) {
            (Mode::Problem, _) | (Mode::Update, Artefact::Problem) => Wanted::Problem,
            (Mode::Domain, _) | (Mode::Update, Artefact::Domain) => Wanted::Domain,
            (Mode::Both | Mode::Edit, _) => Wanted::Either,
        };
        let read = if self.options.thinks() { read_thought_reply } else { read_reply };
        let mut patch = read(reply, wanted, self.request.fixes)?;
        if wanted == Wanted::Domain && self.request.task.domain_text.trim().is_empty() {
            let note = Diagnostic::advice(
                codes::FROM_PROBLEM,
                "there is no text about the domain: it was worked out from the problem",
            );
            patch.diagnostics.push(ReportedDiagnostic::of(&note, &SourceMap::default()));
        }
        Ok(CandidatePatch { messages: turns(new_turns, reply), ..patch })
    }

    /// Asks for the problem of a domain just written, in the same conversation.
    fn add_problem(&self, first: CandidatePatch) -> Result<CandidatePatch, Failure> {
        let question = self.prompts.problem(self.options, &self.request.task, first.domain.as_deref())?;
        let mut turns = first.messages.clone();
        turns.push(Message::user(question));
        let replies = self.ask(&turns, Mode::Problem, 1)?;
        let reply = replies.first().ok_or_else(|| too_few(0, 1))?;
        let second = self.patch(&turns, reply, Mode::Problem)?;
        Ok(CandidatePatch {
            domain: first.domain,
            log_likelihood: first.log_likelihood.zip(second.log_likelihood).map(|(a, b)| a + b),
            tokens: first.tokens.zip(second.tokens).map(|(a, b)| a + b),
            raw_reply: format!("{}\n\n{}", first.raw_reply, second.raw_reply),
            fixes: [first.fixes, second.fixes].concat(),
            diagnostics: [first.diagnostics, second.diagnostics].concat(),
            ..second
        })
    }
}

/// The turns that a reply adds to the conversation.
fn turns(new_turns: &[Message], reply: &Reply) -> Vec<Message> {
    let mut messages = new_turns.to_vec();
    messages.push(Message::assistant(reply.content.clone()));
    messages
}

/// As many results as were asked for.
fn filled(mut samples: Vec<Outcome<CandidatePatch>>, found: usize, n: u32) -> TranslateResponse {
    while samples.len() < n as usize {
        samples.push(Outcome::Failure(too_few(found, n)));
    }
    TranslateResponse { samples }
}

fn too_few(found: usize, wanted: u32) -> Failure {
    Failure::new(
        FailureClass::Provider,
        codes::FEW_REPLIES,
        format!("{wanted} replies were asked for, and {found} came back"),
    )
}
