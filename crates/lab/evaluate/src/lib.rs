//! Results of many runs: one table of results, the papers' tables over it, comparisons, and studies without a model.
//!
//! [`matrix`] says which pipelines, suites, models and seeds are evaluated. [`results`] reads their run folders into one table, a row a task;
//! [`tables`] lays it out as the papers do, [`compare`] compares two sides of it, [`recommend`] chooses a method, and [`estimate`] predicts its cost. [`study`] holds experiments over PDDL alone: the same seed gives the
//! same figures for any number of threads. The crate reads and computes; the command line runs pipelines and writes files.

pub mod chart;
pub mod compare;
pub mod diagram;
pub mod estimate;
pub mod gantt;
pub mod history;
pub mod matrix;
pub mod recommend;
pub mod results;
pub mod rounds;
pub mod state_graph;
pub mod statistics;
pub mod study;
pub mod sums;
mod table;
pub mod tables;

use planforge_diagnostics::{CodeInfo, code_table};

pub use sums::Artefact;
pub use table::{Align, Table, wrapped};

/// Every code of this crate, for `planforge explain`.
pub const CODES: &[CodeInfo] = code_table!("codes.md");
