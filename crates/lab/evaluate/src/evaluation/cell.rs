//! One cell: what a run of a pipeline over a suite under one seed came to.

use super::classes::CellClasses;
use super::curves::TaskCurve;
use super::judges::Judges;
use super::replies::{PlanTries, Replies};
use super::summary::column_name;
use crate::history::History;
use planforge_contract::{Decision, Failure, FailureClass, Price, TaskVerdict};
use planforge_pipeline::{Cost, Moved, RunReport, RunState, TaskReport, TaskUsage};
use planforge_planning::walk::harmonic_mean;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellKey {
    /// The suite's name: the row.
    pub suite: String,
    /// The pipeline's name: the column, with `model` where that is told.
    pub pipeline: String,
    /// The name of the matrix's model; empty where the pipelines' own models are asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The run's seed.
    pub seed: u64,
}

impl CellKey {
    /// The column that it stands in: `PIPELINE`, or `PIPELINE@MODEL`.
    pub fn column(&self) -> String {
        column_name(&self.pipeline, &self.model)
    }

    /// Where its run folder lies in the folder of the evaluation: `cells/SUITE/PIPELINE[@MODEL]/SEED`.
    pub fn folder(&self) -> PathBuf {
        Path::new("cells").join(&self.suite).join(self.column()).join(self.seed.to_string())
    }
}

/// How a task ended, as far as it counts here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskOutcome {
    /// The plan was found valid (in the environment, where the pipeline asks it).
    Solved,
    /// There is a verdict, and it is negative.
    NotSolved,
    /// A limit, an unsupported construct or a missing input: nobody knows.
    Undecided,
    /// Something broke.
    Failed,
    /// The run has not come to it.
    Unfinished,
}

impl TaskOutcome {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::NotSolved => "not solved",
            Self::Undecided => "undecided",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

/// What became of a task's problem, as far as one question about it goes: is it the reference, is it valid PDDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemOutcome {
    /// Yes.
    Equivalent,
    /// No.
    Different,
    /// No reply held a problem. This is an answer, not a breakage: the same reply would come again.
    Missing,
    /// A limit, an unsupported construct: nobody knows.
    Undecided,
    /// The question makes no sense, because the candidate's domain says something else.
    NotComparable,
    /// Something broke.
    Failed,
    /// The run has not come to it.
    Unfinished,
}

impl ProblemOutcome {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Equivalent,
        Self::Different,
        Self::Missing,
        Self::Undecided,
        Self::NotComparable,
        Self::Failed,
        Self::Unfinished,
    ];

    /// The word used in tables of equivalence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equivalent => "equivalent",
            Self::Different => "different",
            Self::Missing => "no problem",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

/// What is known of the domain that was written for a task (test-time-scaling paper, Table 2). The words of [`ProblemOutcome`] are used for
/// each question: `Equivalent` is yes, `Different` is no, `Missing` is that no reply held anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainOutcome {
    /// Whether VAL's Parser accepts it, the paper's criterion; absent where no stage asks VAL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub val: Option<ProblemOutcome>,
    /// Whether planforge finds no error in it; absent where no stage looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_end: Option<ProblemOutcome>,
    /// Whether its walk score is 1; absent where no stage walks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<ProblemOutcome>,
    /// Whether it is the reference domain; absent where no stage compares domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same: Option<ProblemOutcome>,
}

