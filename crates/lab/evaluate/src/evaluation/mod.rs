//! Suites x pipelines x models x seeds, as the exploration-walk paper's Table 2 tells them, or ([`Accuracy`]) as the
//! translate-infer-compile paper's Table 1, or as the test-time-scaling paper's Table 2 ([`Scaling`]), Table 5 ([`Plans`]) and Fig. 3 to 5
//! ([`curves`]), or as the domain-generators paper's Table 1 ([`Classes`]) and Fig. 2 to 5 ([`class_figures`]).
//!
//! A [`Matrix`] says what is evaluated; each of its cells is a run folder that the command line makes. [`Judges`] names the
//! stages of a pipeline that decide, [`CellResult`] is what one run came to, and [`Evaluation`] puts all cells together: tables
//! as text, CSV and JSON. What is not known stays visible: a task that was not decided or broke is neither solved nor
//! unsolved, and a figure that it could change is marked.

mod accuracy;
mod cell;
mod classes;
mod curves;
mod judges;
mod junit;
mod lines;
mod matrix;
mod plans;
mod replies;
mod scaling;
mod select;
mod summary;
mod tables;

pub use accuracy::{Accuracy, AccuracyCell, AccuracyColumn, Share, Why};
pub(crate) use accuracy::{Counts as CountsAs, answered, solved};
pub use cell::{
    CellKey, CellResult, CellState, DomainOutcome, ProblemOutcome, TaskOutcome, TaskResult, Walk,
};
pub use classes::{
    CellClasses, Change, ClassColumn, ClassFigures, ClassRow, ClassSettings, ClassStages, Classes, Counts,
    Exact, ExactCount, Fate, Group, Histogram, ListedSuspect, Reading, Setting, Sizes, SuiteClasses, Suspect,
    Tally, class_figures, size_of,
};
pub use curves::{Curve, CurvePoint, Marks, TaskCurve, curve_files, curves};
pub use judges::{AskedFor, Bound, Judges};
pub use junit::junit;
pub use lines::{TaskLine, lines_csv, lines_jsonl, task_lines};
pub use matrix::{MATRIX_SCHEMA, Matrix, MatrixModel, parse_seeds};
pub use plans::{Plans, PlansCell, PlansRow};
pub use replies::{PLAN_FAILURES, PlanTries, Replies};
pub use scaling::{Criterion, Delta, Rate, Scaling, ScalingCell, ScalingRow};
pub use select::{Axes, Filter, NoMatch, Selection, Shard};
pub use summary::{Column, Evaluation, Row, Standing, Summary};
