//! `planforge study`: experiments without a language model, over suites of PDDL files.

use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand, ValueEnum};
use planforge_app::Error;
use planforge_app::study::{
    CorrelationSpec, OmissionsSpec, ScalingRequest, StudyResult, WalkMetric, WrittenFiles, ew_correlation,
    omissions, scaling,
};
use serde::Serialize;
use std::path::PathBuf;

/// Run experiments without a language model: CSV, tables and figures.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge study omissions --suites examples/suites --out study/omissions --quick
  planforge study ew-correlation --suites suites/classical examples/suites --out study/ew-correlation")]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    Omissions(OmissionsArgs),
    EwCorrelation(EwCorrelationArgs),
    Scaling(ScalingArgs),
}

/// Arguments of every study.
#[derive(Debug, Args)]
pub(crate) struct StudyFiles {
    /// Suites: folders with domain.pddl and problems, or folders of such folders.
    #[arg(long, value_name = "DIR", num_args = 1.., required = true)]
    pub(crate) suites: Vec<PathBuf>,
    /// Only the suites of these names.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Folder for the files; created if missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A smaller study, under two minutes; explicit options take precedence.
    #[arg(long)]
    pub(crate) quick: bool,
    /// The seed of all random choices.
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Threads; all cores where it is not given. It changes the time and nothing else.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// Print the study as one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &StudyArgs) -> Exit {
    match &args.command {
        StudyCommand::Omissions(args) => run_omissions(context, args),
        StudyCommand::EwCorrelation(args) => run_ew_correlation(context, args),
        StudyCommand::Scaling(args) => run_scaling(context, args),
    }
}

impl StudyFiles {
    fn request(&self) -> planforge_app::study::StudyFiles {
        planforge_app::study::StudyFiles {
            suites: self.suites.clone(),
            only: self.only.clone(),
            out: self.out.clone(),
            seed: self.seed,
            jobs: self.jobs,
        }
    }

    /// Prints a study, and where its files are.
    fn print<T: Serialize>(
        &self,
        context: &Context,
        result: Result<StudyResult<T>, Error>,
        text: impl FnOnce(&T) -> String,
    ) -> Exit {
        context.show(result, |result| {
            match self.json {
                true => context.output.json(&result),
                false => context.output.result(&text(&result.study)),
            }
            print_written(context, &result.written);
            Exit::Good
        })
    }
}

fn print_written(context: &Context, written: &WrittenFiles) {
    context.output.note(&format!("{} are in {}", written.names.join(", "), written.folder.display()));
}

/// Share of tasks without a plan after random omissions (exploration-walk paper, Fig. 2a).
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  planforge study omissions --suites examples/suites --out study/omissions --quick"
)]
pub(crate) struct OmissionsArgs {
    #[command(flatten)]
    pub(crate) files: StudyFiles,
    /// The largest number of terms removed [default: 10].
    #[arg(long, value_name = "K")]
    pub(crate) most: Option<usize>,
    /// Damaged domains for each number of terms [default: 100; quick: 10].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) draws: Option<usize>,
    /// Problems of each suite, the first by name [default: 5; quick: 2].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
    /// Evaluation limit: search nodes a task.
    #[arg(long, value_name = "N")]
    pub(crate) max_nodes: Option<u64>,
    /// Evaluation limit: ground instances a task, and as many atoms.
    #[arg(long, value_name = "N")]
    pub(crate) max_instances: Option<usize>,
    /// A removal may take all terms of a precondition or effect; otherwise it leaves one.
    #[arg(long)]
    pub(crate) empty_lists: bool,
}

fn run_omissions(context: &Context, args: &OmissionsArgs) -> Exit {
    let full = OmissionsSpec::default();
    let (draws, tasks) = if args.files.quick { (10, 2) } else { (full.draws, full.tasks) };
    let spec = OmissionsSpec {
        seed: args.files.seed,
        most: args.most.unwrap_or(full.most),
        draws: args.draws.unwrap_or(draws),
        tasks: args.tasks.unwrap_or(tasks),
        keep_one: !args.empty_lists,
        max_nodes: args.max_nodes.unwrap_or(full.max_nodes),
        max_instances: args.max_instances.unwrap_or(full.max_instances),
        max_bytes: full.max_bytes,
    };
    let study = omissions(&context.app, &args.files.request(), &spec);
    args.files.print(context, study, |study| study.table().text())
}