impl DomainOutcome {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One task of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    /// The task's stem.
    pub task: String,
    /// How it ended.
    pub outcome: TaskOutcome,
    /// Why it is not solved, for a person; empty where it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The run's own verdict, in the word of reports; absent where there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The stage that the verdict comes from; absent where every stage accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// What it asked of models.
    #[serde(default)]
    pub usage: TaskUsage,
    /// Whether its problem is the reference problem; absent where no stage compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemOutcome>,
    /// Whether its problem is valid PDDL; absent where no stage looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid: Option<ProblemOutcome>,
    /// Whether its plan is a plan of the reference under other names: the problem is the reference under a renaming, and the plan is right
    /// for it. The environment knows the reference's names alone and may have refused it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub solved_renamed: bool,
    /// Share of the reference's walks that the written model executes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_to_candidate: Option<f64>,
    /// Share of the written model's walks that the reference executes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate_to_reference: Option<f64>,
    /// What is known of the domain that was written.
    #[serde(default, skip_serializing_if = "DomainOutcome::is_empty")]
    pub domain: DomainOutcome,
    /// The plans that were judged, where the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<PlanTries>,
    /// Success over samples and rounds, where the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<TaskCurve>,
    /// What it cost, as far as that is known; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Seconds of its questions to models, one after another, where the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl TaskResult {
    /// A task that no run has come to.
    pub fn unfinished(task: &str, judges: &Judges) -> Self {
        let unfinished = |label: &Option<String>| label.as_ref().map(|_| ProblemOutcome::Unfinished);
        Self {
            task: task.to_owned(),
            outcome: TaskOutcome::Unfinished,
            why: String::new(),
            verdict: None,
            stage: None,
            usage: TaskUsage::default(),
            problem: unfinished(&judges.equivalent),
            valid: unfinished(&judges.valid),
            solved_renamed: false,
            reference_to_candidate: None,
            candidate_to_reference: None,
            domain: DomainOutcome {
                val: unfinished(&judges.val),
                front_end: unfinished(&judges.reads),
                walk: unfinished(&judges.walk),
                same: unfinished(&judges.same_domain),
            },
            plans: None,
            curve: None,
            cost: Some(Cost::default()),
            seconds: None,
        }
    }

    /// US dollars for all that it asked of models; absent where a part of it is unknown.
    pub fn cost_usd(&self) -> Option<f64> {
        self.cost?.usd()
    }
}

/// The walk metric over the tasks of a cell: Eq. 2.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Walk {
    /// Harmonic mean of both directions, each averaged over the tasks first.
    pub score: f64,
    /// Mean of the direction over the tasks that have both.
    pub reference_to_candidate: f64,
    /// Mean of the direction over the tasks that have both.
    pub candidate_to_reference: f64,
    /// Tasks that have both directions. Where it is less than the number of tasks the score speaks for these alone.
    pub tasks: usize,
}

/// Whether there is a whole run behind a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellState {
    /// Every task has a verdict.
    Finished,
    /// The run was interrupted, waits for answers, or has not begun.
    Unfinished,
}

/// What a cell came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// Which cell.
    #[serde(flatten)]
    pub key: CellKey,
    /// Whether it is whole.
    pub state: CellState,
    /// The tasks, in order.
    pub tasks: Vec<TaskResult>,
    /// The walk metric; absent where the pipeline does not measure it, or no task has both directions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<Walk>,
    /// What it asked of models, over all of them.
    pub usage: TaskUsage,
    /// Questions that one `[llm.NAME]` table left to another one of the role.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<Moved>,
    /// What that cost, as far as it is known; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The prices that the pipeline file states, by `[llm.NAME]` table.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Price>,
    /// What the replies of the writers were like, where the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<Replies>,
    /// What its replies came to, where a stage classifies actions and the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<CellClasses>,
}

impl CellResult {
    /// Reads a run's report.
    pub fn of(key: CellKey, report: &RunReport, judges: &Judges) -> Self {
        let result = |task: &TaskReport| TaskResult {
            cost: Some(Cost::of(&task.usage, &report.prices)),
            ..task_result(task, judges)
        };
        let tasks: Vec<TaskResult> = report.tasks.iter().map(result).collect();
        let mut cost = Cost::default();
        tasks.iter().filter_map(|task| task.cost.as_ref()).for_each(|own| cost.add(own));
        let mut usage = TaskUsage::default();
        report.tasks.iter().flat_map(|task| task.usage.values()).for_each(|model| usage.add(model));
        let finished = report.state == RunState::Finished;
        let state = if finished { CellState::Finished } else { CellState::Unfinished };
        Self {
            key,
            state,
            walk: walk(&tasks),
            tasks,
            usage,
            moved: report.moved(),
            cost: Some(cost),
            prices: report.prices.clone(),
            replies: None,
            classes: None,
        }
    }

