//! Problems inferred from representations, compared with the references of a suite's tasks; proofs about the levels of a suite: that a text implies
//! its problem, and that each sentence is needed.

use crate::context::Context;
use crate::error::Error;
use crate::inference::Inferrer;
use crate::limits::RequestLimits;
use planforge_contract::{Candidate, Failure, FailureClass, Given, Materials, TaskView, TranslateRequest};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pipeline::{Suite, SuiteTask};
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use planforge_suites::codes;
use planforge_suites::generate::GenerationError;
use planforge_suites::paraphrase::{LevelText, Paraphraser, Sentence, add_sections, sort_metric};
use planforge_suites::reading::{Reading, Unread};
use planforge_translator_asp::{AspTranslatorOptions, Mode};
use serde::Serialize;

/// Most pairs of objects tried in a comparison.
const MOST_CHOICES: u64 = 1_000_000;

/// The comparison of an inferred problem with the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", content = "why", rename_all = "kebab-case")]
pub enum Comparison {
    /// The same problem follows, up to the names of objects.
    Equivalent,
    /// Another problem follows; how it differs.
    Different(String),
    /// No problem follows; why.
    Refused(String),
    /// The comparison reached its limit.
    Undecided,
}

impl Comparison {
    /// The decision in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Equivalent => "equivalent",
            Self::Different(_) => "different",
            Self::Refused(_) => "refused",
            Self::Undecided => "undecided",
        }
    }
}

/// Infers and compares.
pub(crate) struct InferredComparer<'a> {
    pub(crate) context: &'a Context,
    pub(crate) suite: &'a Suite,
    pub(crate) inferrer: &'a Inferrer,
}

impl InferredComparer<'_> {
    /// Compares the problem that follows from a representation with the reference of a task.
    pub(crate) fn compare(
        &self,
        task: &SuiteTask,
        representation: &str,
        knowledge: Option<&str>,
    ) -> Result<Comparison, Failure> {
        let domain = self.suite.reference_domain.clone();
        let request = TranslateRequest {
            task: TaskView {
                suite: self.suite.name.clone(),
                task: task.stem.clone(),
                given: Given { domain: domain.clone(), problem: None },
                materials: Materials { knowledge: knowledge.map(str::to_owned), ..Materials::default() },
                ..TaskView::default()
            },
            candidate: Candidate {
                texts: [("ir", representation.to_owned())].into_iter().collect(),
                ..Candidate::default()
            },
            n: 1,
            ..TranslateRequest::default()
        };
        let inferred = match self.inferrer.call(self.context, &request) {
            Ok(patch) => patch.problem.unwrap_or_default(),
            Err(failure) if matches!(failure.class, FailureClass::Reply | FailureClass::Limit) => {
                return Ok(Comparison::Refused(failure.message));
            }
            // A name that only this representation has makes no knowledge file wrong; a rule about it does.
            Err(failure) => return Err(failure),
        };
        let parse = |text: &str| {
            let mut problem = planforge_pddl::parse_problem(text, SourceId(0)).value;
            sort_metric(&mut problem);
            problem
        };
        let mut inferred = parse(&inferred);
        if let Err(why) = add_sections(&mut inferred, representation) {
            return Ok(Comparison::Refused(why));
        }
        sort_metric(&mut inferred);
        let domain = planforge_pddl::parse_domain(&domain.unwrap_or_default(), SourceId(0)).value;
        let reference = parse(task.reference_problem.as_deref().unwrap_or_default());
        let mut limits = RequestLimits::default().start(self.context);
        Ok(match equivalent_problems(&domain, &reference, &inferred, MOST_CHOICES, &mut limits) {
            ProblemEquivalence::Equal { .. } => Comparison::Equivalent,
            ProblemEquivalence::Different(found) => {
                Comparison::Different(found.summary(["missing objects", "extra objects", "missing", "extra"]))
            }
            ProblemEquivalence::Undecided { .. } => Comparison::Undecided,
        })
    }
}

