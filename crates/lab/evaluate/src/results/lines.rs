//! One line a task: what a program that comes after reads instead of the tables.

use super::cell::CellResult;
use super::outcome::{ProblemOutcome, TaskOutcome};
use super::task::TaskResult;
use crate::table::{Align, Table};
use planforge_contract::Failure;
use planforge_planning::walk::harmonic_mean;
use serde::{Deserialize, Serialize};

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
        row.extend([line.run.clone(), line.why.lines().collect::<Vec<_>>().join(" ")]);
        table.row(row);
    }
    table.csv()
}

/// The same answers in the words of another question.
pub(crate) fn valid(outcome: Option<ProblemOutcome>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::bare;

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
}
