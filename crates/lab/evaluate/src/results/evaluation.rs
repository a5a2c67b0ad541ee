//! All cells together: the best of the seeds, how many of them solved a suite, and averages over the suites.
//!
//! [`NullBaseline`]s are texts that contain nothing of a task, judged by a parser, and by planning for them. A method has to be better than
//! they are. [`TaskLine`] is the row of a task that another program reads instead of the tables.

use super::cell::{CellKey, CellResult, column_name};
use super::judges::Judges;
use super::plan_costs::add_plan_costs;
use super::task::{ProblemOutcome, TaskOutcome, TaskResult};
use crate::statistics::{Mean, mean};
use crate::table::{Align, Table};
use planforge_contract::Failure;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{
    TaskSources, check_domain, check_problem, domain_template, parse_domain, parse_problem, problem_template,
};
use planforge_pipeline::{Cost, ModelFallback, Suite, SuiteTask, TaskUsage};
use planforge_planning::walk::harmonic_mean;
use planforge_planning::{
    CountingLimits, GroundLimits, PlanFile, PlanOptions, SearchOutcome, ValidationDecision, Validator,
    normalize, parse_plan, plan,
};
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
        let count = |outcome| cells.iter().map(|cell| cell.count(outcome)).sum::<usize>();
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
            undecided: count(TaskOutcome::Undecided) + count(TaskOutcome::NotJudged),
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
    /// Its place on the ladder; absent for other tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<Rung>,
}

/// Place of a generated task on the ladder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rung {
    /// Axis of the text: the property that makes it hard to read.
    pub axis: String,
    /// Objects of the problem, without the domain's constants.
    pub size: usize,
    /// True if the text leaves out a fact on purpose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gap: bool,
}