/// Texts of a suite's tasks, and what is wrong with them.
pub(crate) struct ProvenTexts {
    pub(crate) texts: Vec<LevelText>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Writes the tasks of a suite at these levels and proves each text with clingo, up to the first mistake of the template. Texts with mistakes
/// are added to the sources.
///
/// # Errors
/// clingo failed.
pub(crate) fn prove(
    context: &Context,
    suite: &Suite,
    paraphraser: &Paraphraser,
    levels: &[u8],
    seed: u64,
    sources: &mut SourceMap,
) -> Result<ProvenTexts, Error> {
    let options = AspTranslatorOptions { mode: Mode::Infer, ..AspTranslatorOptions::default() };
    let inferrer = Inferrer::new(context, &options)?;
    let comparer = InferredComparer { context, suite, inferrer: &inferrer };
    let mut prover = Prover { comparer, sources, diagnostics: Vec::new() };
    let progress = context.start_work("texts", Some((suite.tasks.len() * levels.len()) as u64));
    let mut texts = Vec::new();
    for (task, &level) in suite.tasks.iter().flat_map(|task| levels.iter().map(move |level| (task, level))) {
        let text = match paraphraser.level(task, level, seed) {
            Ok(text) => text,
            Err(none) => {
                prover.add(none);
                break;
            }
        };
        prover.prove(task, &text)?;
        texts.push(text);
        progress.advance();
    }
    Ok(ProvenTexts { texts, diagnostics: prover.diagnostics })
}

/// Reads each text of a suite by its `reading.toml` and proves with clingo that the facts are those of the problem.
///
/// # Errors
/// clingo failed.
pub(crate) fn prove_readings(
    context: &Context,
    suite: &Suite,
    reading: &str,
    sources: &mut SourceMap,
) -> Result<ProvenTexts, Error> {
    let reading = match Reading::parse(reading) {
        Ok(reading) => reading,
        Err(why) => {
            let source =
                sources.add(suite.folder.join("reading.toml").display().to_string(), reading.to_owned());
            let wrong = Diagnostic::error(codes::READING, format!("the file cannot be used: {why}"));
            return Ok(ProvenTexts {
                texts: Vec::new(),
                diagnostics: vec![
                    wrong
                        .at(source, Span::empty(0), "")
                        .help("`planforge explain suite.reading` shows the form of the file"),
                ],
            });
        }
    };
    let inferrer = Inferrer::new(
        context,
        &AspTranslatorOptions { mode: Mode::Infer, ..AspTranslatorOptions::default() },
    )?;
    let knowledge = format!("{}\n{}\n", suite.knowledge.as_deref().unwrap_or_default(), reading.declare);
    let suite = &Suite { knowledge: Some(knowledge), ..suite.clone() };
    let comparer = InferredComparer { context, suite, inferrer: &inferrer };
    let mut prover = Prover { comparer, sources, diagnostics: Vec::new() };
    let example = suite.example.iter().map(|example| SuiteTask {
        stem: "p_example".to_owned(),
        text: example.text.clone(),
        reference_problem: example.problem.clone(),
        ..SuiteTask::default()
    });
    let own: Vec<SuiteTask> =
        example.chain(suite.tasks.iter().filter(|task| task.axis.is_none()).cloned()).collect();
    let mut texts = Vec::new();
    for task in own.iter().filter(|task| task.reference_problem.is_some() && !task.text.is_empty()) {
        match reading.read(&task.text) {
            Ok(sentences) => {
                let text = LevelText { stem: task.stem.clone(), sentences };
                prover.prove_implied(task, &text)?;
                texts.push(text);
            }
            Err(unread) => prover.report_unread(task, &unread),
        }
    }
    Ok(ProvenTexts { texts, diagnostics: prover.diagnostics })
}

struct Prover<'a> {
    comparer: InferredComparer<'a>,
    sources: &'a mut SourceMap,
    diagnostics: Vec<Diagnostic>,
}

