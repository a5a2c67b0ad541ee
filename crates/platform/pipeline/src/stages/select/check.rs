//! Checks of `do = "select"`.

use super::config::SelectStage;
use crate::front::reader::{At, TableReader, error_at};
use crate::front::stage_checker::{StageChecker, StageTable, kinds_where, small};
use crate::stages::order::ORDERS;
use planforge_diagnostics::Diagnostic;

/// Reads and checks a select stage.
pub(super) fn parse(
    checker: &StageChecker<'_>,
    table: &mut StageTable<'_, '_>,
    out: &mut Vec<Diagnostic>,
) -> SelectStage {
    let StageTable { reader, label, .. } = table;
    let had = reader.node("by").is_some();
    let by = reader.string("by", out);
    match &by {
        Some(by) => checker.check_metric(by, out),
        None if !had => reader.missing("by", "\"LABEL.METRIC\"", out),
        None => {}
    }
    let otherwise = otherwise(checker, reader, by.as_ref(), out);
    let ties = reader.string("ties", out);
    if let Some(ties) = &ties {
        checker.check_metric(ties, out);
    }
    let group_by = reader.string("group_by", out);
    if let Some(group) = &group_by {
        let kinds = kinds_where(|kind| kind.facts().groups);
        checker.check_earlier(group, &kinds, "pipeline.group-by", out);
    }
    SelectStage {
        label: label.value.clone(),
        by: by.map(|b| b.value).unwrap_or_default(),
        ties: ties.map(|ties| ties.value),
        otherwise,
        keep: small(reader.integer("keep", 1..=1_000_000, out), 1),
        group_by: group_by.map(|g| g.value),
        order: reader.word("order", &ORDERS, out).unwrap_or_default(),
    }
}

/// Reads the metrics for groups in which a member has no value of `by`. Each is another metric.
fn otherwise(
    checker: &StageChecker<'_>,
    reader: &mut TableReader<'_>,
    by: Option<&At<String>>,
    out: &mut Vec<Diagnostic>,
) -> Vec<String> {
    let metrics = reader.string_or_strings("otherwise", out);
    let mut before: Vec<&At<String>> = by.into_iter().collect();
    for metric in &metrics {
        if let Some(first) = before.iter().find(|one| one.value == metric.value) {
            let message = format!("`{}` was to be compared by before", metric.value);
            out.push(
                error_at("pipeline.otherwise", message, metric.place)
                    .also(first.place.source, first.place.span, "it is here")
                    .help("name another metric, one that every candidate has a value of"),
            );
        } else {
            checker.check_metric(metric, out);
        }
        before.push(metric);
    }
    metrics.iter().map(|metric| metric.value.clone()).collect()
}
