//! The command line: every command with an example in its help.

mod calibrate;
mod compare;
mod dry_run;
mod equivalent;
mod evaluate;
mod ew;
mod explain_fact;
mod graph;
mod infer;
mod picture;
mod progress;
mod report;
mod rounds;
mod study;
mod suite;

pub(crate) use calibrate::CalibrateArgs;
pub(crate) use compare::{CompareArgs, CompareBy};
pub(crate) use dry_run::DryRunArgs;
pub(crate) use equivalent::EquivalentDomainArgs;
pub(crate) use evaluate::{AreReading, EndArgs, EvaluateArgs, Fails, Layout, MergeArgs, TableArgs};
pub(crate) use ew::EwArgs;
pub(crate) use explain_fact::{ExplainFactArgs, Section};
pub(crate) use graph::GraphArgs;
pub(crate) use infer::InferArgs;
pub(crate) use picture::PictureArgs;
pub(crate) use progress::ProgressArgs;
pub(crate) use report::ReportArgs;
pub(crate) use rounds::RoundsArgs;
pub(crate) use study::{
    EwCorrelationArgs, OmissionsArgs, ScalingArgs, SearchArgs, StudyArgs, StudyCommand, StudyFiles,
    StudyMetric,
};

pub(crate) use suite::{
    SuiteArgs, SuiteCheckArgs, SuiteCommand, SuiteDescribeArgs, SuiteGenerateArgs, SuiteImportActionsArgs,
    SuiteObfuscateArgs, SuiteParaphraseArgs, SuiteTemplateArgs,
};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Plain-language planning tasks to checked PDDL, and plans that are proved step by step.
#[derive(Debug, Parser)]
#[command(name = "planforge", version, after_help = crate::exit::help())]
pub(crate) struct Cli {
    /// Colours on standard error.
    #[arg(long, value_enum, default_value_t = Colour::Auto, global = true, value_name = "WHEN")]
    pub(crate) color: Colour,
    /// A folder with plugin libraries; may be given several times. Also: the environment variable PLANFORGE_PLUGINS
    /// (separated by colons) and the folder `plugins` beside the executable. Never the working directory.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the whole way on recorded replies of a real model: text, PDDL, plan, validation.
    #[command(after_help = "Example:\n  planforge demo")]
    Demo(DemoArgs),
    /// Run a pipeline file on tasks.
    #[command(after_help = "Examples:
  planforge run configs/pipelines/llm-p.toml --task examples/suites/parcels/p01
  planforge run llm-p.toml --suite examples/suites/garden --set llm.main.model=gpt-4o-mini --jobs 4
  planforge run llm-p.toml --task suite/p03 --set llm.main.base_url=http://127.0.0.1:8081/v1
  planforge run llm-p.toml --suite examples/suites/garden --dry-run
  planforge run --resume runs/20261121-101500-llm-p --progress plain")]
    Run(Box<RunArgs>),
    /// Run a recorded run again without network or key: same verdicts, or an error that shows what is missing.
    #[command(after_help = "Example:\n  planforge replay runs/20261121-101500-llm-p")]
    Replay(ReplayArgs),
    /// Report every mistake of a pipeline file with its place, without contacting anything.
    #[command(after_help = "Example:\n  planforge check configs/pipelines/llm-p.toml")]
    Check(CheckArgs),
    /// Find a plan for a PDDL domain and problem and print it in IPC form.
    #[command(after_help = "Examples:
  planforge plan domain.pddl p01.pddl > p01.plan
  planforge plan domain.pddl p01.pddl --optimal --time-limit 60 --json
  planforge plan domain.pddl p01.pddl --top-k 10 --json
  planforge plan domain.pddl p01.pddl --top-k 1000 --quality 1.2")]
    Plan(PlanArgs),
    /// Check a domain, a problem with it, or a plan with both.
    #[command(after_help = "Examples:
  planforge validate domain.pddl
  planforge validate domain.pddl p01.pddl
  planforge validate domain.pddl p01.pddl p01.plan --json")]
    Validate(ValidateArgs),
    /// Draw the states of a plan and those that other actions lead to, or the states around the initial state.
    #[command(after_help = "Examples:
  planforge graph domain.pddl p01.pddl p01.plan --out p01.svg
  planforge graph domain.pddl p01.pddl p01.plan --around 2 --max-states 80 --out p01.dot
  planforge graph domain.pddl p01.pddl --depth 3 --json")]
    Graph(GraphArgs),
    /// Draw states as a template says: piles, grids, and places with what is in them; a plan step by step.
    #[command(after_help = "Examples:
  planforge picture examples/suites/blocks/domain.pddl examples/suites/blocks/p01.pddl --out p01.svg
  planforge picture domain.pddl p01.pddl p01.plan --out states/
  planforge picture domain.pddl p01.pddl p01.plan --template picture.toml --step 3 --out third.svg")]
    Picture(PictureArgs),
    /// Compare two models of one task by exploration walks: does each execute what the other does?
    #[command(after_help = "Examples:
  planforge ew domain.pddl p01.pddl written.pddl written-p01.pddl
  planforge ew domain.pddl p01.pddl written.pddl p01.pddl --also p02.pddl p02.pddl --json
  planforge ew domain.pddl p01.pddl written.pddl p01.pddl --form reference-code --seed 42")]
    Ew(Box<EwArgs>),
    /// Whether two problems of a domain are the same but for the names of their objects, or two domains behave the same.
    #[command(after_help = "Examples:
  planforge equivalent problem reference.pddl written.pddl --domain domain.pddl
  planforge equivalent problem reference.pddl written.pddl --domain domain.pddl --level goals
  planforge equivalent problem a.pddl b.pddl --domain domain.pddl --json
  planforge equivalent domain domain.pddl written.pddl --problems p01.pddl p02.pddl")]
    Equivalent(EquivalentArgs),
    /// Complete an intermediate representation and compile it to a problem (Translate-Infer-Compile), without a model.
    #[command(after_help = "Examples:
  planforge infer --suite examples/suites/blocks examples/suites/blocks/p_example.lp
  planforge infer --domain domain.pddl --knowledge knowledge.lp task.lp --out task.pddl
  planforge infer --suite examples/suites/blocks task.lp --explain
  planforge infer --domain domain.pddl task.lp --json")]
    Infer(InferArgs),
    /// List plugins, or start a new one.
    #[command(after_help = "Examples:\n  planforge plugins list\n  planforge plugins new verifier my-check")]
    Plugins(PluginsArgs),
    /// List the planners and other programs that are installed, what each supports, and how to get the rest.
    #[command(after_help = "Example:\n  planforge doctor\n  planforge doctor --json")]
    Doctor(DoctorArgs),
    /// Try a program that is to be an environment.
    #[command(
        after_help = "Example:\n  planforge environment check -- python3 examples/environments/jugs.py"
    )]
    Environment(EnvironmentArgs),
    /// Say what a diagnostic code means and what to do.
    #[command(after_help = "Example:\n  planforge explain pddl.undefined-predicate")]
    Explain(ExplainArgs),
    /// Say from which lines of a text's representation, and by which rules, a fact, object or goal of an inferred problem came.
    #[command(after_help = "Examples:
  planforge explain-fact runs/20261121-101500-tic-ic \"(clean shot5)\"
  planforge explain-fact runs/20261121-101500-tic-ic shot5 --task p01 --section objects
  planforge explain-fact p01.json --idle

