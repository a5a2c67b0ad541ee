//! The result of one cell, a run of a pipeline over a suite under one seed, and its place in an evaluation.

use super::classes::CellClasses;
use super::judges::Judges;
use super::task::{PlanTries, Replies, TaskCurve, TaskOutcome, TaskResult, task_result};
use crate::history::History;
use planforge_contract::Price;
use planforge_pipeline::{Cost, ModelFallback, RunReport, RunState, TaskReport, TaskUsage};
use planforge_planning::walk::harmonic_mean;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The walk metric over the tasks of a cell: Eq. 2.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct WalkFigures {
    /// Harmonic mean of both directions, each averaged over the tasks first.
    pub score: f64,
    /// Mean of the direction over the tasks that have both.
    pub reference_to_candidate: f64,
    /// Mean of the direction over the tasks that have both.
    pub candidate_to_reference: f64,
    /// Tasks that have both directions. The score covers these alone.
    pub tasks: usize,
}

/// Completeness of a cell's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellState {
    /// Every task has a verdict.
    Finished,
    /// The run was interrupted, waits for answers, or has not started.
    Unfinished,
}

/// The result of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    #[serde(flatten)]
    pub key: CellKey,
    /// Completeness of the run.
    pub state: CellState,
    /// The tasks, in order.
    pub tasks: Vec<TaskResult>,
    /// The walk metric; absent where the pipeline does not measure it, or no task has both directions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<WalkFigures>,
    /// Use of models over all tasks.
    pub usage: TaskUsage,
    /// Questions that one `[llm.NAME]` table left to another one of the role.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<ModelFallback>,
    /// The known cost; absent if it was not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The prices that the pipeline file states, by `[llm.NAME]` table.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Price>,
    /// Counts of the writers' replies, if the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<Replies>,
    /// Counts of result classes, if a stage classifies actions and the run's journal was read.
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
            moved: report.fallbacks(),
            cost: Some(cost),
            prices: report.prices.clone(),
            replies: None,
            classes: None,
        }
    }

    /// Adds the data of the run's journal: replies, plans that were tried, and success over samples and
    /// rounds.
    #[must_use]
    pub fn with_history(mut self, history: &History, judges: &Judges) -> Self {
        for result in &mut self.tasks {
            let name = format!("{}.{}", self.key.suite, result.task);
            let task = history.tasks.iter().find(|task| task.task == name);
            // Without a reference the plans were judged in the PDDL that the model wrote.
            let judged = task.filter(|_| result.outcome != TaskOutcome::NotJudged);
            result.plans = judged.and_then(|task| PlanTries::of(task, judges));
            result.curve = judged.and_then(|task| TaskCurve::of(task, judges));
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

    /// Adds the suite's tasks that the run does not have, as unfinished; `tasks` are those of the suite, in
    /// order.
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

    /// Number of tasks with this outcome.
    pub fn count(&self, outcome: TaskOutcome) -> usize {
        self.tasks.iter().filter(|task| task.outcome == outcome).count()
    }

    /// Number of tasks without a usable reply, which are not solved.
    pub fn unusable(&self) -> usize {
        self.tasks.iter().filter(|task| task.verdict.as_deref() == Some("unusable")).count()
    }

    /// The share of tasks solved (Eq. 1): what is shown, and what it would be were every open task solved.
    pub fn solved(&self) -> (f64, f64) {
        let all = self.tasks.len().max(1) as f64;
        let solved = self.count(TaskOutcome::Solved);
        (solved as f64 / all, (self.tasks.len() - self.count(TaskOutcome::NotSolved)) as f64 / all)
    }
}

/// Eq. 2 over the tasks that have both directions.
fn walk(tasks: &[TaskResult]) -> Option<WalkFigures> {
    let both: Vec<(f64, f64)> =
        tasks.iter().filter_map(|t| Some((t.reference_to_candidate?, t.candidate_to_reference?))).collect();
    if both.is_empty() {
        return None;
    }
    let n = both.len() as f64;
    let forth = both.iter().map(|d| d.0).sum::<f64>() / n;
    let back = both.iter().map(|d| d.1).sum::<f64>() / n;
    Some(WalkFigures {
        score: harmonic_mean(forth, back),
        reference_to_candidate: forth,
        candidate_to_reference: back,
        tasks: both.len(),
    })
}

/// The key of a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellKey {
    /// The suite's name: the row.
    pub suite: String,
    /// The pipeline's name: the column, together with `model`.
    pub pipeline: String,
    /// The name of the matrix's model; empty if pipelines use their own models.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The run's seed.
    pub seed: u64,
}

