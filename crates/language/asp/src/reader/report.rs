//! Diagnostics of the reader: repairs with their edits, and refusals with a remedy.

use crate::names::fold_spelling;
use crate::syntax::{MAX_DIAGNOSTICS, MOST_KEPT, count_steps, sort_and_limit};
use planforge_diagnostics::{Diagnostic, Edit, Severity, SourceId, Span};
use std::collections::BTreeMap;

/// Findings, as many as may be shown after sorting; the others are counted, since a hostile text has hundreds of thousands.
#[derive(Default)]
pub(super) struct DiagnosticList {
    kept: Vec<Diagnostic>,
    left_out: usize,
}

impl DiagnosticList {
    pub(super) fn push(&mut self, mut diagnostic: Diagnostic) {
        if self.kept.len() < MOST_KEPT {
            clip(&mut diagnostic.message);
            diagnostic.fix.iter_mut().for_each(|fix| clip(&mut fix.title));
            self.kept.push(diagnostic);
        } else {
            self.left_out += 1;
        }
    }

    /// Number of diagnostics, including those that are not kept.
    pub(super) fn count(&self) -> usize {
        self.kept.len() + self.left_out
    }

    /// The diagnostics to show, in the order of the text.
    pub(super) fn into_diagnostics(self, source: SourceId) -> Vec<Diagnostic> {
        sort_and_limit(self.kept, self.left_out, source)
    }
}

/// The most characters of a message. Messages quote the model's text and go to terminals, records and repair
/// prompts.
const MOST_SAID: usize = 400;

fn clip(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(MOST_SAID) {
        text.truncate(end);
        text.push_str("...");
    }
}

/// Collects the diagnostics of one text.
pub(super) struct Report {
    pub(super) source: SourceId,
    /// Repairs and omissions.
    pub(super) repairs: DiagnosticList,
    pub(super) refusals: DiagnosticList,
    /// Suggestions made so far, by what was written.
    suggested: BTreeMap<String, Option<String>>,
}

impl Report {
    pub(super) fn new(source: SourceId) -> Self {
        Self {
            source,
            repairs: DiagnosticList::default(),
            refusals: DiagnosticList::default(),
            suggested: BTreeMap::new(),
        }
    }

    /// Reports a repair that replaces the text at `span`.
    pub(super) fn repair(
        &mut self,
        severity: Severity,
        code: &'static str,
        message: String,
        span: Span,
        replacement: &str,
    ) {
        let edit = Edit { source: self.source, span, replacement: replacement.to_owned() };
        let title = if replacement.is_empty() {
            "remove it".to_owned()
        } else if span.start == span.end {
            format!("insert `{replacement}`")
        } else {
            format!("write `{replacement}`")
        };
        let made = Diagnostic::new(severity, code, message).at(self.source, span, "").fix(title, vec![edit]);
        self.repairs.push(made);
    }

    /// Reports an unusual reading that needs no edit.
    pub(super) fn note(&mut self, code: &'static str, message: String, span: Span) {
        self.repairs.push(Diagnostic::advice(code, message).at(self.source, span, ""));
    }

    pub(super) fn refuse(
        &mut self,
        code: &'static str,
        message: String,
        span: Span,
        help: impl Into<String>,
    ) {
        self.refusals.push(Diagnostic::error(code, message).at(self.source, span, "").help(help));
    }

    /// "Did you mean": the nearest of `known`, or what is known. Comparing costs, so a text full of mistakes gets only as many
    /// comparisons as it gets diagnostics.
    pub(super) fn suggestion<'a>(
        &mut self,
        what: &str,
        written: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> String {
        let few = self.suggested.len() < MAX_DIAGNOSTICS;
        let key = format!("{what} {written}");
        let nearest = match self.suggested.get(&key) {
            Some(found) => found.clone(),
            None if few => {
                count_steps(written.len());
                let found = nearest(written, known.clone()).map(str::to_owned);
                self.suggested.insert(key, found.clone());
                found
            }
            None => None,
        };
        match nearest {
            Some(name) => format!("did you mean `{name}`?"),
            None => {
                let listed: Vec<&str> = known.take(MOST_LISTED).collect();
                format!("the {what} are {}", listed.join(", "))
            }
        }
    }
}

/// Names listed where none is near.
const MOST_LISTED: usize = 40;
/// Longer words are not compared.
const LONGEST: usize = 64;

/// The nearest known name, if at most a third of its letters differ.
pub(crate) fn nearest<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if written.len() > LONGEST {
        return None;
    }
    let wanted = fold_spelling(written);
    known
        .filter(|name| name.len() <= LONGEST)
        .filter_map(|name| {
            let other = fold_spelling(name);
            let distance = strsim::osa_distance(&wanted, &other);
            (distance * 3 <= wanted.chars().count().max(other.chars().count())).then_some((distance, name))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
