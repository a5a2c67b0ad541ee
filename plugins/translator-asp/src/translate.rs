//! The flow of one call: questions, replies, and for each sample the problem that its reply leads to.

use crate::extract::{Extracted, cardinalities, objects};
use crate::infer::{IR, Inference, Refusal};
use crate::prompt::{Finding, Prompts};
use crate::{AspTranslatorOptions, Mode, codes};
use planforge_contract::api::Host;
use planforge_contract::{
    CandidatePatch, Constraint, Failure, FailureClass, Message, Outcome, Reply, ReportedDiagnostic,
    ReportedSeverity, TranslateRequest, TranslateResponse,
};
use planforge_diagnostics::{Diagnostic, LineColumn, SourceFile, SourceMap};
use planforge_grammar::asp_grammar;
use planforge_grammar::json::{asp_from_json, asp_schema};
use planforge_pddl::extract::code_blocks;
use planforge_plugin_common::translating::{TaskFeatures, Writer, new_turns, reply_as_pddl};
use planforge_plugin_sdk::loose::{MOST_BYTES, Unreadable};
use planforge_plugin_sdk::reply::check_finish;

/// One call of the translator.
pub(crate) struct AspCall<'a> {
    host: &'a dyn Host,
    options: &'a AspTranslatorOptions,
    prompts: &'a Prompts,
    request: &'a TranslateRequest,
    inference: Inference<'a>,
}

/// The draft of one sample.
#[derive(Debug, Clone, Default)]
struct Draft {
    /// Facts from earlier answers, one a line.
    facts: String,
    /// The content of the last reply.
    program: String,
    /// The turns of the conversation that it was written in.
    messages: Vec<Message>,
    /// All replies, unchanged.
    raw_reply: String,
    log_likelihood: Option<f64>,
    tokens: Option<u64>,
    /// About the earlier answers.
    diagnostics: Vec<ReportedDiagnostic>,
}

impl Draft {
    /// The intermediate representation: the reply itself or, if there are facts from earlier answers, these
    /// and the reply's code blocks.
    fn ir(&self) -> String {
        let blocks = code_blocks(&self.program);
        if self.facts.is_empty() || blocks.is_empty() {
            return format!("{}{}", self.facts, self.program);
        }
        let blocks = blocks.into_iter().map(|block| self.program[block].trim_matches('\n'));
        format!("{}{}\n", self.facts, blocks.collect::<Vec<_>>().join("\n"))
    }

    /// One more reply of the sample. `turns`: what it answers.
    fn add_reply(&mut self, turns: Vec<Message>, reply: &Reply, first: bool) {
        self.messages = turns;
        self.messages.push(Message::assistant(reply.content.clone()));
        self.program.clone_from(&reply.content);
        let gap = if self.raw_reply.is_empty() { "" } else { "\n\n" };
        self.raw_reply = format!("{}{gap}{}", self.raw_reply, reply.content);
        self.log_likelihood = match first {
            true => reply.log_likelihood(),
            false => self.log_likelihood.zip(reply.log_likelihood()).map(|(a, b)| a + b),
        };
        self.tokens = match first {
            true => reply.tokens(),
            false => self.tokens.zip(reply.tokens()).map(|(a, b)| a + b),
        };
    }
}

impl<'a> AspCall<'a> {
    /// Reads what the pipeline gives.
    pub(crate) fn new(
        host: &'a dyn Host,
        options: &'a AspTranslatorOptions,
        prompts: &'a Prompts,
        request: &'a TranslateRequest,
    ) -> Result<Self, Failure> {
        let inference = Inference::new(options, request)?;
        Ok(Self { host, options, prompts, request, inference })
    }