Exits with 10 where no inferred problem has it, and then names the nearest.")]
    ExplainFact(ExplainFactArgs),
    /// Show what refinement did to a candidate of a run: each round's critique, what it changed, and each action before and after.
    #[command(after_help = "Examples:
  planforge rounds runs/20261121-101500-bon-ivml
  planforge rounds runs/20261121-101500-bon-ivml --task p01 --action stack
  planforge rounds evaluation/cells/blocks/bon-ivml/42 --markdown

Exits with 10 where no round changed the action that is named.")]
    Rounds(RoundsArgs),
    /// Write one self-contained HTML file that shows a run or an evaluation: tables, every candidate, every prompt and reply.
    #[command(after_help = "Examples:
  planforge report runs/20261121-101500-llm-p --out report.html
  planforge report evaluation --out evaluation.html")]
    Report(ReportArgs),
    /// Run pipelines over suites under several seeds and put them into one table.
    #[command(after_help = "Examples:
  planforge evaluate --suite examples/suites/garden --suite examples/suites/parcels \\
      --pipeline configs/pipelines/intrinsic.toml --pipeline configs/pipelines/llm-p.toml --seeds 42-45 --out evaluation
  planforge evaluate --matrix matrix.toml --out evaluation
  planforge evaluate --matrix matrix.toml --out evaluation --dry-run
  planforge evaluate --resume --out evaluation
  planforge evaluate --resume --out large --layout accuracy --also small
  planforge evaluate --resume --out scaling --layout scaling --base bon --curves scaling/curves
  planforge evaluate --suite examples/suites/termes --pipeline configs/pipelines/bon-ivml.toml --seeds 1 --tasks 1 --out scaling \\
      --layout scaling --set stage.pddl.options.what=domain --set stage.pddl.options.parser=val \\
      --set 'stage.pddl.options.parser_command=[\"/opt/val/bin/Parser\"]'
  planforge evaluate --matrix matrix.toml --out evaluation --only model=small --only task=p0* --junit tasks.xml
  planforge evaluate --retry-errors --out evaluation
  planforge evaluate --matrix matrix.toml --out shared --resume --shard 3/8

