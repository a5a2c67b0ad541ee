//! The test-time-scaling paper's Table 2: methods by output, with the share of right domains by the paper's
//! own criterion (VAL's Parser accepts), by planforge's reader, and by behaviour: the domain behaves as the
//! reference.

use super::{Criterion, Delta, Rate};
use crate::results::{
    AskedFor, Baseline, CellResult, Evaluation, NullBaseline, OpenReason, Replies, TaskOutcome,
};
use crate::statistics::mean;
use crate::sums::Artefact;
use crate::table::{Align, Table};
use crate::tables::name_with_model;
use planforge_contract::Failure;
use planforge_pipeline::TaskUsage;
use serde::Serialize;
use std::collections::BTreeMap;

/// A method with one kind of output.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ScalingCell {
    pub pipeline: String,
    /// Runs of a domain: one a seed.
    pub seeds: usize,
    /// Tasks that ended, over all domains and seeds.
    pub ended: usize,
    /// The shares; a question that no stage asks is absent, and so are all if no task ended.
    pub rates: BTreeMap<Criterion, Rate>,
    /// Mean walk score of the domains that have one, from 0 to 1.
    pub walk_score: Option<f64>,
    /// Domains that have one.
    pub walk_domains: usize,
    /// Tasks over all domains and seeds whose domain a parser accepts although no action has an effect.
    pub empty: usize,
    /// Counts of the replies.
    pub replies: Option<Replies>,
    /// Use of models.
    pub usage: TaskUsage,
}

/// A method with a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScalingRow {
    /// The models of the pipeline.
    pub model: String,
    /// The method's name.
    pub method: String,
    /// True if a model is simulated.
    pub simulated: bool,
    /// Cells by output.
    pub cells: BTreeMap<AskedFor, ScalingCell>,
}

/// The whole table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Scaling {
    /// Version of this document, 1.
    pub schema: u32,
    /// The method that others are compared with.
    pub base: Option<String>,
    /// The outputs: the columns.
    pub columns: Vec<AskedFor>,
    /// The methods, in the order in which they come.
    pub rows: Vec<ScalingRow>,
    /// Null baselines, by suite; empty if they were not computed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<NullBaseline>,
}

impl Scaling {
    /// Combines evaluations. `methods` renames pipelines: two pipelines that are one method on different
    /// tasks share a row.
    ///
    /// # Errors
    /// A text: two pipelines claim the same place, or the base is not a method.
    pub fn new(
        evaluations: &[&Evaluation],
        methods: &BTreeMap<String, String>,
        base: Option<&str>,
    ) -> Result<Self, String> {
        let mut table = Self { schema: 1, base: base.map(str::to_owned), ..Self::default() };
        let mut places: Vec<(usize, AskedFor, &str, Vec<&CellResult>)> = Vec::new();
        for evaluation in evaluations {
            for baseline in &evaluation.baselines {
                if !table.baselines.contains(baseline) {
                    table.baselines.push(baseline.clone());
                }
            }
            for column in &evaluation.columns {
                let method = methods.get(&column.pipeline).unwrap_or(&column.pipeline).clone();
                let (model, asked) = (column.model_name(), column.judges.asked_for);
                let row = table.row(model, method, column.judges.simulated);
                let own = evaluation.cells.iter().filter(|cell| column.holds(&cell.key));
                match places.iter_mut().find(|place| (place.0, place.1) == (row, asked)) {
                    // The same pipeline over other suites.
                    Some((_, _, pipeline, cells)) if *pipeline == column.pipeline => cells.extend(own),
                    Some((_, _, pipeline, _)) => {
                        let both = format!("`{pipeline}` and `{}`", column.pipeline);
                        return Err(format!(
                            "{both} are both `{}` for {}",
                            table.rows[row].method,
                            asked.name()
                        ));
                    }
                    None => places.push((row, asked, &column.pipeline, own.collect())),
                }
            }
        }
        for (row, asked, pipeline, cells) in places.into_iter().filter(|(.., cells)| !cells.is_empty()) {
            table.rows[row].cells.insert(asked, ScalingCell::of(pipeline, &cells));
            if !table.columns.contains(&asked) {
                table.columns.push(asked);
            }
        }
        table.columns.sort();
        if let Some(base) = base {
            table.compare(base)?;
        }
        Ok(table)
    }

