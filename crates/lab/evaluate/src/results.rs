//! The one table of results: a row for each task of each run.
//!
//! [`CellResult`] reads a run's report and journal into [`TaskResult`]s; [`Judges`] names the stages of a pipeline that decide, and
//! [`Evaluation`] holds all cells with a summary for each suite and pipeline. [`TaskLine`] is a row of `tasks.jsonl`. Every layout in
//! [`crate::tables`] reads these rows; none reads a run folder. Undecided, failed and unfinished tasks are neither solved nor unsolved,
//! and a figure that they could change is marked.

mod cell;
mod classes;
mod evaluation;
mod judges;
mod plan_costs;
mod task;

pub use cell::{CellKey, CellResult, CellState, WalkFigures};
pub use classes::{
    CellClasses, Change, ComparisonRule, Counts, ExactCount, ExactResult, Group, Histogram, Reading,
    ReplyClass, Suspect, Tally,
};
pub(crate) use classes::{add, of_group};
pub(crate) use evaluation::usd;
pub use evaluation::{
    Baseline, Column, Evaluation, NullBaseline, Row, Rung, SuiteStatus, Summary, TaskFacts, TaskLine,
    lines_csv, lines_jsonl, task_lines,
};
pub use judges::{AskedFor, Bound, ClassStages, Judges, PluginFacts};
pub use task::{
    CandidateMarks, DomainOutcome, OpenReason, PLAN_FAILURES, PlanCost, PlanTries, ProblemOutcome, Replies,
    TaskCurve, TaskOutcome, TaskResult, verdict_reason,
};
pub(crate) use task::{CountsAs, counts_as, counts_as_solved};

#[cfg(test)]
pub(crate) use cell::tests::bare;
