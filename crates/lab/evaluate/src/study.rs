//! Studies without a language model: what small damage does to a domain, and what the walk metric makes of it.
//!
//! A study takes [`StudySuite`]s, runs on all cores and gives [`Artefact`](crate::Artefact)s: CSV, JSON, text and SVG. Every random choice
//! derives from the study's seed, the suite's name and the place of the draw ([`stream`]), so that neither the number of
//! threads nor the other suites change a figure.

pub mod classes;
mod engine;
pub mod ew_correlation;
pub mod omissions;
pub mod scaling;
pub mod search;
mod stream;
mod suites;
mod watch;

pub use engine::{StudyBudget, run_all};
pub use stream::stream;
pub use suites::{StudySuite, StudyTask, load_suites};
pub use watch::Watch;
