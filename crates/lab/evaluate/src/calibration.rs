//! Calibration of verifiers: how often each accepts a different domain or rejects an equal one.
//!
//! [`mutants`] damages reference domains or problems in one place each, or rewrites them without changing their meaning.
//! The origin of a mutant does not fix its [`Label`]: the label is the verdict of the exact comparison
//! ([`planforge_planning::equivalence::domains`]) on stated problems. Mutants that the comparison leaves open
//! within its limits are counted and belong to neither side. Every [`Verifier`] then judges every mutant
//! ([`judge_all`]), and [`Calibration`] counts false accepts, false rejects, agreement beyond chance (Cohen's
//! kappa) and costs.
//!
//! The crate has no clock; callers that want costs pass one.

mod figures;
mod judge;
mod mutants;
mod reference;
mod report;
mod verifier;

pub use figures::{
    Calibration, Cost, DifferenceRow, Figures, KindRow, MutantRow, OtherJudgements, SuiteRow, Tally,
};
pub use judge::{Clock, judge_all, labelled_sample};
pub use mutants::{Mutant, MutantKind, mutants};
pub use reference::{ReferenceSuite, references};
pub use verifier::{JudgedMutant, Judgement, Label, ShownBy, Verifier};

use planforge_planning::GroundLimits;
use serde::{Deserialize, Serialize};

/// The specification of a calibration. All limits are counts: the same specification gives the same
/// judgements on every machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationSpec {
    /// The seed of all draws.
    pub seed: u64,
    /// Mutants over all suites together; fewer where the suites have no more.
    pub mutants: usize,
    /// Kinds of mutants; mistakes and rewrites take turns, and the kinds of either.
    pub kinds: Vec<MutantKind>,
    /// Budgets of the sampled walk verifiers: walks of each problem and direction.
    pub walks: Vec<u32>,
    /// The longest walk; lengths from 1 to it take turns.
    pub t_max: u32,
    /// The longest sequence that the bounded exact comparison looks at.
    pub depth: u32,
    /// Plans of each problem that heuristic domain equivalence compares.
    pub hde_plans: usize,
    /// Limit: pairs of states that the label's comparison, and the bounded one, may see on a problem.
    pub max_pairs: u64,
    /// Limit: pairs of states that the exact walk score may see in a direction.
    pub walk_pairs: usize,
    /// Limit: search nodes of a planner, of top-k planning too.
    pub max_nodes: u64,
    /// Limit: ground instances of a model, and as many atoms.
    pub max_instances: usize,
    /// Limit: bytes that one verifier's work on one mutant asks for.
    pub max_bytes: u64,
    /// Confidence of the intervals.
    pub confidence: f64,
}

impl Default for CalibrationSpec {
    fn default() -> Self {
        Self {
            seed: 42,
            mutants: 300,
            kinds: MutantKind::defaults(),
            walks: vec![10, 100, 1000],
            t_max: 10,
            depth: 5,
            hde_plans: 10,
            max_pairs: 500_000,
            walk_pairs: 50_000,
            max_nodes: 200_000,
            max_instances: 100_000,
            max_bytes: 1 << 30,
            confidence: 0.95,
        }
    }
}

impl CalibrationSpec {
    /// The verifiers, in the order of tables.
    pub fn verifiers(&self) -> Vec<Verifier> {
        let first = [
            Verifier::Pddl,
            Verifier::Solvable,
            Verifier::Plan,
            Verifier::ReferencePlan,
            Verifier::PlansBothWays,
            Verifier::Hde(self.hde_plans),
        ];
        let walks = self.walks.iter().map(|&n| Verifier::Walks(n));
        let last = [Verifier::WalksExact, Verifier::WalksGoals, Verifier::ExactDepth(self.depth)];
        first.into_iter().chain(walks).chain(last).collect()
    }

    fn ground(&self) -> GroundLimits {
        GroundLimits { instances: self.max_instances, atoms: self.max_instances, ..GroundLimits::default() }
    }
}

#[cfg(test)]
mod tests;
