//! One sentence for each method, then success by the level of texts and by size, and success against tokens.

use crate::chart::{Paint, Panel, Point, Points, Series, Style, points_svg, svg_with_notes};
use crate::results::{
    Baseline, CellResult, Column, Evaluation, PlanCost, TaskFacts, TaskOutcome, TaskResult,
};
use crate::statistics::share_interval;
use crate::sums::Artefact;
use crate::table::{Align, Table};
use crate::tables::{marked_name, why_unknown};
use planforge_contract::Failure;
use planforge_pipeline::{Cost, TaskUsage, dollars};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The confidence of intervals.
const CONFIDENCE: f64 = 0.95;

/// The note below tables that have a `?`.
pub const OPEN: &str = "?: some of these tasks are undecided, failed or unfinished.";

/// Tasks solved, with tasks as trials: seeds of a task are averaged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Success {
    /// Tasks with a run that ended and was judged.
    pub tasks: usize,
    /// Sum over these tasks of the share of their judged runs that solved them.
    pub solved: f64,
    /// `solved` in per cent of the tasks.
    pub percent: f64,
    /// Wilson's 95 % interval of `percent`.
    pub low: f64,
    pub high: f64,
    /// Runs of tasks that were not decided.
    pub undecided: usize,
    /// Runs of tasks that broke.
    pub failed: usize,
    /// Runs of tasks that did not end. They are not in `tasks`, `solved` and `percent`.
    pub unfinished: usize,
}

impl Success {
    fn new(tasks: usize, solved: f64) -> Self {
        let share = solved / tasks.max(1) as f64;
        let interval = share_interval(share, tasks as f64, CONFIDENCE);
        let [percent, low, high] = [share, interval.low, interval.high].map(|share| 100.0 * share);
        Self { tasks, solved, percent, low, high, ..Self::default() }
    }

    /// Counts runs by task.
    pub(super) fn of<'r>(runs: impl IntoIterator<Item = &'r Run<'r>>) -> Option<Self> {
        let mut by_task: BTreeMap<(&str, &str), Vec<TaskOutcome>> = BTreeMap::new();
        for run in runs {
            by_task.entry((run.suite, &run.result.task)).or_default().push(run.result.outcome);
        }
        let count =
            |outcomes: &[TaskOutcome], outcome| outcomes.iter().filter(|own| **own == outcome).count();
        let open = |outcomes: &[TaskOutcome]| {
            count(outcomes, TaskOutcome::Unfinished) + count(outcomes, TaskOutcome::NotJudged)
        };
        // A run that did not end, or that nothing judged, is no failure.
        let share = |runs: &Vec<TaskOutcome>| {
            let judged = runs.len() - open(runs);
            (judged > 0).then(|| count(runs, TaskOutcome::Solved) as f64 / judged as f64)
        };
        let shares: Vec<f64> = by_task.values().filter_map(share).collect();
        let all: Vec<TaskOutcome> = by_task.values().flatten().copied().collect();
        (!by_task.is_empty()).then(|| Self {
            undecided: count(&all, TaskOutcome::Undecided) + count(&all, TaskOutcome::NotJudged),
            failed: count(&all, TaskOutcome::Failed),
            unfinished: count(&all, TaskOutcome::Unfinished),
            ..Self::new(shares.len(), shares.iter().sum())
        })
    }

    /// `14 of 40 tasks solved (35 %, 95 % interval 22 to 50 %)`.
    fn words(&self) -> String {
        let solved = (self.solved * 10.0).round() / 10.0;
        let noun = if self.tasks == 1 { "task" } else { "tasks" };
        format!(
            "{solved} of {} {noun} solved ({:.0} %, 95 % interval {:.0} to {:.0} %)",
            self.tasks, self.percent, self.low, self.high
        )
    }

    /// Open runs by reason; empty if there are none.
    fn open(&self) -> String {
        let counts = [
            (self.undecided, TaskOutcome::Undecided),
            (self.failed, TaskOutcome::Failed),
            (self.unfinished, TaskOutcome::Unfinished),
        ];
        let counts = counts.into_iter().filter(|(n, _)| *n > 0);
        counts.map(|(n, outcome)| format!("{n} {}", outcome.name())).collect::<Vec<_>>().join(", ")
    }

    /// `35? [22, 50] n=40`; `?` if no task was judged.
    fn figure(&self) -> String {
        if self.tasks == 0 {
            return "?".to_owned();
        }
        let open = if self.open().is_empty() { "" } else { "?" };
        format!("{:.0}{open} [{:.0}, {:.0}] n={}", self.percent, self.low, self.high, self.tasks)
    }
}