    fn row(&mut self, model: String, method: String, simulated: bool) -> usize {
        let same = |row: &ScalingRow| row.model == model && row.method == method;
        self.rows.iter().position(same).unwrap_or_else(|| {
            self.rows.push(ScalingRow {
                model: model.clone(),
                method: method.clone(),
                simulated,
                cells: BTreeMap::new(),
            });
            self.rows.len() - 1
        })
    }

    /// Adds the differences to the base: with the same model, or with the only model that the base has.
    fn compare(&mut self, base: &str) -> Result<(), String> {
        let bases: Vec<ScalingRow> = self.rows.iter().filter(|row| row.method == base).cloned().collect();
        if bases.is_empty() {
            let known: Vec<&str> = self.rows.iter().map(|row| row.method.as_str()).collect();
            return Err(format!("no method is called `{base}`; there are {}", known.join(", ")));
        }
        for row in &mut self.rows {
            let own = bases.iter().find(|known| known.model == row.model);
            let Some(against) = own.or(bases.first().filter(|_| bases.len() == 1)) else { continue };
            if (&against.model, &against.method) == (&row.model, &row.method) {
                continue;
            }
            for (asked, cell) in &mut row.cells {
                let Some(other) = against.cells.get(asked) else { continue };
                for (criterion, rate) in &mut cell.rates {
                    rate.delta = other.rates.get(criterion).and_then(|other| Delta::of(rate, other));
                }
            }
        }
        Ok(())
    }
}

impl ScalingCell {
    fn of(pipeline: &str, cells: &[&CellResult]) -> Self {
        let rates = Criterion::ALL
            .into_iter()
            .filter_map(|criterion| Some((criterion, Rate::of(cells, |task| criterion.of(task))?)));
        let mut walks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for cell in cells {
            if let Some(walk) = &cell.walk {
                walks.entry(&cell.key.suite).or_default().push(walk.score);
            }
        }
        let scores: Vec<f64> = walks.values().filter_map(|all| mean(all)).map(|m| m.mean).collect();
        let (mut replies, mut usage) = (None::<Replies>, TaskUsage::default());
        let mut seeds: Vec<u64> = cells.iter().map(|cell| cell.key.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        for cell in cells {
            usage.add(&cell.usage);
            if let Some(own) = &cell.replies {
                replies.get_or_insert_default().add(own);
            }
        }
        let tasks = cells.iter().flat_map(|cell| &cell.tasks);
        Self {
            pipeline: pipeline.to_owned(),
            seeds: seeds.len(),
            ended: tasks.filter(|task| task.outcome != TaskOutcome::Unfinished).count(),
            rates: rates.collect(),
            walk_score: mean(&scores).map(|m| m.mean),
            walk_domains: scores.len(),
            empty: cells.iter().flat_map(|cell| &cell.tasks).filter(|task| task.domain.empty).count(),
            replies,
            usage,
        }
    }
}

impl Scaling {
    /// The files that hold it.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        Artefact::of_table("scaling", [self.csv(), self.markdown(), self.text()], self)
    }

    /// The tables for a terminal.
    pub fn text(&self) -> String {
        self.render_sections(|title, table| format!("{title}\n\n{}", table.text()))
    }

    /// The tables as Markdown.
    pub fn markdown(&self) -> String {
        self.render_sections(|title, table| format!("{title}\n\n{}", table.markdown()))
    }