impl TaskFacts {
    fn of(suite: &Suite, task: &SuiteTask) -> Self {
        let domain = task.reference_domain.as_ref().or(suite.reference_domain.as_ref());
        let constants = domain.map_or(0, |text| parse_domain(text, SourceId(0)).value.constants.len());
        let objects = |text: &String| parse_problem(text, SourceId(0)).value.objects.len();
        let objects = task.reference_problem.as_ref().map(objects);
        let rung = |axis: &String| Some(Rung { axis: axis.clone(), size: objects?, gap: task.gap.is_some() });
        Self {
            suite: suite.name.clone(),
            task: task.stem.clone(),
            level: suite.level,
            size: objects.map(|objects| objects + constants),
            rung: task.axis.as_ref().and_then(rung),
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

    /// Adds the facts about the evaluated tasks, the costs of valid plans where a task asks for the smallest one, and the null baselines of their
    /// suites.
    #[must_use]
    pub fn with_baselines(mut self, suites: &[Suite]) -> Self {
        for row in &self.rows {
            let Some(suite) = suites.iter().find(|suite| suite.name == row.suite) else { continue };
            add_plan_costs(suite, &mut self.cells);
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

/// Everything that is known of one task of one cell, in one flat line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskLine {
    /// Version of this document, 1.
    pub schema: u32,
    /// The suite's name.
    pub suite: String,
    /// The pipeline's name.
    pub pipeline: String,
    /// The name of the matrix's model; empty if pipelines use their own models.
    pub model: String,
    /// The run's seed.
    pub seed: u64,
    /// The task's stem.
    pub task: String,
    /// The outcome in the tables.
    pub outcome: TaskOutcome,
    /// The run's own verdict: `accepted`, `rejected`, `unsolvable`, `undecided`, `unusable` or `failed`; absent where there is none yet. A task can be
    /// rejected by a stage that asks for more than a valid plan and be solved.
    pub verdict: Option<String>,
    /// The stage that the verdict comes from; absent where every stage accepted.
    pub stage: Option<String>,
    /// Candidates that were left at the end, if there were several. The verdict is that of one of them, chosen without the reference.
    pub candidates: Option<usize>,
    /// Accepted ones of them; with at least one the task counts for pass@k.
    pub accepted_candidates: Option<usize>,
    /// The reason why it is not solved, for a person; empty where it is.
    pub why: String,
    /// Equality of the problem with the reference problem; absent if no stage compares.
    pub problem: Option<ProblemOutcome>,
    /// Validity of the problem as PDDL; absent if no stage checks it.
    pub valid_pddl: Option<ProblemOutcome>,
    /// Acceptance of the domain by VAL's Parser; absent if no stage uses it.
    pub val: Option<ProblemOutcome>,
    /// Acceptance of the domain by planforge's reader; absent if no stage checks it.
    pub front_end: Option<ProblemOutcome>,
    /// `Equivalent` for a walk score of 1; absent if no stage walks.
    pub walk_1: Option<ProblemOutcome>,
    /// Equality of the domain with the reference domain; absent if no stage compares domains.
    pub same_domain: Option<ProblemOutcome>,
    /// Share of the reference's walks that the written model executes.
    pub reference_to_candidate: Option<f64>,
    /// Share of the written model's walks that the reference executes.
    pub candidate_to_reference: Option<f64>,
    /// Harmonic mean of both directions, from 0 to 1.
    pub walk_score: Option<f64>,
    /// Questions to models that were answered.
    pub calls: u64,
    /// Replies that came.
    pub replies: u64,
    /// Tokens of the questions, where servers counted them.
    pub prompt_tokens: u64,
    /// Tokens of the answers, where servers counted them.
    pub completion_tokens: u64,
    /// Requests for which a server did not report all tokens; the sums are then too low.
    pub unmetered: u64,
    /// Replies that are word for word another reply to the same question.
    pub copies: u64,
    /// Questions that ended without an answer, after all attempts.
    pub failed_calls: u64,
    /// US dollars; absent where a part of it is unknown.
    pub cost_usd: Option<f64>,
    /// Seconds of its questions to models, one after another; absent where the journal was not read.
    pub seconds: Option<f64>,
    /// The cost of its valid plan, if the reference asks for the smallest one.
    pub plan_cost: Option<f64>,
    /// The least cost of a plan that planforge's planner found.
    pub best_plan_cost: Option<f64>,
    /// True if no plan costs less than `best_plan_cost`.
    pub best_is_proven: Option<bool>,
    /// The run folder, relative to the folder of the evaluation.
    pub run: String,
}

impl TaskLine {
    fn of(cell: &CellResult, task: &TaskResult) -> Self {
        let walk = task.reference_to_candidate.zip(task.candidate_to_reference);
        let usage = &task.usage;
        Self {
            schema: 1,
            suite: cell.key.suite.clone(),
            pipeline: cell.key.pipeline.clone(),
            model: cell.key.model.clone(),
            seed: cell.key.seed,
            task: task.task.clone(),
            outcome: task.outcome,
            verdict: task.verdict.clone(),
            stage: task.stage.clone(),
            candidates: task.accepted_candidates().map(|(all, _)| all),
            accepted_candidates: task.accepted_candidates().map(|(_, accepted)| accepted),
            why: task.why.clone(),
            problem: task.problem,
            valid_pddl: task.valid,
            val: task.domain.val,
            front_end: task.domain.front_end,
            walk_1: task.domain.walk,
            same_domain: task.domain.same,
            reference_to_candidate: task.reference_to_candidate,
            candidate_to_reference: task.candidate_to_reference,
            walk_score: walk.map(|(forth, back)| harmonic_mean(forth, back)),
            calls: usage.calls,
            replies: usage.replies,
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            unmetered: usage.unmetered,
            copies: usage.copies,
            failed_calls: usage.failed,
            cost_usd: task.cost_usd(),
            seconds: task.seconds,
            plan_cost: task.plan_cost.map(|own| own.cost),
            best_plan_cost: task.plan_cost.and_then(|own| own.best),
            best_is_proven: task.plan_cost.map(|own| own.proven),
            run: cell.key.folder().display().to_string(),
        }
    }
}

/// The lines of cells, in their order.
pub fn task_lines(cells: &[CellResult]) -> Vec<TaskLine> {
    cells.iter().flat_map(|cell| cell.tasks.iter().map(move |task| TaskLine::of(cell, task))).collect()
}

/// The lines as JSON, one object a line.
///
/// # Errors
/// `study.plot`: a line has no JSON form.
pub fn lines_jsonl(lines: &[TaskLine]) -> Result<String, Failure> {
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(line).map_err(|e| {
            let message = format!("a line of tasks.jsonl has no JSON form: {e}");
            Failure::new(planforge_contract::FailureClass::System, "study.plot", message)
        })?;
        text.push('\n');
    }
    Ok(text)
}

/// The lines as CSV. Texts that a spreadsheet would take for a formula have an apostrophe before them.
pub fn lines_csv(lines: &[TaskLine]) -> String {
    let columns = [
        "suite",
        "pipeline",
        "model",
        "seed",
        "task",
        "outcome",
        "verdict",
        "stage",
        "problem",
        "valid_pddl",
        "val",
        "front_end",
        "walk_1",
        "same_domain",
        "reference_to_candidate",
        "candidate_to_reference",
        "walk_score",
        "calls",
        "replies",
        "prompt_tokens",
        "completion_tokens",
        "unmetered",
        "copies",
        "failed_calls",
        "cost_usd",
        "seconds",
        "candidates",
        "accepted_candidates",
        "plan_cost",
        "best_plan_cost",
        "best_is_proven",
        "run",
        "why",
    ];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    let figure = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.4}"));
    for line in lines {
        let mut row =
            vec![line.suite.clone(), line.pipeline.clone(), line.model.clone(), line.seed.to_string()];
        row.extend([line.task.clone(), line.outcome.name().to_owned()]);
        row.extend([&line.verdict, &line.stage].map(|text| text.clone().unwrap_or_default()));
        row.push(line.problem.map_or(String::new(), |problem| problem.name().to_owned()));
        row.extend([line.valid_pddl, line.val, line.front_end, line.walk_1, line.same_domain].map(valid));
        row.extend([line.reference_to_candidate, line.candidate_to_reference, line.walk_score].map(figure));
        let counts = [line.calls, line.replies, line.prompt_tokens, line.completion_tokens, line.unmetered];
        row.extend(counts.into_iter().chain([line.copies, line.failed_calls]).map(|n| n.to_string()));
        row.push(usd(line.cost_usd));
        row.push(line.seconds.map_or(String::new(), |s| format!("{s:.3}")));
        let count = |number: Option<usize>| number.map_or(String::new(), |n| n.to_string());
        row.extend([line.candidates, line.accepted_candidates].map(count));
        row.extend(
            [line.plan_cost, line.best_plan_cost].map(|cost| cost.map_or(String::new(), |c| c.to_string())),
        );
        row.push(line.best_is_proven.map_or(String::new(), |proven| proven.to_string()));
        row.extend([line.run.clone(), line.why.lines().collect::<Vec<_>>().join(" ")]);
        table.row(row);
    }
    table.csv()
}

/// The same answers in the words of another question.
fn valid(outcome: Option<ProblemOutcome>) -> String {
    match outcome {
        None => String::new(),
        Some(ProblemOutcome::Equivalent) => "yes".to_owned(),
        Some(ProblemOutcome::Different) => "no".to_owned(),
        Some(other) => other.name().to_owned(),
    }
}

/// US dollars in CSV: nothing where they are unknown.
pub(crate) fn usd(usd: Option<f64>) -> String {
    usd.map_or(String::new(), |usd| format!("{usd:.6}"))
}

/// A text without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// A copy of the template that prompts show: the interface or the objects alone.
    Skeleton,
    /// A definition with a name and nothing else.
    Empty,
    /// A copy of the in-context example's problem, under the task's domain.
    Example,
}

impl Baseline {
    pub const ALL: [Self; 3] = [Self::Skeleton, Self::Empty, Self::Example];
    /// Those without any content, of which there are domains, too.
    pub const WITHOUT_CONTENT: [Self; 2] = [Self::Skeleton, Self::Empty];

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skeleton => "skeleton (a copy of the template)",
            Self::Empty => "empty definition",
            Self::Example => "copy of the example",
        }
    }
}