/// Tasks of a difficulty: of one level, or of sizes from `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    pub from: usize,
    pub to: usize,
}

impl Group {
    fn holds(self, value: Option<usize>) -> bool {
        value.is_some_and(|value| (self.from..=self.to).contains(&value))
    }
}

/// A method: a pipeline with a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodResult {
    /// The name in tables.
    pub name: String,
    pub pipeline: String,
    pub model: String,
    /// True if a model is simulated.
    pub simulated: bool,
    /// The sentence about it.
    pub sentence: String,
    /// Runs of tasks, of all seeds.
    pub runs: usize,
    pub all: Success,
    /// By level; absent where it has no tasks of the level.
    pub levels: Vec<Option<Success>>,
    /// By size; absent where it has no tasks of the size.
    pub sizes: Vec<Option<Success>>,
    /// Calls of models for a task.
    pub calls: f64,
    /// Tokens for a task, as far as servers counted them.
    pub tokens: f64,
    /// Calls whose tokens were not counted in full.
    pub unmetered: u64,
    /// US dollars for a task; absent if a part is unknown.
    pub usd: Option<f64>,
}

/// The methods of evaluations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Methods {
    /// Version of this document, 1.
    pub schema: u32,
    pub methods: Vec<MethodResult>,
    /// Sentences about null baselines.
    pub baselines: Vec<String>,
    /// Levels of the tasks.
    pub levels: Vec<Group>,
    /// Thirds of the tasks by the number of objects.
    pub sizes: Vec<Group>,
}

/// A task under a seed.
pub(super) struct Run<'e> {
    pub(super) suite: &'e str,
    pub(super) result: &'e TaskResult,
    pub(super) level: Option<usize>,
    pub(super) size: Option<usize>,
}

impl Methods {
    /// Puts evaluations together; a method has the tasks of all of them.
    pub fn new(evaluations: &[&Evaluation]) -> Self {
        let facts: BTreeMap<(&str, &str), &TaskFacts> = evaluations
            .iter()
            .flat_map(|evaluation| &evaluation.tasks)
            .map(|facts| ((facts.suite.as_str(), facts.task.as_str()), facts))
            .collect();
        let levels: BTreeSet<usize> = facts.values().map(|facts| facts.level.into()).collect();
        let levels: Vec<Group> = levels.into_iter().map(|level| Group { from: level, to: level }).collect();
        let sizes = thirds(facts.values().filter_map(|facts| facts.size).collect());
        let mut columns: Vec<(String, &Column)> = Vec::new();
        for column in evaluations.iter().flat_map(|evaluation| &evaluation.columns) {
            let model = column.model_name();
            if !columns.iter().any(|(known, own)| *known == model && own.pipeline == column.pipeline) {
                columns.push((model, column));
            }
        }
        let methods = columns.iter().filter_map(|(model, column)| {
            let is_own = |own: &&Column| own.pipeline == column.pipeline && own.model_name() == *model;
            let cells: Vec<&CellResult> = evaluations
                .iter()
                .flat_map(|evaluation| {
                    let own = evaluation.columns.iter().find(is_own);
                    evaluation.cells.iter().filter(move |cell| own.is_some_and(|own| own.holds(&cell.key)))
                })
                .collect();
            let name = match columns.iter().any(|(other, _)| other != model) {
                true => format!("{}@{model}", column.pipeline),
                false => column.pipeline.clone(),
            };
            method(name, model, column, &cells, &facts, (&levels, &sizes))
        });
        Self { schema: 1, methods: methods.collect(), baselines: baselines(evaluations), levels, sizes }
    }

