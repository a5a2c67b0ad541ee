//! `do = "fan_out"`: starts the suite's other tasks from the candidates of the lead task.

mod check;
mod config;
mod run;

pub use config::FanOutStage;

use super::Stage;
use super::definition::{KindFacts, StageDefinition};
use crate::bound::{BeamBound, BoundWalk};
use crate::front::stage_checker::{StageChecker, StageTable};
use crate::front::tree::Node;
use crate::run::beam::Entry;
use crate::run::context::{Context, TaskRun};
use crate::run::services::RunTask;
use crate::run::step::StageResult;
use crate::run::task::TaskResult;
use crate::suite::Suite;
use planforge_contract::Failure;
use planforge_diagnostics::Diagnostic;

impl StageDefinition for FanOutStage {
    fn facts() -> KindFacts {
        KindFacts { outside_rounds: Some("put it behind the refine stage"), ..KindFacts::PLAIN }
    }

    fn parse(
        _checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        (check::parse(table, out), Vec::new())
    }

    fn check_file(stages: &[Stage], items: &[Node], out: &mut Vec<Diagnostic>) {
        check::check_file(stages, items, out);
    }

    fn check_suites(&self, suites: &[Suite]) -> Vec<Diagnostic> {
        check::check_suites(self, suites)
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, _times: u64) -> BeamBound {
        // The others start from the survivors' domains, without a conversation; the lead goes on with its own.
        walk.lead = std::mem::take(&mut walk.found);
        beam
    }

    fn run(
        &self,
        _context: &Context<'_>,
        _task: &TaskRun<'_>,
        _round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        Ok(run::pass_lead(beam))
    }

    fn run_tasks(&self, context: &Context<'_>, at: usize, tasks: &[RunTask]) -> Option<Vec<TaskResult>> {
        Some(run::run_tasks(context, at, self, tasks))
    }

    fn needs_whole_beam(&self, _context: &Context<'_>) -> bool {
        true
    }
}
