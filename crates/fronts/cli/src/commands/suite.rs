//! `planforge suite`: making, completing and judging suites.

mod check;
mod learn_knowledge;
mod obfuscate;

use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};
use planforge_app::diagnostics::render::escape;
use planforge_app::suite::{
    Axes, DescribeRequest, GenerateRequest, ImportResult, ImportedSuite, ParaphraseRequest, TextForm,
    counted, describe, generate, import_actions, paraphrase, templates,
};
use planforge_app::table::{Align, Table};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Generate, complete, check and rewrite suites.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge suite generate examples/suites/grippers --tasks 10 --seed 7 --out /tmp/grippers
  planforge suite check my-suite --solve
  planforge suite template my-suite")]
pub(crate) struct SuiteArgs {
    #[command(subcommand)]
    pub(crate) command: SuiteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    Generate(SuiteGenerateArgs),
    Check(check::SuiteCheckArgs),
    Describe(SuiteDescribeArgs),
    Paraphrase(SuiteParaphraseArgs),
    ImportActions(SuiteImportActionsArgs),
    LearnKnowledge(learn_knowledge::SuiteLearnKnowledgeArgs),
    Obfuscate(obfuscate::SuiteObfuscateArgs),
    Template(SuiteTemplateArgs),
}

pub(crate) fn run(context: &Context, args: &SuiteArgs) -> Exit {
    match &args.command {
        SuiteCommand::Check(args) => check::run(context, args),
        SuiteCommand::Describe(args) => run_describe(context, args),
        SuiteCommand::Generate(args) => run_generate(context, args),
        SuiteCommand::ImportActions(args) => run_import_actions(context, args),
        SuiteCommand::LearnKnowledge(args) => learn_knowledge::run(context, args),
        SuiteCommand::Obfuscate(args) => obfuscate::run(context, args),
        SuiteCommand::Paraphrase(args) => run_paraphrase(context, args),
        SuiteCommand::Template(args) => run_template(context, args),
    }
}

/// Write the templates that show only a domain's action interface and a task's objects.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  planforge suite template my-suite")]
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

pub(crate) fn run_template(context: &Context, args: &SuiteTemplateArgs) -> Exit {
    let written = templates(&context.app, &args.suite, args.out.as_deref(), args.force);
    context.show(written, |result| {
        match args.json {
            true => context.output.json(&result),
            false => {
                let line = format!("{}: {}\n", result.folder.display(), counted(&result.files));
                context.output.result(&line);
            }
        }
        Exit::Good
    })
}

/// Generate tasks from a seed with the suite's generator.jinja.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge suite generate examples/suites/grippers
  planforge suite generate examples/suites/grippers --tasks 10 --seed 7 --out /tmp/grippers")]
pub(crate) struct SuiteGenerateArgs {
    /// The suite's folder, with domain.nl, domain.pddl and generator.jinja.
    pub(crate) suite: PathBuf,
    /// Number of tasks. Without this and the next two options, `[generate]` of suite.toml counts.
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
    /// Write a separate suite into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Objects of each task of a ladder; `--tasks` tasks for each size and axis.
    #[arg(long, value_name = "N,...", value_delimiter = ',', requires = "out", value_parser = clap::value_parser!(u32).range(10..=300))]
    pub(crate) size: Vec<u32>,
    /// What makes the texts of a ladder hard: `plain`, or axes joined by `+`.
    #[arg(long, value_name = "AXES,...", value_delimiter = ',', requires = "size")]
    pub(crate) axis: Vec<Axes>,
    /// Limit: search nodes for solving a task; harder draws are skipped.
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub(crate) nodes: u64,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run_generate(context: &Context, args: &SuiteGenerateArgs) -> Exit {
    let request = GenerateRequest {
        suite: args.suite.clone(),
        tasks: args.tasks,
        seed: args.seed,
        from: args.from,
        example: args.example,
        out: args.out.clone(),
        force: args.force,
        nodes: args.nodes,
        sizes: args.size.clone(),
        axes: args.axis.clone(),
    };
    context.show(generate(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
            return Exit::Good;
        }
        let mut out = format!("{}: {} from seed {}\n", result.folder, counted(&result.files), result.seed);
        for task in &result.tasks {
            let redrawn = match task.redrawn.last() {
                None => String::new(),
                Some(why) => format!(", draw {} (before it: {})", task.redrawn.len() + 1, escape(why)),
            };
            let _ = writeln!(out, "{}: a plan of {} steps{redrawn}", task.stem, task.plan_steps);
        }
        context.output.result(&out);
        Exit::Good
    })
}

/// Reword each task with the suite's wordings.jinja: a separate suite with the same problems.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge suite paraphrase examples/suites/blocks --out /tmp/blocks-paraphrased --seed 7
  planforge suite paraphrase examples/suites/blocks --out /tmp/blocks-implied --level 3")]