    fn render_sections(&self, one: impl Fn(&str, &Table) -> String) -> String {
        let cells = || self.rows.iter().flat_map(|row| row.cells.values());
        let measured = |criterion| cells().any(|cell| cell.rates.contains_key(&criterion));
        let mut parts: Vec<String> = Criterion::ALL
            .into_iter()
            .filter(|criterion| measured(*criterion))
            .map(|criterion| one(criterion.title(), &self.table(criterion)))
            .collect();
        if !self.baselines.is_empty() {
            let title = "Empty domains: % of domains without an error in them, and those of them in which no action has an effect";
            parts.push(one(title, &self.empty_table()));
        }
        parts.push(one("Replies and cost, over all domains and seeds", &self.reply_table()));
        let mut out = parts.join("\n");
        out += "\nIn brackets: 95 % interval with domains as trials; in parentheses: points more or less than the base method.\n";
        if cells().flat_map(|cell| cell.rates.values()).any(|rate| !rate.open.is_empty()) {
            out += "u tasks undecided, c not comparable, f failed: neither for nor against; `?`: were they all counted for it, the figure \
                    would be another. o not run: in no figure.\n";
        }
        for (criterion, how) in [
            (Criterion::Val, "a stage that reads PDDL with `parser = \"val\"`"),
            (Criterion::Walk, "a stage that measures exploration walks"),
            (Criterion::Same, "a stage that compares domains with the reference (`what = \"domain\"`)"),
        ] {
            if !measured(criterion) {
                out += &format!("Not measured: {}. It takes {how}.\n", criterion.title());
            }
        }
        out
    }

    fn name(&self, row: &ScalingRow) -> String {
        let models = self.rows.iter().map(|row| row.model.as_str());
        name_with_model(models, &row.model, &row.method, row.simulated)
    }

    /// A row for each method, a column for each output, and their average.
    pub fn table(&self, criterion: Criterion) -> Table {
        let names = self.columns.iter().map(|asked| (asked.name().to_owned(), Align::Right));
        let average = (self.columns.len() > 1).then(|| ("avg.".to_owned(), Align::Right));
        let mut table =
            Table::new([("method".to_owned(), Align::Left)].into_iter().chain(names).chain(average));
        for row in &self.rows {
            let rates: Vec<Option<&Rate>> = self
                .columns
                .iter()
                .map(|asked| row.cells.get(asked).and_then(|cell| cell.rates.get(&criterion)))
                .collect();
            let shown =
                self.columns.iter().zip(&rates).map(|(asked, rate)| match (rate, row.cells.get(asked)) {
                    (Some(rate), _) => figure(rate),
                    (None, Some(cell)) if cell.ended == 0 => "not run".to_owned(),
                    (None, _) => "-".to_owned(),
                });
            // The paper's average is over the columns; of a method that lacks one there is none.
            let all: Option<Vec<f64>> = rates.iter().map(|rate| rate.map(|rate| rate.percent)).collect();
            let average = (self.columns.len() > 1)
                .then(|| all.and_then(|all| mean(&all)).map_or("-".to_owned(), |m| format!("{:.1}", m.mean)));
            table.row([self.name(row)].into_iter().chain(shown).chain(average));
        }
        table
    }

    /// Null baselines beside the methods: texts without content, which parsers accept. Such a domain counts as not
    /// accepted in the tables above.
    fn empty_table(&self) -> Table {
        let mut table = Table::new([
            ("method", Align::Left),
            ("task", Align::Left),
            ("domains", Align::Right),
            ("without errors %", Align::Right),
            ("empty", Align::Right),
        ]);
        for baseline in Baseline::WITHOUT_CONTENT {
            let own = || self.baselines.iter().filter(|own| own.baseline == baseline);
            let (all, read) = (own().count(), own().filter(|own| own.domain).count());
            let percent = format!("{:.1}", 100.0 * read as f64 / all.max(1) as f64);
            let words = [baseline.name().to_owned(), "-".to_owned()];
            table.row(words.into_iter().chain([all.to_string(), percent, read.to_string()]));
        }
        for (row, asked, cell) in self.each() {
            let Some(rate) = cell.rates.get(&Criterion::FrontEnd).or(cell.rates.get(&Criterion::Val)) else {
                continue;
            };
            let read = rate.percent + 100.0 * cell.empty as f64 / rate.tasks.max(1) as f64;
            let words = [self.name(row), asked.name().to_owned()];
            let figures = [rate.tasks.to_string(), format!("{read:.1}"), cell.empty.to_string()];
            table.row(words.into_iter().chain(figures));
        }
        table
    }