    pub(crate) fn run(&self) -> Result<TranslateResponse, Failure> {
        let revising = !self.request.feedback.is_empty();
        let samples = match self.options.mode {
            Mode::Infer => self.infer_given_text()?,
            _ if revising => self.one_question(self.revision()?)?,
            Mode::Ic => self.one_question(self.prompts.in_context(&self.request.task)?)?,
            Mode::G1 => {
                let question =
                    self.prompts.generic("g1", &self.request.task, &self.inference.vocabulary, &[])?;
                self.one_question(question)?
            }
            Mode::G3 => self.three_questions()?,
        };
        Ok(TranslateResponse { samples })
    }

    fn n(&self) -> usize {
        self.request.n.max(1) as usize
    }

    /// Mode `infer`: every sample has the same representation, and so the same problem.
    fn infer_given_text(&self) -> Result<Vec<Outcome<CandidatePatch>>, Failure> {
        let Some(ir) = self.request.candidate.texts.named.get(IR) else {
            let message = "the candidate has no intermediate representation (text `ir`)";
            return Err(Failure::new(FailureClass::Request, codes::NO_IR, message)
                .help("put a stage before this one that writes it, or set another `mode`"));
        };
        let draft = Draft { program: ir.clone(), ..Draft::default() };
        let outcome: Outcome<CandidatePatch> = self.patch(draft, 0).into();
        Ok(vec![outcome; self.n()])
    }

    /// The question for a revision: the findings, and the program unless the conversation shows it.
    fn revision(&self) -> Result<String, Failure> {
        let candidate = &self.request.candidate;
        let ir = candidate.texts.named.get(IR).filter(|_| candidate.conversation.is_empty());
        let revise = self.prompts.revise(self.request, ir.map(String::as_str))?;
        if !candidate.conversation.is_empty() {
            return Ok(revise);
        }
        let task = &self.request.task;
        let first = match self.options.mode {
            Mode::Ic => self.prompts.in_context(task)?,
            _ => self.prompts.generic("g1", task, &self.inference.vocabulary, &[])?,
        };
        Ok(format!("{first}\n\n{revise}"))
    }

    /// Modes `ic` and `g1`: one request for all samples.
    fn one_question(&self, question: String) -> Result<Vec<Outcome<CandidatePatch>>, Failure> {
        let turns = self.turns(&self.request.candidate.conversation, question)?;
        let replies = self.ask(&turns, "ir", self.n())?;
        // Questions about repairs are asked in sample order: the host numbers the calls of one plugin call.
        Ok(self.fill_samples(replies.iter().map(|reply| {
            check_finish(reply)?;
            let mut draft = Draft { diagnostics: self.remarks(), ..Draft::default() };
            draft.add_reply(turns.clone(), reply, true);
            self.patch(draft, self.options.repair_rounds)
        })))
    }

