//! Mistakes, each told once: a rule of the representation makes as many wrong atoms as there are objects.

use planforge_diagnostics::Diagnostic;
use rustc_hash::FxHashMap;

/// Findings that are kept; the rest is counted.
const MOST: usize = planforge_pddl::MAX_DIAGNOSTICS;

#[derive(Default)]
pub(super) struct Findings {
    list: Vec<(Diagnostic, usize)>,
    by_key: FxHashMap<String, usize>,
    dropped: usize,
}

impl Findings {
    /// Reports what `key` stands for, or counts it where it was reported before.
    pub(super) fn report(&mut self, key: String, make: impl FnOnce() -> Diagnostic) {
        if let Some(&index) = self.by_key.get(&key) {
            if let Some((_, repeated)) = self.list.get_mut(index) {
                *repeated += 1;
            }
            return;
        }
        if self.list.len() >= MOST {
            self.dropped += 1;
            return;
        }
        self.by_key.insert(key, self.list.len());
        self.list.push((make(), 0));
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