    /// The files that hold it.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        let mut files = Artefact::of_table("methods", [self.csv(), self.markdown(), self.text()], self)?;
        files.extend(self.figure().map(|figure| Artefact::new("methods.svg", points_svg(&figure))));
        let (sizes, notes) = self.size_panels();
        if !sizes.is_empty() {
            files.push(Artefact::new("sizes.svg", svg_with_notes(&sizes, 3, &notes)));
        }
        Ok(files)
    }

    /// Sentences and tables for a terminal.
    pub fn text(&self) -> String {
        self.render("", |table| table.text())
    }

    /// Sentences and tables as Markdown.
    pub fn markdown(&self) -> String {
        self.render("* ", |table| table.markdown())
    }

    fn render(&self, bullet: &str, one: impl Fn(Table) -> String) -> String {
        let mut out: String = self.sentences().map(|sentence| format!("{bullet}{sentence}\n")).collect();
        let mut open = false;
        for (caption, table) in self.tables() {
            let text = one(table);
            open |= text.contains('?');
            out += &format!("\n{caption}\n\n{text}");
        }
        if open {
            out += &format!("\n{OPEN}\n");
        }
        out
    }

    /// A sentence for each method and each null baseline.
    pub fn sentences(&self) -> impl Iterator<Item = &String> {
        self.methods.iter().map(|method| &method.sentence).chain(&self.baselines)
    }

    /// Success by level and by size, with captions; without those that have no method with tasks in several groups.
    pub fn tables(&self) -> Vec<(String, Table)> {
        let level = |group: &Group| format!("level {}", group.from);
        let size = |group: &Group| match group.from == group.to {
            true => format!("{} objects", group.from),
            false => format!("{} to {} objects", group.from, group.to),
        };
        let tables = [
            ("by the level of texts", self.table(&self.levels, level, |method| &method.levels)),
            ("by the objects of a task, in thirds", self.table(&self.sizes, size, |method| &method.sizes)),
        ];
        let caption =
            |by| format!("% of tasks solved {by}, with Wilson's 95 % interval and the number of tasks");
        let used = tables.into_iter().filter(|(_, table)| !table.is_empty());
        used.map(|(by, table)| (caption(by), table)).collect()
    }

    /// Methods with tasks in several of the groups, of which at least one ended.
    fn table(
        &self,
        groups: &[Group],
        name: impl Fn(&Group) -> String,
        pick: impl Fn(&MethodResult) -> &Vec<Option<Success>>,
    ) -> Table {
        let header = groups.iter().map(|group| (name(group), Align::Left));
        let mut table = Table::new([("method".to_owned(), Align::Left)].into_iter().chain(header));
        for method in self.methods.iter().filter(|method| method.all.unfinished < method.runs) {
            let figures = pick(method);
            if figures.iter().flatten().count() > 1 {
                let shown = figures.iter().map(|own| own.as_ref().map_or("-".to_owned(), Success::figure));
                table.row([marked_name(&method.name, method.simulated)].into_iter().chain(shown));
            }
        }
        table
    }

    /// Success against tokens; absent if no method has counted tokens.
    fn figure(&self) -> Option<Points> {
        let (judged, unjudged): (Vec<_>, Vec<_>) =
            self.methods.iter().partition(|method| method.all.tasks > 0);
        let (shown, unmetered): (Vec<&MethodResult>, Vec<_>) =
            judged.into_iter().partition(|method| method.tokens >= 1.0 && method.unmetered == 0);
        let point = |method: &&MethodResult| Point {
            name: marked_name(&method.name, method.simulated),
            x: method.tokens.round(),
            values: vec![method.all.percent],
        };
        (!shown.is_empty()).then(|| Points {
            title: "Tasks solved against tokens".to_owned(),
            x_label: "tokens a task (logarithmic)".to_owned(),
            x_unit: "tokens a task",
            y_label: "% of tasks solved".to_owned(),
            named: true,
            kinds: vec![("tasks solved", Paint::Blue)],
            points: shown.iter().map(point).collect(),
            notes: [not_shown("counted tokens", &unmetered), not_shown("a judged task", &unjudged)]
                .into_iter()
                .flatten()
                .collect(),
        })
    }

    /// Success over the number of objects with its interval, a panel for each method with judged tasks of several sizes, and notes. A point is a
    /// group of sizes, in its middle.
    fn size_panels(&self) -> (Vec<Panel>, Vec<String>) {
        let middle = |group: &Group| f64::midpoint(group.from as f64, group.to as f64);
        let largest = self.sizes.last().map_or(1, |group| group.to);
        let judged =
            |method: &MethodResult| method.sizes.iter().flatten().filter(|own| own.tasks > 0).count();
        // A curve is lower by undecided and failed tasks, as a figure of the table.
        let is_open = |method: &MethodResult| {
            method.sizes.iter().flatten().any(|own| own.tasks > 0 && !own.open().is_empty())
        };
        let (shown, others): (Vec<&MethodResult>, Vec<_>) =
            self.methods.iter().partition(|method| judged(method) > 1);
        let (unjudged, alone): (Vec<&MethodResult>, Vec<_>) =
            others.into_iter().partition(|method| method.all.tasks == 0);
        let panel = |method: &&MethodResult| {
            let points: Vec<(f64, &Success)> = self
                .sizes
                .iter()
                .zip(&method.sizes)
                .filter_map(|(group, own)| Some((middle(group), own.as_ref().filter(|own| own.tasks > 0)?)))
                .collect();
            let name = marked_name(&method.name, method.simulated);
            Panel {
                title: if is_open(method) { format!("{name}?") } else { name },
                x_label: "objects of a task".to_owned(),
                y_label: "% of tasks solved".to_owned(),
                x: (0.0, largest as f64),
                y: (0.0, 100.0),
                series: vec![Series {
                    label: Some(format!("solved of {} tasks, 95 % interval", method.all.tasks)),
                    style: Style::Number(0),
                    points: points.iter().map(|(x, own)| (*x, own.percent)).collect(),
                    band: points.iter().map(|(x, own)| (*x, own.low, own.high)).collect(),
                    ..Series::default()
                }],
                legend_right: false,
            }
        };
        let notes = [
            shown.iter().any(|method| is_open(method)).then(|| OPEN.to_owned()),
            not_shown("judged tasks of two sizes", &alone),
            not_shown("a judged task", &unjudged),
        ];
        (shown.iter().map(panel).collect(), notes.into_iter().flatten().collect())
    }

    /// One line a method and group of tasks.
    pub fn csv(&self) -> String {
        let names = [
            "method",
            "model",
            "simulated",
            "by",
            "from",
            "to",
            "tasks",
            "solved",
            "percent",
            "low",
            "high",
            "undecided",
            "failed",
            "unfinished",
            "calls",
            "tokens",
            "unmetered",
            "usd",
        ];
        let mut table = Table::new(names.map(|name| (name, Align::Left)));
        for method in &self.methods {
            let grouped = |by: &'static str, groups: &[Group], own: &[Option<Success>]| -> Vec<_> {
                let pairs = groups.iter().zip(own);
                pairs.filter_map(|(group, own)| Some((by, Some(*group), own.clone()?))).collect()
            };
            let all = vec![("", None, method.all.clone())];
            let levels = grouped("level", &self.levels, &method.levels);
            for (by, group, own) in
                all.into_iter().chain(levels).chain(grouped("size", &self.sizes, &method.sizes))
            {
                let edges = [group.map(|g| g.from), group.map(|g| g.to)];
                let mut line =
                    vec![method.pipeline.clone(), method.model.clone(), method.simulated.to_string()];
                line.push(by.to_owned());
                line.extend(edges.map(|edge| edge.map_or(String::new(), |edge| edge.to_string())));
                line.push(own.tasks.to_string());
                line.extend([own.solved, own.percent, own.low, own.high].map(|value| format!("{value:.4}")));
                line.extend([own.undecided, own.failed, own.unfinished].map(|n| n.to_string()));
                // Use is that of all tasks.
                if by.is_empty() {
                    line.extend([method.calls, method.tokens].map(|value| format!("{value:.4}")));
                    line.push(method.unmetered.to_string());
                    line.push(method.usd.map_or(String::new(), |usd| format!("{usd:.6}")));
                }
                table.row(line);
            }
        }
        table.csv()
    }
}

