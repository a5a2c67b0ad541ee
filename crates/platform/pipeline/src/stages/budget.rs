//! `do = "budget"`: samples and refines until a budget is spent.

mod bandit;
mod bound;
mod candidates;
mod check;
mod config;
mod copies;
mod run;
mod spending;

pub use config::{BudgetArms, BudgetLimits, BudgetPolicy, BudgetStage};

use super::Stage;
use super::definition::{KindFacts, StageDefinition};
use crate::bound::{BeamBound, BoundWalk};
use crate::front::stage_checker::{StageChecker, StageTable};
use crate::run::beam::Entry;
use crate::run::context::{Context, TaskRun};
use crate::run::step::StageResult;
use planforge_contract::Failure;
use planforge_diagnostics::Diagnostic;

impl StageDefinition for BudgetStage {
    fn facts() -> KindFacts {
        KindFacts {
            lists: &["sample", "round", "judge"],
            outside_rounds: Some("put it beside the other stage: rounds are not nested"),
            ..KindFacts::PLAIN
        }
    }

    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        (check::parse(checker, table, out), Vec::new())
    }

    fn inner(&self) -> Vec<&Stage> {
        self.sample.iter().chain(&self.round).chain(&self.judge).collect()
    }

    fn inner_judges(&self) -> &[Stage] {
        &self.judge
    }

    fn decides(&self) -> bool {
        true
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, _times: u64) -> BeamBound {
        bound::bound(self, walk, beam)
    }

    fn run(
        &self,
        context: &Context<'_>,
        task: &TaskRun<'_>,
        _round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        run::run(context, task, self, beam)
    }

    fn needs_whole_beam(&self, _context: &Context<'_>) -> bool {
        true
    }
}