    /// Adds what only the run's journal tells: the replies, the plans that were tried, and success over samples and rounds.
    #[must_use]
    pub fn with_history(mut self, history: &History, judges: &Judges) -> Self {
        for result in &mut self.tasks {
            let name = format!("{}.{}", self.key.suite, result.task);
            let task = history.tasks.iter().find(|task| task.task == name);
            result.plans = task.and_then(|task| PlanTries::of(task, judges));
            result.curve = task.and_then(|task| TaskCurve::of(task, judges));
            result.seconds = Some(task.map_or(0.0, |task| task.model_seconds));
        }
        self.replies = Replies::of(history, judges);
        self
    }

    /// A cell that no run has been made for yet.
    pub fn unfinished(key: CellKey, tasks: &[String], judges: &Judges) -> Self {
        let result = |task: &String| TaskResult::unfinished(task, judges);
        Self {
            key,
            state: CellState::Unfinished,
            tasks: tasks.iter().map(result).collect(),
            walk: None,
            usage: TaskUsage::default(),
            moved: Vec::new(),
            cost: Some(Cost::default()),
            prices: BTreeMap::new(),
            replies: None,
            classes: None,
        }
    }

    /// Adds the tasks that the run was not asked for, as unfinished, so that none is dropped; `tasks` are those of the suite, in order.
    #[must_use]
    pub fn with_missing(mut self, tasks: &[String], judges: &Judges) -> Self {
        let missing: Vec<String> =
            tasks.iter().filter(|stem| !self.tasks.iter().any(|t| t.task == **stem)).cloned().collect();
        if missing.is_empty() {
            return self;
        }
        self.state = CellState::Unfinished;
        self.tasks.extend(Self::unfinished(self.key.clone(), &missing, judges).tasks);
        self.tasks.sort_by_key(|result| tasks.iter().position(|stem| *stem == result.task));
        self
    }

    /// How many tasks ended so.
    pub fn count(&self, outcome: TaskOutcome) -> usize {
        self.tasks.iter().filter(|task| task.outcome == outcome).count()
    }

    /// The share of tasks solved (Eq. 1): what is shown, and what it would be were every open task solved.
    pub fn solved(&self) -> (f64, f64) {
        let all = self.tasks.len().max(1) as f64;
        let solved = self.count(TaskOutcome::Solved);
        (solved as f64 / all, (self.tasks.len() - self.count(TaskOutcome::NotSolved)) as f64 / all)
    }
}

fn task_result(task: &TaskReport, judges: &Judges) -> TaskResult {
    let (outcome, why) = outcome(task, judges);
    let mut usage = TaskUsage::default();
    task.usage.values().for_each(|model| usage.add(model));
    let directions = walked(task, judges);
    TaskResult {
        task: task.stem.clone(),
        outcome,
        why,
        verdict: task.verdict.as_ref().map(|verdict| verdict.name().to_owned()),
        stage: task.verdict.as_ref().and_then(|verdict| stage_of(verdict).map(str::to_owned)),
        usage,
        problem: problem(task, judges.equivalent.as_ref()),
        valid: problem(task, judges.valid.as_ref()),
        solved_renamed: [&judges.equivalent, &judges.own_plan]
            .iter()
            .all(|label| problem(task, label.as_ref()) == Some(ProblemOutcome::Equivalent)),
        reference_to_candidate: directions.map(|d| d.0),
        candidate_to_reference: directions.map(|d| d.1),
        domain: domain(task, judges, directions),
        plans: None,
        curve: None,
        cost: None,
        seconds: None,
    }
}

fn stage_of(verdict: &TaskVerdict) -> Option<&str> {
    match verdict {
        TaskVerdict::Accepted => None,
        TaskVerdict::Rejected { stage, .. }
        | TaskVerdict::Unsolvable { stage, .. }
        | TaskVerdict::Undecided { stage, .. }
        | TaskVerdict::Failed { stage, .. } => Some(stage),
    }
}