/// Walk score against the number of differing terms (exploration-walk paper, Fig. 2b and 4).
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  planforge study ew-correlation --suites examples/suites --out study/ew-correlation --quick"
)]
pub(crate) struct EwCorrelationArgs {
    #[command(flatten)]
    pub(crate) files: StudyFiles,
    /// The largest difference in terms [default: 12].
    #[arg(long, value_name = "D", value_parser = positive)]
    pub(crate) most: Option<usize>,
    /// Pairs for each difference [default: 100; quick: 10].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) pairs: Option<usize>,
    /// Problems of each suite, the first by name [default: 5; quick: 1].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
    /// The metric: the paper's or its code's.
    #[arg(long, value_enum, default_value_t = StudyMetric::ReferenceCode)]
    pub(crate) metric: StudyMetric,
    /// Evaluation limit: ground instances a task, and as many atoms.
    #[arg(long, value_name = "N")]
    pub(crate) max_instances: Option<usize>,
    /// The suites of the figure with few (Fig. 2b), at most six [default: the first].
    #[arg(long, value_name = "NAME", num_args = 1..=6)]
    pub(crate) shown: Vec<String>,
}

/// The metric of `study ew-correlation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StudyMetric {
    /// Ground actions that change nothing are illegal, a walk ends at a dead end.
    ReferenceCode,
    /// Definition 1: STRIPS semantics, walks of exactly their length.
    Definition,
}

fn run_ew_correlation(context: &Context, args: &EwCorrelationArgs) -> Exit {
    let full = CorrelationSpec::default();
    let (pairs, tasks) = if args.files.quick { (10, 1) } else { (full.pairs, full.tasks) };
    let spec = CorrelationSpec {
        seed: args.files.seed,
        most: args.most.unwrap_or(full.most),
        pairs: args.pairs.unwrap_or(pairs),
        tasks: args.tasks.unwrap_or(tasks),
        metric: match args.metric {
            StudyMetric::ReferenceCode => WalkMetric::ReferenceCode,
            StudyMetric::Definition => WalkMetric::Definition,
        },
        max_instances: args.max_instances.unwrap_or(full.max_instances),
        ..full
    };
    let study = ew_correlation(&context.app, &args.files.request(), &spec, &args.shown);
    args.files.print(context, study, |study| study.table().text())
}

/// Effect of samples, rounds and budgets, with a simulated model (test-time-scaling paper).
///
/// Fig. 3 to 5 of the paper. A spec lists sweeps: a pipeline file, one of its keys, and its values. Each
/// pipeline uses `provider-noisy-oracle` and ends with a verify stage labelled `final`. Success requires a
/// walk score of 1 and a domain that is not shown to differ from the reference on the task's problem; if a
/// stage is labelled `valid`, also a valid plan.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  planforge study scaling --spec examples/studies/scaling/study.toml --suites examples/suites \\\n    --out study/scaling --quick"
)]
pub(crate) struct ScalingArgs {
    #[command(flatten)]
    pub(crate) files: StudyFiles,
    /// The sweeps: a TOML file; its pipeline files are relative to it.
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) spec: PathBuf,
    /// Seeds of each point and task, from --seed on [default: 10; quick: 2].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) seeds: Option<usize>,
    /// Tasks of each suite, the first by name [default: 1].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
}

fn run_scaling(context: &Context, args: &ScalingArgs) -> Exit {
    let request = ScalingRequest {
        files: args.files.request(),
        spec: args.spec.clone(),
        seeds: args.seeds.unwrap_or(if args.files.quick { 2 } else { 10 }) as u64,
        tasks: args.tasks.unwrap_or(1),
    };
    args.files.print(context, scaling(&context.app, &request), |study| study.table().text())
}