Exits with 0 where every task of the cells that were to be run has a verdict; otherwise with what kept the first one from it: 20s for limits
and no decision, 30s for what broke. --fail-on negative also exits with 10 where a task is not solved, --fail-on failed counts what broke
alone. Interrupted: 29; something that stops the whole evaluation: 30s.")]
    Evaluate(Box<EvaluateArgs>),
    /// Make the tables of an evaluation whose cells were run elsewhere: by shards into one shared folder, or into several folders.
    ///
    /// Runs nothing and asks no model. Every cell of the matrix is in the tables; what is missing or unfinished is shown as not run and listed.
    #[command(after_help = "Examples:
  planforge merge shared
  planforge merge shared --layout accuracy --markdown --junit tasks.xml
  planforge merge part-1 part-2 --into whole

Exits as `planforge evaluate` does, and with 29 where a cell is missing or unfinished.")]
    Merge(Box<MergeArgs>),
    /// Compare two runs, or two evaluations, on the same tasks: which solves more, at what cost, and how sure that is.
    ///
    /// Tasks are paired by suite, task and seed; what is on one side alone is listed. A task that is undecided, not comparable, broken or not
    /// run is neither right nor wrong: its pair is in no test, is counted and listed, and bounds say what it could change.
    #[command(after_help = "Examples:
  planforge compare runs/20261121-101500-llm-p runs/20261121-113000-tic-ic
  planforge compare evaluation evaluation --pipeline-a llm-p --pipeline-b tic-ic --by problem
  planforge compare small large --cluster suite --markdown
  planforge compare base flipped --by classes
  planforge compare small large --samples-of domain --judge pddl --k 1,5,10 --json

