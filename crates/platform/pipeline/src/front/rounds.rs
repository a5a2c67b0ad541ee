//! `do = "refine"` with its rounds, and `do = "fan_out"`.

use super::reader::{At, Reader, error_at};
use super::stages::{CANDIDATE, Round, Stages, small};
use super::tree::{Node, Place, Value};
use crate::config::{
    ContinueFrom, FanOutStage, Forget, KeepRound, Order, RefineStage, Stage, StageKind, StopRounds, writer,
};
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
        let order = reader.word("order", &[("highest", Order::Highest), ("lowest", Order::Lowest)], out);
        let ways = [("round-best", ContinueFrom::RoundBest), ("best-so-far", ContinueFrom::BestSoFar)];
        let continue_from = reader.word("continue_from", &ways, out).unwrap_or_default();
        let had_keep = reader.node("keep").is_some();
        let keep = reader.word("keep", &[("best", KeepRound::Best), ("last", KeepRound::Last)], out);
        if by.is_none() && reader.node("by").is_none() {
            // A word that cannot be read may have been `last`.
            let best = keep == Some(KeepRound::Best) || !had_keep;
            needs_metric(best, continue_from, reader, out);
        }
        let stops = [("accepted", StopRounds::Accepted), ("never", StopRounds::Never)];
        let stop = reader.word("stop", &stops, out).unwrap_or_default();
        let forget = forget(reader, out);
        let round = self.round(position, reader, stop, out);
        if let Some(by) = &by {
            self.metric_of_round(by, outer, &round, out);
        }
        Stage::Refine(RefineStage {
            label: label.value.clone(),
            rounds: small(rounds, 1),
            by: by.map(|b| b.value).unwrap_or_default(),
            order: order.unwrap_or_default(),
            continue_from,
            keep: keep.unwrap_or_default(),
            stop,
            forget,
            round,
        })
    }

    fn round(
        &mut self,
        position: &str,
        reader: &mut Reader<'_>,
        stop: StopRounds,
        out: &mut Vec<Diagnostic>,
    ) -> Vec<Stage> {
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
            if let Some(round) = &mut self.round {
                round.index = index;
            }
            read.extend(self.item(&format!("{position}-{}", index + 1), item, out));
        }
        let named = self.end_round(out);
        // A stage that could not be read may be the one that is missing.
        if read.len() == items.len() {
            match writer(&read) {
                Some(writer) => {
                    around(writer, &read, items, reader, out);
                    never_said(writer, &read, &named, out);
                }
                None => no_writer(items, reader, out),
            }
            if stop == StopRounds::Accepted {
                acceptance(&read, reader, out);
            }
        }
        read
    }

    /// What rounds are compared by must be there in each of them.
    fn metric_of_round(&self, by: &At<String>, outer: usize, round: &[Stage], out: &mut Vec<Diagnostic>) {
        let label = by.value.split_once('.').map_or("", |(label, _)| label);
        let before = round.iter().take(writer(round).unwrap_or(0));
        if before.clone().any(|stage| stage.label() == label) {
            let message = format!("`{label}` judges what comes into the round, so no child has its metrics");
            let help = "name a stage behind the one that writes, or leave `by` out with keep = \"last\"";
            out.push(error_at("pipeline.round-metric", message, by.place).help(help));
            return;
        }
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

/// What cannot be chosen without a metric.
fn needs_metric(best: bool, from: ContinueFrom, reader: &mut Reader<'_>, out: &mut Vec<Diagnostic>) {
    if best {
        let message = format!("{} has no `by`, by which the best round is chosen", reader.what);
        out.push(
            error_at("pipeline.missing-field", message, reader.place)
                .help("add `by = \"LABEL.METRIC\"`, or `keep = \"last\"` where rounds are not compared"),
        );
        return;
    }
    let keys = [("continue_from", from == ContinueFrom::BestSoFar), ("order", true)];
    for (key, needs) in keys {
        if let Some(node) = reader.node(key).filter(|_| needs) {
            let message = format!("`{key}` of {} needs a metric, and there is no `by`", reader.what);
            out.push(
                error_at("pipeline.missing-field", message, node.place)
                    .help(format!("add `by = \"LABEL.METRIC\"`, or take `{key}` out")),
            );
        }
    }
}

const ROUND: &str = "pipeline.round";

fn no_writer(items: &[Node], reader: &Reader<'_>, out: &mut Vec<Diagnostic>) {
    let place = items.first().map_or(reader.place, |item| item.place);
    let message = format!("nothing in the round of {} writes", reader.what);
    out.push(
        error_at(ROUND, message, place)
            .help("write [[stage.round]] with do = \"translate\": its children are what goes on")
            .help("to have plans written anew, give a plan stage of the round `feedback`"),
    );
}

/// One stage writes, and only what judges stands before it.
fn around(writer: usize, read: &[Stage], items: &[Node], reader: &Reader<'_>, out: &mut Vec<Diagnostic>) {
    let Some(first) = read.get(writer) else { return };
    let writes = |stage: &Stage| match (first, stage) {
        (Stage::Plan(_), Stage::Plan(stage)) => stage.rewrites(),
        _ => stage.kind() == first.kind(),
    };
    for (index, (stage, item)) in read.iter().zip(items).enumerate() {
        if index > writer && writes(stage) {
            let message = format!("a second stage of the round of {} writes", reader.what);
            let at = items.get(writer).map_or(reader.place, |item| item.place);
            out.push(
                error_at(ROUND, message, item.place)
                    .also(at.source, at.span, "the first is here")
                    .help("keep one in the round; put the other before or behind the refine stage"),
            );
        }
        let misplaced = match stage {
            Stage::Select(_) => Some("there is nothing to select before the stage that writes"),
            Stage::Plan(stage) if stage.makes_children() => Some(
                "a plan stage with `n` or `feedback` makes candidates of its own before the stage that writes",
            ),
            _ => None,
        };
        if let Some(why) = misplaced.filter(|_| index < writer) {
            let message = format!("one candidate comes into a round: {why}");
            out.push(error_at(ROUND, message, item.place).help("put it behind the stage that writes"));
        }
    }
}

/// Something has to be able to accept where that is what ends the rounds.
fn acceptance(read: &[Stage], reader: &Reader<'_>, out: &mut Vec<Diagnostic>) {
    let writer = writer(read);
    let judges = |(index, stage): (usize, &Stage)| match stage {
        Stage::Verify(stage) => !stage.measure,
        Stage::Plan(_) => Some(index) != writer,
        _ => false,
    };
    if !read.iter().enumerate().any(judges) {
        let message = format!("nothing in the round of {} can accept a candidate", reader.what);
        out.push(
            error_at(ROUND, message, reader.place)
                .help("add a [[stage.round]] with do = \"verify\" or do = \"plan\"")
                .help("or write stop = \"never\", and all rounds are made"),
        );
    }
}

/// What the writer makes is new: a stage beside it that names itself or, on its side of the writer, a later one would never be told
/// anything.
fn never_said(writer: usize, read: &[Stage], round: &Round, out: &mut Vec<Diagnostic>) {
    for (index, label) in &round.feedback {
        let Some(named) = read.iter().position(|stage| stage.label() == label.value) else { continue };
        let later = named >= *index && (*index > writer || named < writer);
        if *index != writer && later {
            let message = match named == *index {
                true => format!("`{}` names itself", label.value),
                false => format!("`{}` has not judged a candidate yet when this stage does", label.value),
            };
            out.push(error_at("pipeline.label-order", message, label.place).help(
                "what was said about the last round's candidate does not hold for what was written since; name an earlier stage",
            ));
        }
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
