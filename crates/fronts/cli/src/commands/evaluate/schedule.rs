//! The cells of an evaluation in the order of the matrix, run side by side or read.

use super::cell::Cell;
use super::outcomes::{CellOutcome, EvaluationOutcome, count_failures, exit_of_cell};
use super::work::{EvaluationSetup, lock};
use crate::files::write;
use planforge_evaluate::results::{CellResult, lines_csv, lines_jsonl, task_lines};
use planforge_pipeline::{RunReport, RunState};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Least time between two writings of the lines of tasks while cells are run. The time that one takes grows with the number of cells, so the
/// next one also waits [`SHARE`] times as long.
const REWRITTEN: Duration = Duration::from_secs(2);
const SHARE: u32 = 20;

impl EvaluationSetup<'_> {
    /// Every cell, in the order of the matrix: suites, pipelines, models, seeds.
    pub(super) fn plan(&self) -> Vec<Cell<'_>> {
        let total = self.suites.len() * self.columns.len() * self.matrix.seeds.len();
        let pairs =
            self.suites.iter().flat_map(|suite| self.columns.iter().map(move |column| (suite, column)));
        let keys = pairs.flat_map(|(suite, column)| {
            self.matrix.seeds.iter().map(move |&seed| (suite, column, column.key(&suite.name, seed)))
        });
        let cell = |(place, (suite, column, key)): (usize, (_, _, _))| {
            Cell::new(self, suite, column, key, (place, total))
        };
        keys.enumerate().map(cell).collect()
    }

    /// Runs the selected cells and reads the rest. After an interruption or an error no more cells are
    /// started, but finished ones are still read for the table.
    pub(super) fn outcomes(&self, plan: &[Cell<'_>]) -> EvaluationOutcome {
        let slots: Mutex<Vec<CellOutcome>> = Mutex::new(plan.iter().map(Cell::not_run).collect());
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let broken = Mutex::new(None);
        let written = Mutex::new(None);
        let (jobs, workers) = match &self.running {
            Some(running) => (running.jobs.max(1), running.side_by_side.clamp(1, running.jobs.max(1))),
            None => (1, 1),
        };
        std::thread::scope(|scope| {
            for worker in 0..workers {
                let share = jobs / workers + usize::from(worker < jobs % workers);
                let (slots, next, stopped, broken, written) = (&slots, &next, &stopped, &broken, &written);
                scope.spawn(move || {
                    while let Some((place, cell)) = next_cell(plan, next) {
                        match cell.run_or_read(stopped.load(Ordering::SeqCst), share) {
                            Ok(Some(report)) => {
                                stopped.fetch_or(report.state == RunState::Interrupted, Ordering::SeqCst);
                                let outcome = self.outcome(cell, &report);
                                store_outcome(slots, place, outcome);
                                self.write_task_lines(slots, written);
                            }
                            Ok(None) => {}
                            Err(exit) => {
                                stopped.store(true, Ordering::SeqCst);
                                lock(broken).get_or_insert(exit);
                            }
                        }
                    }
                });
            }
        });
        let stopped = lock(&broken).take();
        EvaluationOutcome { cells: slots.into_inner().unwrap_or_else(PoisonError::into_inner), stopped }
    }

    fn outcome(&self, cell: &Cell<'_>, report: &RunReport) -> CellOutcome {
        let judges = &cell.column.judges;
        let result = CellResult::of(cell.key.clone(), report, judges);
        let result = cell.with_history(result).with_missing(&cell.stems(), judges);
        // Where nothing is run, every cell counts.
        let counts = cell.selected || self.running.is_none();
        let exit = counts.then(|| exit_of_cell(report, self.fail_on));
        CellOutcome { result, selected: cell.selected, exit, failures: count_failures(report) }
    }

    /// Writes the lines of the finished tasks, so that a killed evaluation leaves them. Shards share their
    /// folder, so they leave this to `merge`.
    fn write_task_lines(&self, slots: &Mutex<Vec<CellOutcome>>, next: &Mutex<Option<Instant>>) {
        if self.running.is_none() || self.selection.shard.is_some() {
            return;
        }
        let mut next = lock(next);
        let start = Instant::now();
        if next.is_some_and(|next| start < next) {
            return;
        }
        let results: Vec<CellResult> = lock(slots).iter().map(|outcome| outcome.result.clone()).collect();
        let lines = task_lines(&results);
        let jsonl = lines_jsonl(&lines).unwrap_or_default();
        for (name, text) in [("tasks.jsonl", jsonl), ("tasks.csv", lines_csv(&lines))] {
            // A full disk is reported; writing the tables at the end fails too.
            let _ = write(self.context, &self.out.join(name), text.as_bytes());
        }
        *next = Some(Instant::now() + REWRITTEN.max(start.elapsed() * SHARE));
    }
}

fn next_cell<'p, 'a>(plan: &'p [Cell<'a>], next: &AtomicUsize) -> Option<(usize, &'p Cell<'a>)> {
    let place = next.fetch_add(1, Ordering::SeqCst);
    plan.get(place).map(|cell| (place, cell))
}

fn store_outcome(slots: &Mutex<Vec<CellOutcome>>, place: usize, outcome: CellOutcome) {
    if let Some(slot) = lock(slots).get_mut(place) {
        *slot = outcome;
    }
}
