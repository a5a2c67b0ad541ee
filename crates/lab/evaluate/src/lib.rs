//! What many runs come to: statistics, tables, and studies that need no model.
//!
//! [`study`] holds the paper's experiments without a language model (exploration-walk paper, Fig. 2a, 2b and 4): they run over
//! suites of PDDL files, on all cores, and the same seed gives the same figures whatever the number of threads. [`evaluation`]
//! puts the runs of pipelines over suites under several seeds into one table (Table 2). [`calibration`] counts how often verifiers are wrong
//! about domains that were damaged on purpose. [`compare`] holds two runs or
//! evaluations against each other on the same tasks. [`statistics`] and [`Table`] are shared
//! by everything that reports; [`state_graph`] draws the states around a plan. The crate reads and computes; the command line runs
//! pipelines and writes files.

pub mod calibration;
mod codes;
pub mod compare;
pub mod estimate;
pub mod evaluation;
pub mod history;
pub mod plot;
pub mod rounds;
pub mod state_graph;
pub mod statistics;
pub mod study;
mod table;

pub use codes::CODES;
pub use table::{Align, Table};
pub(crate) use table::{marked_up, visible};