/// The answers of planforge's reader to a baseline of one suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NullBaseline {
    pub suite: String,
    pub baseline: Baseline,
    /// True if the reader finds no error in the domain; the copy of the example stands under the reference domain.
    pub domain: bool,
    /// Tasks with a reference problem.
    pub tasks: usize,
    /// Tasks for which the reader finds no error in the problem, with the reference domain.
    pub problems: usize,
    /// Tasks that a plan for the problem solves.
    #[serde(default)]
    pub solved: usize,
    /// Tasks for which a limit of search or validation was reached.
    #[serde(default)]
    pub undecided: usize,
}

/// Most search nodes, and ground actions and atoms, for the problem of a baseline.
const MAX_NODES: u64 = 10_000;
const MAX_GROUND: usize = 20_000;
/// Most bytes of a search or validation, and polls of a validation.
const LIMITS: CountingLimits = CountingLimits { polls: 10_000_000, bytes: 1 << 28 };

/// A plan for a problem; `Err` if that is not known, `Ok(None)` if there is none.
type Planned = Result<Option<PlanFile>, Undecided>;

#[derive(Debug, Clone, Copy)]
struct Undecided;

fn plan_for(domain: &Domain, problem: &Problem) -> Planned {
    let ground = GroundLimits { instances: MAX_GROUND, atoms: MAX_GROUND, ..GroundLimits::default() };
    let options = PlanOptions { max_nodes: MAX_NODES, ground, ..PlanOptions::default() };
    match plan(domain, problem, &options, &mut LIMITS.clone()).map(|result| result.outcome) {
        Ok(SearchOutcome::Plan(plan)) => Ok(Some(parse_plan(&plan.to_string(), SourceId(0)))),
        Ok(SearchOutcome::ProvenUnsolvable(_)) | Err(_) => Ok(None),
        Ok(SearchOutcome::Exhausted | SearchOutcome::LimitReached(_) | SearchOutcome::Unsupported(_)) => {
            Err(Undecided)
        }
    }
}

