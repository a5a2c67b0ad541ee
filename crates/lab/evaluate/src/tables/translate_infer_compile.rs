//! The translate-infer-compile paper's Tables 1 and 2: how often the problem that was written is the reference problem, by domain and
//! by model and method, averaged over runs; and beside it what the paper leaves out: whether it is valid PDDL, and whether the task was
//! solved.

use crate::results::{
    Baseline, CellResult, Column, CountsAs, Evaluation, NullBaseline, OpenReason, ProblemOutcome, TaskResult,
    counts_as, counts_as_solved,
};
use crate::statistics::{mean, variance};
use crate::sums::Artefact;
use crate::table::{Align, Table};
use crate::tables::name_with_model;
use planforge_contract::Failure;
use serde::Serialize;

/// A share of tasks over several runs, in per cent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// The mean over the runs.
    pub mean: f64,
    /// The mean if every open task counted for it.
    pub mean_if_open: f64,
    /// The variance between the runs (with n - 1), in squared per cent; absent for one run.
    pub variance: Option<f64>,
    /// Open tasks over all runs, by what left them open.
    pub open: Vec<(OpenReason, usize)>,
}

/// One domain under one model and method.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AccuracyCell {
    /// Runs: one a seed.
    pub runs: usize,
    /// Tasks over all runs.
    pub tasks: usize,
    /// Problems that are the reference; absent where no stage compares.
    pub accuracy: Option<Share>,
    /// Problems that are valid PDDL; absent where no stage looks.
    pub valid: Option<Share>,
    /// Tasks that were solved.
    pub solved: Option<Share>,
    /// Tasks over all runs by what became of their problem.
    pub problems: Vec<(ProblemOutcome, usize)>,
}

/// A model and a method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccuracyColumn {
    /// The models that the pipeline asks.
    pub model: String,
    /// The pipeline's name.
    pub pipeline: String,
    /// True if a model is simulated.
    pub simulated: bool,
}

/// The whole table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Accuracy {
    /// Version of this document, 1.
    pub schema: u32,
    /// The domains.
    pub rows: Vec<String>,
    /// By model, and for each model by method.
    pub columns: Vec<AccuracyColumn>,
    /// By row and column; nothing where the pair was not evaluated.
    pub cells: Vec<Vec<Option<AccuracyCell>>>,
    /// Null baselines, by suite; empty if they were not computed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<NullBaseline>,
}

impl Accuracy {
    /// Puts evaluations together: the same methods with several models, for example. Rows, and the columns of a model, keep the order in
    /// which they come first.
    ///
    /// # Errors
    /// A domain that two of them evaluate under the same model and method, in words.
    pub fn new(evaluations: &[&Evaluation]) -> Result<Self, String> {
        let mut table = Self { schema: 1, ..Self::default() };
        let mut models: Vec<String> = Vec::new();
        for evaluation in evaluations {
            for baseline in &evaluation.baselines {
                if !table.baselines.contains(baseline) {
                    table.baselines.push(baseline.clone());
                }
            }
            for row in &evaluation.rows {
                if !table.rows.contains(&row.suite) {
                    table.rows.push(row.suite.clone());
                }
            }
            for column in evaluation.columns.iter().map(accuracy_column) {
                if !models.contains(&column.model) {
                    models.push(column.model.clone());
                }
                if !table.columns.contains(&column) {
                    table.columns.push(column);
                }
            }
        }
        // Stable, so that methods keep their order.
        table.columns.sort_by_key(|column| models.iter().position(|model| *model == column.model));
        table.cells = vec![vec![None; table.columns.len()]; table.rows.len()];
        for evaluation in evaluations {
            table.take(evaluation)?;
        }
        Ok(table)
    }

    fn take(&mut self, evaluation: &Evaluation) -> Result<(), String> {
        for own in &evaluation.columns {
            let column = accuracy_column(own);
            let Some(at) = self.columns.iter().position(|known| *known == column) else { continue };
            for (row, cells) in self.rows.iter().zip(&mut self.cells) {
                let here = |cell: &&CellResult| cell.key.suite == *row && own.holds(&cell.key);
                let runs: Vec<&CellResult> = evaluation.cells.iter().filter(here).collect();
                let Some(place) = cells.get_mut(at).filter(|_| !runs.is_empty()) else { continue };
                if place.is_some() {
                    return Err(format!(
                        "suite `{row}` is there twice under {} and {}",
                        column.model, column.pipeline
                    ));
                }
                *place = Some(AccuracyCell::of(&runs));
            }
        }
        Ok(())
    }

