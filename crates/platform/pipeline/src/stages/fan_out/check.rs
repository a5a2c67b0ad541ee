//! Checks of `do = "fan_out"`.

use super::config::FanOutStage;
use crate::front::reader::error_at;
use crate::front::stage_checker::StageTable;
use crate::front::tree::{Node, Value};
use crate::stages::{Stage, StageKind};
use crate::suite::Suite;
use planforge_diagnostics::Diagnostic;
use std::collections::BTreeMap;

/// Reads a fan-out stage.
pub(super) fn parse(table: &mut StageTable<'_, '_>, out: &mut Vec<Diagnostic>) -> FanOutStage {
    let lead = table.reader.string("lead", out).map(|lead| lead.value);
    FanOutStage { label: table.label.value.clone(), lead }
}

/// Checks that there is one fan-out stage, and that a stage behind it judges the tasks.
pub(super) fn check_file(stages: &[Stage], items: &[Node], out: &mut Vec<Diagnostic>) {
    let is_fan_out = |item: &&Node| {
        let word = item.as_table().and_then(|table| table.get("do"));
        matches!(word, Some(Node { value: Value::String(word), .. }) if word == StageKind::FanOut.name())
    };
    let mut found = items.iter().filter(is_fan_out);
    let Some(first) = found.next() else { return };
    for again in found {
        let message = "there is a second fan_out stage: the other tasks have started already";
        out.push(
            error_at("pipeline.fan-out", message, again.place)
                .also(first.place.source, first.place.span, "the first is here")
                .help("keep one"),
        );
    }
    let behind = stages.iter().skip_while(|stage| stage.kind() != StageKind::FanOut).skip(1);
    if !behind.into_iter().any(|stage| stage.definition().decides()) {
        let message = "nothing behind the fan_out stage judges the tasks";
        let help = "verdicts come from the stages behind it: add a verify or plan stage";
        out.push(error_at("pipeline.fan-out", message, first.place).help(help));
    }
}

/// Checks that the lead task is there wherever a suite has several tasks.
pub(super) fn check_suites(stage: &FanOutStage, suites: &[Suite]) -> Vec<Diagnostic> {
    let Some(lead) = stage.lead.as_deref() else { return Vec::new() };
    let mut stems: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for suite in suites {
        stems.entry(&suite.name).or_default().extend(suite.tasks.iter().map(|task| task.stem.as_str()));
    }
    stems.retain(|_, stems| stems.len() > 1 && !stems.contains(&lead));
    let wrong = |(name, stems): (&str, Vec<&str>)| {
        let message = format!("the lead task `{lead}` is not among the tasks of suite `{name}` in this run");
        let help = format!("take {lead} into the run, or name one of {} in `lead`", stems.join(", "));
        Diagnostic::error("suite.no-lead", message).help(help)
    };
    stems.into_iter().map(wrong).collect()
}