    fn reply_table(&self) -> Table {
        let words = ["method", "task"].map(|name| (name, Align::Left));
        let numbers = [
            "domains",
            "seeds",
            "replies",
            "with PDDL %",
            "without errors %",
            "errors a reply",
            "warnings a reply",
            "walk score",
            "calls",
            "tokens in",
            "tokens out",
        ];
        let mut table = Table::new(words.into_iter().chain(numbers.map(|name| (name, Align::Right))));
        for (row, asked, cell) in self.each() {
            let domains = cell.rates.get(&Criterion::Plan).map_or(0, |rate| rate.domains);
            let mut line =
                vec![self.name(row), asked.name().to_owned(), domains.to_string(), cell.seeds.to_string()];
            line.extend(
                reply_figures(cell.replies.as_ref()).map(|figure| figure.unwrap_or_else(|| "-".to_owned())),
            );
            line.push(match cell.walk_score {
                Some(score) if cell.walk_domains < domains => {
                    format!("{score:.2} (of {})", cell.walk_domains)
                }
                Some(score) => format!("{score:.2}"),
                None => "-".to_owned(),
            });
            // A sum that the server did not count in full is a lower bound.
            let least = if cell.usage.unmetered > 0 { ">= " } else { "" };
            line.push(cell.usage.calls.to_string());
            line.extend(
                [cell.usage.prompt_tokens, cell.usage.completion_tokens].map(|n| format!("{least}{n}")),
            );
            table.row(line);
        }
        table
    }

    fn each(&self) -> impl Iterator<Item = (&ScalingRow, AskedFor, &ScalingCell)> {
        self.rows.iter().flat_map(|row| row.cells.iter().map(move |(asked, cell)| (row, *asked, cell)))
    }

    /// One line for each method and output.
    pub fn csv(&self) -> String {
        let words = ["model", "method", "pipeline", "simulated", "task", "seeds"].map(str::to_owned);
        let rates = Criterion::ALL.into_iter().flat_map(|criterion| {
            let endings =
                ["", "_if_open", "_low", "_high", "_delta", "_delta_low", "_delta_high", "_open", "_domains"];
            endings.map(|ending| format!("{}{ending}", criterion.column()))
        });
        let others = [
            "walk_score",
            "walk_domains",
            "replies",
            "with_pddl",
            "without_errors",
            "errors_a_reply",
            "warnings_a_reply",
            "calls",
            "prompt_tokens",
            "completion_tokens",
            "unmetered",
        ];
        let header = words.into_iter().chain(rates).chain(others.map(str::to_owned));
        let mut table = Table::new(header.map(|name| (name, Align::Left)));
        let four = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.4}"));
        for (row, asked, cell) in self.each() {
            let mut line =
                vec![row.model.clone(), row.method.clone(), cell.pipeline.clone(), row.simulated.to_string()];
            line.extend([asked.name().to_owned(), cell.seeds.to_string()]);
            for criterion in Criterion::ALL {
                let rate = cell.rates.get(&criterion);
                let delta = rate.and_then(|rate| rate.delta.as_ref());
                let between = delta.and_then(|delta| delta.interval);
                line.extend([
                    four(rate.map(|r| r.percent)),
                    four(rate.map(|r| r.percent_if_open)),
                    four(rate.map(|r| r.interval.low)),
                    four(rate.map(|r| r.interval.high)),
                    four(delta.map(|d| d.points)),
                    four(between.map(|i| i.low)),
                    four(between.map(|i| i.high)),
                    rate.map_or(String::new(), |r| r.open.iter().map(|(_, n)| n).sum::<usize>().to_string()),
                    rate.map_or(String::new(), |r| r.domains.to_string()),
                ]);
            }
            line.extend([four(cell.walk_score), cell.walk_domains.to_string()]);
            line.extend(reply_figures(cell.replies.as_ref()).map(Option::unwrap_or_default));
            let usage = &cell.usage;
            let counts = [usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.unmetered];
            line.extend(counts.map(|n| n.to_string()));
            table.row(line);
        }
        table.csv()
    }
}

