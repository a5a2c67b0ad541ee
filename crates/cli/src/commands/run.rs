//! `planforge run`: a pipeline over tasks, recorded as it goes; and its resumption.

use crate::args::DryRunArgs;
use crate::args::{OverrideArgs, ProgressArgs};
use crate::batch::Batch;
use crate::changes::{check_resume, record_resume};
use crate::context::Context;
use crate::dry_run::{self, DryRun};
use crate::ending_hint::ending_hint;
use crate::execution::{ReplySources, RunOutcome, mode_of};
use crate::exit::Exit;
use crate::exit::of_report;
use crate::files::refuse_part_of_run;
use crate::manifest::stored_cassettes;
use crate::manifest::stored_explainer;
use crate::manifest::stored_tasks;
use crate::outcome;
use crate::outcome::print_outcome;
use crate::pipeline::LoadedPipeline;
use crate::pipeline::instantiate;
use crate::pipeline::{check_pipeline, check_recorded};
use crate::recorded_run::NewRun;
use crate::recorded_run::RecordedRun;
use crate::recorded_run::open_cassettes;
use crate::run_names::{RUNS, run_argument};
use crate::tasks::named_tasks;
use clap::{Args, ValueEnum};
use planforge_contract::Failure;
use planforge_evaluate::results::CellKey;
use planforge_pipeline::{RunState, RunTask};
use planforge_record::{Redactor, RunFolder};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    let outcome = match &args.resume {
        Some(folder) => resume(context, args, folder),
        None => start(context, args),
    };
    match outcome {
        Ok(exit) | Err(exit) => exit,
    }
}

fn start(context: &Context, args: &RunArgs) -> Result<Exit, Exit> {
    let path = args.pipeline.clone().unwrap_or_default();
    let name = path.display().to_string();
    let text = context.read_text(&path)?;
    let overrides = overrides(context, args)?;
    let checked = check_pipeline(context, &text, &name, &overrides)?;
    check_explainer(context, &checked, args.explain_plan.as_deref())?;
    let tasks = named_tasks(context, &checked, &args.task, &args.suite, &args.add_on)?;
    let mode = mode_of(args.replay.is_some(), args.record.is_some());
    let cassettes = cassettes(args);
    if args.dry.dry_run {
        let tasks: Vec<RunTask> = tasks.into_iter().map(|(task, _)| task).collect();
        return dry(context, args, &checked, &tasks, (args.explain_plan.as_deref(), None), &cassettes);
    }
    if let Some(Err(failure)) = args.record.as_deref().map(refuse_part_of_run) {
        return Err(context.print_failure(&failure));
    }
    let new = NewRun {
        overrides: &overrides,
        explainer: args.explain_plan.as_deref(),
        runs: &args.runs,
        jobs: args.jobs,
        mode,
        cassettes: &cassettes,
    };
    let (ended, run, redactor) = new.run(context, &checked, &tasks)?;
    let tasks: Vec<RunTask> = tasks.into_iter().map(|(t, _)| t).collect();
    if let Some(cassette) = &args.record {
        run.export_cassette(cassette, &redactor)?;
    }
    run.save_report(&ended.report, &redactor)?;
    let batch = Batch::collect_answers(context, run.folder.path(), &[], &redactor)?;
    finish(args, &ended, &tasks, &run, (&batch, &redactor))
}

/// Rejects unknown model names before any request is sent.
fn check_explainer(context: &Context, checked: &LoadedPipeline, name: Option<&str>) -> Result<(), Exit> {
    let models = &checked.pipeline.config.llm;
    let Some(name) = name.filter(|name| !models.contains_key(*name)) else { return Ok(()) };
    let known: Vec<String> = models.keys().map(|known| format!("`{known}`")).collect();
    let message = format!("--explain-plan: there is no model `{name}` in the pipeline file");
    Err(context.usage_error(message, Some(&format!("its models are {}", known.join(", ")))))
}

/// Treats `--seed N` as `--set seed=N`, so that the record contains it.
fn overrides(context: &Context, args: &RunArgs) -> Result<Vec<String>, Exit> {
    let set = args.overrides.all(context)?.into_iter();
    Ok(set.chain(args.seed.map(|seed| format!("seed={seed}"))).collect())
}

