//! The method to use, from the results of an evaluation: which one, how sure that is, and what these results cannot show.
//!
//! A task is right if it counts as solved in [`crate::tables::Methods`]; tasks that did not end or that nothing judged count neither for nor
//! against a method. Methods are compared by the tests of [`crate::compare::Ranking`], with the same correction.

use crate::compare::{PairTest, count, p_equation, side_of, test_pairs};
use crate::results::{CellResult, Evaluation, TaskOutcome};
use crate::tables::{MethodResult, Methods, why_unknown};
use planforge_diagnostics::render::escape;
use planforge_pipeline::{Cost, TaskUsage, dollars};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The most that a task may cost, and the least share of tasks that has to be right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Wish {
    /// US dollars a task, on average; above 0.
    pub budget_usd: Option<f64>,
    /// Per cent of the tasks, above 0 and at most 100.
    pub need: Option<f64>,
}

/// The kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// A method is recommended.
    Use,
    /// No method within the budget is right on the share that is needed.
    NeedNotReached,
    /// Every method costs more than the budget.
    OverBudget,
    /// No method is known to be within the budget, because the money of at least one is unknown.
    MoneyUnknown,
    /// No task ended and was judged.
    NothingJudged,
}

impl Answer {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Use => "use",
            Self::NeedNotReached => "need-not-reached",
            Self::OverBudget => "over-budget",
            Self::MoneyUnknown => "money-unknown",
            Self::NothingJudged => "nothing-judged",
        }
    }
}

/// Relation of a method to the share that is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// The 95 % interval is not below it.
    Shown,
    /// The figure is not below it, the interval is in part.
    NotShown,
    /// The figure is below it.
    Missed,
}

/// The comparison of the recommended method with another one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Against {
    /// The corrected p-value.
    pub p: f64,
    /// True if the test shows a difference.
    pub is_shown: bool,
    /// Runs of tasks that this method alone gets right, less those that the recommended one alone does.
    pub ahead: i64,
    /// Runs of tasks that are decided for both.
    pub decided: usize,
    /// Independent trials among them.
    pub trials: usize,
    /// `task`, or `suite` where one of the two writes one domain for all tasks of a suite.
    pub unit: &'static str,
    /// Trials that one of the two has to win, without a loss, so that the test shows a difference beside the other results; absent if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<usize>,
}

impl Against {
    /// The p-value in a sentence: `p = 0.0313`.
    pub fn p_equation(&self) -> String {
        p_equation(self.p)
    }
}

/// The figures of a method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodFigures {
    /// The name of its column.
    pub name: String,
    /// True if a model is simulated.
    pub simulated: bool,
    /// Tasks that are right; seeds of a task are averaged.
    pub right: f64,
    /// Tasks that ended and were judged.
    pub judged: usize,
    /// `right` in per cent of `judged`, with Wilson's 95 % interval.
    pub percent: f64,
    pub low: f64,
    pub high: f64,
    /// Runs of tasks that did not end.
    pub not_run: usize,
    /// Runs of tasks that ended and that nothing judged.
    pub not_judged: usize,
    /// Runs of tasks that were not decided or broke; they count as not right.
    pub undecided: usize,
    /// Requests a task.
    pub requests: f64,
    /// Tokens a task; absent if some were not counted.
    pub tokens: Option<f64>,
    /// Seconds of its requests a task, one after another; absent if the journals were not read.
    pub seconds: Option<f64>,
    /// US dollars a task; absent if a part is unknown.
    pub usd: Option<f64>,
    /// The reason why the money is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_no_usd: Option<&'static str>,
    /// True if it is within the budget, absent without a budget or if its money is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_budget: Option<bool>,
    /// Its relation to the share that is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// Its comparison with the recommended method; absent for that one, and if no task is decided for both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
}

/// The answer, with everything that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// Version of this document, 1.
    pub schema: u32,
    #[serde(flatten)]
    pub wish: Wish,
    pub answer: Answer,
    /// The name of the recommended method.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Every method.
    pub methods: Vec<MethodFigures>,
    /// Pairs of methods that were tested; p-values are corrected for so many.
    pub tests: usize,
    /// Those of them that the test shows to differ.
    pub separated: usize,
    /// Limits of the results, in sentences.
    pub limits: Vec<String>,
}

