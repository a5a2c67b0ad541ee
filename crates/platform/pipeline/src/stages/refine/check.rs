//! Checks of `do = "refine"` and its rounds.

use super::config::{ContinueFrom, Forget, KeepRound, RefineStage, StopRounds};
use crate::front::metrics::CANDIDATE;
use crate::front::reader::{At, TableReader, error_at};
use crate::front::stage_checker::{InnerList, Round, StageChecker, StageTable, small};
use crate::front::tree::Node;
use crate::stages::Stage;
use crate::stages::order::ORDERS;
use crate::stages::round::writer_of;
use planforge_diagnostics::Diagnostic;

/// Reads and checks a refine stage.
pub(super) fn parse(
    checker: &mut StageChecker<'_>,
    table: &mut StageTable<'_, '_>,
    out: &mut Vec<Diagnostic>,
) -> RefineStage {
    let StageTable { reader, label, position } = table;
    let outer = checker.known.len();
    let rounds = reader.integer("rounds", 1..=1000, out);
    if rounds.is_none() && reader.node("rounds").is_none() {
        reader.missing("rounds", "4", out);
    }
    let by = reader.string("by", out);
    let order = reader.word("order", &ORDERS, out);
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
    let list = checker.read_list("round", position, reader, out);
    let round = checker.end_round(out);
    check_round(&list, &round, stop, reader, out);
    if let Some(by) = &by {
        check_metric_of_round(checker, by, outer, &list.stages, out);
    }
    RefineStage {
        label: label.value.clone(),
        rounds: small(rounds, 1),
        by: by.map(|b| b.value).unwrap_or_default(),
        order: order.unwrap_or_default(),
        continue_from,
        keep: keep.unwrap_or_default(),
        stop,
        forget,
        round: list.stages,
    }
}

fn check_round(
    list: &InnerList<'_>,
    round: &Round,
    stop: StopRounds,
    reader: &TableReader<'_>,
    out: &mut Vec<Diagnostic>,
) {
    // A stage that could not be read may be the one that is missing.
    if !list.is_complete {
        return;
    }
    match writer_of(&list.stages) {
        Some(writer) => {
            around(writer, &list.stages, list.items, reader, out);
            never_said(writer, &list.stages, round, out);
        }
        None => no_writer(list.items, reader, out),
    }
    if stop == StopRounds::Accepted {
        acceptance(&list.stages, reader, out);
    }
}

/// Checks that the metric of the rounds is there in each of them.
fn check_metric_of_round(
    checker: &StageChecker<'_>,
    by: &At<String>,
    outer: usize,
    round: &[Stage],
    out: &mut Vec<Diagnostic>,
) {
    let label = by.value.split_once('.').map_or("", |(label, _)| label);
    let before = round.iter().take(writer_of(round).unwrap_or(0));
    if before.clone().any(|stage| stage.label() == label) {
        let message = format!("`{label}` judges what comes into the round, so no child has its metrics");
        let help = "name a stage behind the one that writes, or leave `by` out with keep = \"last\"";
        out.push(error_at("pipeline.round-metric", message, by.place).help(help));
        return;
    }
    let in_round = |label: &str| checker.known.iter().skip(outer).any(|k| k.label == label);
    if label == CANDIDATE || in_round(label) || !checker.known.iter().any(|k| k.label == label) {
        return checker.check_metric(by, out);
    }
    let message = format!("`{label}` is no stage of the round, so no child has its metrics");
    let judges = |k: &&crate::front::stage_checker::KnownStage| k.kind.facts().judges;
    let names: Vec<String> =
        checker.known.iter().skip(outer).filter(judges).map(|k| format!("`{}`", k.label)).collect();
    let help = format!("name a metric of a verify or plan stage of the round: {}", names.join(", "));
    out.push(error_at("pipeline.round-metric", message, by.place).help(help));
}

/// Reports keys that need a metric.
fn needs_metric(best: bool, from: ContinueFrom, reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) {
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

fn no_writer(items: &[Node], reader: &TableReader<'_>, out: &mut Vec<Diagnostic>) {
    let place = items.first().map_or(reader.place, |item| item.place);
    let message = format!("nothing in the round of {} writes", reader.what);
    out.push(
        error_at(ROUND, message, place)
            .help("write [[stage.round]] with do = \"translate\": its children are what goes on")
            .help("to have plans written anew, give a plan stage of the round `feedback`"),
    );
}

/// Checks that one stage writes, and that only judges stand before it.
fn around(
    writer: usize,
    read: &[Stage],
    items: &[Node],
    reader: &TableReader<'_>,
    out: &mut Vec<Diagnostic>,
) {
    let Some(first) = read.get(writer) else { return };
    let writes = |stage: &Stage| stage.definition().writes() == first.definition().writes();
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
        if let Some(why) = stage.definition().misplaced_before_writer().filter(|_| index < writer) {
            let message = format!("one candidate comes into a round: {why}");
            out.push(error_at(ROUND, message, item.place).help("put it behind the stage that writes"));
        }
    }
}

/// Something has to be able to accept where that is what ends the rounds.
fn acceptance(read: &[Stage], reader: &TableReader<'_>, out: &mut Vec<Diagnostic>) {
    let writer = writer_of(read);
    // That a plan was written accepts nothing.
    let accepts = |(index, stage): (usize, &Stage)| stage.definition().decides() && Some(index) != writer;
    if !read.iter().enumerate().any(accepts) {
        let message = format!("nothing in the round of {} can accept a candidate", reader.what);
        out.push(
            error_at(ROUND, message, reader.place)
                .help("add a [[stage.round]] with do = \"verify\" or do = \"plan\"")
                .help("or write stop = \"never\", and all rounds are made"),
        );
    }
}

/// Reports feedback that a stage would never get: the writer's children are new, so a stage gets none from
/// itself or, on its side of the writer, from a later stage.
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

/// Reads the key `forget`.
pub(crate) fn forget(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> Vec<Forget> {
    let words =
        [("domain", Forget::Domain), ("problem", Forget::Problem), ("conversation", Forget::Conversation)];
    reader.words("forget", &words, out)
}