/// What the stages said of the surviving candidate's domain.
fn domain(task: &TaskReport, judges: &Judges, directions: Option<(f64, f64)>) -> DomainOutcome {
    let yes = |is: bool| if is { ProblemOutcome::Equivalent } else { ProblemOutcome::Different };
    let said = |label: &Option<String>| {
        task.candidate.as_ref().and_then(|candidate| candidate.assessments.get(label.as_ref()?))
    };
    let known = |outcome: Option<ProblemOutcome>, by_metric: Option<bool>| {
        // A stage that judges otherwise (a threshold, VAL in the own reader's place) has the figure among its metrics.
        outcome.map(|outcome| by_metric.filter(|_| task.verdict.is_some()).map_or(outcome, yes))
    };
    let own = said(&judges.reads).and_then(|assessment| {
        let metric = |name: &str| assessment.metrics.get(name).copied();
        metric("front_end_accepts")
            .map(|accepts| accepts > 0.5)
            .or(metric("errors").map(|errors| errors < 0.5))
    });
    DomainOutcome {
        val: problem(task, judges.val.as_ref()),
        front_end: known(problem(task, judges.reads.as_ref()), own),
        walk: known(problem(task, judges.walk.as_ref()), directions.map(|d| harmonic_mean(d.0, d.1) >= 1.0)),
        same: problem(task, judges.same_domain.as_ref()),
    }
}

/// What the judging stage said of the surviving candidate; where it said nothing, what the task's verdict says.
fn outcome(task: &TaskReport, judges: &Judges) -> (TaskOutcome, String) {
    let assessments = task.candidate.as_ref().map(|candidate| &candidate.assessments);
    let judged = judges.solved_by.as_ref().and_then(|label| assessments?.get(label));
    let decision = judged.map(|assessment| &assessment.decision);
    match (decision, &task.verdict) {
        (_, None) => (TaskOutcome::Unfinished, String::new()),
        (Some(Decision::Accepted), _) => (TaskOutcome::Solved, String::new()),
        (Some(Decision::Rejected), _) => {
            (TaskOutcome::NotSolved, judged.map(|a| a.summary.clone()).unwrap_or_default())
        }
        // What was missing for the judgement (a plan, for example) is told by the verdict.
        (Some(Decision::Undecided { .. } | Decision::NotComparable { .. }) | None, Some(verdict)) => {
            of_verdict(verdict, judges)
        }
    }
}

fn of_verdict(verdict: &TaskVerdict, judges: &Judges) -> (TaskOutcome, String) {
    match verdict {
        // Every stage accepted; with a judging stage that says nothing this is no proof of a plan.
        TaskVerdict::Accepted if judges.solved_by.is_none() => (TaskOutcome::Solved, String::new()),
        TaskVerdict::Accepted => (TaskOutcome::Undecided, "no stage judged the plan".to_owned()),
        TaskVerdict::Rejected { stage, message } | TaskVerdict::Unsolvable { stage, message } => {
            (TaskOutcome::NotSolved, format!("{} at `{stage}`: {message}", verdict.name()))
        }
        TaskVerdict::Undecided { stage, message } => {
            (TaskOutcome::Undecided, format!("undecided at `{stage}`: {message}"))
        }
        TaskVerdict::Failed { stage, failure } => {
            (TaskOutcome::Failed, format!("failed at `{stage}`: {failure}"))
        }
    }
}