impl Recommendation {
    /// Chooses a method.
    ///
    /// Without a need it is the one with the highest lower end of the interval; of those that are as good by the figure, on at least half as many
    /// tasks, the cheapest. With a need it is the cheapest of those that are shown to reach it, else the best of those whose figure does. With a
    /// budget, only methods that are known to be within it are candidates.
    pub fn new(evaluation: &Evaluation, wish: Wish) -> Self {
        let results = Methods::new(&[evaluation]).methods;
        let mut methods: Vec<MethodFigures> = evaluation
            .columns
            .iter()
            .filter_map(|column| figures(evaluation, column, &results, wish))
            .collect();
        let sides: Vec<_> = evaluation.columns.iter().map(|column| side_of(evaluation, column)).collect();
        let tests = test_pairs(&sides.iter().collect::<Vec<_>>());
        let (answer, chosen) = choose(&methods, wish);
        let chosen = chosen.map(str::to_owned);
        let separated = tests.iter().filter(|test| test.is_shown()).count();
        if let Some(name) = &chosen {
            let needed = least_lead(tests.len() - separated);
            let place = |name: &str| evaluation.columns.iter().position(|column| column.name() == name);
            for method in &mut methods {
                method.against =
                    place(name).zip(place(&method.name)).and_then(|pair| against(&tests, pair, needed));
            }
        }
        let limits = limits(evaluation, &methods, chosen.as_deref());
        Self { schema: 1, wish, answer, method: chosen, methods, tests: tests.len(), separated, limits }
    }

    fn chosen(&self) -> Option<&MethodFigures> {
        self.methods.iter().find(|method| Some(&method.name) == self.method.as_ref())
    }

    /// The answer in its first line, then the other methods, then what the results cannot show.
    pub fn text(&self) -> String {
        let mut lines = vec![self.first_line()];
        let judged = || self.methods.iter().filter(|method| method.judged > 0);
        let list = |title: &str, methods: Vec<&MethodFigures>| -> Option<String> {
            let shown: Vec<String> = methods.iter().map(|method| method.words()).collect();
            (!shown.is_empty()).then(|| format!("{title}: {}.", shown.join("; ")))
        };
        let over = |method: &&MethodFigures| method.within_budget == Some(false);
        let is_unknown =
            |method: &&MethodFigures| self.wish.budget_usd.is_some() && method.within_budget.is_none();
        let others = || {
            judged().filter(|method| {
                Some(&method.name) != self.method.as_ref() && !over(method) && !is_unknown(method)
            })
        };
        match self.chosen() {
            Some(chosen) => {
                let verdict =
                    |method: &&MethodFigures| method.against.map(|own| (own.is_shown, own.ahead < 0));
                let those = |wanted: fn(Option<(bool, bool)>) -> bool| {
                    others().filter(|method| wanted(verdict(method))).collect::<Vec<_>>()
                };
                lines.extend(self.need_line(chosen));
                lines.extend(list("Not shown to differ", those(|own| own.is_some_and(|own| !own.0))));
                lines.extend(list("Shown to be worse", those(|own| own == Some((true, true)))));
                lines.extend(list("Shown to be better", those(|own| own == Some((true, false)))));
                lines.extend(list("Not compared, no task is decided for both", those(|own| own.is_none())));
                let better = judged().filter(over).filter(|method| method.percent > chosen.percent).collect();
                lines.extend(list("Better in these results, but over the budget", better));
                let no_better =
                    judged().filter(over).filter(|method| method.percent <= chosen.percent).collect();
                lines.extend(list("Over the budget and not better", no_better));
            }
            None => {
                lines.extend(list(
                    "Within the budget",
                    judged().filter(|own| own.within_budget == Some(true)).collect(),
                ));
                lines.extend(list("Over the budget", judged().filter(over).collect()));
                if self.wish.budget_usd.is_none() {
                    lines.extend(list("Measured", judged().collect()));
                }
            }
        }
        lines.extend(list(
            "Money unknown, so not considered under the budget",
            judged().filter(is_unknown).collect(),
        ));
        let nothing: Vec<String> =
            self.methods.iter().filter(|method| method.judged == 0).map(MethodFigures::nothing).collect();
        if !nothing.is_empty() {
            lines.push(format!("Not judged: {}.", nothing.join("; ")));
        }
        if self.tests > 1 {
            let (separated, tests) = (self.separated, self.tests);
            lines.push(format!("{separated} of {tests} pairs of methods are shown to differ; p-values are corrected for all pairs (Holm)."));
        }
        if !self.limits.is_empty() {
            lines.push("These results cannot show:".to_owned());
            lines.extend(self.limits.iter().map(|limit| format!("* {limit}")));
        }
        lines.join("\n") + "\n"
    }

