//! One module a command. Each returns how the process ends and prints through [`Output`].

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod derivation;
pub(crate) mod doctor;
pub(crate) mod dry_run;
pub(crate) mod environment;
pub(crate) mod equivalent;
pub(crate) mod equivalent_domain;
pub(crate) mod evaluate;
pub(crate) mod ew;
pub(crate) mod explain;
pub(crate) mod explain_fact;
pub(crate) mod explain_plan;
pub(crate) mod graph;
pub(crate) mod infer;
pub(crate) mod outcome;
pub(crate) mod picture;
pub(crate) mod plan;
pub(crate) mod plugins;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod rounds;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod study;
pub(crate) mod study_scaling;
mod study_search;
pub(crate) mod suite;
pub(crate) mod validate;
pub(crate) mod worker;

use crate::args::ProgressArgs;
use crate::output::Output;
use std::path::PathBuf;

/// What every command needs.
pub(crate) struct Context {
    pub(crate) output: Output,
    /// Where plugin libraries are looked for, in order.
    pub(crate) search_path: Vec<PathBuf>,
}

impl Context {
    /// The same with progress as the command line wants it.
    pub(crate) fn showing(&self, progress: &ProgressArgs) -> Self {
        let output = Output { progress: progress.shows(), ..self.output };
        Self { output, search_path: self.search_path.clone() }
    }
}
