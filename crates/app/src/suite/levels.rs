//! Proofs about the levels of a suite: that a text implies its problem, and that each sentence is needed.

use super::inferred::{Comparison, InferredComparer};
use crate::context::Context;
use crate::error::Error;
use crate::inference::Inferrer;
use planforge_contract::Failure;
use planforge_diagnostics::{Diagnostic, SourceMap, Span};
use planforge_pipeline::{Suite, SuiteTask};
use planforge_suites::codes;
use planforge_suites::generate::GenerationError;
use planforge_suites::paraphrase::Paraphraser;
use planforge_suites::paraphrase::level::{LevelText, Sentence};
use planforge_translator_asp::{AspTranslatorOptions, Mode};

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
        let why = match self.compare(task, text, None)? {
            Comparison::Equivalent => return self.find_needless(task, text),
            Comparison::Different(why) => format!("another problem follows from it: {why}"),
            Comparison::Refused(why) => format!("no problem follows from it: {why}"),
            Comparison::Undecided => "the comparison with the reference reached its limit".to_owned(),
        };
        let message = format!("{}: the text does not imply the problem: {why}", text.stem);
        self.report(text, Diagnostic::error(codes::NOT_IMPLIED, message), None);
        Ok(())
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
