//! Studies without a language model: what small damage does to a domain, and what the walk metric makes of it.
//!
//! A study takes [`StudySuite`]s, runs on all cores and gives [`Artefact`]s: CSV, JSON, text and SVG. Every random choice
//! derives from the study's seed, the suite's name and the place of the draw ([`stream`]), so that neither the number of
//! threads nor the other suites change a figure.

pub mod classes;
mod engine;
pub mod ew_correlation;
pub mod omissions;
pub mod scaling;
pub mod search;
mod suites;

pub use engine::{StudyBudget, run_all};
pub use suites::{StudySuite, StudyTask, load_suites};

use planforge_contract::{Failure, FailureClass};
use planforge_pddl::random::Random;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A file that a study makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    /// Its name in the output folder.
    pub name: String,
    /// What it holds.
    pub contents: String,
}

impl Artefact {
    /// A file.
    pub fn new(name: impl Into<String>, contents: impl Into<String>) -> Self {
        Self { name: name.into(), contents: contents.into() }
    }

    /// A file with a figure, or why it cannot be drawn.
    ///
    /// # Errors
    /// `study.plot`.
    pub fn svg(name: &str, drawn: Result<String, String>) -> Result<Self, Failure> {
        let failed = |why| Failure::new(FailureClass::System, "study.plot", format!("{name}: {why}"));
        drawn.map(|text| Self::new(name, text)).map_err(failed)
    }

    /// A file with a document.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn json<T: Serialize>(name: &str, document: &T) -> Result<Self, Failure> {
        let failed = |e| Failure::new(FailureClass::System, "study.plot", format!("{name}: {e}"));
        serde_json::to_string_pretty(document).map(|text| Self::new(name, text + "\n")).map_err(failed)
    }
}

/// How far a study is, and whether anybody still wants it. Shared with whoever draws a progress bar.
#[derive(Debug, Default)]
pub struct Watch {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: Arc<AtomicBool>,
}

impl Watch {
    /// A watch that ends the study when somebody sets the flag.
    pub fn new(cancelled: Arc<AtomicBool>) -> Self {
        Self { cancelled, ..Self::default() }
    }

    /// The flag that ends the study, for work that asks it in its own way.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Units of work done and to do.
    pub fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Ends the study as soon as possible; it gives no result then.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Whether [`Watch::cancel`] was called.
    pub fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Says how much there is to do.
    pub fn expect(&self, units: u64) {
        self.total.fetch_add(units, Ordering::Relaxed);
    }

    /// Says that so much of it is done.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }
}

/// The random numbers of one draw: of a seed, a suite's name and the draw's place in the study.
pub fn stream(seed: u64, name: &str, place: &[u64]) -> Random {
    let mut state = Random::new(seed).next_u64();
    for value in name.bytes().map(u64::from).chain([u64::MAX]).chain(place.iter().copied()) {
        state = Random::stream(state, value).next_u64();
    }
    Random::new(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_name_and_place_alone() {
        let first = |seed, name, place: &[u64]| stream(seed, name, place).next_u64();
        let draws = [
            first(1, "depot", &[0, 1]),
            first(1, "depot", &[1, 0]),
            first(1, "rovers", &[0, 1]),
            first(2, "depot", &[0, 1]),
            first(1, "depot", &[0]),
        ];
        for (i, a) in draws.iter().enumerate() {
            assert!(draws[..i].iter().all(|b| a != b), "{draws:?}");
        }
        assert_eq!(first(1, "depot", &[0, 1]), draws[0]);
    }
}