    /// True if any pipeline has a stage that compares problems with the reference.
    pub fn is_measured(&self) -> bool {
        self.cells.iter().flatten().flatten().any(|cell| cell.accuracy.is_some())
    }

    /// The files that hold it.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        Artefact::of_table("accuracy", [self.csv(), self.markdown(), self.text()], self)
    }

    /// The three tables for a terminal.
    pub fn text(&self) -> String {
        self.render_sections(|title, table| format!("{title}\n\n{}", table.text()))
    }

    /// The three tables as Markdown.
    pub fn markdown(&self) -> String {
        self.render_sections(|title, table| format!("{title}\n\n{}", table.markdown()))
    }

    fn render_sections(&self, one: impl Fn(&str, Table) -> String) -> String {
        let runs: Vec<usize> = self.cells.iter().flatten().flatten().map(|cell| cell.runs).collect();
        let over = match (runs.iter().min(), runs.iter().max()) {
            (Some(1), Some(1)) => "of one run".to_owned(),
            (Some(few), Some(many)) if few == many => {
                format!(
                    "averaged over {many} runs (in parentheses: variance between the runs, where there is any)"
                )
            }
            (Some(few), Some(many)) => format!(
                "averaged over {few} to {many} runs (in parentheses: variance between the runs, where there is any)"
            ),
            _ => "of no run".to_owned(),
        };
        let kinds: [(&str, Pick); 3] = [
            ("% of problems that are the reference problem up to the names of objects", |c| {
                c.accuracy.as_ref()
            }),
            ("% of problems that are valid PDDL", |c| c.valid.as_ref()),
            ("% of tasks solved", |c| c.solved.as_ref()),
        ];
        let mut parts: Vec<String> =
            kinds.iter().map(|(title, pick)| one(&format!("{title}, {over}"), self.table(*pick))).collect();
        let judges_pddl = self.cells.iter().flatten().flatten().any(|cell| cell.valid.is_some());
        if judges_pddl && !self.baselines.is_empty() {
            parts.push(one("% of problems that are valid PDDL, null baselines", self.baseline_table()));
        }
        let mut out = parts.join("\n");
        let cells = || self.cells.iter().flatten().flatten();
        let open = |cell: &AccuracyCell| {
            [&cell.accuracy, &cell.valid, &cell.solved].into_iter().flatten().any(|s| s.mean < s.mean_if_open)
        };
        if cells().any(open) {
            out += "\nu tasks undecided, c not comparable, f failed, o not finished; `?`: were they all counted for it, the figure would be \
                    another. A task whose replies held no problem counts against all three.\n";
        }
        if cells().any(|cell| cell.accuracy.is_none() || cell.valid.is_none()) {
            out += "\nnot measured: the pipeline has no stage that compares problems with the reference, or none that checks PDDL.\n";
        }
        out
    }

    fn table(&self, pick: Pick) -> Table {
        let header = |column: &AccuracyColumn| {
            let models = self.columns.iter().map(|column| column.model.as_str());
            let name = name_with_model(models, &column.model, &column.pipeline, column.simulated);
            (name, Align::Right)
        };
        let columns = self.columns.iter().map(header);
        let mut table = Table::new([("domain".to_owned(), Align::Left)].into_iter().chain(columns));
        for (row, cells) in self.rows.iter().zip(&self.cells) {
            let shown =
                cells.iter().map(|cell| cell.as_ref().map_or("-".to_owned(), |cell| figure(cell, pick)));
            table.row([row.clone()].into_iter().chain(shown));
        }
        if self.rows.len() > 1 {
            let averages = (0..self.columns.len()).map(|at| self.average(at, pick));
            table.row(["average".to_owned()].into_iter().chain(averages));
        }
        table
    }

    /// Problems without content that planforge's reader accepts.
    fn baseline_table(&self) -> Table {
        let names = Baseline::WITHOUT_CONTENT.map(|baseline| (baseline.name(), Align::Right));
        let mut table = Table::new([("domain", Align::Left)].into_iter().chain(names));
        for row in &self.rows {
            let shown = Baseline::WITHOUT_CONTENT.map(|baseline| {
                let own = self.baselines.iter().find(|own| own.suite == *row && own.baseline == baseline);
                own.filter(|own| own.tasks > 0)
                    .map_or("-".to_owned(), |own| percent(100.0 * own.problems as f64 / own.tasks as f64))
            });
            table.row([row.clone()].into_iter().chain(shown));
        }
        table
    }

    /// The mean over the domains of a column that have the figure; marked where that is not all of them.
    fn average(&self, at: usize, pick: Pick) -> String {
        let cells: Vec<Option<&Share>> =
            self.cells.iter().map(|row| row.get(at).and_then(Option::as_ref).and_then(pick)).collect();
        let shares: Vec<&Share> = cells.iter().flatten().copied().collect();
        let Some(average) = mean(&shares.iter().map(|s| s.mean).collect::<Vec<_>>()) else {
            return "-".to_owned();
        };
        let open = if shares.iter().any(|s| s.mean < s.mean_if_open) { "?" } else { "" };
        let of = if shares.len() < cells.len() { format!(" (of {})", shares.len()) } else { String::new() };
        format!("{}{open}{of}", percent(average.mean))
    }

    /// One line a domain, model and method.
    pub fn csv(&self) -> String {
        let words = ["suite", "model", "pipeline", "simulated", "runs", "tasks"];
        let figures = ["accuracy", "valid", "solved"]
            .iter()
            .flat_map(|name| ["", "_if_open", "_variance"].map(|ending| format!("{name}{ending}")));
        let outcomes = ProblemOutcome::ALL.iter().map(|outcome| outcome.name().replace(' ', "_"));
        let header = words.map(str::to_owned).into_iter().chain(figures).chain(outcomes);
        let mut table = Table::new(header.map(|name| (name, Align::Left)));
        let four = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.4}"));
        for (row, cells) in self.rows.iter().zip(&self.cells) {
            for (column, cell) in self.columns.iter().zip(cells) {
                let Some(cell) = cell else { continue };
                let mut line = vec![row.clone(), column.model.clone(), column.pipeline.clone()];
                line.extend([column.simulated.to_string(), cell.runs.to_string(), cell.tasks.to_string()]);
                for share in [&cell.accuracy, &cell.valid, &cell.solved].map(Option::as_ref) {
                    line.extend([share.map(|s| s.mean), share.map(|s| s.mean_if_open)].map(four));
                    line.push(four(share.and_then(|s| s.variance)));
                }
                line.extend(ProblemOutcome::ALL.map(|outcome| match cell.accuracy {
                    Some(_) => cell.count(outcome).to_string(),
                    None => String::new(),
                }));
                table.row(line);
            }
        }
        table.csv()
    }
}

