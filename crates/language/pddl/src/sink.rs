//! Collector of the findings of the reader and the checks, with a limit on their number.

use crate::suggest;
use planforge_diagnostics::{Diagnostic, SourceId};

/// Most findings that are kept of one text; the rest is counted. A text with more is not PDDL.
pub const MAX_DIAGNOSTICS: usize = 1000;

/// Findings that get a suggestion.
const MAX_SUGGESTIONS: usize = 100;

/// A bounded list of diagnostics about one source.
pub(crate) struct Sink {
    pub(crate) source: SourceId,
    list: Vec<Diagnostic>,
    dropped: usize,
}

impl Sink {
    pub(crate) fn new(source: SourceId) -> Self {
        Self { source, list: Vec::new(), dropped: 0 }
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if self.list.len() < MAX_DIAGNOSTICS {
            self.list.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    /// Returns true if no more findings are kept. Messages need not be built then, which saves time on a huge
    /// faulty text.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MAX_DIAGNOSTICS
    }

    /// The nearest known name for a slip, for the first findings only: looking for it takes longer than all the rest,
    /// and a text with hundreds of slips has other problems.
    pub(crate) fn suggestion<'k>(&self, word: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
        if self.list.len() >= MAX_SUGGESTIONS {
            return None;
        }
        suggest::nearest(word, known).map(|near| format!("did you mean `{near}`?"))
    }

    /// The findings in the order of the text, and a last one if some were only counted.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let Self { source, mut list, dropped } = self;
        list.sort_by_key(|d| d.primary().map_or((source, 0), |l| (l.source, l.span.start)));
        if dropped > 0 {
            list.push(
                Diagnostic::error(
                    "pddl.too-many-findings",
                    format!("{dropped} further findings are not shown; the first {MAX_DIAGNOSTICS} are"),
                )
                .help("repair the first ones and check again: most of the rest follow from them"),
            );
        }
        list
    }
}