/// True if the plan is one of the reference problem.
fn is_valid(domain: &Domain, reference: &Problem, plan: &PlanFile) -> Result<bool, Undecided> {
    let Ok(task) = normalize(domain, reference) else { return Err(Undecided) };
    match Validator::new(task).validate(plan, &mut LIMITS.clone()).decision {
        ValidationDecision::Valid => Ok(true),
        ValidationDecision::Invalid => Ok(false),
        ValidationDecision::LimitReached(_) | ValidationDecision::Unsupported(_) => Err(Undecided),
    }
}

impl NullBaseline {
    /// Judges the baselines of a suite; none if it has no reference domain. `tasks` are the stems of the
    /// evaluated tasks.
    pub fn of(suite: &Suite, tasks: &[String]) -> Vec<Self> {
        let Some(reference) = suite.reference_domain.as_deref() else { return Vec::new() };
        let ids = TaskSources::default();
        let reference_text = reference;
        let reference = parse_domain(reference, ids.domain).value;
        let name = reference.name.as_ref().map_or("domain", |name| name.as_str());
        let no_errors = |found: &[Diagnostic]| !found.iter().any(Diagnostic::is_error);
        let reads_domain = |text: &str| {
            let parsed = parse_domain(text, SourceId(0));
            no_errors(&parsed.diagnostics) && no_errors(&check_domain(&parsed.value, SourceId(0)))
        };
        // The problem, if the reader finds no error in it.
        let read_problem = |text: &str| {
            let parsed = parse_problem(text, ids.problem);
            let reads =
                no_errors(&parsed.diagnostics) && no_errors(&check_problem(&reference, &parsed.value, ids));
            reads.then_some(parsed.value)
        };
        let own: Vec<(&SuiteTask, &str)> = suite
            .tasks
            .iter()
            .filter(|task| tasks.contains(&task.stem))
            .filter_map(|task| Some((task, task.reference_problem.as_deref()?)))
            .collect();
        let example = suite.example.as_ref().and_then(|example| example.problem.as_deref());
        let judge = |baseline: Baseline| {
            let domain = match (baseline, &suite.domain_template) {
                (Baseline::Empty, _) => format!("(define (domain {name}))"),
                (Baseline::Skeleton, Some(template)) => template.clone(),
                (Baseline::Skeleton, None) => domain_template(&reference),
                (Baseline::Example, _) => reference_text.to_owned(),
            };
            let mut counts = Self {
                suite: suite.name.clone(),
                baseline,
                domain: reads_domain(&domain),
                tasks: own.len(),
                problems: 0,
                solved: 0,
                undecided: 0,
            };
            // Tasks often share a text, and then a plan.
            let mut plans: BTreeMap<String, Option<Planned>> = BTreeMap::new();
            for (task, written) in &own {
                let reference_problem = parse_problem(written, ids.problem).value;
                let text = match (baseline, &task.objects_template) {
                    (Baseline::Empty, _) => format!("(define (problem none) (:domain {name}))"),
                    (Baseline::Skeleton, Some(template)) => template.clone(),
                    (Baseline::Skeleton, None) => problem_template(&reference_problem),
                    (Baseline::Example, _) => example?.to_owned(),
                };
                let planned = plans.entry(text).or_insert_with_key(|text| {
                    read_problem(text).map(|problem| plan_for(&reference, &problem))
                });
                let Some(planned) = planned else { continue };
                counts.problems += 1;
                let solved = match planned {
                    Ok(Some(plan)) => is_valid(&reference, &reference_problem, plan),
                    Ok(None) => Ok(false),
                    Err(undecided) => Err(*undecided),
                };
                match solved {
                    Ok(solved) => counts.solved += usize::from(solved),
                    Err(Undecided) => counts.undecided += 1,
                }
            }
            Some(counts)
        };
        Baseline::ALL.into_iter().filter_map(judge).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::bare;
    use crate::results::task::is_empty_domain;

    #[test]
    fn a_task_line_names_its_run_and_escapes_formulas() {
        let mut cell = bare("garden", "llm-p", 7, 2);
        cell.key.model = "small".to_owned();
        cell.tasks[0].outcome = TaskOutcome::NotSolved;
        cell.tasks[0].why = "=HYPERLINK(\"http://127.0.0.1\")\nand more, with a comma".to_owned();
        cell.tasks[0].verdict = Some("rejected".to_owned());
        cell.tasks[0].reference_to_candidate = Some(0.5);
        cell.tasks[0].candidate_to_reference = Some(1.0);
        let lines = task_lines(&[cell]);
        assert_eq!(lines[0].run, "cells/garden/llm-p@small/7");
        assert!((lines[0].walk_score.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        let csv = lines_csv(&lines);
        assert_eq!(csv.lines().count(), 3);
        assert!(csv.contains("\"'=HYPERLINK(\"\"http://127.0.0.1\"\") and more, with a comma\""), "{csv}");
        let text = lines_jsonl(&lines).unwrap();
        let back: Vec<TaskLine> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(back, lines, "JSON has every text as it is");
    }

    #[test]
    fn a_parser_accepts_a_copy_of_the_template_and_an_empty_definition() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/suites/garden");
        let suite = planforge_pipeline::load_leniently(folder.as_ref()).suite.unwrap();
        let found = NullBaseline::of(&suite, &["p01".to_owned(), "p02".to_owned()]);
        let [skeleton, empty, example] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((skeleton.baseline, skeleton.domain, skeleton.tasks), (Baseline::Skeleton, true, 2));
        assert_eq!((empty.baseline, empty.domain), (Baseline::Empty, true));
        assert_eq!((example.baseline, example.problems), (Baseline::Example, 2));
        assert!(
            is_empty_domain("(define (domain garden))")
                && is_empty_domain(suite.domain_template.as_ref().unwrap())
        );
        assert!(!is_empty_domain(suite.reference_domain.as_ref().unwrap()) && !is_empty_domain("Sorry."));
    }

    #[test]
    fn a_copy_of_the_example_solves_only_tasks_that_its_plan_solves() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/suites/garden");
        let mut suite = planforge_pipeline::load_leniently(folder.as_ref()).suite.unwrap();
        let tasks = ["p01".to_owned(), "p02".to_owned()];
        let counts = |suite: &Suite| {
            NullBaseline::of(suite, &tasks).iter().map(|own| (own.solved, own.undecided)).collect::<Vec<_>>()
        };
        assert_eq!(counts(&suite), [(0, 0); 3]);
        // An example that is the first task gives its solution away.
        suite.example.as_mut().unwrap().problem = suite.tasks[0].reference_problem.clone();
        assert_eq!(counts(&suite)[2], (1, 0));
        suite.example = None;
        assert_eq!(counts(&suite).len(), 2);
    }
}
