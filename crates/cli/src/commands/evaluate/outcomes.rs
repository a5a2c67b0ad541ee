//! Results of cells and their exit codes.

use super::Fails;
use crate::exit::{Exit, of_report};
use planforge_contract::TaskVerdict;
use planforge_evaluate::results::{CellResult, CellState};
use planforge_pipeline::{RunReport, TaskReport};

/// The result of a cell, and its exit code: `None` for a cell that is not selected.
pub(super) struct Outcome {
    pub(super) result: CellResult,
    /// True if the cell was selected to run.
    pub(super) wanted: bool,
    pub(super) exit: Option<Exit>,
    /// Tasks that broke, and calls of other tasks that got no answer.
    pub(super) broke: (usize, u64),
}

/// The results of all cells.
pub(super) struct Outcomes {
    pub(super) cells: Vec<Outcome>,
    /// The error that stopped the evaluation.
    pub(super) stopped: Option<Exit>,
}

impl Outcomes {
    /// The exit code of the command: that of the error that stopped it, else interruption, else pending
    /// requests (the evaluation continues once they are answered), else the first cell without a verdict,
    /// else a negative verdict if that counts.
    pub(super) fn exit(&self) -> Exit {
        let bad = || self.cells.iter().filter_map(|cell| cell.exit).filter(|exit| *exit != Exit::Good);
        let one = |wanted| bad().find(|exit| *exit == wanted);
        let goes_on = one(Exit::Interrupted).or_else(|| one(Exit::Pending));
        let open = || bad().find(|exit| *exit != Exit::Negative);
        self.stopped.or(goes_on).or_else(open).or_else(|| bad().next()).unwrap_or(Exit::Good)
    }

    /// The cells whose runs are not whole.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &CellResult> {
        self.cells.iter().map(|cell| &cell.result).filter(|result| result.state == CellState::Unfinished)
    }
}

/// The exit code for this cell alone.
pub(super) fn exit_of_cell(report: &RunReport, fail_on: Fails) -> Exit {
    match fail_on {
        Fails::Negative => of_report(report, true),
        Fails::Undecided => of_report(report, false),
        Fails::Failed => {
            let undecided = |task: &TaskReport| matches!(task.verdict, Some(TaskVerdict::Undecided { .. }));
            let tasks = report.tasks.iter().filter(|task| !undecided(task)).cloned().collect();
            of_report(&RunReport { tasks, ..report.clone() }, false)
        }
    }
}

/// Tasks that broke, and calls of other tasks that got no answer.
pub(super) fn broke_in(report: &RunReport) -> (usize, u64) {
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
            Outcome { result, wanted: true, exit: Some(*exit), broke: (0, 0) }
        };
        Outcomes { cells: exits.iter().map(outcome).collect(), stopped: None }.exit()
    }

    #[test]
    fn a_negative_verdict_of_one_cell_hides_nothing_that_broke_in_another() {
        use Exit::{Budget, Good, Interrupted, Negative, Pending, Provider, Undecided};
        for (exits, whole) in [
            (&[Good, Good][..], Good),
            (&[Good, Negative], Negative),
            (&[Negative, Provider], Provider),
            (&[Negative, Undecided, Provider], Undecided),
            (&[Budget, Pending, Provider], Pending),
            (&[Pending, Interrupted, Negative], Interrupted),
        ] {
            assert_eq!(exit_of_all(exits), whole, "{exits:?}");
        }
    }
}
