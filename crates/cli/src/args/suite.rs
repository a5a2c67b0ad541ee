//! `planforge suite`.

use super::{positive, positive_seconds};
use clap::{Args, Subcommand};
use planforge_obfuscate::{Kind, Names};
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: SuiteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// Make tasks from a seed with the suite's generator.jinja: problems, texts and object templates.
    #[command(after_help = "Examples:
  planforge suite generate examples/suites/grippers
  planforge suite generate examples/suites/grippers --tasks 10 --seed 7 --out /tmp/grippers")]
    Generate(SuiteGenerateArgs),
    /// Report everything that is wrong with suites: PDDL, texts, templates, sentences, tasks.
    #[command(after_help = "Examples:
  planforge suite check examples/suites/*
  planforge suite check my-suite --solve --time-limit 10 --json")]
    Check(SuiteCheckArgs),
    /// Let a model write the texts that a suite lacks: of the domain, of its facts, of each task.
    #[command(
        after_help = "The pipeline file says which model; in-context examples are planforge's own suites, or those that --example names.

Examples:
  planforge suite describe my-suite --pipeline configs/pipelines/describe.toml --set llm.main.model=gpt-4o
  planforge suite describe my-suite --pipeline describe.toml --example examples/suites/hiking --out /tmp/texts"
    )]
    Describe(SuiteDescribeArgs),
    /// Tell each task in other words, with the suite's wordings.jinja: a suite of its own with the same problems.
    #[command(
        after_help = "Example:\n  planforge suite paraphrase examples/suites/blocks --out /tmp/blocks-paraphrased --seed 7"
    )]
    Paraphrase(SuiteParaphraseArgs),
    /// Make suites of the domain-generators paper's data: domains, and their actions and predicates in words.
    #[command(
        name = "import-actions",
        after_help = "FOLDER has domainNL/*.csv, pddl-problems/ and predicate-descriptions/. The domain's PDDL file counts; where a table writes an action otherwise, it is said how. Nothing is written where something is wrong.

Examples:
  planforge suite import-actions action-descriptions --out /tmp/actions9
  planforge run configs/pipelines/actions.toml --task /tmp/actions9/gripper/p01 --set 'given.action_examples=[\"/tmp/actions9\"]'"
    )]
    ImportActions(SuiteImportActionsArgs),
    /// Tell a suite under other names and in another order: what a model has read of its domain does not help it there.
    #[command(
        after_help = "The same as [obfuscate] of a pipeline file does to the suites of a run; mapping.json of the new folder is the way back.

Examples:
  planforge suite obfuscate examples/suites/blocks --names misleading --seed 7 --out /tmp/blocks-misleading
  planforge suite obfuscate examples/suites/tyres --names random --what types,predicates,actions --out /tmp/tyres-random
  planforge suite check /tmp/blocks-misleading"
    )]
    Obfuscate(SuiteObfuscateArgs),
    /// Write the templates that show a domain's action interface and a task's objects alone.
    #[command(after_help = "Example:\n  planforge suite template my-suite")]
    Template(SuiteTemplateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SuiteGenerateArgs {
    /// The suite's folder, with domain.nl, domain.pddl and generator.jinja.
    pub(crate) suite: PathBuf,
    /// How many tasks. Without this and the next two, what `[generate]` of suite.toml says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub(crate) tasks: Option<u32>,
    /// The seed of all of them.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The number of the first task; sizes grow with it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub(crate) from: Option<u32>,
    /// Also make the in-context example, with a plan.
    #[arg(long)]
    pub(crate) example: bool,
    /// Write a suite of its own into this folder instead.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Most search nodes that a task may need to be solved; harder draws are not taken.
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub(crate) nodes: u64,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteParaphraseArgs {
    /// The suite's folder, with domain.pddl, wordings.jinja and a problem NAME.pddl for each task.
    pub(crate) suite: PathBuf,
    /// The folder that the new suite is written into.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The seed of order and words.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many texts for each task: NAME-w1, NAME-w2, ...
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=999))]
    pub(crate) wordings: u32,
    /// At most so many tasks, the first by name; all where it is not given.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteObfuscateArgs {
    /// The suite's folder, with domain.pddl and a problem NAME.pddl for each task.
    pub(crate) suite: PathBuf,
    /// The kind of new names: `random` ones are made up, `misleading` ones come from another setting, with `original` only the order changes.
    #[arg(long, value_name = "KIND")]
    pub(crate) names: NamesWord,
    /// The folder that the new suite is written into.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The seed of names and order.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Which names are exchanged, of domain, types, predicates, functions, actions, objects, constants and parameters; all without it.
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    pub(crate) what: Vec<KindWord>,
    /// Leave the texts as they are.
    #[arg(long)]
    pub(crate) keep_texts: bool,
    /// Leave the order as it is.
    #[arg(long)]
    pub(crate) keep_order: bool,
    /// The new suite's name, for tables that have both; the old one without it.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `random`, `misleading` or `original`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamesWord(pub(crate) Names);

/// What names name, such as `types`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KindWord(pub(crate) Kind);

impl FromStr for NamesWord {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, String> {
        word_of(word, &Names::ALL, |names| names.name()).map(Self)
    }
}

impl FromStr for KindWord {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, String> {
        word_of(word, &Kind::ALL, |kind| kind.name()).map(Self)
    }
}

fn word_of<T: Copy>(word: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    let known = || all.iter().map(|one| name(*one)).collect::<Vec<_>>().join(", ");
    all.iter().copied().find(|one| name(*one) == word).ok_or_else(|| format!("it can be {}", known()))
}

#[derive(Debug, Args)]
pub(crate) struct SuiteCheckArgs {
    /// Folders of suites: in planforge's layout, in that of LLM+P or of the exploration-walk data, or of PDDL alone.
    #[arg(required = true)]
    pub(crate) suites: Vec<PathBuf>,
    /// A folder whose knowledge.lp, p_example.lp and sentences.toml stand in for those of the suites: DIR/SUITE or DIR itself.
    #[arg(long, value_name = "DIR")]
    pub(crate) add_on: Vec<PathBuf>,
    /// Also look for a plan for every task.
    #[arg(long)]
    pub(crate) solve: bool,
    /// Seconds that the search for one plan may take.
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = positive_seconds, requires = "solve")]
    pub(crate) time_limit: f64,
    /// Exit with 10 on warnings too.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteDescribeArgs {
    /// The suite's folder, with domain.pddl and a problem NAME.pddl for each task.
    pub(crate) suite: PathBuf,
    /// The pipeline file: stages of `translator-describe`, such as configs/pipelines/describe.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) pipeline: PathBuf,
    /// A suite whose texts are shown as an in-context example, instead of planforge's own. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) example: Vec<PathBuf>,
    /// Override a key of the pipeline file, such as `llm.main.model=gpt-4o`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Write the texts into this folder instead.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write every text anew, also those that are there.
    #[arg(long)]
    pub(crate) force: bool,
    /// Answer every question from this cassette or run folder; ask nobody. May be given several times.
    #[arg(long, value_name = "CASSETTE")]
    pub(crate) replay: Vec<PathBuf>,
    /// Where run folders are made.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// How many tasks to work on at a time.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteTemplateArgs {
    /// The suite's folder, with the reference PDDL.
    pub(crate) suite: PathBuf,
    /// Write into this folder instead.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteImportActionsArgs {
    /// The folder with the data.
    pub(crate) folder: PathBuf,
    /// The folder that the suites are written into: DIR/NAME for each domain.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
