//! `do = "budget"`: what may be spent, how a candidate is sampled and refined, and what judges it.

use super::reader::{At, Reader, error_at};
use super::stages::{CANDIDATE, Round, Stages, small};
use super::tree::{Node, Place, Value};
use crate::config::{BudgetLimits, BudgetPolicy, BudgetStage, LlmTable, Order, Stage, StageKind, writer};
use planforge_contract::Price;
use planforge_diagnostics::Diagnostic;
use std::collections::BTreeMap;

const POLICIES: [(&str, BudgetPolicy); 3] =
    [("thompson", BudgetPolicy::Thompson), ("ucb", BudgetPolicy::Ucb), ("uniform", BudgetPolicy::Uniform)];

/// What is stated of a budget, with its places.
struct Stated {
    limits: BudgetLimits,
    place: Place,
    money: Option<Place>,
    /// Nothing in it could not be read.
    whole: bool,
}

impl Stages<'_> {
    pub(super) fn budget(
        &mut self,
        position: &str,
        reader: &mut Reader<'_>,
        label: &At<String>,
        out: &mut Vec<Diagnostic>,
    ) -> Stage {
        self.know_refine(label, StageKind::Budget);
        let had = reader.node("by").is_some();
        let by = reader.string("by", out);
        if by.is_none() && !had {
            reader.missing("by", "\"LABEL.METRIC\"", out);
        }
        let order = reader.word("order", &[("highest", Order::Highest), ("lowest", Order::Lowest)], out);
        let range_place = reader.node("range").map(|node| node.place);
        let range = range(reader, out);
        let policy = reader.word("policy", &POLICIES, out).unwrap_or_default();
        let width = small(reader.integer("width", 1..=64, out), 1);
        let keep = small(reader.integer("keep", 1..=10_000, out), 1);
        let stated = limits(reader, out);
        let sample = self.part("sample", position, reader, out);
        self.end_round(out);
        let before_judges = self.known.len();
        let judge = self.part("judge", position, reader, out);
        let behind_judges = self.known.len();
        let round = self.part("round", position, reader, out);
        self.end_round(out);
        if let Some(by) = &by {
            self.metric_of_judge(by, before_judges..behind_judges, range_place.is_none(), out);
        }
        let stage = BudgetStage {
            label: label.value.clone(),
            by: by.map(|by| by.value).unwrap_or_default(),
            order: order.unwrap_or_default(),
            range,
            policy,
            width,
            keep,
            budget: stated.as_ref().map(|stated| stated.limits).unwrap_or_default(),
            sample: sample.stages,
            round: round.stages,
            judge: judge.stages,
        };
        // A stage that could not be read may be the one that is missing.
        if sample.whole && judge.whole && round.whole {
            composition(&stage, reader, [sample.place, round.place, judge.place], out);
            if let Some(stated) = &stated {
                self.spendable(&stage, stated, out);
            }
        }
        Stage::Budget(stage)
    }

    /// One of the three lists of stages inside.
    fn part(
        &mut self,
        key: &'static str,
        position: &str,
        reader: &mut Reader<'_>,
        out: &mut Vec<Diagnostic>,
    ) -> Part {
        let items = match reader.node(key) {
            Some(Node { value: Value::Array(items), .. }) => items,
            Some(other) => {
                let message = format!("`{key}` of {} must be an array of tables", reader.what);
                let help = format!("write [[stage.{key}]] before each of its stages");
                out.push(error_at("pipeline.type", message, other.place).help(help));
                return Part { stages: Vec::new(), place: other.place, whole: false };
            }
            None => const { &Vec::new() },
        };
        self.round.get_or_insert_with(Round::default);
        let mut stages = Vec::new();
        for (index, item) in items.iter().enumerate() {
            stages.extend(self.item(&format!("{position}-{key}-{}", index + 1), item, out));
        }
        let place = items.first().map_or(reader.place, |item| item.place);
        Part { whole: stages.len() == items.len(), stages, place }
    }

    /// Candidates are compared whether they were sampled or refined, so the metric is one that every candidate gets.
    fn metric_of_judge(
        &self,
        by: &At<String>,
        judges: std::ops::Range<usize>,
        without_range: bool,
        out: &mut Vec<Diagnostic>,
    ) {
        let (label, name) = by.value.split_once('.').unwrap_or(("", ""));
        let judge = self.known.get(judges.clone()).unwrap_or_default().iter().find(|k| k.label == label);
        let other = self.known.iter().find(|k| k.label == label);
        if label != CANDIDATE && judge.is_none() && other.is_some() {
            let message =
                format!("`{label}` is no judge of the stage, so not every candidate has its metrics");
            let judges = self.known.get(judges).unwrap_or_default();
            let names: Vec<String> = judges.iter().map(|k| format!("`{}`", k.label)).collect();
            let help = format!("name a metric of a [[stage.judge]]: {}", names.join(", "));
            out.push(error_at("pipeline.budget-metric", message, by.place).help(help));
            return;
        }
        let before = out.len();
        self.metric(by, out);
        let unbounded = label == CANDIDATE || judge.is_some_and(|k| k.kind == StageKind::Plan);
        if out.len() == before && unbounded && without_range {
            let message = format!("`{label}.{name}` is not a number between 0 and 1");
            let help =
                "add `range = [LOW, HIGH]`: the values between which a difference counts for the policy";
            out.push(error_at("pipeline.budget-metric", message, by.place).help(help));
        }
    }

    /// What is limited must be something that pulls spend.
    fn spendable(&mut self, stage: &BudgetStage, stated: &Stated, out: &mut Vec<Diagnostic>) {
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
            let message = format!(
                "no stage inside of `{}` asks a model, so nothing of its budget is spent",
                stage.label
            );
            let help = "limit `seconds`, or use a stage with roles";
            out.push(error_at("pipeline.budget-limit", message, stated.place).help(help));
        }
        if let Some(money) = stated.money {
            self.read.paid.push((money, models));
        }
    }
}