impl Prover<'_> {
    fn compare(
        &self,
        task: &SuiteTask,
        text: &LevelText,
        left_out: Option<usize>,
    ) -> Result<Comparison, Failure> {
        self.comparer.compare(task, &text.facts_without(left_out), self.comparer.suite.knowledge.as_deref())
    }

    fn prove(&mut self, task: &SuiteTask, text: &LevelText) -> Result<(), Failure> {
        match self.prove_implied(task, text)? {
            true => self.find_needless(task, text),
            false => Ok(()),
        }
    }

    /// True if the problem follows from the text; reports it if not.
    fn prove_implied(&mut self, task: &SuiteTask, text: &LevelText) -> Result<bool, Failure> {
        let why = match self.compare(task, text, None)? {
            Comparison::Equivalent => return Ok(true),
            Comparison::Different(why) => format!("another problem follows from it: {why}"),
            Comparison::Refused(why) => format!("no problem follows from it: {why}"),
            Comparison::Undecided => "the comparison with the reference reached its limit".to_owned(),
        };
        let message = format!("{}: the text does not imply the problem: {why}", text.stem);
        self.report(text, Diagnostic::error(codes::NOT_IMPLIED, message), None);
        Ok(false)
    }

    /// Reports sentences that `reading.toml` does not read.
    fn report_unread(&mut self, task: &SuiteTask, unread: &[Unread]) {
        let name = self.comparer.suite.folder.join(format!("{}.nl", task.stem)).display().to_string();
        let source = self.sources.add(name, task.text.clone());
        for Unread { sentence, at, is_ambiguous } in unread {
            let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let span = Span::new(offset(*at), offset(at + sentence.len()));
            let message = match is_ambiguous {
                true => "two sentences of reading.toml fit this one",
                false => "no sentence of reading.toml fits this one",
            };
            let help = "correct the text, or add the sentence and its facts to reading.toml";
            self.diagnostics.push(Diagnostic::error(codes::READING, message).at(source, span, "").help(help));
        }
    }

    /// Reports sentences without which the same problem follows.
    fn find_needless(&mut self, task: &SuiteTask, text: &LevelText) -> Result<(), Failure> {
        for (index, sentence) in text.sentences.iter().enumerate() {
            if sentence.facts.is_some() && self.compare(task, text, Some(index))? == Comparison::Equivalent {
                let message = format!("{}: the same problem follows without this sentence", text.stem);
                let help =
                    "mark it with `= irrelevant`, or state something in it that no other sentence states";
                let diagnostic = Diagnostic::error(codes::NEEDLESS, message).help(help);
                self.report(text, diagnostic, Some(index));
            }
        }
        Ok(())
    }

    /// Adds a mistake of the template with the text that it points into.
    fn add(&mut self, none: GenerationError) {
        for mut diagnostic in none.diagnostics {
            for label in &mut diagnostic.labels {
                if let Some(file) = none.sources.get(label.source) {
                    label.source = self.sources.add(file.name.clone(), file.text.clone());
                }
            }
            self.diagnostics.push(diagnostic);
        }
    }

    /// Adds a diagnostic at a sentence, or at the beginning of the text.
    fn report(&mut self, text: &LevelText, diagnostic: Diagnostic, sentence: Option<usize>) {
        let source = self.sources.add(format!("{}.nl", text.stem), text.text());
        let length = |sentences: &[Sentence]| {
            u32::try_from(sentences.iter().map(|s| s.text.len()).sum::<usize>()).unwrap_or(u32::MAX)
        };
        let span = match sentence {
            Some(index) => Span::new(length(&text.sentences[..index]), length(&text.sentences[..=index])),
            None => Span::empty(0),
        };
        self.diagnostics.push(diagnostic.at(source, span, ""));
    }
}