/// Replies; of 100 those with PDDL and those without errors; errors and warnings of one that has PDDL.
fn reply_figures(replies: Option<&Replies>) -> [Option<String>; 5] {
    let share = |part: u64, of: u64, scale: f64, digits: usize| {
        (of > 0).then(|| format!("{:.digits$}", scale * part as f64 / of as f64))
    };
    let Some(r) = replies else { return [None, None, None, None, None] };
    [
        Some(r.replies.to_string()),
        share(r.parsed, r.replies, 100.0, 1),
        share(r.clean, r.replies, 100.0, 1),
        share(r.errors, r.parsed, 1.0, 2),
        share(r.warnings, r.parsed, 1.0, 2),
    ]
}

/// `21.9 [12.0, 36.7] (+3.5)`, with what is open behind it.
fn figure(rate: &Rate) -> String {
    let open: Vec<String> = OpenReason::ALL
        .iter()
        .filter_map(|(why, letter, _)| {
            let (_, n) = rate.open.iter().find(|(known, _)| known == why)?;
            Some(format!("{n}{letter}"))
        })
        .collect();
    let open = if open.is_empty() { String::new() } else { format!(" {{{}}}", open.join(" ")) };
    let mark = if rate.percent < rate.percent_if_open { "?" } else { "" };
    let delta = rate.delta.as_ref().map_or(String::new(), |delta| format!(" ({:+.1})", delta.points));
    format!("{:.1}{mark} [{:.0}, {:.0}]{delta}{open}", rate.percent, rate.interval.low, rate.interval.high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Judges, ProblemOutcome, bare};

    /// A cell with a task a letter: a accepted by VAL, b by planforge too, s the same domain too, n nothing, f VAL crashed.
    fn made(suite: &str, pipeline: &str, seed: u64, tasks: &str) -> CellResult {
        use ProblemOutcome::{Different, Equivalent, Failed, NotComparable};
        let mut cell = bare(suite, pipeline, seed, tasks.len());
        for (task, letter) in cell.tasks.iter_mut().zip(tasks.chars()) {
            let yes = |is: bool| Some(if is { Equivalent } else { Different });
            task.domain.val = if letter == 'f' { Some(Failed) } else { yes("abs".contains(letter)) };
            task.domain.front_end = yes("bs".contains(letter));
            task.domain.same = if letter == 'b' { Some(NotComparable) } else { yes(letter == 's') };
        }
        cell.replies = Some(Replies { replies: 4, parsed: 3, clean: 1, errors: 6, warnings: 0 });
        cell
    }

    fn evaluation(cells: Vec<CellResult>) -> Evaluation {
        let of = |asked_for| Judges { asked_for, models: vec!["m".to_owned()], ..Judges::default() };
        let judges = BTreeMap::from([
            ("single".to_owned(), of(AskedFor::NL2Domain)),
            ("bon".to_owned(), of(AskedFor::NL2Domain)),
            ("bon-prob".to_owned(), of(AskedFor::Prob2Domain)),
        ]);
        Evaluation::new(vec![1, 2], &judges, cells)
    }

    fn four_domains() -> Evaluation {
        let mut cells = Vec::new();
        for (suite, single, bon) in [("w", "n", "s"), ("x", "n", "a"), ("y", "a", "b"), ("z", "n", "f")] {
            for seed in [1, 2] {
                cells.push(made(suite, "single", seed, single));
                cells.push(made(suite, "bon", seed, bon));
                cells.push(made(suite, "bon-prob", seed, "n"));
            }
        }
        evaluation(cells)
    }

    fn table() -> Scaling {
        let methods = BTreeMap::from([("bon-prob".to_owned(), "bon".to_owned())]);
        Scaling::new(&[&four_domains()], &methods, Some("single")).unwrap()
    }

    #[test]
    fn rows_are_methods_and_columns_are_outputs() {
        let table = table();
        assert_eq!((table.rows.len(), table.columns.len()), (2, 2));
        let bon = &table.rows[1].cells[&AskedFor::NL2Domain];
        let val = &bon.rates[&Criterion::Val];
        assert_eq!((val.percent, val.percent_if_open, val.domains, val.tasks), (75.0, 100.0, 4, 8));
        assert_eq!(val.open, [(OpenReason::Failed, 2)]);
        // Four domains, not eight runs: Wilson for 3 of 4.
        assert!((val.interval.low - 30.06).abs() < 0.1 && (val.interval.high - 95.44).abs() < 0.1, "{val:?}");
        let delta = val.delta.as_ref().unwrap();
        assert_eq!((delta.points, delta.domains), (50.0, 4));
        assert_eq!(bon.rates[&Criterion::FrontEnd].percent, 50.0);
        let same = &bon.rates[&Criterion::Same];
        assert_eq!((same.percent, same.open.as_slice()), (25.0, [(OpenReason::NotComparable, 2)].as_slice()));
        assert!(!bon.rates.contains_key(&Criterion::Walk));
        let replies = bon.replies.unwrap();
        assert_eq!((replies.replies, replies.parsed), (32, 24));
    }

    #[test]
    fn empty_domains_and_null_baselines_stand_beside_what_parsers_accept() {
        let mut evaluation = evaluation(vec![made("w", "bon", 1, "nn")]);
        let cell = &mut evaluation.cells[0];
        cell.tasks[0].domain.empty = true;
        let baseline = |baseline| NullBaseline {
            suite: "w".to_owned(),
            baseline,
            domain: true,
            tasks: 2,
            problems: 0,
            solved: 0,
            undecided: 0,
        };
        evaluation.baselines = Baseline::ALL.map(baseline).to_vec();
        let table = Scaling::new(&[&evaluation], &BTreeMap::new(), None).unwrap();
        assert_eq!(table.rows[0].cells[&AskedFor::NL2Domain].empty, 1);
        let markdown = table.markdown();
        for line in [
            "| skeleton (a copy of the template) | -         |       1 |            100.0 |     1 |",
            "| bon                               | NL2Domain |       2 |             50.0 |     1 |",
        ] {
            assert!(markdown.contains(line), "{line}\n{markdown}");
        }
    }

    #[test]
    fn tasks_that_did_not_end_are_in_no_figure() {
        let mut cells =
            vec![made("w", "single", 1, "annn"), made("x", "single", 1, "nn"), made("w", "bon", 1, "a")];
        let (own, others) = cells.split_at_mut(1);
        for task in own[0].tasks[2..].iter_mut().chain(others.iter_mut().flat_map(|cell| &mut cell.tasks)) {
            task.outcome = TaskOutcome::Unfinished;
            task.domain.val = Some(ProblemOutcome::Unfinished);
            task.domain.front_end = Some(ProblemOutcome::Unfinished);
        }
        let table = Scaling::new(&[&evaluation(cells)], &BTreeMap::new(), None).unwrap();
        let val = &table.rows[0].cells[&AskedFor::NL2Domain].rates[&Criterion::Val];
        // One of the two tasks that ended; of `x` none did.
        assert_eq!((val.percent, val.percent_if_open, val.domains, val.tasks), (50.0, 50.0, 1, 2));
        let text = table.text();
        assert!(text.contains("50.0 [5, 95] {4o}") && text.contains("not run"), "{text}");
    }

    #[test]
    fn unmeasured_criteria_and_open_tasks_are_named() {
        let text = table().text();
        for part in [
            "75.0? [30, 95] (+50.0) {2f}",
            "Not measured: % of domains whose walk score is 1",
            "f failed",
            "2.00",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // The base has no second column, so it has no average.
        let line = text.lines().find(|line| line.starts_with("single")).unwrap();
        assert!(
            line.trim_end().ends_with("-  -") || line.split_whitespace().filter(|w| *w == "-").count() == 2,
            "{line}"
        );
        assert_eq!(table().csv().lines().count(), 4);
    }

    #[test]
    fn an_unknown_base_and_two_pipelines_in_one_cell_are_errors() {
        let none = BTreeMap::new();
        let evaluation = four_domains();
        assert!(Scaling::new(&[&evaluation], &none, Some("bun")).unwrap_err().contains("bon"));
        let both = BTreeMap::from([("single".to_owned(), "bon".to_owned())]);
        assert!(Scaling::new(&[&evaluation], &both, None).unwrap_err().contains("both"));
    }
}