/// A list of stages inside.
struct Part {
    stages: Vec<Stage>,
    place: Place,
    whole: bool,
}

fn range(reader: &mut Reader<'_>, out: &mut Vec<Diagnostic>) -> Option<[f64; 2]> {
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

fn limits(reader: &mut Reader<'_>, out: &mut Vec<Diagnostic>) -> Option<Stated> {
    if reader.node("budget").is_none() {
        let message = format!("{} has no `budget`", reader.what);
        let help =
            "add [stage.budget] with at least one of `calls`, `tokens`, `seconds` and `money` below it";
        out.push(error_at("pipeline.missing-field", message, reader.place).help(help));
        return None;
    }
    let (table, node) = reader.table("budget", out)?;
    let before = out.len();
    let mut inner = Reader::new(table, node.place, format!("the budget of {}", reader.what));
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
fn composition(stage: &BudgetStage, reader: &Reader<'_>, places: [Place; 3], out: &mut Vec<Diagnostic>) {
    let code = "pipeline.budget";
    let [at_sample, at_round, at_judge] = places;
    let mut wrong = |message: String, place: Place, help: &str| {
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
    let samples = |stage: &Stage| match stage {
        Stage::Translate(_) => true,
        Stage::Plan(stage) => stage.makes_children(),
        _ => false,
    };
    if !stage.sample.is_empty() && !stage.sample.iter().any(samples) {
        let message = format!("no stage in `sample` of {} makes a candidate", reader.what);
        let help = "add a [[stage.sample]] with do = \"translate\", or do = \"plan\" with `n` above 1";
        wrong(message, at_sample, help);
    }
    let translates = stage.round.iter().filter(|stage| matches!(stage, Stage::Translate(_))).count();
    if !stage.round.is_empty() && (translates > 1 || writer(&stage.round).is_none()) {
        let message = format!("`round` of {} must write a candidate anew exactly once", reader.what);
        let help = "keep exactly one [[stage.round]] with do = \"translate\", or one with do = \"plan\" and `feedback`";
        wrong(message, at_round, help);
    }
    if let Some(odd) = stage.judge.iter().find(|s| !matches!(s, Stage::Verify(_) | Stage::Plan(_))) {
        let message = format!(
            "a {} stage does not judge: `{}` in `judge` of {}",
            odd.kind().name(),
            odd.label(),
            reader.what
        );
        wrong(message, at_judge, "put what writes into [[stage.sample]] and [[stage.round]]");
    }
    let judges = |stage: &Stage| match stage {
        Stage::Verify(stage) => !stage.measure,
        Stage::Plan(_) => true,
        _ => false,
    };
    if !stage.judge.iter().any(judges) {
        let message = format!("nothing in {} can accept a candidate", reader.what);
        wrong(
            message,
            at_judge,
            "add a [[stage.judge]] with do = \"verify\" (without `measure`) or do = \"plan\"",
        );
    }
}

/// A budget in money needs the price of every model that is paid from it.
pub(super) fn prices(
    paid: &[(Place, Vec<String>)],
    llm: &BTreeMap<String, LlmTable>,
    out: &mut Vec<Diagnostic>,
) {
    for (place, models) in paid {
        for model in models {
            let Some(table) = llm.get(model) else { continue };
            let price = price_of(table);
            if price.prompt.is_none() || price.completion.is_none() {
                let message =
                    format!("the budget is in money, and [llm.{model}] does not state both its prices");
                let help = format!(
                    "add `price = {{ prompt = ..., completion = ... }}` to [llm.{model}], in US dollars for a million tokens"
                );
                out.push(error_at("pipeline.budget-price", message, *place).help(help));
            }
        }
    }
}

/// What a model's tokens cost, as far as its table says.
pub(crate) fn price_of(table: &LlmTable) -> Price {
    let price = table.settings.get("price").cloned();
    price.and_then(|price| serde_json::from_value(price).ok()).unwrap_or_default()
}