Exits with 0 where something could be tested, whatever came of it, with 20 where no run of a task is on both sides, no stage says what
--by asks for, or no pair is decided on both sides.")]
    Compare(Box<CompareArgs>),
    /// Judge the judges: how often each verifier accepts a different domain or rejects an equal one, on mutants of reference domains.
    ///
    /// Every mutant has one thing changed: a mistake of a stated kind, or a rewrite that means the same. What it is says the exact
    /// comparison with its reference on stated problems, never how it was made.
    #[command(after_help = "Examples:
  planforge calibrate --suites examples/suites/* --mutants 1000 --out calibration
  planforge calibrate --suites examples/suites/blocks --problems p01,p02 --kinds omission,negation --walks 10,100 --json
  planforge calibrate --suites examples/suites/* --critic examples/studies/calibration/critic.toml \\
    --critic-mutants 60 --record cassettes --set llm.critic.base_url=http://127.0.0.1:8081/v1

Exits with 0 where every mutant was judged, with 10 where a rewrite that must mean the same was found to be different, which is
a fault of planforge.")]
    Calibrate(Box<CalibrateArgs>),
    /// Experiments without a language model: CSV, tables and figures into a folder.
    #[command(after_help = "Examples:
  planforge study omissions --suites examples/suites --out study/omissions --quick
  planforge study ew-correlation --suites suites/classical examples/suites --out study/ew-correlation")]
    Study(StudyArgs),
    /// Print the JSON schema of pipeline files, or of the contract documents.
    #[command(after_help = "Example:\n  planforge schema > configs/schema/pipeline.schema.json")]
    Schema(SchemaArgs),
    /// Make, complete and check suites: folders with a domain and tasks.
    #[command(after_help = "Examples:
  planforge suite generate examples/suites/grippers --tasks 10 --seed 7 --out /tmp/grippers
  planforge suite check my-suite --solve
  planforge suite template my-suite")]
    Suite(SuiteArgs),
    /// The child-process side of the host.
    #[command(hide = true)]
    Worker(WorkerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EquivalentArgs {
    /// What is compared.
    #[command(subcommand)]
    pub(crate) command: EquivalentCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EquivalentCommand {
    /// Two problems: initial state, numbers, goal and metric under one renaming of the objects, within their types. Names that
    /// the domain itself uses are never renamed.
    #[command(after_help = "Examples:
  planforge equivalent problem reference.pddl generated.pddl --domain domain.pddl
  planforge equivalent problem reference.pddl generated.pddl --domain domain.pddl --level goals --json")]
    Problem(EquivalentProblemArgs),
    /// Two domains, exactly, on given problems: the shortest sequence of ground actions that one executes and the other refuses, or after
    /// which the goal holds in one alone; or that there is none.
    Domain(EquivalentDomainArgs),
}

/// How goals are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EquivalenceLevel {
    /// As they read.
    Syntactic,
    /// By the reachable states that satisfy them.
    Goals,
}

#[derive(Debug, Args)]
pub(crate) struct EquivalentProblemArgs {
    /// The first problem; what is missing is told of it.
    pub(crate) first: PathBuf,
    /// The second problem; what is extra is told of it.
    pub(crate) second: PathBuf,
    /// The domain of both.
    #[arg(long, value_name = "FILE")]
    pub(crate) domain: PathBuf,
    /// How goals are compared: as they read, or by the reachable states that satisfy them, so that a goal fact makes no
    /// difference that follows from the others in every such state.
    #[arg(long, value_enum, default_value_t = EquivalenceLevel::Syntactic)]
    pub(crate) level: EquivalenceLevel,
    /// Most pairs of objects to try before the question is left open.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) max_choices: u64,
    /// With `--level goals`: most states to see where invariants and searches leave the question open.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) max_states: u64,
    /// Most seconds.
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
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
    /// Override a key of the pipeline file, such as `llm.main.model=gpt-4o` or `stage.problem.n=3`.
    #[arg(long = "set", value_name = "KEY=VALUE", conflicts_with = "resume")]
    pub(crate) overrides: Vec<String>,
    /// A folder whose knowledge.lp, p_example.lp and sentences.toml stand in for those of a suite: DIR/SUITE or DIR itself. May be
    /// given several times.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) add_on: Vec<PathBuf>,
    /// Go on with an interrupted run; nothing that was paid for is asked again.
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<PathBuf>,
    /// A file of answers to questions that wait, as a batch service, an agent or a person wrote it; it is kept in the run's folder. May be
    /// given several times.
    #[arg(long, value_name = "FILE", requires = "resume", conflicts_with = "pipeline", num_args = 1..)]
    pub(crate) answers: Vec<PathBuf>,
    /// Answer every question to a model from this cassette or run folder; ask nobody. With --record, what was used of it
    /// becomes a cassette file of its own.
    #[arg(long, value_name = "CASSETTE", conflicts_with = "resume")]
    pub(crate) replay: Option<PathBuf>,
    /// Also write the replies of this run into a cassette file.
    #[arg(long, value_name = "CASSETTE", conflicts_with = "resume")]
    pub(crate) record: Option<PathBuf>,
    /// Where run folders are made.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// How many tasks and samples to work on at a time.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// The run's seed.
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    pub(crate) seed: Option<u64>,
    /// When to exit with 10: `negative` also when a task was rejected or proven unsolvable.
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

/// What makes a run exit with 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A task that was rejected or proven unsolvable.
    Negative,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The run folder.
    pub(crate) run: PathBuf,
    /// How many tasks and samples to work on at a time.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The pipeline file.
    pub(crate) pipeline: PathBuf,
    /// Override a key first, as in `planforge run`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// The problem file.
    pub(crate) problem: PathBuf,
    /// Find a cheapest plan and prove it (A* with LM-cut).
    #[arg(long)]
    pub(crate) optimal: bool,
    /// Find the K cheapest distinct plans, in order (loops and plans on through goal states count). There are fewer only where there are no others, or where a
    /// limit is reached, which is told and is exit code 21 to 23.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top_k: Option<u32>,
    /// With --top-k: only plans that cost at most this many times the lowest cost, from 1 up.
    #[arg(long, value_name = "Q", requires = "top_k", value_parser = at_least_one)]
    pub(crate) quality: Option<f64>,
    /// With --top-k: whether ground actions that change nothing may be steps.
    #[arg(long, value_name = "WHAT", requires = "top_k", value_parser = ["strips", "ground-no-ops-dropped"])]
    pub(crate) semantics: Option<String>,
    /// Give up after this many seconds.
    #[arg(long, value_name = "S", value_parser = positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Give up at this many megabytes.
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    pub(crate) memory_limit: u64,
    /// Give up at this many search nodes: a limit that is the same on every machine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_nodes: Option<u64>,
    /// Print one JSON object instead of the plan.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// The problem file.
    pub(crate) problem: Option<PathBuf>,
    /// The plan file.
    pub(crate) plan: Option<PathBuf>,
    /// Print every state of the plan, not only what failed.
    #[arg(long, conflicts_with = "json")]
    pub(crate) trace: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PluginsArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: PluginsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginsCommand {
    /// Every plugin with kind, version and whether it is bundled or loaded.
    List {
        /// Print one JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
    /// The options, roles and metrics of one plugin.
    Show {
        /// The plugin's id.
        id: String,
        /// Print one JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Write a new plugin crate that builds, loads and passes its own test.
    New {
        /// provider, translator, verifier, planner or environment.
        kind: String,
        /// The crate's name after `planforge-`, such as `verifier-mine`.
        name: String,
        /// The folder to make it in.
        #[arg(long, default_value = ".", value_name = "DIR")]
        dir: PathBuf,
        /// Where the planforge checkout is; the SDK is taken from there.
        #[arg(long, value_name = "DIR")]
        sdk: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct EnvironmentArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: EnvironmentCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EnvironmentCommand {
    /// Check whether a program keeps to the environment protocol: what is wrong, what was asked, and what came.
    #[command(after_help = "Examples:
  planforge environment check -- python3 examples/environments/jugs.py
  planforge environment check --task examples/suites/jugs/p02 --json -- python3 examples/environments/jugs.py")]
    Check(EnvironmentCheckArgs),
}

#[derive(Debug, Args)]
pub(crate) struct EnvironmentCheckArgs {
    /// The task that the program is asked about; without it, a task without a name.
    #[arg(long, value_name = "DIR/STEM")]
    pub(crate) task: Option<PathBuf>,
    /// Seconds that the program may take for one answer.
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = positive_seconds)]
    pub(crate) timeout: f64,
    /// Seconds for the first answer, which includes the program's start.
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = positive_seconds)]
    pub(crate) start_timeout: f64,
    /// Megabytes of address space for the program; 0 for no limit.
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    pub(crate) memory_limit: u64,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// The program and its arguments; no shell reads them.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The code, such as `pddl.undefined-predicate`; without it, all codes are listed.
    pub(crate) code: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The documents that plugins exchange, instead of the pipeline file.
    #[arg(long)]
    pub(crate) contract: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The bundled plugin to load.
    #[arg(long, value_name = "ID", required_unless_present = "library", conflicts_with = "library")]
    pub(crate) bundled: Option<String>,
    /// The plugin library to load.
    #[arg(long, value_name = "PATH")]
    pub(crate) library: Option<PathBuf>,
    /// Most bytes of address space.
    #[arg(long, value_name = "N")]
    pub(crate) memory_bytes: u64,
}

fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err(format!("`{text}` is not a number of seconds above 0")),
    }
}

fn at_least_one(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 1.0 && number.is_finite() => Ok(number),
        _ => Err(format!("`{text}` is not a number from 1 up")),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| format!("`{text}` is not a whole number above 0"))
}
