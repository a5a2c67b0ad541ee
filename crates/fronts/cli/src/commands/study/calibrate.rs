//! `planforge study calibrate`: verifiers against labelled mutants of reference domains.

use super::print_written;
use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::study::{CalibrateRequest, CalibrationSpec, CriticRequest, MutantKind, calibrate};
use std::path::PathBuf;

/// Measure how often verifiers accept a wrong domain or reject a right one, on mutants.
///
/// Every mutant of a reference domain or problem has one change: a mistake of a stated kind, or a rewrite with the same
/// meaning. Its label comes from the exact comparison with the reference on stated problems, not from the way
/// it was made.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge study calibrate --suites examples/suites/* --mutants 1000 --out calibration
  planforge study calibrate --suites examples/suites/* --kinds wrong-goal,wrong-init
  planforge study calibrate --suites examples/suites/blocks --problems p01,p02 --kinds omission,negation --walks 10,100 --json
  planforge study calibrate --suites examples/suites/* --critic examples/studies/calibration/critic.toml \\
    --critic-mutants 60 --record cassettes --set llm.critic.base_url=http://127.0.0.1:8081/v1

Exits with 0 where every mutant was judged, with 10 where a rewrite that must mean the same was found to be different, which is
a fault of planforge.")]
pub(crate) struct CalibrateArgs {
    /// Suites: folders with domain.pddl and problems, or folders of such folders. Suites without a domain are
    /// skipped.
    #[arg(long, value_name = "DIR", num_args = 1.., required = true)]
    pub(crate) suites: Vec<PathBuf>,
    /// Only the suites of these names.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// The problems of every suite that labels and verifiers rest on [default: the first two of each].
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    pub(crate) problems: Vec<String>,
    /// Mutants over all suites together.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = positive)]
    pub(crate) mutants: usize,
    /// Kinds of mistakes and rewrites, such as `omission` or `double-negation`, and mistakes of problems, `wrong-goal` and
    /// `wrong-init`; a wrong name lists them [default: all of domains].
    #[arg(long, value_name = "KIND", num_args = 1.., value_delimiter = ',')]
    pub(crate) kinds: Vec<MutantKind>,
    /// Budgets of the walk verifiers: walks of each problem and direction [default: 10 100 1000].
    #[arg(long, value_name = "N", num_args = 1.., value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) walks: Vec<u32>,
    /// Length of the sequences of actions that the bounded exact comparison covers [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
    /// Plans of each problem that heuristic domain equivalence compares [default: 10].
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(crate) hde_plans: Option<usize>,
    /// Limit: pairs of states of the comparison behind the labels, on each problem [default: 500000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    pub(crate) max_states: Option<u64>,
    /// Limit: search nodes of a planner, of top-k planning too [default: 200000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_nodes: Option<u64>,
    /// Limit: ground instances of a model, and as many atoms [default: 100000].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) max_instances: Option<usize>,
    /// The seed of all random choices.
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Threads; all cores where it is not given. It changes times and nothing else.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// A pipeline that judges the domain it is given, such as examples/studies/calibration/critic.toml: one
    /// more verifier, called for some of the mutants.
    #[arg(long, value_name = "PIPELINE")]
    pub(crate) critic: Option<PathBuf>,
    /// Mutants for the critic: as many equal as different ones, if there are enough.
    #[arg(long, value_name = "N", default_value_t = 60, requires = "critic", value_parser = positive)]
    pub(crate) critic_mutants: usize,
    /// Mutants judged by the critic in parallel.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "critic", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) critic_jobs: u32,
    /// Override a key of the critic's pipeline file, as in `planforge run`.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "critic")]
    pub(crate) overrides: Vec<String>,
    /// Write the critic's replies into a cassette `PIPELINE.jsonl` in this folder; one that is there is completed.
    #[arg(long, value_name = "DIR", requires = "critic", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Take every reply to the critic from the cassette in this folder, written by --record and possibly
    /// compressed by gzip; send no request.
    #[arg(long, value_name = "DIR", requires = "critic")]
    pub(crate) replay: Option<PathBuf>,
    /// Folder for the files, and in `runs` for the critic's run folder: CSV by verifier, kind and mutant,
    /// Markdown, JSON and a figure.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the calibration as one JSON object instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(context: &Context, args: &CalibrateArgs) -> Exit {
    let critic = args.critic.as_ref().map(|pipeline| CriticRequest {
        pipeline: pipeline.clone(),
        mutants: args.critic_mutants,
        jobs: args.critic_jobs,
        set: args.overrides.clone(),
        record: args.record.clone(),
        replay: args.replay.clone(),
    });
    let request = CalibrateRequest {
        suites: args.suites.clone(),
        only: args.only.clone(),
        problems: args.problems.clone(),
        spec: spec(args),
        jobs: args.jobs,
        critic,
        out: args.out.clone(),
    };
    context.show(calibrate(&context.app, &request), |result| {
        let output = &context.output;
        if let Some((name, run)) = &result.critic {
            output.note(&format!("the requests and judgements of `{name}` are in {}", run.display()));
        }
        match args.json {
            true => output.json(&result),
            false => output.result(&result.calibration.text()),
        }
        if let Some(written) = &result.written {
            print_written(context, written);
        }
        for fault in &result.faults {
            output.note(&format!("error: {fault}"));
        }
        if !result.faults.is_empty() {
            output.note("help: this is a fault of planforge; please report it with the domain");
        }
        result.status()
    })
}

fn spec(args: &CalibrateArgs) -> CalibrationSpec {
    let full = CalibrationSpec::default();
    let or = |given: &[MutantKind], all: Vec<MutantKind>| if given.is_empty() { all } else { given.to_vec() };
    CalibrationSpec {
        seed: args.seed,
        mutants: args.mutants,
        kinds: or(&args.kinds, full.kinds),
        walks: if args.walks.is_empty() { full.walks } else { args.walks.clone() },
        depth: args.depth.unwrap_or(full.depth),
        hde_plans: args.hde_plans.unwrap_or(full.hde_plans),
        max_pairs: args.max_states.unwrap_or(full.max_pairs),
        max_nodes: args.max_nodes.unwrap_or(full.max_nodes),
        max_instances: args.max_instances.unwrap_or(full.max_instances),
        ..full
    }
}
