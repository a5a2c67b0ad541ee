//! `planforge run`: a pipeline over tasks, recorded as it goes; and its resumption.

use crate::args::{DryRunArgs, OverrideArgs, ProgressArgs, run_argument};
use crate::context::Context;
use crate::exit::Exit;
use crate::outcome::{fallback_lines, print_estimate, print_pending, print_result};
use clap::{Args, ValueEnum};
use planforge_app::run::{
    PipelineSource, ResumeRequest, RunRequest, RunResult, RunState, RunStorage, estimate, estimate_rest,
    resume, run as run_pipeline,
};
use planforge_app::runs::RUNS;
use std::path::{Path, PathBuf};

/// Run a pipeline file on tasks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge run configs/pipelines/llm-p.toml --task examples/suites/parcels/p01
  planforge run llm-p.toml --suite examples/suites/garden --set llm.main.model=gpt-4o-mini --jobs 4
  planforge run llm-p.toml --suite examples/suites/garden --model anthropic:claude-sonnet-4-6
  planforge run llm-p.toml --task suite/p03 --set llm.main.base_url=http://127.0.0.1:8081/v1
  planforge run llm-p.toml --suite examples/suites/garden --dry-run
  planforge run --resume runs/20261121-101500-llm-p --progress plain")]
pub(crate) struct RunArgs {
    /// The pipeline file.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub(crate) pipeline: Option<PathBuf>,
    /// A task: the stem of its files, such as `suites/parcels/p03`. May be given several times.
    #[arg(long, value_name = "DIR/STEM", conflicts_with = "resume")]
    pub(crate) task: Vec<PathBuf>,
    /// A suite folder: all its tasks. May be given several times.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) suite: Vec<PathBuf>,
    #[command(flatten)]
    overrides: OverrideArgs,
    /// A folder whose knowledge.lp, p_example.lp and sentences.toml replace those of a suite: DIR/SUITE or
    /// DIR. Repeatable.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) add_on: Vec<PathBuf>,
    /// Resume an interrupted run. Recorded requests are not sent again. With --set, keys of a model table can change on which no reply
    /// depends: provider, address, key, limits, caps, prices, retries.
    #[arg(long, value_name = "RUN", conflicts_with = "model", value_parser = run_argument())]
    pub(crate) resume: Option<PathBuf>,
    /// A file with replies to waiting requests, from a batch service, an agent or a person. It is copied to the run's folder. May be
    /// given several times.
    #[arg(long, value_name = "FILE", requires = "resume", conflicts_with = "pipeline", num_args = 1..)]
    pub(crate) answers: Vec<PathBuf>,
    /// Take every reply from this cassette or run folder; send no request. With --record, the replies used
    /// become a new cassette.
    #[arg(long, value_name = "CASSETTE", conflicts_with = "resume")]
    pub(crate) replay: Option<PathBuf>,
    /// Also write the replies of this run into a cassette file.
    #[arg(long, value_name = "CASSETTE", conflicts_with = "resume")]
    pub(crate) record: Option<PathBuf>,
    /// Folder for run folders.
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    pub(crate) runs: PathBuf,
    /// Tasks and samples in parallel.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// The run's seed.
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    pub(crate) seed: Option<u64>,
    /// Exit with 10 for this outcome: `negative` is a task that was rejected or proven unsolvable.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) fail_on: Option<FailOn>,
    /// Let this model of the pipeline file tell each validated plan in plain language.
    #[arg(long, value_name = "MODEL")]
    pub(crate) explain_plan: Option<String>,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The outcome for which a run exits with 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A task that was rejected or proven unsolvable.
    Negative,
}

pub(crate) fn run(context: &Context, args: &RunArgs) -> Exit {
    let context = &context.with_progress(args.progress.display());
    if args.dry.dry_run {
        let assumptions = args.dry.assumptions(args.jobs);
        let estimated = match &args.resume {
            Some(folder) => estimate_rest(&context.app, &args.resume_request(folder), assumptions),
            None => estimate(&context.app, &args.run_request(), assumptions),
        };
        return context.show(estimated, |estimate| {
            print_estimate(context, &estimate, args.json);
            Exit::Good
        });
    }
    let result = match &args.resume {
        Some(folder) => resume(&context.app, &args.resume_request(folder)),
        None => run_pipeline(&context.app, &args.run_request()),
    };
    context.show(result, |result| print(context, args, &result))
}

impl RunArgs {
    fn run_request(&self) -> RunRequest {
        RunRequest {
            pipeline: PipelineSource::File(self.pipeline.clone().unwrap_or_default()),
            tasks: self.task.clone(),
            suites: self.suite.clone(),
            add_ons: self.add_on.clone(),
            model: self.overrides.model(),
            set: self.overrides.set(),
            seed: self.seed,
            replay: self.replay.clone(),
            record: self.record.clone(),
            explainer: self.explain_plan.clone(),
            storage: RunStorage::Folder(self.runs.clone()),
            jobs: self.jobs,
        }
    }

    fn resume_request(&self, run: &Path) -> ResumeRequest {
        ResumeRequest {
            run: run.to_owned(),
            set: self.overrides.set(),
            answers: self.answers.clone(),
            jobs: self.jobs,
        }
    }
}

/// Prints the result, and how to go on.
fn print(context: &Context, args: &RunArgs, result: &RunResult) -> Exit {
    print_result(context, result, args.json);
    for line in fallback_lines(&result.report) {
        context.output.note(&line);
    }
    let folder = result.folder.as_deref().unwrap_or(Path::new(""));
    let path = folder.display();
    let command = format!("planforge run --resume {path}");
    let is_whole = result.report.state == RunState::Finished && result.pending.is_none();
    let replay =
        if is_whole { format!("; `planforge replay {path}` gives the same verdicts") } else { String::new() };
    context.output.note(&format!("the run is in {path}{replay}"));
    match (&result.pending, result.report.state) {
        (Some(wave), _) => {
            let answers = result.answers.as_deref().unwrap_or(folder);
            print_pending(context, wave, (folder, answers), &command);
        }
        (None, RunState::Finished) => {
            if let Some(hint) = &result.hint {
                context.output.note(hint);
            }
        }
        (None, state) => context.output.note(&format!("{}; go on with `{command}`", state.name())),
    }
    if !args.json {
        context.output.note(&format!("`planforge report {path}` shows it as one HTML file"));
    }
    result.status(args.fail_on.is_some())
}