    /// Mode `g3`. The first two questions are the same for all samples; the third shows the sample's own
    /// objects.
    fn three_questions(&self) -> Result<Vec<Outcome<CandidatePatch>>, Failure> {
        let (task, vocabulary) = (&self.request.task, &self.inference.vocabulary);
        let asked = |name: &'static str| {
            let turns = self.turns(&[], self.prompts.generic(name, task, vocabulary, &[])?)?;
            let replies = self.ask(&turns, name, self.n())?;
            Ok::<_, Failure>((turns, replies))
        };
        let (counting, counts) = asked("cardinalities")?;
        let (naming, names) = asked("objects")?;
        Ok(self.fill_samples(counts.iter().zip(&names).map(|(counts, names)| {
            let mut draft = Draft { diagnostics: self.remarks(), ..Draft::default() };
            let counts = self.table(&mut draft, &counting, counts, "cardinalities", &|text| {
                cardinalities(text, vocabulary)
            })?;
            let names =
                self.table(&mut draft, &naming, names, "objects", &|text| objects(text, vocabulary))?;
            let counts = counts.into_iter().map(|(ty, count)| format!("cardinality({ty}, {count}).\n"));
            let facts = names.iter().map(|(object, ty)| format!("object({object}, {ty}).\n"));
            draft.facts = counts.chain(facts).collect();
            let turns = self.turns(
                &self.request.candidate.conversation,
                self.prompts.generic("rules", task, vocabulary, &names)?,
            )?;
            let reply = self.ask_once(&turns, "rules")?;
            draft.add_reply(turns, &reply, false);
            self.patch(draft, self.options.repair_rounds)
        })))
    }

    /// Reads an answer in JSON; an unreadable one is asked for again.
    fn table<T>(
        &self,
        draft: &mut Draft,
        question: &[Message],
        reply: &Reply,
        name: &'static str,
        read: &dyn Fn(&str) -> Result<Extracted<T>, Unreadable>,
    ) -> Result<Vec<T>, Failure> {
        let mut turns = question.to_vec();
        let mut reply = reply.clone();
        let mut rounds = self.options.repair_rounds;
        let first = draft.raw_reply.is_empty();
        loop {
            check_finish(&reply)?;
            draft.add_reply(turns.clone(), &reply, first && rounds == self.options.repair_rounds);
            let unreadable = match read(&reply.content) {
                Ok(found) => {
                    let sources = SourceMap::single(name, reply.content.as_str());
                    let report = |d| ReportedDiagnostic::of(d, &sources);
                    draft.diagnostics.extend(found.diagnostics.iter().map(report));
                    return Ok(found.entries);
                }
                Err(unreadable) => unreadable,
            };
            let told = unreadable_text(&unreadable, &reply.content);
            if rounds == 0 {
                let message = format!("the answer about {name} is unreadable: {told}");
                return Err(Failure::new(FailureClass::Reply, codes::JSON, message)
                    .help("set `repair_rounds`, ask for more samples (`n`), or use another model"));
            }
            rounds -= 1;
            turns.push(Message::assistant(reply.content.clone()));
            turns.push(Message::user(self.prompts.repair_json(&told)?));
            reply = self.ask_once(&turns, name)?;
        }
    }

    /// The problem of a draft, which is asked for again up to `rounds` times.
    fn patch(&self, mut draft: Draft, rounds: u32) -> Result<CandidatePatch, Failure> {
        let mut left = rounds;
        loop {
            let ir = draft.ir();
            let refusal = match self.inference.infer(self.host, &ir)? {
                Ok(inferred) => {
                    return Ok(CandidatePatch {
                        problem: Some(inferred.problem),
                        texts: [(IR, ir)].into_iter().collect(),
                        inference: Some(inferred.inference),
                        log_likelihood: draft.log_likelihood,
                        tokens: draft.tokens,
                        messages: self.new_turns(draft.messages),
                        raw_reply: draft.raw_reply,
                        fixes: inferred.fixes,
                        diagnostics: [draft.diagnostics, inferred.diagnostics].concat(),
                        ..CandidatePatch::default()
                    });
                }
                Err(refusal) => refusal,
            };
            if left == 0 {
                return Err(refusal.failure(rounds));
            }
            left -= 1;
            let question = self.prompts.repair(findings(&refusal, &draft))?;
            let mut turns = draft.messages.clone();
            turns.push(Message::user(question));
            let reply = self.ask_once(&turns, "repair")?;
            draft.add_reply(turns, &reply, false);
        }
    }

    /// The turns that the candidate's conversation does not have yet.
    fn new_turns(&self, turns: Vec<Message>) -> Vec<Message> {
        turns.into_iter().skip(self.request.candidate.conversation.len()).collect()
    }

    /// A conversation with its next question, after the system text if it is new.
    fn turns(&self, before: &[Message], question: String) -> Result<Vec<Message>, Failure> {
        let new = new_turns(before, self.prompts.system(self.options)?, question);
        Ok([before, &new].concat())
    }

    fn ask(&self, messages: &[Message], what: &str, n: usize) -> Result<Vec<Reply>, Failure> {
        let writer = Writer { host: self.host, task: &self.request.task, logprobs: self.options.logprobs };
        let constraint = self.constraint(what)?;
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        let replies = writer.ask_within(messages.to_vec(), what, n, constraint.clone())?;
        let read = |text: &str| Ok(format!("```asp\n{}\n```", asp_from_json(text)?));
        let as_program = |reply: Reply| reply_as_pddl(&reply, constraint.as_ref(), read).unwrap_or(reply);
        Ok(replies.into_iter().map(as_program).collect())
    }

    /// The grammar of representations, with the vocabulary of the domain and the knowledge file.
    fn constraint(&self, what: &str) -> Result<Option<Constraint>, Failure> {
        let usage = self.options.grammar;
        if usage.is_off() {
            return Ok(None);
        }
        if matches!(what, "cardinalities" | "objects") {
            return usage.without_grammar("the first two requests of mode `g3` have replies in JSON");
        }
        let vocabulary = self.inference.asp_vocabulary();
        let schema = Some(asp_schema(&vocabulary));
        Ok(Some(usage.constraint(&asp_grammar(&vocabulary), ("asp", false), schema)))
    }

    fn ask_once(&self, messages: &[Message], what: &str) -> Result<Reply, Failure> {
        let reply = self.ask(messages, what, 1)?.into_iter().next();
        let reply = reply.ok_or_else(|| too_few(0, 1))?;
        check_finish(&reply)?;
        Ok(reply)
    }

    /// Exactly as many results as samples were requested.
    fn fill_samples(
        &self,
        patches: impl Iterator<Item = Result<CandidatePatch, Failure>>,
    ) -> Vec<Outcome<CandidatePatch>> {
        let n = self.n();
        let mut samples: Vec<Outcome<CandidatePatch>> = patches.take(n).map(Outcome::from).collect();
        let found = samples.len();
        samples.resize_with(n, || Outcome::Failure(too_few(found, n)));
        samples
    }

    /// Remarks about the questions themselves.
    fn remarks(&self) -> Vec<ReportedDiagnostic> {
        let mut remarks = match self.options.mode {
            Mode::G1 | Mode::G3 => self.inference.vocabulary.remarks(),
            Mode::Ic => Vec::new(),
            Mode::Infer => return Vec::new(),
        };
        remarks.extend(self.beyond_the_representation());
        remarks
    }

    /// Warns about parts of the task that no representation states.
    fn beyond_the_representation(&self) -> Option<ReportedDiagnostic> {
        let task = &self.request.task;
        let features = TaskFeatures::of_domain(task.given.domain.as_deref()?, &task.task_text);
        let what = match (features.timed, features.wishes) {
            (false, false) => return None,
            (true, false) => "facts that change at a time",
            (false, true) => "wishes and their weights",
            (true, true) => "facts that change at a time, nor wishes and their weights",
        };
        let message = format!("the intermediate representation cannot state {what}: the problem lacks them");
        let help = "use a pipeline that writes PDDL, such as solve.toml";
        let warning = Diagnostic::warning(codes::BEYOND, message).help(help);
        Some(ReportedDiagnostic::of(&warning, &SourceMap::default()))
    }
}

/// The errors of a refusal, with lines of the model's text.
fn findings(refusal: &Refusal, draft: &Draft) -> Vec<Finding> {
    let own = draft.facts.lines().count();
    let ir = draft.ir();
    let errors = refusal.diagnostics.iter().filter(|d| d.severity == ReportedSeverity::Error);
    errors.map(|d| Finding::of(d, &ir, u32::try_from(own).unwrap_or(u32::MAX))).collect()
}

/// The reason why an answer is unreadable, with its place.
fn unreadable_text(unreadable: &Unreadable, reply: &str) -> String {
    if unreadable.at == 0 || reply.len() > MOST_BYTES {
        return unreadable.message.clone();
    }
    let at = u32::try_from(unreadable.at).unwrap_or(u32::MAX);
    let LineColumn { line, column } = SourceFile::new("", reply).line_column(at);
    format!("{} (line {line}, column {column})", unreadable.message)
}

fn too_few(found: usize, wanted: usize) -> Failure {
    let message = format!("{wanted} replies were asked for, and {found} came back");
    Failure::new(FailureClass::Provider, codes::FEW_REPLIES, message)
}