type Pick = fn(&AccuracyCell) -> Option<&Share>;

fn accuracy_column(column: &Column) -> AccuracyColumn {
    AccuracyColumn {
        model: column.model_name(),
        pipeline: column.pipeline.clone(),
        simulated: column.judges.simulated,
    }
}

impl AccuracyCell {
    fn of(runs: &[&CellResult]) -> Self {
        let tasks = || runs.iter().flat_map(|run| &run.tasks);
        let measured = |there: bool| there && runs.iter().any(|run| !run.tasks.is_empty());
        let count = |outcome| tasks().filter(|task| task.problem == Some(outcome)).count();
        Self {
            runs: runs.len(),
            tasks: tasks().count(),
            accuracy: measured(tasks().all(|t| t.problem.is_some())).then(|| share(runs, right)),
            valid: measured(tasks().all(|t| t.valid.is_some())).then(|| share(runs, valid)),
            solved: measured(true).then(|| share(runs, counts_as_solved)),
            problems: ProblemOutcome::ALL.iter().map(|o| (*o, count(*o))).filter(|(_, n)| *n > 0).collect(),
        }
    }

    /// Tasks over all runs whose problem ended so.
    pub fn count(&self, outcome: ProblemOutcome) -> usize {
        self.problems.iter().find(|(known, _)| *known == outcome).map_or(0, |(_, n)| *n)
    }
}

fn right(task: &TaskResult) -> CountsAs {
    counts_as(task.problem)
}

