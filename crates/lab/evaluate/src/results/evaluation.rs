//! All cells together: the best of the seeds, how many of them solved a suite, and averages over the suites.

use super::baseline::NullBaseline;
use super::cell::CellResult;
use super::judges::Judges;
use super::key::{CellKey, column_name};
use super::outcome::TaskOutcome;
use crate::statistics::{Mean, mean};
use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, parse_problem};
use planforge_pipeline::{Cost, ModelFallback, Suite, SuiteTask, TaskUsage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A suite counts as solved above this share of its tasks (paper, Section 5).
const SOLVED_ABOVE: f64 = 0.5;

/// The result of a seed or a suite: solved, not solved or open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuiteStatus {
    /// More than half of the tasks are.
    Solved,
    /// Not even if every open task were solved.
    NotSolved,
    /// It depends on tasks that were not decided, broke or were not run.
    Open,
}

impl SuiteStatus {
    fn of((low, high): (f64, f64)) -> Self {
        match (low > SOLVED_ABOVE, high > SOLVED_ABOVE) {
            (true, _) => Self::Solved,
            (false, true) => Self::Open,
            (false, false) => Self::NotSolved,
        }
    }
}

/// One suite under one pipeline, over the seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Best@k of the share of tasks solved: the highest over the seeds.
    pub best_solved: f64,
    /// The highest that it would be were every open task solved.
    pub best_solved_open: f64,
    /// Best@k of the walk score; absent where no seed has one.
    pub best_walk: Option<f64>,
    /// True if the best walk score speaks for all tasks of its seed.
    pub walk_complete: bool,
    /// Mean share of tasks solved over the seeds.
    pub mean_solved: Option<Mean>,
    /// Mean walk score over the seeds that have one.
    pub mean_walk: Option<Mean>,
    pub seeds: usize,
    /// Seeds that count as solved.
    pub seeds_solved: usize,
    /// Seeds with an open result.
    pub seeds_open: usize,
    /// The result of the suite by its best seed.
    pub standing: SuiteStatus,
    /// Tasks over all seeds that were not decided.
    pub undecided: usize,
    /// Tasks over all seeds that broke.
    pub failed: usize,
    /// Tasks over all seeds that were not run to an end.
    pub unfinished: usize,
    /// Tasks over all seeds.
    pub tasks: usize,
    /// Use of models over all seeds.
    pub usage: TaskUsage,
    /// The known cost; absent if a cell has none computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The paper's bound on the replies of all seeds, `n_p n_d c_max + N` each; absent where the pipeline refines nothing.
    pub reply_bound: Option<u64>,
}

impl Summary {
    /// Tasks over all seeds that are neither solved nor not solved.
    pub fn open(&self) -> usize {
        self.undecided + self.failed + self.unfinished
    }

    fn of(cells: &[&CellResult], judges: &Judges) -> Self {
        let shares: Vec<(f64, f64)> = cells.iter().map(|cell| cell.solved()).collect();
        let highest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let walks = || cells.iter().filter_map(|cell| cell.walk.map(|walk| (walk, cell.tasks.len())));
        let best = walks().max_by(|a, b| a.0.score.total_cmp(&b.0.score));
        let count = |outcome| cells.iter().map(|cell| cell.count(outcome)).sum();
        let best_solved = highest(&mut shares.iter().map(|s| s.0));
        let best_solved_open = highest(&mut shares.iter().map(|s| s.1));
        let standings = || shares.iter().map(|share| SuiteStatus::of(*share));
        let mut usage = TaskUsage::default();
        cells.iter().for_each(|cell| usage.add(&cell.usage));
        let cost = cells.iter().try_fold(Cost::default(), |mut sum, cell| {
            sum.add(&cell.cost?);
            Some(sum)
        });
        Self {
            best_solved,
            best_solved_open,
            best_walk: best.map(|(walk, _)| walk.score),
            walk_complete: best.is_none_or(|(walk, tasks)| walk.tasks == tasks),
            mean_solved: mean(&shares.iter().map(|s| s.0).collect::<Vec<_>>()),
            mean_walk: mean(&walks().map(|(walk, _)| walk.score).collect::<Vec<_>>()),
            seeds: cells.len(),
            seeds_solved: standings().filter(|s| *s == SuiteStatus::Solved).count(),
            seeds_open: standings().filter(|s| *s == SuiteStatus::Open).count(),
            standing: SuiteStatus::of((best_solved, best_solved_open)),
            undecided: count(TaskOutcome::Undecided),
            failed: count(TaskOutcome::Failed),
            unfinished: count(TaskOutcome::Unfinished),
            tasks: cells.iter().map(|cell| cell.tasks.len()).sum(),
            usage,
            cost,
            reply_bound: judges
                .bound
                .map(|bound| cells.iter().map(|cell| bound.replies(cell.tasks.len())).sum()),
        }
    }
}

/// A pipeline of an evaluation, with one of the matrix's models where it has any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The pipeline's name.
    pub pipeline: String,
    /// The name of the matrix's model; empty if pipelines use their own models.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The stages that decide.
    pub judges: Judges,
    /// Mean of the suites' best shares of tasks solved.
    pub average_solved: Option<Mean>,
    /// The average if every open task were solved.
    pub average_solved_open: Option<Mean>,
    /// Mean of the suites' best walk scores, over the suites that have one.
    pub average_walk: Option<Mean>,
    /// Suites that count as solved.
    pub suites_solved: usize,
    /// Suites with an open result.
    pub suites_open: usize,
}

impl Column {
    /// The name of the column: `PIPELINE`, or `PIPELINE@MODEL`.
    pub fn name(&self) -> String {
        column_name(&self.pipeline, &self.model)
    }

