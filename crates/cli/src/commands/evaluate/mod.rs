//! `planforge evaluate`: suites x pipelines x models x seeds, each cell a run folder of its own, all of them in one table; and `planforge merge`,
//! which makes the table of cells that were run elsewhere.
//!
//! A cell that has its `report.json` is finished and is only read; one that has a `run.json` alone is resumed. So an evaluation can be stopped
//! at any moment and nothing is paid for twice. What broke in a finished cell is asked for again where that is wanted.

mod cell;
mod columns;
mod dry_run;
mod ending;
mod matrix;
mod merge;
mod overrides;
mod tables;
mod work;

pub(crate) use merge::merge;

use self::cell::Cell;
use self::columns::{ColumnFile, columns};
use self::ending::{tell, tell_shard};
use self::matrix::{claim, matrix, store, suites};
use self::tables::publish;
use self::work::{Outcomes, Running, Work};
use super::Context;
use super::outcome;
use super::run::tasks_of;
use crate::args::{EndArgs, EvaluateArgs, TableArgs};
use crate::batch::Batch;
use crate::exit::Exit;
use crate::files::write;
use crate::session::broke;
use planforge_batch::Wave;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::evaluation::{CellResult, Evaluation, Matrix, NoMatch, Selection, Shard, junit};
use planforge_record::Redactor;
use std::path::Path;
use std::sync::Mutex;

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
    let columns = columns(context, &args.tables, &matrix)?;
    let suites = suites(context, &matrix, &columns)?;
    let redactor = Redactor::new(columns.iter().flat_map(|column| &column.secrets));
    // A dry run keeps no file, and changes nothing on disk.
    let given = if args.dry.dry_run { &[][..] } else { &args.answers };
    // Shards share no file, so each has batch files of its own.
    let of_shard = |Shard { part, of }| args.out.join("shards").join(format!("{part}-of-{of}"));
    let questions = args.shard.map_or_else(|| args.out.clone(), of_shard);
    let batch = Batch::bring(context, &questions, given, &redactor)?;
    let work = Work {
        context,
        out: &args.out,
        matrix: &matrix,
        suites: &suites,
        columns: &columns,
        selection: Selection { only: args.only.clone(), except: args.except.clone(), shard: args.shard },
        running: Some(Running {
            record: args.record.as_ref(),
            replay: args.replay.as_ref(),
            retry: args.retry_errors,
            jobs: args.jobs as usize,
            side_by_side: args.cells as usize,
            batch: &batch,
            pending: Mutex::default(),
        }),
        fail_on: args.ending.fail_on,
    };
    for column in &columns {
        // Before anything is run: a suite that lacks what a pipeline is given is found now.
        let checked = work.check(column, matrix.seeds.first().copied().unwrap_or_default())?;
        tasks_of(context, &checked, suites.clone())?;
    }
    selected(context, &work)?;
    if args.dry.dry_run {
        let facts = work.facts()?;
        super::dry_run::print(context, &facts, &args.dry, args.tables.json);
        return Ok(Exit::Good);
    }
    let plan = work.plan();
    begin(context, args, &matrix, &plan)?;
    let outcomes = work.outcomes(&plan);
    let exit = outcomes.exit();
    let waits = waits(context, &work, &outcomes, (&batch, &redactor))?;
    if let Some(shard) = args.shard {
        let how = format!("planforge evaluate --resume --shard {shard} --out {}", args.out.display());
        tell_shard(context, &args.out, shard, &outcomes);
        waits.iter().for_each(|wave| batch.tell(context, wave, &how));
        return Ok(exit);
    }
    let cells = outcomes.cells.iter().map(|outcome| outcome.result.clone()).collect();
    results(context, &args.out, (&args.tables, &args.ending), (&matrix, &columns), (cells, waits.as_ref()))?;
    if let Some(wave) = &waits {
        batch.tell(context, wave, &format!("planforge evaluate --resume --out {}", args.out.display()));
    }
    tell(context, &args.out, &outcomes, exit);
    Ok(exit)
}

/// Keeps the matrix. A shard may find that of another one, and none of its own cells unless it goes on.
fn begin(context: &Context, args: &EvaluateArgs, matrix: &Matrix, plan: &[Cell<'_>]) -> Result<(), Exit> {
    let Some(shard) = args.shard else { return store(context, &args.out, matrix) };
    claim(context, &args.out, matrix)?;
    let begun = plan.iter().find(|cell| cell.wanted && cell.folder().join("run.json").exists());
    match begun.filter(|_| !args.resume && !args.retry_errors) {
        Some(cell) => {
            let folder = cell.folder();
            context.output.note(&format!("error: {} is there already", folder.display()));
            context.output.note(&format!("help: go on with --resume --shard {shard}"));
            Err(Exit::Usage)
        }
        None => Ok(()),
    }
}

/// What waits is left in batch files. Where the person stopped it, what else would wait is not known yet.
fn waits(
    context: &Context,
    work: &Work<'_>,
    outcomes: &Outcomes,
    (batch, redactor): (&Batch, &Redactor),
) -> Result<Option<Wave>, Exit> {
    let Some(running) = work.running.as_ref().filter(|_| outcomes.exit() != Exit::Interrupted) else {
        return Ok(None);
    };
    let wave = batch.left(context, &running.pending(), redactor)?;
    Ok(Some(wave).filter(|wave| wave.pending > 0))
}

/// Everything that is made of the cells: tables, figures, JUnit.
fn results(
    context: &Context,
    out: &Path,
    (tables, ending): (&TableArgs, &EndArgs),
    (matrix, columns): (&Matrix, &[ColumnFile]),
    (cells, waits): (Vec<CellResult>, Option<&Wave>),
) -> Result<(), Exit> {
    let judges = columns.iter().map(|column| (column.name.clone(), column.judges.clone())).collect();
    let evaluation = Evaluation::new(matrix.seeds.clone(), &judges, cells);
    if let Some(file) = &ending.junit {
        let text = junit(&evaluation.cells).map_err(|failure| broke(context, &failure))?;
        write(context, file, text.as_bytes())?;
    }
    publish(context, out, tables, &evaluation, waits)?;
    for moved in evaluation.moved() {
        context.output.note(&outcome::moved_line(&moved));
    }
    context.output.note(&format!("tables and run folders are in {}", out.display()));
    if !tables.json {
        context.output.note(&format!("`planforge report {}` shows it as one HTML file", out.display()));
    }
    Ok(())
}

/// Filters that match nothing, or leave nothing, are mistakes.
fn selected(context: &Context, work: &Work<'_>) -> Result<(), Exit> {
    let mut found: Vec<Diagnostic> =
        work.selection.mistakes(&work.axes()).iter().map(NoMatch::diagnostic).collect();
    let whole = Selection { shard: None, ..work.selection.clone() };
    let nothing = || !work.plan().iter().any(|cell| whole.takes_cell(0, &cell.key) && cell.has_tasks());
    if found.is_empty() && !whole.is_whole() && nothing() {
        let message = "the filters together leave no cell of the matrix".to_owned();
        found.push(
            Diagnostic::error("evaluate.filter", message).help("axes narrow each other: leave one out"),
        );
    }
    if found.is_empty() {
        return Ok(());
    }
    context.output.diagnostics(&found, &SourceMap::default());
    Err(Exit::Usage)
}