fn valid(task: &TaskResult) -> CountsAs {
    counts_as(task.valid)
}

fn share(runs: &[&CellResult], count: fn(&TaskResult) -> CountsAs) -> Share {
    let of = |run: &&CellResult, counts: fn(CountsAs) -> bool| {
        let n = run.tasks.iter().filter(|task| counts(count(task))).count();
        100.0 * n as f64 / run.tasks.len().max(1) as f64
    };
    let low: Vec<f64> = runs.iter().map(|run| of(run, |counts| counts == CountsAs::For)).collect();
    let high: Vec<f64> = runs.iter().map(|run| of(run, |counts| counts != CountsAs::Against)).collect();
    let average = |values: &[f64]| mean(values).map_or(0.0, |m| m.mean);
    let tasks = || runs.iter().flat_map(|run| &run.tasks);
    let open = |why| tasks().filter(|task| count(task) == CountsAs::Open(why)).count();
    Share {
        mean: average(&low),
        mean_if_open: average(&high),
        variance: variance(&low),
        open: OpenReason::ALL.iter().map(|(why, ..)| (*why, open(*why))).filter(|(_, n)| *n > 0).collect(),
    }
}

/// `98.33 (2.78)`, followed by open tasks: `50? (1u 1f)`. Without a decision there is no figure.
fn figure(cell: &AccuracyCell, pick: Pick) -> String {
    let Some(share) = pick(cell) else { return "not measured".to_owned() };
    let count = |why: OpenReason| share.open.iter().find(|(known, _)| *known == why).map_or(0, |(_, n)| *n);
    if share.open.iter().map(|(_, n)| n).sum::<usize>() == cell.tasks {
        let all = OpenReason::ALL.iter().find(|(why, ..)| count(*why) == cell.tasks);
        return all.map_or("open", |(.., word)| word).to_owned();
    }
    let open: Vec<String> = OpenReason::ALL
        .iter()
        .filter(|(why, ..)| count(*why) > 0)
        .map(|(why, letter, _)| format!("{}{letter}", count(*why)))
        .collect();
    let mark = if share.mean < share.mean_if_open { "?" } else { "" };
    let variance =
        share.variance.filter(|v| *v > 0.0).map_or(String::new(), |v| format!(" ({})", percent(v)));
    let open = if open.is_empty() { String::new() } else { format!(" ({})", open.join(" ")) };
    format!("{}{mark}{variance}{open}", percent(share.mean))
}