pub(crate) struct SuiteParaphraseArgs {
    /// The suite's folder, with domain.pddl, wordings.jinja and a problem NAME.pddl for each task.
    pub(crate) suite: PathBuf,
    /// The folder that the new suite is written into.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The seed of order and words.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of texts for each task: NAME-w1, NAME-w2, ...
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=999))]
    pub(crate) wordings: u32,
    /// Write texts that imply facts instead of stating them: 2 counts things and describes layouts, 3 also reorders and adds what is
    /// irrelevant, 4 also omits common knowledge from the domain's text. clingo proves that each text implies its problem.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=4), conflicts_with = "wordings")]
    pub(crate) level: Option<u8>,
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

pub(crate) fn run_paraphrase(context: &Context, args: &SuiteParaphraseArgs) -> Exit {
    let request = ParaphraseRequest {
        suite: args.suite.clone(),
        out: args.out.clone(),
        seed: args.seed,
        form: args.level.map_or(TextForm::Wordings(args.wordings), TextForm::Level),
        tasks: args.tasks,
        force: args.force,
    };
    context.show(paraphrase(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
            return Exit::Good;
        }
        let (folder, texts, files) = (&result.folder, result.tasks.len(), counted(&result.files));
        context.output.result(&format!("{folder}: {texts} texts, {files} from seed {}\n", result.seed));
        Exit::Good
    })
}

/// Let a model write the missing texts of a suite: domain, facts, tasks.
#[derive(Debug, Args)]
#[command(
    after_help = "The pipeline file says which model; in-context examples are planforge's own suites, or those that --example names.

Examples:
  planforge suite describe my-suite --pipeline configs/pipelines/describe.toml --set llm.main.model=gpt-4o
  planforge suite describe my-suite --pipeline describe.toml --example examples/suites/hiking --out /tmp/texts"
)]
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
    /// Rewrite existing texts too.
    #[arg(long)]
    pub(crate) force: bool,
    /// Take every reply from this cassette or run folder; send no request. Repeatable.
    #[arg(long, value_name = "CASSETTE")]
    pub(crate) replay: Vec<PathBuf>,
    /// Folder for run folders.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Tasks in parallel.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run_describe(context: &Context, args: &SuiteDescribeArgs) -> Exit {
    let request = DescribeRequest {
        suite: args.suite.clone(),
        pipeline: args.pipeline.clone(),
        examples: args.example.clone(),
        set: args.overrides.clone(),
        out: args.out.clone(),
        force: args.force,
        replay: args.replay.clone(),
        runs: args.runs.clone(),
        jobs: args.jobs,
    };
    context.show(describe(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
            return result.status;
        }
        let files = &result.files;
        let what = if files.is_empty() { "nothing to write".to_owned() } else { counted(files) };
        let mut out = format!("{}: {what}\n", result.suite);
        if !result.without_text.is_empty() {
            let _ = writeln!(out, "still without a text: {}", result.without_text.join(", "));
        }
        for entry in files {
            let _ = writeln!(out, "{}", entry.file);
        }
        context.output.result(&out);
        result.status
    })
}

/// Import the domain-generators paper's data as suites.
#[derive(Debug, Args)]
#[command(
    after_help = "FOLDER has domainNL/*.csv, pddl-problems/ and predicate-descriptions/. The domain's PDDL file counts; where a table writes an action otherwise, it is said how. Nothing is written where something is wrong.

Examples:
  planforge suite import-actions action-descriptions --out /tmp/actions9
  planforge run configs/pipelines/actions.toml --task /tmp/actions9/gripper/p01 --set 'given.action_examples=[\"/tmp/actions9\"]'"
)]
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

pub(crate) fn run_import_actions(context: &Context, args: &SuiteImportActionsArgs) -> Exit {
    let imported = import_actions(&context.app, &args.folder, &args.out, args.force);
    context.show(imported, |result| {
        match args.json {
            true => context.output.json(&result),
            false => context.output.result(&text(&result)),
        }
        Exit::Good
    })
}

fn text(result: &ImportResult) -> String {
    let suites = &result.suites;
    let sum = |of: fn(&ImportedSuite) -> usize| suites.iter().map(of).sum::<usize>();
    let numbers = ["actions", "texts", "predicates", "problems"].map(|name| (name, Align::Right));
    let mut table = Table::new([("suite", Align::Left)].into_iter().chain(numbers));
    for suite in suites {
        let counts = [suite.actions, suite.texts, suite.predicates, suite.problems];
        table.row([escape(&suite.name).to_string()].into_iter().chain(counts.map(|n| n.to_string())));
    }
    format!(
        "{}: {} suites with {} actions, {} texts and {} problems; files: {}\n\n{}",
        result.folder.display(),
        suites.len(),
        sum(|s| s.actions),
        sum(|s| s.texts),
        sum(|s| s.problems),
        counted(&result.files),
        table.text()
    )
}
