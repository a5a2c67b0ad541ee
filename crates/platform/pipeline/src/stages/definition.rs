//! The trait of the kinds of stages.

use crate::bound::{BeamBound, BoundWalk};
use crate::front::stage_checker::{StageChecker, StageTable};
use crate::front::tree::Node;
use crate::run::beam::Entry;
use crate::run::context::{Context, TaskRun};
use crate::run::services::RunTask;
use crate::run::step::StageResult;
use crate::run::task::TaskResult;
use crate::stages::Stage;
use crate::stages::plugin_use::PluginUse;
use crate::suite::Suite;
use planforge_contract::{Candidate, Failure};
use planforge_diagnostics::Diagnostic;
use planforge_record::TaskVerdict;

/// Facts about a kind that the checks of other stages depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KindFacts {
    /// The table must have a `label`.
    pub(crate) needs_label: bool,
    /// The stage judges candidates: it has metrics, and can be a judge of a budget stage.
    pub(crate) judges: bool,
    /// Its metrics are not between 0 and 1.
    pub(crate) unbounded_metrics: bool,
    /// Other stages can name it in `feedback`.
    pub(crate) gives_feedback: bool,
    /// Select stages can group by its samples.
    pub(crate) groups: bool,
    /// Keys of the lists of stages inside.
    pub(crate) lists: &'static [&'static str],
    /// Advice on where to put the stage, for a kind that may not stand inside another stage.
    pub(crate) outside_rounds: Option<&'static str>,
}

impl KindFacts {
    /// A kind that other stages cannot refer to.
    pub(crate) const PLAIN: Self = Self {
        needs_label: true,
        judges: false,
        unbounded_metrics: false,
        gives_feedback: false,
        groups: false,
        lists: &[],
        outside_rounds: None,
    };
}

/// The artefacts that a stage writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Domain or problem.
    Candidate,
    /// The plan.
    Plan,
}

/// One kind of stage. It is implemented by the kind's table.
pub(crate) trait StageDefinition {
    /// Facts about the kind.
    fn facts() -> KindFacts
    where
        Self: Sized;

    /// Reads and checks a table. Returns the stage and the names of its metrics.
    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>)
    where
        Self: Sized;

    /// Checks the stages of a file together. `items` are their tables, those that could not be read included.
    fn check_file(_stages: &[Stage], _items: &[Node], _out: &mut Vec<Diagnostic>)
    where
        Self: Sized,
    {
    }

    /// Checks the suites of a run.
    fn check_suites(&self, _suites: &[Suite]) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// The plugin that the stage itself calls.
    fn plugin(&self) -> Option<PluginUse<'_>> {
        None
    }

    /// All stages inside, in the order in which they run. Judges stand behind everything that writes.
    fn inner(&self) -> Vec<&Stage> {
        Vec::new()
    }

    /// The stages inside that judge: those of a round, or the judges of a budget stage.
    fn inner_judges(&self) -> &[Stage] {
        &[]
    }

    /// Labels of the stages whose feedback it passes on.
    fn feedback_labels(&self) -> &[String] {
        &[]
    }

    /// The artefacts that it writes as the writer of a round.
    fn writes(&self) -> Option<Writes> {
        None
    }

    /// True if it makes new candidates.
    fn makes_children(&self) -> bool {
        false
    }

    /// True if the verdict on a candidate depends on its result.
    fn decides(&self) -> bool {
        false
    }

    /// The reason why it may not stand before the writer of a round.
    fn misplaced_before_writer(&self) -> Option<&'static str> {
        None
    }

    /// Adds the most requests of `times` runs over a beam to the walk. Returns the beam after it.
    fn bound(&self, _walk: &mut BoundWalk<'_>, beam: BeamBound, _times: u64) -> BeamBound {
        beam
    }

    /// Runs it over a beam. Inside a refine or budget stage `round` is the number of the round or pull, from 1; it is part of every path.
    fn run(
        &self,
        context: &Context<'_>,
        task: &TaskRun<'_>,
        round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure>;

    /// Runs all tasks where this stage, at position `at`, decides when a task starts.
    fn run_tasks(&self, _context: &Context<'_>, _at: usize, _tasks: &[RunTask]) -> Option<Vec<TaskResult>> {
        None
    }

    /// True if it must wait for all candidates of the beam.
    fn needs_whole_beam(&self, _context: &Context<'_>) -> bool {
        false
    }

    /// The verdict that it has against a candidate; none if it accepts it. Called only where it [decides](Self::decides) and did not fail.
    fn objection(&self, _entry: &Entry) -> Option<TaskVerdict> {
        None
    }

    /// True if it rejected the candidate, so that planners need not be asked about it.
    fn rejects(&self, _entry: &Entry) -> bool {
        false
    }

    /// Its feedback on a candidate. `shown` is the candidate as plugins that ask models may see it.
    fn feedback(&self, _entry: &Entry, _shown: &Candidate) -> Vec<String> {
        Vec::new()
    }
}