/// At most two decimals, as the paper's tables have it.
fn percent(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Judges, TaskOutcome, bare};
    use std::collections::BTreeMap;

    /// Each letter is a task: e equivalent and solved, r the same under other names, s different but solved, d different, m no problem, u undecided, c not comparable,
    /// f failed, o not run.
    fn made(suite: &str, pipeline: &str, seed: u64, tasks: &str) -> CellResult {
        use ProblemOutcome::*;
        let mut cell = bare(suite, pipeline, seed, tasks.len());
        for (task, letter) in cell.tasks.iter_mut().zip(tasks.chars()) {
            let (problem, valid, outcome) = match letter {
                'e' => (Equivalent, Equivalent, TaskOutcome::Solved),
                's' => (Different, Equivalent, TaskOutcome::Solved),
                'r' => (Equivalent, Equivalent, TaskOutcome::NotSolved),
                'd' => (Different, Different, TaskOutcome::NotSolved),
                'm' => (Missing, Missing, TaskOutcome::Failed),
                'u' => (Undecided, Equivalent, TaskOutcome::Undecided),
                'c' => (NotComparable, Equivalent, TaskOutcome::Solved),
                'f' => (Failed, Failed, TaskOutcome::Failed),
                _ => (Unfinished, Unfinished, TaskOutcome::Unfinished),
            };
            (task.problem, task.valid, task.outcome) = (Some(problem), Some(valid), outcome);
            task.solved_renamed = letter == 'r';
        }
        cell
    }

    fn evaluation(model: &str, cells: Vec<CellResult>) -> Evaluation {
        let judges = Judges { models: vec![model.to_owned()], ..Judges::default() };
        let judges = ["llm-p", "tic-ic"].map(|name| (name.to_owned(), judges.clone()));
        Evaluation::new(vec![1, 2, 3], &BTreeMap::from(judges), cells)
    }

    fn one() -> Evaluation {
        let cells = vec![
            made("blocks", "llm-p", 1, "edmu"),
            made("blocks", "llm-p", 2, "esde"),
            made("blocks", "tic-ic", 1, "eeee"),
            made("blocks", "tic-ic", 2, "eeee"),
            made("barman", "llm-p", 1, "ffff"),
            made("barman", "llm-p", 2, "ffff"),
            made("barman", "tic-ic", 1, "eeed"),
            made("barman", "tic-ic", 2, "cofe"),
        ];
        evaluation("large", cells)
    }

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn the_table_has_the_papers_layout_and_shows_open_tasks() {
        let table = Accuracy::new(&[&one()]).unwrap();
        let found = lines(&table.text());
        assert!(
            found[0].starts_with("% of problems that are the reference problem")
                && found[0].contains("over 2 runs")
        );
        // 25 and 50 per cent: mean 37.5, variance 312.5; the undecided one would make it 50 and 50.
        let wanted = [
            "domain llm-p tic-ic",
            "blocks 37.5? (312.5) (1u) 100",
            "barman failed 50? (1250) (1c 1f 1o)",
            "average 18.75? 75?",
        ];
        for (line, wanted) in [2, 4, 5, 6].into_iter().zip(wanted) {
            assert_eq!(found[line], wanted, "{}", table.text());
        }
        let solved = found.iter().position(|l| l.starts_with("% of tasks solved")).unwrap();
        // One of four, for the missing problem is not solved and the undecided one open; three of four.
        assert_eq!(found[solved + 4], "blocks 50? (1250) (1u) 100", "{}", table.text());
        assert_eq!(
            found[solved + 5],
            "barman failed 62.5? (312.5) (1f 1o)",
            "each table counts what is open for itself"
        );
        assert!(found.iter().any(|line| line.starts_with("u tasks undecided")));
        assert!(table.is_measured() && !table.text().contains("not measured"));
        assert_eq!(table.csv().lines().count(), 5);
        assert!(
            table.csv().contains("blocks,large,llm-p,false,2,8,37.5000,50.0000,312.5000,"),
            "{}",
            table.csv()
        );
        assert!(table.markdown().contains("| blocks"), "{}", table.markdown());
    }

    #[test]
    fn several_models_have_separate_columns() {
        let small = evaluation("small", vec![made("blocks", "tic-ic", 1, "dddd")]);
        let table = Accuracy::new(&[&one(), &small]).unwrap();
        let found = lines(&table.text());
        assert_eq!(
            found[2],
            "domain large: llm-p large: tic-ic small: llm-p small: tic-ic".replace(" small: llm-p", "")
        );
        assert_eq!(found[4], "blocks 37.5? (312.5) (1u) 100 0");
        assert_eq!(found[5], "barman failed 50? (1250) (1c 1f 1o) -", "what was not evaluated is no failure");
        assert!(found[6].ends_with("0 (of 1)"), "{}", found[6]);
        assert!(found[0].contains("over 1 to 2 runs"));
        let twice = Accuracy::new(&[&small, &small]).unwrap_err();
        assert!(twice.contains("`blocks`") && twice.contains("small"), "{twice}");
    }

    #[test]
    fn a_plan_under_other_names_solves_the_task() {
        let table = Accuracy::new(&[&evaluation("m", vec![made("blocks", "tic-ic", 1, "rd")])]).unwrap();
        let found = lines(&table.text());
        assert_eq!((found[4].as_str(), found[16].as_str()), ("blocks 50", "blocks 50"));
    }

    #[test]
    fn unmeasured_criteria_have_no_figure() {
        let mut cell = made("blocks", "tic-ic", 1, "ed");
        cell.tasks.iter_mut().for_each(|task| (task.problem, task.valid) = (None, None));
        let table = Accuracy::new(&[&evaluation("m", vec![cell])]).unwrap();
        assert!(!table.is_measured());
        let found = lines(&table.text());
        assert_eq!(
            (found[4].as_str(), found[10].as_str(), found[16].as_str()),
            ("blocks not measured", "blocks not measured", "blocks 50")
        );
        assert!(found[0].ends_with("of one run"));
    }
}
