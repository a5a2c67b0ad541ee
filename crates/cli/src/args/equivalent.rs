//! The command line of `planforge equivalent domain`.

use clap::Args;
use planforge_judging::{Rule, Semantics};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge equivalent domain domain.pddl written.pddl --problems p01.pddl p02.pddl
  planforge equivalent domain domain.pddl written.pddl --problems p01.pddl --max-states 5000000 --time-limit 60 --json
  planforge equivalent domain domain.pddl written.pddl --problems p01.pddl --second-problems written-p01.pddl
  planforge equivalent domain domain.pddl written.pddl --problems p01.pddl p02.pddl --heuristic --k 100
  planforge equivalent domain domain.pddl written.pddl --problems p01.pddl --match-interface

By default every sequence of actions is compared; with --heuristic the k cheapest plans of each problem, found in either domain and
executed in the other. With both the action reconstruction error is told. --match-interface renames the second domain's actions,
parameters and types first, so that they are the first's.

Exits with 0 where the domains are equal over the whole reachable space of every problem given (which says nothing of other
problems), with 10 where they differ, and with 20 to 23 where a limit left that open or no renaming makes them comparable.")]
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
    /// Compare every sequence of actions (the default).
    #[arg(long, conflicts_with = "heuristic")]
    pub(crate) exact: bool,
    /// Compare by the cheapest plans: heuristic domain equivalence, as the domain-generators paper has it.
    #[arg(long)]
    pub(crate) heuristic: bool,
    /// With --heuristic: plans of each problem in each domain.
    #[arg(long, value_name = "K", default_value_t = 100, requires = "heuristic", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) k: u32,
    /// With --heuristic: how plans count, by the paper's definition or as its code does.
    #[arg(long, value_name = "RULE", default_value = "definition", requires = "heuristic", value_parser = super::ew::words::<Rule>(&["definition", "reference-code"]))]
    pub(crate) rule: Rule,
    /// With --heuristic: most search nodes for the plans of one problem in one domain.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "heuristic", value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    pub(crate) max_nodes: u64,
    /// Search a renaming of the second domain's actions, parameters and types, and compare it under the first's names.
    #[arg(long)]
    pub(crate) match_interface: bool,
    /// With --match-interface: most choices that are tried for a renaming.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "match_interface", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_choices: u64,
    /// Which ground actions are legal: all whose precondition holds (the default), or those of them that can change something. With
    /// --heuristic: which ones plans are made of; by default those that can change something.
    #[arg(long, value_name = "WHAT", value_parser = super::ew::words::<Semantics>(&["strips", "ground-no-ops-dropped"]))]
    pub(crate) semantics: Option<Semantics>,
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
