//! `do = "refine"`: writes and judges each candidate in rounds.

mod bound;
mod check;
mod config;
mod run;

pub(crate) use check::forget as parse_forget;
pub use config::{ContinueFrom, Forget, KeepRound, RefineStage, StopRounds};
pub(crate) use run::forget;

use super::Stage;
use super::definition::{KindFacts, StageDefinition};
use crate::bound::{BeamBound, BoundWalk};
use crate::front::stage_checker::{StageChecker, StageTable};
use crate::run::beam::Entry;
use crate::run::context::{Context, TaskRun};
use crate::run::step::StageResult;
use crate::stages::round::writer_of;
use planforge_contract::Failure;
use planforge_diagnostics::Diagnostic;

impl RefineStage {
    /// The position in the round of the stage that writes. A checked pipeline has one.
    pub fn writer(&self) -> Option<usize> {
        writer_of(&self.round)
    }
}

impl StageDefinition for RefineStage {
    fn facts() -> KindFacts {
        KindFacts {
            lists: &["round"],
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
        self.round.iter().collect()
    }

    fn inner_judges(&self) -> &[Stage] {
        &self.round
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
}
