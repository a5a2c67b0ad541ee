//! The command line of `planforge equivalent domain`.

use clap::Args;
use planforge_verifier_ew::Semantics;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge equivalent domain domain.pddl written.pddl --problems p01.pddl p02.pddl
  planforge equivalent domain domain.pddl written.pddl --problems p01.pddl --max-states 5000000 --time-limit 60 --json
  planforge equivalent domain domain.pddl written.pddl --problems p01.pddl --second-problems written-p01.pddl

Exits with 0 where the domains are equal over the whole reachable space of every problem given (which says nothing of other
problems), with 10 where they differ, and with 20 to 23 where a limit left that open.")]
pub(crate) struct EquivalentDomainArgs {
    /// The first domain.
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,
    /// The second domain.
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,
    /// Problems to compare them on.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) problems: Vec<PathBuf>,
    /// The same problems in the predicates of the second domain, one for each and in the same order. Without them both domains are
    /// given the same files.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) second_problems: Vec<PathBuf>,
    /// Which ground actions are legal: all whose precondition holds, or those of them that can change something.
    #[arg(long, value_name = "WHAT", default_value = "strips", value_parser = super::ew::words::<Semantics>(&["strips", "ground-no-ops-dropped"]))]
    pub(crate) semantics: Semantics,
    /// Most pairs of states to see on each problem.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    pub(crate) max_states: u64,
    /// The longest sequence of actions to look at.
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Most seconds for all problems together; each gets an equal share of what is left.
    #[arg(long, value_name = "SECONDS", value_parser = super::positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