fn resume(context: &Context, args: &RunArgs, folder: &Path) -> Result<Exit, Exit> {
    let failed = |e: planforge_record::RecordError| context.print_failure(&Failure::from(e));
    // Read once without secrets to learn the pipeline, then again with the redactor that its secrets give.
    let manifest = RunFolder::open(folder, Arc::default()).map_err(failed)?.manifest().clone();
    let changes = args.overrides.all(context)?;
    check_resume(context, &changes)?;
    let checked = check_recorded(context, &manifest, &changes)?;
    let tasks = stored_tasks(&manifest).map_err(|failure| context.print_failure(&failure))?;
    let cassettes = stored_cassettes(&manifest);
    if args.dry.dry_run {
        let explainer = stored_explainer(&manifest);
        let of = (explainer.as_deref(), Some(folder));
        return dry(context, args, &checked, &tasks, of, &cassettes);
    }
    let mode = mode_of(!cassettes.is_empty(), false);
    let (prepared, redactor) = instantiate(context, &checked, mode)?;
    for cassette in &cassettes {
        let line = format!("the run takes its replies from {} and sends no request", cassette.display());
        context.output.note(&line);
    }
    // Before anything is written: cassettes and answers that cannot be used leave the run as it is.
    let lookups = open_cassettes(context, &cassettes, &redactor)?;
    let batch = Batch::collect_answers(context, folder, &args.answers, &redactor)?;
    let mut opened = RunFolder::resume(folder, Arc::clone(&redactor)).map_err(failed)?;
    record_resume(&mut opened, &changes).map_err(failed)?;
    for warning in opened.warnings() {
        context.output.note(&format!("warning: {}", warning.message));
    }
    let run = RecordedRun {
        context,
        checked: &checked,
        folder: Arc::new(opened),
        jobs: args.jobs,
        title: String::new(),
    };
    let sources = ReplySources { mode, lookups, answers: Some(batch.answers()), failures_are_final: false };
    let ended = run.execute(prepared, Arc::clone(&redactor), sources, &tasks)?;
    run.save_report(&ended.report, &redactor)?;
    finish(args, &ended, &tasks, &run, (&batch, &redactor))
}

/// Prints the requests that a run would send. `of`: the explaining model, and the folder of a resumed run.
fn dry(
    context: &Context,
    args: &RunArgs,
    checked: &LoadedPipeline,
    tasks: &[RunTask],
    (explainer, folder): (Option<&str>, Option<&Path>),
    cassettes: &[PathBuf],
) -> Result<Exit, Exit> {
    let pipeline = Path::new(&checked.pipeline.name).file_stem();
    let key = CellKey {
        suite: String::new(),
        pipeline: pipeline.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
        model: String::new(),
        seed: checked.pipeline.config.seed,
    };
    let dry = DryRun { context, checked, tasks, explainer, jobs: args.jobs, title: String::new() };
    let facts = dry.facts(&key, folder, cassettes)?;
    dry_run::print(context, &facts, &args.dry, args.json);
    Ok(Exit::Good)
}

/// The cassette that is searched for replies. A recording that is there already is completed, not paid for again.
fn cassettes(args: &RunArgs) -> Vec<PathBuf> {
    let recorded = args.record.iter().filter(|path| path.exists());
    args.replay.iter().chain(recorded).take(1).cloned().collect()
}

fn finish(
    args: &RunArgs,
    ended: &RunOutcome,
    tasks: &[RunTask],
    run: &RecordedRun<'_>,
    (batch, redactor): (&Batch, &Redactor),
) -> Result<Exit, Exit> {
    let (context, path) = (run.context, run.folder.path().display());
    // Where the person stopped it, what else would wait is not known yet.
    let wave = match ended.report.state {
        RunState::Interrupted => None,
        RunState::Finished | RunState::Parked => {
            Some(batch.write_requests(context, &ended.pending, redactor)?)
        }
    };
    let waits = wave.filter(|wave| wave.pending > 0);
    print_outcome(context, ended, tasks, args.json, waits.as_ref());
    for line in outcome::fallback_lines(&ended.report) {
        context.output.note(&line);
    }
    let command = format!("planforge run --resume {path}");
    let is_whole = ended.report.state == RunState::Finished && waits.is_none();
    let replay =
        if is_whole { format!("; `planforge replay {path}` gives the same verdicts") } else { String::new() };
    context.output.note(&format!("the run is in {path}{replay}"));
    match (&waits, ended.report.state) {
        (Some(wave), _) => batch.print_pending(context, wave, &command),
        (None, RunState::Finished) => {
            let hint = ending_hint(&ended.report, &run.checked.pipeline.config, &run.folder);
            hint.into_iter().for_each(|hint| context.output.note(&hint));
        }
        (None, state) => context.output.note(&format!("{}; go on with `{command}`", state.name())),
    }
    if !args.json {
        context.output.note(&format!("`planforge report {path}` shows it as one HTML file"));
    }
    Ok(of_report(&ended.report, args.fail_on.is_some()))
}
