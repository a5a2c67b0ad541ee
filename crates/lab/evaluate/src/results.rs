//! The one table of results: a row for each task of each run.
//!
//! [`CellResult`] reads a run's report and journal into [`TaskResult`]s; [`Judges`] names the stages of a pipeline that decide, and
//! [`Evaluation`] holds all cells with a summary for each suite and pipeline. [`TaskLine`] is a row of `tasks.jsonl`. Every layout in
//! [`crate::tables`] reads these rows; none reads a run folder. Undecided, failed and unfinished tasks are neither solved nor unsolved,
//! and a figure that they could change is marked.

mod baseline;
mod cell;
mod classes;
mod curve;
mod evaluation;
mod judges;
mod key;
mod lines;
mod measures;
mod outcome;
mod replies;
mod success;
mod task;

pub use baseline::{Baseline, NullBaseline};
pub use cell::{CellResult, CellState, WalkFigures};
pub use classes::{
    CellClasses, Change, ClassStages, ComparisonRule, Counts, ExactCount, ExactResult, Group, Histogram,
    Reading, ReplyClass, Suspect, Tally,
};
pub(crate) use classes::{add, of_group};
pub use curve::{CandidateMarks, TaskCurve};
pub use evaluation::{Column, Evaluation, Row, SuiteStatus, Summary, TaskFacts};
pub use judges::{AskedFor, Bound, Judges};
pub use key::CellKey;
pub(crate) use lines::usd;
pub use lines::{TaskLine, lines_csv, lines_jsonl, task_lines};
pub use measures::PluginFacts;
pub use outcome::{DomainOutcome, ProblemOutcome, TaskOutcome};
pub use replies::{PLAN_FAILURES, PlanTries, Replies};
pub use success::OpenReason;
pub(crate) use success::{CountsAs, counts_as, counts_as_solved};
pub use task::TaskResult;

#[cfg(test)]
pub(crate) use cell::tests::bare;
