//! Diagnostics without repetitions: a rule of the representation makes as many wrong atoms as there are
//! objects.

use planforge_diagnostics::Diagnostic;
use rustc_hash::FxHashMap;

/// Findings that are kept; the rest is counted.
const MOST: usize = crate::syntax::MAX_DIAGNOSTICS;

#[derive(Default)]
pub(super) struct Findings {
    list: Vec<(Diagnostic, usize)>,
    by_key: FxHashMap<String, usize>,
    dropped: usize,
}

impl Findings {
    /// True if `key` was not reported before and there is room for another diagnostic; otherwise counts it.
    pub(super) fn is_new(&mut self, key: &str) -> bool {
        if let Some(&index) = self.by_key.get(key) {
            if let Some((_, repeated)) = self.list.get_mut(index) {
                *repeated += 1;
            }
            return false;
        }
        let full = self.list.len() >= MOST;
        self.dropped += usize::from(full);
        !full
    }

    pub(super) fn add(&mut self, key: String, diagnostic: Diagnostic) {
        self.by_key.insert(key, self.list.len());
        self.list.push((diagnostic, 0));
    }

    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = self
            .list
            .into_iter()
            .map(|(mut diagnostic, repeated)| {
                if repeated > 0 {
                    let plural = if repeated == 1 { "" } else { "s" };
                    diagnostic.message.push_str(&format!(" (and {repeated} further atom{plural} like it)"));
                }
                diagnostic
            })
            .collect();
        if self.dropped > 0 {
            let message = format!("{} further mistakes are not shown; the first {MOST} are", self.dropped);
            let help = "correct the first ones: most of the others follow from them";
            all.push(Diagnostic::error("asp.too-many-mistakes", message).help(help));
        }
        all
    }
}