    fn first_line(&self) -> String {
        let budget =
            self.wish.budget_usd.map(|usd| format!("{} USD a task", amount(usd))).unwrap_or_default();
        let within = if budget.is_empty() { budget.clone() } else { format!(" within {budget}") };
        match (self.answer, self.chosen()) {
            (Answer::Use, Some(chosen)) => {
                let simulated = if chosen.simulated {
                    " The model is simulated: the figures say nothing about a language model."
                } else {
                    ""
                };
                format!("use {}: {}{}.{simulated}", escape(&chosen.name), chosen.score(), chosen.spent())
            }
            (Answer::NeedNotReached, _) => {
                format!(
                    "no method{within} is right on {} % of the tasks.",
                    self.wish.need.unwrap_or_default()
                )
            }
            (Answer::OverBudget, _) => format!("no method is within {budget}."),
            (Answer::MoneyUnknown, _) => {
                format!("no method is known to be within {budget}: money is unknown.")
            }
            _ => format!(
                "no answer: none of {} runs of tasks ended and was judged.",
                self.methods.iter().map(|method| method.not_run + method.not_judged).sum::<usize>()
            ),
        }
    }

    fn need_line(&self, chosen: &MethodFigures) -> Option<String> {
        let need = self.wish.need?;
        let low = chosen.low;
        Some(match chosen.reach? {
            Reach::Shown => format!("It is shown to reach {need} %: the interval begins at {low:.0} %."),
            _ => format!(
                "It reaches {need} % in these results, which is not shown to hold: the interval begins at {low:.0} %."
            ),
        })
    }
}

impl MethodFigures {
    /// `58 of 60 right (97 %, 95 % interval 89 to 99 %; 4 not run)`.
    fn score(&self) -> String {
        let right = (self.right * 10.0).round() / 10.0;
        let open = [
            (self.not_run, "not run"),
            (self.not_judged, "not judged"),
            (self.undecided, "undecided or failed"),
        ];
        let open: String =
            open.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("; {n} {what}")).collect();
        format!(
            "{right} of {} right ({:.0} %, 95 % interval {:.0} to {:.0} %{open})",
            self.judged, self.percent, self.low, self.high
        )
    }

    /// `, 1.0 requests and 0.0031 USD a task`.
    fn spent(&self) -> String {
        let usd = match (self.usd, self.why_no_usd) {
            (Some(usd), _) => format!("{} USD a task", amount(usd)),
            (None, why) => {
                format!("an unknown amount of money a task ({})", why.unwrap_or("it was not recorded"))
            }
        };
        format!(", {:.1} requests and {usd}", self.requests)
    }

    fn words(&self) -> String {
        let p = self.against.map_or_else(String::new, |own| {
            format!(", {} on {} decided for both", p_equation(own.p), count(own.decided, "run"))
        });
        let usd =
            self.usd.map_or_else(|| "money unknown".to_owned(), |usd| format!("{} USD a task", amount(usd)));
        format!("{} {}, {:.1} requests, {usd}{p}", escape(&self.name), self.score(), self.requests)
    }

    fn nothing(&self) -> String {
        format!("{} ({} not run, {} not judged)", escape(&self.name), self.not_run, self.not_judged)
    }
}