fn method(
    name: String,
    model: &str,
    column: &Column,
    cells: &[&CellResult],
    facts: &BTreeMap<(&str, &str), &TaskFacts>,
    (levels, sizes): (&[Group], &[Group]),
) -> Option<MethodResult> {
    let runs: Vec<Run<'_>> = cells
        .iter()
        .flat_map(|cell| cell.tasks.iter().map(|task| (cell.key.suite.as_str(), task)))
        .map(|(suite, result)| {
            let own = facts.get(&(suite, result.task.as_str()));
            Run { suite, result, level: own.map(|own| own.level.into()), size: own.and_then(|own| own.size) }
        })
        .collect();
    let all = Success::of(&runs)?;
    let mut usage = TaskUsage::default();
    let mut cost = Cost::default();
    let mut priced = true;
    for run in &runs {
        usage.add(&run.result.usage);
        match &run.result.cost {
            Some(own) => cost.add(own),
            None => priced = false,
        }
    }
    // What was used by tasks that are not finished would make a task look cheap.
    let ended = runs.iter().filter(|run| run.result.outcome != TaskOutcome::Unfinished).count();
    let judged = runs.iter().filter(|run| run.result.outcome.is_judged()).count();
    let each = |sum: f64| if ended == 0 { 0.0 } else { sum / ended as f64 };
    let by = |groups: &[Group], pick: fn(&Run<'_>) -> Option<usize>| {
        groups.iter().map(|group| Success::of(runs.iter().filter(|run| group.holds(pick(run))))).collect()
    };
    let mut method = MethodResult {
        name,
        pipeline: column.pipeline.clone(),
        model: model.to_owned(),
        simulated: column.judges.simulated,
        sentence: String::new(),
        runs: runs.len(),
        levels: by(levels, |run| run.level),
        sizes: by(sizes, |run| run.size),
        all,
        calls: each(usage.calls as f64),
        tokens: each((usage.prompt_tokens + usage.completion_tokens) as f64),
        unmetered: usage.unmetered,
        usd: cost.usd().filter(|_| priced).map(each),
    };
    method.sentence = sentence(&method, &usage, &cost, (ended, judged));
    method.sentence += &plan_costs(&runs);
    Some(method)
}

