//! Collector of the findings of the reader and the checks, with a limit on their number, and the nearest of the names that would have
//! been right.

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
        nearest(word, known).map(|near| format!("did you mean `{near}`?"))
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

/// Most names compared for a suggestion. Comparing with every object of a huge problem would take longer than
/// reading it.
const MOST_COMPARED: usize = 2000;

/// The nearest known name, if it is near enough to be a slip: at most a third of the letters differ.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    // Comparing words takes time in the product of their lengths.
    if word.len() > 64 {
        return None;
    }
    let bare = |text: &str| text.trim_start_matches([':', '?']).replace('_', "-");
    let wanted = bare(&word);
    known
        .take(MOST_COMPARED)
        .filter(|candidate| candidate.len() <= 64)
        .filter_map(|candidate| {
            let distance = strsim::osa_distance(&wanted, &bare(&candidate.to_lowercase()));
            let longest = wanted.chars().count().max(candidate.chars().count());
            (distance * 3 <= longest).then_some((distance, candidate))
        })
        .min_by_key(|(distance, candidate)| (*distance, candidate.len().abs_diff(wanted.len())))
        .map(|(_, candidate)| candidate)
}