/// Figures of the method of a column; absent if it has no tasks.
fn figures(
    evaluation: &Evaluation,
    column: &crate::results::Column,
    results: &[MethodResult],
    wish: Wish,
) -> Option<MethodFigures> {
    let own =
        results.iter().find(|own| own.pipeline == column.pipeline && own.model == column.model_name())?;
    let cells: Vec<&CellResult> = evaluation.cells.iter().filter(|cell| column.holds(&cell.key)).collect();
    let tasks = || cells.iter().flat_map(|cell| &cell.tasks);
    let number = |outcome| tasks().filter(|task| task.outcome == outcome).count();
    let ended = || tasks().filter(|task| task.outcome != TaskOutcome::Unfinished);
    let (mut usage, mut cost) = (TaskUsage::default(), Cost::default());
    for task in tasks() {
        usage.add(&task.usage);
        task.cost.iter().for_each(|own| cost.add(own));
    }
    let seconds: Option<f64> = ended().map(|task| task.seconds).sum();
    let all = &own.all;
    let is_judged = all.tasks > 0;
    let usd = own.usd.filter(|_| is_judged);
    let reach = |need: f64| match (all.low >= need, all.percent >= need) {
        (true, _) => Reach::Shown,
        (false, true) => Reach::NotShown,
        (false, false) => Reach::Missed,
    };
    Some(MethodFigures {
        name: column.name(),
        simulated: own.simulated,
        right: all.solved,
        judged: all.tasks,
        percent: all.percent,
        low: all.low,
        high: all.high,
        not_run: number(TaskOutcome::Unfinished),
        not_judged: number(TaskOutcome::NotJudged),
        undecided: number(TaskOutcome::Undecided) + number(TaskOutcome::Failed),
        requests: own.calls,
        tokens: (own.unmetered == 0 && is_judged).then_some(own.tokens),
        seconds: seconds.filter(|_| is_judged).map(|sum| sum / ended().count().max(1) as f64),
        usd,
        why_no_usd: (usd.is_none() && is_judged).then(|| why_unknown(&usage, &cost)),
        within_budget: wish.budget_usd.zip(usd).map(|(budget, usd)| usd <= budget),
        reach: wish.need.filter(|_| is_judged).map(reach),
        against: None,
    })
}

/// The kind of the answer, and the name of the method to use.
fn choose(methods: &[MethodFigures], wish: Wish) -> (Answer, Option<&str>) {
    let judged: Vec<&MethodFigures> = methods.iter().filter(|method| method.judged > 0).collect();
    if judged.is_empty() {
        return (Answer::NothingJudged, None);
    }
    let fits = |method: &&MethodFigures| wish.budget_usd.is_none() || method.within_budget == Some(true);
    let affordable: Vec<&MethodFigures> = judged.iter().copied().filter(fits).collect();
    if affordable.is_empty() {
        let unknown = judged.iter().any(|method| method.within_budget.is_none());
        return (if unknown { Answer::MoneyUnknown } else { Answer::OverBudget }, None);
    }
    let with =
        |reach: Reach| affordable.iter().copied().filter(|own| own.reach == Some(reach)).collect::<Vec<_>>();
    let chosen = match wish.need {
        None => best(&affordable),
        Some(_) => cheapest(&with(Reach::Shown)).or_else(|| best(&with(Reach::NotShown))),
    };
    match chosen {
        Some(chosen) => (Answer::Use, Some(&chosen.name)),
        None => (Answer::NeedNotReached, None),
    }
}

/// The method with the highest lower end of the interval; of those that are as good by the figure on at least half as many tasks, the cheapest.
fn best<'m>(methods: &[&'m MethodFigures]) -> Option<&'m MethodFigures> {
    let mut ranked = methods.to_vec();
    ranked.sort_by(|a, b| b.low.total_cmp(&a.low));
    let first = *ranked.first()?;
    let as_good = |own: &&MethodFigures| own.percent >= first.percent && 2 * own.judged >= first.judged;
    cheapest(&ranked.into_iter().filter(as_good).collect::<Vec<_>>())
}

/// The method of least money, or of fewest requests if the money of one is unknown.
fn cheapest<'m>(methods: &[&'m MethodFigures]) -> Option<&'m MethodFigures> {
    let priced = methods.iter().all(|method| method.usd.is_some());
    let price = |method: &MethodFigures| method.usd.filter(|_| priced).unwrap_or(method.requests);
    methods.iter().copied().min_by(|a, b| price(a).total_cmp(&price(b)))
}

