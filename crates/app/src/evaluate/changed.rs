//! Cells whose results are not in the tables, because their inputs changed after the run.

use super::cells::{Cell, EvaluationOutcome, EvaluationSetup};
use crate::error::Error;
use crate::pipelines::tasks::tasks_of;
use planforge_evaluate::results::{CellKey, TaskOutcome};
use planforge_record::RunFolder;
use std::sync::Arc;

/// The reason that the tasks of such a cell have in the tables.
const WHY: &str = "the cell was run with other inputs; its results are in its run folder";

/// Marks the tasks of cells that were run with other texts, another pipeline or other overrides, and returns their keys.
pub(super) fn mark_changed(
    setup: &EvaluationSetup<'_>,
    plan: &[Cell<'_>],
    outcomes: &mut EvaluationOutcome,
) -> Vec<CellKey> {
    let mut changed = Vec::new();
    for (cell, outcome) in plan.iter().zip(&mut outcomes.cells) {
        let tasks = &mut outcome.result.tasks;
        let is_read = tasks.iter().any(|task| task.outcome != TaskOutcome::Unfinished);
        if is_read
            || !cell.folder().join("run.json").exists()
            || !matches!(has_changed(setup, cell), Ok(true))
        {
            continue;
        }
        tasks.iter_mut().for_each(|task| WHY.clone_into(&mut task.why));
        changed.push(cell.key.clone());
    }
    changed
}

fn has_changed(setup: &EvaluationSetup<'_>, cell: &Cell<'_>) -> Result<bool, Error> {
    let checked = setup.check(cell.column, cell.key.seed)?;
    let tasks = tasks_of(&setup.context.without_events(), &checked, vec![cell.suite.clone()])?;
    let stored = RunFolder::open(&cell.folder(), Arc::default())?;
    Ok(cell.check_inputs(&stored, &checked, &tasks).is_err())
}
