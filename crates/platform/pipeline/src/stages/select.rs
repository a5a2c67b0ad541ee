//! `do = "select"`: keeps the best candidates by a metric.

mod check;
mod config;
mod run;

pub use config::SelectStage;

use super::definition::{KindFacts, StageDefinition};
use crate::bound::{BeamBound, BoundWalk};
use crate::front::stage_checker::{StageChecker, StageTable};
use crate::run::beam::Entry;
use crate::run::context::{Context, TaskRun};
use crate::run::step::StageResult;
use planforge_contract::Failure;
use planforge_diagnostics::Diagnostic;

impl StageDefinition for SelectStage {
    fn facts() -> KindFacts {
        KindFacts { needs_label: false, ..KindFacts::PLAIN }
    }

    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        (check::parse(checker, table, out), Vec::new())
    }

    fn misplaced_before_writer(&self) -> Option<&'static str> {
        Some("there is nothing to select before the stage that writes")
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, _times: u64) -> BeamBound {
        let made = |label| walk.made.get(label).copied().unwrap_or(beam.width);
        let groups = self.group_by.as_ref().map_or(1, made);
        let kept = groups.saturating_mul(u64::from(self.keep));
        BeamBound { width: beam.width.min(kept), ..beam }
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
