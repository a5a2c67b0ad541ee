//! `planforge evaluate`: suites x pipelines x models x seeds, each cell a run folder of its own, all of them in one table.
//!
//! A cell that has its `report.json` is finished and is only read; one that has a `run.json` is resumed, also where something
//! broke in it. So an evaluation can be stopped at any moment and nothing is paid for twice.

mod cell;
mod columns;
mod dry_run;
mod matrix;
mod overrides;
mod tables;

use self::cell::Cell;
use self::columns::{ColumnFile, columns};
use self::matrix::{from_anywhere, matrix, suites};
use self::tables::Tables;
use super::Context;
use super::outcome;
use super::run::{exit_of, tasks_of};
use crate::args::EvaluateArgs;
use crate::exit::Exit;
use crate::files::{unwritable, write};
use crate::session::{self, broke};
use planforge_evaluate::evaluation::{CellResult, Evaluation, Matrix, class_figures, curve_files, curves};
use planforge_pipeline::{RunState, Suite};

/// What is evaluated, in the output folder.
const MATRIX: &str = "matrix.json";
/// What came of it, in the output folder.
const EVALUATION: &str = "evaluation.json";

pub(crate) fn run(context: &Context, args: &EvaluateArgs) -> Exit {
    let context = &context.showing(&args.progress);
    match evaluate(context, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn evaluate(context: &Context, args: &EvaluateArgs) -> Result<Exit, Exit> {
    let matrix = matrix(context, args)?;
    let columns = columns(context, args, &matrix)?;
    let suites = suites(context, &matrix, &columns)?;
    let work = Work { context, args, matrix: &matrix };
    for column in &columns {
        // Before anything is run: a suite that lacks what a pipeline is given is found now.
        let checked = work.check(column, matrix.seeds.first().copied().unwrap_or_default())?;
        tasks_of(context, &checked, suites.clone())?;
    }
    if args.dry.dry_run {
        let facts = work.facts(&suites, &columns)?;
        super::dry_run::print(context, &facts, &args.dry, args.json);
        return Ok(Exit::Good);
    }
    let text = serde_json::to_string_pretty(&from_anywhere(&matrix))
        .map_err(|e| unwritable(context, &args.out, &e))?;
    write(context, &args.out.join(MATRIX), (text + "\n").as_bytes())?;
    let (cells, exit) = work.cells(&suites, &columns);
    let judges = columns.iter().map(|column| (column.name.clone(), column.judges.clone())).collect();
    let evaluation = Evaluation::new(matrix.seeds.clone(), &judges, cells);
    let tables = Tables::new(context, args, &evaluation)?;
    for file in tables.files(&evaluation).map_err(|failure| broke(context, &failure))? {
        write(context, &args.out.join(&file.name), file.contents.as_bytes())?;
    }
    if let Some(folder) = &args.curves {
        let curves = curves(&evaluation);
        if curves.is_empty() {
            context.output.note("warning: --curves: no task has samples or rounds, so there are no curves");
        }
        for file in curve_files(&curves).map_err(|failure| broke(context, &failure))? {
            write(context, &folder.join(&file.name), file.contents.as_bytes())?;
        }
    }
    if let Some(folder) = &args.figures {
        let figures = class_figures(&tables.classes).map_err(|failure| broke(context, &failure))?;
        for note in &figures.notes {
            context.output.note(&format!("warning: --figures: {note}"));
        }
        for file in figures.files {
            write(context, &folder.join(&file.name), file.contents.as_bytes())?;
        }
    }
    tables.print(context, args, &evaluation);
    for moved in evaluation.moved() {
        context.output.note(&outcome::moved_line(&moved));
    }
    let out = args.out.display();
    context.output.note(&format!("tables and run folders are in {out}"));
    if exit == Exit::Interrupted {
        context.output.note(&format!("interrupted; go on with `planforge evaluate --resume --out {out}`"));
    }
    Ok(exit)
}

/// What all cells share.
struct Work<'a> {
    context: &'a Context,
    args: &'a EvaluateArgs,
    matrix: &'a Matrix,
}

impl Work<'_> {
    /// Every cell in the order of the table. After an interruption or an error the rest is not run; what is finished already is
    /// read all the same, so that the table shows it.
    fn cells(&self, suites: &[Suite], columns: &[ColumnFile]) -> (Vec<CellResult>, Exit) {
        let mut results = Vec::new();
        let mut exit = Exit::Good;
        let mut stopped = false;
        let total = suites.len() * columns.len() * self.matrix.seeds.len();
        for (suite, column) in suites.iter().flat_map(|s| columns.iter().map(move |c| (s, c))) {
            for &seed in &self.matrix.seeds {
                let key = column.key(&suite.name, seed);
                let title = format!("{}/{total} {} {} {seed}", results.len() + 1, key.suite, column.name);
                let cell = Cell { work: self, suite, column, key: key.clone(), title };
                match cell.report(stopped) {
                    Ok(Some(report)) => {
                        // The first thing that kept a cell from a verdict is how the command ends; an interruption outranks it.
                        let ended = exit_of(&report, None);
                        if exit == Exit::Good || ended == Exit::Interrupted {
                            exit = ended;
                        }
                        stopped |= report.state == RunState::Interrupted;
                        let result = CellResult::of(key, &report, &column.judges);
                        results.push(cell.with_history(result));
                    }
                    Ok(None) => results.push(CellResult::unfinished(key, &cell.stems(), &column.judges)),
                    Err(broken) => {
                        exit = broken;
                        stopped = true;
                        results.push(CellResult::unfinished(key, &cell.stems(), &column.judges));
                    }
                }
            }
        }
        (results, exit)
    }

    fn overrides(&self, column: &ColumnFile, seed: u64) -> Vec<String> {
        column.set.iter().cloned().chain([format!("seed={seed}")]).collect()
    }

    fn check(&self, column: &ColumnFile, seed: u64) -> Result<session::Checked, Exit> {
        let name = column.path.display().to_string();
        session::check(self.context, &column.text, &name, &self.overrides(column, seed))
    }
}