/// The test of a pair, seen from its first place.
fn against(tests: &[PairTest], (from, to): (usize, usize), needed: usize) -> Option<Against> {
    let test = tests.iter().find(|test| (test.a, test.b) == (from.min(to), from.max(to)))?;
    let ahead = if from < to { test.ahead } else { -test.ahead };
    let is_shown = test.is_shown();
    let needed = (!is_shown).then_some(needed);
    let (decided, trials, unit) = (test.decided, test.trials, test.unit.name());
    Some(Against { p: test.p, is_shown, ahead, decided, trials, unit, needed })
}

/// The fewest trials that one method has to win, without a loss, so that the test shows a difference beside so many others that show none: the
/// least d with 2 / 2^d <= 0.05 / others. Holm's correction does not count the pairs that are shown to differ: if this pair's p-value were below
/// one of theirs, it would be shown with them.
fn least_lead(others: usize) -> usize {
    (40.0 * others.max(1) as f64).log2().ceil() as usize
}

/// Differences from the recommended method that are too small for the tests, by the number of trials of the pair.
fn unshown_differences(methods: &[MethodFigures], chosen: &str, seeds: usize) -> Vec<String> {
    let mut groups: BTreeMap<(&str, usize, usize), Vec<String>> = BTreeMap::new();
    for method in methods {
        let Some(Against { trials, unit, needed: Some(needed), .. }) = method.against else { continue };
        groups.entry((unit, trials, needed)).or_default().push(escape(&method.name));
    }
    let line = |((unit, trials, needed), names): ((&str, usize, usize), Vec<String>)| {
        let pair = format!("between {} and {}", escape(chosen), names.join(", "));
        if needed > trials {
            let trials = count(trials, unit);
            return format!(
                "any difference {pair}: {trials} decided for both are too few, {needed} are needed"
            );
        }
        // With several seeds, a method can win a task by a part of its runs.
        let points = match (unit, seeds) {
            ("task", 1) => format!(", {} points", (100 * needed).div_ceil(trials)),
            _ => String::new(),
        };
        format!(
            "a difference {pair}, unless one wins at least {needed} of {trials} {unit}s and loses none{points}"
        )
    };
    groups.into_iter().rev().map(line).collect()
}

/// Limits of the results.
fn limits(evaluation: &Evaluation, methods: &[MethodFigures], chosen: Option<&str>) -> Vec<String> {
    let mut limits = Vec::new();
    let judged: Vec<&MethodFigures> = methods.iter().filter(|method| method.judged > 0).collect();
    let runs = evaluation.cells.iter().map(|cell| cell.tasks.len()).sum::<usize>();
    let sum = |figure: fn(&MethodFigures) -> usize| methods.iter().map(figure).sum::<usize>();
    let (not_run, not_judged) = (sum(|method| method.not_run), sum(|method| method.not_judged));
    for (n, what) in [(not_run, "did not end"), (not_judged, "ended and were not judged")] {
        if n > 0 {
            limits.push(format!(
                "the {n} of {runs} runs of tasks that {what}: they count neither for nor against a method"
            ));
        }
    }
    if let Some(chosen) = chosen {
        limits.extend(unshown_differences(methods, chosen, evaluation.seeds.len()));
    }
    if judged.len() > 1 && judged.iter().all(|method| method.percent >= 100.0) {
        limits.push(
            "where the methods differ: each was right on all its judged tasks, so harder tasks are needed"
                .to_owned(),
        );
    }
    if judged.len() > 1 && judged.iter().all(|method| method.percent <= 0.0) {
        limits.push(
            "where the methods differ: none was right on any task, so easier tasks are needed".to_owned(),
        );
    }
    let sets: BTreeSet<Vec<(&str, &str)>> =
        judged.iter().map(|method| judged_tasks(evaluation, &method.name)).collect();
    if sets.len() > 1 {
        limits.push("methods on the same tasks: their percentages are of different tasks, only the tests are of common ones".to_owned());
    }
    if evaluation.seeds.len() < 2 {
        limits.push("how much a second run differs: each task has one seed".to_owned());
    }
    let suites: Vec<String> = evaluation.rows.iter().map(|row| escape(&row.suite)).collect();
    if !suites.is_empty() {
        limits.push(format!("other kinds of tasks than those of {}", suites.join(", ")));
    }
    limits
}

