//! `planforge infer`.

use super::positive_seconds;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct InferArgs {
    /// The intermediate representation: facts and rules that say what a text says.
    pub(crate) ir: PathBuf,
    /// The domain.
    #[arg(long, value_name = "FILE", required_unless_present = "suite")]
    pub(crate) domain: Option<PathBuf>,
    /// Rules that complete representations of the domain.
    #[arg(long, value_name = "FILE")]
    pub(crate) knowledge: Option<PathBuf>,
    /// A suite folder: takes its domain.pddl and knowledge.lp, unless the options above name others.
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// A folder whose knowledge.lp stands in for that of the suite: DIR/SUITE or DIR itself. May be given several times.
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub(crate) add_on: Vec<PathBuf>,
    /// Write the problem into this file instead of printing it.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also say where each object, fact and number of the problem came from.
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
    /// Give up after this many seconds.
    #[arg(long, value_name = "S", default_value_t = 20.0, value_parser = positive_seconds)]
    pub(crate) time_limit: f64,
    /// Give up when the child process that reasons holds more than this many megabytes.
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(64..=2048))]
    pub(crate) memory_limit: u32,
    /// Most answers to look at where there are several. They must be the same problem but for the names of objects.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) models: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
