//! `planforge calibrate`.

use clap::Args;
use planforge_evaluate::calibration::MutantKind;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Suites: folders with domain.pddl and problems, or folders of such folders. A suite without a domain of its own is passed over.
    #[arg(long, value_name = "DIR", num_args = 1.., required = true)]
    pub(crate) suites: Vec<PathBuf>,
    /// Only the suites of these names.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// The problems of every suite that labels and verifiers rest on [default: the first two of each].
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    pub(crate) problems: Vec<String>,
    /// How many mutants to make, over all suites together.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = super::positive)]
    pub(crate) mutants: usize,
    /// Kinds of mistakes and rewrites, such as `omission` or `double-negation`; a wrong name lists them [default: all].
    #[arg(long, value_name = "KIND", num_args = 1.., value_delimiter = ',')]
    pub(crate) kinds: Vec<MutantKind>,
    /// Budgets of the walk verifiers: walks of each problem and direction [default: 10 100 1000].
    #[arg(long, value_name = "N", num_args = 1.., value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) walks: Vec<u32>,
    /// The longest sequence of actions that the bounded exact comparison looks at [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
    /// Plans of each problem that heuristic domain equivalence compares [default: 10].
    #[arg(long, value_name = "K", value_parser = super::positive)]
    pub(crate) hde_plans: Option<usize>,
    /// Limit: pairs of states that the comparison behind the labels may see on a problem [default: 500000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    pub(crate) max_states: Option<u64>,
    /// Limit: search nodes of a planner, of top-k planning too [default: 200000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_nodes: Option<u64>,
    /// Limit: ground instances of a model, and as many atoms [default: 100000].
    #[arg(long, value_name = "N", value_parser = super::positive)]
    pub(crate) max_instances: Option<usize>,
    /// What every random choice derives from.
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Threads; all cores where it is not given. It changes times and nothing else.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// A pipeline that is given the domain and judges it, such as examples/studies/calibration/critic.toml: a verifier more, asked about
    /// some of the mutants.
    #[arg(long, value_name = "PIPELINE")]
    pub(crate) critic: Option<PathBuf>,
    /// How many mutants the critic is asked about: as many equal as different ones, as far as there are.
    #[arg(long, value_name = "N", default_value_t = 60, requires = "critic", value_parser = super::positive)]
    pub(crate) critic_mutants: usize,
    /// How many mutants the critic is asked about at a time.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "critic", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) critic_jobs: u32,
    /// Override a key of the critic's pipeline file, as in `planforge run`.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "critic")]
    pub(crate) overrides: Vec<String>,
    /// Write the critic's replies into a cassette `PIPELINE.jsonl` in this folder; one that is there is completed.
    #[arg(long, value_name = "DIR", requires = "critic", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Answer every question to the critic from the cassette in this folder, which --record made and gzip may have compressed; ask nobody.
    #[arg(long, value_name = "DIR", requires = "critic")]
    pub(crate) replay: Option<PathBuf>,
    /// Where the files go, and the critic's run folder in `runs`: CSV by verifier, kind and mutant, Markdown, JSON and a figure.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the calibration as one JSON object instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}
