//! Models compared by exploration walks, with the shortest failing walk.

use planforge_planning::walk::{Counterexample, CounterexampleOutcome, Model};
use planforge_planning::{ResourceLimits, StopReason};
use planforge_plugin_common::judging::reports::EwReport;
use planforge_verifier_ew::measure::{Measured, NoScore, models, shortest_failing};
use planforge_verifier_ew::report::document;
use planforge_verifier_ew::{Mode, Settings};

/// A comparison and its shortest failing walk.
pub(crate) struct WalkComparison {
    pub(crate) measured: Measured,
    /// The shortest failing walk, and the place of its pair.
    pub(crate) failing: Option<(usize, Counterexample)>,
    /// True if a search proved that there is no failing walk.
    pub(crate) proven: bool,
}

/// The reason why there is no comparison.
pub(crate) enum NoComparison {
    Score(NoScore),
    /// A limit ended the search for a failing walk.
    Search(StopReason),
}

impl WalkComparison {
    /// The comparison as a document.
    pub(crate) fn report(&self, settings: &Settings, seed: u64) -> EwReport {
        let failing = self.failing.as_ref().map(|(_, failing)| failing);
        document(&self.measured, settings, seed, failing, self.proven)
    }
}

/// Compares pairs of a reference's and a candidate's model, one for each problem.
///
/// The search for a failing walk is skipped if sampling was chosen and every walk was executed.
pub(crate) fn compare_walks(
    pairs: &[(&Model, &Model)],
    settings: &Settings,
    seed: u64,
    limits: &mut dyn ResourceLimits,
) -> Result<WalkComparison, NoComparison> {
    let measured = models(pairs, settings, seed, limits).map_err(NoComparison::Score)?;
    let mut compared = WalkComparison { measured, failing: None, proven: false };
    if compared.measured.score.score == Some(1.0) && settings.mode == Mode::Sampled {
        return Ok(compared);
    }
    let mut none = 0;
    for (number, (reference, candidate)) in pairs.iter().enumerate() {
        let problem = compared.measured.problems.get(number);
        match shortest_failing(reference, candidate, settings, problem, limits) {
            CounterexampleOutcome::Found(found) => {
                if compared.failing.as_ref().is_none_or(|(_, f)| found.walk.len() < f.walk.len()) {
                    compared.failing = Some((number, found));
                }
            }
            CounterexampleOutcome::None => none += 1,
            CounterexampleOutcome::LimitReached { reason: Some(reason), .. } => {
                return Err(NoComparison::Search(reason));
            }
            CounterexampleOutcome::LimitReached { reason: None, .. } => {}
        }
    }
    compared.proven = none == pairs.len();
    Ok(compared)
}
