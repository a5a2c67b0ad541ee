//! `do = "budget"`: what may be spent, how a candidate is sampled and refined, and what judges it.

use super::config::{BudgetArms, BudgetLimits, BudgetPolicy, BudgetStage};
use crate::front::metrics::CANDIDATE;
use crate::front::reader::{At, TableReader, error_at};
use crate::front::stage_checker::{StageChecker, StageTable, small};
use crate::front::tree::{Node, SourcePlace, Value};
use crate::stages::Stage;
use crate::stages::definition::Writes;
use crate::stages::order::ORDERS;
use crate::stages::refine::parse_forget;
use crate::stages::round::writer_of;
use planforge_diagnostics::Diagnostic;

const POLICIES: [(&str, BudgetPolicy); 3] =
    [("thompson", BudgetPolicy::Thompson), ("ucb", BudgetPolicy::Ucb), ("uniform", BudgetPolicy::Uniform)];

const ARMS: [(&str, BudgetArms); 2] =
    [("candidates", BudgetArms::Candidates), ("branches", BudgetArms::Branches)];

/// The `budget` table with its places.
struct Stated {
    limits: BudgetLimits,
    place: SourcePlace,
    money: Option<SourcePlace>,
    /// Nothing in it could not be read.
    whole: bool,
}

/// Reads and checks a budget stage.
pub(super) fn parse(
    checker: &mut StageChecker<'_>,
    table: &mut StageTable<'_, '_>,
    out: &mut Vec<Diagnostic>,
) -> BudgetStage {
    let StageTable { reader, label, position } = table;
    let had = reader.node("by").is_some();
    let by = reader.string("by", out);
    if by.is_none() && !had {
        reader.missing("by", "\"LABEL.METRIC\"", out);
    }
    let order = reader.word("order", &ORDERS, out);
    let range_place = reader.node("range").map(|node| node.place);
    let range = range(reader, out);
    let policy = reader.word("policy", &POLICIES, out).unwrap_or_default();
    let arms = reader.word("arms", &ARMS, out).unwrap_or_default();
    let forget = parse_forget(reader, out);
    let width = small(reader.integer("width", 1..=64, out), 1);
    let keep = small(reader.integer("keep", 1..=10_000, out), 1);
    let stated = limits(reader, out);
    let sample = checker.read_list("sample", &format!("{position}-sample"), reader, out);
    checker.end_round(out);
    let before_judges = checker.known.len();
    let judge = checker.read_list("judge", &format!("{position}-judge"), reader, out);
    let behind_judges = checker.known.len();
    let round = checker.read_list("round", &format!("{position}-round"), reader, out);
    checker.end_round(out);
    if let Some(by) = &by {
        check_metric_of_judge(checker, by, before_judges..behind_judges, range_place.is_none(), out);
    }
    let is_complete = sample.is_complete && judge.is_complete && round.is_complete;
    let places = [sample.place, round.place, judge.place];
    let stage = BudgetStage {
        label: label.value.clone(),
        by: by.map(|by| by.value).unwrap_or_default(),
        order: order.unwrap_or_default(),
        range,
        policy,
        arms,
        forget,
        width,
        keep,
        budget: stated.as_ref().map(|stated| stated.limits).unwrap_or_default(),
        sample: sample.stages,
        round: round.stages,
        judge: judge.stages,
    };
    // A stage that could not be read may be the one that is missing.
    if is_complete {
        composition(&stage, reader, places, out);
        if let Some(stated) = &stated {
            check_spendable(checker, &stage, stated, out);
        }
    }
    stage
}

/// Candidates are compared whether they were sampled or refined, so the metric is one that every candidate gets.
fn check_metric_of_judge(
    checker: &StageChecker<'_>,
    by: &At<String>,
    judges: std::ops::Range<usize>,
    without_range: bool,
    out: &mut Vec<Diagnostic>,
) {
    let (label, name) = by.value.split_once('.').unwrap_or(("", ""));
    let judge = checker.known.get(judges.clone()).unwrap_or_default().iter().find(|k| k.label == label);
    let other = checker.known.iter().find(|k| k.label == label);
    if label != CANDIDATE && judge.is_none() && other.is_some() {
        let message = format!("`{label}` is no judge of the stage, so not every candidate has its metrics");
        let judges = checker.known.get(judges).unwrap_or_default();
        let names: Vec<String> = judges.iter().map(|k| format!("`{}`", k.label)).collect();
        let help = format!("name a metric of a [[stage.judge]]: {}", names.join(", "));
        out.push(error_at("pipeline.budget-metric", message, by.place).help(help));
        return;
    }
    let before = out.len();
    checker.check_metric(by, out);
    let unbounded = label == CANDIDATE || judge.is_some_and(|k| k.kind.facts().unbounded_metrics);
    if out.len() == before && unbounded && without_range {
        let message = format!("`{label}.{name}` is not a number between 0 and 1");
        let help = "add `range = [LOW, HIGH]`: the values between which a difference counts for the policy";
        out.push(error_at("pipeline.budget-metric", message, by.place).help(help));
    }
}

