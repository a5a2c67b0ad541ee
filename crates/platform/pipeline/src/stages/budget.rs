//! `do = "budget"`: samples and refines until a budget is spent. docs/reference/budget.md describes the search.

mod policy;
mod run;

use super::bound::{BeamBound, BoundWalk, QuestionBound};
use super::checker::{StageChecker, StageTable, small};
use super::interface::{KindFacts, StageContext, StageDefinition, StageResult, Writes};
use super::rounds::{Forget, ORDERS, Order, parse_forget, writer_of};
use super::{RoundStage, Stage};
use crate::beam::{CANDIDATE, Entry};
use crate::calls::RunContext;
use crate::reader::{At, Node, SourcePlace, TableReader, Value, error_at};
use crate::report::BudgetLimits;
use planforge_contract::Failure;
use planforge_diagnostics::Diagnostic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `do = "budget"`: a budget instead of numbers of samples and rounds. Each pull samples a new candidate, or
/// refines one once, as the policy decides. The search ends when every judge accepts a candidate, or when the
/// budget does not pay for another pull, and returns the best candidate so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The metric that candidates are compared by: `LABEL.NAME` of a judge stage, or `candidate.log_likelihood`.
    pub by: String,
    /// The better end of the metric.
    #[serde(default, skip_serializing_if = "Order::is_highest")]
    pub order: Order,
    /// The lowest and the highest value of the metric that make a difference to the policy; `[0, 1]` where it is left out.
    /// Values beyond count as the nearer end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// The policy that chooses the next pull.
    #[serde(default)]
    pub policy: BudgetPolicy,
    /// The arms among which the policy chooses.
    #[serde(default, skip_serializing_if = "BudgetArms::is_candidates")]
    pub arms: BudgetArms,
    /// Parts of the entered candidates to remove before anything is judged or refined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<Forget>,
    /// Number of concurrent pulls. They are chosen together, by the results of earlier pulls.
    #[serde(default = "crate::stages::one")]
    #[schemars(range(min = 1, max = 64))]
    pub width: u32,
    /// Number of candidates to return, the best first.
    #[serde(default = "crate::stages::one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub keep: u32,
    /// The budget for one task. At least one limit is required.
    pub budget: BudgetLimits,
    /// The stages that make a new candidate from one that entered: a translate stage, or a plan stage with
    /// `n` above 1. Without them, the entered candidates are the only ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RoundStage>")]
    pub sample: Vec<Stage>,
    /// The stages that refine a candidate once, as in a round of a refine stage: stages before the writer
    /// judge the unchanged candidate. Without them, nothing is refined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RoundStage>")]
    pub round: Vec<Stage>,
    /// The judges of every candidate, sampled or refined: verify and plan stages.
    #[schemars(with = "Vec<RoundStage>", length(min = 1))]
    pub judge: Vec<Stage>,
}

/// The policy that chooses between sampling and refining, and the candidate to refine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BudgetPolicy {
    /// Thompson sampling: each arm's chance is drawn from a Beta distribution that starts at the candidate's value, and
    /// divided by what its kind of pull costs.
    #[default]
    Thompson,
    /// UCB1 over the candidates; the k-th new one is sampled once there were (k - 1)^2 pulls (UCB-AIR).
    Ucb,
    /// Each arm in turn; the yardstick for the others.
    Uniform,
}

/// The arms among which the policy of a budget stage chooses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BudgetArms {
    /// Every candidate, new or refined.
    #[default]
    Candidates,
    /// Every entered or sampled candidate with all that is refined from it. A pull refines the branch's last candidate;
    /// the branch counts with its best value. Candidates whose domains and problems are equal, however they are written, are one.
    Branches,
}

impl BudgetArms {
    /// True for the default.
    pub const fn is_candidates(&self) -> bool {
        matches!(self, Self::Candidates)
    }
}

impl BudgetPolicy {
    /// The word used in pipeline files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Thompson => "thompson",
            Self::Ucb => "ucb",
            Self::Uniform => "uniform",
        }
    }
}

impl StageDefinition for BudgetStage {
    fn facts() -> KindFacts {
        KindFacts {
            lists: &["sample", "round", "judge"],
            outside_rounds: Some("put it beside the other stage: rounds are not nested"),
            ..KindFacts::PLAIN
        }
    }

    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
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
        (stage, Vec::new())
    }

    fn inner(&self) -> Vec<&Stage> {
        self.sample.iter().chain(&self.round).chain(&self.judge).collect()
    }

    fn inner_judges(&self) -> &[Stage] {
        &self.judge
    }

    fn decides(&self) -> bool {
        true
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, _times: u64) -> BeamBound {
        // A pull is made where something is left, so the last ones, as many as are made side by side, may exceed the budget.
        let one = BeamBound { width: 1, before: 0 };
        let sample = walk.series(self.sample.iter().chain(&self.judge), one);
        let refined = walk.series(self.round.iter().chain(&self.judge), one);
        let entered = walk.series(&self.judge, beam);
        let all = || sample.iter().chain(&refined).chain(&entered);
        let mut models: Vec<String> = all().flat_map(|bound| bound.models.iter().cloned()).collect();
        models.sort();
        models.dedup();
        let width = beam.width.max(u64::from(self.keep));
        if models.is_empty() {
            return BeamBound { width, before: beam.before + 1 };
        }
        let sum = |found: &[QuestionBound]| {
            found.iter().try_fold(0_u64, |sum, bound| Some(sum.saturating_add(bound.questions?)))
        };
        // A pull is refined once more than the last: at most as many replies stand before a question as there are pulls.
        let largest = all().filter_map(|b| Some(b.replies? / b.questions?.max(1))).max().unwrap_or(1).max(1);
        let pull = Some(sum(&sample)).flatten().zip(sum(&refined)).map(|(a, b)| a.max(b));
        let questions = self.budget.calls.zip(pull).zip(sum(&entered)).map(|((calls, pull), entered)| {
            let begun = calls.saturating_sub(1).max(entered);
            begun.saturating_add(pull.saturating_mul(u64::from(self.width)))
        });
        let why = match (questions, pull, self.budget.calls) {
            (Some(_), ..) => String::new(),
            (None, None, _) => all().find(|b| !b.why.is_empty()).map(|b| b.why.clone()).unwrap_or_default(),
            _ => format!("the budget of stage `{}` does not limit requests", self.label),
        };
        walk.found.push(QuestionBound {
            stage: self.label.clone(),
            models,
            questions,
            replies: questions.map(|questions| questions.saturating_mul(largest)),
            // Every pull may refine what the last one made, which carries one reply more.
            before: questions.map(|questions| questions.saturating_mul(beam.before + 1)),
            tokens: self.budget.tokens,
            usd: self.budget.money,
            why,
        });
        BeamBound { width, before: beam.before + 1 }
    }

    fn run(
        &self,
        context: &StageContext<'_>,
        _round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        run::run(context, self, beam)
    }

    fn needs_whole_beam(&self, _run: &RunContext<'_>) -> bool {
        true
    }
}

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