/// `tic-ic: 14 of 40 tasks solved (35 %, 95 % interval 22 to 50 %), 3.1 calls and 5,204 tokens a task, $0.0031 a task.`
fn sentence(
    method: &MethodResult,
    usage: &TaskUsage,
    cost: &Cost,
    (ended, judged): (usize, usize),
) -> String {
    let all = &method.all;
    if ended == 0 {
        return format!("{}: none of {} runs of tasks ended.", method.name, method.runs);
    }
    if judged == 0 {
        return format!("{}: none of {ended} runs of tasks that ended was judged.", method.name);
    }
    let mut text = format!("{}: {}", method.name, all.words());
    if judged > all.tasks {
        text += &format!(" on average over {judged} runs");
    }
    let tokens = grouped_digits(method.tokens.round() as u64);
    text += &match (method.unmetered > 0, method.tokens > 0.0) {
        (true, false) => format!(", {:.1} calls a task, tokens not counted", method.calls),
        (true, true) => format!(", {:.1} calls and at least {tokens} tokens a task", method.calls),
        (false, _) => format!(", {:.1} calls and {tokens} tokens a task", method.calls),
    };
    text += &match (method.simulated, method.usd) {
        (true, _) => String::new(),
        // No request was sent.
        _ if usage.requests() == 0 => String::new(),
        (false, Some(usd)) => format!(", {} a task", dollars(usd)),
        (false, None) => format!(", cost unknown ({})", why_unknown(usage, cost)),
    };
    text += ".";
    let open = all.open();
    if !open.is_empty() {
        text += &format!(" Open: {open}.");
    }
    if method.simulated {
        text += " The model is simulated: the figures say nothing about a language model.";
    }
    text
}

/// Most plans that a sentence about costs names.
const NAMED_COSTS: usize = 3;