/// The tasks of a method that ended and were judged.
fn judged_tasks<'e>(evaluation: &'e Evaluation, name: &str) -> Vec<(&'e str, &'e str)> {
    let mut tasks: Vec<(&str, &str)> = evaluation
        .cells
        .iter()
        .filter(|cell| cell.key.column() == name)
        .flat_map(|cell| cell.tasks.iter().map(|task| (cell.key.suite.as_str(), task)))
        .filter(|(_, task)| task.outcome.is_judged())
        .map(|(suite, task)| (suite, task.task.as_str()))
        .collect();
    tasks.sort_unstable();
    tasks.dedup();
    tasks
}

/// `0.0031`.
fn amount(usd: f64) -> String {
    dollars(usd).trim_start_matches('$').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Judges, bare};

    /// Methods with one suite: right of judged tasks, tasks that did not run, dollars a task (`None`: no stated price).
    fn evaluation(methods: &[(&str, usize, usize, usize, Option<f64>)]) -> Evaluation {
        let cell = |(name, right, judged, open, usd): &(&str, usize, usize, usize, Option<f64>)| {
            let mut cell = bare("s", name, 1, judged + open);
            for (at, task) in cell.tasks.iter_mut().enumerate() {
                if at >= *judged {
                    task.outcome = TaskOutcome::Unfinished;
                    continue;
                }
                if at < *right {
                    task.outcome = TaskOutcome::Solved;
                }
                task.usage = TaskUsage { calls: 2, ..TaskUsage::default() };
                let (priced, unpriced) = if usd.is_some() { (2, 0) } else { (0, 2) };
                task.cost = Some(Cost { known_usd: usd.unwrap_or(0.0), priced, unpriced });
            }
            cell
        };
        let judges = methods.iter().map(|own| (own.0.to_owned(), Judges::default()));
        Evaluation::new(vec![1], &BTreeMap::from_iter(judges), methods.iter().map(cell).collect())
    }

    fn ask(own: &Evaluation, budget_usd: Option<f64>, need: Option<f64>) -> Recommendation {
        Recommendation::new(own, Wish { budget_usd, need })
    }

    #[test]
    fn the_first_line_is_the_answer_with_numerator_denominator_interval_requests_and_money() {
        let own = evaluation(&[
            ("weak", 5, 60, 0, Some(0.001)),
            ("good", 58, 60, 0, Some(0.02)),
            ("same", 57, 60, 3, Some(0.03)),
        ]);
        let found = ask(&own, None, None);
        let text = found.text();
        assert!(
            text.starts_with("use good: 58 of 60 right (97 %, 95 % interval 89 to 99 %), 2.0 requests and 0.020 USD a task.\n"),
            "{text}"
        );
        assert!(
            text.contains(
                "Not shown to differ: same 57 of 60 right (95 %, 95 % interval 86 to 98 %; 3 not run)"
            ),
            "{text}"
        );
        assert!(text.contains("Shown to be worse: weak 5 of 60"), "{text}");
        assert!(
            text.contains("2 of 3 pairs of methods are shown to differ")
                && text.contains("the 3 of 183 runs"),
            "{text}"
        );
        // Two pairs are shown, so 2 / 2^6 <= 0.05 / 1 < 2 / 2^5.
        let limit = "a difference between good and same, unless one wins at least 6 of 60 tasks and loses none, 10 points";
        assert!(text.contains(limit), "{text}");
    }

    #[test]
    fn the_lead_that_is_said_to_be_needed_is_the_least_that_is_shown() {
        for (lead, is_shown) in [(5, false), (6, true)] {
            let own = evaluation(&[
                ("weak", 5, 60, 0, None),
                ("good", 58, 60, 0, None),
                ("same", 58 - lead, 60, 0, None),
            ]);
            let same = ask(&own, None, None).methods[2].against.unwrap();
            assert_eq!((same.is_shown, same.needed), (is_shown, (!is_shown).then_some(6)), "{lead}");
        }
    }

    #[test]
    fn the_limit_of_each_pair_has_its_own_number_of_common_tasks() {
        let own = evaluation(&[
            ("first", 20, 20, 0, Some(0.1)),
            ("same", 20, 20, 0, Some(0.2)),
            ("few", 4, 4, 16, Some(0.3)),
        ]);
        let text = ask(&own, None, None).text();
        for limit in [
            "between first and same, unless one wins at least 7 of 20 tasks and loses none, 35 points",
            "any difference between first and few: 4 tasks decided for both are too few, 7 are needed",
        ] {
            assert!(text.contains(limit), "{text}");
        }
    }

    #[test]
    fn a_better_method_over_the_budget_is_named_and_not_used() {
        let own = evaluation(&[
            ("cheap", 30, 60, 0, Some(0.01)),
            ("dear", 58, 60, 0, Some(3.0)),
            ("unpriced", 60, 60, 0, None),
        ]);
        let found = ask(&own, Some(2.0), None);
        assert_eq!(found.method.as_deref(), Some("cheap"));
        let text = found.text();
        assert!(text.contains("Better in these results, but over the budget: dear 58 of 60"), "{text}");
        assert!(
            text.contains("not considered under the budget: unpriced 60 of 60")
                && text.contains("money unknown"),
            "{text}"
        );
        assert_eq!(ask(&own, Some(0.001), None).answer, Answer::MoneyUnknown);
        let priced = evaluation(&[("cheap", 30, 60, 0, Some(0.01)), ("dear", 58, 60, 0, Some(3.0))]);
        let none = ask(&priced, Some(0.001), None);
        assert_eq!((none.answer, none.method.as_deref()), (Answer::OverBudget, None));
        assert!(none.text().starts_with("no method is within 0.0010 USD a task.\n"), "{}", none.text());
    }

    #[test]
    fn unknown_money_is_said_and_never_zero() {
        let found = ask(&evaluation(&[("one", 60, 60, 0, None)]), None, None);
        assert!(
            found.text().contains(
                "2.0 requests and an unknown amount of money a task (the model has no stated price)."
            )
        );
        let json = serde_json::to_value(&found).unwrap();
        assert!(json["methods"][0]["usd"].is_null(), "{json}");
    }

    #[test]
    fn a_need_takes_the_cheapest_method_that_is_shown_to_reach_it() {
        let own = evaluation(&[
            ("best", 200, 200, 0, Some(1.0)),
            ("enough", 196, 200, 0, Some(0.1)),
            ("poor", 100, 200, 0, Some(0.01)),
        ]);
        let found = ask(&own, None, Some(90.0));
        assert_eq!(found.method.as_deref(), Some("enough"));
        assert!(
            found.text().contains("It is shown to reach 90 %: the interval begins at 95 %."),
            "{}",
            found.text()
        );
        let few = ask(&evaluation(&[("few", 4, 4, 0, Some(0.1))]), None, Some(90.0));
        assert_eq!(few.answer, Answer::Use);
        assert!(few.text().contains("not shown to hold: the interval begins at 51 %."), "{}", few.text());
    }

    #[test]
    fn a_need_that_nothing_reaches_has_no_method() {
        let found = ask(&evaluation(&[("a", 3, 10, 0, None), ("b", 5, 10, 0, None)]), None, Some(90.0));
        assert_eq!((found.answer, &found.method), (Answer::NeedNotReached, &None));
        assert!(
            found.text().starts_with("no method is right on 90 % of the tasks.\nMeasured: a 3 of 10"),
            "{}",
            found.text()
        );
    }

    #[test]
    fn without_a_judged_task_there_is_no_answer() {
        let found = ask(&evaluation(&[("a", 0, 0, 8, None)]), Some(2.0), Some(90.0));
        assert_eq!(found.answer, Answer::NothingJudged);
        assert!(
            found.text().starts_with("no answer: none of 8 runs of tasks ended and was judged.\n"),
            "{}",
            found.text()
        );
        assert!(found.text().contains("Not judged: a (8 not run, 0 not judged)."), "{}", found.text());
    }

    #[test]
    fn methods_that_solve_everything_are_not_told_apart_and_the_cheaper_is_used() {
        let own = evaluation(&[
            ("dear", 20, 20, 0, Some(0.5)),
            ("cheap", 15, 15, 5, Some(0.1)),
            ("tiny", 1, 1, 19, Some(0.01)),
        ]);
        let found = ask(&own, None, None);
        assert_eq!(found.method.as_deref(), Some("cheap"));
        let text = found.text();
        assert!(
            text.contains("each was right on all its judged tasks") && text.contains("different tasks"),
            "{text}"
        );
    }
}