/// Checks that pulls use what the budget limits.
fn check_spendable(
    checker: &mut StageChecker<'_>,
    stage: &BudgetStage,
    stated: &Stated,
    out: &mut Vec<Diagnostic>,
) {
    let limits = &stated.limits;
    if *limits == BudgetLimits::default() {
        if stated.whole {
            let message = format!("the budget of stage `{}` limits nothing", stage.label);
            let help = "state at least one of `calls`, `tokens`, `seconds` and `money`";
            out.push(error_at("pipeline.budget-limit", message, stated.place).help(help));
        }
        return;
    }
    let inside = || stage.sample.iter().chain(&stage.round).chain(&stage.judge);
    let mut models: Vec<String> = inside().flat_map(Stage::models).map(str::to_owned).collect();
    models.sort();
    models.dedup();
    if models.is_empty() && limits.seconds.is_none() {
        let message =
            format!("no stage inside of `{}` asks a model, so nothing of its budget is spent", stage.label);
        let help = "limit `seconds`, or use a stage with roles";
        out.push(error_at("pipeline.budget-limit", message, stated.place).help(help));
    }
    if let Some(money) = stated.money {
        checker.findings.need_prices.push((money, models));
    }
}

fn range(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> Option<[f64; 2]> {
    let node = reader.node("range")?;
    let number = |node: &Node| match node.value {
        Value::Float(number) => Some(number),
        Value::Integer(number) => Some(number as f64),
        _ => None,
    };
    let pair = match &node.value {
        Value::Array(items) => match &items[..] {
            [low, high] => number(low).zip(number(high)),
            _ => None,
        },
        _ => None,
    };
    let Some((low, high)) = pair else {
        let message = format!("`range` of {} must be two numbers", reader.what);
        out.push(error_at("pipeline.type", message, node.place).help("write `range = [LOW, HIGH]`"));
        return None;
    };
    if !(low.is_finite() && high.is_finite() && low < high) {
        let message =
            format!("`range` of {} is [{low}, {high}]: the first must be below the second", reader.what);
        let help = "where low values are the better ones, add `order = \"lowest\"`";
        out.push(error_at("pipeline.range", message, node.place).help(help));
        return None;
    }
    Some([low, high])
}

fn limits(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> Option<Stated> {
    if reader.node("budget").is_none() {
        let message = format!("{} has no `budget`", reader.what);
        let help =
            "add [stage.budget] with at least one of `calls`, `tokens`, `seconds` and `money` below it";
        out.push(error_at("pipeline.missing-field", message, reader.place).help(help));
        return None;
    }
    let (table, node) = reader.table("budget", out)?;
    let before = out.len();
    let mut inner = TableReader::new(table, node.place, format!("the budget of {}", reader.what));
    let limits = BudgetLimits {
        calls: inner.integer("calls", 1..=i64::MAX, out),
        tokens: inner.integer("tokens", 1..=i64::MAX, out),
        seconds: inner.number("seconds", 0.001..=1e6, out),
        money: inner.number("money", 1e-6..=1e6, out),
    };
    let money = inner.node("money").map(|node| node.place).filter(|_| limits.money.is_some());
    inner.finish("pipeline.unknown-stage-key", out);
    Some(Stated { limits, place: node.place, money, whole: out.len() == before })
}

/// A budget stage samples or refines, and judges all the same.
fn composition(
    stage: &BudgetStage,
    reader: &TableReader<'_>,
    places: [SourcePlace; 3],
    out: &mut Vec<Diagnostic>,
) {
    let code = "pipeline.budget";
    let [at_sample, at_round, at_judge] = places;
    let mut wrong = |message: String, place: SourcePlace, help: &str| {
        out.push(error_at(code, message, place).help(help));
    };
    if stage.sample.is_empty() && stage.round.is_empty() {
        let message = format!("{} neither samples nor refines", reader.what);
        wrong(
            message,
            reader.place,
            "add a [[stage.sample]], a [[stage.round]], or both, with do = \"translate\"",
        );
    }
    if !stage.sample.is_empty() && !stage.sample.iter().any(|stage| stage.definition().makes_children()) {
        let message = format!("no stage in `sample` of {} makes a candidate", reader.what);
        let help = "add a [[stage.sample]] with do = \"translate\", or do = \"plan\" with `n` above 1";
        wrong(message, at_sample, help);
    }
    let writes = |stage: &&Stage| stage.definition().writes() == Some(Writes::Candidate);
    let writers = stage.round.iter().filter(writes).count();
    if !stage.round.is_empty() && (writers > 1 || writer_of(&stage.round).is_none()) {
        let message = format!("`round` of {} must write a candidate anew exactly once", reader.what);
        let help = "keep exactly one [[stage.round]] with do = \"translate\", or one with do = \"plan\" and `feedback`";
        wrong(message, at_round, help);
    }
    if let Some(odd) = stage.judge.iter().find(|stage| !stage.kind().facts().judges) {
        let message = format!(
            "a {} stage does not judge: `{}` in `judge` of {}",
            odd.kind().name(),
            odd.label(),
            reader.what
        );
        wrong(message, at_judge, "put what writes into [[stage.sample]] and [[stage.round]]");
    }
    if !stage.judge.iter().any(|stage| stage.definition().decides()) {
        let message = format!("nothing in {} can accept a candidate", reader.what);
        wrong(
            message,
            at_judge,
            "add a [[stage.judge]] with do = \"verify\" (without `measure`) or do = \"plan\"",
        );
    }
}
