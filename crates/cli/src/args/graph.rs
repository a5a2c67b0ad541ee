//! The command line of `planforge graph`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// The problem file.
    pub(crate) problem: PathBuf,
    /// The plan file; without it the states around the initial state are shown.
    pub(crate) plan: Option<PathBuf>,
    /// The file to write: .svg, .dot (Graphviz) or .json.
    #[arg(long, value_name = "FILE", required_unless_present = "json")]
    pub(crate) out: Option<PathBuf>,
    /// Without a plan: states up to this many actions away from the initial state (default: 2).
    #[arg(long, value_name = "D", conflicts_with = "plan", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) depth: Option<u32>,
    /// With a plan: states up to this many actions away from its states (default: 1).
    #[arg(long, value_name = "N", requires = "plan", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) around: Option<u32>,
    /// Most states; those of the plan are shown in any case, and what is left out is counted.
    #[arg(long, value_name = "M", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) max_states: u32,
    /// Give up after this many seconds.
    #[arg(long, value_name = "S", value_parser = super::positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Print the graph as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