    /// The model for tables with separate pipelines and models: the matrix's name for it, or the names of the
    /// models.
    pub fn model_name(&self) -> String {
        if self.model.is_empty() { self.judges.models.join(" + ") } else { self.model.clone() }
    }

    /// Fills in the figures over all suites.
    fn average(&mut self, summaries: &[&Summary]) {
        let standing = |wanted| summaries.iter().filter(|s| s.standing == wanted).count();
        self.average_solved = mean(&summaries.iter().map(|s| s.best_solved).collect::<Vec<_>>());
        self.average_solved_open = mean(&summaries.iter().map(|s| s.best_solved_open).collect::<Vec<_>>());
        self.average_walk = mean(&summaries.iter().filter_map(|s| s.best_walk).collect::<Vec<_>>());
        self.suites_solved = standing(SuiteStatus::Solved);
        self.suites_open = standing(SuiteStatus::Open);
    }

    /// True if a cell stands in this column.
    pub fn holds(&self, key: &CellKey) -> bool {
        (&self.pipeline, &self.model) == (&key.pipeline, &key.model)
    }
}

/// A suite of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub suite: String,
    /// By column, in the columns' order.
    pub summaries: Vec<Summary>,
}

/// Difficulty of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFacts {
    pub suite: String,
    /// Its stem.
    pub task: String,
    /// Level of its text: 1 if it states the facts, 2 to 4 if it implies them.
    pub level: u8,
    /// Objects of the reference problem, with the domain's constants; absent without a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
}

impl TaskFacts {
    fn of(suite: &Suite, task: &SuiteTask) -> Self {
        let domain = task.reference_domain.as_ref().or(suite.reference_domain.as_ref());
        let constants = domain.map_or(0, |text| parse_domain(text, SourceId(0)).value.constants.len());
        let objects = |text: &String| parse_problem(text, SourceId(0)).value.objects.len() + constants;
        Self {
            suite: suite.name.clone(),
            task: task.stem.clone(),
            level: suite.level,
            size: task.reference_problem.as_ref().map(objects),
        }
    }
}

/// A whole evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Version of this document, 1.
    pub schema: u32,
    /// The seeds; k of them give Best@k.
    pub seeds: Vec<u64>,
    /// The pipelines, each with each of the matrix's models.
    pub columns: Vec<Column>,
    /// The suites.
    pub rows: Vec<Row>,
    /// Every cell.
    pub cells: Vec<CellResult>,
    /// Level and size of each evaluated task; empty if they were not computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskFacts>,
    /// Null baselines of the suites; empty if they were not computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<NullBaseline>,
}

impl Evaluation {
    /// Questions that one `[llm.NAME]` table left to another one of its role, over all cells.
    pub fn fallbacks(&self) -> Vec<ModelFallback> {
        ModelFallback::sum_by_tables(self.cells.iter().flat_map(|cell| &cell.moved))
    }

    /// Puts cells together. Suites and columns keep the order in which they come first; `judges` has those of each column under its
    /// name.
    pub fn new(seeds: Vec<u64>, judges: &BTreeMap<String, Judges>, cells: Vec<CellResult>) -> Self {
        let (mut suites, mut names): (Vec<String>, Vec<(String, String)>) = (Vec::new(), Vec::new());
        for CellKey { suite, pipeline, model, .. } in cells.iter().map(|cell| &cell.key) {
            if !suites.contains(suite) {
                suites.push(suite.clone());
            }
            if !names.iter().any(|known| (&known.0, &known.1) == (pipeline, model)) {
                names.push((pipeline.clone(), model.clone()));
            }
        }
        let mut columns: Vec<Column> = names
            .into_iter()
            .map(|(pipeline, model)| {
                let judges = judges.get(&column_name(&pipeline, &model)).cloned().unwrap_or_default();
                column(pipeline, model, judges)
            })
            .collect();
        let rows: Vec<Row> = suites
            .into_iter()
            .map(|suite| {
                let summary = |column: &Column| {
                    let own = |c: &&CellResult| c.key.suite == suite && column.holds(&c.key);
                    let own: Vec<&CellResult> = cells.iter().filter(own).collect();
                    Summary::of(&own, &column.judges)
                };
                Row { summaries: columns.iter().map(summary).collect(), suite }
            })
            .collect();
        for (index, column) in columns.iter_mut().enumerate() {
            let summaries: Vec<&Summary> = rows.iter().filter_map(|row| row.summaries.get(index)).collect();
            column.average(&summaries);
        }
        Self { schema: 1, seeds, columns, rows, cells, tasks: Vec::new(), baselines: Vec::new() }
    }

    /// Adds the facts about the evaluated tasks and the null baselines of their suites.
    #[must_use]
    pub fn with_baselines(mut self, suites: &[Suite]) -> Self {
        for row in &self.rows {
            let Some(suite) = suites.iter().find(|suite| suite.name == row.suite) else { continue };
            let cells = self.cells.iter().filter(|cell| cell.key.suite == row.suite);
            let mut tasks: Vec<String> =
                cells.flat_map(|cell| &cell.tasks).map(|task| task.task.clone()).collect();
            tasks.sort();
            tasks.dedup();
            let evaluated = suite.tasks.iter().filter(|task| tasks.contains(&task.stem));
            self.tasks.extend(evaluated.map(|task| TaskFacts::of(suite, task)));
            self.baselines.extend(NullBaseline::of(suite, &tasks));
        }
        self
    }
}

fn column(pipeline: String, model: String, judges: Judges) -> Column {
    Column {
        pipeline,
        model,
        judges,
        average_solved: None,
        average_solved_open: None,
        average_walk: None,
        suites_solved: 0,
        suites_open: 0,
    }
}
