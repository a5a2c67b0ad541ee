//! `do = "refine"` with its rounds, and `do = "fan_out"`.

use super::reader::{At, Reader, error_at};
use super::stages::{CANDIDATE, Round, Stages, small};
use super::tree::{Node, Place, Value};
use crate::config::{ContinueFrom, FanOutStage, Forget, KeepRound, Order, RefineStage, Stage, StageKind};
use planforge_diagnostics::Diagnostic;

impl Stages<'_> {
    pub(super) fn refine(
        &mut self,
        position: &str,
        reader: &mut Reader<'_>,
        label: &At<String>,
        out: &mut Vec<Diagnostic>,
    ) -> Stage {
        self.know_refine(label, StageKind::Refine);
        let outer = self.known.len();
        let rounds = reader.integer("rounds", 1..=1000, out);
        if rounds.is_none() && reader.node("rounds").is_none() {
            reader.missing("rounds", "4", out);
        }
        let by = reader.string("by", out);
        if by.is_none() && reader.node("by").is_none() {
            reader.missing("by", "\"LABEL.METRIC\"", out);
        }
        let order = reader.word("order", &[("highest", Order::Highest), ("lowest", Order::Lowest)], out);
        let ways = [("round-best", ContinueFrom::RoundBest), ("best-so-far", ContinueFrom::BestSoFar)];
        let continue_from = reader.word("continue_from", &ways, out).unwrap_or_default();
        let keep = reader.word("keep", &[("best", KeepRound::Best), ("last", KeepRound::Last)], out);
        let forget = forget(reader, out);
        let round = self.round(position, reader, out);
        if let Some(by) = &by {
            self.metric_of_round(by, outer, out);
        }
        Stage::Refine(RefineStage {
            label: label.value.clone(),
            rounds: small(rounds, 1),
            by: by.map(|b| b.value).unwrap_or_default(),
            order: order.unwrap_or_default(),
            continue_from,
            keep: keep.unwrap_or_default(),
            forget,
            round,
        })
    }

    fn round(&mut self, position: &str, reader: &mut Reader<'_>, out: &mut Vec<Diagnostic>) -> Vec<Stage> {
        let items = match reader.node("round") {
            Some(Node { value: Value::Array(items), .. }) => items,
            Some(other) => {
                let message = format!("`round` of {} must be an array of tables", reader.what);
                out.push(
                    error_at("pipeline.type", message, other.place)
                        .help("write [[stage.round]] before each stage of the round"),
                );
                return Vec::new();
            }
            None => const { &Vec::new() },
        };
        self.round = Some(Round::default());
        let mut read = Vec::new();
        for (index, item) in items.iter().enumerate() {
            read.extend(self.item(&format!("{position}-{}", index + 1), item, out));
        }
        self.end_round(out);
        // A stage that could not be read may be the one that is missing.
        if read.len() == items.len() {
            composition(&read, items, reader, out);
        }
        read
    }

    /// What rounds are compared by must be there in each of them.
    fn metric_of_round(&self, by: &At<String>, outer: usize, out: &mut Vec<Diagnostic>) {
        let label = by.value.split_once('.').map_or("", |(label, _)| label);
        let in_round = |label: &str| self.known.iter().skip(outer).any(|k| k.label == label);
        if label == CANDIDATE || in_round(label) || !self.known.iter().any(|k| k.label == label) {
            return self.metric(by, out);
        }
        let message = format!("`{label}` is no stage of the round, so no child has its metrics");
        let judges = |k: &&super::stages::Known| matches!(k.kind, StageKind::Verify | StageKind::Plan);
        let names: Vec<String> =
            self.known.iter().skip(outer).filter(judges).map(|k| format!("`{}`", k.label)).collect();
        let help = format!("name a metric of a verify or plan stage of the round: {}", names.join(", "));
        out.push(error_at("pipeline.round-metric", message, by.place).help(help));
    }
}

/// A round writes first and judges then.
fn composition(read: &[Stage], items: &[Node], reader: &Reader<'_>, out: &mut Vec<Diagnostic>) {
    let code = "pipeline.round";
    if !matches!(read.first(), Some(Stage::Translate(_))) {
        let place = items.first().map_or(reader.place, |item| item.place);
        let message = format!("the round of {} does not begin with a translate stage", reader.what);
        let help = "write [[stage.round]] with do = \"translate\": its children are what the round judges";
        out.push(error_at(code, message, place).help(help));
    }
    let judges = |stage: &Stage| match stage {
        Stage::Verify(stage) => !stage.measure,
        Stage::Plan(_) => true,
        _ => false,
    };
    if !read.iter().any(judges) {
        let message = format!("nothing in the round of {} can accept a child", reader.what);
        let help = "add a [[stage.round]] with do = \"verify\" or do = \"plan\"";
        out.push(error_at(code, message, reader.place).help(help));
    }
}

fn forget(reader: &mut Reader<'_>, out: &mut Vec<Diagnostic>) -> Vec<Forget> {
    let words =
        [("domain", Forget::Domain), ("problem", Forget::Problem), ("conversation", Forget::Conversation)];
    reader.words("forget", &words, out)
}

/// What a round cannot hold.
pub(super) fn not_in_a_round(kind: StageKind, place: Place) -> Diagnostic {
    let message = format!("a {} stage cannot stand in a round", kind.name());
    let help = match kind {
        StageKind::Refine | StageKind::Budget => "put it beside the other stage: rounds are not nested",
        _ => "put it behind the refine stage",
    };
    error_at("pipeline.nested-round", message, place).help(help)
}

pub(super) fn fan_out(reader: &mut Reader<'_>, label: &str, out: &mut Vec<Diagnostic>) -> Stage {
    let lead = reader.string("lead", out).map(|lead| lead.value);
    Stage::FanOut(FanOutStage { label: label.to_owned(), lead })
}

/// The suite's tasks part once, and something judges them behind that.
pub(super) fn fan_out_once(stages: &[Stage], items: &[Node], out: &mut Vec<Diagnostic>) {
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
    let judges = |stage: &Stage| match stage {
        Stage::Verify(stage) => !stage.measure,
        Stage::Plan(_) | Stage::Refine(_) | Stage::Budget(_) => true,
        Stage::Translate(_) | Stage::Select(_) | Stage::FanOut(_) => false,
    };
    if !behind.into_iter().any(judges) {
        let message = "nothing behind the fan_out stage judges the tasks";
        let help = "verdicts come from the stages behind it: add a verify or plan stage";
        out.push(error_at("pipeline.fan-out", message, first.place).help(help));
    }
}
