//! Warnings about what tables cannot show: recordings that answer the same request differently, because several are united or a model changed, and
//! cells of a matrix that was edited.

use super::cells::{Cell, EvaluationSetup, lock};
use super::merge;
use planforge_record::{Cassette, ModelRepeats, OtherReplies, RepeatedRequests};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Compares the replies to the same request in the cassettes that cells were replayed from. They are read again, one at a time, because all of
/// them may not fit into memory.
pub(super) fn warn_of_repeats(setup: &EvaluationSetup<'_>, plan: &[Cell<'_>]) {
    let Some(running) = &setup.running else { return };
    let mut opened = std::mem::take(&mut *lock(&running.opened));
    let mut found = RepeatedRequests::default();
    // In the order in which cells search them.
    let cassettes = plan.iter().filter(|cell| cell.selected).flat_map(|cell| cell.cassettes_of(running));
    for path in cassettes.filter(|path| opened.remove(path)) {
        // The cell that needs an unreadable cassette reports it. Nothing is shown of a text, so no secret needs to be hidden.
        if let Ok(cassette) = Cassette::open(&path, Arc::default()) {
            // Cassettes of one name are of the same cell.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let _ = found.add(&path.display().to_string(), name.trim_end_matches(".gz"), &cassette);
        }
    }
    warnings(&found).into_iter().for_each(|warning| setup.context.warn(warning));
}

/// Names the cells that were run and that the matrix no longer has.
pub(super) fn warn_of_other_cells(setup: &EvaluationSetup<'_>, plan: &[Cell<'_>]) {
    let of_matrix: BTreeSet<PathBuf> = plan.iter().map(|cell| cell.key.folder()).collect();
    let mut others = merge::cells(setup.out).unwrap_or_default();
    others.retain(|cell| !of_matrix.contains(cell));
    let Some(first) = others.first() else { return };
    let have = counted(others.len(), "cell was run and is", "cells were run and are");
    setup.context.warn(format!(
        "{have} not in the matrix, so the tables lack the results; for example {}",
        setup.out.join(first).display()
    ));
}

fn warnings(found: &RepeatedRequests) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(first) = found.conflicts.first() {
        let count = counted(found.conflicts.len(), "request has", "requests have");
        warnings.push(format!(
            "{count} other replies in a second recording; those of the first are used{}",
            named(first)
        ));
    }
    for (model, ModelRepeats { repeated, other }) in &found.models {
        if let Some(first) = other.first() {
            warnings.push(format!(
                "`{model}` gave other replies to {} of {}, at temperature 0 or with the same seed: it changed, or it does not repeat its replies{}",
                other.len(),
                counted(*repeated, "repeated request", "repeated requests"),
                named(first)
            ));
        }
    }
    warnings
}

fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

/// `; for example p01/plan in a.jsonl and b.jsonl`.
fn named(OtherReplies { path, first, other }: &OtherReplies) -> String {
    let places: BTreeSet<PathBuf> = [first, other].into_iter().map(PathBuf::from).collect();
    let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    format!("; for example `{path}` in {}", places.join(" and "))
}