impl CellKey {
    /// The name of its column: `PIPELINE`, or `PIPELINE@MODEL`.
    pub fn column(&self) -> String {
        column_name(&self.pipeline, &self.model)
    }

    /// The path of its run folder in the folder of the evaluation: `cells/SUITE/PIPELINE[@MODEL]/SEED`.
    pub fn folder(&self) -> PathBuf {
        Path::new("cells").join(&self.suite).join(self.column()).join(self.seed.to_string())
    }
}

/// The name of a pipeline with a model in tables and folders.
pub(super) fn column_name(pipeline: &str, model: &str) -> String {
    if model.is_empty() { pipeline.to_owned() } else { format!("{pipeline}@{model}") }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::results::ProblemOutcome;
    use planforge_contract::{Assessment, Candidate, Decision, Failure, FailureClass, UndecidedReason};
    use planforge_record::TaskVerdict;

    /// A cell of tasks of which nothing is known but that they were not solved.
    pub(crate) fn bare(suite: &str, pipeline: &str, seed: u64, tasks: usize) -> CellResult {
        let key =
            CellKey { suite: suite.to_owned(), pipeline: pipeline.to_owned(), model: String::new(), seed };
        let stems: Vec<String> = (1..=tasks).map(|number| format!("p{number:02}")).collect();
        let mut cell = CellResult::unfinished(key, &stems, &Judges::default());
        cell.state = CellState::Finished;
        cell.tasks.iter_mut().for_each(|task| task.outcome = TaskOutcome::NotSolved);
        cell
    }

    #[test]
    fn requests_moved_to_another_model_are_summed_over_tasks_and_cells() {
        let moved = |to: &str, questions: u64| ModelFallback {
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
        let evaluation = crate::results::Evaluation::new(
            vec![1],
            &BTreeMap::new(),
            vec![cell.clone(), bare("s", "q", 1, 1), cell],
        );
        assert_eq!(evaluation.fallbacks(), [moved("backup", 10), moved("spare", 4)]);
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
    fn the_judging_stage_decides_the_outcome() {
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
    fn a_plan_that_only_its_own_pddl_judged_is_not_solved() {
        let planned = TaskVerdict::Planned { not_judged: vec!["environment".to_owned()] };
        let written = TaskVerdict::Written { not_judged: Vec::new() };
        let tasks = vec![
            task("p01", Some(planned), Some(Decision::Accepted)),
            task("p02", Some(written), Some(Decision::Accepted)),
        ];
        let cell = CellResult::of(key(), &report(tasks), &judges());
        assert!(cell.tasks.iter().all(|task| task.outcome == TaskOutcome::NotJudged), "{:?}", cell.tasks);
        assert_eq!(cell.solved(), (0.0, 1.0));
        assert!(cell.tasks[0].why.contains("no reference"), "{}", cell.tasks[0].why);
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
        use crate::results::ProblemOutcome::*;
        let found: Vec<ProblemOutcome> = cell.tasks.iter().filter_map(|t| t.problem).collect();
        assert_eq!(
            found,
            [Equivalent, Different, Undecided, NotComparable, Missing, Failed, Undecided, Unfinished]
        );
        assert_eq!(cell.tasks[1].valid, Some(Equivalent), "each stage speaks for itself");
        assert_eq!(cell.tasks[4].outcome, TaskOutcome::Failed);
    }

    #[test]
    fn a_right_plan_under_other_names_is_recognised() {
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