/// What a stage said of the surviving candidate's problem; nothing without such a stage.
fn problem(task: &TaskReport, label: Option<&String>) -> Option<ProblemOutcome> {
    let label = label?;
    let Some(verdict) = &task.verdict else { return Some(ProblemOutcome::Unfinished) };
    let unusable = |failure: &Failure| failure.class == FailureClass::Reply;
    let assessment = task.candidate.as_ref().and_then(|candidate| candidate.assessments.get(label));
    Some(match (assessment.map(|assessment| &assessment.decision), verdict) {
        (Some(Decision::Accepted), _) => ProblemOutcome::Equivalent,
        (Some(Decision::Rejected), _) => ProblemOutcome::Different,
        (Some(Decision::NotComparable { .. }), _) => ProblemOutcome::NotComparable,
        (Some(Decision::Undecided { .. }), _) => ProblemOutcome::Undecided,
        // No sample of the task could be used, and the model's words are why.
        (None, TaskVerdict::Failed { failure, .. }) if task.candidate.is_none() && unusable(failure) => {
            ProblemOutcome::Missing
        }
        (None, TaskVerdict::Failed { .. }) => ProblemOutcome::Failed,
        // A measurement that broke decides nothing, and the task goes on.
        (None, _) if task.stages.iter().any(|stage| stage.label == *label && !stage.failed.is_empty()) => {
            ProblemOutcome::Failed
        }
        (None, _) => ProblemOutcome::Undecided,
    })
}

/// Both directions of the walk metric for the surviving candidate.
fn walked(task: &TaskReport, judges: &Judges) -> Option<(f64, f64)> {
    let assessments = &task.candidate.as_ref()?.assessments;
    let metrics = &assessments.get(judges.walk.as_ref()?)?.metrics;
    Some((*metrics.get("reference_to_candidate")?, *metrics.get("candidate_to_reference")?))
}

