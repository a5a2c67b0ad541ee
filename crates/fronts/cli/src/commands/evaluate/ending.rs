//! The last lines of an evaluation.

use super::outcomes::EvaluationOutcome;
use crate::context::Context;
use crate::exit::Exit;
use planforge_evaluate::matrix::Shard;
use planforge_evaluate::results::{CellResult, CellState};
use std::path::Path;

/// Cells named in a message.
const NAMED: usize = 20;

/// Prints the last lines: failures, cells not selected, and how to resume.
pub(super) fn print_ending(context: &Context, out: &Path, outcomes: &EvaluationOutcome, exit: Exit) {
    print_failures(context, out, outcomes);
    let out = out.display();
    let left_out = outcomes.cells.iter().filter(|cell| !cell.selected).count();
    if exit == Exit::Interrupted {
        context.output.note(&format!("interrupted; go on with `planforge evaluate --resume --out {out}`"));
    } else if left_out > 0 {
        let open = outcomes.unfinished_cells().count();
        context.output.note(&format!(
            "{} not selected; {open} of {} not finished",
            many_are(left_out as u64, "cell"),
            many_are(outcomes.cells.len() as u64, "cell")
        ));
    }
}

/// Prints the number of failures and how to retry them.
pub(super) fn print_failures(context: &Context, out: &Path, outcomes: &EvaluationOutcome) {
    let out = out.display();
    let (tasks, calls) =
        outcomes.cells.iter().fold((0, 0), |sum, cell| (sum.0 + cell.failures.0, sum.1 + cell.failures.1));
    let failed = match (tasks, calls) {
        (0, 0) => None,
        (0, calls) => Some(format!("{} got no answer", many(calls, "call"))),
        (tasks, 0) => Some(format!("{} failed", many(tasks as u64, "task"))),
        (tasks, calls) => Some(format!(
            "{} failed, and {} of others got no answer",
            many(tasks as u64, "task"),
            many(calls, "call")
        )),
    };
    if let Some(failed) = failed {
        context.output.note(&format!(
            "{failed}; `planforge evaluate --retry-errors --out {out}` asks again for what failed"
        ));
    }
}

/// The last lines of a shard.
pub(super) fn print_shard_ending(context: &Context, out: &Path, shard: Shard, outcomes: &EvaluationOutcome) {
    print_failures(context, out, outcomes);
    let own = || outcomes.cells.iter().filter(|cell| cell.selected);
    let open = own().filter(|cell| cell.result.state == CellState::Unfinished).count();
    context.output.note(&format!(
        "shard {shard}: {} of {} cells, {open} of them not finished; `planforge evaluate merge {}` makes the tables",
        own().count(),
        outcomes.cells.len(),
        out.display()
    ));
}

/// The cells that are missing or unfinished.
pub(super) fn list_unfinished<'c>(
    context: &Context,
    cells: impl Iterator<Item = &'c CellResult>,
    total: usize,
) {
    let names: Vec<String> = cells
        .map(|cell| {
            let key = &cell.key;
            format!("{} {} {}", key.suite, key.column(), key.seed)
        })
        .collect();
    if names.is_empty() {
        return;
    }
    context.output.note(&format!(
        "warning: {} of {} missing or unfinished:",
        names.len(),
        many_are(total as u64, "cell")
    ));
    for name in names.iter().take(NAMED) {
        context.output.note(&format!("  {name}"));
    }
    if names.len() > NAMED {
        context.output.note(&format!("  and {} more; cells.csv has them all", names.len() - NAMED));
    }
}

fn many(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn many_are(n: u64, what: &str) -> String {
    format!("{} {}", many(n, what), if n == 1 { "is" } else { "are" })
}
