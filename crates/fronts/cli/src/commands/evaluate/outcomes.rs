//! Results of cells and their exit codes.

use super::FailThreshold;
use crate::exit::{Exit, of_report};
use planforge_evaluate::results::{CellResult, CellState};
use planforge_pipeline::{RunReport, TaskReport};
use planforge_record::TaskVerdict;

/// The result of a cell, and its exit code: `None` for a cell that is not selected.
pub(super) struct CellOutcome {
    pub(super) result: CellResult,
    /// True if the cell was selected to run.
    pub(super) selected: bool,
    pub(super) exit: Option<Exit>,
    /// Tasks that broke, and calls of other tasks that got no answer.
    pub(super) failures: (usize, u64),
}

/// The results of all cells.
pub(super) struct EvaluationOutcome {
    pub(super) cells: Vec<CellOutcome>,
    /// The error that stopped the evaluation.
    pub(super) stopped: Option<Exit>,
}

impl EvaluationOutcome {
    /// The exit code of the command: that of the error that stopped it, else interruption, else pending
    /// requests (the evaluation continues once they are answered), else the first cell without a verdict,
    /// else a negative verdict if that counts.
    pub(super) fn exit(&self) -> Exit {
        let bad = || self.cells.iter().filter_map(|cell| cell.exit).filter(|exit| *exit != Exit::Good);
        let one = |selected| bad().find(|exit| *exit == selected);
        let goes_on = one(Exit::Interrupted).or_else(|| one(Exit::Pending));
        let open = || bad().find(|exit| !matches!(exit, Exit::Negative | Exit::Unusable));
        self.stopped.or(goes_on).or_else(open).or_else(|| bad().next()).unwrap_or(Exit::Good)
    }

    /// The cells whose runs are not whole.
    pub(super) fn unfinished_cells(&self) -> impl Iterator<Item = &CellResult> {
        self.cells.iter().map(|cell| &cell.result).filter(|result| result.state == CellState::Unfinished)
    }
}

/// The exit code for this cell alone. A task without a usable reply is not solved, so it counts as a negative verdict.
pub(super) fn exit_of_cell(report: &RunReport, fail_on: FailThreshold) -> Exit {
    let exit = exit_of_report(report, fail_on);
    if exit == Exit::Unusable && fail_on != FailThreshold::Negative { Exit::Good } else { exit }
}

fn exit_of_report(report: &RunReport, fail_on: FailThreshold) -> Exit {
    match fail_on {
        FailThreshold::Negative => of_report(report, true),
        FailThreshold::Undecided => of_report(report, false),
        FailThreshold::Failed => {
            let undecided = |task: &TaskReport| matches!(task.verdict, Some(TaskVerdict::Undecided { .. }));
            let tasks = report.tasks.iter().filter(|task| !undecided(task)).cloned().collect();
            of_report(&RunReport { tasks, ..report.clone() }, false)
        }
    }
}

/// Tasks that broke, and calls of other tasks that got no answer.
pub(super) fn count_failures(report: &RunReport) -> (usize, u64) {
    let broke = |task: &&TaskReport| matches!(task.verdict, Some(TaskVerdict::Failed { .. }));
    let others = report.tasks.iter().filter(|task| !broke(task));
    (
        report.tasks.iter().filter(broke).count(),
        others.flat_map(|task| task.usage.values()).map(|usage| usage.failed).sum(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_evaluate::results::{CellKey, Judges};

    fn exit_of_all(exits: &[Exit]) -> Exit {
        let outcome = |exit: &Exit| {
            let key =
                CellKey { suite: "s".into(), pipeline: "p".into(), model: String::new(), seed: *exit as u64 };
            let result = CellResult::unfinished(key, &[], &Judges::default());
            CellOutcome { result, selected: true, exit: Some(*exit), failures: (0, 0) }
        };
        EvaluationOutcome { cells: exits.iter().map(outcome).collect(), stopped: None }.exit()
    }

    #[test]
    fn a_negative_cell_does_not_hide_a_failed_cell() {
        use Exit::{Budget, Good, Interrupted, Negative, Pending, Provider, Undecided, Unusable};
        for (exits, whole) in [
            (&[Good, Good][..], Good),
            (&[Good, Negative], Negative),
            (&[Unusable, Undecided], Undecided),
            (&[Good, Unusable], Unusable),
            (&[Negative, Provider], Provider),
            (&[Negative, Undecided, Provider], Undecided),
            (&[Budget, Pending, Provider], Pending),
            (&[Pending, Interrupted, Negative], Interrupted),
        ] {
            assert_eq!(exit_of_all(exits), whole, "{exits:?}");
        }
    }
}
