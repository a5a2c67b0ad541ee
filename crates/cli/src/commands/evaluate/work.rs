//! The cells of an evaluation: which are run, how many side by side, and what each came to.

use super::cell::Cell;
use super::columns::ColumnFile;
use super::ending::{broke_in, exit_of_cell};
use crate::args::Fails;
use crate::batch::Batch;
use crate::commands::Context;
use crate::exit::Exit;
use crate::files::write;
use crate::session;
use planforge_evaluate::evaluation::{
    Axes, CellResult, CellState, Matrix, Selection, lines_csv, lines_jsonl, task_lines,
};
use planforge_llm::PendingQuestion;
use planforge_pipeline::{RunReport, RunState, Suite};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the lines of tasks are written anew while cells are run: writing them takes as long as there are cells.
const REWRITTEN: Duration = Duration::from_secs(2);

/// What all cells share.
pub(super) struct Work<'a> {
    pub(super) context: &'a Context,
    pub(super) out: &'a Path,
    pub(super) matrix: &'a Matrix,
    pub(super) suites: &'a [Suite],
    pub(super) columns: &'a [ColumnFile],
    pub(super) selection: Selection,
    /// Absent where nothing is run, and cells are only read.
    pub(super) running: Option<Running<'a>>,
    pub(super) fail_on: Fails,
}

/// How cells are run.
pub(super) struct Running<'a> {
    /// Folders of cassettes, as `--record` and `--replay` name them.
    pub(super) record: Option<&'a PathBuf>,
    pub(super) replay: Option<&'a PathBuf>,
    /// Whether finished cells in which something broke are run again.
    pub(super) retry: bool,
    /// Calls at a time, over all cells.
    pub(super) jobs: usize,
    /// Cells side by side.
    pub(super) side_by_side: usize,
    /// Answers to the questions of all cells.
    pub(super) batch: &'a Batch,
    /// The questions of all cells that wait.
    pub(super) pending: Mutex<Vec<PendingQuestion>>,
}

impl Running<'_> {
    /// Takes note of a cell's questions that wait.
    pub(super) fn wait_for(&self, questions: Vec<PendingQuestion>) {
        locked(&self.pending).extend(questions);
    }

    /// All of them, in an order that does not depend on which cell ended first.
    pub(super) fn pending(&self) -> Vec<PendingQuestion> {
        let mut all = locked(&self.pending).clone();
        all.sort_by(|a, b| (&a.path, &a.key).cmp(&(&b.path, &b.key)));
        all
    }
}

/// What a cell came to, and how the command would end for it alone: nothing where a filter leaves it out.
pub(super) struct Outcome {
    pub(super) result: CellResult,
    /// Whether it was to be run.
    pub(super) wanted: bool,
    pub(super) exit: Option<Exit>,
    /// Tasks that broke, and calls of other tasks that got no answer.
    pub(super) broke: (usize, u64),
}

/// What all cells came to.
pub(super) struct Outcomes {
    pub(super) cells: Vec<Outcome>,
    /// What stopped the evaluation.
    pub(super) stopped: Option<Exit>,
}

impl Outcomes {
    /// How the command ends: with what stopped it, else with an interruption, else with questions that wait, for more can be done once they
    /// are answered, else with the first thing that kept a cell from a verdict, else with a negative verdict where that counts.
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

impl Work<'_> {
    /// The names on the axes of the matrix.
    pub(super) fn axes(&self) -> Axes {
        let tasks = |suite: &Suite| suite.tasks.iter().map(|task| task.stem.clone()).collect();
        Axes {
            suites: self.suites.iter().map(|suite| (suite.name.clone(), tasks(suite))).collect(),
            pipelines: self.matrix.pipeline_names(),
            models: self.matrix.models.iter().map(|model| model.name.clone()).collect(),
            seeds: self.matrix.seeds.clone(),
        }
    }

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

    /// Runs what is to be run and reads the rest. After an interruption or an error nothing more is begun; what is finished already is read
    /// all the same, so that the table shows it.
    pub(super) fn outcomes(&self, plan: &[Cell<'_>]) -> Outcomes {
        let slots: Mutex<Vec<Outcome>> = Mutex::new(plan.iter().map(Cell::not_run).collect());
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
                    while let Some((place, cell)) = take(plan, next) {
                        match cell.report(stopped.load(Ordering::SeqCst), share) {
                            Ok(Some(report)) => {
                                stopped.fetch_or(report.state == RunState::Interrupted, Ordering::SeqCst);
                                let outcome = self.outcome(cell, &report);
                                put(slots, place, outcome);
                                self.lines_so_far(slots, written);
                            }
                            Ok(None) => {}
                            Err(exit) => {
                                stopped.store(true, Ordering::SeqCst);
                                locked(broken).get_or_insert(exit);
                            }
                        }
                    }
                });
            }
        });
        let stopped = locked(&broken).take();
        Outcomes { cells: slots.into_inner().unwrap_or_else(PoisonError::into_inner), stopped }
    }

    fn outcome(&self, cell: &Cell<'_>, report: &RunReport) -> Outcome {
        let judges = &cell.column.judges;
        let result = CellResult::of(cell.key.clone(), report, judges);
        let result = cell.with_history(result).with_missing(&cell.stems(), judges);
        // Where nothing is run, every cell counts.
        let counts = cell.wanted || self.running.is_none();
        let exit = counts.then(|| exit_of_cell(report, self.fail_on));
        Outcome { result, wanted: cell.wanted, exit, broke: broke_in(report) }
    }

    /// Writes the lines of tasks as far as they are known, so that an evaluation that is killed leaves them. Shards share their folder, so
    /// they leave the lines to `merge`.
    fn lines_so_far(&self, slots: &Mutex<Vec<Outcome>>, written: &Mutex<Option<Instant>>) {
        if self.running.is_none() || self.selection.shard.is_some() {
            return;
        }
        let mut written = locked(written);
        if written.is_some_and(|at| at.elapsed() < REWRITTEN) {
            return;
        }
        let results: Vec<CellResult> = locked(slots).iter().map(|outcome| outcome.result.clone()).collect();
        let lines = task_lines(&results);
        let jsonl = lines_jsonl(&lines).unwrap_or_default();
        for (name, text) in [("tasks.jsonl", jsonl), ("tasks.csv", lines_csv(&lines))] {
            // A disk that takes no line is told about; the tables at the end fail for it.
            let _ = write(self.context, &self.out.join(name), text.as_bytes());
        }
        *written = Some(Instant::now());
    }

    pub(super) fn overrides(&self, column: &ColumnFile, seed: u64) -> Vec<String> {
        column.set.iter().cloned().chain([format!("seed={seed}")]).collect()
    }

    pub(super) fn check(&self, column: &ColumnFile, seed: u64) -> Result<session::Checked, Exit> {
        let name = column.path.display().to_string();
        session::check(self.context, &column.text, &name, &self.overrides(column, seed))
    }
}

fn take<'p, 'a>(plan: &'p [Cell<'a>], next: &AtomicUsize) -> Option<(usize, &'p Cell<'a>)> {
    let place = next.fetch_add(1, Ordering::SeqCst);
    plan.get(place).map(|cell| (place, cell))
}

fn put(slots: &Mutex<Vec<Outcome>>, place: usize, outcome: Outcome) {
    if let Some(slot) = locked(slots).get_mut(place) {
        *slot = outcome;
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_evaluate::evaluation::{CellKey, Judges};

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