/// ` Valid plans of tasks that ask for the smallest cost: 3 of 4 are the cheapest; not: rota.p01 (cost 22, the best is 19).`; empty without such
/// plans.
fn plan_costs(runs: &[Run<'_>]) -> String {
    let costs: Vec<(&Run<'_>, PlanCost)> =
        runs.iter().filter_map(|run| Some((run, run.result.plan_cost?))).collect();
    if costs.is_empty() {
        return String::new();
    }
    let count = |wanted| costs.iter().filter(|(_, own)| own.is_best() == wanted).count();
    let (best, unknown) = (count(Some(true)), count(None));
    let dearer: Vec<String> = costs
        .iter()
        .filter(|(_, own)| own.is_best() == Some(false))
        .map(|(run, own)| format!("{}.{} ({})", run.suite, run.result.task, own.words()))
        .collect();
    let mut text = format!(
        " Valid plans of tasks that ask for the smallest cost: {best} of {} are the cheapest",
        costs.len()
    );
    if unknown > 0 {
        text += &format!(", {unknown} not known");
    }
    if !dearer.is_empty() {
        let more = dearer.len().saturating_sub(NAMED_COSTS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named: Vec<String> = dearer.into_iter().take(NAMED_COSTS).collect();
        text += &format!("; not: {}{more}", named.join(", "));
    }
    text + "."
}

/// A note of a figure about methods that it does not show; absent if there are none.
fn not_shown(lacking: &str, methods: &[&MethodResult]) -> Option<String> {
    let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("Not shown, without {lacking}: {}", names.join(", ")))
}

/// A sentence for each null baseline over all suites.
fn baselines(evaluations: &[&Evaluation]) -> Vec<String> {
    let mut all: Vec<_> = Vec::new();
    for own in evaluations.iter().flat_map(|evaluation| &evaluation.baselines) {
        if !all.contains(&own) {
            all.push(own);
        }
    }
    let sentence = |baseline: Baseline| {
        let own = || all.iter().filter(|own| own.baseline == baseline);
        let sum = |count: fn(&crate::results::NullBaseline) -> usize| own().map(|own| count(own)).sum();
        let tasks: usize = sum(|own| own.tasks);
        let (solved, undecided): (usize, usize) = (sum(|own| own.solved), sum(|own| own.undecided));
        let success = Success { undecided, ..Success::new(tasks, solved as f64) };
        let open = success.open();
        let open = if open.is_empty() { open } else { format!(" Open: {open}.") };
        (tasks > 0).then(|| {
            format!("null baseline, {}: {}, without a model.{open}", baseline.name(), success.words())
        })
    };
    Baseline::ALL.into_iter().filter_map(sentence).collect()
}

/// Groups of about a third of the values each; equal values are in one group.
fn thirds(mut sizes: Vec<usize>) -> Vec<Group> {
    sizes.sort_unstable();
    let mut groups: Vec<Group> = Vec::new();
    for third in 1..=3 {
        let from = groups.last().map_or(0, |last| last.to + 1);
        let end = (sizes.len() * third).div_ceil(3);
        let Some(to) = end.checked_sub(1).and_then(|last| sizes.get(last).copied()) else { continue };
        if let Some(first) = sizes.iter().copied().find(|size| *size >= from).filter(|first| *first <= to) {
            groups.push(Group { from: first, to });
        }
    }
    groups
}

/// `5,204`.
fn grouped_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Judges, NullBaseline, bare};

    /// A method with two suites of four tasks: the second one is at level 2 and larger.
    fn evaluation() -> Evaluation {
        let mut cells = vec![
            bare("s", "m", 1, 4),
            bare("s", "m", 2, 4),
            bare("s-L2", "m", 1, 4),
            bare("s-L2", "m", 2, 4),
        ];
        for cell in &mut cells {
            cell.tasks[0].outcome = TaskOutcome::Solved;
            for task in &mut cell.tasks {
                task.usage = TaskUsage {
                    calls: 3,
                    prompt_tokens: 5000,
                    completion_tokens: 204,
                    ..TaskUsage::default()
                };
                task.cost = Some(Cost { known_usd: 0.0031, priced: 3, unpriced: 0 });
            }
        }
        // One of two seeds.
        cells[0].tasks[1].outcome = TaskOutcome::Solved;
        cells[3].tasks[3].outcome = TaskOutcome::Undecided;
        let judges = BTreeMap::from([("m".to_owned(), Judges::default())]);
        let mut evaluation = Evaluation::new(vec![1, 2], &judges, cells);
        for (suite, level) in [("s", 1), ("s-L2", 2)] {
            for number in 1..=4 {
                let (suite, task) = (suite.to_owned(), format!("p{number:02}"));
                evaluation.tasks.push(TaskFacts {
                    suite,
                    task,
                    level,
                    size: Some(4 * usize::from(level) + number),
                    rung: None,
                });
            }
            let suite = suite.to_owned();
            let (baseline, domain) = (Baseline::Example, true);
            evaluation.baselines.push(NullBaseline {
                suite,
                baseline,
                domain,
                tasks: 4,
                problems: 4,
                solved: 1,
                undecided: 1,
            });
        }
        evaluation
    }

    #[test]
    fn a_sentence_has_success_with_tasks_as_trials_use_and_open_runs() {
        let evaluation = evaluation();
        let methods = Methods::new(&[&evaluation]);
        assert_eq!(
            methods.methods[0].sentence,
            "m: 2.5 of 8 tasks solved (31 %, 95 % interval 10 to 64 %) on average over 16 runs, 3.0 calls and 5,204 tokens a task, \
             $0.0031 a task. Open: 1 undecided."
        );
        assert_eq!(
            methods.baselines,
            [
                "null baseline, copy of the example: 2 of 8 tasks solved (25 %, 95 % interval 7 to 59 %), without a model. Open: 2 undecided."
            ]
        );
        let text = methods.text();
        let levels = text.lines().find(|line| line.starts_with("m  ")).unwrap();
        assert_eq!(
            levels.split_whitespace().collect::<Vec<_>>().join(" "),
            "m 38 [9, 78] n=4 25? [5, 70] n=4"
        );
        assert!(text.contains("5 to 7 objects") && text.contains("8 to 10 objects"), "{text}");
        let files = methods.artefacts().unwrap();
        assert!(files.iter().any(|file| file.name == "methods.svg"));
        let sizes = files.iter().find(|file| file.name == "sizes.svg").unwrap();
        assert!(
            sizes
                .contents
                .contains("m?, % of tasks solved over objects of a task. solved of 8 tasks, 95 % interval: ")
        );
        assert!(sizes.contents.contains(OPEN), "an undecided run lowers the curve");
        assert_eq!(methods.csv().lines().count(), 1 + 1 + 2 + 3);
    }

    #[test]
    fn a_method_with_tasks_of_one_size_is_named_below_the_curves() {
        let mut own = evaluation();
        for (name, outcome) in [("alone", TaskOutcome::Solved), ("idle", TaskOutcome::Unfinished)] {
            let mut cell = bare("s", name, 1, 1);
            cell.tasks[0].outcome = outcome;
            own.cells.push(cell);
        }
        let judges = ["m", "alone", "idle"].map(|name| (name.to_owned(), Judges::default()));
        let all = Evaluation::new(vec![1, 2], &BTreeMap::from(judges), own.cells.clone());
        let (panels, notes) = Methods::new(&[&Evaluation { tasks: own.tasks, ..all }]).size_panels();
        assert_eq!(panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(), ["m?"]);
        let expected =
            ["Not shown, without judged tasks of two sizes: alone", "Not shown, without a judged task: idle"];
        assert_eq!(notes[1..], expected);
    }

    #[test]
    fn a_valid_plan_that_is_not_the_cheapest_is_solved_and_named() {
        let mut own = evaluation();
        let costs = [
            PlanCost { cost: 22.0, best: Some(19.0), proven: true },
            PlanCost { cost: 7.0, best: Some(7.0), proven: true },
        ];
        for (task, cost) in own.cells[0].tasks.iter_mut().zip(costs) {
            task.plan_cost = Some(cost);
        }
        own.cells[1].tasks[0].plan_cost = Some(PlanCost { cost: 5.0, best: Some(5.0), proven: false });
        let methods = Methods::new(&[&own]);
        assert_eq!(methods.methods[0].all.solved, 2.5, "cost is no failure of validity");
        let costs = " Valid plans of tasks that ask for the smallest cost: 1 of 3 are the cheapest, 1 not known; not: s.p01 (cost 22, the best is 19).";
        assert!(methods.methods[0].sentence.ends_with(costs), "{}", methods.methods[0].sentence);
    }

    #[test]
    fn unknown_costs_and_simulated_models_are_said() {
        let mut own = evaluation();
        for task in own.cells.iter_mut().flat_map(|cell| &mut cell.tasks) {
            task.cost = Some(Cost { known_usd: 0.0, priced: 0, unpriced: 3 });
        }
        let sentence = |own: &Evaluation| Methods::new(&[own]).methods[0].sentence.clone();
        assert!(
            sentence(&own).contains("cost unknown (the model has no stated price)."),
            "{}",
            sentence(&own)
        );
        own.columns[0].judges.simulated = true;
        assert!(sentence(&own).ends_with("simulated: the figures say nothing about a language model."));
        assert!(!sentence(&own).contains("cost"));
    }

    #[test]
    fn one_level_or_size_has_no_table() {
        let mut own = evaluation();
        own.tasks.iter_mut().for_each(|facts| (facts.level, facts.size) = (1, Some(5)));
        let text = Methods::new(&[&own]).text();
        assert!(!text.contains("by the") && text.lines().count() == 2, "{text}");
        own.tasks.clear();
        assert!(!Methods::new(&[&own]).text().contains("by the"));
    }

    #[test]
    fn a_method_that_did_not_run_has_a_sentence_and_no_row() {
        let mut own = evaluation();
        for task in own.cells.iter_mut().flat_map(|cell| &mut cell.tasks) {
            task.outcome = TaskOutcome::Unfinished;
        }
        let text = Methods::new(&[&own]).text();
        assert!(text.starts_with("m: none of 16 runs of tasks ended.") && !text.contains("by the"), "{text}");
    }

    #[test]
    fn runs_that_did_not_end_or_were_not_judged_are_no_failures() {
        let mut own = evaluation();
        // The second suite did not run, one seed of a solved task neither, and another was not judged.
        for task in own.cells[2..].iter_mut().flat_map(|cell| &mut cell.tasks) {
            task.outcome = TaskOutcome::Unfinished;
        }
        own.cells[0].tasks[0].outcome = TaskOutcome::Unfinished;
        own.cells[1].tasks[1].outcome = TaskOutcome::NotJudged;
        let methods = Methods::new(&[&own]);
        let all = &methods.methods[0].all;
        assert_eq!((all.tasks, all.solved, all.percent, all.unfinished), (4, 2.0, 50.0, 9));
        assert!(methods.methods[0].sentence.contains("2 of 4 tasks solved (50 %"), "{methods:?}");
        assert!(methods.methods[0].sentence.contains("on average over 6 runs"), "{methods:?}");
        assert!(methods.methods[0].sentence.contains("Open: 1 undecided, 9 unfinished."), "{methods:?}");
    }

    #[test]
    fn a_method_that_nothing_judged_has_no_share() {
        let mut own = evaluation();
        for task in own.cells.iter_mut().flat_map(|cell| &mut cell.tasks) {
            task.outcome = TaskOutcome::NotJudged;
        }
        own.cells[0].tasks[0].outcome = TaskOutcome::Unfinished;
        let text = Methods::new(&[&own]).text();
        assert!(text.starts_with("m: none of 15 runs of tasks that ended was judged.\n"), "{text}");
        assert!(text.contains("by the level") && !text.contains("n=0") && text.contains(OPEN), "{text}");
    }

    #[test]
    fn thirds_keep_equal_sizes_together() {
        let edges =
            |sizes: &[usize]| thirds(sizes.to_vec()).iter().map(|g| (g.from, g.to)).collect::<Vec<_>>();
        assert_eq!(edges(&[9, 5, 5, 7, 12, 30]), [(5, 5), (7, 9), (12, 30)]);
        assert_eq!(edges(&[5, 5, 5, 5, 6]), [(5, 5), (6, 6)]);
        assert_eq!(edges(&[4]), [(4, 4)]);
        assert!(edges(&[]).is_empty());
    }
}