/// Eq. 2 over the tasks that have both directions.
fn walk(tasks: &[TaskResult]) -> Option<Walk> {
    let both: Vec<(f64, f64)> =
        tasks.iter().filter_map(|t| Some((t.reference_to_candidate?, t.candidate_to_reference?))).collect();
    if both.is_empty() {
        return None;
    }
    let n = both.len() as f64;
    let forth = both.iter().map(|d| d.0).sum::<f64>() / n;
    let back = both.iter().map(|d| d.1).sum::<f64>() / n;
    Some(Walk {
        score: harmonic_mean(forth, back),
        reference_to_candidate: forth,
        candidate_to_reference: back,
        tasks: both.len(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use planforge_contract::{Assessment, Candidate, Failure, FailureClass, UndecidedReason};

    /// A cell of tasks of which nothing is known but that they were not solved.
    pub(in crate::evaluation) fn bare(suite: &str, pipeline: &str, seed: u64, tasks: usize) -> CellResult {
        let key =
            CellKey { suite: suite.to_owned(), pipeline: pipeline.to_owned(), model: String::new(), seed };
        let stems: Vec<String> = (1..=tasks).map(|number| format!("p{number:02}")).collect();
        let mut cell = CellResult::unfinished(key, &stems, &Judges::default());
        cell.state = CellState::Finished;
        cell.tasks.iter_mut().for_each(|task| task.outcome = TaskOutcome::NotSolved);
        cell
    }

    #[test]
    fn what_a_model_left_to_another_is_summed_over_tasks_and_cells() {
        let moved = |to: &str, questions: u64| Moved {
            llm: "main".to_owned(),
            to: to.to_owned(),
            code: "llm.timeout".to_owned(),
            questions,
        };
        let mut tasks = [task("p01", None, None), task("p02", None, None)];
        tasks[0].moved = vec![moved("spare", 2), moved("backup", 1)];
        tasks[1].moved = vec![moved("backup", 4)];
        let report = report(tasks.to_vec());
        let cell = CellResult::of(bare("s", "p", 1, 0).key, &report, &judges());
        assert_eq!(cell.moved, [moved("backup", 5), moved("spare", 2)]);
        let evaluation = crate::evaluation::summary::Evaluation::new(
            vec![1],
            &BTreeMap::new(),
            vec![cell.clone(), bare("s", "q", 1, 1), cell],
        );
        assert_eq!(evaluation.moved(), [moved("backup", 10), moved("spare", 4)]);
    }

    fn judges() -> Judges {
        Judges { solved_by: Some("environment".to_owned()), walk: Some("ew".to_owned()), ..Judges::default() }
    }

    fn task(stem: &str, verdict: Option<TaskVerdict>, environment: Option<Decision>) -> TaskReport {
        let mut candidate = Candidate::default();
        if let Some(decision) = environment {
            candidate.assessments.insert("environment".to_owned(), Assessment::new(decision, "step 3 fails"));
        }
        TaskReport {
            task: format!("s.{stem}"),
            suite: "s".to_owned(),
            stem: stem.to_owned(),
            verdict,
            candidate: Some(candidate),
            usage: BTreeMap::from([(
                "main".to_owned(),
                TaskUsage {
                    calls: 2,
                    replies: 6,
                    prompt_tokens: 10,
                    completion_tokens: 5,
                    unmetered: 1,
                    ..TaskUsage::default()
                },
            )]),
            ..TaskReport::default()
        }
    }

    fn with_walk(mut task: TaskReport, forth: f64, back: Option<f64>) -> TaskReport {
        let mut assessment = Assessment::new(Decision::Rejected, "");
        assessment.metrics.insert("reference_to_candidate".to_owned(), forth);
        if let Some(back) = back {
            assessment.metrics.insert("candidate_to_reference".to_owned(), back);
        }
        task.candidate.get_or_insert_default().assessments.insert("ew".to_owned(), assessment);
        task
    }

    fn key() -> CellKey {
        CellKey { suite: "s".to_owned(), pipeline: "p".to_owned(), model: String::new(), seed: 42 }
    }

    fn report(tasks: Vec<TaskReport>) -> RunReport {
        let whole = tasks.iter().all(|t| t.verdict.is_some());
        let state = if whole { RunState::Finished } else { RunState::Interrupted };
        RunReport { schema: 1, state, tasks, prices: BTreeMap::new() }
    }

    fn rejected(stage: &str) -> Option<TaskVerdict> {
        Some(TaskVerdict::Rejected { stage: stage.to_owned(), message: "no".to_owned() })
    }

    fn undecided() -> Decision {
        Decision::Undecided { reason: UndecidedReason::MissingInput, message: "no plan".to_owned() }
    }

    #[test]
    fn the_judging_stage_decides_and_nothing_reads_as_something_else() {
        let failure = Failure::new(FailureClass::Provider, "provider.http", "500");
        let broke = Some(TaskVerdict::Failed { stage: "problem".to_owned(), failure });
        let limit = TaskVerdict::Undecided { stage: "plan".to_owned(), message: "time".to_owned() };
        let unsolvable = TaskVerdict::Unsolvable { stage: "plan".to_owned(), message: "no plan".to_owned() };
        let cell = CellResult::of(
            key(),
            &report(vec![
                task("p01", Some(TaskVerdict::Accepted), Some(Decision::Accepted)),
                // The walk score is below 1, the plan is right all the same.
                task("p02", rejected("ew"), Some(Decision::Accepted)),
                task("p03", rejected("environment"), Some(Decision::Rejected)),
                task("p04", Some(unsolvable), Some(undecided())),
                task("p05", Some(limit), Some(undecided())),
                task("p06", broke, None),
                task("p07", Some(TaskVerdict::Accepted), None),
                task("p08", None, Some(Decision::Accepted)),
            ]),
            &judges(),
        );
        use TaskOutcome::{Failed, NotSolved, Solved, Undecided, Unfinished};
        let found: Vec<TaskOutcome> = cell.tasks.iter().map(|t| t.outcome).collect();
        assert_eq!(
            found,
            [Solved, Solved, NotSolved, NotSolved, Undecided, Failed, Undecided, Unfinished],
            "{:?}",
            cell.tasks
        );
        assert_eq!(cell.state, CellState::Unfinished);
        assert_eq!(cell.solved(), (0.25, 0.75));
        assert_eq!((cell.usage.calls, cell.usage.replies, cell.usage.unmetered), (16, 48, 8));
        assert!(cell.tasks[2].why.contains("step 3") && cell.tasks[5].why.contains("500"));
    }

    #[test]
    fn a_problem_is_judged_by_its_own_stage() {
        let judges =
            Judges { equivalent: Some("same".to_owned()), valid: Some("pddl".to_owned()), ..judges() };
        let with = |stem: &str, verdict, same: Option<Decision>| {
            let mut task = task(stem, verdict, None);
            if let Some(decision) = same {
                let candidate = task.candidate.get_or_insert_default();
                candidate.assessments.insert("same".to_owned(), Assessment::new(decision, ""));
                candidate.assessments.insert("pddl".to_owned(), Assessment::new(Decision::Accepted, ""));
            }
            task
        };
        let broke = |class| {
            let failure = Failure::new(class, "x", "");
            let verdict = Some(TaskVerdict::Failed { stage: "problem".to_owned(), failure });
            TaskReport { candidate: None, ..with("p", verdict, None) }
        };
        let not_comparable = Decision::NotComparable { message: String::new() };
        let cell = CellResult::of(
            key(),
            &report(vec![
                with("p01", rejected("plan"), Some(Decision::Accepted)),
                with("p02", Some(TaskVerdict::Accepted), Some(Decision::Rejected)),
                with("p03", Some(TaskVerdict::Accepted), Some(undecided())),
                with("p04", Some(TaskVerdict::Accepted), Some(not_comparable)),
                broke(FailureClass::Reply),
                broke(FailureClass::Provider),
                with("p07", rejected("plan"), None),
                with("p08", None, Some(Decision::Accepted)),
            ]),
            &judges,
        );
        use ProblemOutcome::*;
        let found: Vec<ProblemOutcome> = cell.tasks.iter().filter_map(|t| t.problem).collect();
        assert_eq!(
            found,
            [Equivalent, Different, Undecided, NotComparable, Missing, Failed, Undecided, Unfinished]
        );
        assert_eq!(cell.tasks[1].valid, Some(Equivalent), "each stage speaks for itself");
        assert_eq!(cell.tasks[4].outcome, TaskOutcome::Failed);
    }

    #[test]
    fn a_right_plan_for_the_reference_under_other_names_is_known_as_one() {
        let judges =
            Judges { equivalent: Some("same".to_owned()), own_plan: Some("own".to_owned()), ..judges() };
        let with = |same: Decision, own: Decision| {
            let mut task = task("p01", rejected("environment"), Some(Decision::Rejected));
            let candidate = task.candidate.get_or_insert_default();
            for (label, decision) in [("same", same), ("own", own)] {
                candidate.assessments.insert(label.to_owned(), Assessment::new(decision, ""));
            }
            CellResult::of(key(), &report(vec![task]), &judges).tasks.remove(0)
        };
        let renamed = with(Decision::Accepted, Decision::Accepted);
        assert!(renamed.solved_renamed && renamed.outcome == TaskOutcome::NotSolved);
        assert!(!with(Decision::Rejected, Decision::Accepted).solved_renamed);
        assert!(!with(Decision::Accepted, Decision::Rejected).solved_renamed);
    }

    #[test]
    fn directions_are_averaged_over_the_tasks_first() {
        let accepted = |stem| task(stem, Some(TaskVerdict::Accepted), Some(Decision::Accepted));
        let cell = CellResult::of(
            key(),
            &report(vec![
                with_walk(accepted("p01"), 1.0, Some(0.0)),
                with_walk(accepted("p02"), 0.0, Some(1.0)),
                with_walk(accepted("p03"), 0.7, None),
                accepted("p04"),
            ]),
            &judges(),
        );
        let walk = cell.walk.unwrap();
        assert_eq!((walk.score, walk.tasks), (0.5, 2), "the harmonic mean comes last");
        let none = Judges { walk: None, ..judges() };
        let report = report(vec![with_walk(accepted("p01"), 1.0, Some(1.0))]);
        assert_eq!(CellResult::of(key(), &report, &none).walk, None);
    }
}
